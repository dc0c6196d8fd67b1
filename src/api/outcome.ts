import type { Outcome } from '../model/call.ts'

/** What happens to a task, or to the run, after a call that ended so. */
export type Consequence =
  /** The task has its answer. */
  | 'keep'
  /** The task waits for its asynchronous job. */
  | 'poll'
  /** Everybody waits, no try is used up. */
  | 'wait'
  /** The task is tried again, a few times. */
  | 'retry'
  /** The task is tried again once, for nobody knows whether it was billed. */
  | 'retry-once'
  /** The task fails; the others go on. */
  | 'fail-task'
  /** Nothing more is sent. */
  | 'stop-run'

/** The one table of what follows from each outcome. */
export const consequences = {
  answered: 'keep',
  accepted: 'poll',
  throttled: 'wait',
  refused: 'stop-run',
  'out-of-credit': 'stop-run',
  rejected: 'fail-task',
  'not-found': 'fail-task',
  'server-error': 'retry',
  unreachable: 'retry',
  ambiguous: 'retry-once',
  redirected: 'stop-run',
  unreadable: 'fail-task',
} as const satisfies Record<Outcome, Consequence>

/** Whether a call that ended so was billed: 1 yes, 0 no, null not known. Billing rules of the service. */
export const billing = {
  answered: 1,
  accepted: 0,
  throttled: 0,
  refused: 0,
  'out-of-credit': 0,
  rejected: 0,
  'not-found': null,
  'server-error': 0,
  unreachable: 0,
  ambiguous: null,
  redirected: 0,
  unreadable: 1,
} as const satisfies Record<Outcome, 0 | 1 | null>
