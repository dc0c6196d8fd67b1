import { findOperation } from '../../src/catalog/index.ts'
import type { BillableOperation } from '../../src/catalog/operation.ts'
import { createWorld } from '../../src/sandbox/world/world.ts'

const depth = 10

/** The rank of a site among the first ten results of a sandbox's web search, by query and instant; null where it is not there. */
export function worldRanks(site: string): (query: string, now: number) => number | null {
  const world = createWorld('rankline', [site])
  const search = findOperation('alpha.search') as BillableOperation
  return (query, now) => {
    const asked = { style: 'get' as const, query, params: {}, page: 1, isAsync: false }
    const answer = world(search, asked, { now, pages: 'even', positions: 'restart' })
    const links = (answer[search.response.items as string] as readonly { readonly link: string }[]).map(
      ({ link }) => new URL(link).hostname,
    )
    const place = links.slice(0, depth).indexOf(site)
    return place < 0 ? null : place + 1
  }
}
