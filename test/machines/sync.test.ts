import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JournalChange } from '../../src/machines/journal.ts'
import { openJournal, type SharedJournal } from '../../src/machines/postgres/open.ts'
import { syncJournal } from '../../src/machines/sync.ts'
import { type PlannedQuery, queryKey } from '../../src/model/query.ts'
import { systemClock } from '../../src/model/time.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { openStore, type Store } from '../../src/store/sqlite/open.ts'
import { type Databases, sharedPostgres } from '../support/postgres.ts'
import { type Workspace, workspace } from '../support/rankline.ts'
import { openTestJournal } from './postgres/journal.ts'

let server: Databases
let sandbox: Sandbox
let journal: SharedJournal
let whole: unknown

/** What a run that was stopped by its budget, planned again and completed has left in the journal; read by its own coordinator. */
beforeAll(async () => {
  server = await sharedPostgres()
  sandbox = await startSandbox({
    sites: ['acme.com'],
    rules: [{ operation: 'alpha.search', times: 3, do: { status: 503 } }],
  })
  const queue = { RANKLINE_QUEUE: await server.database() }
  await using place = await workspace(sandbox)
  await using other = await workspace(sandbox)
  const worker = other.start(['worker', '--lease', '1s'], queue)
  const job = (credits: number, more = '') =>
    `depth: 20\ntargets: [acme.com]\nbudget: { max_credits: ${credits} }\nqueries: [a, b, c, d, e${more}]\n`
  await place.file('job.yaml', job(5))
  expect((await place.call(['run', 'job.yaml'], queue)).code).toBe(4)
  await place.file('job.yaml', job(40, ', f, g'))
  expect((await place.call(['run', 'job.yaml'], queue)).code).toBe(0)
  worker.child.kill('SIGTERM')
  await worker.ended
  expect(await place.call(['sync'], queue)).toMatchObject({ code: 0 })
  whole = contents(place)
  journal = await openTestJournal(queue.RANKLINE_QUEUE)
}, 60_000)
afterAll(async () => {
  await journal[Symbol.asyncDispose]()
  await sandbox.close()
})

/** Rows as users see them, without the numbers that each database gives for itself. */
function contents({ sql }: Workspace): unknown {
  return [
    'SELECT job, date, finish_reason, tasks_planned, tasks_done, tasks_failed, credits_spent, finished_at FROM runs',
    'SELECT query, page, state, cause FROM tasks ORDER BY 1, 2',
    'SELECT query, target, state, rank, exactness, depth, observed_at FROM rankings ORDER BY 1, 2',
    'SELECT query, page, rank, position, link, title FROM organic_results ORDER BY 1, 2, 3',
    'SELECT operation, sent_at, outcome, billed, credits FROM calls WHERE credits > 0 ORDER BY 2, 1, 3',
  ].map((query) => sql(query))
}

/** The same journal, read in steps of so many rows. */
function inSteps(rows: number): Pick<SharedJournal, 'changes'> {
  const { changes } = journal
  return { changes: { ...changes, after: (position) => changes.after(position, rows) } }
}

test.each([[1], [2], [7], [1_000]])(
  'a database that reads %i rows at a time has all that the first one has',
  async (rows) => {
    await using reader = await workspace()
    await using store = await openStore(join(reader.folder, 'data/rankline.db'))

    await syncJournal({ journal: inSteps(rows), store, clock: systemClock, name: 'reader' })

    expect(contents(reader)).toEqual(whole)
    expect(await syncJournal({ journal, store, clock: systemClock, name: 'reader' })).toEqual({
      ...{ runs: 0, calls: 0, answers: 0, tasks: 0, unread: null, failedOver: false, isIncomplete: false },
    })
  },
)

/** The same journal as an older rankline has written it, for which a text with another mark was another query. */
function ofBefore(): Pick<SharedJournal, 'changes'> {
  const { changes } = journal
  const written = new Map<string, PlannedQuery>()
  const former = <T extends { readonly query: Buffer }>(one: T): T => ({
    ...one,
    query: written.get(one.query.toString('hex'))?.key ?? one.query,
  })
  const changed = (change: JournalChange): JournalChange => {
    if (change.kind === 'call' && change.call.task !== null)
      return { ...change, call: { ...change.call, task: former(change.call.task) } }
    if (change.kind === 'answer') return { ...change, answer: former(change.answer) }
    if (change.kind !== 'task-end') return change
    return { ...change, ended: { ...change.ended, task: former(change.ended.task) } }
  }
  return {
    changes: {
      ...changes,
      plan: async function* (run, version) {
        for await (const part of changes.plan(run, version)) {
          const queries = part.queries.map((query) => {
            const text = `${query.text}\u200b`
            const key = queryKey({ ...query, text, params: JSON.parse(query.params) })
            const one = { ...query, text, key }
            written.set(query.key.toString('hex'), one)
            return one
          })
          yield { ...part, queries }
        }
      },
      after: async (position) => {
        const batch = await changes.after(position, 20)
        return { ...batch, changes: batch.changes.map(changed) }
      },
    },
  }
}

test('a journal of an older rankline names queries by their spelling of then', async () => {
  await using reader = await workspace()
  await using store = await openStore(join(reader.folder, 'data/rankline.db'))

  await syncJournal({ journal: ofBefore(), store, clock: systemClock, name: 'reader' })

  expect(contents(reader)).toEqual(whole)
})

test('a database follows one queue for life, and notices one that was restored from an older state', async () => {
  await using reader = await workspace()
  await using store = await openStore(join(reader.folder, 'data/rankline.db'))
  await using other = await openJournal(await server.database())
  const sync = (from: Pick<SharedJournal, 'changes'>) =>
    syncJournal({ journal: from, store, clock: systemClock, name: 'reader' })
  await sync(journal)

  await expect(sync(other)).rejects.toThrow('This database follows another queue')

  const older = { changes: { ...other.changes, identity: () => journal.changes.identity() } }
  await store.importBatch({
    calls: [],
    answers: [],
    readings: [],
    steps: [],
    position: '999999999',
    read: [],
    readAt: 0,
    failovers: [],
  })
  await expect(sync(older)).rejects.toThrow('restored from an older state')
})

const writes = [
  'importRun',
  'linkRun',
  'importBatch',
  'attachAnswer',
  'recordAnswer',
  'stepsApplied',
  'finishRun',
] as const

test.each(writes)(
  'a reader that dies at its %s goes on where it was, and ends with the same',
  async (write) => {
    await using reader = await workspace()
    const path = join(reader.folder, 'data/rankline.db')
    for (let after = 0; after < 50; after++) {
      await using store = await openStore(path)
      let calls = 0
      const dying = async (...given: readonly unknown[]) => {
        if (calls++ === after) throw new Error('killed')
        return await (store[write] as (...given: readonly unknown[]) => Promise<unknown>)(...given)
      }
      const mortal = { ...store, [write]: dying } as Store
      const ended = await syncJournal({
        ...{ journal: inSteps(20), store: mortal, clock: systemClock, name: 'reader' },
      }).catch((error: Error) => error)
      if (!(ended instanceof Error)) break
      expect(ended.message).toBe('killed')
    }

    expect(contents(reader)).toEqual(whole)
  },
)
