/** What holds in every database that rankline has written, at any moment, also while it collects. */
export interface Invariant {
  /** Names what breaks it. */
  readonly broken: string
  /** What the numbers of these rows count. */
  readonly of: string
  /** The rows that break it, each with its `id`. */
  readonly sql: string
}
