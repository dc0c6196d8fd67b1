import type { LedgerSum } from '../model/call.ts'
import { groupedBy } from '../model/maps.ts'

/** Sums of the calls of a group that the same number of requesters share, counted once for each of them. */
export interface SharedSum extends Omit<LedgerSum, 'shared'> {
  readonly parts: number
}

/** Credits are shared to the hundredth. */
const hundredths = 100n

/**
 * The sums of groups, in their order, with each call's credits split equally among those who share it. What the groups have adds up to
 * what the calls cost, to the hundredth: what cannot be split further goes to those whose share was rounded most.
 */
export function splitSums(sums: readonly SharedSum[]): readonly LedgerSum[] {
  const groups = [...groupedBy(sums, ({ group }) => group)]
  const parts = groups.map(([, some]) => some)
  const credits = apportioned(parts, 'credits')
  const creditsAmbiguous = apportioned(parts, 'creditsAmbiguous')
  return groups.map(([group, some], place) => {
    const total = (of: 'calls' | 'billed' | 'free' | 'ambiguous') =>
      some.reduce((all, sum) => all + sum[of], 0)
    return {
      group,
      calls: total('calls'),
      billed: total('billed'),
      free: total('free'),
      ambiguous: total('ambiguous'),
      credits: credits[place] ?? 0,
      creditsAmbiguous: creditsAmbiguous[place] ?? 0,
      shared: some.reduce((all, sum) => all + (sum.parts > 1 ? sum.calls : 0), 0),
    }
  })
}

/** The credits of each group to the hundredth. */
function apportioned(
  groups: readonly (readonly SharedSum[])[],
  of: 'credits' | 'creditsAmbiguous',
): readonly number[] {
  const whole = groups.flat().reduce((least, { parts }) => commonMultiple(least, BigInt(parts)), 1n)
  const exact = groups.map((sums) =>
    sums.reduce((all, sum) => all + (BigInt(sum[of]) * hundredths * whole) / BigInt(sum.parts), 0n),
  )
  const floors = exact.map((share) => share / whole)
  const sumOf = (all: readonly bigint[]) => all.reduce((sum, one) => sum + one, 0n)
  // Where only some of those who share a call are among the groups, their sum may not be whole hundredths.
  const left = Number((sumOf(exact) + whole / 2n) / whole - sumOf(floors))
  const mostRounded = [...exact.keys()]
    .sort((a, b) => Number((exact[b] ?? 0n) % whole) - Number((exact[a] ?? 0n) % whole) || a - b)
    .slice(0, left)
  for (const place of mostRounded) floors[place] = (floors[place] ?? 0n) + 1n
  return floors.map((share) => Number(share) / Number(hundredths))
}

function commonMultiple(a: bigint, b: bigint): bigint {
  let [divisor, rest] = [a, b]
  while (rest > 0n) [divisor, rest] = [rest, divisor % rest]
  return (a / divisor) * b
}

/** What is to be done where others spend with the key. */
export const shareQueue = 'Hosts that share a key should share a queue: docs/many-machines.md'
