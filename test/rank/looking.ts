import fc from 'fast-check'
import type { Observation } from '../../src/model/result.ts'
import {
  type EndKind,
  nextPage,
  type Page,
  type PagingRules,
  type QueryState,
  scoreQuery,
  type TargetHistory,
} from '../../src/rank/paging.ts'
import { aTarget } from '../run/build.ts'
import { donePage } from './build.ts'

export const neverSeen: TargetHistory = {
  lastPage: null,
  lastRankedAt: null,
  firstAt: null,
  lastDeepAt: null,
}
const day = 86_400_000

export interface Look {
  /** Pages in the order in which they were asked for. */
  readonly asked: readonly number[]
  readonly end: EndKind
  /** Of the site `x.example`. */
  readonly observed: Observation
}

interface Looking extends Partial<PagingRules> {
  readonly maxPages?: number
  readonly pageSize?: number | null
  readonly depth?: number | null
  readonly sightings?: Partial<TargetHistory>
  /** Pages that fail. */
  readonly failing?: readonly number[]
}

/** Looks for `x` as a run would: asks page after page of what the service has, and sees an empty one behind its end. */
export function look(
  service: readonly string[],
  { maxPages = 5, pageSize = 10, depth = null, sightings, failing = [], ...rules }: Looking = {},
): Look {
  const pages: Page[] = []
  const asked: number[] = []
  const query = (): QueryState => ({
    maxPages,
    pageSize,
    depth,
    targets: [{ ...aTarget('x.example'), id: 1 }],
    pages: [...pages].sort((a, b) => a.page - b.page),
    end: null,
    history: () => new Map(sightings === undefined ? [] : [[1, { ...neverSeen, ...sightings }]]),
  })
  let next = 1
  for (;;) {
    if (asked.push(next) > 99) throw new Error(`does not end: ${asked}`)
    const page = donePage(next, service[next - 1] ?? '')
    const failed = failing.includes(next)
    pages.push(failed ? { page: next, state: 'failed', items: [] } : page)
    const says = { hasNextPage: page.isLast ? false : null, nextPage: null, currentPage: null }
    const decision = nextPage(query(), next, failed ? { failed: 'server-error' } : { facts: says }, {
      ...{ paging: 'smart', until: 'own', deepEveryMs: 7 * day, startedAt: 0 },
      ...rules,
    })
    if ('kind' in decision)
      return {
        asked,
        end: decision.kind,
        observed: scoreQuery(query(), decision).observations[0] as Observation,
      }
    next = decision.next
  }
}

const letters = [...'abcdefghijklmnopqrstuvwyz0123456789бвгджзиклмнптфцчшщъыьэюя']

/** Pages of a service: of any sizes, overlapping, with `x` on at most one place, the last perhaps said to be the last. */
export const services: fc.Arbitrary<readonly string[]> = fc
  .record({
    order: fc.shuffledSubarray(letters, { minLength: 40 }),
    sizes: fc.array(fc.record({ fresh: fc.integer({ min: 1, max: 13 }), again: fc.nat(3) }), {
      maxLength: 8,
    }),
    x: fc.option(fc.nat(60)),
    saysLast: fc.boolean(),
  })
  .map(({ order, sizes, x, saysLast }) => {
    const line = x === null ? order : order.toSpliced(x, 0, 'x')
    let from = 0
    const pages = sizes
      .map(({ fresh, again }) => {
        const page = line.slice(Math.max(0, from - (from === 0 ? 0 : again)), from + fresh).join('')
        const isEmpty = from >= line.length
        from += fresh
        return isEmpty ? '' : page
      })
      .filter((page) => page !== '')
    return saysLast && pages.length > 0 ? [...pages.slice(0, -1), `${pages.at(-1)}$`] : pages
  })

/** The rank of `x` on the first pages: what stands before it, each once. */
export function trueRank(service: readonly string[], maxPages: number): number | null {
  const line = [...new Set(service.slice(0, maxPages).join('').replace('$', ''))]
  return line.includes('x') ? line.indexOf('x') + 1 : null
}
