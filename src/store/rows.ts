/** What is stored, row by row. */
export interface ReportStore {
  /** Rows of a public view, streamed in a stable order: the order in which tasks were planned, page and place. */
  rows(view: RowView, filter: RowFilter): Iterable<Readonly<Record<string, Cell>>>
  /** Names of the labels that queries of these runs carry, in alphabetical order. */
  labelNames(filter: RowFilter): Promise<readonly string[]>
}

export type Cell = string | number | null

/** A view that is exported row by row. */
export type RowView =
  | 'answers'
  | 'organic_results'
  | 'news_results'
  | 'video_results'
  | 'image_results'
  | 'ai_references'
  | 'suggestions'
  | 'related_searches'
  | 'calls'
  | 'rankings'

/** What rows to take; an absent field is no condition. */
export interface RowFilter {
  readonly job?: string
  readonly run?: number
  readonly query?: string
  readonly operation?: string
  /** Instants in ISO 8601, or days: from (inclusive), until (exclusive). */
  readonly from?: string
  readonly until?: string
}
