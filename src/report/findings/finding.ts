import type { SuspectDay } from '../history/rank-history.ts'

/** What a sentence of the headline says, in figures. */
export type Finding =
  | { readonly kind: 'not run' }
  | { readonly kind: 'no targets' }
  | { readonly kind: 'no keywords' }
  | { readonly kind: 'suspect'; readonly suspect: SuspectDay }
  | DayNotChecked
  | ({
      readonly kind: 'nothing ranks'
      readonly metric: LeadMetric
      readonly keywords: number
      readonly depth: number | null
    } & Before)
  | KeywordFinding
  | OwnVisibility
  | CitedAnswers
  | LowRanks
  | RivalMoved
  | Leader
  | TagMoved
  | { readonly kind: 'lowest tag'; readonly tag: string; readonly value: number }
  | Crossings
  | Clicks
  | TopRanks
  | { readonly kind: 'average'; readonly average: number; readonly trend: Trend }
  | { readonly kind: 'best rival'; readonly rival: string; readonly rank: number }
  | { readonly kind: 'not compared'; readonly why: NoTrend }
  | { readonly kind: 'not checked' | 'many not checked'; readonly unknown: number; readonly keywords: number }
  | { readonly kind: 'added'; readonly added: number; readonly keywords: number }
  | {
      readonly kind: 'asked otherwise'
      readonly changed: number
      readonly keywords: number
      readonly since: string
    }
  | { readonly kind: 'partial days'; readonly partial: number; readonly days: number }
  | { readonly kind: 'other day'; readonly asked: string; readonly day: string }

/** The day that is compared with, and how many days it lies back. */
export interface Span {
  readonly day: string
  readonly days: number
}

/** How a figure changed. `delta` is now minus before, of the keywords that were checked on both days. */
export type Trend =
  | { readonly state: 'moved'; readonly delta: number; readonly span: Span }
  | { readonly state: 'steady'; readonly span: Span }
  | { readonly state: 'none'; readonly why: NoTrend }

/** Why a figure is not compared. */
export type NoTrend =
  | { readonly reason: 'first day' }
  | { readonly reason: 'history begins later'; readonly first: string }
  | { readonly reason: 'not checked then'; readonly day: string }
  | {
      readonly reason: 'few in common'
      readonly common: number
      readonly keywords: number
      readonly span: Span
    }
  | { readonly reason: 'asked otherwise'; readonly since: string }
  | { readonly reason: 'not measured' }

/** The share that a report is about: visibility, or for AI answers the share of answers that cite. */
export type LeadMetric = 'visibility' | 'cited'

interface Whose {
  /** The target that the report is about, where it is not one's own; else null. */
  readonly of: string | null
}

interface Before {
  /** Keywords that ranked on the compared day; null if that is not known. */
  readonly before: number | null
  readonly span: Span | null
}

/** Less than half of the keywords were checked on the last day, so its figures say nothing. */
interface DayNotChecked {
  readonly kind: 'day not checked'
  readonly day: string
  readonly checked: number
  readonly keywords: number
  /** The last day on which enough was checked; null for none. */
  readonly last: { readonly day: string; readonly metric: LeadMetric; readonly value: number } | null
}

/** A keyword as sentences name it. */
export interface KeywordName {
  readonly query: string
  /** What tells it from others with the same query; empty where there are none. */
  readonly place: string
}

/** One of a few keywords. */
export interface KeywordFinding {
  readonly kind: 'keyword'
  readonly keyword: number
  readonly name: KeywordName
  readonly rank: number | null
  readonly rankBefore: number | null
  /** Results that it is absent from; null if it ranks, or is unknown. */
  readonly depth: number | null
  readonly movement: 'up' | 'down' | 'same' | 'entered' | 'left' | 'none' | 'unknown'
  readonly span: Span | null
}

interface OwnVisibility extends Whose {
  readonly kind: 'visibility'
  readonly value: number
  readonly trend: Trend
}

interface CitedAnswers extends Whose {
  readonly kind: 'cited answers'
  readonly cited: number
  readonly answers: number
  /** Answers more or less, of those that were checked on both days. */
  readonly trend: Trend
}

/** Ranks that are too low for visibility. */
interface LowRanks extends Whose {
  readonly kind: 'low ranks'
  readonly topTen: number
  readonly ranked: number
  readonly keywords: number
  readonly average: number
  readonly trend: Trend
}

/** The order of two targets, seen from the one that the report is about. */
export type TargetOrder = 'ahead' | 'behind' | 'level'

export interface RivalMoved extends Whose {
  readonly kind: 'rival moved'
  readonly rival: string
  readonly value: number
  /** Whether the change leads to that value. */
  readonly isReached: boolean
  readonly trend: Trend
  /** Null where the two are not tracked for the same keywords. */
  readonly standing: { readonly now: TargetOrder; readonly before: TargetOrder | null } | null
}

/** Who is in front. */
interface Leader extends Whose {
  readonly kind: 'leader'
  readonly metric: LeadMetric
  readonly rival: string
  readonly value: number
  /** Of the target that the report is about: the rival follows where it is ahead. */
  readonly standing: TargetOrder
}

/** Where the keywords stand. */
export interface TopRanks extends Whose {
  readonly kind: 'top ranks'
  readonly topThree: number
  readonly topTen: number
  readonly keywords: number
  /** Why it is the first sentence and nothing is compared; else null. */
  readonly why: NoTrend | null
}

export interface TagMoved {
  readonly kind: 'tag moved'
  readonly tag: string
  /** Null where the change does not lead to it. */
  readonly value: number | null
  readonly delta: number
  /** Whether it is the one that fell most, or that rose most. */
  readonly which: 'fell' | 'rose'
}

export interface Crossings {
  readonly kind: 'crossings'
  readonly top: 3 | 10
  readonly entered: number
  readonly left: number
  /** The keyword, where it is only one. */
  readonly name: KeywordName | null
}

interface Clicks {
  readonly kind: 'clicks'
  readonly clicks: number
  /** Clicks more or less of the keywords that were checked on both days. */
  readonly trend: Trend
}

/** What a sentence opens: keywords in the table, a tag, one keyword, or a section. */
export type FindingLink =
  | { readonly to: 'group'; readonly group: KeywordGroup }
  | { readonly to: 'tag'; readonly tag: string }
  | { readonly to: 'keyword'; readonly keyword: number }
  | { readonly to: 'section'; readonly section: 'keywords' | 'competitors' | 'answers' | 'definitions' }

/** Keywords that a sentence counts. */
export type KeywordGroup = 'into-top-3' | 'out-of-top-3' | 'into-top-10' | 'out-of-top-10' | 'not-checked'
