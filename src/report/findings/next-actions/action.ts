import type { KeywordStatus } from '../../history/keyword-status.ts'

/** Why something should be done about a keyword. */
export type ActionReason =
  | { readonly kind: 'fell out'; readonly top: 3 | 10; readonly from: number; readonly to: number | null }
  | {
      readonly kind: 'within reach'
      readonly rank: number
      /** On the compared day; null if it was not found, or is not compared. */
      readonly before: number | null
      /** Clicks a month that the third rank would bring more; null without a volume. */
      readonly clicks: number | null
    }
  | { readonly kind: 'other page'; readonly page: string; readonly intended: string }
  | { readonly kind: 'pages in turn'; readonly pages: readonly [string, string]; readonly swaps: number }
  | {
      readonly kind: 'passed'
      readonly rival: string
      readonly rank: number
      /** Further competitors that passed the target as well. */
      readonly others: number
    }
  | { readonly kind: 'not cited'; readonly rivals: readonly string[] }

/** A keyword that something should be done about. */
export interface NextAction {
  /** The keyword and the target; a panel opens with it. */
  readonly status: KeywordStatus
  /** The strongest first. */
  readonly reasons: readonly [ActionReason, ...ActionReason[]]
  /** Clicks a month at stake, by the strongest reason; null if the volume is not known, or nothing says what is clicked. */
  readonly clicks: number | null
  /** The page that ranks; null if none does, or the service sent no link. */
  readonly page: string | null
}
