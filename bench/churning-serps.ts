import { billableOperation } from '../src/catalog/index.ts'
import { hashText } from '../src/sandbox/world/hash.ts'
import { createWorld } from '../src/sandbox/world/world.ts'

/** The body of an answer to a query on a day, with so many results. */
export type Serps = (query: string, day: number, results: number) => string

interface Item {
  readonly link: string
  readonly title: string
  readonly snippet: string
}

const dayMs = 86_400_000
const firstDay = Date.UTC(2025, 0, 1, 6)

/** Every so many days, each on days of its own: a page gives way to one that nobody has seen, or is told of anew. */
const newPageDays = 50
const newTitleDays = 100
const newSnippetDays = 30

/** As an engine cuts pages into snippets: each time another sentence comes after the first. */
const sentences = [
  'It arrives in three parcels and takes two people an afternoon',
  'The cheapest one held 80 kilograms and made the least noise',
  'What the shops do not say is how it looks after a year of use',
  'We asked eleven owners, and nine would buy the same one again',
  'Prices fell in spring and went up again before the holidays',
  'Measure the room first, for most are deeper than one expects',
]

/**
 * Result pages of the sandbox's world, where pages drift, leave and come back, and beside that such turnover as its closed
 * world does not have: on each day one page in 50 is new, and of the others one in 100 has another title and one in 30
 * another snippet. Texts are as long as an engine shows them.
 */
export function churningSerps(sites: readonly string[]): Serps {
  const world = createWorld('a year', sites)
  const operation = billableOperation('alpha.search')
  return (query, day, results) => {
    const asked = {
      style: 'get',
      query,
      params: { gl: 'us', hl: 'en', num: results },
      page: 1,
      isAsync: false,
    } as const
    const look = { now: instantOf(day), pages: 'even', positions: 'continue' } as const
    const body = world(operation, asked, look)
    const items = body.organic_results as readonly Item[]
    return JSON.stringify({ ...body, organic_results: items.map((item) => onDay(item, day)) })
  }
}

/** When the run of a day starts. */
export function instantOf(day: number): number {
  return firstDay + day * dayMs
}

function onDay<T extends Item>(item: T, day: number): T {
  const age = (days: number, salt: number) => Math.floor((day + (hashText(item.link, salt) % days)) / days)
  const [page, title, snippet] = [age(newPageDays, 1), age(newTitleDays, 2), age(newSnippetDays, 3)]
  const sentence = sentences[hashText(`${page} ${snippet}`, hashText(item.link)) % sentences.length]
  return {
    ...item,
    link: page === 0 ? item.link : `${item.link}-${(hashText(item.link, page) % 1e6) + 1}`,
    title: `${item.title}${page + title === 0 ? '' : ` (${page}.${title})`}`,
    snippet: `${item.snippet} ${sentence}, as of ${page}.${snippet}.`,
  }
}
