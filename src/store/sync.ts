import type { JournalPosition } from './shared/changes.ts'

/** What a database knows of the shared journal that it follows. */
export interface SyncStore {
  /** Names this database as a reader; made when it is first asked for. */
  readerId(): Promise<string>
  /** How far it has read; null where it never did. */
  journalPosition(): Promise<JournalPosition | null>
  /** The id that a run has on all machines; null where it is no shared one. */
  sharedRunId(runId: number): Promise<string | null>
  /** The number that a shared run has here; null where it is not known yet. */
  localRunId(id: string): Promise<number | null>
  /** Notes that a run of this database is that shared one. */
  linkRun(runId: number, id: string): Promise<void>
}
