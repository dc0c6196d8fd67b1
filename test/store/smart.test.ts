import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JobSettings } from '../../src/model/job.ts'
import type { Run } from '../../src/model/run.ts'
import { afterSearch, replay, type SeenTargets, targetHistoryOf } from '../../src/run/backtest.ts'
import { services } from '../rank/looking.ts'
import { aTarget } from '../run/build.ts'
import { storedQuery } from '../run/histories.ts'
import { testTable } from '../support/test-table.ts'
import { webPage, work } from './answers.ts'
import { aStore, hour, noon, plan, type TempStore } from './build.ts'

const day = 24 * hour
const ten = 'abcdefghij'
const targets = [aTarget('x.example')]

/** What the service says of a page: letters of its results, `$` where it is the last, null where it fails. */
type Service = readonly (string | null)[]

/** One run of a job that looks for `x` on so many pages; answers the pages in the order in which they were asked. */
async function aDay(
  store: TempStore['store'],
  service: Service,
  { job = {}, now = noon, pages = 5 }: { job?: Partial<JobSettings>; now?: number; pages?: number } = {},
) {
  const asked: number[] = []
  const settings = { paging: 'smart', targets, ...job } as const
  const run = await plan(store, { job: settings, queries: [{ pages }], now })
  const answers = serve(service, asked)
  await work(store, run, answers, now)
  await store.finishRun(run.id, 'completed', now)
  return { run, asked }
}

const serve =
  (service: Service, asked: number[] = []) =>
  ({ page }: { readonly page: number }) => {
    asked.push(page)
    const text = service[page - 1]
    if (text === null) return null
    return webPage((text ?? '').replace('$', ''), text?.endsWith('$') ? { hasNextPage: false } : {})
  }

const stored = ({ sql }: TempStore, { id }: Pick<Run, 'id'>) =>
  sql<Record<string, unknown>>(
    `SELECT state, rank, exactness, depth, page, unbroken_depth, unbroken_pages FROM observations WHERE run_id = ?`,
    id,
  )[0]

describe('smart paging through the store', () => {
  const service = [ten, 'klmnopqrst', 'uvwyz', '01234', '5678x']

  test('goes to the page of the last rank, then around it', async () => {
    const temp = await aStore()
    await aDay(temp.store, service)
    const rose = [ten, 'klmnopqrst', 'uvwyz', '01x34', '5678']
    const { asked, run } = await aDay(temp.store, rose, { now: noon + day })
    expect(asked).toEqual([1, 5, 4])
    expect(stored(temp, run)).toEqual({
      ...{ state: 'ranked', rank: 10 + 20 + 3, exactness: 'estimated', page: 4 },
      ...{ depth: 10 + 4 + 5, unbroken_depth: 10, unbroken_pages: 1 },
    })
    expect(
      temp.sql('SELECT page, rank FROM organic_results WHERE run_id = ? AND place = 0 ORDER BY page', run.id),
    ).toEqual([
      { page: 1, rank: 1 },
      { page: 4, rank: 31 },
      { page: 5, rank: 36 },
    ])
    expect(temp.sql('SELECT page, state FROM tasks WHERE run_id = ? ORDER BY page', run.id)).toEqual([
      { page: 1, state: 'done' },
      { page: 4, state: 'done' },
      { page: 5, state: 'done' },
    ])
  })

  testTable<[string, Service, readonly number[], Record<string, unknown>]>([
    [
      'to an empty page, and on below it',
      [ten, 'kx', 'l'],
      [1, 5, 4, 3, 2],
      { state: 'ranked', rank: 12, exactness: 'exact', unbroken_depth: 13, unbroken_pages: 5 },
    ],
    [
      'to a page that fails, and around it',
      [ten, 'k', 'l', 'm', null],
      [1, 5, 4, 3, 2],
      { state: 'unknown', rank: null, unbroken_pages: 4, unbroken_depth: 13 },
    ],
    [
      'to a page that repeats the first, and on below it',
      [ten, 'k', 'lx', 'm', ten],
      [1, 5, 4, 3],
      { state: 'ranked', rank: 22, exactness: 'estimated', unbroken_pages: 1, unbroken_depth: 10 },
    ],
    [
      'behind the end, where the last page comes again, and on below it',
      [ten, 'kx', 'l', 'l', 'l'],
      [1, 5, 4, 3, 2],
      { state: 'ranked', rank: 12, exactness: 'exact', unbroken_pages: 5, unbroken_depth: 13 },
    ],
    [
      'to the last page, and over all above it',
      [ten, 'k', 'l', 'm', 'n$'],
      [1, 5, 4, 3, 2],
      { state: 'absent', exactness: 'exact', unbroken_pages: 5, unbroken_depth: 14 },
    ],
  ])('jumps %s', async (_, next, pages, observed) => {
    const temp = await aStore()
    await aDay(temp.store, service)
    const { asked, run } = await aDay(temp.store, next, { now: noon + day })
    expect(asked).toEqual(pages)
    expect(stored(temp, run)).toMatchObject(observed)
  })

  test('leaves a lost target alone more and more, and looks at its last page first when it looks', async () => {
    const temp = await aStore()
    const { asked } = await aDay(temp.store, service)
    expect(asked).toEqual([1, 2, 3, 4, 5])
    const gone = [...service.slice(0, 4), '5678']
    const days = []
    for (let after = 1; after <= 6; after++)
      days.push((await aDay(temp.store, gone, { now: noon + after * day })).asked.join(''))
    expect(days).toEqual(['15432', '15432', '15432', '1', '15432', '1'])
  })

  test('asks for the missing pages where the plan turns from all pages to smart', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, { job: { paging: 'all', targets }, queries: [{ pages: 5 }] })
    await temp.store.finishRun(run.id, 'interrupted', noon)
    const job = { paging: 'smart', targets } as const
    const again = await plan(temp.store, { job, queries: [{ pages: 5 }], continues: run.id })
    const asked: number[] = []
    await work(temp.store, again, serve([ten, 'k', 'lx', 'm', 'n'], asked))
    expect(asked).toEqual([1, 2, 3])
    expect(stored(temp, run)).toMatchObject({ state: 'ranked', rank: 13, exactness: 'exact' })
  })
})

test('what the store remembers of a target is what a replay remembers', async () => {
  const temp = await aStore()
  let example = 0
  const paging = fc.constantFrom<JobSettings['paging']>('all', 'until-found', 'smart')
  const days = fc.array(fc.record({ service: services, pages: fc.integer({ min: 1, max: 5 }), paging }), {
    maxLength: 5,
  })
  await fc.assert(
    fc.asyncProperty(days, async (history) => {
      example += 1
      const name = `job ${example}`
      let memory: SeenTargets = new Map()
      for (const [index, { service, pages, paging }] of history.entries()) {
        const now = noon + index * day
        const job = { name, targets, paging }
        const run = await plan(temp.store, { job, queries: [{ text: name, pages }], now })
        const asked: number[] = []
        await work(temp.store, run, serve(service, asked), now)
        const [{ query_id: query = 0 } = {}] = temp.sql<{ query_id: number }>(
          'SELECT query_id FROM run_queries WHERE run_id = ?',
          run.id,
        )
        const { targets: watched, history: sightings } = temp.store.storedQuery(run.id, query)
        const id = watched[0]?.id ?? 0
        expect(sightings().get(id)).toEqual(targetHistoryOf(memory, pages).get(id))
        const whole = service.length < pages ? [...service, ''] : service.slice(0, pages)
        const rules = { paging, until: 'own', deepEveryMs: 7 * day, startedAt: now } as const
        const played = replay(storedQuery(whole, { maxPages: pages, targets: watched }), rules, memory)
        expect(played.pages).toBe(asked.length)
        memory = afterSearch(memory, played, now)
      }
    }),
    { numRuns: 25 },
  )
})
