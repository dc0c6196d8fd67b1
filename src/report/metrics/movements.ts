import { hasClicks } from '../history/filter-history.ts'
import type { KeywordStatus } from '../history/keyword-status.ts'
import type { RankMovement } from '../history/movement.ts'
import { type CtrCurve, type MetricDefinition, rateOf, tally } from './figure.ts'

/** How keywords moved, and what that is worth. */
export const movementMetrics = {
  movements: {
    label: 'movements',
    unit: 'keywords',
    better: null,
    definition:
      'The keywords that improved, declined, stayed, entered, dropped out, are new, or cannot be compared.',
    formula: 'rank before - rank now, as deep as both days were checked',
    denominator: 'adds up to all keywords',
    missing:
      'absent: entered or left if the other day was checked as deep as the rank; unknown: counted separately',
    source: 'own definition',
  },
  gain: {
    label: 'gain',
    unit: 'clicks a month',
    better: 'higher',
    definition: 'The clicks a month that a change of rank brings or costs.',
    formula: 'volume x (CTR(rank now) - CTR(rank before))',
    denominator: null,
    missing: 'absent: no clicks; unknown: neither winner nor loser; no volume: not counted',
    source: 'own definition, based on the share of voice of STAT',
    byClicks: true,
  },
} satisfies Readonly<Record<string, MetricDefinition>>

/** In the order in which they are shown. */
export const movementNames: readonly RankMovement['movement'][] = [
  'improved',
  'declined',
  'same',
  'entered',
  'left',
  'new',
  'unknown',
]

/** How many keywords moved in each way since their baseline. The movements add up to all keywords. Unit: keywords. */
export function countMovements(changes: readonly RankMovement[]) {
  return tally(
    movementNames,
    changes.map(({ movement }) => movement),
  )
}

/** A winner or loser, and the worth of its movement. */
export type Mover = ReturnType<typeof winnersAndLosers>['winners'][number]

/**
 * Winners and losers since the baseline, by clicks. Keywords without a volume come after all others, by the clicks of one
 * search. So rank 2 lost comes before rank 40 lost. If clicks are equal, as below the end of the curve, the keyword with the
 * better rank, now or before, comes first, then the one that moved farther.
 */
export function winnersAndLosers(statuses: readonly KeywordStatus[], curve: CtrCurve) {
  const of = (...movements: readonly string[]) =>
    statuses
      .filter(({ change }) => movements.includes(change.movement))
      .map((status) => weighed(status, curve))
      .toSorted(byWorth)
      .map(({ status, gain }) => ({ status, gain }))
  return {
    /** The greatest gain first. */
    winners: of('improved', 'entered'),
    /** The greatest loss first. */
    losers: of('declined', 'left'),
  }
}

/** Keywords by what their movements are worth, gains and losses alike; equal ones by volume, then by rank. */
export function byWorthOfMovement(statuses: readonly KeywordStatus[], curve: CtrCurve) {
  const all = statuses.map((status) => ({ status, worth: worthOf(status, curve) }))
  const ordered = all.toSorted(
    (a, b) =>
      b.worth - a.worth ||
      (b.status.keyword.volume ?? 0) - (a.status.keyword.volume ?? 0) ||
      bestOf(a.status) - bestOf(b.status),
  )
  return {
    ordered: ordered.map(({ status }) => status),
    /** How many have a movement that is worth something. */
    moved: all.filter(({ worth }) => worth > 0).length,
  }
}

/** The clicks a month that a keyword gained or lost; those of one search without a volume. */
function worthOf(status: KeywordStatus, curve: CtrCurve): number {
  if (!['improved', 'declined', 'entered', 'left'].includes(status.change.movement)) return 0
  const { gain, ofOneSearch } = weighed(status, curve)
  return Math.abs(gain ?? ofOneSearch)
}

/** What winners and losers gained together, in clicks a month; null if the gain of none is known. */
export function netGain(movers: readonly Pick<Mover, 'gain'>[]): number | null {
  const gains = movers.flatMap(({ gain }) => gain ?? [])
  return gains.length === 0 ? null : gains.reduce((sum, gain) => sum + gain, 0)
}

type WeighedMovement = ReturnType<typeof weighed>

function weighed(status: KeywordStatus, curve: CtrCurve) {
  const { current, baseline, keyword } = status
  const isClicked = hasClicks(keyword.kind)
  const ofOneSearch = isClicked
    ? rateOf(curve, current.rank) - rateOf(curve, baseline?.value.rank ?? null)
    : 0
  return {
    status,
    /** CTR now minus CTR before, times the volume: clicks a month. Null for AI references, and if the volume is not known. */
    gain: isClicked && keyword.volume !== null ? ofOneSearch * keyword.volume : null,
    /** The gain in clicks of one search. */
    ofOneSearch,
  }
}

/** The greatest gain or loss first. A list has either gains or losses. */
function byWorth(a: WeighedMovement, b: WeighedMovement): number {
  if ((a.gain === null) !== (b.gain === null)) return a.gain === null ? 1 : -1
  const size = ({ gain, ofOneSearch: clicks }: WeighedMovement) => Math.abs(gain ?? clicks)
  return size(b) - size(a) || byRanks(a, b)
}

/** The better rank, now or before, comes first; then the longer way. */
export function byRanks({ status: a }: Pick<Mover, 'status'>, { status: b }: Pick<Mover, 'status'>): number {
  return (
    bestOf(a) - bestOf(b) ||
    distanceOf(b) - distanceOf(a) ||
    a.series.keyword - b.series.keyword ||
    a.series.target - b.series.target
  )
}

function bestOf({ current, baseline }: KeywordStatus): number {
  return Math.min(current.rank ?? Number.MAX_VALUE, baseline?.value.rank ?? Number.MAX_VALUE)
}

function distanceOf({ change }: KeywordStatus): number {
  return change.change === null ? Number.MAX_VALUE : Math.abs(change.change)
}
