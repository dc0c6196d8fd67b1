import type { Store } from '../../src/store/sqlite/open.ts'
import { aResult } from '../catalog/results.ts'
import { aTarget } from '../run/build.ts'
import {
  aLookup,
  begin,
  fail,
  keep,
  keepPolled,
  malformed,
  read,
  settlement,
  submit,
  understood,
  webPage,
  work,
} from './answers.ts'
import { aFile, firstTask, lease, noon, plan, type TempFile } from './build.ts'

const says: Readonly<Record<string, ReturnType<typeof understood>>> = {
  web: webPage('abcde'),
  fragments: understood([
    aResult('organic', { title: 'f', snippet: 'kept apart', link: 'https://f.example/#part' }),
  ]),
  news: understood([
    aResult('news', {
      title: 'n',
      news: { date: '1 hour ago', publishedAt: new Date(noon).toISOString(), precision: 'hour' },
    }),
  ]),
  pictures: understood([
    aResult('image', {
      link: 'https://p.example/',
      image: { imageUrl: 'https://p.example/p.png', thumbnail: 'thumb', width: 1, height: 2 },
    }),
  ]),
}

/** A run with every kind of answer, and one task that failed. */
export async function aFinishedRun(store: Store) {
  const queries = [
    { text: 'web' },
    { text: 'fragments' },
    { text: 'nothing' },
    { text: 'news', operation: 'alpha.news' },
    { text: 'pictures', operation: 'alpha.images' },
  ]
  const run = await plan(store, { job: { targets: [aTarget('c.example'), aTarget('z.example')] }, queries })
  await work(store, run, ({ text }) => says[text] ?? null)
  await store.finishRun(run.id, 'completed_with_failures', noon)
  return run
}

/** A run whose task was billed twice: its first answer could not be read. */
async function aRetriedRun(store: Store): Promise<void> {
  const run = await plan(store, { job: { name: 'retried' }, queries: [{ text: 'again' }] })
  const task = await firstTask(store, run)
  await malformed(store, task, run)
  await store.finishRun(run.id, 'completed_with_failures', noon)
  await store.retryFailed(run.id)
  await work(store, run, () => webPage('xyz'))
  await store.finishRun(run.id, 'completed', noon)
}

/** A run whose task was answered by an asynchronous job, which was asked for twice and polled after that. */
async function aPolledRun(store: Store): Promise<void> {
  const run = await plan(store, { job: { name: 'polled' }, queries: [{ operation: 'alpha.images' }] })
  const task = await firstTask(store, run)
  await store.settleCall(await begin(store, task), settlement({ outcome: 'server-error', billed: 0 }), null)
  const job = await submit(store, task)
  const poll = aLookup({ runId: run.id, taskId: task.id, operation: 'jobs.poll' })
  await store.settleCall(await store.beginCall(poll), settlement({ billed: 0 }), null)
  const answerId = await keepPolled(store, task, job)
  await read(store, task, run, answerId, understood([]))
  await store.finishRun(run.id, 'completed', noon)
}

/** A run with a task in every state in which it can be while it is collected. */
export async function aRunUnderWay(store: Store): Promise<void> {
  const texts = ['web', 'unread', 'in the air', 'failed once', 'let through', 'waits']
  const queries = [...texts.map((text) => ({ text })), { text: 'job', operation: 'alpha.images' }]
  const run = await plan(store, { job: { name: 'under way' }, queries })
  const [web, unread, air, once, , waits, job] = await lease(store, run.id)
  if (!web || !unread || !air || !once || !waits || !job) throw new Error('no task')
  await store.reuseAnswer(web.id, 1)
  await read(store, web, run, 1, webPage('abcde'))
  await keep(store, unread)
  await begin(store, air)
  await fail(store, once, run, 'server-error')
  await store.release([waits.id])
  await submit(store, job)
}

/** A closed file with all that rankline stores in it. */
export function aWholeDatabase(): Promise<TempFile> {
  return aFile('whole', async (store) => {
    await aFinishedRun(store)
    await aRetriedRun(store)
    await aRunUnderWay(store)
    await aPolledRun(store)
    await store.countRanks()
    await store.beginCall(aLookup({ runId: 1 }))
  })
}
