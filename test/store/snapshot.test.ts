import { expect, test } from 'vitest'
import { openStore } from '../../src/store/sqlite/open.ts'
import { aTarget } from '../run/build.ts'
import { webPage, work } from './answers.ts'
import { aStore, plan } from './build.ts'

const job = { name: 'acme', targets: [aTarget('x.example')] }

test('all that is read while a snapshot is open is of one moment, whatever others write', async () => {
  const temp = await aStore()
  const run = await plan(temp.store, { job, queries: [{ text: 'desk' }] })
  await work(temp.store, run, () => webPage('x'), Date.UTC(2026, 2, 1))
  await using reader = await openStore(temp.path)
  const read = async () => ({
    runs: (await reader.runs({ job: 'acme' })).length,
    rows: [...reader.rows('rankings', { job: 'acme' })].length,
    asked: reader.contentsOf(run.id, job.targets).queries.length,
    observed: reader.observedIn(run.id).ranked.queries.length,
    newest: [...reader.askedBy(run.id, job.targets)].length,
  })
  const snapshot = reader.snapshot()
  const before = await read()
  const next = await plan(temp.store, {
    job,
    date: '2026-03-02',
    queries: [{ text: 'desk' }, { text: 'lamp' }],
  })
  await work(temp.store, next, () => webPage('x'), Date.UTC(2026, 2, 2))
  expect(await read()).toEqual(before)
  expect(before).toEqual({ runs: 1, rows: 1, asked: 1, observed: 1, newest: 1 })
  snapshot[Symbol.dispose]()
  expect(await read()).toMatchObject({ runs: 2, rows: 3 })
})
