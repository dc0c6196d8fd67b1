import { randomUUID } from 'node:crypto'
import type { ChunkQuery } from '../src/machines/journal.ts'
import { openPostgres, type Statements } from '../src/machines/postgres/connection.ts'
import { openJournal } from '../src/machines/postgres/open.ts'
import { planQuery } from '../src/run/job-files.ts'
import type { NewSharedCall, SharedRun } from '../src/store/sync.ts'
import { aJob, aJobQuery } from '../test/run/build.ts'
import { testPostgres } from '../test/support/postgres.ts'
import { grouped, machine, median, print } from './print.ts'

/**
 * What a chunk costs in a queue that has bought for long: the same keywords on each of 300 days, and then runs of one chunk each. The
 * database itself makes the rows of the earlier days; bodies of their answers are short.
 *
 * Arguments: calls that the queue has had [3000000], chunks that are taken then [100].
 */
const [calls = 3_000_000, rounds = 100] = process.argv.slice(2).map(Number)

/** Each step of a chunk's life, with the time that it may take in milliseconds, where there is a bound. */
const steps = {
  'release a chunk': null,
  'take it': 5,
  'begin a call': null,
  'store its answer': null,
  'end its lease': null,
  'close the run, with a job under way': null,
} as const
type Step = keyof typeof steps

const days = 300
const perChunk = 50
const dayMs = 86_400_000
const keyHash = 'bench'
const worker = randomUUID()
const coordinator = randomUUID()
const settings = aJob({ name: 'bench', freshnessMs: dayMs / 2 })
const keywords = Array.from({ length: Math.max(perChunk, Math.ceil(calls / days)) }, (_, index) =>
  planQuery(aJobQuery({ text: `keyword ${index + 1} of a benchmark` })),
)

await using server = await testPostgres(['max_wal_size=8GB', 'maintenance_work_mem=256MB'])
const url = await server.database()
await using journal = await openJournal(url)
await fillQueue()
await printSteps()

async function fillQueue(): Promise<void> {
  const began = performance.now()
  await using postgres = await openPostgres(url)
  await postgres.transaction(async (statements) => {
    // Of full tables they are made in a fraction of the time.
    const indexes = await statements.query<{ name: string; made: string }>(
      `SELECT 'rankline.' || indexname AS name, indexdef AS made FROM pg_indexes
      WHERE schemaname = 'rankline' AND to_regclass('rankline.' || indexname) NOT IN (SELECT conindid FROM pg_constraint)`,
    )
    for (const { name } of indexes) await statements.query(`DROP INDEX ${name}`)
    await writeEarlierDays(statements)
    for (const { made } of indexes) await statements.query(made)
    await statements.query('ANALYZE')
  }, 'unhurried')
  const seconds = ((performance.now() - began) / 1000).toFixed(0)
  print(machine())
  print(`${grouped(calls)} calls of ${days} days, written in ${seconds} s\n`)
}

/** Each day is a run of all keywords in chunks that are done; each call brought an answer. */
async function writeEarlierDays(statements: Statements): Promise<void> {
  const now = Date.now()
  await statements.query(
    `CREATE TEMPORARY TABLE days ON COMMIT DROP AS
    SELECT day, gen_random_uuid() AS run, $1::bigint - ($2 + 1 - day) * $3::bigint AS at FROM generate_series(1, $2::int) AS day`,
    [now, days, dayMs],
  )
  await statements.query(
    `CREATE TEMPORARY TABLE made ON COMMIT DROP AS
    SELECT gen_random_uuid() AS call, d.run, d.at, k.query, 1 + (d.day - 1) * $3::bigint + (k.place - 1) / $4 AS chunk
    FROM days d CROSS JOIN unnest($1::bytea[]) WITH ORDINALITY AS k(query, place) ORDER BY d.day, k.place LIMIT $2`,
    [keywords.map(({ key }) => key), calls, Math.ceil(keywords.length / perChunk), perChunk],
  )
  await statements.query(
    `INSERT INTO rankline.runs (id, key_hash, job, group_id, date, settings, started_at, plan_version, finished_at, finish_reason, closed_at)
    SELECT run, $1, 'bench', gen_random_uuid(), to_timestamp(at / 1000)::date::text, $2, at, 1, at + 600000, 'completed', at + $3::bigint FROM days`,
    [keyHash, JSON.stringify(settings), dayMs],
  )
  await statements.query(
    `INSERT INTO rankline.chunks (run_id, key_hash, state, added_with, place, priority, tags, encoding, body, queries, most_credits,
      least_credits, granted, spent, fence)
    SELECT run, $1, 'done', run, chunk, 0, '{}', 'plain', ''::bytea, array_agg(query), count(*), 1, count(*), count(*), 1
    FROM made GROUP BY run, chunk ORDER BY chunk`,
    [keyHash],
  )
  await statements.query(
    `INSERT INTO rankline.spending (chunk_id, quarter, key_hash, run_id, spent)
    SELECT chunk, at / 900000, $1, run, count(*) FROM made GROUP BY chunk, at, run`,
    [keyHash],
  )
  await statements.query(
    `INSERT INTO rankline.calls (id, run_id, query, page, attempt, chunk_id, fence, worker, key_hash, operation, credits, sent_at, finished_at,
      http_status, outcome, billed, latency_ms, settled_at)
    SELECT call, run, query, 1, 1, chunk, 1, $2, $1, 'alpha.search', 1, at, at + 300, 200, 'answered', 1, 300, to_timestamp(at / 1000)
    FROM made`,
    [keyHash, worker],
  )
  await statements.query(
    `INSERT INTO rankline.answers (call_id, run_id, query, page, fetched_at, encoding, body)
    SELECT call, run, query, 1, at + 300, 'plain', ''::bytea FROM made`,
  )
  await statements.query(
    `INSERT INTO rankline.task_ends (run_id, query, page, call_id) SELECT run, query, 1, call FROM made`,
  )
}

async function printSteps(): Promise<void> {
  const times = Object.fromEntries(Object.keys(steps).map((step) => [step, []])) as unknown as Record<
    Step,
    number[]
  >
  const timed = async <T>(step: Step, work: () => Promise<T>): Promise<T> => {
    const began = performance.now()
    const result = await work()
    times[step].push(performance.now() - began)
    return result
  }
  const name = { id: coordinator, name: 'bench', leaseMs: dayMs }
  await journal.plans.coordinate([{ keyHash, job: 'bench' }], name)
  await journal.calls.saveUsage({
    ...{ run: null, keyHash, askedAt: Date.now(), readAt: Date.now(), remaining: null, totalUsed: null },
    record: '{}',
  })
  for (let round = 0; round < rounds; round++) await liveOfChunk(round, timed)
  print('| | median ms | longest ms | at most, ms |\n| --- | --: | --: | --: |')
  for (const [step, bound] of Object.entries(steps))
    print(
      `| ${step} | ${median(times[step as Step]).toFixed(1)} | ${Math.max(...times[step as Step]).toFixed(1)} | ${bound ?? '–'} |`,
    )
}

/** A run of one chunk, of which one page is bought and another one is an asynchronous job when it is closed. */
async function liveOfChunk(
  round: number,
  timed: <T>(step: Step, work: () => Promise<T>) => Promise<T>,
): Promise<void> {
  const { plans, spending, chunks, calls: ledger } = journal
  const run: SharedRun = {
    ...{ id: randomUUID(), groupId: randomUUID(), keyHash, job: 'bench', settings },
    ...{ date: new Date().toISOString().slice(0, 10), startedAt: Date.now() },
  }
  const queries = Array.from({ length: perChunk }, (_, index): ChunkQuery => {
    const query = keywords[(round * perChunk + index) % keywords.length] as (typeof keywords)[number]
    return { ...query, history: [] }
  })
  const wanted = { priority: 0, tags: [], queries, mostCredits: perChunk, leastCredits: 1 }
  await plans.publish(coordinator, run, async function* () {
    yield { queries, leftOut: [] }
  })
  await plans.addChunks(coordinator, run.id, { id: randomUUID(), chunks: [wanted] })
  await timed('release a chunk', () =>
    spending.release(coordinator, keyHash, [run.id], 1, async (waiting, standings) => {
      await standings.creditsSent({ from: Date.now() - 30 * dayMs, until: Date.now() + dayMs })
      return waiting.map(({ id, mostCredits }) => ({ chunk: id, credits: mostCredits }))
    }),
  )
  const [lease] = await timed('take it', () => chunks.take(worker, [keyHash], 1, 60_000))
  if (lease === undefined) throw new Error('the released chunk was not there to be taken')
  const [page, job] = queries.map(
    ({ key }): NewSharedCall => ({
      ...{ id: randomUUID(), operation: 'alpha.search', credits: 1, sentAt: Date.now(), keyHash },
      task: { run: run.id, query: key, page: 1 },
    }),
  ) as [NewSharedCall, NewSharedCall]
  const settlement = { finishedAt: Date.now(), latencyMs: 300, error: null }
  await timed('begin a call', () => ledger.begin(lease, page))
  await timed('store its answer', () =>
    ledger.answer(
      page,
      { ...settlement, outcome: 'answered', httpStatus: 200, billed: 1 },
      {
        ...{ call: page.id, query: (queries[0] as ChunkQuery).key, page: 1, fetchedAt: Date.now() },
        ...{ encoding: 'plain', body: Buffer.alloc(2_000) },
      },
    ),
  )
  await ledger.begin(lease, job)
  await ledger.acceptJob(job, { ...settlement, outcome: 'accepted', httpStatus: 202, billed: 0 }, 'job')
  await timed('end its lease', () => chunks.end(worker, lease, { state: 'done' }))
  await timed('close the run, with a job under way', () => plans.close(coordinator, run.id, Date.now()))
  const [again] = await chunks.take(worker, [keyHash], 1, 60_000)
  if (again === undefined) throw new Error('the chunk of the job was not there to be taken')
  await ledger.endJob(job, 0, Date.now())
  await chunks.end(worker, again, { state: 'done' })
}
