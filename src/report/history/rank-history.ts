import type { Exactness, ResultKind } from '../../model/result.ts'
import type { Match, Variant } from '../../model/target.ts'
import type { Observed } from './movement.ts'

/**
 * Everything that was observed of a job, day by day: what every report is made of. It is plain JSON, so that a page can
 * carry it whole; queries, targets, days and links are named by their place in the lists.
 */
export interface RankHistory {
  readonly job: string
  /** Local days of the job with at least one run, YYYY-MM-DD, ascending. */
  readonly days: readonly string[]
  /** What the newest run asks for, ordered by query, operation and params. */
  readonly keywords: readonly Keyword[]
  /** Own targets first, then competitors, each in the order of the job file. */
  readonly targets: readonly TrackedTarget[]
  /** One for each keyword and target that is asked for, ordered by keyword, then target. */
  readonly series: readonly RankSeries[]
  readonly links: readonly string[]
  /** Queries that were asked on earlier days and no longer are. */
  readonly removed: readonly RemovedKeyword[]
}

export interface Keyword {
  readonly query: string
  readonly operation: string
  /** Kind of the results that are ranked. */
  readonly kind: ResultKind
  readonly params: Readonly<Record<string, string | number>>
  readonly tags: readonly string[]
  /** Searches a month; null where the job says none. */
  readonly volume: number | null
  /** The landing page that should rank; null where the job says none. */
  readonly url: string | null
  readonly labels: Readonly<Record<string, string>>
}

export interface TrackedTarget {
  /** Name in reports. */
  readonly label: string
  readonly site: string
  readonly match: Match
  readonly also: readonly Variant[]
  /** False for a competitor. */
  readonly own: boolean
}

/** How one target did for one keyword. */
export interface RankSeries {
  readonly keyword: number
  readonly target: number
  /** What each day came to, as long as `days`. */
  readonly cells: readonly DayCell[]
  /** How far days looked without a gap, where that is not as far as they looked. */
  readonly seen: SeenDepths
  /** The depth that absence counts with; empty where it counts with what was looked at without a gap. */
  readonly absentDepths: AbsentDepths
  /** The ranking link from a day on, by change: day and link, null from where none ranks. */
  readonly links: readonly (readonly [day: number, link: number | null])[]
  /** All results of the target on days with more than one: rank and link of each, the best first. */
  readonly places: Readonly<Record<number, readonly (readonly [rank: number, link: number])[]>>
}

export interface RemovedKeyword {
  readonly query: string
  readonly operation: string
  readonly params: Readonly<Record<string, string | number>>
  /** The last day on which it was asked. */
  readonly last: string
}

/**
 * What one day came to for one keyword and target, as a number, so that a year of them is small: null where nothing was
 * observed, 0 for `unknown`, a rank for `ranked`, and minus one more than the depth for `absent` (-31: the 30 results
 * looked at are others'). A half more, away from zero, says `estimated`.
 */
export type DayCell = number | null

/** Day -> distinct results looked at without a gap; -1 where the results ended, so that nothing was missed at all. */
export type SeenDepths = Readonly<Record<number, number>>

/** From a day on, by change: the depth that absence counts with. */
export type AbsentDepths = readonly (readonly [day: number, depth: number])[]

/** What a day came to. */
export interface DayValue extends Observed {
  /** Null where `unknown`. */
  readonly exactness: Exactness | null
  /** Distinct results looked at; null where `ranked`, for a rank says itself how deep it lies. */
  readonly depth: number | null
  /**
   * The depth that absence counts with: tables say that the target is not among so many results, and average positions count
   * it one below. Null where `ranked`.
   */
  readonly absentDepth: number | null
}

/** Nothing is known of the day. */
export const unknown: DayValue = {
  state: 'unknown',
  rank: null,
  exactness: null,
  depth: 0,
  unbrokenDepth: 0,
  absentDepth: 0,
}

/** The number that stands for `unknown`. */
export const unknownCell = 0

/** The number that stands for a rank. */
export function rankedCell(rank: number, isEstimated: boolean): number {
  return isEstimated ? rank + 0.5 : rank
}

/** The number that stands for `absent` from so many results. */
export function absentCell(depth: number, isEstimated: boolean): number {
  return -(isEstimated ? depth + 1.5 : depth + 1)
}

/**
 * What the number stands for; null where nothing was observed.
 *
 * @param seen what {@link SeenDepths} says of the day
 * @param absentDepth what {@link AbsentDepths} says of the day; what was looked at without a gap where it says nothing
 */
export function dayValue(
  cell: DayCell,
  seen: number | undefined,
  absentDepth?: number | undefined,
): DayValue | null {
  if (cell === null) return null
  if (cell === unknownCell) return unknown
  const whole = Math.trunc(cell)
  const exactness = whole === cell ? 'exact' : 'estimated'
  if (whole > 0)
    return {
      state: 'ranked',
      rank: whole,
      exactness,
      depth: null,
      unbrokenDepth: Number.POSITIVE_INFINITY,
      absentDepth: null,
    }
  const depth = -whole - 1
  const unbrokenDepth = seen === -1 ? Number.POSITIVE_INFINITY : (seen ?? depth)
  return {
    state: 'absent',
    rank: null,
    exactness,
    depth,
    unbrokenDepth,
    absentDepth: absentDepth ?? Math.min(unbrokenDepth, depth),
  }
}
