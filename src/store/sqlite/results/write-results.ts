import type { Database } from 'better-sqlite3'
import { type AnswerFacts, kindCodes, type Result } from '../../../model/result.ts'
import { pageAddress } from '../../../model/url.ts'
import type { ReadAnswer } from '../../journal.ts'
import type { StoreCache, StoredItem } from '../cache.ts'
import { batchInsert, raw, updateOrFail } from '../connection/statements.ts'
import { answers, datedDetails, imageDetails } from '../schema.ts'
import type { Dictionary, Item } from './dictionary.ts'

/** A result with the code of its kind, and its place among the results of that kind on the page, from 0. */
interface Placed {
  readonly kind: number
  readonly place: number
  readonly result: Result
}

/** What an answer says, with the numbers that the dictionary has for it. */
interface LookedUp {
  readonly placed: readonly Placed[]
  readonly facts: TextIds
  readonly items: readonly Item[]
}

/** Writes what answers say, inside a transaction. */
export interface ResultWriter {
  /** Looks up together what several answers say; each of them is kept in this work. */
  together<T>(reads: readonly ReadAnswer[], work: () => T): T
  keep(read: ReadAnswer): void
}

/**
 * Stores the results and facts of an answer, inside a transaction. They replace those of an older normaliser; with `anew` also
 * those of the same one.
 */
export function resultWriter(
  db: Database,
  { dictionary, items: known, refresh }: Pick<StoreCache, 'dictionary' | 'items' | 'refresh'>,
): ResultWriter & { keep(read: ReadAnswer, anew?: 'anew'): void } {
  const clear = detailRemover(db)
  const derivedBy = db
    .prepare<[number], number | null>('SELECT normaliser FROM answers_ WHERE id = ?')
    .pluck()
  const write = answerWriter(db)
  const writeDetails = detailWriter(db, dictionary)
  let atHand: ReadonlyMap<ReadAnswer, LookedUp> = new Map()

  /** Looks up together what these answers say. */
  const lookUp = (reads: readonly ReadAnswer[]): ReadonlyMap<ReadAnswer, LookedUp> => {
    const places = reads.map(({ says }) => placesOf(says.results))
    const numbers = dictionary.texts(reads.flatMap(({ says }) => textsOfFacts(says.facts)))
    const said = dictionary.items(places.flatMap((placed) => placed.map(({ result }) => result)))
    const textsEach = numbers.length / reads.length
    const found = new Map<ReadAnswer, LookedUp>()
    let firstItem = 0
    for (const [index, read] of reads.entries()) {
      const placed = places[index] as readonly Placed[]
      const facts = numbers.slice(index * textsEach, (index + 1) * textsEach)
      const items = said.slice(firstItem, firstItem + placed.length)
      found.set(read, { placed, facts, items })
      firstItem += placed.length
    }
    return found
  }

  const keep = (read: ReadAnswer, anew?: 'anew'): void => {
    refresh()
    const { answerId, normaliser } = read
    const { placed, facts, items } = (atHand.get(read) ?? lookUp([read]).get(read)) as LookedUp
    const lists = listsOf(placed, items)
    if (anew !== undefined || !write.first(read, facts, lists)) {
      // The results of a reused answer are stored already.
      if (anew === undefined && derivedBy.get(answerId) === normaliser) return
      clear(answerId)
      write.again(read, facts, lists)
    }
    writeDetails(answerId, placed)
    known.remember(answerId, rankedItems(placed, items))
  }

  return {
    together: (reads, work) => {
      refresh()
      atHand = lookUp(reads)
      try {
        return work()
      } finally {
        // Made anew each time: the tables of a map that is cleared hold on to one another, and to all that they ever held, until V8 cleans up
        // everything.
        atHand = new Map()
      }
    },
    keep,
  }
}

/** Results that have a rank, in their order, as they are remembered. */
function rankedItems(placed: readonly Placed[], items: readonly Item[]): readonly StoredItem[] {
  const ranked: StoredItem[] = []
  for (const [index, { kind, result }] of placed.entries()) {
    if (!isRanked(kind)) continue
    const link = items[index]?.link ?? null
    ranked.push({
      link: link?.link ?? null,
      sameAs: link?.sameAs ?? null,
      linkId: link?.id ?? null,
      title: result.title?.toWellFormed() ?? null,
    })
  }
  return ranked
}

/** Removes the results of an answer that turned out to be none, inside a transaction. */
export function resultRemover(
  db: Database,
  { items: known }: Pick<StoreCache, 'items'>,
): (answerId: number) => void {
  const clear = detailRemover(db)
  const forget = db.prepare(
    raw`UPDATE ${answers} SET ${answers.items} = NULL, ${answers.positions} = NULL WHERE ${answers.id} = ?`,
  )
  return (answerId) => {
    clear(answerId)
    forget.run(answerId)
    known.remember(answerId, [])
  }
}

/** Removes the details of the results of an answer. */
function detailRemover(db: Database): (answerId: number) => void {
  const statements = [datedDetails, imageDetails].map((table) =>
    db.prepare(raw`DELETE FROM ${table} WHERE ${table.answerId} = ?`),
  )
  return (answerId) => {
    for (const statement of statements) statement.run(answerId)
  }
}

/** What an answer stores of its results. */
type ResultLists = ReturnType<typeof listsOf>

function listsOf(placed: readonly Placed[], items: readonly Item[]) {
  const numbers: Record<number, number[]> = {}
  const positions: Record<number, (number | null)[]> = {}
  for (const [index, { kind, result }] of placed.entries()) {
    numbers[kind] ??= []
    numbers[kind].push((items[index] as Item).id)
    positions[kind] ??= []
    positions[kind].push(result.position)
  }
  return {
    items: placed.length === 0 ? null : JSON.stringify(numbers),
    positions: storedPositions(positions),
  }
}

/** Positions by kind as an answer stores them: only where they are not 1, 2, 3 and so on. */
export function storedPositions(byKind: Readonly<Record<number, readonly (number | null)[]>>): string | null {
  const unusual: Record<string, readonly (number | null)[] | null> = {}
  let isUsual = true
  for (const [kind, positions] of Object.entries(byKind)) {
    if (positions.every(isPlace)) continue
    unusual[kind] = positions.every(isMissing) ? null : positions
    isUsual = false
  }
  return isUsual ? null : JSON.stringify(unusual)
}

function isPlace(position: number | null, index: number): boolean {
  return position === index + 1
}

function isMissing(position: number | null): boolean {
  return position === null
}

const key = ['answer_id', 'kind', 'place']

function textsOfFacts(facts: AnswerFacts): readonly (string | null)[] {
  const { notice, searchParameters, knowledgeGraph, aiMarkdown, aiBlocks } = facts
  return [notice, json(searchParameters), json(knowledgeGraph), aiMarkdown, json(aiBlocks)]
}

/** Results by kind, in their order. */
function placesOf(results: readonly Result[]): readonly Placed[] {
  const places = new Map<number, number>()
  const placed: Placed[] = []
  for (const result of results) {
    const kind = kindCodes[result.kind]
    const place = places.get(kind) ?? 0
    places.set(kind, place + 1)
    placed.push({ kind, place, result })
  }
  return placed.sort(kindsInOrder)
}

function kindsInOrder(a: Placed, b: Placed): number {
  return a.kind - b.kind
}

/** Results that have a rank, by kind, in their order. */
function rankedInOrder(results: readonly Result[]): readonly Result[] {
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
    // Most kinds of results have none.
    if (!placed.some(hasDetails)) return
    const dated = placed.flatMap(({ kind, place, result: { news, video } }) => {
      const details = video ?? news
      return details === null ? [] : { kind, place, details, video }
    })
    const images = placed.flatMap(({ kind, place, result: { image } }) =>
      image === null ? [] : { kind, place, image },
    )
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

function hasDetails({ result: { news, video, image } }: Placed): boolean {
  return news !== null || video !== null || image !== null
}

type TextIds = readonly (number | null)[]

/**
 * Writes the facts of an answer, given the ids of their texts, and the lists of its results. `first` writes only if none are stored,
 * and returns whether it did.
 */
function answerWriter(db: Database) {
  const set = raw`${updateOrFail} ${answers} SET ${answers.normaliser} = ?, ${answers.totalResults} = ?, ${answers.timeTaken} = ?,
    ${answers.notice} = ?, ${answers.hasNextPage} = ?, ${answers.nextPage} = ?, ${answers.searchParameters} = ?,
    ${answers.knowledgeGraph} = ?, ${answers.aiMarkdown} = ?, ${answers.aiBlocks} = ?, ${answers.malformed} = ?,
    ${answers.echoMismatch} = ?, ${answers.items} = ?, ${answers.positions} = ? WHERE ${answers.id} = ?`
  const first = db.prepare(raw`${set} AND ${answers.normaliser} IS NULL`)
  const again = db.prepare(set)
  const values = (
    { answerId, normaliser, says: { facts, malformed, echoMismatch } }: ReadAnswer,
    [notice, ...documents]: TextIds,
    { items, positions }: ResultLists,
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
      items,
      positions,
      answerId,
    ]
  }
  return {
    first: (read: ReadAnswer, texts: TextIds, lists: ResultLists): boolean =>
      first.run(...values(read, texts, lists)).changes > 0,
    again: (read: ReadAnswer, texts: TextIds, lists: ResultLists): void => {
      again.run(...values(read, texts, lists))
    },
  }
}

function json(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value)
}

/** The results of a store that is gone with its chunk: every one of them is remembered, and nothing else has them. */
export function passingItems(): StoreCache['items'] {
  const known = new Map<number, readonly StoredItem[]>()
  return {
    of: (answerId) => known.get(answerId) ?? [],
    remember: (answerId, items) => void known.set(answerId, items),
    drop: () => {},
    // They are no rows that a rollback takes back, and no other connection changes them.
    forget: () => {},
  }
}

/**
 * Keeps of an answer what decides on the pages after it, for a store that is gone with its chunk: its results are stored by those who
 * read the shared journal. Counterpart of `resultWriter`.
 */
export function passingResultWriter(db: Database, { items: known }: Pick<StoreCache, 'items'>): ResultWriter {
  const writeFacts = db.prepare(
    `${updateOrFail} answers_ SET normaliser = ?, has_next_page = ?, next_page = ?, echo_mismatch = ? WHERE id = ?`,
  )
  const numbers = new Map<string, number>()
  const numberOf = (link: string): number => {
    const page = pageAddress(link)
    const number = numbers.get(page) ?? numbers.size + 1
    numbers.set(page, number)
    return number
  }
  const keep = ({ answerId, normaliser, says: { results, facts, echoMismatch } }: ReadAnswer): void => {
    const hasNext = facts.hasNextPage === null ? null : Number(facts.hasNextPage)
    const mismatch = echoMismatch === null ? null : JSON.stringify(echoMismatch)
    writeFacts.run(normaliser, hasNext, facts.nextPage, mismatch, answerId)
    const items = rankedInOrder(results).map(({ link }) => ({
      link: link?.toWellFormed() ?? null,
      sameAs: link === null ? null : numberOf(link.toWellFormed()),
      linkId: null,
      title: null,
    }))
    known.remember(answerId, items)
  }
  return { together: (_, work) => work(), keep }
}
