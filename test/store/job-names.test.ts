import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { noFile } from '../../src/model/job.ts'
import { aJob } from '../run/build.ts'
import { answer, webPage } from './answers.ts'
import { aStore, firstTask, noon, plan, type TempStore, text } from './build.ts'

const [a, b] = ['aaaaaaaabbbbcccc', '99999999bbbbcccc']

/** Brings a run of another machine, as a sync does; the name of its job here. */
async function bring(
  { store }: TempStore,
  keyHash: string,
  { job = 'keywords', id = randomUUID() as string, ownKey = null as string | null } = {},
) {
  const run = { id, groupId: randomUUID(), keyHash, job, date: '2026-03-01', startedAt: noon }
  const here = await store.importRun({ ...run, settings: aJob({ name: job, file: noFile }) }, ownKey)
  await store.nameJob(here.job, noFile)
  return here.job
}

const names = ({ store }: TempStore) => store.jobNames()

test('jobs of two keys with one name are two jobs: the first has the name, the other one its key behind it', async () => {
  const temp = await aStore()

  expect(await bring(temp, a)).toBe('keywords')
  expect(await bring(temp, b)).toBe('keywords@99999999')
  expect(await bring(temp, a)).toBe('keywords')
  expect(await bring(temp, '99999999ffff')).toBe('keywords@99999999ffff')

  expect(await temp.store.runs({ job: 'keywords' })).toHaveLength(2)
  const [other] = await temp.store.runs({ job: 'keywords@99999999' })
  expect(other?.settings.name).toBe('keywords@99999999')
})

test('on a host with a key, jobs of other keys have theirs behind their name from the first one on', async () => {
  const temp = await aStore()

  expect(await bring(temp, b, { ownKey: a })).toBe('keywords@99999999')
  expect(await bring(temp, a, { ownKey: a })).toBe('keywords')

  await temp.store.ownJob(a, 'keywords')
  expect(await bring(temp, b, { job: 'brand' })).toBe('brand@99999999')
})

test('a host that takes over with the new key has the history of the former one under the plain name', async () => {
  const temp = await aStore()
  const run = randomUUID()
  expect(await bring(temp, a, { id: run, ownKey: b })).toBe('keywords@aaaaaaaa')

  expect(await bring(temp, b, { id: run, ownKey: b })).toBe('keywords')

  expect(await names(temp)).toEqual(['keywords'])
})

test('a job of others keeps its name when its key is replaced', async () => {
  const temp = await aStore()
  const [run, c] = [randomUUID(), 'cccccccc0000']
  await bring(temp, a, { id: run, ownKey: b })

  expect(await bring(temp, c, { id: run, ownKey: b })).toBe('keywords@aaaaaaaa')
  expect(await bring(temp, c, { ownKey: b })).toBe('keywords@aaaaaaaa')

  expect(await names(temp)).toEqual(['keywords@aaaaaaaa'])
})

test('the database that collects a job has its name for it, also where another came first', async () => {
  const temp = await aStore()
  await bring(temp, b)

  expect(await temp.store.ownJob(a, 'keywords')).toBe('keywords@99999999')

  expect(await temp.store.runs({ job: 'keywords' })).toEqual([])
  expect(await bring(temp, a)).toBe('keywords')
  expect(await bring(temp, b)).toBe('keywords@99999999')
  expect(await temp.store.ownJob(a, 'keywords')).toBeNull()
  expect(await temp.store.ownJobs()).toEqual([{ keyHash: a, job: 'keywords' }])
  expect(await temp.store.jobsOfOthers()).toEqual(['keywords@99999999'])
})

test('a host that came later than another one of its key and name has the history of both', async () => {
  const temp = await aStore()
  await bring(temp, b)
  expect(await bring(temp, a)).toBe('keywords@aaaaaaaa')

  await temp.store.ownJob(a, 'keywords')

  expect(await temp.store.runs({ job: 'keywords' })).toHaveLength(1)
  expect(await names(temp)).toEqual(['keywords', 'keywords@99999999'])
})

test('a job that this database collects goes on under its name with another key', async () => {
  const temp = await aStore()
  await temp.store.ownJob(a, 'keywords')
  await bring(temp, a)

  expect(await temp.store.ownJob(b, 'keywords')).toBeNull()

  expect(await bring(temp, b)).toBe('keywords')
})

test('what was collected without a queue is a job of the key that paid for it', async () => {
  const temp = await aStore()
  const run = await plan(temp.store, { queries: text('desk'), job: { name: 'keywords' } })
  await answer(temp.store, await firstTask(temp.store, run), run, webPage('a'))
  const [key] = temp.sql<{ hash: string }>('SELECT hash FROM keys')

  expect(await bring(temp, b)).toBe('keywords@99999999')
  expect(await bring(temp, key?.hash as string)).toBe('keywords')
})

test('where a key was replaced, the job goes on under the name that it had', async () => {
  const temp = await aStore()
  const run = randomUUID()
  await bring(temp, a, { id: run })
  await bring(temp, b)

  expect(await bring(temp, b, { id: run })).toBe('keywords')

  expect(await names(temp)).toEqual(['keywords'])
  expect(await temp.store.runs({ job: 'keywords' })).toHaveLength(2)
  expect(await bring(temp, b)).toBe('keywords')
})

test('a job that was given another name here goes on under that one', async () => {
  const temp = await aStore()
  await bring(temp, a)
  await bring(temp, b)

  await temp.store.renameJob('keywords@99999999', 'globex', null)

  expect(await bring(temp, b)).toBe('globex')
  expect(await bring(temp, a)).toBe('keywords')
})
