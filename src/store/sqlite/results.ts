import type { Database } from 'better-sqlite3'
import { kindCodes, type Result } from '../../model/result.ts'
import type { RankedItem } from '../../rank/pages.ts'
import type { ReadAnswer } from '../answers.ts'
import type { Dictionary } from './dictionary.ts'

/** A result that has a rank, as it was stored. */
export interface StoredItem extends RankedItem {
  readonly linkId: number | null
  readonly titleId: number | null
}

/**
 * Stores the results and facts of an answer in place of those that were derived before; `anew` also where the same
 * normaliser had derived them. Answers the results that have ranks in the order of their page, or null where they stay
 * as they were. Inside a transaction.
 */
export function resultWriter(
  db: Database,
  words: Dictionary,
): (read: ReadAnswer, anew?: 'anew') => readonly StoredItem[] | null {
  const clear = ['results', 'dated_details', 'image_details'].map((table) =>
    db.prepare(`DELETE FROM ${table} WHERE answer_id = ?`),
  )
  const derivedBy = db
    .prepare<[number], number | null>('SELECT normaliser FROM answers_ WHERE id = ?')
    .pluck()
  const writeFacts = factWriter(db, words)
  const insert = db.prepare(
    `INSERT INTO results (answer_id, kind, place, position, link_id, title_id, snippet_id, source_id,
      displayed_link_id, matched_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const writeDetails = detailWriter(db, words)

  return (read, anew) => {
    if (anew !== undefined || !writeFacts.first(read)) {
      // A reused answer was read when it came.
      if (anew === undefined && derivedBy.get(read.answerId) === read.normaliser) return null
      for (const statement of clear) statement.run(read.answerId)
      writeFacts.again(read)
    }
    const places = new Map<number, number>()
    const items: (StoredItem & { readonly kind: number })[] = []
    for (const result of read.understood.results) {
      const kind = kindCodes[result.kind]
      const place = places.get(kind) ?? 0
      places.set(kind, place + 1)
      const link = words.linkOf(result.link)
      const titleId = words.textId(result.title)
      insert.run(
        read.answerId,
        kind,
        place,
        result.position,
        link?.id ?? null,
        titleId,
        words.textId(result.snippet),
        words.textId(result.source),
        words.textId(result.displayedLink),
        words.textId(json(result.snippetMatched)),
      )
      writeDetails({ answer: read.answerId, kind, place }, result)
      // Related searches come along with web results and have no rank over pages.
      if (kind !== kindCodes.related)
        items.push({
          kind,
          link: result.link?.toWellFormed() ?? null,
          sameAs: link?.sameAs ?? null,
          linkId: link?.id ?? null,
          titleId,
        })
    }
    return items.sort((a, b) => a.kind - b.kind)
  }
}

interface Key {
  readonly answer: number
  readonly kind: number
  readonly place: number
}

function detailWriter(db: Database, words: Dictionary): (key: Key, result: Result) => void {
  const dated = db.prepare(
    `INSERT INTO dated_details (answer_id, kind, place, date_id, published_at, precision, channel_id, duration_id,
      duration_seconds, video_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const image = db.prepare(
    `INSERT INTO image_details (answer_id, kind, place, image_link_id, thumbnail_id, width, height)
    VALUES (?, ?, ?, ?, ?, ?, ?)`,
  )
  return ({ answer, kind, place }, result) => {
    const { news, video } = result
    const date = video ?? news
    if (date !== null)
      dated.run(
        answer,
        kind,
        place,
        words.textId(date.date),
        date.publishedAt === null ? null : Date.parse(date.publishedAt),
        date.precision,
        words.textId(video?.channel ?? null),
        words.textId(video?.duration ?? null),
        video?.durationSeconds ?? null,
        // Half a character is no text in other programs.
        video?.videoId?.toWellFormed() ?? null,
      )
    if (result.image !== null) {
      const { imageUrl, thumbnail, width, height } = result.image
      const link = words.linkOf(imageUrl)?.id ?? null
      image.run(answer, kind, place, link, words.textId(thumbnail), width, height)
    }
  }
}

/** Writes the facts of an answer: `first` only where none were written before, answering whether it did. */
function factWriter(db: Database, words: Dictionary) {
  const set = `UPDATE answers_ SET normaliser = ?, total_results = ?, time_taken = ?, notice = ?, has_next_page = ?,
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
