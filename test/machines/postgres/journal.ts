import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import type { ChunkLease, ChunkQuery, NewChunk } from '../../../src/machines/journal.ts'
import type { LeasedChunk } from '../../../src/machines/postgres/chunks.ts'
import { openPostgres, type Postgres } from '../../../src/machines/postgres/connection.ts'
import { openJournal, type SharedJournal } from '../../../src/machines/postgres/open.ts'
import type { Outcome, Settlement } from '../../../src/model/call.ts'
import type { JobSettings } from '../../../src/model/job.ts'
import { compressAtOnce } from '../../../src/store/compression.ts'
import type { NewSharedCall, SharedRun, StoredAnswer } from '../../../src/store/sync.ts'
import { aJob } from '../../run/build.ts'
import { aQuery, noon } from '../../store/build.ts'
import { sharedPostgres } from '../../support/postgres.ts'

/** A journal in a database of its own, and the database as another program sees it. */
export interface TestJournal extends SharedJournal {
  readonly url: string
  readonly postgres: Postgres
  sql<Row extends object>(text: string, ...values: readonly unknown[]): Promise<readonly Row[]>
}

/** @param url a database, as a superuser */
export async function openTestJournal(url: string): Promise<TestJournal> {
  const journal = await openJournal(url)
  const postgres = await openPostgres(url)
  return {
    ...journal,
    changes: { ...journal.changes, after: whenNeighboursAreOver(journal.changes.after) },
    url,
    postgres,
    sql: (text, ...values) => postgres.query(text, values),
    [Symbol.asyncDispose]: async () => {
      await journal[Symbol.asyncDispose]()
      await postgres[Symbol.asyncDispose]()
    },
  }
}

/**
 * All tests share a server. A transaction of a neighbour that comes to its end just while it is looked at counts as one of ours, and keeps back
 * what came after it until the next look: so there is one.
 */
function whenNeighboursAreOver(after: SharedJournal['changes']['after']): typeof after {
  return async (...args) => {
    for (;;) {
      const batch = await after(...args)
      const blocker = batch.unread?.blockedBy
      if (blocker === undefined || blocker.pid !== null || blocker.prepared !== null) return batch
    }
  }
}

/** One journal for all tests of a file, which are kept apart by their keys. */
export function withJournal(use: (journal: TestJournal) => void): void {
  let journal: TestJournal
  beforeAll(async () => {
    const { database } = await sharedPostgres()
    journal = await openTestJournal(await database())
    use(journal)
  }, 60_000)
  afterAll(() => journal[Symbol.asyncDispose]())
}

/** Databases with an empty journal that no test has now. */
const empty: string[] = []

/** An empty journal, which lasts as long as the test. */
export async function aJournal(): Promise<TestJournal> {
  const { database } = await sharedPostgres()
  const journal = await openTestJournal(empty.pop() ?? (await database()))
  onTestFinished(async () => {
    const tables = await journal.sql<{ name: string }>(
      "SELECT 'rankline.' || tablename AS name FROM pg_tables WHERE schemaname = 'rankline' AND tablename <> 'version'",
    )
    await journal.sql(`TRUNCATE ${tables.map(({ name }) => name).join()} RESTART IDENTITY`)
    // What autovacuum learnt of the rows outlives them, and would choose the plans of the next test.
    await journal.sql(
      "DELETE FROM pg_statistic USING pg_class c WHERE starelid = c.oid AND c.relnamespace = 'rankline'::regnamespace",
    )
    empty.push(journal.url)
    await journal[Symbol.asyncDispose]()
  })
  return journal
}

/** A key that no other test has. */
export const aKey = (): string => `key ${randomUUID()}`

export function aSharedRun(run: Partial<Omit<SharedRun, 'settings'>> = {}, job: Partial<JobSettings> = {}) {
  const { keyHash = aKey(), job: name = 'acme' } = run
  return {
    ...{ id: randomUUID(), groupId: randomUUID(), date: '2026-03-01', startedAt: noon },
    ...run,
    ...{ keyHash, job: name, settings: aJob({ name, ...job }) },
  } satisfies SharedRun
}

/** Web searches for these texts in one chunk, with this many credits for all of them. */
export function aChunk(texts: readonly string[], chunk: Partial<NewChunk> = {}): NewChunk {
  const queries = texts.map((text): ChunkQuery => ({ ...aQuery({ text }), history: [] }))
  return { priority: 0, tags: [], queries, mostCredits: 100, leastCredits: 1, ...chunk }
}

/** Who coordinates every job of these tests. */
export const coordinator = randomUUID()

/** Publishes a run with these chunks. */
export async function planned(
  { plans }: Pick<SharedJournal, 'plans'>,
  run: SharedRun,
  ...chunks: readonly NewChunk[]
): Promise<SharedRun> {
  await plans.coordinate([run], { id: coordinator, name: 'test', leaseMs: 3_600_000 })
  await plans.publish(coordinator, run, async function* () {})
  await plans.addChunks(coordinator, run.id, { id: randomUUID(), chunks })
  return run
}

/** Reserves what every waiting chunk of a run may need. */
export async function release({ spending }: Pick<SharedJournal, 'spending'>, run: SharedRun): Promise<void> {
  await spending.release(coordinator, run.keyHash, [run.id], 10_000, async (waiting) =>
    waiting.map(({ id, mostCredits }) => ({ chunk: id, credits: mostCredits })),
  )
}

/** A run whose chunks any worker may take. */
export async function released(
  journal: Pick<SharedJournal, 'plans' | 'spending'>,
  run: SharedRun,
  ...chunks: readonly NewChunk[]
): Promise<SharedRun> {
  await planned(journal, run, ...chunks)
  await release(journal, run)
  return run
}

/** Chunks of one query each, all leased to one worker, the first query first. */
export async function leased(
  journal: SharedJournal,
  { worker = randomUUID(), run = aSharedRun(), chunks = 1, leaseMs = 60_000 } = {},
): Promise<{
  readonly worker: string
  readonly run: SharedRun
  readonly leases: readonly LeasedChunk[]
  readonly lease: LeasedChunk
}> {
  await released(journal, run, ...Array.from({ length: chunks }, (_, index) => aChunk([`desk ${index}`])))
  const leases = await journal.chunks.take(worker, [run.keyHash], chunks, leaseMs)
  return { worker, run, leases, lease: leases[0] as LeasedChunk }
}

/** As if their leases had run out a moment ago. */
export async function expire({ sql }: TestJournal, ...leases: readonly ChunkLease[]): Promise<void> {
  await sql(
    `UPDATE rankline.chunks SET leased_until = clock_timestamp() - interval '1 ms' WHERE id = ANY ($1)`,
    leases.map(({ chunk }) => chunk),
  )
}

/** A call for a page of a chunk's query. */
export function aCall(
  { run, sharedRun, queries }: LeasedChunk,
  call: Partial<Omit<NewSharedCall, 'task'>> & { readonly query?: number; readonly page?: number } = {},
): NewSharedCall {
  const { query = 0, page = 1, ...given } = call
  const key = (queries[query] as ChunkQuery).key
  return {
    ...{ id: randomUUID(), operation: 'alpha.search', credits: 1, sentAt: noon, keyHash: sharedRun.keyHash },
    ...given,
    task: { run, query: key, page },
  }
}

const billing = { answered: 1, ambiguous: null, 'server-error': 0, accepted: 0 } as const

/** How a call ended, a second after it was sent. */
export function ended(outcome: keyof typeof billing, settlement: Partial<Settlement> = {}): Settlement {
  return {
    ...{ outcome: outcome satisfies Outcome, httpStatus: 200, billed: billing[outcome] },
    ...{ finishedAt: noon + 1_000, latencyMs: 1_000, error: null, ...settlement },
  }
}

/** What a call brought. */
export function theAnswer(
  { id, task }: NewSharedCall,
  text = 'answer',
  fetchedAt = noon + 1_000,
): StoredAnswer {
  if (task === null) throw new Error('a lookup has no answer')
  const { query, page } = task
  return { call: id, query, page, fetchedAt, ...compressAtOnce(Buffer.from(text)) }
}

/** Fulfilled when so many statements in the database wait for the lock of another transaction. */
export async function waitingForLocks({ sql }: TestJournal, statements = 1): Promise<void> {
  for (;;) {
    const [row] = await sql<{ waiting: number }>(
      `SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    )
    if ((row?.waiting ?? 0) >= statements) return
  }
}

/** Does that inside a transaction that lasts until `during` is over. */
export async function heldOpen<T>(
  { postgres }: TestJournal,
  change: string,
  values: readonly unknown[],
  during: () => Promise<T>,
): Promise<T> {
  return await postgres.transaction(async (statements) => {
    await statements.query(change, values)
    return await during()
  })
}
