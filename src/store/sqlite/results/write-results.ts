import type { Database } from 'better-sqlite3'
import { type AnswerFacts, kindCodes, type Result } from '../../../model/result.ts'
import type { ReadAnswer } from '../../results.ts'
import type { StoreCache, StoredItem } from '../cache.ts'
import { batchInsert, updateOrFail } from '../connection/statements.ts'
import type { Dictionary } from './dictionary.ts'

/** A result with the code of its kind, and its place among the results of that kind on the page, from 0. */
interface Placed {
  readonly kind: number
  readonly place: number
  readonly result: Result
}

/**
 * Stores the results and facts of an answer, inside a transaction. They replace those of an older normaliser; with `anew` also
 * those of the same one.
 */
export function resultWriter(
  db: Database,
  { dictionary, items: known }: Pick<StoreCache, 'dictionary' | 'items'>,
): (read: ReadAnswer, anew?: 'anew') => void {
  const clear = clearResults(db)
  const derivedBy = db
    .prepare<[number], number | null>('SELECT normaliser FROM answers_ WHERE id = ?')
    .pluck()
  const writeFacts = factWriter(db)
  const writeResults = batchInsert(db, 'results', [
    ...key,
    'position',
    'link_id',
    'title_id',
    'snippet_id',
    'source_id',
    'displayed_link_id',
    'matched_id',
  ])
  const writeDetails = detailWriter(db, dictionary)

  return (read, anew) => {
    const { answerId, normaliser, says } = read
    const placed = placesOf(says.results)
    const wanted = textsOfFacts(says.facts)
    for (const { result } of placed) addTextsOf(result, wanted)
    const texts = dictionary.texts(wanted)
    const facts = texts.slice(0, factTexts)
    if (anew !== undefined || !writeFacts.first(read, facts)) {
      // The results of a reused answer are stored already.
      if (anew === undefined && derivedBy.get(answerId) === normaliser) return
      for (const statement of clear) statement.run(answerId)
      writeFacts.again(read, facts)
    }
    const links = dictionary.links(placed.map(({ result }) => result.link))
    const items: StoredItem[] = []
    writeResults(
      placed.map(({ kind, place, result: { position } }, index) => {
        const link = links[index] ?? null
        const from = factTexts + index * resultTexts
        const ids = texts.slice(from, from + resultTexts)
        const titleId = ids[0] ?? null
        if (isRanked(kind))
          items.push({
            link: link?.link ?? null,
            sameAs: link?.sameAs ?? null,
            linkId: link?.id ?? null,
            titleId,
          })
        return [answerId, kind, place, position, link?.id ?? null].concat(ids)
      }),
    )
    writeDetails(answerId, placed)
    known.remember(answerId, items)
  }
}

/** Removes the results of an answer that turned out to be none, inside a transaction. */
export function resultRemover(
  db: Database,
  { items: known }: Pick<StoreCache, 'items'>,
): (answerId: number) => void {
  const clear = clearResults(db)
  return (answerId) => {
    for (const statement of clear) statement.run(answerId)
    known.remember(answerId, [])
  }
}

/** Statements that remove what is stored of the results of an answer. */
function clearResults(db: Database) {
  return ['results', 'dated_details', 'image_details'].map((table) =>
    db.prepare(`DELETE FROM ${table} WHERE answer_id = ?`),
  )
}

const key = ['answer_id', 'kind', 'place']

/** How many texts `textsOfFacts` returns, and `addTextsOf` adds. */
const factTexts = 5
const resultTexts = 5

function textsOfFacts(facts: AnswerFacts): (string | null)[] {
  const { notice, searchParameters, knowledgeGraph, aiMarkdown, aiBlocks } = facts
  return [notice, json(searchParameters), json(knowledgeGraph), aiMarkdown, json(aiBlocks)]
}

function addTextsOf(result: Result, texts: (string | null)[]): void {
  const { title, snippet, source, displayedLink, snippetMatched } = result
  texts.push(title, snippet, source, displayedLink, json(snippetMatched))
}

/** Results by kind, in their order. */
function placesOf(results: readonly Result[]): readonly Placed[] {
  const places = new Map<number, number>()
  const placed = results.map((result): Placed => {
    const kind = kindCodes[result.kind]
    const place = places.get(kind) ?? 0
    places.set(kind, place + 1)
    return { kind, place, result }
  })
  return placed.sort((a, b) => a.kind - b.kind)
}

/** Results that have a rank, by kind, in their order. */
export function rankedInOrder(results: readonly Result[]): readonly Result[] {
  return placesOf(results).flatMap(({ kind, result }) => (isRanked(kind) ? result : []))
}

/** Related searches come with web results and have no rank. */
function isRanked(kind: number): boolean {
  return kind !== kindCodes.related
}

/** Writes the details that only some kinds of results have. */
function detailWriter(
  db: Database,
  dictionary: Dictionary,
): (answerId: number, placed: readonly Placed[]) => void {
  const writeDated = batchInsert(db, 'dated_details', [
    ...key,
    'date_id',
    'published_at',
    'precision',
    'channel_id',
    'duration_id',
    'duration_seconds',
    'video_id',
  ])
  const writeImages = batchInsert(db, 'image_details', [
    ...key,
    'image_link_id',
    'thumbnail_id',
    'width',
    'height',
  ])
  return (answerId, placed) => {
    const dated = placed.flatMap(({ kind, place, result: { news, video } }) => {
      const details = video ?? news
      return details === null ? [] : { kind, place, details, video }
    })
    const images = placed.flatMap(({ kind, place, result: { image } }) =>
      image === null ? [] : { kind, place, image },
    )
    if (dated.length === 0 && images.length === 0) return
    const texts = dictionary.texts([
      ...dated.flatMap(({ details, video }) => [
        details.date,
        video?.channel ?? null,
        video?.duration ?? null,
      ]),
      ...images.map(({ image }) => image.thumbnail),
    ])
    const links = dictionary.links(images.map(({ image }) => image.imageUrl))
    writeDated(
      dated.map(({ kind, place, details: { publishedAt, precision }, video }, index) => {
        const [dateId = null, channelId = null, durationId = null] = texts.slice(index * 3, index * 3 + 3)
        const published = publishedAt === null ? null : Date.parse(publishedAt)
        const seconds = video?.durationSeconds ?? null
        const videoId = video?.videoId?.toWellFormed() ?? null
        return [answerId, kind, place, dateId, published, precision, channelId, durationId, seconds, videoId]
      }),
    )
    writeImages(
      images.map(({ kind, place, image: { width, height } }, index) => {
        const thumbnailId = texts[dated.length * 3 + index] ?? null
        return [answerId, kind, place, links[index]?.id ?? null, thumbnailId, width, height]
      }),
    )
  }
}

type TextIds = readonly (number | null)[]

/** Writes the facts of an answer, given the ids of their texts. `first` writes only if none are stored, and returns whether it did. */
function factWriter(db: Database) {
  const set = `${updateOrFail} answers_ SET normaliser = ?, total_results = ?, time_taken = ?, notice = ?, has_next_page = ?,
    next_page = ?, search_parameters = ?, knowledge_graph = ?, ai_markdown = ?, ai_blocks = ?, malformed = ?,
    echo_mismatch = ? WHERE id = ?`
  const first = db.prepare(`${set} AND normaliser IS NULL`)
  const again = db.prepare(set)
  const values = (
    { answerId, normaliser, says: { facts, malformed, echoMismatch } }: ReadAnswer,
    [notice, ...documents]: TextIds,
  ) => {
    return [
      normaliser,
      facts.totalResults,
      facts.timeTaken,
      notice,
      facts.hasNextPage === null ? null : Number(facts.hasNextPage),
      facts.nextPage,
      ...documents,
      malformed.length === 0 ? null : json(malformed),
      json(echoMismatch),
      answerId,
    ]
  }
  return {
    first: (read: ReadAnswer, texts: TextIds): boolean => first.run(...values(read, texts)).changes > 0,
    again: (read: ReadAnswer, texts: TextIds): void => {
      again.run(...values(read, texts))
    },
  }
}

function json(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value)
}
