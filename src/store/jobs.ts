/** Whether a job is paused, and was. Instants are epoch milliseconds. */
interface Pause {
  /** Since when; null where it is not paused now. */
  readonly pausedAt: number | null
  /** When its last pause ended; null where it had none. */
  readonly resumedAt: number | null
}

interface PauseReads {
  /** The pause of a job, also of one that never ran. */
  pauseOf(job: string): Promise<Pause>
}

/** What becomes of jobs in the life of a client. */
export interface JobStore extends PauseReads {
  /** Pauses a job; one that never ran is known by its file from then on. */
  pauseJob(job: { readonly name: string; readonly file: string }, now: number): Promise<void>
  /** Ends the pause of a job. */
  resumeJob(job: string, now: number): Promise<void>
  /** Gives everything that is stored of a job another name, in one change; `file` is null where it stays. */
  renameJob(from: string, to: string, file: string | null): Promise<void>
}
