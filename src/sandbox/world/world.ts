import type { BillableOperation } from '../../catalog/operation.ts'
import type { PageShape, Positions } from '../options.ts'
import type { Asked } from '../validate.ts'
import { countryOf, echoOf, languageOf } from './echo.ts'
import { aiText, knowledgeGraph, relatedSearches, searchInformation, suggestions } from './extras.ts'
import { hashText } from './hash.ts'
import { itemOf } from './items.ts'
import { orderOn } from './order.ts'
import { cutPage, type Page } from './page.ts'
import { type Candidate, candidatesFor, type Vertical } from './pool.ts'
import { recent } from './recent.ts'
import { type Topic, topicOf } from './topic.ts'

/** How the world is looked at for one answer. */
export interface Look {
  /** Epoch ms; its UTC date decides the order. */
  readonly now: number
  readonly pages: PageShape
  readonly positions: Positions
}

/** A made-up web: the body of a 200 answer. Same seed, call and day, same body. */
export type World = (operation: BillableOperation, asked: Asked, look: Look) => Record<string, unknown>

const verticals: Readonly<Partial<Record<BillableOperation['kind'], Vertical>>> = {
  news: 'news',
  video: 'videos',
  image: 'images',
}

/** Everything that the fields of one answer are made of. */
interface Scene {
  readonly operation: BillableOperation
  readonly asked: Asked
  readonly topic: Topic
  readonly hash: number
  readonly page: Page
  readonly items: readonly unknown[]
  readonly found: number
  readonly placed: readonly Candidate[]
}

const makers: Readonly<Record<string, (scene: Scene) => unknown>> = {
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
  const pools = recent<{ topic: Topic; candidates: readonly Candidate[] }>(300)
  const orders = recent<Uint16Array>(3000)

  return (operation, asked, look) => {
    const vertical = verticals[operation.kind] ?? 'web'
    const day = Math.floor(look.now / 86_400_000)
    const poolKey = `${vertical}|${asked.query}`
    const { topic, candidates } = pools(poolKey, () => {
      const topic = topicOf(asked.query)
      return { topic, candidates: candidatesFor(topic, vertical, salt, sites) }
    })
    const view = { engine: operation.engine, country: countryOf(asked), narrowed: narrowedBy(asked), day }
    const orderKey = `${poolKey}|${view.engine}|${view.country}|${view.narrowed}|${day}`
    const order = orders(orderKey, () => orderOn(candidates, view))
    const page = cutPage(operation, asked, look, order.length, hashText(orderKey, salt))
    const placed = Array.from(order.subarray(page.start, page.end), (index) => candidates[index] as Candidate)
    const scene = {
      operation,
      asked,
      topic,
      hash: hashText(poolKey, salt),
      page,
      found: order.length,
      placed,
    }
    return answerOf({ ...scene, items: itemsOf({ ...scene, items: [] }, vertical, day) })
  }
}

function answerOf(scene: Scene): Record<string, unknown> {
  const { items, required, optional = [] } = scene.operation.response
  const answer: Record<string, unknown> = {}
  for (const field of [...required, ...optional]) {
    const made = makers[field]?.(scene) ?? (field === items ? scene.items : undefined)
    if (made !== undefined) answer[field] = made
    else if (required.includes(field)) answer[field] = null
  }
  return answer
}

function itemsOf(scene: Scene, vertical: Vertical, day: number): readonly unknown[] {
  const { itemFields } = scene.operation.response
  if (itemFields.length === 0) return []
  const year = new Date(day * 86_400_000).getUTCFullYear()
  // Only the full items are documented to have a snippet always.
  const short = !itemFields.includes('snippet_matched')
  return scene.placed.map((candidate, index) => {
    const position = scene.page.firstPosition + index
    const { topic, asked } = scene
    const language = languageOf(asked)
    return itemOf({ candidate, position, topic, vertical, day, year, language, short }, itemFields)
  })
}

function paginationOf({ operation, page }: Scene): object {
  const ends = { next: page.current + 1, current: page.current }
  const others = Array.from({ length: 9 }, (_, index) => index + 2)
  const full = operation.name === 'alpha.search'
  return { ...ends, ...(full ? { other_pages: others } : {}), has_next_page: page.hasNext }
}

function narrowedBy(asked: Asked): string {
  const { num, gl, cc, mkt, cp, safe, hl, ...others } = asked.params
  const rest = Object.entries(others).sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([languageOf(asked), rest])
}
