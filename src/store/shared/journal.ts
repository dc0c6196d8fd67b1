import type { SharedCalls } from './calls.ts'
import type { SharedChanges } from './changes.ts'
import type { SharedChunks } from './chunks.ts'
import type { QueueOperations } from './operations.ts'
import type { SharedPlans } from './plans.ts'
import type { SharedRates } from './rates.ts'
import type { SharedSpending } from './spending.ts'

/**
 * What machines that share a key write down together: plans, calls, answers, one rate limit, one budget. Rejected with
 * `JournalUnreachable` while the database cannot be reached; what was asked may be asked again.
 */
export interface SharedJournal extends AsyncDisposable {
  readonly plans: SharedPlans
  readonly chunks: SharedChunks
  readonly calls: SharedCalls
  readonly rates: SharedRates
  readonly spending: SharedSpending
  readonly changes: SharedChanges
  readonly operations: QueueOperations
  /** Ends every connection at once, because the process ends: what is under way, and what is asked later, is rejected with `JournalAbandoned`. */
  abandon(): void
}

/** The journal cannot be reached now. What may wait tries again. */
export class JournalUnreachable extends Error {
  override readonly name = 'JournalUnreachable'
}

/** The process ends before the journal can be reached again: nothing tries again. */
export class JournalAbandoned extends JournalUnreachable {
  constructor() {
    super('the process ends before the queue can be reached again')
  }
}
