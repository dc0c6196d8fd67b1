import type { Database } from 'better-sqlite3'
import { kindCodes, type Result } from '../../model/result.ts'
import type { ReadAnswer } from '../answers.ts'
import type { Dictionary } from './dictionary.ts'

/**
 * Stores the results and facts of an answer in place of those that were derived before; `anew` also where the same
 * normaliser had derived them. Inside a transaction.
 */
export function resultWriter(db: Database, words: Dictionary): (read: ReadAnswer, anew?: 'anew') => void {
  const clear = ['results', 'dated_details', 'image_details'].map((table) =>
    db.prepare(`DELETE FROM ${table} WHERE answer_id = ?`),
  )
  const derived = db.prepare<[number], { normaliser: number | null }>(
    'SELECT normaliser FROM answers_ WHERE id = ?',
  )
  const writeFacts = factWriter(db, words)
  const insert = db.prepare(
    `INSERT INTO results (answer_id, kind, place, position, link_id, title_id, snippet_id, source_id,
      displayed_link_id, matched_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const writeDetails = detailWriter(db, words)

  return (read, anew) => {
    const before = derived.get(read.answerId)?.normaliser ?? null
    // A reused answer was read when it came.
    if (before === read.normaliser && anew === undefined) return
    if (before !== null) for (const statement of clear) statement.run(read.answerId)
    writeFacts(read)
    const places = new Map<number, number>()
    for (const result of read.understood.results) {
      const kind = kindCodes[result.kind]
      const place = places.get(kind) ?? 0
      places.set(kind, place + 1)
      insert.run(
        read.answerId,
        kind,
        place,
        result.position,
        words.linkId(result.link),
        words.textId(result.title),
        words.textId(result.snippet),
        words.textId(result.source),
        words.textId(result.displayedLink),
        words.textId(json(result.snippetMatched)),
      )
      writeDetails({ answer: read.answerId, kind, place }, result)
    }
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
      const link = words.linkId(imageUrl)
      image.run(answer, kind, place, link, words.textId(thumbnail), width, height)
    }
  }
}

function factWriter(db: Database, words: Dictionary): (read: ReadAnswer) => void {
  const update = db.prepare(
    `UPDATE answers_ SET normaliser = @normaliser, total_results = @totalResults, time_taken = @timeTaken,
      notice = @notice, has_next_page = @hasNextPage, next_page = @nextPage, search_parameters = @searchParameters,
      knowledge_graph = @knowledgeGraph, ai_markdown = @aiMarkdown, ai_blocks = @aiBlocks, malformed = @malformed
    WHERE id = @answerId`,
  )
  return ({ answerId, normaliser, understood: { facts, malformed } }) => {
    update.run({
      answerId,
      normaliser,
      totalResults: facts.totalResults,
      timeTaken: facts.timeTaken,
      notice: words.textId(facts.notice),
      hasNextPage: facts.hasNextPage === null ? null : Number(facts.hasNextPage),
      nextPage: facts.nextPage,
      searchParameters: words.textId(json(facts.searchParameters)),
      knowledgeGraph: words.textId(json(facts.knowledgeGraph)),
      aiMarkdown: words.textId(facts.aiMarkdown),
      aiBlocks: words.textId(json(facts.aiBlocks)),
      malformed: malformed.length === 0 ? null : json(malformed),
    })
  }
}

function json(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value)
}
