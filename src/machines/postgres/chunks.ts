import { freshSpan } from '../../model/time.ts'
import type { SharedRun } from '../../store/sync.ts'
import type { ChunkEnd, ChunkLease, ChunkQuery } from '../journal.ts'
import type { Postgres, Statements } from './connection.ts'
import { fromRow, sql, unpack } from './rows.ts'

/**
 * Chunks as workers take them, in Postgres. Leases last by the clock of the database. The rows are the queue: a lease is one UPDATE that skips
 * what another worker is taking.
 */
export function sharedChunks(postgres: Postgres) {
  return {
    /**
     * Takes released chunks of these keys, up to a number. Jobs take turns: first comes the one that has the fewest chunks under way, and of
     * several the one that was served longest ago; of a job, the most urgent chunk. Calls of an earlier lease without an end become ambiguous.
     * Where it cannot be read whole, the lease is taken back with it.
     */
    take: async (
      worker: string,
      keys: readonly string[],
      most: number,
      leaseMs: number,
      {
        name = '',
        which = 'any',
      }: {
        /** What people call the worker: where they have paused it, it gets none. */
        readonly name?: string
        /** Whether it takes those of any job, or only those of jobs of which no worker has a chunk. */
        readonly which?: 'any' | 'others'
      } = {},
    ): Promise<readonly LeasedChunk[]> => {
      const [look] = await postgres.query<{ has: boolean }>('SELECT has FROM rankline.may_take($1, $2, $3)', [
        ...[keys, name, which === 'others'],
      ])
      if (look?.has !== true) return []
      return await postgres.transaction(async (statements) => {
        const taken: LeasedChunk[] = []
        const given = [worker, keys, most, leaseMs, name, which === 'others']
        for (const row of await statements.query<Parameters<typeof leasedChunk>[1]>(leaseChunks, given))
          taken.push(await leasedChunk(statements, row))
        return taken
      })
    },
    /** Renews leases of a worker; the ones that it has lost. */
    renew: async (
      worker: string,
      leases: readonly ChunkLease[],
      leaseMs: number,
    ): Promise<readonly ChunkLease[]> => {
      const rows = await postgres.query<{ id: number }>(renewLeases, [worker, asJson(leases), leaseMs])
      const renewed = new Set(rows.map(({ id }) => String(id)))
      return leases.filter(({ chunk }) => !renewed.has(chunk))
    },
    /** Ends a lease; what was reserved and not spent is free again, except where the chunk stays released. False where it was lost before. */
    end: (worker: string, lease: ChunkLease, end: ChunkEnd): Promise<boolean> =>
      postgres.transaction((statements) => endLease(statements, worker, lease, end)),
    /** Releases chunks whose lease has run out; those that were lost too often become `dead`. How many there were. */
    takeBack: async (mostTakeovers: number) => {
      // Mostly there are none, and a transaction is three questions more.
      const [look] = await postgres.query<{ has: boolean }>(
        `SELECT EXISTS (SELECT 1 FROM rankline.chunks c WHERE ${hasRunOut}) AS has`,
      )
      if (look?.has !== true) return { released: 0, dead: 0 }
      return await postgres.transaction((statements) => takeBack(statements, mostTakeovers))
    },
    /** Whether any chunk of these keys is released or leased, or may be released soon. */
    hasWork: async (keys: readonly string[]): Promise<boolean> => {
      const [row] = await postgres.query<{ has: boolean }>(anyWork, [keys])
      return row?.has === true
    },
  }
}

/** More than a chunk is ever leased. */
const fencesOfTimeline = 100_000

/** A failover may lose leases, and with them their fences: those of a new timeline are higher than all of the ones before. */
const nextFence = `greatest(c.fence, (${sql.timeline} - 1) * ${fencesOfTimeline}) + 1`

/** Whether there is anything to take. Workers look often, and mostly in vain. */
export const mayTake = sql.plannedOnce(
  'may_take',
  'text[], text, boolean',
  'has boolean',
  `SELECT EXISTS (
  SELECT 1 FROM rankline.chunks c JOIN rankline.runs r ON r.id = c.run_id
  WHERE c.key_hash = ANY ($1) AND c.state = 'released' AND NOT ${sql.isPaused('r')} AND NOT ${sql.isWorkerPaused('$2')}
    AND NOT ($3 AND EXISTS (
      SELECT 1 FROM rankline.chunks o JOIN rankline.runs other ON other.id = o.run_id
      WHERE o.key_hash = c.key_hash AND o.state = 'leased' AND other.job = r.job)))`,
)

/** When a job was served last is noted where nobody else has the row of its run: nothing waits for that. */
const leaseChunks = `
WITH turns AS (
  SELECT r.key_hash, r.job, count(*) FILTER (WHERE c.state = 'leased') AS under_way, max(r.served_at) AS served_at
  FROM rankline.chunks c JOIN rankline.runs r ON r.id = c.run_id
  WHERE c.key_hash = ANY ($2) AND c.state IN ('released', 'leased') GROUP BY 1, 2
), next AS (
  SELECT c.id, c.run_id FROM rankline.chunks c JOIN rankline.runs r ON r.id = c.run_id
    JOIN turns t ON t.key_hash = r.key_hash AND t.job = r.job
  WHERE c.key_hash = ANY ($2) AND c.state = 'released' AND NOT ${sql.isPaused('r')} AND NOT ${sql.isWorkerPaused('$5')}
    AND (t.under_way = 0 OR NOT $6)
  ORDER BY t.under_way, t.served_at NULLS FIRST, c.priority DESC, c.id LIMIT $3 FOR UPDATE OF c SKIP LOCKED
), served AS (
  UPDATE rankline.runs SET served_at = clock_timestamp()
  WHERE id IN (SELECT id FROM rankline.runs WHERE id IN (SELECT run_id FROM next) FOR NO KEY UPDATE SKIP LOCKED)
), leased AS (
  UPDATE rankline.chunks c SET state = 'leased', fence = ${nextFence}, worker = $1,
    leased_until = clock_timestamp() + $4 * interval '1 millisecond'
  FROM next WHERE c.id = next.id RETURNING c.*
)
SELECT l.id AS chunk_id, l.fence, l.encoding, l.body, l.granted - l.spent - l.in_doubt AS credits, ${sql.epochMs('clock_timestamp()')}::bigint AS now, r.*
FROM leased l JOIN rankline.runs r ON r.id = l.run_id ORDER BY l.priority DESC, l.id`

/** Rows are locked in the order of their numbers, as everywhere. */
const renewLeases = `
WITH own AS (
  SELECT c.id FROM rankline.chunks c JOIN jsonb_to_recordset($2::jsonb) AS g(chunk bigint, fence integer)
    ON c.id = g.chunk AND c.fence = g.fence
  WHERE c.worker = $1 AND c.state = 'leased' ORDER BY c.id FOR NO KEY UPDATE OF c
)
UPDATE rankline.chunks c SET leased_until = clock_timestamp() + $3 * interval '1 millisecond'
FROM own WHERE c.id = own.id RETURNING c.id`

/** What waits for its release is released soon, as long as its run is coordinated. */
const anyWork = `
SELECT EXISTS (
  SELECT 1 FROM rankline.chunks c JOIN rankline.runs r ON r.id = c.run_id
  WHERE c.key_hash = ANY ($1) AND c.state IN ('released', 'leased') AND (c.state = 'leased' OR NOT ${sql.isPaused('r')})
) OR EXISTS (
  SELECT 1 FROM rankline.chunks c JOIN rankline.runs r ON r.id = c.run_id
    JOIN rankline.jobs j ON j.key_hash = r.key_hash AND j.job = r.job
  WHERE c.key_hash = ANY ($1) AND c.state = 'planned' AND j.coordinated_until > clock_timestamp() AND NOT ${sql.isPaused('r')}
) AS has`

function asJson(leases: readonly ChunkLease[]): string {
  return JSON.stringify(leases.map(({ chunk, fence }) => ({ chunk, fence })))
}

/** A chunk with everything that is known of its queries: what one worker needs to go on with it. */
export type LeasedChunk = Awaited<ReturnType<typeof leasedChunk>>

/** Reads what is known of the queries of a chunk. */
async function leasedChunk(
  statements: Statements,
  row: Parameters<typeof fromRow.run>[0] & {
    readonly chunk_id: number
    readonly fence: number
    readonly encoding: string
    readonly body: Buffer
    readonly credits: number
    readonly closed_at: number | null
    /** The time of the database, epoch ms. */
    readonly now: number
  },
) {
  const queries = unpack<readonly ChunkQuery[]>(row)
  const sharedRun = fromRow.run(row)
  const keys = queries.map(({ key }) => key)
  return {
    chunk: String(row.chunk_id),
    run: sharedRun.id,
    fence: row.fence,
    /** Its run, with the settings of the job. */
    sharedRun,
    /** A later run took the place of its run: asynchronous jobs are still polled, and nothing is bought. */
    isClosed: row.closed_at !== null,
    queries,
    /** Credits that may still be spent for it. */
    credits: Math.max(0, row.credits),
    /** Answers to its tasks. */
    answers: (await statements.query<KeptAnswer>(answersOfRun, [sharedRun.id, keys])).map(fromRow.answer),
    /** Its tasks that ended. */
    ended: (await statements.query<Parameters<typeof fromRow.end>[0]>(endsOfRun, [sharedRun.id, keys])).map(
      fromRow.end,
    ),
    /** Asynchronous jobs of its tasks that are not known to have ended. */
    openJobs: await statements.query<{
      readonly call: string
      readonly query: Buffer
      readonly page: number
      readonly jobId: string
      readonly sentAt: number
      readonly acceptedAt: number
    }>(openJobs, [sharedRun.id, keys]),
    /** Answers to the same calls that other runs bought, and that may be used: of the same group, or fresh enough. */
    reusable: await reusableAnswers(statements, sharedRun, keys, row.now),
  }
}

const answerColumns = 'a.call_id, a.query, a.page, a.fetched_at, a.encoding, a.body'
type KeptAnswer = Parameters<typeof fromRow.answer>[0]

/** The answers that count, also those of other runs. Where a task has several and did not end, the first one that came. */
const answersOfRun = `
SELECT DISTINCT ON (a.query, a.page) ${answerColumns} FROM rankline.answers a
LEFT JOIN rankline.task_ends e ON e.run_id = $1 AND e.query = a.query AND e.page = a.page
WHERE a.body IS NOT NULL AND NOT a.given_up AND (a.run_id = $1 AND a.query = ANY ($2)
  OR a.call_id = ANY (ARRAY(SELECT call_id FROM rankline.task_ends WHERE run_id = $1 AND query = ANY ($2) AND reused)))
ORDER BY a.query, a.page, (a.call_id = e.call_id) IS TRUE DESC, a.changed, a.call_id`

/**
 * Answers that other runs could use: those of the same command whatever their age, others where the job's freshness allows. Each of the two
 * has an index of its own: of both at once, all answers that these queries ever had would be read.
 */
const reusable = `
WITH candidates AS (
  SELECT a.*, true AS of_group FROM rankline.runs r JOIN rankline.answers a ON a.run_id = r.id
  WHERE r.group_id = $3 AND a.query = ANY ($2)
  UNION ALL
  SELECT a.*, r.group_id = $3 AS of_group FROM rankline.answers a JOIN rankline.runs r ON r.id = a.run_id
  WHERE a.query = ANY ($2) AND a.fetched_at >= $5::bigint AND a.fetched_at < $6::bigint AND r.key_hash = $4
)
SELECT DISTINCT ON (a.query, a.page) ${answerColumns}, a.of_group FROM candidates a
JOIN rankline.task_ends e ON e.run_id = a.run_id AND e.query = a.query AND e.page = a.page AND e.call_id = a.call_id AND e.cause IS NULL
WHERE a.body IS NOT NULL AND a.run_id <> $1
  AND NOT EXISTS (SELECT 1 FROM rankline.task_ends own WHERE own.run_id = $1 AND own.query = a.query AND own.page = a.page)
ORDER BY a.query, a.page, a.fetched_at DESC`

async function reusableAnswers(
  statements: Statements,
  { id, groupId, keyHash, settings }: SharedRun,
  keys: readonly Buffer[],
  now: number,
) {
  const fresh = freshSpan(settings.freshnessMs, now)
  const given = [id, keys, groupId, keyHash, fresh?.from ?? null, fresh?.until ?? null]
  const rows = await statements.query<KeptAnswer & { readonly of_group: boolean }>(reusable, given)
  // One that a run of the same group bought is used even where it repeats another question than asked.
  return rows.map((row) => ({ ...fromRow.answer(row), isOfGroup: row.of_group }))
}

const endsOfRun = `
SELECT run_id, query, page, call_id, reused, cause, paging FROM rankline.task_ends
WHERE run_id = $1 AND query = ANY ($2) ORDER BY number`

const openJobs = `
SELECT id AS call, query, page, job_id AS "jobId", sent_at AS "sentAt", finished_at AS "acceptedAt" FROM rankline.calls
WHERE run_id = $1 AND query = ANY ($2) AND outcome = 'accepted' AND job_over = false ORDER BY sent_at, id`

/** Of a run that ended, no worker takes what another has left; of one that was closed, asynchronous jobs are still polled. */
const isOver = `CASE WHEN r.closed_at IS NULL THEN r.finish_reason IS NOT NULL ELSE NOT EXISTS (
  SELECT 1 FROM rankline.calls j WHERE j.chunk_id = c.id AND j.outcome = 'accepted' AND j.job_over = false) END`

/** What the service says of a former key says nothing of the job's key now. */
const hasKeyOfChunk =
  'NOT EXISTS (SELECT 1 FROM rankline.workers w WHERE w.id = $3 AND c.key_hash <> ALL (w.keys))'

async function endLease(
  statements: Statements,
  worker: string,
  { chunk, fence }: ChunkLease,
  end: ChunkEnd,
): Promise<boolean> {
  const stop = 'stop' in end ? JSON.stringify(end.stop) : null
  const rows = await statements.query<object>(
    `UPDATE rankline.chunks c SET worker = NULL, leased_until = NULL, stop = CASE WHEN ${hasKeyOfChunk} THEN $5 END,
      state = CASE WHEN $4 = 'released' AND ${isOver} THEN 'cancelled' ELSE $4 END,
      granted = CASE WHEN $4 = 'released' THEN c.granted ELSE c.spent + c.in_doubt END
    FROM rankline.runs r
    WHERE r.id = c.run_id AND c.id = $1 AND c.fence = $2 AND c.worker = $3 AND c.state = 'leased' RETURNING c.id`,
    [chunk, fence, worker, end.state, stop],
  )
  if (rows.length > 0) await loseOpenCalls(statements, [chunk])
  return rows.length > 0
}

const hasRunOut = "c.state = 'leased' AND c.leased_until < clock_timestamp()"

async function takeBack(
  statements: Statements,
  mostTakeovers: number,
): Promise<{ readonly released: number; readonly dead: number }> {
  const rows = await statements.query<{ id: number; state: string }>(
    `WITH lost AS (
      SELECT c.id, ${isOver} AS is_over FROM rankline.chunks c JOIN rankline.runs r ON r.id = c.run_id
      WHERE ${hasRunOut} ORDER BY c.id FOR UPDATE OF c SKIP LOCKED
    )
    UPDATE rankline.chunks c
    SET state = CASE WHEN lost.is_over THEN 'cancelled' WHEN takeovers + 1 > $1 THEN 'dead' ELSE 'released' END,
      takeovers = takeovers + 1, worker = NULL, leased_until = NULL
    FROM lost WHERE c.id = lost.id RETURNING c.id, c.state`,
    [mostTakeovers],
  )
  await loseOpenCalls(
    statements,
    rows.map(({ id }) => String(id)),
  )
  const inState = (wanted: string): number => rows.filter(({ state }) => state === wanted).length
  return { released: inState('released'), dead: inState('dead') }
}

/**
 * Calls of these chunks without an end are ambiguous: whoever sent them has lost the lease, or is dead. The rows of the chunks are changed
 * before, in the same transaction, so that no intent can follow.
 */
async function loseOpenCalls(statements: Statements, chunks: readonly string[]): Promise<void> {
  if (chunks.length === 0) return
  await statements.query(
    `WITH lost AS (
      UPDATE rankline.calls SET outcome = 'ambiguous', billed = NULL, error = 'the worker was lost before the answer came',
        finished_at = ${sql.epochMs('clock_timestamp()')}::bigint, settled_at = clock_timestamp(), lost_at = clock_timestamp(),
        changed = pg_current_xact_id()
      WHERE chunk_id = ANY ($1) AND outcome IS NULL RETURNING *
    ), by_quarter AS (
      INSERT INTO rankline.spending (chunk_id, quarter, key_hash, run_id, spent, in_doubt)
      SELECT lost.chunk_id, lost.sent_at / 900000, c.key_hash, lost.run_id, 0, sum(lost.credits)
      FROM lost JOIN rankline.chunks c ON c.id = lost.chunk_id WHERE lost.credits > 0 GROUP BY 1, 2, 3, 4
      ON CONFLICT (chunk_id, quarter) DO UPDATE SET in_doubt = spending.in_doubt + excluded.in_doubt
    )
    UPDATE rankline.chunks c SET in_doubt = c.in_doubt + l.credits,
      granted = CASE WHEN c.state = 'released' THEN c.granted ELSE c.granted + l.credits END
    FROM (SELECT chunk_id, sum(credits) AS credits FROM lost GROUP BY 1) l WHERE c.id = l.chunk_id`,
    [chunks],
  )
}
