import type { ResultKind } from '../model/result.ts'
import type { Match, Variant } from '../model/target.ts'
import type { AbsentDepths, DayCell, SeenDepths } from './day-cell.ts'

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
