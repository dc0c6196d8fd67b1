import type { Outcome } from '../../model/call.ts'
import type { FinishReason } from '../../model/run.ts'
import { dayMs } from '../../model/time.ts'
import type { UsageReading } from '../../store/journal.ts'
import type { FinishStep, JournalPosition, SharedCall } from '../../store/sync.ts'
import {
  type BlockingTransaction,
  type ChangeBatch,
  type JournalChange,
  JournalWentBack,
  type PlanPart,
  readPosition,
} from '../journal.ts'
import { putBack } from './calls.ts'
import type { Postgres, Statements } from './connection.ts'
import { planChanges } from './plans.ts'
import { fromRow, sql, unpack } from './rows.ts'

/** The journal for those who read it, in Postgres. */
export function sharedChanges(postgres: Postgres) {
  let known: Awaited<ReturnType<typeof rightsOf>> | null = null
  const rights = async () => {
    known ??= await rightsOf(postgres)
    return known
  }
  return {
    /** Names this journal, unlike all others. */
    identity: async (): Promise<string> => {
      const [row] = await postgres.query<{ journal: string }>('SELECT journal FROM rankline.version')
      return row?.journal as string
    },
    /** What was committed after a position (null for the beginning) and the reader lacks, so much of it at most. Skips nothing that a slow transaction commits later. Rejected with `JournalWentBack`. */
    after: (position: JournalPosition | null, mostRows: number, reader?: string): Promise<ChangeBatch> =>
      postgres.transaction((statements) => changesAfter(statements, position, mostRows, reader)),
    /** The parts of that version of the plan of a run, in order. */
    plan: (run: string, version: number) => planOf(postgres, run, version),
    /** Whether this user may note in the journal how far a reader is. */
    isNoted: async (): Promise<boolean> => (await rights()).mayNote,
    /**
     * Notes how far a reader is, and the number of the last change that it read: what all readers have may be dropped. Without the right to do
     * so, nothing is noted.
     *
     * The name of a reader is for people: host and path.
     */
    reached: async (
      { id, name }: { readonly id: string; readonly name: string },
      position: JournalPosition,
      lastChange: number,
    ): Promise<void> => {
      if (!(await rights()).mayNote) return
      const { timeline: read, transaction } = readPosition(position)
      await postgres.query(
        // A note of what was read from a server that is gone would pass for one that the failover has kept.
        `INSERT INTO rankline.readers (id, name, position, seen_at, changes_read)
        SELECT $1, $2, $3::xid8, clock_timestamp(), $4 WHERE coalesce($5::integer, ${sql.timeline}) = ${sql.timeline}
        ON CONFLICT (id) DO UPDATE SET name = excluded.name, position = excluded.position, seen_at = excluded.seen_at,
          changes_read = excluded.changes_read`,
        [id, name, String(transaction), lastChange, read],
      )
    },
    /** Writes what a reader has read into the journal again, as far as it lacks it, and as this user has the right to do so. */
    putBack: async (lost: Parameters<typeof putBack>[1]): Promise<void> => {
      if ((await rights()).mayPutBack) await postgres.transaction((statements) => putBack(statements, lost))
    },
    /** The same for ends of runs. A run that has a newer plan, or whose place a later one took, is left as it is. */
    putBackEnds: async (ends: readonly FinishStep[]): Promise<void> => {
      if (ends.length > 0 && (await rights()).mayPutBack)
        await postgres.transaction((statements) => planChanges.putBackEnds(statements, ends))
    },
    /**
     * Where this user has the right to do so, drops what is older than `keepMs` and all readers have; readers that were not seen for `forgetAfterMs` do
     * not count. How many bodies and rows were dropped.
     */
    dropRead: async (keepMs: number, forgetAfterMs: number): Promise<number> => {
      if (!(await rights()).mayDrop) return 0
      return await dropRead(postgres, keepMs, forgetAfterMs)
    },
  }
}

/** What a user may do who reads the journal. Who may read only, reads all the same. */
async function rightsOf(postgres: Postgres) {
  const [rights] = await postgres.query<{ mayNote: boolean; mayPutBack: boolean; mayDrop: boolean }>(
    rightsOfReader,
  )
  return {
    mayNote: rights?.mayNote === true,
    mayPutBack: rights?.mayPutBack === true,
    mayDrop: rights?.mayDrop === true,
  }
}

const rightsOfReader = `
SELECT has_table_privilege('rankline.readers', 'INSERT') AND has_table_privilege('rankline.readers', 'UPDATE') AS "mayNote",
  has_table_privilege('rankline.calls', 'INSERT') AND has_table_privilege('rankline.chunks', 'INSERT')
    AND has_table_privilege('rankline.runs', 'UPDATE') AS "mayPutBack",
  has_table_privilege('rankline.answers', 'UPDATE') AND has_table_privilege('rankline.answers', 'DELETE') AS "mayDrop"`

/**
 * Reads whole transactions: from the position on, up to the oldest one under way that may change the journal. The transaction reads one
 * snapshot, for it is REPEATABLE READ.
 */
async function changesAfter(
  statements: Statements,
  position: JournalPosition | null,
  mostRows: number,
  reader: string | undefined,
): Promise<ChangeBatch> {
  await statements.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY')
  const now = await stateOf(statements)
  const positionAt = (transaction: string): JournalPosition => `${now.timeline}/${transaction}`
  const at = readPosition(position ?? positionAt('0'))
  const wentBack = new JournalWentBack('the queue is in an older state than this database has read')
  if (at.timeline !== null && at.timeline > now.timeline) throw wentBack
  let kept: ChangeBatch['kept'] = null
  if (at.timeline !== null && at.timeline < now.timeline) {
    const [own] = await statements.query<{ position: string; read: number }>(
      'SELECT position, changes_read AS read FROM rankline.readers WHERE id = $1',
      [reader],
    )
    const noted = own?.position ?? '0'
    kept = { lastChange: own?.read ?? 0 }
    if (BigInt(noted) < at.transaction)
      return {
        changes: [],
        position: positionAt(noted),
        more: true,
        unread: null,
        kept,
        failovers: now.failovers,
        isIncomplete: false,
      }
  }
  const { upper: readable, newest } = await readableUntil(statements, now)
  if (BigInt(newest) < at.transaction) throw wentBack
  // One that was foreign before, and comes to its end just now, counts: all until the position was read all the same.
  const upper = BigInt(readable) < at.transaction ? String(at.transaction) : readable
  const from = String(at.transaction)
  const [next] = await statements.query<{ until: string | null }>(nextTransactions, [from, mostRows, upper])
  const until = next?.until ?? (await behindLastChange(statements, from, upper))
  const span = [from, until]
  const [events, readings, calls, answers, ends] = [
    await statements.query<RunEvent>(runEvents, span),
    await statements.query<ChangedReading>(changedReadings, span),
    await statements.query<Parameters<typeof callChange>[0]>(changedCalls, span),
    await statements.query<ChangedAnswer>(changedAnswers, span),
    await statements.query<ChangedEnd>(changedEnds, span),
  ]
  return {
    changes: [
      ...events.flatMap(planChange),
      ...readings.map(readingChange),
      ...calls.map(callChange),
      ...answers.map(
        (row): JournalChange => ({ kind: 'answer', run: row.run_id, answer: fromRow.answer(row) }),
      ),
      ...inOrder(events, ends),
    ],
    position: positionAt(until),
    more: next?.until != null,
    unread: await unreadFrom(statements, positionAt(upper), positionAt(newest)),
    kept,
    failovers: now.failovers,
    isIncomplete: at.transaction > 0n && at.transaction < BigInt(now.dropped),
  }
}

/** The first timeline that was noticed is that of the server at the beginning. A standby writes no log. */
async function stateOf(statements: Statements) {
  const [state] = await statements.query<{
    /** The first transaction that had not begun. */
    readonly newest: string
    readonly underWay: readonly string[]
    readonly timeline: number
    readonly failovers: readonly number[]
    /** The transaction before which what was read by all was dropped. */
    readonly dropped: string
  }>(
    `SELECT pg_snapshot_xmax(s) AS newest, ARRAY(SELECT pg_snapshot_xip(s))::text[] AS "underWay",
      CASE WHEN pg_is_in_recovery() THEN (SELECT max(timeline) FROM rankline.timelines) ELSE ${sql.timeline} END AS timeline,
      ARRAY(SELECT ${sql.epochMs('since')}::double precision FROM rankline.timelines ORDER BY timeline OFFSET 1) AS failovers,
      coalesce((SELECT until FROM rankline.dropped ORDER BY until DESC LIMIT 1), '0') AS dropped
    FROM pg_current_snapshot() s`,
  )
  return state as NonNullable<typeof state>
}

/**
 * The transaction before which no more changes of the journal can come, and the first one that had not begun. The oldest one under way on
 * the server may be anybody's, in any database, for hours: only those count that may have changed the journal.
 *
 * A transaction of ours has its number only after it locked a table of the journal to write there, and keeps lock and number to its
 * end. So one that was under way in the snapshot, holds no such lock later, and is still under way after that was looked at, is foreign. One
 * that came to its end meanwhile may have released its lock already: it counts, and will be over in the next snapshot.
 */
async function readableUntil(
  statements: Statements,
  { newest, underWay }: { readonly newest: string; readonly underWay: readonly string[] },
): Promise<{ readonly upper: string; readonly newest: string }> {
  if (underWay.length === 0) return { upper: newest, newest }
  const withoutLock = await statements.query<{ id: string }>(transactionsWithoutLock, [underWay])
  const foreign = await statements.query<{ id: string }>(stillUnderWay, [withoutLock.map(({ id }) => id)])
  const passed = new Set(foreign.map(({ id }) => id))
  const upper = underWay
    .filter((id) => !passed.has(id))
    .reduce((least, id) => (BigInt(id) < BigInt(least) ? id : least), newest)
  return { upper, newest }
}

/** Those that hold a lock to read may not write later under a number that they have already: whoever writes locks first. */
const transactionsWithoutLock = `
WITH locks AS MATERIALIZED (SELECT * FROM pg_locks)
SELECT t.id FROM unnest($1::text[]) AS t(id)
JOIN locks own ON own.locktype = 'transactionid' AND own.mode = 'ExclusiveLock' AND own.granted AND own.transactionid = t.id::xid8::xid
WHERE NOT EXISTS (
  SELECT 1 FROM locks l JOIN pg_class c ON c.oid = l.relation AND c.relnamespace = 'rankline'::regnamespace
  WHERE l.virtualtransaction = own.virtualtransaction AND l.locktype = 'relation' AND l.mode <> 'AccessShareLock'
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()))`

const stillUnderWay = `SELECT id FROM unnest($1::text[]) AS t(id) WHERE pg_xact_status(id::xid8) = 'in progress'`

async function unreadFrom(
  statements: Statements,
  from: JournalPosition,
  until: JournalPosition,
): Promise<ChangeBatch['unread']> {
  if (from === until) return null
  const id = String(readPosition(from).transaction)
  const kept = await statements.query<object>(
    `SELECT 1 FROM (${fromEach('changed >= $1::xid8 LIMIT 1')}) changes LIMIT 1`,
    [id],
  )
  if (kept.length === 0) return null
  const [blocker] = await statements.query<BlockingTransaction>(describeTransaction, [id])
  return { from, until, blockedBy: blocker as BlockingTransaction }
}

/** The transaction that keeps changes from being read now; null where none does. */
export async function blockedNow(statements: Statements): Promise<BlockingTransaction | null> {
  const { upper, newest } = await readableUntil(statements, await stateOf(statements))
  return (await unreadFrom(statements, upper, newest))?.blockedBy ?? null
}

/** What is told of others depends on the rights of the user: often neither since when they run, nor what. */
const describeTransaction = `
SELECT t.id, a.pid, p.gid AS prepared, a.application_name AS application, coalesce(a.usename, p.owner) AS user,
  coalesce(a.datname, p.database) AS database, ${sql.epochMs('coalesce(a.xact_start, p.prepared)')}::bigint AS since
FROM (SELECT $1::text AS id) t
LEFT JOIN pg_locks l ON l.locktype = 'transactionid' AND l.mode = 'ExclusiveLock' AND l.granted AND l.transactionid = t.id::xid8::xid
LEFT JOIN pg_stat_activity a ON a.pid = l.pid
LEFT JOIN pg_prepared_xacts p ON p.transaction = l.transactionid
LIMIT 1`

/** `until` is null where all that is there fits: it is the transaction before which the rows of a batch lie. */
const nextTransactions = `
WITH last AS (
  SELECT changed FROM (${fromEach('changed >= $1::xid8 AND changed < $3::xid8 ORDER BY 1 LIMIT $2')}) changes
  ORDER BY 1 OFFSET $2 - 1 LIMIT 1
)
SELECT (SELECT later.changed FROM (
  ${fromEach('changed > (SELECT changed FROM last) AND changed < $3::xid8 ORDER BY 1 LIMIT 1')}
) later ORDER BY 1 LIMIT 1) AS until`

/**
 * The end of what is there between two transactions. A position lies behind a change, which is durable: numbers of transactions that changed
 * nothing may be given out again after a crash, and what is written under them then would be missed.
 */
async function behindLastChange(statements: Statements, from: string, upper: string): Promise<string> {
  const [last] = await statements.query<{ changed: string }>(lastTransaction, [from, upper])
  return last === undefined ? from : String(BigInt(last.changed) + 1n)
}

const lastTransaction = `
SELECT changed FROM (${fromEach('changed >= $1::xid8 AND changed < $2::xid8 ORDER BY 1 DESC LIMIT 1')}) changes
ORDER BY 1 DESC LIMIT 1`

/** Transactions of the rows of each table that readers take. */
function fromEach(condition: string): string {
  return ['run_events', 'readings', 'calls', 'answers', 'task_ends']
    .map((table) => {
      // A call that is in flight is nothing to read.
      const ended = table === 'calls' ? 'outcome IS NOT NULL AND ' : ''
      return `(SELECT changed FROM rankline.${table} WHERE ${ended}${condition})`
    })
    .join(' UNION ALL ')
}

const inSpan = 'changed >= $1::xid8 AND changed < $2::xid8'

type RunEvent = Parameters<typeof fromRow.run>[0] & {
  /** The transaction that wrote it. */
  readonly changed: string
  readonly kind: 'published' | 'finished' | 'closed'
  readonly plan_version: number
  readonly at: number
  readonly duration_ms: number | null
  readonly finish_reason: FinishReason
}

const runEvents = `
SELECT r.id, r.key_hash, r.job, r.group_id, r.date, r.settings, r.started_at,
  e.kind, e.plan_version, e.at, e.duration_ms, e.finish_reason, e.changed
FROM rankline.run_events e JOIN rankline.runs r ON r.id = e.run_id
WHERE e.changed >= $1::xid8 AND e.changed < $2::xid8 ORDER BY e.changed, e.id`

function planChange(row: RunEvent): readonly JournalChange[] {
  return row.kind === 'published' ? [{ kind: 'plan', run: fromRow.run(row), version: row.plan_version }] : []
}

function endChange(row: RunEvent): readonly JournalChange[] {
  const { id: run, kind, plan_version: version, at, duration_ms: durationMs, finish_reason: reason } = row
  if (kind === 'closed') return [{ kind: 'run-closed', run, at }]
  if (kind === 'finished')
    return [{ kind: 'run-end', run, version, end: { reason, finishedAt: at, durationMs } }]
  return []
}

/** Ends of runs and of their tasks as they came: a run that goes on after its end has more of them. */
function inOrder(events: readonly RunEvent[], ends: readonly ChangedEnd[]): readonly JournalChange[] {
  const found = [
    ...ends.map((row) => ({
      changed: row.changed,
      changes: [{ kind: 'task-end', ended: fromRow.end(row) }] as const,
    })),
    ...events.map((row) => ({ changed: row.changed, changes: endChange(row) })),
  ]
  const byTransaction = found.sort((a, b) => Number(BigInt(a.changed) - BigInt(b.changed)))
  return byTransaction.flatMap(({ changes }) => changes)
}

type ChangedReading = Omit<UsageReading, 'runId'> & { readonly run: string | null }

const changedReadings = `
SELECT run_id AS run, key_hash AS "keyHash", asked_at AS "askedAt", read_at AS "readAt", remaining, total_used AS "totalUsed", record
FROM rankline.readings WHERE ${inSpan} ORDER BY changed, id`

function readingChange({ run, ...reading }: ChangedReading): JournalChange {
  return { kind: 'reading', reading, run }
}

/** A call in flight, and one whose asynchronous job is not over, comes when it is. */
const changedCalls = `
SELECT * FROM rankline.calls WHERE ${inSpan} AND outcome IS NOT NULL AND job_over IS NOT FALSE ORDER BY changed, sent_at, id`

function callChange(row: {
  readonly id: string
  readonly run_id: string | null
  readonly query: Buffer | null
  readonly page: number | null
  readonly key_hash: string
  readonly operation: string
  readonly credits: number
  readonly sent_at: number
  readonly finished_at: number
  readonly http_status: number | null
  readonly outcome: Outcome
  readonly billed: 0 | 1 | null
  readonly latency_ms: number | null
  readonly error: string | null
}): JournalChange {
  const { run_id, query, page } = row
  const call: SharedCall = {
    id: row.id,
    task: run_id === null || query === null || page === null ? null : { run: run_id, query, page },
    operation: row.operation,
    credits: row.credits,
    sentAt: row.sent_at,
    keyHash: row.key_hash,
    settlement: {
      outcome: row.outcome,
      httpStatus: row.http_status,
      billed: row.billed,
      error: row.error,
      finishedAt: row.finished_at,
      latencyMs: row.latency_ms ?? 0,
    },
  }
  return { kind: 'call', call }
}

type ChangedAnswer = Parameters<typeof fromRow.answer>[0] & { readonly run_id: string }

const changedAnswers = `SELECT * FROM rankline.answers WHERE ${inSpan} AND body IS NOT NULL ORDER BY changed, fetched_at, call_id`

type ChangedEnd = Parameters<typeof fromRow.end>[0] & { readonly changed: string }

const changedEnds = `SELECT * FROM rankline.task_ends WHERE ${inSpan} ORDER BY changed, number`

async function* planOf(postgres: Postgres, run: string, version: number): AsyncIterable<PlanPart> {
  for (let part = 1; ; part++) {
    const [row] = await postgres.query<{ encoding: string; body: Buffer }>(
      'SELECT encoding, body FROM rankline.plan_parts WHERE run_id = $1 AND version = $2 AND part = $3',
      [run, version, part],
    )
    if (row === undefined) return
    yield unpack<PlanPart>(row)
  }
}

/** Rows that are dropped with one statement: none holds its locks for long. */
const rowsAtOnce = 5_000
/** What was bought in the current month counts for quotas call by call: it stays for so long, whatever else is said. */
const countedMs = 40 * dayMs

/**
 * Drops what all readers have, and what is old: bodies of answers, and of runs that ended everything but their sums. Chunks keep their credits,
 * tags and spending, so that limits of days and months, of runs and of tags stand as before; calls are counted for quotas. Rows are deleted in
 * blocks, by the transaction that wrote them: tables in parts by month would have to be written anew, and a run may lie in two of them.
 * Answers how many bodies and rows there were.
 */
async function dropRead(postgres: Postgres, keepMs: number, forgetAfterMs: number): Promise<number> {
  const bodies = await postgres.query<object>(dropBodies, [forgetAfterMs, keepMs])
  const oldMs = Math.max(keepMs, countedMs)
  const [bound] = await postgres.query<{ until: string }>(droppedUntil, [forgetAfterMs, oldMs])
  const until = bound?.until ?? null
  if (until === null) return bodies.length
  let dropped = bodies.length
  for (const statement of [dropRows('answers'), dropRows('task_ends'), dropCalls])
    for (let more = true; more; ) {
      const [block] = await postgres.query<{ rows: number }>(statement, [until, oldMs, rowsAtOnce])
      const rows = block?.rows ?? 0
      dropped += rows
      more = rows === rowsAtOnce
    }
  await postgres.query(dropPlans, [until, oldMs])
  return dropped
}

/** Without any reader, nothing is dropped. */
const oldestReader = `(SELECT position FROM rankline.readers
  WHERE seen_at > clock_timestamp() - $1::double precision * interval '1 millisecond' ORDER BY 1 LIMIT 1)`

const dropBodies = `
UPDATE rankline.answers SET body = NULL
WHERE body IS NOT NULL AND fetched_at < ${sql.epochMs('clock_timestamp()')} - $2::double precision AND changed < ${oldestReader}
RETURNING call_id`

const oldEnough = `(${sql.epochMs('clock_timestamp()')} - $2::double precision)::bigint`

/** What all readers have, and at most what lies before the end of the newest run that is old; null where nothing does. */
const droppedUntil = `
SELECT least(${oldestReader}, (e.changed::text::numeric + 1)::text::xid8) AS until FROM rankline.run_events e
WHERE e.at < ${oldEnough} AND ${oldestReader} IS NOT NULL ORDER BY e.changed DESC LIMIT 1`

/** A run that ended long ago, and that nobody polls for. */
const isOld = `(r.finish_reason IS NOT NULL OR r.closed_at IS NOT NULL) AND coalesce(r.closed_at, r.finished_at) < ${oldEnough}
  AND NOT EXISTS (SELECT 1 FROM rankline.chunks c WHERE c.run_id = r.id AND c.state IN ('planned', 'released', 'leased'))`

const dropRows = (table: 'answers' | 'task_ends'): string => `
WITH old AS (
  SELECT t.ctid FROM rankline.${table} t JOIN rankline.runs r ON r.id = t.run_id
  WHERE t.changed < $1::xid8 AND ${isOld} ORDER BY t.changed LIMIT $3
), gone AS (
  DELETE FROM rankline.${table} t USING old WHERE t.ctid = old.ctid RETURNING 1
)
SELECT count(*)::int AS rows FROM gone`

/** Free lookups of no run go by their own age. */
const dropCalls = `
WITH old AS (
  SELECT t.ctid FROM rankline.calls t LEFT JOIN rankline.runs r ON r.id = t.run_id
  WHERE t.changed < $1::xid8 AND t.outcome IS NOT NULL AND t.job_over IS NOT FALSE
    AND (${isOld} OR (t.run_id IS NULL AND t.sent_at < ${oldEnough}))
  ORDER BY t.changed LIMIT $3
), gone AS (
  DELETE FROM rankline.calls t USING old WHERE t.ctid = old.ctid RETURNING t.key_hash, t.credits, t.billed
), counted AS (
  INSERT INTO rankline.dropped AS d (key_hash, until, charged)
  SELECT key_hash, $1::xid8, count(*) FILTER (WHERE credits > 0 AND billed IS DISTINCT FROM 0) FROM gone GROUP BY 1
  ON CONFLICT (key_hash) DO UPDATE SET until = greatest(d.until, excluded.until), charged = d.charged + excluded.charged
)
SELECT count(*)::int AS rows FROM gone`

/** Its plan, and what happened to it: a database that comes later does not hear of it. */
const dropPlans = `
WITH gone AS (
  UPDATE rankline.runs r SET dropped_at = clock_timestamp()
  WHERE r.dropped_at IS NULL AND ${isOld}
    AND NOT EXISTS (SELECT 1 FROM rankline.run_events e WHERE e.run_id = r.id AND e.changed >= $1::xid8)
  RETURNING r.id
), parts AS (
  DELETE FROM rankline.plan_parts p USING gone WHERE p.run_id = gone.id
), events AS (
  DELETE FROM rankline.run_events e USING gone WHERE e.run_id = gone.id
)
UPDATE rankline.chunks c SET encoding = '', body = '', queries = '{}' FROM gone WHERE c.run_id = gone.id AND c.state <> 'dead'`
