import { type EchoMismatch, kindCodes, type Result, type Understood } from '../model/result.ts'

/**
 * What is stored of an answer: values in the order of their columns, with texts and links where tables have the numbers of
 * them. Lists, for they travel between threads, where the names of an object take as long as what is in it. No text has
 * half a character, which is no text in other programs.
 */
export interface AnswerRows {
  /** By kind and place. */
  readonly results: readonly ResultRow[]
  readonly dated: readonly DatedRow[]
  readonly images: readonly ImageRow[]
  readonly facts: FactsRow
}

/** Code of the kind, and place within it on the page, from 0. */
type Place = readonly [kind: number, place: number]

export type ResultRow = readonly [
  ...at: Place,
  position: number | null,
  link: string | null,
  title: string | null,
  snippet: string | null,
  source: string | null,
  displayedLink: string | null,
  /** JSON. */
  matched: string | null,
]

/** What news and video results have besides. */
export type DatedRow = readonly [
  ...at: Place,
  date: string | null,
  publishedAt: number | null,
  precision: string | null,
  channel: string | null,
  duration: string | null,
  durationSeconds: number | null,
  videoId: string | null,
]

export type ImageRow = readonly [
  ...at: Place,
  imageLink: string | null,
  thumbnail: string | null,
  width: number | null,
  height: number | null,
]

export type FactsRow = readonly [
  totalResults: number | null,
  timeTaken: number | null,
  notice: string | null,
  /** 1 for yes. */
  hasNextPage: number | null,
  nextPage: number | null,
  /** JSON, as are the next one, the blocks and what is malformed. */
  searchParameters: string | null,
  knowledgeGraph: string | null,
  aiMarkdown: string | null,
  aiBlocks: string | null,
  malformed: string | null,
  /** JSON; null where the answer repeats nothing otherwise than it was asked. */
  echoMismatch: string | null,
]

/** What is stored of what is understood. */
export function answerRows(
  { results, facts, malformed }: Understood,
  echoMismatch: EchoMismatch | null = null,
): AnswerRows {
  const placed = placesOf(results)
  return {
    results: placed.map(({ at, result }) => [
      ...at,
      result.position,
      wellFormed(result.link),
      wellFormed(result.title),
      wellFormed(result.snippet),
      wellFormed(result.source),
      wellFormed(result.displayedLink),
      json(result.snippetMatched),
    ]),
    dated: placed.flatMap(datedRow),
    images: placed.flatMap(imageRow),
    facts: [
      facts.totalResults,
      facts.timeTaken,
      wellFormed(facts.notice),
      facts.hasNextPage === null ? null : Number(facts.hasNextPage),
      facts.nextPage,
      json(facts.searchParameters),
      json(facts.knowledgeGraph),
      wellFormed(facts.aiMarkdown),
      json(facts.aiBlocks),
      malformed.length === 0 ? null : json(malformed),
      json(echoMismatch),
    ],
  }
}

interface Placed {
  readonly at: Place
  readonly result: Result
}

function placesOf(results: readonly Result[]): readonly Placed[] {
  const places = new Map<number, number>()
  const placed = results.map((result): Placed => {
    const kind = kindCodes[result.kind]
    const place = places.get(kind) ?? 0
    places.set(kind, place + 1)
    return { at: [kind, place], result }
  })
  return placed.sort(({ at: [a] }, { at: [b] }) => a - b)
}

function datedRow({ at, result: { news, video } }: Placed): DatedRow[] {
  const date = video ?? news
  if (date === null) return []
  const row: DatedRow = [
    ...at,
    wellFormed(date.date),
    date.publishedAt === null ? null : Date.parse(date.publishedAt),
    date.precision,
    wellFormed(video?.channel),
    wellFormed(video?.duration),
    video?.durationSeconds ?? null,
    wellFormed(video?.videoId),
  ]
  return [row]
}

function imageRow({ at, result: { image } }: Placed): ImageRow[] {
  return image === null
    ? []
    : [[...at, wellFormed(image.imageUrl), wellFormed(image.thumbnail), image.width, image.height]]
}

function wellFormed(text: string | null | undefined): string | null {
  return text?.toWellFormed() ?? null
}

function json(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value)
}
