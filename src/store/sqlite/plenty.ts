/** What a commit took: the changes in it, and then the disk. */
export interface Committed {
  readonly changes: number
  readonly changesMs: number
  readonly commitMs: number
}

/** Where commits are quick, fewer changes than these hardly make one dearer. */
const fewest = 24
/** To commit may take as long as a quarter of what it commits. */
const worth = 4
/** Commits that are remembered, more or less: one that was slow is no rule. */
const memory = 16

/**
 * How many changes make a commit worth its while, learned from those before: on a disk that is slow, whoever waits is
 * better served by few large ones.
 */
export function plentyLearned() {
  let changeMs = 0
  let commitMs = 0
  let enough = fewest
  return {
    /** Another number only after a commit was noted. */
    changes: (): number => enough,
    note: (last: Committed): void => {
      changeMs += (last.changesMs / last.changes - changeMs) / memory
      commitMs += (last.commitMs - commitMs) / memory
      enough = changeMs === 0 ? fewest : Math.max(fewest, Math.round((worth * commitMs) / changeMs))
    },
  }
}
