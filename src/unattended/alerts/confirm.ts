/*
 * Truth table of `confirm`. B is the observation before, x one that says what the rule watches compared with B, and - one that does
 * not. What cannot be compared with B is left out, wherever it stands.
 *
 *   confirm  begins with the last of   does not begin
 *   1        B x                       B -    B x x (has begun before)
 *   2        B x x    B x - x          B x    B x -    B x x x (has begun before)
 *   3        B x x x                   B x x  B x - x x (four observations)
 */

/** Whether an observation says it, compared with an earlier one; null where the two cannot be compared. */
export type Says<T> = (before: T, now: T) => boolean | null

/** What an alert begins with. */
export interface AlertBeginning<T> {
  readonly before: T
  readonly now: T
}

/** Observations within which a rule is confirmed. */
const within = 3

/**
 * The observation before, where exactly with the last of these (the oldest first) so many of at most three that follow it say it;
 * null where nothing begins. The first of them and the last one must say it.
 */
export function confirmedBeginning<T>(
  looks: readonly T[],
  says: Says<T>,
  confirm: number,
): AlertBeginning<T> | null {
  const now = looks.at(-1)
  if (now === undefined) return null
  for (let at = looks.length - 2; at >= 0; at--) {
    const before = looks[at] as T
    if (says(before, now) !== true) continue
    const said = looks.slice(at + 1).flatMap((look) => says(before, look) ?? [])
    if (said[0] !== true || said.length > within) continue
    if (said.filter(Boolean).length === confirm) return { before, now }
  }
  return null
}
