import type { Database } from 'better-sqlite3'
import { kindCodes } from '../../model/result.ts'
import type { AnswerRows, DatedRow, ImageRow, ResultRow } from '../answer-rows.ts'
import type { ReadAnswer } from '../answers.ts'
import type { Dictionary } from './dictionary.ts'
import { type Row, rowInserter } from './insert-rows.ts'
import type { StoredItem } from './items.ts'
import type { Memory } from './memory.ts'
import { updateOne } from './one-row.ts'

/**
 * Stores the results and facts of an answer in place of those that were derived before; `anew` also where the same
 * normaliser had derived them. Inside a transaction.
 */
export function resultWriter(
  db: Database,
  { words, items: known }: Pick<Memory, 'words' | 'items'>,
): (read: ReadAnswer, anew?: 'anew') => void {
  const clear = ['results', 'dated_details', 'image_details'].map((table) =>
    db.prepare(`DELETE FROM ${table} WHERE answer_id = ?`),
  )
  const derivedBy = db
    .prepare<[number], number | null>('SELECT normaliser FROM answers_ WHERE id = ?')
    .pluck()
  const writeFacts = factWriter(db, words)
  const writeResults = rowInserter(db, 'results', [
    ...key,
    'position',
    'link_id',
    'title_id',
    'snippet_id',
    'source_id',
    'displayed_link_id',
    'matched_id',
  ])
  const writeDetails = detailWriter(db, words)
  const itemOf = ([, , , link, title]: ResultRow): StoredItem => {
    const known = words.linkOf(link)
    return { link, sameAs: known?.sameAs ?? null, linkId: known?.id ?? null, titleId: words.textId(title) }
  }
  const rowOf = (
    answerId: number,
    [kind, place, position, , , snippet, source, displayedLink, matched]: ResultRow,
    { linkId, titleId }: StoredItem,
  ): Row => [
    answerId,
    kind,
    place,
    position,
    linkId,
    titleId,
    words.textId(snippet),
    words.textId(source),
    words.textId(displayedLink),
    words.textId(matched),
  ]

  return (read, anew) => {
    const { answerId, normaliser, rows } = read
    if (anew !== undefined || !writeFacts.first(read)) {
      // A reused answer was read when it came.
      if (anew === undefined && derivedBy.get(answerId) === normaliser) return
      for (const statement of clear) statement.run(answerId)
      writeFacts.again(read)
    }
    const items = rows.results.map(itemOf)
    writeResults(rows.results.map((row, index) => rowOf(answerId, row, items[index] as StoredItem)))
    writeDetails(answerId, rows)
    // Related searches come along with web results and have no rank over pages.
    known.note(
      answerId,
      items.filter((_, index) => rows.results[index]?.[0] !== kindCodes.related),
    )
  }
}

const key = ['answer_id', 'kind', 'place']

/** Writes what kinds of results have beside the shared columns. */
function detailWriter(
  db: Database,
  words: Dictionary,
): (answerId: number, rows: Pick<AnswerRows, 'dated' | 'images'>) => void {
  const writeDated = rowInserter(db, 'dated_details', [
    ...key,
    'date_id',
    'published_at',
    'precision',
    'channel_id',
    'duration_id',
    'duration_seconds',
    'video_id',
  ])
  const writeImages = rowInserter(db, 'image_details', [
    ...key,
    'image_link_id',
    'thumbnail_id',
    'width',
    'height',
  ])
  const datedOf = (
    answerId: number,
    [kind, place, date, publishedAt, precision, channel, duration, seconds, videoId]: DatedRow,
  ): Row => [
    answerId,
    kind,
    place,
    words.textId(date),
    publishedAt,
    precision,
    words.textId(channel),
    words.textId(duration),
    seconds,
    videoId,
  ]
  const imageOf = (answerId: number, [kind, place, link, thumbnail, width, height]: ImageRow): Row => [
    answerId,
    kind,
    place,
    words.linkOf(link)?.id ?? null,
    words.textId(thumbnail),
    width,
    height,
  ]
  return (answerId, { dated, images }) => {
    writeDated(dated.map((row) => datedOf(answerId, row)))
    writeImages(images.map((row) => imageOf(answerId, row)))
  }
}

/** Writes the facts of an answer: `first` only where none were written before, answering whether it did. */
function factWriter(db: Database, words: Dictionary) {
  const set = `${updateOne} answers_ SET normaliser = ?, total_results = ?, time_taken = ?, notice = ?, has_next_page = ?,
    next_page = ?, search_parameters = ?, knowledge_graph = ?, ai_markdown = ?, ai_blocks = ?, malformed = ?,
    echo_mismatch = ? WHERE id = ?`
  const first = db.prepare(`${set} AND normaliser IS NULL`)
  const again = db.prepare(set)
  const values = ({ answerId, normaliser, rows: { facts } }: ReadAnswer) => {
    const [total, time, notice, hasNext, nextPage, parameters, graph, markdown, blocks, malformed, mismatch] =
      facts
    return [
      normaliser,
      total,
      time,
      words.textId(notice),
      hasNext,
      nextPage,
      words.textId(parameters),
      words.textId(graph),
      words.textId(markdown),
      words.textId(blocks),
      malformed,
      mismatch,
      answerId,
    ]
  }
  return {
    first: (read: ReadAnswer): boolean => first.run(...values(read)).changes > 0,
    again: (read: ReadAnswer): void => {
      again.run(...values(read))
    },
  }
}
