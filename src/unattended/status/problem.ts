/** How bad something is, the worst first. */
export const levels = ['error', 'warning', 'ok'] as const
export type Level = (typeof levels)[number]

/** What a problem is about. */
export type ProblemKind =
  | 'job-file'
  | 'workspace'
  | 'stale'
  | 'run'
  | 'slot'
  | 'alerts'
  | 'balance'
  | 'unexplained'
  | 'messages'
  | 'database'
  | 'disk'

/** Something that a person has to look at. */
export interface StatusProblem {
  readonly level: Exclude<Level, 'ok'>
  /** Null where it is not about one job. */
  readonly job: string | null
  readonly kind: ProblemKind
  /** What happened, and what to do; without a full stop. */
  readonly text: string
  /** What stops this job and others alike; absent where it is its own. */
  readonly cause?: SharedCause
  /** Jobs that one cause stops; absent where it is not about several. */
  readonly jobs?: readonly string[]
}

/** What may stop several jobs, in words that are the same for each. */
export interface SharedCause {
  readonly what: string
  /** One thing to do, after which all of them go on. */
  readonly advice: string
}
