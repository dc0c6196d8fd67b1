import type { Database } from 'better-sqlite3'
import { kindCodes, type Result } from '../../model/result.ts'
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
  const itemOf = ({ link, title }: Result): StoredItem => {
    const known = words.linkOf(link)
    return {
      link: link?.toWellFormed() ?? null,
      sameAs: known?.sameAs ?? null,
      linkId: known?.id ?? null,
      titleId: words.textId(title),
    }
  }
  const rowOf = ({ at, result }: Placed, { linkId, titleId }: StoredItem): Row => [
    ...at,
    result.position,
    linkId,
    titleId,
    words.textId(result.snippet),
    words.textId(result.source),
    words.textId(result.displayedLink),
    words.textId(json(result.snippetMatched)),
  ]

  return (read, anew) => {
    if (anew !== undefined || !writeFacts.first(read)) {
      // A reused answer was read when it came.
      if (anew === undefined && derivedBy.get(read.answerId) === read.normaliser) return
      for (const statement of clear) statement.run(read.answerId)
      writeFacts.again(read)
    }
    const placed = placesOf(read)
    const items = placed.map(({ result }) => itemOf(result))
    writeResults(placed.map((one, index) => rowOf(one, items[index] as StoredItem)))
    writeDetails(placed)
    // Related searches come along with web results and have no rank over pages.
    known.note(
      read.answerId,
      items.filter((_, index) => placed[index]?.result.kind !== 'related'),
    )
  }
}

const key = ['answer_id', 'kind', 'place']

interface Placed {
  /** The values of its key. */
  readonly at: readonly [answer: number, kind: number, place: number]
  readonly result: Result
}

/** Results with their places, in the order of their keys. */
function placesOf({ answerId, understood: { results } }: ReadAnswer): readonly Placed[] {
  const places = new Map<number, number>()
  const placed = results.map((result): Placed => {
    const kind = kindCodes[result.kind]
    const place = places.get(kind) ?? 0
    places.set(kind, place + 1)
    return { at: [answerId, kind, place], result }
  })
  return placed.sort(({ at: [, a] }, { at: [, b] }) => a - b)
}

/** Writes what kinds of results have beside the shared columns. */
function detailWriter(db: Database, words: Dictionary): (placed: readonly Placed[]) => void {
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
  const dated = ({ at, result: { news, video } }: Placed): Row[] => {
    const date = video ?? news
    if (date === null) return []
    const row = [
      ...at,
      words.textId(date.date),
      date.publishedAt === null ? null : Date.parse(date.publishedAt),
      date.precision,
      words.textId(video?.channel ?? null),
      words.textId(video?.duration ?? null),
      video?.durationSeconds ?? null,
      // Half a character is no text in other programs.
      video?.videoId?.toWellFormed() ?? null,
    ]
    return [row]
  }
  const images = ({ at, result: { image } }: Placed): Row[] => {
    if (image === null) return []
    const { imageUrl, thumbnail, width, height } = image
    return [[...at, words.linkOf(imageUrl)?.id ?? null, words.textId(thumbnail), width, height]]
  }
  return (placed) => {
    writeDated(placed.flatMap(dated))
    writeImages(placed.flatMap(images))
  }
}

/** Writes the facts of an answer: `first` only where none were written before, answering whether it did. */
function factWriter(db: Database, words: Dictionary) {
  const set = `${updateOne} answers_ SET normaliser = ?, total_results = ?, time_taken = ?, notice = ?, has_next_page = ?,
    next_page = ?, search_parameters = ?, knowledge_graph = ?, ai_markdown = ?, ai_blocks = ?, malformed = ? WHERE id = ?`
  const first = db.prepare(`${set} AND normaliser IS NULL`)
  const again = db.prepare(set)
  const values = ({ answerId, normaliser, understood: { facts, malformed } }: ReadAnswer) => [
    normaliser,
    facts.totalResults,
    facts.timeTaken,
    words.textId(facts.notice),
    facts.hasNextPage === null ? null : Number(facts.hasNextPage),
    facts.nextPage,
    words.textId(json(facts.searchParameters)),
    words.textId(json(facts.knowledgeGraph)),
    words.textId(facts.aiMarkdown),
    words.textId(json(facts.aiBlocks)),
    malformed.length === 0 ? null : json(malformed),
    answerId,
  ]
  return {
    first: (read: ReadAnswer): boolean => first.run(...values(read)).changes > 0,
    again: (read: ReadAnswer): void => {
      again.run(...values(read))
    },
  }
}

function json(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value)
}
