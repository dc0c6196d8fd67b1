import { randomBytes } from 'node:crypto'
import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { RanklineError, UsageError } from '../../src/model/errors.ts'
import type { Run } from '../../src/model/run.ts'
import { checkDatabase } from '../../src/store/sqlite/maintenance/check.ts'
import { countOld, dropOld, shrink } from '../../src/store/sqlite/maintenance/prune.ts'
import { views } from '../../src/store/sqlite/views.ts'
import { aBody, answer, fail, keep, webPage, work } from './answers.ts'
import {
  aFolder,
  aStore,
  firstTask,
  hour,
  lease,
  noon,
  plan,
  planJobs,
  type TempFile,
  text,
} from './build.ts'
import { aFinishedRun, aWholeDatabase } from './whole-database.ts'

const day = 24 * hour
/** Prunes what is older than a week, ten days after the answers came. */
const tenDaysLater = { now: noon + 10 * day, before: noon + 3 * day }

function bodies({ sql }: TempFile): readonly number[] {
  return sql<{ id: number }>('SELECT answer_id AS id FROM raw_answers ORDER BY 1').map(({ id }) => id)
}

describe('bodies are dropped', () => {
  test('of answers that are older, and of no others', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, { queries: text('a', 'b', 'c', 'd') })
    const at: Readonly<Record<string, number>> = {
      a: noon,
      b: noon + 3 * day - 1,
      c: noon + 3 * day,
      d: noon + 9 * day,
    }
    for (const task of await lease(temp.store, run.id))
      await answer(temp.store, task, run, webPage('x'), at[task.text])
    await temp.store.finishRun(run.id, 'completed', noon)

    const dropped = await dropOld(temp.path, tenDaysLater)

    expect(dropped).toMatchObject({ bodies: 2, bytes: 2 * aBody.length, kept: 0 })
    expect(bodies(temp)).toEqual([3, 4])
    expect(await temp.store.storedBody(1)).toBeNull()
    expect(await dropOld(temp.path, tenDaysLater)).toMatchObject({ bodies: 0, bytes: 0, kept: 0 })
  })

  test('and everything that was read from them stays, row for row', async () => {
    const temp = await aStore()
    await aFinishedRun(temp.store)
    await temp.store.closeRun(1, noon)
    const rows = () =>
      Object.keys(views).map((view) => [view, temp.sql(`SELECT * FROM ${view} ORDER BY 1, 2, 3`)])
    const before = rows()

    expect(await dropOld(temp.path, tenDaysLater)).toMatchObject({ bodies: 4, kept: 0 })

    expect(bodies(temp)).toEqual([])
    expect(rows()).toEqual(before)
    expect((await checkDatabase(temp.path)).findings).toEqual([])
  })

  test('also of answers that could not be read', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, { queries: [{}] })
    const task = await firstTask(temp.store, run)
    await keep(temp.store, task)
    await fail(temp.store, task, run, 'rejected')
    await temp.store.closeRun(run.id, noon)
    expect(await dropOld(temp.path, tenDaysLater)).toMatchObject({ bodies: 1, kept: 0 })
  })

  test('after a dry run that says the same and changes nothing', async () => {
    const temp = await aWholeDatabase()
    const before = bodies(temp)
    const counted = await countOld(temp.path, tenDaysLater)
    expect(bodies(temp)).toEqual(before)
    expect(await dropOld(temp.path, tenDaysLater)).toMatchObject(counted)
    expect(counted.bodies + counted.kept).toBe(before.length)
    expect(counted.bodies).toBeGreaterThan(0)
    expect(counted.kept).toBeGreaterThan(0)
    expect((await checkDatabase(temp.path)).findings).toEqual([])
  })
})

describe('a body stays, however old,', () => {
  test('until it has been read', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, { queries: [{}] })
    const task = await firstTask(temp.store, run)
    await keep(temp.store, task)
    await temp.store.closeRun(run.id, noon)
    expect(await dropOld(temp.path, tenDaysLater)).toMatchObject({ bodies: 0, kept: 1 })
    expect(await temp.store.runsWithOpenWork(['acme'])).toHaveLength(1)
  })

  test('until everybody who took it has read it', async () => {
    const temp = await aStore()
    const first = await plan(temp.store, { queries: [{}] })
    await work(temp.store, first, () => webPage('a'))
    const second = await plan(temp.store, { queries: [{}] })
    const task = await firstTask(temp.store, second)
    await temp.store.reuseAnswer(task.id, 1)
    for (const { id } of [first, second]) await temp.store.closeRun(id, noon)
    expect(await dropOld(temp.path, tenDaysLater)).toMatchObject({ bodies: 0, kept: 1 })
  })

  test('while a task of its group asks the same and has no answer, be it that it failed', async () => {
    const temp = await aStore()
    const runs = await planJobs(temp.store, { first: text('same', 'other'), second: text('same') })
    const [a, b] = runs as readonly [Run, Run]
    await work(temp.store, a, () => webPage('a'))
    await work(temp.store, b, () => null)
    await temp.store.finishRun(a.id, 'completed', noon)
    await temp.store.finishRun(b.id, 'completed_with_failures', noon)
    expect(await dropOld(temp.path, tenDaysLater)).toMatchObject({ bodies: 1, kept: 1 })
    expect(bodies(temp)).toEqual([1])
    await temp.store.closeRun(b.id, noon)
    expect(await dropOld(temp.path, tenDaysLater)).toMatchObject({ bodies: 1, kept: 0 })
  })

  test('while a run is under way that asks the same', async () => {
    const temp = await aStore()
    const first = await plan(temp.store, { queries: text('same', 'other') })
    await work(temp.store, first, () => webPage('a'))
    const second = await plan(temp.store, { job: { name: 'second' }, queries: text('same') })
    await lease(temp.store, second.id)
    expect(await dropOld(temp.path, tenDaysLater)).toMatchObject({ bodies: 1, kept: 1 })
    await temp.store.finishRun(second.id, 'interrupted', noon)
    expect(await dropOld(temp.path, tenDaysLater)).toMatchObject({ bodies: 1, kept: 0 })
  })

  test('while the next run of a job may use it instead of a call', async () => {
    const temp = await aStore()
    const queries = [{ text: 'same' }]
    const bought = await plan(temp.store, { queries: [...queries, { text: 'other' }] })
    await work(temp.store, bought, () => webPage('a'))
    await temp.store.finishRun(bought.id, 'completed', noon)
    const uses = async (freshnessMs: number | null) => {
      const run = await plan(temp.store, { job: { name: 'uses', freshnessMs }, queries })
      await work(temp.store, run, () => webPage('a'), noon + 9 * day)
      await temp.store.finishRun(run.id, 'completed', noon)
      return await countOld(temp.path, tenDaysLater)
    }
    expect(await uses(10 * day)).toMatchObject({ bodies: 1, kept: 1 })
    expect(await uses(10 * day - 1)).toMatchObject({ bodies: 2, kept: 0 })
    expect(await uses(30 * day)).toMatchObject({ bodies: 1, kept: 1 })
    expect(await uses(null)).toMatchObject({ bodies: 2, kept: 0 })
  })
})

describe('a large store', () => {
  async function aLargeStore(count: number, bytes: number) {
    const temp = await aStore()
    const queries = Array.from({ length: count }, (_, n) => ({ text: `query ${n}` }))
    const run = await plan(temp.store, { queries })
    await work(temp.store, run, () => webPage('a'))
    await temp.store.finishRun(run.id, 'completed', noon)
    const db = new Database(temp.path)
    const grow = db.prepare('UPDATE raw_answers SET body = ? WHERE answer_id = ?')
    db.transaction(() => {
      for (let id = 1; id <= count; id++) grow.run(randomBytes(bytes), id)
    })()
    db.close()
    return { ...temp, run }
  }

  test('is pruned in many changes, between which others read and write', async () => {
    const temp = await aLargeStore(1_000, 2_000)
    const seen = new Set<number>()
    const named: Promise<unknown>[] = []
    const looking = setInterval(() => {
      seen.add(bodies(temp).length)
      named.push(temp.store.nameJob(`job ${seen.size}`, 'file'))
    }, 10)

    expect(await dropOld(temp.path, tenDaysLater)).toMatchObject({ bodies: 1_000, bytes: 2_000_000 })

    clearInterval(looking)
    expect(seen.size).toBeGreaterThanOrEqual(4)
    await Promise.all(named)
    expect((await temp.store.jobNames()).length).toBeGreaterThanOrEqual(4)
  })

  test('is pruned to its end however few bodies there is time for in one change', async () => {
    const temp = await aLargeStore(30, 100)
    let time = 0
    vi.spyOn(performance, 'now').mockImplementation(() => (time += 5))
    onTestFinished(() => void vi.restoreAllMocks())
    expect(await dropOld(temp.path, tenDaysLater)).toMatchObject({ bodies: 30, bytes: 3_000 })
    expect(bodies(temp)).toEqual([])
  })

  test('keeps its size and fills the room again, or becomes smaller where that is asked for', async () => {
    const { path, store } = await aLargeStore(200, 20_000)
    const before = (await stat(path)).size
    const dropped = await dropOld(path, tenDaysLater)
    expect(dropped.freeBytes).toBeGreaterThan(4_000_000)

    const run = await plan(store, { job: { name: 'next' }, queries: [{ text: 'one more' }] })
    await work(store, run, () => webPage('a'))
    await store[Symbol.asyncDispose]()
    expect((await stat(path)).size).toBeLessThanOrEqual(Math.max(before, dropped.fileBytes))

    const beside = new Database(path)
    onTestFinished(() => void beside.close())
    beside.prepare('SELECT count(*) FROM runs').get()
    const room = await shrink(path)
    expect(room.freeBytes).toBe(0)
    expect((await stat(path)).size).toBe(room.fileBytes)
    expect(room.fileBytes).toBeLessThan(1_000_000)
    expect((await checkDatabase(path)).findings).toEqual([])
  })
})

describe('what cannot be pruned is refused', () => {
  test('because it is no database of rankline; it stays as it is', async () => {
    const path = join(await aFolder(), 'rankline.db')
    await expect(dropOld(path, tenDaysLater)).rejects.toThrow('There is no database')
    await writeFile(path, '')
    await expect(dropOld(path, tenDaysLater)).rejects.toThrow(UsageError)
    await expect(countOld(path, tenDaysLater)).rejects.toThrow(UsageError)
    expect((await stat(path)).size).toBe(0)
  })

  test('because another process writes and does not stop', async () => {
    const temp = await aWholeDatabase()
    const other = new Database(temp.path)
    other.exec('BEGIN IMMEDIATE')
    haveLocksWaitedForBriefly()
    const error = await dropOld(temp.path, tenDaysLater).catch((error: unknown) => error)
    other.close()
    expect(error).toBeInstanceOf(RanklineError)
    expect(error).toMatchObject({ exitCode: 7, message: expect.stringContaining('Another process writes') })
  })
})

/** Until the end of the test SQLite waits for another process 50 ms, not ten seconds. */
function haveLocksWaitedForBriefly(): void {
  const { pragma } = Database.prototype
  const hurried = vi.spyOn(Database.prototype, 'pragma').mockImplementation(function (
    this: Database.Database,
    ...asked
  ) {
    pragma.call(this, 'busy_timeout = 50')
    return pragma.apply(this, asked)
  })
  onTestFinished(() => hurried.mockRestore())
}
