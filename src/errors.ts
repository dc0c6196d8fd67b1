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

/** Whoever read the output stopped: enough for them, as for `head`, so no more is made, and nothing is said. */
export class NobodyReads extends RanklineError {
  override readonly name = 'NobodyReads'

  constructor(options?: ErrorOptions) {
    super('Nobody reads the output any more', 0, options)
  }
}

/** Exit code where another process is at work and is not waited for any longer. */
export const busyExitCode = 7
