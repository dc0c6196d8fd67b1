import { crc32 } from 'node:zlib'
import { UsageError } from '../model/errors.ts'
import type { Cells, Column, ColumnType } from '../output/formats/format.ts'
import { sanitize } from '../output/terminal.ts'
import type { RowView, Snapshot } from '../store/sqlite/rankings/rows.ts'

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
  clicks: {
    view: 'clicks',
    meaning: 'Clicks and impressions that Search Console counted, by query',
    columns: columns({
      property: ['text', 'Property as Search Console names it'],
      site: ['text', 'Its registrable domain'],
      query: ['text', 'Text of the query, lower case; empty for all that Search Console does not name'],
      page: ['text', 'Page that was shown; empty where the file has no pages of queries'],
      country: ['text', 'Country, two letters; empty where the file has none'],
      date: ['text', 'Day of Search Console, or the first one of a period'],
      until_date: ['text', 'The same day, or the last one of the period'],
      clicks: ['integer', 'Clicks that were counted'],
      impressions: ['integer', 'Impressions that were counted'],
      position: ['decimal', 'Average position, from 1'],
      counted_by: ['text', 'property or page: what an impression is counted once for'],
      source: ['text', 'File, folder or archive that was added'],
      addition_id: ['long', 'Number of the addition, as in rankline clicks list'],
    }),
    labels: false,
  },
} as const satisfies Record<string, Kind<RowView>>

export type ExportKind = keyof typeof exportKinds
/** Kinds whose records are numbered as they come, so that an export can begin where the last one ended. */
export type DeliveredKind = Exclude<ExportKind, 'clicks'>

const ofImport: KindColumns = {
  source: ['text', 'Format of its file'],
  file: ['text', 'The file'],
  import_id: ['long', 'Number of the import, as in rankline import list'],
}

const ofSearch: KindColumns = {
  gl: ['text', 'Country, where the file says it'],
  hl: ['text', 'Language, where the file says it'],
  location: ['text', 'Place as the file spells it'],
  device: ['text', 'Device, where the file says it'],
  engine: ['text', 'Engine, where the file says it'],
}

/** What was imported: apart from what was measured, and always exported as a whole. */
export const importedKinds = {
  'imported-rankings': {
    view: 'imported_rankings',
    meaning: 'Imported ranks',
    columns: columns({
      job: ['text', 'The job that it is history of; empty where it is that of any'],
      query: ['text', 'Text of the query'],
      target: ['text', 'The site that was followed'],
      ...ofSearch,
      tags: ['text', 'Tags of the query, separated by semicolons'],
      volume: ['long', 'Searches a month, as the file says'],
      date: ['text', 'Local day of the tool'],
      state: ['text', 'ranked, absent or unknown'],
      rank: ['integer', 'Rank, where it is ranked'],
      rank_kind: ['text', 'What the rank counts: organic results, or all elements of the page'],
      depth: ['integer', 'How many results were looked at, where the file says it'],
      url: ['text', 'The page that ranked'],
      reason: ['text', 'Why it is unknown'],
      repeats_possible: ['integer', '1 where the tool may have repeated a rank that it did not check'],
      ...ofImport,
    }),
  },
  'imported-answers': {
    view: 'imported_answers',
    meaning: 'Imported result pages',
    columns: columns({
      job: ['text', 'The job that it is history of; empty where it is that of any'],
      query: ['text', 'Text of the query'],
      ...ofSearch,
      date: ['text', 'Local day of the tool'],
      rank: ['integer', 'Place among the results of the page, from 1'],
      link: ['text', 'Link of the result'],
      results: ['integer', 'Results of the page'],
      ...ofImport,
    }),
  },
} as const satisfies Record<string, Omit<Kind<RowView>, 'view' | 'labels'> & { readonly view: string }>

const keyOfPage = columns({
  task_id: ['long', 'Number of the task: a page of a query in a run, as in the calls'],
  place: ['integer', 'Place on the page among the rows of this kind, from 0'],
})

/** What tells the rows of a kind apart in a table, and those of its columns that files do not have. */
export function tableKey(kind: DeliveredKind): {
  readonly key: readonly string[]
  readonly columns: readonly ExportColumn[]
} {
  if (kind === 'calls') return { key: ['call_id'], columns: [] }
  return { key: keyOfPage.map(({ name }) => name), columns: keyOfPage }
}

/** The position of an export of a kind in what a database has now. */
export function cursorIn(snapshot: Snapshot, kind: DeliveredKind) {
  const { view } = exportKinds[kind]
  return exportCursor(kind, {
    newest: snapshot.newest(view),
    markOf: (number) => snapshot.markOf(view, number),
  })
}

export function exportCursor(
  kind: string,
  {
    newest,
    markOf,
  }: {
    readonly newest: number
    /** A text that names the record of a number in this database only; null if the record no longer exists. */
    readonly markOf: (number: number) => string | null
  },
) {
  /** It as an opaque text, for the next export. */
  const text = (): string => {
    const mark = digest(markOf(newest))
    return `${kind}-${newest}${mark === null ? '' : `-${mark}`}`
  }
  return {
    text,
    /**
     * The number in a cursor of this kind. Throws one sentence for a cursor of another kind or of another database, whose number is
     * beyond the newest or names another record here. The same holds for a cursor from after a backup that was restored.
     */
    read: (cursor: string): number => {
      const shown = sanitize(cursor.trim()).slice(0, 40)
      const [, ofKind, digits, mark] = cursor.trim().match(/^([a-z]+)-(\d{1,15})(?:-([0-9a-f]{8}))?$/) ?? []
      if (ofKind === undefined)
        throw new UsageError(
          `'${shown}' is not a cursor. Write the one that the last export ended with, such as ${kind}-12345-0a1b2c3d`,
        )
      if (ofKind !== kind)
        throw new UsageError(`${shown} is a cursor of the export '${ofKind}'. Each kind has its own`)
      const number = Number(digits)
      const here = digest(markOf(number))
      if (number > newest || (mark !== undefined && here !== null && here !== mark))
        throw new UsageError(
          `${shown} is the cursor of another database: the newest of this one is ${text()}. Export everything once without a cursor`,
        )
      return number
    },
  }
}

function digest(mark: string | null): string | null {
  return mark === null ? null : crc32(mark).toString(16).padStart(8, '0')
}

/**
 * The rows of an export, with the labels of their queries as columns.
 *
 * @param first columns of the view that the kind does not have; they come before the others
 */
export function labelled(
  snapshot: Snapshot,
  kind: ExportKind,
  filter: Parameters<Snapshot['rows']>[2],
  first: readonly ExportColumn[] = [],
): { readonly rows: Iterable<Cells>; readonly columns: readonly ExportColumn[] } {
  const { view, labels } = exportKinds[kind]
  const columns = [...first, ...exportKinds[kind].columns]
  const names = columns.map(({ name }) => name)
  const labelNames = labels ? snapshot.labelNames(filter) : []
  if (labelNames.length === 0) return { rows: snapshot.rows(view, names, filter), columns }
  return {
    rows: withLabels(snapshot.rows(view, [...names, 'labels'], filter), labelNames),
    columns: [...columns, ...labelNames.map(labelColumn)],
  }
}

function labelColumn(name: string): ExportColumn {
  return { name: `label_${name}`, type: 'text', meaning: `Label ${name} of the query` }
}

/** The name of the cluster of a query; null where it has none. */
export type ClusterOf = (query: {
  readonly operation: string
  readonly params: string
  readonly text: string
}) => string | null

/** The same rows with the cluster of their query as the last column. */
export function withClusters(
  { rows, columns }: ReturnType<typeof labelled>,
  clusterOf: ClusterOf,
): ReturnType<typeof labelled> {
  const [operation, params, text] = ['operation', 'params', 'query'].map((asked) =>
    columns.findIndex(({ name }) => name === asked),
  ) as [number, number, number]
  function* withCluster() {
    for (const row of rows)
      yield [
        ...row,
        clusterOf({
          operation: String(row[operation]),
          params: String(row[params]),
          text: String(row[text]),
        }),
      ]
  }
  const column: ExportColumn = { name: 'cluster', type: 'text', meaning: 'Head of the cluster of the query' }
  return { rows: withCluster(), columns: [...columns, column] }
}

/** Replaces the last cell, which has all labels of a query as JSON, by one cell for each name. */
function* withLabels(rows: Iterable<Cells>, names: readonly string[]): Generator<Cells> {
  let text: Cells[number] | undefined
  let cells: Cells = []
  for (const row of rows) {
    // All results of a task have the same labels.
    if (row.at(-1) !== text) {
      text = row.at(-1)
      const labels = JSON.parse(String(text ?? '{}')) as Record<string, string>
      cells = names.map((name) => (Object.hasOwn(labels, name) ? (labels[name] ?? null) : null))
    }
    yield [...row.slice(0, -1), ...cells]
  }
}
