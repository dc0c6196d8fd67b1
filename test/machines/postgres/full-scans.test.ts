import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { sharedCalls } from '../../../src/machines/postgres/calls.ts'
import { sharedChunks } from '../../../src/machines/postgres/chunks.ts'
import type { Postgres, Statements } from '../../../src/machines/postgres/connection.ts'
import { sharedPlans } from '../../../src/machines/postgres/plans.ts'
import { sharedSpending } from '../../../src/machines/postgres/spending.ts'
import { dayMs as day } from '../../../src/model/time.ts'
import { hour, noon } from '../../store/build.ts'
import {
  aCall,
  aChunk,
  aJournal,
  aSharedRun,
  coordinator,
  ended,
  expire,
  planned,
  release,
  released,
  type TestJournal,
  theAnswer,
} from './journal.ts'

/** Tables that grow with what is bought. */
const growing: readonly string[] = ['calls', 'answers', 'task_ends', 'spending', 'chunks']
const keyHash = 'key of a long life'

/** As after a long life: twenty runs of fifty chunks, with twenty-five calls each, and nothing that is still open. */
async function fill({ sql }: TestJournal): Promise<void> {
  for (const table of growing) await sql(`ALTER TABLE rankline.${table} SET (autovacuum_enabled = false)`)
  await sql(
    `INSERT INTO rankline.runs (id, key_hash, job, group_id, date, settings, started_at, plan_version, finish_reason)
    SELECT md5('run ' || run)::uuid, $1, 'job ' || run, gen_random_uuid(), '2026-02-28', '{}', $2, 1, 'completed'
    FROM generate_series(1, 20) AS run`,
    ...[keyHash, noon - day],
  )
  await sql(
    `INSERT INTO rankline.chunks (run_id, key_hash, state, added_with, place, priority, tags, encoding, body, queries, most_credits, least_credits)
    SELECT md5('run ' || run)::uuid, $1, 'done', gen_random_uuid(), place, 0, '{}', 'plain', 'body',
      ARRAY(SELECT decode(md5(run || ' ' || place || ' ' || query), 'hex') FROM generate_series(1, 25) AS query), 100, 1
    FROM generate_series(1, 20) AS run, generate_series(1, 50) AS place`,
    keyHash,
  )
  await sql(
    `INSERT INTO rankline.calls (id, run_id, query, page, attempt, chunk_id, fence, key_hash, operation, credits, sent_at, finished_at,
      http_status, outcome, billed, settled_at)
    SELECT gen_random_uuid(), c.run_id, query, 1, 1, c.id, 1, c.key_hash, 'alpha.search', 1, $1::bigint, $1::bigint, 200, 'answered', 1,
      to_timestamp($1::bigint / 1000)
    FROM rankline.chunks c, unnest(c.queries) AS query`,
    noon - day,
  )
  await sql(
    `INSERT INTO rankline.answers (call_id, run_id, query, page, fetched_at, encoding, body)
    SELECT id, run_id, query, page, sent_at, 'plain', 'answer' FROM rankline.calls`,
  )
  await sql(
    'INSERT INTO rankline.task_ends (run_id, query, page, call_id) SELECT run_id, query, page, id FROM rankline.calls',
  )
  await sql(
    `INSERT INTO rankline.spending (chunk_id, quarter, key_hash, run_id, spent)
    SELECT c.id, $1::bigint / 900000 - quarter, c.key_hash, c.run_id, 10
    FROM rankline.chunks c, generate_series(1, 10) AS quarter`,
    noon - day,
  )
  await sql(
    `INSERT INTO rankline.readings (key_hash, asked_at, read_at, record) VALUES ($1, $2, $2, '{}')`,
    ...[keyHash, noon],
  )
}

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly Plans?: readonly PlanNode[]
}

/** More rows of a table than a statement for a chunk has to do with: a table has twenty-five thousand, or some thousand. */
const manyRows = 500

/** Rows of each table that grows which this transaction has read. */
const rowsRead = `
SELECT relname AS table, (seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS rows FROM pg_stat_xact_user_tables
WHERE schemaname = 'rankline' AND relname = ANY ($1)`

/** The same database, which notes each statement that reads the whole of a table; of functions, the plan does not tell. */
function noting(postgres: Postgres, scans: Set<string>): Postgres {
  const over = ({ query }: Statements): Statements['query'] => {
    const counted: Statements['query'] = async (text, values) => {
      const read = async () =>
        new Map(
          (await query<{ table: string; rows: number }>(rowsRead, [growing])).map((one) => [
            one.table,
            one.rows,
          ]),
        )
      const before = await read()
      const rows = await query<never>(text, values)
      for (const [table, count] of await read())
        if (count - (before.get(table) ?? 0) > manyRows) scans.add(`${table}: ${text}`)
      return rows
    }
    const look = async (text: string, values?: readonly unknown[]): Promise<void> => {
      if (!/^\s*(WITH|SELECT|INSERT|UPDATE|DELETE)\b/.test(text)) return
      const [row] = await query<{ 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] }>(
        `EXPLAIN (FORMAT json) ${text}`,
        values,
      )
      const look = ({ 'Node Type': kind, 'Relation Name': table = '', Plans = [] }: PlanNode): void => {
        if (kind === 'Seq Scan' && growing.includes(table)) scans.add(`${table}: ${text}`)
        Plans.forEach(look)
      }
      row?.['QUERY PLAN'].map(({ Plan }) => Plan).forEach(look)
    }
    return async (text, values) => {
      if (/FROM rankline\.\w+\(/.test(text)) return await counted(text, values)
      await look(text, values)
      return await query(text, values)
    }
  }
  return {
    ...postgres,
    query: (text, values) => postgres.transaction((statements) => over(statements)(text, values)),
    transaction: (work, pace) =>
      postgres.transaction((statements) => work({ query: over(statements) }), pace),
  }
}

/** All that coordinators and workers do with the chunks of a run, from the plan to the end of its last asynchronous job. */
async function liveThrough(journal: TestJournal, postgres: Postgres): Promise<void> {
  const chunks = sharedChunks(postgres)
  const calls = sharedCalls(postgres)
  const plans = sharedPlans(postgres)
  const spending = sharedSpending(postgres)
  const worker = randomUUID()
  const texts = (word: string) => Array.from({ length: 25 }, (_, index) => `${word} ${index}`)
  const run = aSharedRun({ keyHash, job: randomUUID() }, { freshnessMs: hour })
  await released({ plans, spending }, run, aChunk(texts('first')), aChunk(texts('second')))
  const [first, second] = await chunks.take(worker, [keyHash], 2, hour)
  if (first === undefined || second === undefined) throw new Error('no chunks')
  const [answered, accepted, lost] = [0, 1, 2].map((query) => aCall(first, { query })) as [
    ReturnType<typeof aCall>,
    ReturnType<typeof aCall>,
    ReturnType<typeof aCall>,
  ]
  const unheard = aCall(second)
  for (const call of [answered, accepted, lost]) await calls.begin(first, call)
  await calls.begin(second, unheard)
  await calls.answer(answered, ended('answered'), theAnswer(answered))
  await calls.acceptJob(accepted, ended('accepted'), 'job')
  await calls.settle(lost, ended('ambiguous'))
  const task = answered.task as NonNullable<typeof answered.task>
  await calls.endTask(first, { task, end: { call: answered.id, reused: false }, paging: null })
  await chunks.renew(worker, [first, second], hour)
  await chunks.end(worker, first, { state: 'planned' })
  await expire(journal, second)
  await chunks.takeBack(10)
  await chunks.hasWork([keyHash])
  await spending.release(coordinator, keyHash, [run.id], 10, async (waiting, standings) => {
    const span = { from: noon, until: noon + day }
    await standings.creditsSent(span)
    await standings.creditsSentByTag(span, [run.job], ['money'])
    await standings.chargedCalls(span)
    await standings.withFreeWork(waiting.map(({ id }) => id))
    return []
  })
  await release({ spending }, run)
  await plans.queriesInWork([run.id])
  await plans.buyAgain(coordinator, run.id, await plans.failedPages(run.id))
  await plans.progress(run.id)
  await plans.close(coordinator, run.id, noon)
  const [again] = await chunks.take(worker, [keyHash], 2, hour)
  if (again === undefined) throw new Error('the job is not polled')
  await calls.endJob(accepted, null, noon)
  await chunks.end(worker, again, { state: 'released' })
  await plans.finish(coordinator, run.id, { reason: 'completed', finishedAt: noon, durationMs: 1 })
  await spending.sumsOf([run.id])
}

test('No statement for a chunk reads the whole of a table, whether its statistics are there or not', async () => {
  const journal = await aJournal()
  await fill(journal)
  const scans = new Set<string>()
  const postgres = noting(journal.postgres, scans)
  await liveThrough(journal, postgres)
  expect([...scans]).toEqual([])
  await journal.sql('ANALYZE')
  await liveThrough(journal, postgres)
  expect([...scans]).toEqual([])
}, 60_000)

/** The same database, which counts the rows of answers that transactions read. */
function countingAnswers(postgres: Postgres, count: (rows: number) => void): Postgres {
  // Of earlier transactions of the same connection, too.
  const rowsSoFar = async (statements: Statements): Promise<number> => {
    const [row] = await statements.query<{ rows: number }>(
      `SELECT seq_tup_read + idx_tup_fetch AS rows FROM pg_stat_xact_user_tables WHERE schemaname = 'rankline' AND relname = 'answers'`,
    )
    return row?.rows ?? Number.NaN
  }
  return {
    ...postgres,
    transaction: (work, pace) =>
      postgres.transaction(async (statements) => {
        const before = await rowsSoFar(statements)
        const result = await work(statements)
        count((await rowsSoFar(statements)) - before)
        return result
      }, pace),
  }
}

test('To release and to take a chunk reads none of the answers that its queries had on earlier days', async () => {
  const journal = await aJournal()
  const chunk = aChunk(Array.from({ length: 25 }, (_, index) => `keyword ${index}`))
  await journal.sql(
    `INSERT INTO rankline.runs (id, key_hash, job, group_id, date, settings, started_at, plan_version, finish_reason)
    SELECT md5('day ' || day)::uuid, $1, 'acme', gen_random_uuid(), '2026-02-28', '{}', $2::bigint - day * 86400000::bigint, 1, 'completed'
    FROM generate_series(1, 1000) AS day`,
    ...[keyHash, noon],
  )
  await journal.sql(
    `INSERT INTO rankline.answers (call_id, run_id, query, page, fetched_at, encoding, body)
    SELECT gen_random_uuid(), r.id, query, 1, r.started_at, 'plain', 'answer'
    FROM rankline.runs r, unnest($1::bytea[]) AS query`,
    chunk.queries.map(({ key }) => key),
  )
  await journal.sql(
    'INSERT INTO rankline.task_ends (run_id, query, page, call_id) SELECT run_id, query, page, call_id FROM rankline.answers',
  )
  await journal.sql('ANALYZE')
  const read: number[] = []
  const postgres = countingAnswers(journal.postgres, (rows) => read.push(rows))
  const run = await planned(journal, aSharedRun({ keyHash }, { freshnessMs: hour }), chunk)
  await sharedSpending(postgres).release(coordinator, keyHash, [run.id], 10, async (waiting, standings) => {
    expect(await standings.withFreeWork(waiting.map(({ id }) => id))).toEqual(new Set())
    return waiting.map(({ id, mostCredits }) => ({ chunk: id, credits: mostCredits }))
  })
  expect(await sharedChunks(postgres).take(randomUUID(), [keyHash], 1, hour)).toHaveLength(1)
  expect(read).toHaveLength(2)
  // The planner looks at the ends of an index.
  for (const rows of read) expect(rows).toBeLessThan(chunk.queries.length)
})
