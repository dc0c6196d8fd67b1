import { expect, test } from 'vitest'
import type { Run, Task } from '../../src/model/run.ts'
import { compress } from '../../src/store/compression.ts'
import { checkDatabase } from '../../src/store/sqlite/maintenance/check.ts'
import { countOld, dropOld } from '../../src/store/sqlite/maintenance/prune.ts'
import { removeJob } from '../../src/store/sqlite/maintenance/remove-job.ts'
import { openStore, type Store } from '../../src/store/sqlite/open.ts'
import { begin, settlement } from './answers.ts'
import { readBody, webBody } from './bodies.ts'
import { aStore, hour, lease, noon, plan, planJobs, type TempFile, text } from './build.ts'

const day = 24 * hour
const letters = 'abcdefghijklmnopqrst'
const bodyTo = ({ text }: Task): Buffer => Buffer.from(webBody(text))

/** Answers that come at the same time; the ids of them. */
async function saveTogether(
  store: Store,
  tasks: readonly Task[],
  at: (task: Task) => number = () => noon,
): Promise<readonly number[]> {
  const calls = await Promise.all(tasks.map((task) => begin(store, task, at(task) - 500)))
  const saved = tasks.map((task, place) =>
    store.saveAnswer({
      ...{ callId: calls[place] as number, task, settlement: settlement(), fetchedAt: at(task) },
      ...{ body: bodyTo(task), encoding: null },
    }),
  )
  return await Promise.all(saved)
}

const blocks = ({ sql }: TempFile) =>
  sql<{ id: number; bodies: number }>('SELECT id, bodies FROM body_blocks')

async function aRunInBlocks(asked = letters) {
  const temp = await aStore()
  const run = await plan(temp.store, { queries: text(...asked) })
  const tasks = await lease(temp.store, run.id)
  const ids = await saveTogether(temp.store, tasks)
  return { ...temp, run, tasks, ids }
}

async function readAll(
  store: Store,
  run: Run,
  tasks: readonly Task[],
  ids: readonly number[],
): Promise<void> {
  for (const [place, task] of tasks.entries())
    await readBody(store, run, task, ids[place] as number, bodyTo(task))
}

test('bodies that come at the same time share blocks, and each is read as it came, also by another process', async () => {
  const { tasks, ids, path, ...temp } = await aRunInBlocks()
  expect(blocks({ path, ...temp })).toEqual([
    { id: 1, bodies: 8 },
    { id: 9, bodies: 8 },
    { id: 17, bodies: 4 },
  ])
  await using next = await openStore(path)
  for (const store of [temp.store, next])
    for (const [place, task] of tasks.entries())
      expect(await store.storedBody(ids[place] as number)).toEqual({ body: bodyTo(task), fetchedAt: noon })
  expect((await checkDatabase(path)).findings).toEqual([])
})

test('a body that was compressed before it came stands by itself, between blocks', async () => {
  const temp = await aStore()
  const { store } = temp
  const run = await plan(store, { queries: text(...'abcde') })
  const tasks = await lease(store, run.id)
  const calls = await Promise.all(tasks.map((task) => begin(store, task)))
  const large = Buffer.alloc(100_000, 'large ')
  const bodies = await Promise.all(
    tasks.map(async (task) =>
      task.text === 'c' ? await compress(large) : { body: bodyTo(task), encoding: null },
    ),
  )
  const saved = tasks.map((task, place) =>
    store.saveAnswer({
      ...{ callId: calls[place] as number, task, settlement: settlement(), fetchedAt: noon },
      ...(bodies[place] as (typeof bodies)[number]),
    }),
  )
  const ids = await Promise.all(saved)
  expect(blocks(temp).map(({ bodies }) => bodies)).toEqual([2, 2])
  for (const [place, task] of tasks.entries()) {
    const came = task.text === 'c' ? large : bodyTo(task)
    expect((await store.storedBody(ids[place] as number))?.body.equals(came), task.text).toBe(true)
  }
})

test('a block that is damaged takes its own bodies with it and no others, and that is told of each', async () => {
  const { store, path, tasks, ids, exec } = await aRunInBlocks()
  exec('UPDATE body_blocks SET block = zeroblob(length(block)) WHERE id = 9')
  for (const id of ids) expect((await store.storedBody(id)) === null, `answer ${id}`).toBe(id >= 9 && id < 17)
  expect((await checkDatabase(path)).findings).toEqual([
    { what: 'Stored bodies that cannot be unpacked', count: 8, first: 'answer 9' },
  ])
  await store.noteDamaged((tasks[9] as Task).id, ids[9] as number)
  expect((await store.answeredTasks([1])).map(({ answerId }) => answerId)).toEqual(
    ids.filter((id) => id !== ids[9]),
  )
})

test('a block goes when the last of its bodies is old, and until then all others are read', async () => {
  const temp = await aStore()
  const { store, path } = temp
  const run = await plan(store, { queries: text(...'abcd') })
  const tasks = await lease(store, run.id)
  const at = ({ text }: Task) => (text === 'd' ? noon + 5 * day : noon)
  const ids = await saveTogether(store, tasks, at)
  await readAll(store, run, tasks, ids)
  await store.finishRun(run.id, 'completed', noon)
  const early = { now: noon + 10 * day, before: noon + day }
  const [size] = temp.sql<{ bytes: number }>('SELECT length(block) AS bytes FROM body_blocks')
  const share = Math.floor((size?.bytes ?? 0) / 4)

  expect(await countOld(path, early)).toEqual({ bodies: 3, bytes: 3 * share, kept: 0 })
  expect(await dropOld(path, early)).toMatchObject({ bodies: 3, bytes: 3 * share, kept: 0 })
  expect(blocks(temp)).toEqual([{ id: 1, bodies: 4 }])
  const left = await Promise.all(ids.map((id) => store.storedBody(id)))
  expect(left.map((stored) => stored?.body.toString() ?? null)).toEqual([null, null, null, webBody('d')])
  expect((await checkDatabase(path)).findings).toEqual([])

  await dropOld(path, { now: noon + 20 * day, before: noon + 6 * day })
  expect(blocks(temp)).toEqual([])
  expect((await checkDatabase(path)).findings).toEqual([])
})

test('a job takes only its own bodies with it out of a block that it shares', async () => {
  const temp = await aStore()
  const { store, path } = temp
  const runs = await planJobs(store, { first: text('a', 'b'), second: text('c', 'd') })
  const tasks = (await Promise.all(runs.map(({ id }) => lease(store, id)))).flat()
  const ids = await saveTogether(store, tasks)
  for (const run of runs)
    for (const [place, task] of tasks.entries())
      if (task.runId === run.id) await readBody(store, run, task, ids[place] as number, bodyTo(task))
  await removeJob(path, 'first', noon)
  expect(blocks(temp)).toEqual([{ id: 1, bodies: 4 }])
  const left = await Promise.all(ids.map((id) => store.storedBody(id)))
  expect(left.map((stored) => stored?.body.toString() ?? null)).toEqual([
    ...[null, null],
    ...[webBody('c'), webBody('d')],
  ])
  await removeJob(path, 'second', noon)
  expect(blocks(temp)).toEqual([])
})
