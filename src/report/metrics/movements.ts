import type { Change, Movement } from '../movement.ts'

/** In the order in which they are shown. */
export const movementNames: readonly Movement[] = [
  'improved',
  'declined',
  'same',
  'entered',
  'left',
  'new',
  'unknown',
]

export type MovementCounts = Readonly<Record<Movement, number>>

/** How many keywords moved in each way since their baseline. Each moved in one: they add up to all. Unit: keywords. */
export function countMovements(changes: Iterable<Change>): MovementCounts {
  const counts = Object.fromEntries(movementNames.map((name) => [name, 0])) as Record<Movement, number>
  for (const { movement } of changes) counts[movement]++
  return counts
}
