import { billableOperation } from '../src/catalog/index.ts'
import type { Page } from '../src/rank/paging.ts'
import type { Day } from '../src/run/backtest.ts'
import { createWorld, type PageShape, type World } from '../src/sandbox/world/world.ts'
import { aTarget } from '../test/run/build.ts'

/** A history as a store would hold it, made of the sandbox's world without a call. */
export interface Simulation {
  readonly keywords: number
  readonly days: number
  readonly pages: number
  readonly shape: PageShape
}

const dayMs = 86_400_000
const firstDay = Date.UTC(2025, 0, 1, 6)
/** Tracked everywhere, a well-known site, a small one, and one that ranks nowhere. */
const sites = ['acme.example', 'dealorchard.com', 'slowmaker.net', 'nowhere.example'] as const
const kinds = ['', 'best ', 'cheap ', 'used ', 'small ', 'white ', 'black ', 'oak ', 'large ', 'modern ']
const things = [
  ...['standing desk', 'desk lamp', 'office chair', 'bookshelf', 'monitor arm', 'filing cabinet', 'desk mat'],
  ...['corner desk', 'laptop stand', 'writing desk', 'room divider', 'coat rack', 'side table', 'bar stool'],
  ...['bed frame', 'night stand', 'tv stand', 'shoe rack', 'wall shelf', 'floor lamp', 'garden bench'],
  ...['storage box', 'toy chest', 'wine rack', 'desk fan', 'wall clock', 'door mat', 'curtain rod', 'rug'],
  ...['plant stand', 'towel rail', 'bath mat', 'spice rack', 'knife block', 'tea kettle', 'bread bin'],
  ...['cake stand', 'pizza stone', 'wok', 'ladle', 'colander', 'whisk', 'apron', 'trivet', 'coaster', 'tray'],
  ...['sofa bed', 'ottoman', 'hammock', 'parasol'],
]

/** Days of one keyword after the other, in the order of time. */
export function* simulatedHistory(simulation: Simulation): Generator<readonly Day[]> {
  for (let keyword = 0; keyword < simulation.keywords; keyword++) {
    const world = createWorld('a year', ['acme.example'])
    yield historyOf(world, keyword, simulation)
  }
}

function historyOf(world: World, keyword: number, { days, pages, shape }: Simulation): readonly Day[] {
  const thing = things[Math.floor(keyword / kinds.length) % things.length]
  const query = `${kinds[keyword % kinds.length]}${thing}`
  const site = sites[keyword % sites.length] as string
  const target = { id: 1, ...aTarget(site) }
  const numbers = new Map<string, number>()
  return Array.from({ length: days }, (_, day) => {
    const startedAt = firstDay + day * dayMs
    const stored = pagesOn(world, query, { now: startedAt, pages, shape, numbers })
    return {
      startedAt,
      credits: 1,
      query: {
        maxPages: pages,
        pageSize: 10,
        depth: null,
        targets: [target],
        pages: stored,
        end: stored.length < pages ? { because: 'the service has no next page', kind: 'ended' } : null,
        history: () => new Map(),
      },
    }
  })
}

interface Looking {
  readonly now: number
  readonly pages: number
  readonly shape: PageShape
  /** Links that were met, by number. */
  readonly numbers: Map<string, number>
}

function pagesOn(world: World, query: string, { now, pages, shape, numbers }: Looking): readonly Page[] {
  const stored: Page[] = []
  for (let page = 1; page <= pages; page++) {
    const asked = { style: 'get', query, params: { gl: 'us', hl: 'en' }, page, isAsync: false } as const
    const answer = world(billableOperation('alpha.search'), asked, {
      now,
      pages: shape,
      positions: 'restart',
    })
    const { organic_results, pagination } = answer as {
      organic_results: readonly { readonly link: string }[]
      pagination: { readonly has_next_page: boolean }
    }
    const items = organic_results.map(({ link }) => ({ link, sameAs: numberOf(numbers, link) }))
    const isLast = !pagination.has_next_page
    stored.push({ page, state: 'done', items, ...(isLast ? { isLast } : {}) })
    if (isLast) break
  }
  return stored
}

function numberOf(numbers: Map<string, number>, link: string): number {
  const known = numbers.get(link)
  if (known !== undefined) return known
  numbers.set(link, numbers.size)
  return numbers.size - 1
}
