import { expect, test } from 'vitest'
import { renormalise } from '../../src/run/derive.ts'
import { aJob, aTarget } from '../run/build.ts'
import { testTable } from '../support/test-table.ts'
import { everythingPublic, workBodies } from './bodies.ts'
import { aQuery, aStore, lease, meansOf, noon, plan, planJobs, plannedJob, since, text } from './build.ts'

const other = { q: { asked: 'desk', answered: 'lamp' } }
const targets = [aTarget('a.example'), aTarget('c.example', { own: false })]

/** The body of a page with these results, one a letter. */
function body(q: string, letters: string): string {
  const organic_results = [...letters].map((letter) => ({ link: `https://${letter}.example/` }))
  return JSON.stringify({ search_parameters: { q }, organic_results })
}

/** A run of two pages, of which the second answers another question. */
async function collected(strictEcho: boolean) {
  const temp = await aStore()
  const run = await plan(temp.store, { job: { targets, strictEcho }, queries: [{ text: 'desk', pages: 2 }] })
  await workBodies(temp.store, run, ({ page }) => (page === 1 ? body('Desk', 'ab') : body('lamp', 'cd')))
  await temp.store.finishRun(run.id, 'completed', noon)
  return { ...temp, run }
}

const rankings = 'SELECT target, state, rank, suspect FROM rankings ORDER BY target'

test('an answer to another question is marked, and what rests on it', async () => {
  const { sql, store, run } = await collected(false)
  expect(sql('SELECT page, echo_mismatch AS said FROM answers ORDER BY page')).toEqual([
    { page: 1, said: null },
    { page: 2, said: JSON.stringify(other) },
  ])
  expect(sql(rankings)).toEqual([
    { target: 'a.example', state: 'ranked', rank: 1, suspect: 0 },
    { target: 'c.example', state: 'ranked', rank: 3, suspect: 1 },
  ])
  expect(await store.tally(run.id)).toMatchObject({ mismatched: 1 })
  expect(store.runQuality(run.id)).toMatchObject({ mismatched: 1 })
})

test('with strict_echo it says nothing of ranks, but its results are stored', async () => {
  const { sql } = await collected(true)
  expect(sql(rankings)).toEqual([
    { target: 'a.example', state: 'ranked', rank: 1, suspect: 0 },
    { target: 'c.example', state: 'unknown', rank: null, suspect: 1 },
  ])
  expect(sql('SELECT count(*) AS n FROM organic_results')).toEqual([{ n: 4 }])
})

testTable([false, true])('renormalise finds it in answers of before, strict: %s', async (strict) => {
  const temp = await collected(strict)
  const before = everythingPublic(temp)
  temp.exec(`UPDATE answers_ SET echo_mismatch = NULL, normaliser = 2;
    UPDATE observations SET suspect = 0, state = 'ranked', rank = 3 WHERE state = 'unknown' OR suspect`)
  expect(everythingPublic(temp)).not.toBe(before)
  await renormalise(temp.store, { unless: 3, job: null }, () => {})
  expect(everythingPublic(temp)).toBe(before)
})

test('it is no fresh answer for a later run, and none is planned with', async () => {
  const { store } = await aStore()
  const earlier = await plan(store, { queries: text('desk', 'lamp') })
  await workBodies(store, earlier, ({ text }) => body('lamp', text))
  await using draft = await store.draft()
  await draft.add('later', text('desk', 'lamp').map(aQuery))
  const later = plannedJob({ settings: aJob({ name: 'later' }), fresh: since(0) })
  expect(await draft.summary(later)).toMatchObject({ credits: { max: 1 } })
  const [run] = await draft.commit([later], noon)
  if (run === undefined) throw new Error('no run')
  const tasks = await lease(store, run.id, { runs: [meansOf(run.id, { fresh: since(0) })] })
  expect(tasks.map(({ text, reusable }) => [text, reusable !== null])).toEqual([
    ['desk', false],
    ['lamp', true],
  ])
})

test('it is shared by the jobs of one command, which asked together', async () => {
  const { store } = await aStore()
  const [one, two] = await planJobs(store, { one: text('desk'), two: text('desk') })
  if (one === undefined || two === undefined) throw new Error('no runs')
  await workBodies(store, one, () => body('lamp', 'ab'))
  const tasks = await lease(store, two.id, { shared: true })
  expect(tasks).toMatchObject([{ reusable: expect.any(Number) }])
})
