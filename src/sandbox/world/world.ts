import type { BillableOperation } from '../../catalog/operation.ts'
import { remembered } from '../../model/memo.ts'
import type { PageShape, Positions } from '../options.ts'
import type { CheckedRequest } from '../routes.ts'
import { candidatesFor, orderOn, type RankingCandidate, type Vertical } from './candidates.ts'
import { aiText, knowledgeGraph, relatedSearches, searchInformation, suggestions } from './extras.ts'
import { hashText, mix } from './hash.ts'
import { itemOf } from './items.ts'
import { type Topic, topicOf } from './sites.ts'

/** The time and the form of an answer. */
interface WorldOptions {
  /** Epoch ms; its UTC date decides the order. */
  readonly now: number
  readonly pages: PageShape
  readonly positions: Positions
}

/** A made-up web. It gives the body of a 200 answer: the same for the same seed, call and day. */
export type World = (
  operation: BillableOperation,
  asked: CheckedRequest,
  options: WorldOptions,
) => Record<string, unknown>

const verticals: Readonly<Partial<Record<BillableOperation['kind'], Vertical>>> = {
  news: 'news',
  video: 'videos',
  image: 'images',
}

/** The input of the fields of one answer. */
interface AnswerContext {
  readonly operation: BillableOperation
  readonly asked: CheckedRequest
  readonly topic: Topic
  readonly hash: number
  readonly vertical: Vertical
  /** Days since 1970-01-01 UTC. */
  readonly day: number
  readonly page: ReturnType<typeof cutPage>
  /** The number of results on all pages. */
  readonly found: number
  readonly placed: readonly RankingCandidate[]
}

const answerFields: Readonly<Record<string, (context: AnswerContext) => unknown>> = {
  search_parameters: ({ operation, asked }) => echoOf(operation, asked),
  pagination: paginationOf,
  knowledge_graph: ({ topic, hash, page, found }) =>
    page.current === 1 && found > 0 ? knowledgeGraph(topic, hash) : undefined,
  related_searches: ({ topic, hash, found }) => (found > 0 ? relatedSearches(topic, hash) : undefined),
  search_information: ({ hash, found }) => searchInformation(found, hash),
  suggestions: ({ asked, topic, hash }) => (topic.barren ? [] : suggestions(asked.query, hash)),
  text_blocks: ({ topic, placed }) => aiText(topic, placed).text_blocks,
  reconstructed_markdown: ({ topic, placed }) => aiText(topic, placed).reconstructed_markdown,
}

/** A world for a seed, in which `sites` compete for every query. */
export function createWorld(seed: string, sites: readonly string[]): World {
  const salt = hashText(seed)
  const pools = new Map<string, { topic: Topic; candidates: readonly RankingCandidate[] }>()
  const orders = new Map<string, Uint16Array>()

  return (operation, asked, options) => {
    const vertical = verticals[operation.kind] ?? 'web'
    const day = Math.floor(options.now / 86_400_000)
    const poolKey = `${vertical}|${asked.query}`
    const { topic, candidates } = remembered(pools, poolKey, () => {
      const topic = topicOf(asked.query)
      return { topic, candidates: candidatesFor(topic, vertical, salt, sites) }
    })
    const view = { engine: operation.engine, country: countryOf(asked), narrowed: narrowedBy(asked), day }
    const orderKey = `${poolKey}|${view.engine}|${view.country}|${view.narrowed}|${day}`
    const order = remembered(orders, orderKey, () => orderOn(candidates, view))
    const page = cutPage(operation, asked, options, order.length, hashText(orderKey, salt))
    const placed = Array.from(
      order.subarray(page.start, page.end),
      (index) => candidates[index] as RankingCandidate,
    )
    const hash = hashText(poolKey, salt)
    return answerOf({ operation, asked, topic, hash, vertical, day, page, found: order.length, placed })
  }
}

function answerOf(context: AnswerContext): Record<string, unknown> {
  const { items, required, optional = [] } = context.operation.response
  const answer: Record<string, unknown> = {}
  for (const field of [...required, ...optional]) {
    const made = answerFields[field]?.(context) ?? (field === items ? itemsOf(context) : undefined)
    if (made !== undefined) answer[field] = made
    else if (required.includes(field)) answer[field] = null
  }
  return answer
}

function itemsOf({
  operation,
  asked,
  topic,
  vertical,
  day,
  page,
  placed,
}: AnswerContext): readonly unknown[] {
  const { itemFields } = operation.response
  if (itemFields.length === 0) return []
  const year = new Date(day * 86_400_000).getUTCFullYear()
  // Only full items have a snippet in every case, by the documentation.
  const short = !itemFields.includes('snippet_matched')
  const shown = { topic, vertical, day, year, language: languageOf(asked), short }
  return placed.map((candidate, index) =>
    itemOf({ candidate, position: page.firstPosition + index, ...shown }, itemFields),
  )
}

function paginationOf({ operation, page }: AnswerContext): object {
  const ends = { next: page.current + 1, current: page.current }
  const others = Array.from({ length: 9 }, (_, index) => index + 2)
  const full = operation.name === 'alpha.search'
  return { ...ends, ...(full ? { other_pages: others } : {}), has_next_page: page.hasNext }
}

function narrowedBy(asked: CheckedRequest): string {
  const { num, gl, cc, mkt, cp, safe, hl, ...others } = asked.params
  const rest = Object.entries(others).sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([languageOf(asked), rest])
}

/** Results per page if no size is documented, by kind. */
const undocumentedSizes: Readonly<Record<string, number>> = { image: 20, reference: 8 }

/** Cuts the requested page out of `found` results. GET names the page, POST the number of results to skip. */
function cutPage(
  operation: BillableOperation,
  asked: CheckedRequest,
  options: Pick<WorldOptions, 'pages' | 'positions'>,
  found: number,
  hash: number,
) {
  const size =
    typeof asked.params.num === 'number'
      ? asked.params.num
      : (operation.paging?.pageSize ?? undocumentedSizes[operation.kind] ?? 10)
  const offset = asked.style === 'post' ? (asked.page ?? 0) : ((asked.page ?? 1) - 1) * size
  const shared = options.pages === 'overlap' ? Math.ceil(size / 4) : 0
  const first = Math.floor((offset * (size - Math.min(shared, size - 1))) / size)
  const start = Math.min(found, first)
  const whole = Math.min(found, first + size)
  const missing = options.pages === 'short' ? mix(hash, offset) % Math.max(1, Math.ceil(size * 0.45)) : 0
  return {
    /** Indices of the first result and of the one after the last. */
    start,
    end: Math.max(start, whole - missing),
    /** Number of the page, from 1. */
    current: Math.floor(offset / size) + 1,
    hasNext: operation.paging !== null && whole < found,
    firstPosition: options.positions === 'continue' ? first + 1 : 1,
  }
}

/** Fields of the echo, for operations that have other fields than q, gl, hl and page. */
const fieldsOf: Readonly<Record<string, readonly string[]>> = {
  'alpha.search': ['q', 'gl', 'hl', 'num', 'page', 'uule', 'location'],
  'alpha.news': ['q', 'gl', 'hl', 'num', 'page', 'uule', 'location'],
  'alpha.videos': ['q', 'gl', 'hl', 'num', 'page', 'uule', 'location'],
  'beta.search': ['q', 'cc', 'page'],
  'gamma.images': ['q', 'gl', 'hl', 'page', 'safe', 'safesearch'],
}

const echoFields: Readonly<Record<string, (asked: CheckedRequest) => unknown>> = {
  q: ({ query }) => query,
  gl: countryOf,
  cc: countryOf,
  hl: languageOf,
  num: ({ params }) => params.num ?? 10,
  page: ({ page, style }) => page ?? (style === 'post' ? 0 : 1),
  safe: ({ params }) => params.safe ?? 'moderate',
  safesearch: ({ params }) => (params.safe === 'active' ? 'strict' : (params.safe ?? 'moderate')),
}

/** The `search_parameters` of an answer: the request, completed with the defaults of the service. */
export function echoOf(operation: BillableOperation, asked: CheckedRequest): Record<string, unknown> {
  const echo: Record<string, unknown> = {}
  for (const field of fieldsOf[operation.name] ?? usualFields(operation))
    echo[field] = echoFields[field]?.(asked) ?? asked.params[field] ?? null
  // The third engine counts pages from 0, and the echo of its web search does as well.
  if (operation.name === 'gamma.search') echo.page = (asked.page ?? 1) - 1
  echo.engine = operation.echoEngine
  return echo
}

/** The requested country, lower case; `us` by default. */
function countryOf({ params }: CheckedRequest): string {
  const market = typeof params.mkt === 'string' ? params.mkt.split('-')[1] : undefined
  return String(params.gl ?? params.cc ?? market ?? 'us').toLowerCase()
}

/** The requested language; `en` by default. */
function languageOf({ params }: CheckedRequest): string {
  return String(params.hl ?? 'en')
}

function usualFields({ params, paging }: BillableOperation): readonly string[] {
  return ['q', ...['gl', 'hl'].filter((name) => name in params), ...(paging === null ? [] : ['page'])]
}
