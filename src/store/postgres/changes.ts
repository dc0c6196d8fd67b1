import type { Outcome } from '../../model/call.ts'
import type { FinishReason } from '../../model/run.ts'
import type { UsageReading } from '../ledger.ts'
import type { SharedCall } from '../shared/calls.ts'
import {
  type ChangeBatch,
  type JournalChange,
  type JournalPosition,
  JournalWentBack,
  type SharedChanges,
} from '../shared/changes.ts'
import type { PlanPart } from '../shared/plans.ts'
import type { Postgres, Statements } from './connection.ts'
import { epochMs } from './expressions.ts'
import { unpack } from './packing.ts'
import { type AnswerRow, answerFromRow, type EndRow, endFromRow, type RunRow, runFromRow } from './rows.ts'

/** The journal for readers, in Postgres. */
export function sharedChanges(postgres: Postgres): SharedChanges {
  return {
    identity: async () => {
      const [row] = await postgres.query<{ journal: string }>('SELECT journal FROM rankline.version')
      return row?.journal as string
    },
    after: (position, mostRows) =>
      postgres.transaction((statements) => changesAfter(statements, position, mostRows)),
    plan: (run, version) => planOf(postgres, run, version),
    reached: async ({ id, name }, position) => {
      await postgres.query(
        `INSERT INTO rankline.readers VALUES ($1, $2, $3::xid8, clock_timestamp())
        ON CONFLICT (id) DO UPDATE SET name = excluded.name, position = excluded.position, seen_at = excluded.seen_at`,
        [id, name, position],
      )
    },
    dropRead: async (keepMs, forgetAfterMs) => {
      const rows = await postgres.query<object>(dropBodies, [forgetAfterMs, keepMs])
      return rows.length
    },
  }
}

/**
 * Reads whole transactions: from the position on, up to the oldest one that is still under way. The transaction reads one snapshot, for
 * it is REPEATABLE READ.
 */
async function changesAfter(
  statements: Statements,
  position: JournalPosition | null,
  mostRows: number,
): Promise<ChangeBatch> {
  await statements.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY')
  const from = position ?? '0'
  const [bound] = await statements.query<{ upper: string; until: string | null }>(nextTransactions, [
    from,
    mostRows,
  ])
  if (bound !== undefined && BigInt(bound.upper) < BigInt(from))
    throw new JournalWentBack('the queue is in an older state than this database has read')
  const upper = bound?.upper ?? from
  const until = bound?.until ?? upper
  const span = [from, until]
  const [events, readings, calls, answers, ends] = [
    await statements.query<RunEvent>(runEvents, span),
    await statements.query<ChangedReading>(changedReadings, span),
    await statements.query<ChangedCall>(changedCalls, span),
    await statements.query<ChangedAnswer>(changedAnswers, span),
    await statements.query<EndRow & Changed>(changedEnds, span),
  ]
  return {
    changes: [
      ...events.flatMap(planChange),
      ...readings.map(readingChange),
      ...calls.map(callChange),
      ...answers.map(
        (row): JournalChange => ({ kind: 'answer', run: row.run_id, answer: answerFromRow(row) }),
      ),
      ...inOrder(events, ends),
    ],
    position: until,
    more: bound?.until != null,
  }
}

/** `until` is null where all that is there fits: it is the transaction before which the rows of a batch lie. */
const nextTransactions = `
WITH now AS (SELECT pg_snapshot_xmin(pg_current_snapshot()) AS upper), last AS (
  SELECT changed FROM (${fromEach('changed >= $1::xid8 AND changed < upper ORDER BY 1 LIMIT $2')}) changes
  ORDER BY 1 OFFSET $2 - 1 LIMIT 1
)
SELECT upper, (SELECT later.changed FROM (
  ${fromEach('changed > (SELECT changed FROM last) AND changed < upper ORDER BY 1 LIMIT 1')}
) later ORDER BY 1 LIMIT 1) AS until FROM now`

/** Transactions of the rows of each table that readers take. */
function fromEach(condition: string): string {
  return ['run_events', 'readings', 'calls', 'answers', 'task_ends']
    .map((table) => `(SELECT changed FROM rankline.${table}, now WHERE ${condition})`)
    .join(' UNION ALL ')
}

const inSpan = 'changed >= $1::xid8 AND changed < $2::xid8'

/** The transaction that wrote a row. */
interface Changed {
  readonly changed: string
}

type RunEvent = RunRow &
  Changed & {
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
  return row.kind === 'published' ? [{ kind: 'plan', run: runFromRow(row), version: row.plan_version }] : []
}

function endChange(row: RunEvent): readonly JournalChange[] {
  const { id: run, kind, plan_version: version, at, duration_ms: durationMs, finish_reason: reason } = row
  if (kind === 'closed') return [{ kind: 'run-closed', run, at }]
  if (kind === 'finished')
    return [{ kind: 'run-end', run, version, end: { reason, finishedAt: at, durationMs } }]
  return []
}

/** Ends of runs and of their tasks as they came: a run that goes on after its end has more of them. */
function inOrder(events: readonly RunEvent[], ends: readonly (EndRow & Changed)[]): readonly JournalChange[] {
  const found = [
    ...ends.map((row) => ({
      changed: row.changed,
      changes: [{ kind: 'task-end', ended: endFromRow(row) }] as const,
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

interface ChangedCall {
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
}

/** A call in flight, and one whose asynchronous job is not over, comes when it is. */
const changedCalls = `
SELECT * FROM rankline.calls WHERE ${inSpan} AND outcome IS NOT NULL AND job_over IS NOT FALSE ORDER BY changed, sent_at, id`

function callChange(row: ChangedCall): JournalChange {
  const { run_id, query, page } = row
  const call: SharedCall = {
    id: row.id,
    task: run_id === null || query === null || page === null ? null : { run: run_id, query, page },
    ...{ operation: row.operation, credits: row.credits, sentAt: row.sent_at, keyHash: row.key_hash },
    settlement: {
      ...{ outcome: row.outcome, httpStatus: row.http_status, billed: row.billed, error: row.error },
      ...{ finishedAt: row.finished_at, latencyMs: row.latency_ms ?? 0 },
    },
  }
  return { kind: 'call', call }
}

type ChangedAnswer = AnswerRow & { readonly run_id: string }

const changedAnswers = `SELECT * FROM rankline.answers WHERE ${inSpan} AND body IS NOT NULL ORDER BY changed, fetched_at, call_id`

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

/** Without any reader, nothing is dropped. */
const dropBodies = `
UPDATE rankline.answers SET body = NULL
WHERE body IS NOT NULL AND fetched_at < ${epochMs('clock_timestamp()')} - $2::double precision
  AND changed < (SELECT position FROM rankline.readers
    WHERE seen_at > clock_timestamp() - $1 * interval '1 millisecond' ORDER BY 1 LIMIT 1)
RETURNING call_id`
