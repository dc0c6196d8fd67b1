import type { Column, ColumnType } from '../output/formats/format.ts'
import type { RowView } from '../store/reports.ts'

/** A column of an export, with what it says in one line. */
export interface ExportColumn extends Column {
  readonly meaning: string
}

type KindColumns = Readonly<Record<string, readonly [type: ColumnType, meaning: string]>>

const shared = columns({
  run_id: ['long', 'Number of the run'],
  job: ['text', 'Name of the job'],
  query: ['text', 'Text of the query'],
  operation: ['text', 'Operation of the service that was called'],
  engine: ['text', 'Engine: the first part of the operation'],
  gl: ['text', 'Country that was asked for'],
  hl: ['text', 'Language that was asked for'],
  location: ['text', 'Place that was asked for'],
  page: ['integer', 'Page of the query, from 1'],
  fetched_at: ['instant', 'When the answer came'],
  rank: ['integer', 'Rank among the results of this kind, over all pages of the query, from 1'],
  position: ['long', 'Position as the service sent it'],
  title: ['text', 'Title as sent'],
  link: ['text', 'Link as sent'],
  domain: ['text', 'Host of the link'],
  site: ['text', 'Registrable domain of the link'],
  source: ['text', 'Name of the publisher as sent'],
  snippet: ['text', 'Snippet as sent'],
})

const dated: KindColumns = {
  date: ['text', 'Date as sent, for instance 3 hours ago'],
  published_at: ['instant', 'The instant that the date means; empty where it is uncertain'],
}

interface Kind<View extends RowView> {
  readonly view: View
  /** What a row is, in a few words. */
  readonly meaning: string
  readonly columns: readonly ExportColumn[]
  /** Whether columns for the labels of the query follow. */
  readonly labels: boolean
}

function columns(described: KindColumns): readonly ExportColumn[] {
  return Object.entries(described).map(([name, [type, meaning]]) => ({ name, type, meaning }))
}

function result<View extends RowView>(view: View, meaning: string, further: KindColumns): Kind<View> {
  const params: KindColumns = { params: ['json', 'All parameters of the query'] }
  return { view, meaning, columns: [...shared, ...columns({ ...further, ...params })], labels: true }
}

/** The kinds of exports: view, columns in their order, and whether labels follow. */
export const exportKinds = {
  organic: result('organic_results', 'Web results', {
    displayed_link: ['text', 'Link as the page shows it'],
    snippet_matched: ['json', 'Words of the snippet that match the query, as sent'],
  }),
  news: result('news_results', 'News results', dated),
  videos: result('video_results', 'Video results', {
    ...dated,
    channel: ['text', 'Channel as sent'],
    duration: ['text', 'Duration as sent'],
    duration_seconds: ['long', 'Duration in seconds'],
    video_id: ['text', 'Id of the video as sent'],
  }),
  images: result('image_results', 'Image results', {
    image_url: ['text', 'Address of the image; the link is the page that shows it'],
    thumbnail: ['text', 'Address of the thumbnail'],
    image_width: ['long', 'Width in pixels'],
    image_height: ['long', 'Height in pixels'],
  }),
  references: result('ai_references', 'References of AI answers', {
    reference_index: ['long', 'Index of the reference as sent'],
  }),
  suggestions: result('suggestions', 'Suggestions while typing', {
    suggestion: ['text', 'Text of the suggestion'],
  }),
  related: result('related_searches', 'Related searches', {
    related_query: ['text', 'Text of the related search'],
  }),
  calls: {
    view: 'calls',
    meaning: 'Calls to the service: the ledger',
    columns: columns({
      call_id: ['long', 'Number of the call'],
      run_id: ['long', 'Number of the run; empty for calls of no run'],
      task_id: ['long', 'Number of the task: a page of a query in a run'],
      operation: ['text', 'Operation of the service that was called'],
      sent_at: ['instant', 'When it was sent'],
      finished_at: ['instant', 'When it ended'],
      http_status: ['integer', 'HTTP status of the answer; empty where none came'],
      outcome: ['text', 'How it ended; empty while it is in flight'],
      billed: ['integer', '1 billed, 0 free, empty if it is not known'],
      credits: ['integer', 'Credits that it costs if it is billed'],
      latency_ms: ['integer', 'Milliseconds from sending to the end'],
      error: ['text', 'What went wrong, in words'],
    }),
    labels: false,
  },
} as const satisfies Record<string, Kind<RowView>>

export type ExportKind = keyof typeof exportKinds

const keyOfPage = columns({
  task_id: ['long', 'Number of the task: a page of a query in a run, as in the calls'],
  place: ['integer', 'Place on the page among the rows of this kind, from 0'],
})

/** What tells the rows of a kind apart in a table, and those of its columns that files do not have. */
export function tableKey(kind: ExportKind): {
  readonly key: readonly string[]
  readonly columns: readonly ExportColumn[]
} {
  if (kind === 'calls') return { key: ['call_id'], columns: [] }
  return { key: keyOfPage.map(({ name }) => name), columns: keyOfPage }
}
