import type { AlertStore } from './alerts.ts'
import type { JobStore } from './jobs.ts'
import type { AnswerStore, DatabaseFile, DiskSpace, Journal, ResultRecorder } from './journal.ts'
import type { LedgerStore } from './ledger.ts'
import type { OutboxStore } from './outbox.ts'
import type { ReportStore, TrackingStore } from './reports.ts'
import type { HistoryStore } from './results.ts'
import type { PlanDraft, PlannedReads, RunStore } from './runs.ts'
import type { SyncStore } from './sync.ts'
import type { DueReads, SlotStore, StatusReads } from './unattended.ts'

/**
 * Everything that rankline remembers. Methods are whole changes: each is durable, entirely, when its promise is
 * fulfilled, and leaves nothing behind when it is rejected. Instants are epoch milliseconds.
 */
export interface Store
  extends AsyncDisposable,
    RunStore,
    JobStore,
    PlannedReads,
    Journal,
    LedgerStore,
    AnswerStore,
    ResultRecorder,
    ReportStore,
    TrackingStore,
    HistoryStore,
    AlertStore,
    OutboxStore,
    SlotStore,
    DueReads,
    StatusReads,
    SyncStore {
  readonly space: DiskSpace
  readonly file: DatabaseFile
  /** Rejected with a sentence where the file is damaged; large files are only looked at as far as they are read. */
  rejectDamaged(): Promise<void>
  /** Starts a plan that nothing else sees until it is committed. */
  draft(): Promise<PlanDraft>
}
