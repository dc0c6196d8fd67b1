/** Something that the program foresaw: its message says what, where and what to do. */
export class RanklineError extends Error {
  override readonly name: string = 'RanklineError'
  /** The exit code that it leads to. */
  readonly exitCode: number

  constructor(message: string, exitCode: number, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = exitCode
  }
}

/** The user can put it right: flags, settings or a job file are wrong, and nothing ran. */
export class UsageError extends RanklineError {
  override readonly name = 'UsageError'

  constructor(message: string, options?: ErrorOptions) {
    super(message, 2, options)
  }
}

/** The clock of this machine cannot be believed: what is stored or sent now would carry a wrong time. */
export class WrongClock extends RanklineError {
  override readonly name = 'WrongClock'

  constructor(message: string) {
    super(message, 2)
  }
}

/** The reader of the output has closed it, as `head` does: the command ends, and prints nothing more. */
export class OutputClosed extends RanklineError {
  override readonly name = 'OutputClosed'

  constructor(options?: ErrorOptions) {
    super('the reader closed the output', 0, options)
  }
}

/** Exit code where another process is at work and is not waited for any longer. */
export const busyExitCode = 7
