import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { scoreStored } from '../../src/collect/answers.ts'
import type { JobSettings, Target } from '../../src/model/job.ts'
import { backfillTargets } from '../../src/run/derive.ts'
import { checkDatabase } from '../../src/store/sqlite/maintenance/check.ts'
import { aTarget } from '../run/build.ts'
import { answer, fail, webPage, work } from './answers.ts'
import { aStore, hour, lease, noon, plan, type TempStore, tasksOf } from './build.ts'

const day = 24 * hour
const own = aTarget('x.example')
const added: Readonly<Record<string, Target>> = {
  competitor: aTarget('a.example', { own: false }),
  'another match of the same site': aTarget('x.example', { match: 'host', own: false, label: 'X' }),
  'other forms of the same site': aTarget('x.example', { also: ['amp'], own: false, label: 'X' }),
  'one that is nowhere': aTarget('nowhere.example', { own: false }),
  'a page': aTarget('b.example/', { match: 'url', own: false }),
}

/** What the service has on one day, by query and page; null where it fails, `!` where the run stops before it. */
type Served = Readonly<Record<'q' | 'r', readonly (string | null)[]>>

const results = fc.string({ unit: fc.constantFrom(...'abcdefghijx'), minLength: 1, maxLength: 6 })
const page = fc.oneof({ weight: 6, arbitrary: results }, fc.constantFrom(null, '!', ''))
const pages = fc.array(page, { minLength: 3, maxLength: 3 })
const history = fc.array(fc.record({ q: pages, r: pages }), { minLength: 1, maxLength: 3 })
const paging = fc.constantFrom<JobSettings['paging']>('all', 'until-found', 'smart')

interface Watched {
  readonly everywhere: readonly Target[]
  /** Targets of the query `r` alone. */
  readonly ofR: readonly Target[]
}

/** Collects one day as a process would, new targets looked up in what is stored; answers the number of the run. */
async function aDay(
  { store }: Pick<TempStore, 'store'>,
  job: Partial<JobSettings> & { readonly name: string },
  { everywhere, ofR }: Watched,
  served: Served,
  { now, continues = null }: { now: number; continues?: number | null },
): Promise<number> {
  const settings = { ...job, targets: everywhere }
  const queries = ['q', 'r'].map((text) => ({
    ...{ text: `${text} ${job.name}`, pages: 3, targets: text === 'r' ? ofR : [] },
  }))
  const run = await plan(store, { job: settings, queries, now, continues })
  await backfillTargets(store, { name: job.name, targets: everywhere }, run.id)
  await scoreStored(store, run.id)
  for (;;) {
    const tasks = (await lease(store, run.id)).filter((task) => textOf(served, task) !== '!')
    if (tasks.length === 0) break
    for (const task of tasks) {
      const text = textOf(served, task)
      if (text === null) await fail(store, task, run, 'server-error')
      else await answer(store, task, run, webPage(text), now)
    }
  }
  await store.finishRun(run.id, 'interrupted', now)
  return run.id
}

const textOf = (served: Served, { text, page }: { text: string; page: number }) =>
  served[text[0] as keyof Served][page - 1] ?? null

/** What the history of a job says, whatever the numbers of its runs. */
const rankings = ({ sql }: Pick<TempStore, 'sql'>, job: string) =>
  sql(
    `SELECT substr(query, 1, 1) AS query, target, target_match, own, observed_at, state, rank, exactness, depth, unbroken_depth, page, url,
      urls, title FROM rankings WHERE job = ? ORDER BY run_id, query, target, target_match`,
    job,
  )

describe('a new target has the history that it would have had from the beginning', () => {
  const kinds = fc.constantFrom(...Object.keys(added))
  let example = 0

  test.each(['of the job', 'of a single query'])('%s', async (of) => {
    const temp = await aStore()
    await fc.assert(
      fc.asyncProperty(history, paging, kinds, async (days, paging, kind) => {
        example += 1
        const target = added[kind] as Target
        const before: Watched = { everywhere: [own], ofR: [] }
        const after: Watched =
          of === 'of the job' ? { everywhere: [own, target], ofR: [] } : { everywhere: [own], ofR: [target] }
        const [early, late] = [`early ${example}`, `late ${example}`]
        for (const [index, served] of days.entries()) {
          const now = noon + index * day
          const isLast = index === days.length - 1
          await aDay(temp, { name: early, paging }, after, served, { now })
          const run = await aDay(temp, { name: late, paging }, isLast ? after : before, served, { now })
          expect((await temp.store.tally(run)).calls).toEqual((await temp.store.tally(run - 1)).calls)
        }
        expect(rankings(temp, late)).toEqual(rankings(temp, early))
      }),
      { numRuns: 8 },
    )
  })

  test('in a run that goes on, too', async () => {
    const temp = await aStore()
    await fc.assert(
      fc.asyncProperty(history, kinds, async (days, kind) => {
        fc.pre(days.length > 1)
        example += 1
        const [early, late] = [`early ${example}`, `late ${example}`]
        const after: Watched = { everywhere: [own, added[kind] as Target], ofR: [] }
        for (const [name, first] of [
          [early, after],
          [late, { everywhere: [own], ofR: [] }],
        ] as const) {
          let continues: number | null = null
          for (const [index, served] of days.entries())
            continues = await aDay(temp, { name }, index === 0 ? first : after, served, {
              now: noon,
              continues,
            })
        }
        expect(rankings(temp, late)).toEqual(rankings(temp, early))
      }),
      { numRuns: 8 },
    )
  })
})

describe('targets that change', () => {
  const served: Served = { q: ['abx', 'cd', 'ef'], r: ['ab', 'cx', 'ef'] }
  const shown = (temp: TempStore) =>
    temp
      .sql<{ row: string }>(
        "SELECT run_id || substr(query, 1, 1) || ' ' || target || ' ' || coalesce(rank, state) AS row FROM rankings ORDER BY row",
      )
      .map(({ row }) => row)

  test('keep the history that they had when they are removed', async () => {
    const temp = await aStore()
    await aDay(temp, { name: 'acme' }, { everywhere: [own, aTarget('a.example')], ofR: [] }, served, {
      now: noon,
    })
    await aDay(temp, { name: 'acme' }, { everywhere: [own], ofR: [] }, served, { now: noon + day })
    expect(shown(temp)).toEqual([
      ...['1q a.example 1', '1q x.example 3', '1r a.example 1', '1r x.example 4'],
      ...['2q x.example 3', '2r x.example 4'],
    ])
  })

  test('do not make a run that goes on buy more pages', async () => {
    const { store, sql } = await aStore()
    await plan(store, {
      job: { name: 'acme', targets: [own], paging: 'until-found' },
      queries: [{ pages: 3 }],
    })
    const targets = [own, aTarget('nowhere.example')]
    expect(store.runsToBackfill('acme', targets, null)).toEqual([])
    expect(await backfillTargets(store, { name: 'acme', targets }, null)).toBe(0)
    expect(sql('SELECT count(*) AS n FROM run_targets')).toEqual([{ n: 1 }])
  })

  test.each(['until-found', 'smart'] as const)(
    'do not make a run buy more when it is tried again: %s',
    async (paging) => {
      const temp = await aStore()
      const { store } = temp
      const planned = (targets: readonly Target[], ofR: readonly Target[]) =>
        plan(store, {
          job: { name: 'acme', targets, paging },
          queries: [
            { text: 'q', pages: 3 },
            { text: 'r', pages: 3, targets: ofR },
          ],
        })
      const run = await planned([own], [aTarget('c.example')])
      for (const task of await lease(store, run.id)) await fail(store, task, run, 'rejected')
      await store.finishRun(run.id, 'completed_with_failures', noon)
      const targets = [own, aTarget('nowhere.example')]
      const newest = await planned(targets, [aTarget('none.example')])
      await backfillTargets(store, { name: 'acme', targets }, null)
      await backfillTargets(store, { name: 'acme', targets }, newest.id)
      await store.retryFailed(run.id)
      await work(store, run, ({ page }) => webPage(page === 1 ? 'abcdefghix' : 'jk'))
      expect(tasksOf(temp, run.id)).toEqual(['q/1 done', 'r/1 done'])
      expect(shown(temp)).toContain('1r nowhere.example absent')
      expect(shown(temp)).toContain('1r none.example absent')
    },
  )

  test('of a single query have a history of that query alone', async () => {
    const temp = await aStore()
    await aDay(temp, { name: 'acme' }, { everywhere: [], ofR: [] }, served, { now: noon })
    await aDay(temp, { name: 'acme' }, { everywhere: [], ofR: [own] }, served, { now: noon + day })
    expect(shown(temp)).toEqual(['1r x.example 4', '2r x.example 4'])
  })

  test('from a single query to the whole job are looked up for all queries', async () => {
    const temp = await aStore()
    await aDay(temp, { name: 'acme' }, { everywhere: [], ofR: [own] }, served, { now: noon })
    await aDay(temp, { name: 'acme' }, { everywhere: [own], ofR: [] }, served, { now: noon + day })
    expect(shown(temp)).toEqual(['1q x.example 3', '1r x.example 4', '2q x.example 3', '2r x.example 4'])
  })

  test('from the whole job to a single query are there already, and nothing is left to do', async () => {
    const temp = await aStore()
    await aDay(temp, { name: 'acme' }, { everywhere: [own], ofR: [] }, served, { now: noon })
    const newest = await aDay(temp, { name: 'acme' }, { everywhere: [], ofR: [own] }, served, {
      now: noon + day,
    })
    expect(temp.store.runsToBackfill('acme', [], newest)).toEqual([])
    expect(shown(temp)).toEqual(['1q x.example 3', '1r x.example 4', '2r x.example 4'])
  })

  test('are looked for in depth by a run that is planned anew with them', async () => {
    const temp = await aStore()
    const { store } = temp
    const job = { name: 'acme', targets: [own], paging: 'until-found' as const }
    const nowhere = aTarget('nowhere.example')
    const { id } = await plan(store, { job, queries: [{ text: 'r', pages: 2 }] })
    await store.finishRun(id, 'interrupted', noon)
    await backfillTargets(store, { name: 'acme', targets: [own, nowhere] }, null)
    const again = await plan(store, {
      ...{ job, continues: id },
      queries: [{ text: 'r', pages: 2, targets: [nowhere] }],
    })
    await work(store, again, ({ page }) => webPage(page === 1 ? 'ax' : 'bc'))
    expect(tasksOf(temp, id)).toEqual(['r/1 done', 'r/2 done'])
  })

  test('are looked up by the next process where one died over it', async () => {
    const temp = await aStore()
    for (const now of [noon, noon + day])
      await aDay(temp, { name: 'acme' }, { everywhere: [], ofR: [] }, served, { now })
    const job = { name: 'acme', targets: [own] }
    const { backfill } = temp.store
    let left = 1
    const dying = {
      ...temp.store,
      backfill: (...args: Parameters<typeof backfill>) =>
        left-- > 0 ? backfill(...args) : Promise.reject(new Error('died')),
    }
    await expect(backfillTargets(dying, job, null)).rejects.toThrow('died')
    expect(shown(temp)).toEqual(['1q x.example 3', '1r x.example 4'])
    expect(await backfillTargets(temp.store, job, null)).toBe(2)
    expect(shown(temp)).toEqual(['1q x.example 3', '1r x.example 4', '2q x.example 3', '2r x.example 4'])
  })

  test('are looked up for some hundred queries at a time, each whole, and no query twice', async () => {
    const temp = await aStore()
    const { store } = temp
    const texts = Array.from({ length: 250 }, (_, index) => ({ text: `q${index}` }))
    const run = await plan(store, { job: { name: 'acme', targets: [own] }, queries: texts })
    await work(store, run, () => webPage('abx'))
    await store.finishRun(run.id, 'completed', noon)
    const targets = [own, aTarget('a.example'), aTarget('nowhere.example')]
    const lookUntil = (changes: number) =>
      backfillTargets(store, { name: 'acme', targets }, null, async () => {
        if (--changes === 0) throw new Error('died')
      })
    const watched = () =>
      temp.sql<{ states: string; queries: number }>(
        `SELECT states, count(*) AS queries FROM (SELECT query, group_concat(target || ' ' || state) AS states
          FROM (SELECT * FROM rankings ORDER BY target) GROUP BY query) GROUP BY states ORDER BY states`,
      )
    const all = 'a.example ranked,nowhere.example absent,x.example ranked'

    await expect(lookUntil(1)).rejects.toThrow('died')
    const [done, left] = watched()
    expect(done?.states).toBe(all)
    expect(left?.states).toBe('x.example ranked')
    expect(done?.queries).toBeLessThan(200)
    expect((await checkDatabase(temp.path)).findings).toEqual([])

    expect(await lookUntil(Infinity)).toBe(left?.queries)
    expect(watched()).toEqual([{ states: all, queries: 250 }])
    expect(store.runsToBackfill('acme', targets, null)).toEqual([])
  })

  test('leave a run alone that somebody goes on with', async () => {
    const temp = await aStore()
    const run = await aDay(temp, { name: 'acme' }, { everywhere: [own], ofR: [] }, served, { now: noon })
    const job = { name: 'acme', targets: [own, aTarget('a.example')] }
    const before = shown(temp)
    const reopening = {
      ...temp.store,
      runsToBackfill: (...args: Parameters<typeof temp.store.runsToBackfill>) => {
        const runs = temp.store.runsToBackfill(...args)
        temp.exec(`UPDATE runs_ SET finished_at = NULL WHERE id = ${run}`)
        return runs
      },
    }
    expect(await backfillTargets(reopening, job, null)).toBe(0)
    expect(shown(temp)).toEqual(before)
    expect(temp.sql('SELECT count(*) AS n FROM run_targets')).toEqual([{ n: 1 }])
  })

  test('are looked up once, without a new run, in this job alone', async () => {
    const temp = await aStore()
    for (const name of ['acme', 'other'])
      await aDay(temp, { name }, { everywhere: [], ofR: [] }, served, { now: noon })
    const job = { name: 'acme', targets: [own] }
    expect(await backfillTargets(temp.store, job, null)).toBe(2)
    expect(shown(temp)).toEqual(['1q x.example 3', '1r x.example 4'])
    expect(await backfillTargets(temp.store, job, null)).toBe(0)
  })
})
