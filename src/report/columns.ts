import type { RowView } from '../store/rows.ts'

const shared = [
  'run_id',
  'job',
  'query',
  'operation',
  'engine',
  'gl',
  'hl',
  'location',
  'page',
  'fetched_at',
  'rank',
  'position',
  'title',
  'link',
  'domain',
  'site',
  'source',
  'snippet',
]

function result(view: RowView, ...further: string[]) {
  return { view, columns: [...shared, ...further, 'params'], labels: true }
}

/** What can be exported: its view, its columns in their order, and whether the labels of the query follow them. */
export const exportKinds = {
  organic: result('organic_results', 'displayed_link', 'snippet_matched'),
  news: result('news_results', 'date', 'published_at'),
  videos: result(
    'video_results',
    'date',
    'published_at',
    'channel',
    'duration',
    'duration_seconds',
    'video_id',
  ),
  images: result('image_results', 'image_url', 'thumbnail', 'image_width', 'image_height'),
  references: result('ai_references', 'reference_index'),
  suggestions: result('suggestions', 'suggestion'),
  related: result('related_searches', 'related_query'),
  calls: {
    view: 'calls',
    columns: [
      'call_id',
      'run_id',
      'task_id',
      'operation',
      'sent_at',
      'finished_at',
      'http_status',
      'outcome',
      'billed',
      'credits',
      'latency_ms',
      'error',
    ],
    labels: false,
  },
} as const satisfies Record<string, { view: RowView; columns: readonly string[]; labels: boolean }>

export type ExportKind = keyof typeof exportKinds

/** Columns of the `rankings` view, then what a report adds. */
export const reportColumns = [
  'job',
  'query',
  'target',
  'operation',
  'gl',
  'hl',
  'location',
  'tags',
  'date',
  'observed_at',
  'state',
  'rank',
  'exactness',
  'depth',
  'url',
  'title',
  'run_id',
  'previous_date',
  'previous_state',
  'previous_rank',
  'change',
  'movement',
  'best_rank',
  'best_date',
] as const
