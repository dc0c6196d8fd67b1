import type { Column, ColumnType } from '../output/formats/format.ts'
import type { RowView } from '../store/reports.ts'

const shared = columns({
  run_id: 'long',
  job: 'text',
  query: 'text',
  operation: 'text',
  engine: 'text',
  gl: 'text',
  hl: 'text',
  location: 'text',
  page: 'integer',
  fetched_at: 'instant',
  rank: 'integer',
  position: 'long',
  title: 'text',
  link: 'text',
  domain: 'text',
  site: 'text',
  source: 'text',
  snippet: 'text',
})

interface Kind<View extends RowView> {
  readonly view: View
  readonly columns: readonly Column[]
  /** Whether columns for the labels of the query follow. */
  readonly labels: boolean
}

function columns(types: Readonly<Record<string, ColumnType>>): readonly Column[] {
  return Object.entries(types).map(([name, type]) => ({ name, type }))
}

function result<View extends RowView>(view: View, further: Readonly<Record<string, ColumnType>>): Kind<View> {
  return { view, columns: [...shared, ...columns({ ...further, params: 'text' })], labels: true }
}

/** The kinds of exports: view, columns in their order, and whether labels follow. */
export const exportKinds = {
  organic: result('organic_results', { displayed_link: 'text', snippet_matched: 'text' }),
  news: result('news_results', { date: 'text', published_at: 'instant' }),
  videos: result('video_results', {
    date: 'text',
    published_at: 'instant',
    channel: 'text',
    duration: 'text',
    duration_seconds: 'long',
    video_id: 'text',
  }),
  images: result('image_results', {
    image_url: 'text',
    thumbnail: 'text',
    image_width: 'long',
    image_height: 'long',
  }),
  references: result('ai_references', { reference_index: 'long' }),
  suggestions: result('suggestions', { suggestion: 'text' }),
  related: result('related_searches', { related_query: 'text' }),
  calls: {
    view: 'calls',
    columns: columns({
      call_id: 'long',
      run_id: 'long',
      task_id: 'long',
      operation: 'text',
      sent_at: 'instant',
      finished_at: 'instant',
      http_status: 'integer',
      outcome: 'text',
      billed: 'integer',
      credits: 'integer',
      latency_ms: 'integer',
      error: 'text',
    }),
    labels: false,
  },
} as const satisfies Record<string, Kind<RowView>>

export type ExportKind = keyof typeof exportKinds
