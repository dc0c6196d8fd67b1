/** What became of a slot: a run was collected, nothing was due, or it could not run. */
export type SlotOutcome = 'ran' | 'nothing-due' | 'skipped'
