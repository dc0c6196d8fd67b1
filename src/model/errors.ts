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

/** Exit code for what may pass, or can be mended outside: the same command can be run again. */
export const tryAgainExitCode = 6

/** What the operating system refuses a program, in one sentence each. */
const systemLimits: Readonly<Record<string, string>> = {
  EMFILE:
    'This process may open no more files. Allow more with ulimit -n 1024, or set a lower --concurrency, then run the same command again.',
  ENFILE: 'This machine has too many files open. Close other programs, then run the same command again.',
  EFBIG:
    'A file may not become that large here. Raise the limit with ulimit -f unlimited (a service: LimitFSIZE=infinity), then run the same command again.',
  ENOSPC: 'A disk is full. Make room, then run the same command again.',
  EDQUOT: 'The disk quota of this user is used up. Make room, then run the same command again.',
}

type Refused = Error & { readonly code?: string; readonly info?: { readonly code?: string } }

/** An error of the operating system that is about a limit, as a sentence; other errors as they are. */
export function describeLimit(error: unknown): unknown {
  const { code = '', info } = error instanceof Error ? (error as Refused) : {}
  // Where Node asks the system for something else than a file, the system's own code stands inside.
  const sentence = systemLimits[info?.code ?? code]
  return sentence === undefined ? error : new RanklineError(sentence, tryAgainExitCode, { cause: error })
}

/** The user can put it right: options, settings or a job file are wrong, and nothing ran. */
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
