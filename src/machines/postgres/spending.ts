import { settlingMs } from '../../model/call.ts'
import { agreeingMs, type TimeSpan } from '../../model/time.ts'
import type { JobSpending, UsageReading } from '../../store/journal.ts'
import { type Grant, QueueDrained } from '../journal.ts'
import type { Postgres, Statements } from './connection.ts'
import { planChanges } from './plans.ts'
import { sql } from './rows.ts'

/** The one budget of a key, for all machines, in Postgres. Releases of one key take turns. */
export function sharedSpending(postgres: Postgres) {
  return {
    /**
     * Releases chunks of these runs inside one transaction that no other release of these keys runs beside: `decide` is given what waits and
     * what the budget stands at, and says what is reserved for which. Rejected with `CoordinationLost` where another process coordinates a
     * job of these runs, and with `QueueDrained` where it is asked to stop.
     *
     * @param otherKeys keys whose credits count to limits of days and months, too
     */
    release: (
      coordinator: string,
      keyHash: string,
      runs: readonly string[],
      most: number,
      decide: (waiting: readonly WaitingChunk[], standings: SharedStandings) => Promise<readonly Grant[]>,
      otherKeys: readonly string[] = [],
    ) =>
      postgres.transaction(async (statements) => {
        await planChanges.holdRuns(statements, coordinator, runs)
        if (await planChanges.isDrained(statements, runs)) throw new QueueDrained('the queue is drained')
        await planChanges.lockReleases(statements, [keyHash, ...otherKeys])
        const waiting = await waitingOf(statements, runs, most)
        const grants = await decide(waiting, await standings(statements, keyHash, runs, otherKeys))
        if (grants.length > 0) await statements.query(releaseChunks, [JSON.stringify(grants)])
        return grants
      }),
    /** By run: billed, and possibly billed or reserved. */
    sumsOf: (runs: readonly string[]) => sumsByRun(postgres, runs),
  }
}

/**
 * Runs take turns, of equal priority. Numbers of chunks are text, as everywhere outside of statements. Where a page was paid for twice, what is left needs more than was thought:
 * a page at a time.
 */
const waitingChunks = `
WITH under_way AS (
  SELECT run_id, count(*) AS chunks FROM rankline.chunks WHERE run_id = ANY ($1::uuid[]) AND state IN ('released', 'leased') GROUP BY 1
)
SELECT c.id::text, c.run_id AS run, c.priority, c.tags, greatest(c.least_credits, c.most_credits - c.spent)::bigint AS "mostCredits",
  c.least_credits AS "leastCredits", c.stop
FROM rankline.chunks c JOIN rankline.runs r ON r.id = c.run_id LEFT JOIN under_way u ON u.run_id = c.run_id
WHERE c.run_id = ANY ($1::uuid[]) AND c.state = 'planned' AND NOT ${sql.isPaused('r')}
ORDER BY c.priority DESC, coalesce(u.chunks, 0) + row_number() OVER (PARTITION BY c.run_id, c.priority ORDER BY c.id), c.id LIMIT $2`

/** A chunk that waits for its release. */
export type WaitingChunk = Awaited<ReturnType<typeof waitingOf>>[number]

async function waitingOf(statements: Statements, runs: readonly string[], most: number) {
  return await statements.query<{
    readonly id: string
    readonly run: string
    readonly priority: number
    readonly tags: readonly string[]
    /** Credits that it may still need at most, and those of its cheapest page. */
    readonly mostCredits: number
    readonly leastCredits: number
    /** Why the worker that had it last could not go on with the service, JSON; null where none had it, or it used up its credits. */
    readonly stop: string | null
  }>(waitingChunks, [runs, most])
}

const releaseChunks = `
UPDATE rankline.chunks c SET state = 'released', granted = c.spent + c.in_doubt + g.credits, stop = NULL
FROM jsonb_to_recordset($1::jsonb) AS g(chunk bigint, credits bigint) WHERE c.id = g.chunk AND c.state = 'planned'`

const notEnded = `NOT EXISTS (
        SELECT 1 FROM rankline.task_ends t WHERE t.run_id = own.id AND t.query = a.query AND t.page = a.page)`

const usableEnd = `rankline.task_ends e
      ON e.run_id = a.run_id AND e.query = a.query AND e.page = a.page AND e.call_id = a.call_id AND e.cause IS NULL`

/**
 * What a worker finds when it takes a chunk; one that came back has none of it left, or cannot use it. An instant that stays the same during
 * the statement lets the index find what is fresh.
 */
const chunksWithFreeWork = `
SELECT c.id::text AS id FROM rankline.chunks c JOIN rankline.runs own ON own.id = c.run_id
WHERE c.id = ANY ($1::bigint[]) AND c.fence = 0 AND (
  EXISTS (
    SELECT 1 FROM rankline.answers a WHERE a.run_id = own.id AND a.query = ANY (c.queries) AND a.body IS NOT NULL AND NOT a.given_up
      AND ${notEnded})
  OR EXISTS (
    SELECT 1 FROM rankline.runs r JOIN rankline.answers a ON a.run_id = r.id JOIN ${usableEnd}
    WHERE r.group_id = own.group_id AND a.run_id <> own.id AND a.query = ANY (c.queries) AND a.body IS NOT NULL AND ${notEnded})
  OR EXISTS (
    SELECT 1 FROM rankline.answers a JOIN rankline.runs r ON r.id = a.run_id JOIN ${usableEnd}
    WHERE a.run_id <> own.id AND a.query = ANY (c.queries) AND a.body IS NOT NULL AND ${notEnded}
      AND r.key_hash = own.key_hash AND a.fetched_at >= (${sql.epochMs('statement_timestamp()')} - (own.settings::jsonb ->> 'freshnessMs')::bigint)::bigint
      AND a.fetched_at < (${sql.epochMs('statement_timestamp()')} + ${agreeingMs})::bigint)
  OR EXISTS (
    SELECT 1 FROM rankline.calls j WHERE j.run_id = own.id AND j.query = ANY (c.queries) AND j.outcome = 'accepted' AND j.job_over = false))`

/** What the budget of a key stands at, read inside the transaction that releases. Reserved credits count as possibly billed. */
export type SharedStandings = Awaited<ReturnType<typeof standings>>

async function standings(
  statements: Statements,
  keyHash: string,
  runs: readonly string[],
  otherKeys: readonly string[],
) {
  const keys = [keyHash, ...otherKeys]
  const account = await newestReading(statements, keyHash)
  const askedAt = account?.askedAt ?? 0
  const [sums] = await statements.query<{ billed: number; ambiguous: number; reserved: number }>(
    `SELECT
      (SELECT coalesce(sum(credits), 0)::bigint FROM rankline.calls
        WHERE key_hash = $1 AND credits > 0 AND settled_at >= to_timestamp($2::double precision / 1000) AND billed = 1) AS billed,
      (SELECT coalesce(sum(credits), 0)::bigint FROM rankline.calls
        WHERE key_hash = $1 AND credits > 0 AND settled_at >= to_timestamp(($2::double precision - $3) / 1000) AND billed IS NULL
          AND (outcome <> 'accepted' OR job_over)) AS ambiguous,
      (SELECT coalesce(sum(${sql.reservedOf('c')}), 0)::bigint FROM rankline.chunks c
        WHERE c.key_hash = $1 AND c.state IN ('released', 'leased')) AS reserved`,
    [keyHash, askedAt, settlingMs],
  )
  return {
    /** The newest reading of the account; null where there is none. */
    account,
    /** Credits billed since that was asked for, possibly billed shortly before or since, and reserved for released chunks. */
    billedSince: sums?.billed ?? 0,
    ambiguous: sums?.ambiguous ?? 0,
    reserved: sums?.reserved ?? 0,
    /** By run: billed, and possibly billed or reserved. */
    byRun: await sumsByRun(statements, runs),
    /** Jobs in the journal of this key and of the others that were given, on all hosts. */
    jobs: async (): Promise<readonly string[]> => {
      const rows = await statements.query<{ job: string }>(
        'SELECT DISTINCT job FROM rankline.jobs WHERE key_hash = ANY ($1) ORDER BY job',
        [keys],
      )
      return rows.map(({ job }) => job)
    },
    /** By job, in a time; of these keys. */
    creditsSent: (span: TimeSpan) => creditsSent(statements, keys, span),
    /** By tag, in these jobs. */
    creditsSentByTag: (span: TimeSpan, jobs: readonly string[], tags: readonly string[]) =>
      creditsSentByTag(statements, keys, { span, jobs, tags }),
    /**
     * Of these chunks, which no worker has had, those that have something to do without buying: answers that their pages may use, answers that
     * were paid for and not read, or asynchronous jobs that wait.
     */
    withFreeWork: async (chunks: readonly string[]): Promise<ReadonlySet<string>> => {
      const rows = await statements.query<{ id: string }>(chunksWithFreeWork, [chunks])
      return new Set(rows.map(({ id }) => id))
    },
    /** Calls of that time that were billed or may have been, and as many as what is reserved can pay for. */
    chargedCalls: async ({ from, until }: TimeSpan): Promise<number> => {
      const [row] = await statements.query<{ calls: number }>(
        // Those that ended long before the span were not sent in it: so the index of ends finds the others.
        `SELECT (SELECT count(*) FROM rankline.calls
            WHERE key_hash = $1 AND credits > 0 AND sent_at >= $2 AND sent_at < $3 AND billed IS DISTINCT FROM 0 AND outcome IS NOT NULL
              AND settled_at >= to_timestamp(($2::bigint - ${agreeingMs}) / 1000))::bigint
          + (SELECT coalesce(sum(ceil(${sql.reservedOf('c')}::double precision / greatest(1, c.least_credits))), 0) FROM rankline.chunks c
            WHERE c.key_hash = $1 AND c.state IN ('released', 'leased'))::bigint
          + (SELECT coalesce(sum(charged), 0) FROM rankline.dropped WHERE key_hash = $1 AND $2::bigint <= 0)::bigint AS calls`,
        [keyHash, from, until],
      )
      return row?.calls ?? 0
    },
  }
}

async function newestReading(statements: Statements, keyHash: string): Promise<UsageReading | null> {
  const rows = await statements.query<UsageReading>(
    `SELECT NULL AS "runId", key_hash AS "keyHash", asked_at AS "askedAt", read_at AS "readAt", remaining,
      total_used AS "totalUsed", record
    FROM rankline.readings WHERE key_hash = $1 ORDER BY read_at DESC LIMIT 1`,
    [keyHash],
  )
  return rows[0] ?? null
}

async function sumsByRun(
  statements: Statements,
  runs: readonly string[],
): Promise<ReadonlyMap<string, { readonly spent: number; readonly ambiguous: number }>> {
  const rows = await statements.query<{ run: string; spent: number; ambiguous: number }>(
    `SELECT c.run_id AS run, sum(c.spent)::bigint AS spent, sum(c.in_doubt + ${sql.reservedOf('c')})::bigint AS ambiguous
    FROM rankline.chunks c WHERE c.run_id = ANY ($1::uuid[]) GROUP BY 1`,
    [runs],
  )
  return new Map(rows.map(({ run, spent, ambiguous }) => [run, { spent, ambiguous }]))
}

/** What is reserved now will be spent now. */
const isNow = `(${sql.epochMs('clock_timestamp()')} >= $2 AND ${sql.epochMs('clock_timestamp()')} < $3)`

async function creditsSent(
  statements: Statements,
  keys: readonly string[],
  { from, until }: TimeSpan,
): Promise<readonly JobSpending[]> {
  return await statements.query<JobSpending>(
    `SELECT r.job, sum(s.spent)::bigint AS spent, sum(s.in_doubt)::bigint AS ambiguous FROM (
      SELECT run_id, spent, in_doubt FROM rankline.spending
        WHERE key_hash = ANY ($1) AND quarter >= ${quarterOf('$2')} AND quarter < ${quarterOf('$3')}
      UNION ALL
      SELECT c.run_id, 0, ${sql.reservedOf('c')} FROM rankline.chunks c
        WHERE c.key_hash = ANY ($1) AND c.state IN ('released', 'leased') AND ${isNow}
    ) s JOIN rankline.runs r ON r.id = s.run_id GROUP BY r.job ORDER BY r.job`,
    [keys, from, until],
  )
}

/** Days and months begin with a quarter of an hour in every time zone. Whole numbers, for the index holds such. */
const quarterOf = (epoch: string): string => `ceil(${epoch}::double precision / 900000)::bigint`

async function creditsSentByTag(
  statements: Statements,
  keys: readonly string[],
  {
    span,
    jobs,
    tags,
  }: { readonly span: TimeSpan; readonly jobs: readonly string[]; readonly tags: readonly string[] },
): Promise<ReadonlyMap<string, number>> {
  const rows = await statements.query<{ tag: string; credits: number }>(
    `SELECT t.tag, sum(s.credits)::bigint AS credits FROM (
      SELECT c.tags, s.run_id, s.spent + s.in_doubt AS credits FROM rankline.spending s JOIN rankline.chunks c ON c.id = s.chunk_id
        WHERE s.key_hash = ANY ($1) AND s.quarter >= ${quarterOf('$2')} AND s.quarter < ${quarterOf('$3')}
      UNION ALL
      SELECT c.tags, c.run_id, ${sql.reservedOf('c')} FROM rankline.chunks c
        WHERE c.key_hash = ANY ($1) AND c.state IN ('released', 'leased') AND ${isNow}
    ) s JOIN rankline.runs r ON r.id = s.run_id AND r.job = ANY ($4) CROSS JOIN LATERAL unnest(s.tags) AS t(tag)
    WHERE t.tag = ANY ($5) GROUP BY 1`,
    [keys, span.from, span.until, jobs, tags],
  )
  return new Map(rows.map(({ tag, credits }) => [tag, credits]))
}
