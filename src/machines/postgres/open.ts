import { UsageError } from '../../model/errors.ts'
import { JournalUnreachable, type SharedJournal } from '../../store/shared/journal.ts'
import type { QueueOperations, QueueStatus, WorkerRow } from '../../store/shared/operations.ts'
import type { ChunkState, SharedJob } from '../../store/shared/plans.ts'
import { sharedCalls } from './calls.ts'
import { sharedChanges } from './changes.ts'
import { sharedChunks } from './chunks.ts'
import { isOtherServer, openPostgres, type Postgres } from './connection.ts'
import { rekey, sharedPlans } from './plans.ts'
import { sharedRates } from './rates.ts'
import { chunksByState, epochMs, noteTimeline, reservedOf } from './rows.ts'
import { makeReady, migrate, schemaVersion, versionOf, whyTooNew } from './schema.ts'
import { sharedSpending } from './spending.ts'

/**
 * Opens the journal of many machines. To `collect` with it, it is laid out where the database is empty, and brought up to date where it is
 * older; to `operate` it, it must be there. Rejected with `JournalUnreachable` where waiting may help, and else with one sentence.
 *
 * @param signal ends the attempt at once
 */
export async function openJournal(
  url: string,
  use: 'collect' | 'operate' = 'collect',
  signal?: AbortSignal,
): Promise<SharedJournal> {
  const postgres = await connected(url, (opened) => makeReady(opened, use), signal)
  const calls = sharedCalls(postgres)
  return {
    plans: sharedPlans(postgres),
    chunks: sharedChunks(postgres),
    calls,
    rates: sharedRates(postgres),
    spending: sharedSpending(postgres),
    changes: sharedChanges(postgres),
    operations: queueOperations(postgres),
    abandon: () => {
      calls.abandon()
      postgres.breakOff()
    },
    [Symbol.asyncDispose]: () => postgres[Symbol.asyncDispose](),
  }
}

/** Lays out the journal, or brings it up to date; its version before and now. */
export async function layOut(url: string): Promise<{ readonly before: number | null; readonly now: number }> {
  let before: number | null = null
  await using _ = await connected(url, async (postgres) => {
    before = await migrate(postgres)
  })
  return { before, now: schemaVersion }
}

/** Opens the database and does the first thing with it. */
async function connected(
  url: string,
  first: (postgres: Postgres) => Promise<void>,
  signal?: AbortSignal,
): Promise<Postgres> {
  const postgres = await openPostgres(url)
  try {
    signal?.throwIfAborted()
    signal?.addEventListener('abort', postgres.breakOff, { once: true })
    await first(postgres)
    return postgres
  } catch (error) {
    await postgres[Symbol.asyncDispose]()
    if (signal?.aborted !== true && error instanceof JournalUnreachable && (await isOtherServer(postgres)))
      throw new UsageError(
        `What answers at ${postgres.place.server} is no Postgres server. Check host and port in the address of the queue`,
        { cause: error },
      )
    throw error
  } finally {
    signal?.removeEventListener('abort', postgres.breakOff)
  }
}

/** What keeps the queue going, in Postgres. */
function queueOperations(postgres: Postgres): QueueOperations {
  return {
    seen: async ({ id, name, version, keys, startedAt, clockOffsetMs }) => {
      await postgres.query(
        `INSERT INTO rankline.workers VALUES ($1, $2, $3, $4, $5, clock_timestamp(), $6)
        ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, clock_offset_ms = excluded.clock_offset_ms`,
        [id, name, version, keys, startedAt, clockOffsetMs],
      )
      await postgres.query(noteTimeline)
      return whyTooNew(await versionOf(postgres))
    },
    // One that was killed cannot say that it is gone: it is forgotten after a day.
    gone: async (worker) => {
      await postgres.query(
        `DELETE FROM rankline.workers WHERE id = $1 OR seen_at < clock_timestamp() - interval '1 day'`,
        [worker],
      )
    },
    status: () => status(postgres),
    drain: () =>
      postgres.transaction(async (statements) => {
        await statements.query('UPDATE rankline.jobs SET drained = true WHERE coordinator IS NOT NULL')
        const rows = await statements.query<object>(
          `UPDATE rankline.chunks SET state = 'planned', granted = spent + in_doubt WHERE state = 'released' RETURNING id`,
        )
        return rows.length
      }),
    retry: async () => {
      const rows = await postgres.query<object>(
        `UPDATE rankline.chunks SET state = 'planned', takeovers = 0, granted = spent + in_doubt WHERE state = 'dead' RETURNING id`,
      )
      return rows.length
    },
    jobs: () =>
      postgres.query<SharedJob>(
        'SELECT key_hash AS "keyHash", job FROM rankline.jobs ORDER BY job, key_hash',
      ),
    rekey: (jobs, to) => postgres.transaction((statements) => rekey(statements, jobs, to)),
    now: async () => {
      const [row] = await postgres.query<{ now: number }>(
        `SELECT ${epochMs('clock_timestamp()')}::double precision AS now`,
      )
      return row?.now as number
    },
  }
}

async function status(postgres: Postgres): Promise<QueueStatus> {
  const workers = await postgres.query<WorkerRow>(
    `SELECT w.id, w.name, w.version, w.keys, w.started_at AS "startedAt", ${epochMs('w.seen_at')}::bigint AS "seenAt",
      w.clock_offset_ms AS "clockOffsetMs",
      (SELECT count(*)::int FROM rankline.chunks c WHERE c.worker = w.id AND c.state = 'leased') AS chunks
    FROM rankline.workers w ORDER BY w.name, w.id`,
  )
  const runs = await postgres.query<Omit<QueueStatus['runs'][number], 'chunks'>>(
    `SELECT r.id AS run, r.key_hash AS "keyHash", r.job, r.started_at AS "startedAt",
      CASE WHEN j.coordinated_until > clock_timestamp() THEN j.coordinator_name END AS coordinator,
      coalesce(c.spent, 0)::bigint AS spent, coalesce(c.in_doubt, 0)::bigint AS "inDoubt", coalesce(c.reserved, 0)::bigint AS reserved
    FROM rankline.runs r LEFT JOIN rankline.jobs j ON j.key_hash = r.key_hash AND j.job = r.job
    LEFT JOIN LATERAL (SELECT sum(k.spent) AS spent, sum(k.in_doubt) AS in_doubt, sum(${reservedOf('k')}) AS reserved
      FROM rankline.chunks k WHERE k.run_id = r.id) c ON true
    WHERE r.plan_version > 0 AND r.finish_reason IS NULL AND r.closed_at IS NULL ORDER BY r.number`,
  )
  const states = await postgres.query<{ run: string; state: ChunkState; chunks: number }>(
    `SELECT c.run_id AS run, c.state, count(*)::int AS chunks FROM rankline.chunks c
    JOIN rankline.runs r ON r.id = c.run_id AND r.finish_reason IS NULL AND r.closed_at IS NULL GROUP BY 1, 2`,
  )
  return {
    schemaVersion: (await versionOf(postgres)) ?? 0,
    workers,
    runs: runs.map((run) => ({ ...run, chunks: chunksByState(states.filter((one) => one.run === run.run)) })),
    keys: await postgres.query(
      `SELECT k.key_hash AS "keyHash", k.per_second AS "perSecond", k.per_minute AS "perMinute",
        CASE WHEN k.held_until > clock_timestamp() THEN ${epochMs('k.held_until')}::bigint END AS "heldUntil",
        (SELECT remaining FROM rankline.readings r WHERE r.key_hash = k.key_hash ORDER BY read_at DESC LIMIT 1) AS remaining
      FROM rankline.keys k ORDER BY k.key_hash`,
    ),
    readers: await postgres.query(
      `SELECT name, ${epochMs('seen_at')}::bigint AS "seenAt",
        position <= coalesce((SELECT changed FROM rankline.task_ends ORDER BY changed DESC LIMIT 1), '0'::xid8) AS "isBehind"
      FROM rankline.readers ORDER BY name`,
    ),
  }
}
