import type { Target } from '../../model/job.ts'
import type { Exactness, ResultKind } from '../../model/result.ts'
import type { Suspicion } from '../../model/run.ts'
import type { Audience } from '../../model/settings.ts'
import type { ComparedObservation } from './movement.ts'

/**
 * All observations of a job, day by day: the input of every report. It is plain JSON, so that the page can carry it. Queries,
 * targets, days and links are named by their place in the lists.
 */
export interface RankHistory {
  readonly job: string
  /** Local days of the job with at least one run, YYYY-MM-DD, ascending. */
  readonly days: readonly string[]
  /** The queries of the newest run, ordered by query, operation and params. */
  readonly keywords: readonly Keyword[]
  /** Own targets first, then competitors, each in the order of the job file. */
  readonly targets: readonly Target[]
  /** One for each keyword and target that is asked for, ordered by keyword, then target. */
  readonly series: readonly RankSeries[]
  readonly links: readonly string[]
  /** Queries that were asked on earlier days and no longer are. */
  readonly removed: readonly {
    readonly query: string
    readonly operation: string
    readonly params: Readonly<Record<string, string | number>>
    /** The last day on which it was asked. */
    readonly last: string
  }[]
  /** Only where the newest run is suspect as a whole. */
  readonly suspect?: Suspicion & { readonly day: string; readonly audience: Audience }
  /** The days of which clicks of Search Console were added; missing where they do not cover the period. */
  readonly countedClicks?: {
    readonly from: string
    readonly until: string
    /** The days that they are compared with. */
    readonly before: { readonly from: string; readonly until: string } | null
  }
  /** Ranks from before the first day, where another tool had some: shown, never taken for measured, and nothing is compared with them. */
  readonly imported?: {
    /** Formats of the files that they came from. */
    readonly sources: readonly string[]
    /** Sites of others among the first ten results that were imported, with how many of the asked keywords; missing without result pages. */
    readonly pages?: {
      readonly asked: number
      readonly sites: readonly { readonly site: string; readonly keywords: number }[]
    }
    /** Whether some of them count every element of the page, and not organic results alone. */
    readonly countsAll: boolean
    /** Of each point; some days lie between them where the span is long. */
    readonly days: readonly string[]
    readonly lines: readonly {
      readonly keyword: number
      readonly target: number
      /** The value at each point; what is not known is null. */
      readonly cells: readonly DayCell[]
    }[]
  }
  /** Keywords that one page can serve by the first results that they share, by their places, the head first; only those of several. */
  readonly clusters?: readonly (readonly number[])[]
}

export interface Keyword {
  readonly query: string
  readonly operation: string
  /** Kind of the results that are ranked. */
  readonly kind: ResultKind
  readonly params: Readonly<Record<string, string | number>>
  readonly tags: readonly string[]
  /** Searches a month; null if the job names none. */
  readonly volume: number | null
  /** Where the volume is from, if it was added from a file of more than 90 days ago. */
  readonly oldVolume?: { readonly source: string; readonly date: string }
  /** The landing page that should rank; null if the job names none. */
  readonly url: string | null
  readonly labels: Readonly<Record<string, string>>
  /**
   * The first day on which it was asked as it is now, where its history began with another query. Days before it are shown, and
   * never compared with. Missing where it was always asked so.
   */
  readonly since?: string
  /** What Search Console counted of it; missing where it names no such query, or nothing was added. */
  readonly counted?: CountedClicks
}

/** Clicks and impressions that were counted, in the days of `countedClicks` of the history. */
export interface CountedClicks {
  readonly clicks: number
  readonly impressions: number
  /** Average position as Search Console counts it, from 1 on. */
  readonly position: number
  /** Clicks in the days before; null where they are not known. */
  readonly clicksBefore: number | null
}

/** The observations of one target for one keyword. */
export interface RankSeries {
  readonly keyword: number
  readonly target: number
  /** The value of each day; as long as `days`. */
  readonly cells: readonly DayCell[]
  /** The depth without a gap, for days on which it differs from the checked depth. */
  readonly seen: SeenDepths
  /** The depth that absence counts with; empty if that is the depth without a gap. */
  readonly absentDepths: AbsentDepths
  /** The ranking link from a day on; null if none ranks. Only days with a change are listed. */
  readonly links: readonly (readonly [day: number, link: number | null])[]
  /** All results of the target on days with more than one: rank and link of each, the best first. */
  readonly places: Readonly<Record<number, readonly (readonly [rank: number, link: number])[]>>
}

/**
 * The value of one day for one keyword and target as a number, so that a year is small: null if nothing was observed, 0 for
 * `unknown`, the rank for `ranked`, and -(depth + 1) for `absent` (-31: not among the 30 checked results). A value that is 0.5
 * further from zero is estimated.
 */
export type DayCell = number | null

/** Day -> distinct results that were checked without a gap; -1 if the results ended there, so that nothing was missed. */
export type SeenDepths = Readonly<Record<number, number>>

/** The depth that absence counts with from a day on. Only days with a change are listed. */
export type AbsentDepths = readonly (readonly [day: number, depth: number])[]

/** The value of a day. */
export interface DayValue extends ComparedObservation {
  /** Null if unknown. */
  readonly exactness: Exactness | null
  /** Distinct results that were checked; null if ranked, because the rank is enough. */
  readonly depth: number | null
  /**
   * The depth that absence counts with: tables say that the target is not among this many results, and average positions count one
   * more. Null if ranked.
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

/** The number that stands for `absent` after `depth` checked results. */
export function absentCell(depth: number, isEstimated: boolean): number {
  return -(isEstimated ? depth + 1.5 : depth + 1)
}

/**
 * The value that a cell stands for; null if nothing was observed.
 *
 * @param seen the entry of {@link SeenDepths} for the day
 * @param absentDepth the entry of {@link AbsentDepths} for the day; by default the depth without a gap
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
  if (whole > 0) {
    const known = rankValues.get(cell) ?? rankValue(whole, exactness)
    rankValues.set(cell, known)
    return known
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

/** The values of ranks by their cells, each made once: there is one for every day of every keyword. */
const rankValues = new Map<number, DayValue>()

function rankValue(rank: number, exactness: Exactness): DayValue {
  const unbrokenDepth = Number.POSITIVE_INFINITY
  return { state: 'ranked', rank, exactness, depth: null, unbrokenDepth, absentDepth: null }
}
