import type { SharedJob } from '../../store/sync.ts'
import type { ChunkQuery, ChunkState, PausedPart } from '../journal.ts'
import { blockedNow } from './changes.ts'
import type { Postgres, Statements } from './connection.ts'
import { layout } from './layout.ts'
import { planChanges } from './plans.ts'
import { chunksByState, sql, unpack } from './rows.ts'

/** A worker that is up was seen within this time: it says that it is here every five seconds. */
const upForSeconds = 15

/** What keeps the queue going, and what people ask of it, in Postgres. */
export function queueOperations(postgres: Postgres) {
  return {
    /**
     * Notes that a worker is alive. Answers why it may take no more chunks, because the journal is newer than it knows, null where it may; and
     * how many workers of its keys are up, with itself.
     */
    seen: async ({
      id,
      name,
      version,
      keys,
      startedAt,
      clockOffsetMs,
    }: Omit<QueueStatus['workers'][number], 'seenAt' | 'chunks' | 'lastMinute'>) => {
      const [now] = await postgres.query<{ version: number; others: number }>(
        `INSERT INTO rankline.workers VALUES ($1, $2, $3, $4, $5, clock_timestamp(), $6)
        ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, clock_offset_ms = excluded.clock_offset_ms
        RETURNING (SELECT version FROM rankline.version) AS version, (SELECT count(*)::int FROM rankline.workers w
          WHERE w.id <> $1 AND w.keys && $4 AND w.seen_at > clock_timestamp() - interval '${upForSeconds} seconds') AS others`,
        [id, name, version, keys, startedAt, clockOffsetMs],
      )
      await postgres.query(sql.noteTimeline)
      return { tooNew: layout.whyTooNew(now?.version ?? null), workers: 1 + (now?.others ?? 0) }
    },
    // One that was killed cannot say that it is gone: it is forgotten after a day.
    gone: async (worker: string): Promise<void> => {
      await postgres.query(
        `DELETE FROM rankline.workers WHERE id = $1 OR seen_at < clock_timestamp() - interval '1 day'`,
        [worker],
      )
    },
    status: () => status(postgres),
    /** Asks coordinators to stop and takes released chunks back, so that workers finish what they have and then idle; how many. */
    drain: () =>
      postgres.transaction(async (statements) => {
        await statements.query('UPDATE rankline.jobs SET drained = true WHERE coordinator IS NOT NULL')
        const rows = await statements.query<object>(
          `UPDATE rankline.chunks SET state = 'planned', granted = spent + in_doubt WHERE state = 'released' RETURNING id`,
        )
        return rows.length
      }),
    /**
     * Pauses these parts: nothing of them is released or taken until they are resumed, and workers finish what they have. Takes released
     * chunks of them back; how many.
     */
    pause: (parts: readonly PausedPart[]) => postgres.transaction((statements) => pause(statements, parts)),
    /** Resumes these parts, of which each was paused by itself; how many were. */
    resume: async (parts: readonly PausedPart[]) => {
      const rows = await postgres.query<object>(
        `DELETE FROM rankline.pauses p USING ${givenParts}
        WHERE p.key_hash = g.key_hash AND p.job = g.job AND p.worker = g.worker RETURNING p.since`,
        [asJson(parts)],
      )
      return rows.length
    },
    /** Makes dead chunks planned again; how many. */
    retry: async () => {
      const rows = await postgres.query<object>(
        `UPDATE rankline.chunks SET state = 'planned', takeovers = 0, granted = spent + in_doubt WHERE state = 'dead' RETURNING id`,
      )
      return rows.length
    },
    /** All jobs, by name and key. */
    jobs: () =>
      postgres.query<SharedJob>(
        'SELECT key_hash AS "keyHash", job FROM rankline.jobs ORDER BY job, key_hash',
      ),
    /** Moves jobs to another key, with their runs and chunks. Rejected with `RekeyRefused`. */
    rekey: (jobs: readonly SharedJob[], to: string) =>
      postgres.transaction((statements) => planChanges.rekey(statements, jobs, to)),
    /** The clock of the database, epoch milliseconds with fractions. */
    now: async () => {
      const [row] = await postgres.query<{ now: number }>(
        `SELECT ${sql.epochMs('clock_timestamp()')}::double precision AS now`,
      )
      return row?.now as number
    },
  }
}

/** Released chunks of what is paused wait without credits, as before they were released: what they had reserved is there for others. */
async function pause(statements: Statements, parts: readonly PausedPart[]): Promise<number> {
  // A release that is under way comes before, and the next one sees what is paused.
  const keys = await statements.query<{ key: string }>(
    'SELECT key_hash AS key FROM rankline.keys UNION SELECT key_hash FROM rankline.jobs',
  )
  await planChanges.lockReleases(
    statements,
    keys.map(({ key }) => key),
  )
  await statements.query(
    `INSERT INTO rankline.pauses (key_hash, job, worker) SELECT * FROM ${givenParts} ON CONFLICT DO NOTHING`,
    [asJson(parts)],
  )
  const rows = await statements.query<object>(
    `UPDATE rankline.chunks c SET state = 'planned', granted = c.spent + c.in_doubt FROM rankline.runs r
    WHERE r.id = c.run_id AND c.state = 'released' AND ${sql.isPaused('r')} RETURNING c.id`,
  )
  return rows.length
}

const givenParts = 'jsonb_to_recordset($1::jsonb) AS g(key_hash text, job text, worker text)'

function asJson(parts: readonly PausedPart[]): string {
  return JSON.stringify(
    parts.map(({ keyHash, job, worker }) => ({
      key_hash: keyHash ?? '',
      job: job ?? '',
      worker: worker ?? '',
    })),
  )
}

/** What `queue status` shows. Instants are epoch milliseconds, sums are credits. */
export type QueueStatus = Awaited<ReturnType<typeof status>>

async function status(postgres: Postgres) {
  const workers = await postgres.query<{
    readonly id: string
    /** Host and process, for people. */
    readonly name: string
    readonly version: string
    readonly keys: readonly string[]
    readonly startedAt: number
    readonly seenAt: number
    /** How far its clock is ahead of the database's, in milliseconds. */
    readonly clockOffsetMs: number
    /** Chunks that it has. */
    readonly chunks: number
  }>(
    `SELECT w.id, w.name, w.version, w.keys, w.started_at AS "startedAt", ${sql.epochMs('w.seen_at')}::bigint AS "seenAt",
      w.clock_offset_ms AS "clockOffsetMs",
      (SELECT count(*)::int FROM rankline.chunks c WHERE c.worker = w.id AND c.state = 'leased') AS chunks
    FROM rankline.workers w ORDER BY w.name, w.id`,
  )
  const runs = await postgres.query<{
    readonly run: string
    readonly keyHash: string
    readonly job: string
    readonly startedAt: number
    readonly coordinator: string | null
    readonly isPaused: boolean
    readonly spent: number
    readonly inDoubt: number
    readonly reserved: number
  }>(
    `SELECT r.id AS run, r.key_hash AS "keyHash", r.job, r.started_at AS "startedAt",
      CASE WHEN j.coordinated_until > clock_timestamp() THEN j.coordinator_name END AS coordinator, ${sql.isPaused('r')} AS "isPaused",
      coalesce(c.spent, 0)::bigint AS spent, coalesce(c.in_doubt, 0)::bigint AS "inDoubt", coalesce(c.reserved, 0)::bigint AS reserved
    FROM rankline.runs r LEFT JOIN rankline.jobs j ON j.key_hash = r.key_hash AND j.job = r.job
    LEFT JOIN LATERAL (SELECT sum(k.spent) AS spent, sum(k.in_doubt) AS in_doubt, sum(${sql.reservedOf('k')}) AS reserved
      FROM rankline.chunks k WHERE k.run_id = r.id) c ON true
    WHERE r.plan_version > 0 AND r.finish_reason IS NULL AND r.closed_at IS NULL ORDER BY r.number`,
  )
  const states = await postgres.query<{ run: string; state: ChunkState; chunks: number }>(
    `SELECT c.run_id AS run, c.state, count(*)::int AS chunks FROM rankline.chunks c
    JOIN rankline.runs r ON r.id = c.run_id AND r.finish_reason IS NULL AND r.closed_at IS NULL GROUP BY 1, 2`,
  )
  const lastMinutes = await postgres.query<{
    readonly worker: string
    readonly calls: number
    readonly errors: number
    readonly credits: number
    readonly lastError: string | null
  }>(lastMinute)
  const minuteOf = new Map(lastMinutes.map(({ worker, ...minute }) => [worker, minute]))
  return {
    schemaVersion: layout.version,
    /** Processes that take chunks, with what the calls of each came to that ended within the last minute. */
    workers: workers.map((worker) => ({ ...worker, lastMinute: minuteOf.get(worker.id) ?? idle })),
    runs: runs.map((run) => ({ ...run, chunks: chunksByState(states.filter((one) => one.run === run.run)) })),
    keys: await postgres.query<{
      readonly keyHash: string
      readonly perSecond: number | null
      readonly perMinute: number | null
      readonly heldUntil: number | null
      /** When a worker leased a send time last; null where none did. */
      readonly lastLeaseAt: number | null
      readonly remaining: number | null
    }>(
      `SELECT k.key_hash AS "keyHash", k.per_second AS "perSecond", k.per_minute AS "perMinute",
        CASE WHEN k.held_until > clock_timestamp() THEN ${sql.epochMs('k.held_until')}::bigint END AS "heldUntil",
        ${sql.epochMs('k.leased_at')}::bigint AS "lastLeaseAt",
        (SELECT remaining FROM rankline.readings r WHERE r.key_hash = k.key_hash ORDER BY read_at DESC LIMIT 1) AS remaining
      FROM rankline.keys k ORDER BY k.key_hash`,
    ),
    readers: await postgres.query<{
      readonly name: string
      readonly seenAt: number
      readonly isBehind: boolean
    }>(
      `SELECT name, ${sql.epochMs('seen_at')}::bigint AS "seenAt",
        position <= coalesce((SELECT changed FROM rankline.task_ends ORDER BY changed DESC LIMIT 1), '0'::xid8) AS "isBehind"
      FROM rankline.readers ORDER BY name`,
    ),
    paused: await postgres.query<PausedPart & { readonly since: number }>(
      `SELECT nullif(key_hash, '') AS "keyHash", nullif(job, '') AS job, nullif(worker, '') AS worker, ${sql.epochMs('since')}::bigint AS since
      FROM rankline.pauses p ORDER BY p.worker, p.key_hash, p.job`,
    ),
    dead: await deadChunks(postgres),
    /** What keeps databases from reading; null where nothing does. Each change does for an instant. */
    blockedBy: await blockedNow(postgres),
  }
}

const idle = { calls: 0, errors: 0, credits: 0, lastError: null }

/** What the calls of each worker came to that ended within the last minute. The index of ends has a part for each key. */
const lastMinute = `
SELECT c.worker, count(*)::int AS calls, count(*) FILTER (WHERE c.error IS NOT NULL)::int AS errors,
  coalesce(sum(c.credits) FILTER (WHERE c.billed = 1), 0)::bigint AS credits,
  (array_agg(c.error ORDER BY c.settled_at DESC) FILTER (WHERE c.error IS NOT NULL))[1] AS "lastError"
FROM (SELECT DISTINCT unnest(keys) AS key_hash FROM rankline.workers) k JOIN rankline.calls c ON c.key_hash = k.key_hash AND c.credits > 0
  AND c.settled_at > clock_timestamp() - interval '1 minute'
WHERE c.worker IS NOT NULL GROUP BY c.worker`

/**
 * Chunks that are left alone, for too many workers were lost over them, and texts of the queries at which their last worker was lost: those
 * of the calls that it had in flight.
 */
async function deadChunks(postgres: Postgres) {
  const rows = await postgres.query<{
    job: string
    keyHash: string
    encoding: string
    body: Buffer
    lastQueries: readonly Buffer[]
  }>(
    `SELECT r.job, c.key_hash AS "keyHash", c.encoding, c.body, ARRAY(
      SELECT DISTINCT j.query FROM rankline.calls j WHERE j.run_id = c.run_id AND j.attempt IS NOT NULL AND j.chunk_id = c.id AND j.fence = c.fence AND j.lost_at IS NOT NULL
    ) AS "lastQueries"
    FROM rankline.chunks c JOIN rankline.runs r ON r.id = c.run_id AND r.finish_reason IS NULL AND r.closed_at IS NULL
    WHERE c.state = 'dead' ORDER BY r.number, c.id`,
  )
  return rows.map(({ job, keyHash, lastQueries, ...packed }) => {
    const queries = unpack<readonly ChunkQuery[]>(packed)
    const textOf = new Map(queries.map(({ key, text }) => [key.toString('hex'), text]))
    return {
      job,
      keyHash,
      queries: queries.length,
      lastQueries: lastQueries.map((key) => textOf.get(key.toString('hex')) ?? key.toString('hex')),
    }
  })
}
