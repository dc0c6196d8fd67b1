import { UsageError } from '../../model/errors.ts'
import type { FinishStep, SharedJob, SharedRun, SharedRunEnd } from '../../store/sync.ts'
import {
  type ChunkState,
  CoordinationLost,
  type NewChunk,
  type PlanPart,
  RekeyRefused,
  type SharedPage,
} from '../journal.ts'
import type { Postgres, Statements } from './connection.ts'
import { layout } from './layout.ts'
import { chunksByState, pack, sql } from './rows.ts'

/**
 * Runs and their plans, in Postgres, written by the one process that coordinates a job: it names itself by its id, and is refused with
 * `CoordinationLost` when another one has taken over.
 */
export function sharedPlans(postgres: Postgres) {
  return {
    /**
     * Takes or renews the right to coordinate these jobs, for so long; the jobs that another process has, with its name. All or none
     * are taken.
     */
    coordinate: (jobs: readonly SharedJob[], coordinator: Parameters<typeof coordinate>[2]) =>
      postgres.transaction((statements) => coordinate(statements, jobs, coordinator)),
    /** Gives that right back. */
    leave: async (jobs: readonly SharedJob[], coordinator: string): Promise<void> => {
      await postgres.query(
        `UPDATE rankline.jobs j SET coordinator = NULL, coordinator_name = NULL, coordinated_until = NULL
        FROM jsonb_to_recordset($1::jsonb) AS g(key_hash text, job text)
        WHERE j.key_hash = g.key_hash AND j.job = g.job AND j.coordinator = $2`,
        [asJson(jobs), coordinator],
      )
    },
    /**
     * Writes a run with its whole plan, or a newer plan of it, and opens it; chunks that no worker has are cancelled. Answers the version of
     * the plan. Rejected with `CoordinationLost` where the run has another key.
     */
    publish: async (
      coordinator: string,
      run: SharedRun,
      plan: () => AsyncIterable<PlanPart>,
    ): Promise<number> => {
      const held = <T>(work: (statements: Statements) => Promise<T>): Promise<T> =>
        postgres.transaction(async (statements) => {
          await holdJob(statements, coordinator, run)
          return await work(statements)
        })
      const version = 1 + (await held((statements) => versionBefore(statements, run)))
      let part = 0
      for await (const one of plan()) {
        part += 1
        const { encoding, body } = await pack(one)
        const row = [run.id, version, part, encoding, body]
        await held((statements) => statements.query(writePart, row))
      }
      await held(async (statements) => {
        if ((await publishRun(statements, run)) !== version)
          throw new CoordinationLost(`another process has planned ${run.job} meanwhile`)
        await cancelChunks(statements, [run.id])
        await statements.query(addEvent, [run.id, 'published', null, null, null])
      })
      return version
    },
    /** Adds chunks to a run; nothing is reserved for them. Written twice under the same id, they are there once. */
    addChunks: (
      coordinator: string,
      run: string,
      { id, chunks }: { readonly id: string; readonly chunks: readonly NewChunk[] },
    ): Promise<void> =>
      postgres.transaction(async (statements) => {
        await holdRuns(statements, coordinator, [run])
        const packed = await Promise.all(chunks.map(({ queries }) => pack(queries)))
        const rows = chunks.map(({ priority, tags, queries, mostCredits, leastCredits }, index) => ({
          priority,
          tags,
          encoding: packed[index]?.encoding,
          place: index + 1,
          most: mostCredits,
          least: leastCredits,
          queries: queries.map(({ key }) => key.toString('hex')),
        }))
        const bodies = packed.map(({ body }) => body)
        await statements.query(insertChunks, [run, JSON.stringify(rows), bodies, id])
      }),
    /** Cancels chunks of these runs that no worker has; what was reserved for them is free again. */
    cancelChunks: (coordinator: string, runs: readonly string[]): Promise<void> =>
      postgres.transaction(async (statements) => {
        await holdRuns(statements, coordinator, runs)
        await cancelChunks(statements, runs)
      }),
    /** Keys of queries in chunks of these runs that workers may buy or are buying. */
    queriesInWork: async (runs: readonly string[]): Promise<readonly Buffer[]> => {
      const rows = await postgres.query<{ query: Buffer }>(
        `SELECT DISTINCT unnest(queries) AS query FROM rankline.chunks
        WHERE run_id = ANY ($1::uuid[]) AND state IN ('planned', 'released', 'leased')`,
        [runs],
      )
      return rows.map(({ query }) => query)
    },
    /** Pages of a run that failed. */
    failedPages: (run: string) =>
      postgres.query<SharedPage>(
        'SELECT query, page FROM rankline.task_ends WHERE run_id = $1 AND cause IS NOT NULL',
        [run],
      ),
    /** Forgets that these pages failed, so that they are bought again; answers that could not be used are not read again. */
    buyAgain: (coordinator: string, run: string, pages: readonly SharedPage[]): Promise<void> =>
      postgres.transaction(async (statements) => {
        await holdRuns(statements, coordinator, [run])
        const given = pages.map(({ query, page }) => ({ query: query.toString('hex'), page }))
        await statements.query(forgetFailures, [run, JSON.stringify(given)])
      }),
    /** How far a run is. Rejected with one sentence where the journal was brought to a version that this process does not know. */
    progress: (run: string) => progress(postgres, run),
    finish: (
      coordinator: string,
      run: string,
      { reason, finishedAt, durationMs }: SharedRunEnd,
    ): Promise<void> =>
      postgres.transaction(async (statements) => {
        await holdRuns(statements, coordinator, [run])
        await statements.query(
          'UPDATE rankline.runs SET finish_reason = $2, finished_at = $3, duration_ms = $4 WHERE id = $1',
          [run, reason, finishedAt, durationMs],
        )
        await cancelChunks(statements, [run])
        await statements.query(addEvent, [run, 'finished', finishedAt, durationMs, reason])
      }),
    /** The key of a run; null where it was never published. */
    keyOf: async (run: string): Promise<string | null> => {
      const [row] = await postgres.query<{ key: string }>(
        'SELECT key_hash AS key FROM rankline.runs WHERE id = $1',
        [run],
      )
      return row?.key ?? null
    },
    /** A later run took its place: its job, which may have another key, needs no coordinator, and another process must not take it. */
    close: (coordinator: string, run: string, now: number): Promise<void> =>
      postgres.transaction(async (statements) => {
        await holdUncoordinated(statements, coordinator, run)
        const closed = await statements.query<object>(
          'UPDATE rankline.runs SET closed_at = $2 WHERE id = $1 AND closed_at IS NULL RETURNING id',
          [run, now],
        )
        if (closed.length === 0) return
        await cancelChunks(statements, [run])
        await statements.query(releaseOpenJobs, [run])
        await statements.query(addEvent, [run, 'closed', now, null, null])
      }),
  }
}

/** What was submitted before a run was closed is polled to its end. */
const releaseOpenJobs = `
UPDATE rankline.chunks c SET state = 'released', granted = c.spent + c.in_doubt + o.credits, takeovers = 0
FROM (
  SELECT chunk_id, sum(credits) AS credits FROM rankline.calls
  WHERE run_id = $1 AND outcome = 'accepted' AND job_over = false GROUP BY 1
) o WHERE c.id = o.chunk_id AND c.state <> 'leased' AND c.queries <> '{}'`

function asJson(jobs: readonly SharedJob[]): string {
  return JSON.stringify(jobs.map(({ keyHash, job }) => ({ key_hash: keyHash, job })))
}

/** Takes the jobs in the order of their names, so that two processes never wait for each other. */
async function coordinate(
  statements: Statements,
  jobs: readonly SharedJob[],
  { id, name, leaseMs }: { readonly id: string; readonly name: string; readonly leaseMs: number },
): Promise<readonly (SharedJob & { readonly heldBy: string })[]> {
  const wanted = asJson(jobs)
  await statements.query(sql.noteTimeline)
  await statements.query(
    `INSERT INTO rankline.jobs (key_hash, job) SELECT key_hash, job FROM jsonb_to_recordset($1::jsonb) AS g(key_hash text, job text)
    ORDER BY key_hash, job ON CONFLICT DO NOTHING`,
    [wanted],
  )
  const rows = await statements.query<{ key_hash: string; job: string; name: string | null; held: boolean }>(
    `SELECT j.key_hash, j.job, j.coordinator_name AS name,
      j.coordinator IS NOT NULL AND j.coordinator <> $2 AND j.coordinated_until > clock_timestamp() AS held
    FROM rankline.jobs j JOIN jsonb_to_recordset($1::jsonb) AS g(key_hash text, job text)
      ON j.key_hash = g.key_hash AND j.job = g.job ORDER BY j.key_hash, j.job FOR UPDATE OF j`,
    [wanted, id],
  )
  const held = rows.filter((row) => row.held)
  if (held.length > 0)
    return held.map(({ key_hash, job, name: heldBy }) => ({ keyHash: key_hash, job, heldBy: heldBy ?? '' }))
  await statements.query(
    `UPDATE rankline.jobs j SET coordinator = $2, coordinator_name = $3, drained = j.drained AND j.coordinator IS NOT DISTINCT FROM $2::uuid,
      coordinated_until = clock_timestamp() + $4 * interval '1 millisecond'
    FROM jsonb_to_recordset($1::jsonb) AS g(key_hash text, job text) WHERE j.key_hash = g.key_hash AND j.job = g.job`,
    [wanted, id, name, leaseMs],
  )
  return []
}

/**
 * A plan may be large, and readers wait for transactions that are under way: its parts are written one by one under the next version, and
 * nobody sees them before a last transaction makes that the version of the run. A run without a plan has version 0. What a
 * process left behind that died meanwhile is dropped.
 */
async function versionBefore(statements: Statements, run: SharedRun): Promise<number> {
  const { id, keyHash, job, groupId, date, settings, startedAt } = run
  await statements.query(
    `INSERT INTO rankline.runs (id, key_hash, job, group_id, date, settings, started_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT DO NOTHING`,
    [id, keyHash, job, groupId, date, JSON.stringify(settings), startedAt],
  )
  const [row] = await statements.query<{ version: number }>(
    'SELECT plan_version AS version FROM rankline.runs WHERE id = $1 AND key_hash = $2',
    [id, keyHash],
  )
  if (row === undefined) throw new CoordinationLost(`a run of ${job} goes on with another key`)
  const { version } = row
  await statements.query('DELETE FROM rankline.plan_parts WHERE run_id = $1 AND version > $2', [id, version])
  return version
}

/** One that a lost connection has written already stands. A plan that another process has published meanwhile gets none of ours. */
const writePart = `
INSERT INTO rankline.plan_parts (run_id, version, part, encoding, body)
SELECT id, $2::integer, $3::integer, $4::text, $5::bytea FROM rankline.runs WHERE id = $1 AND plan_version = $2 - 1 ON CONFLICT DO NOTHING`

/** A run that is published again has a newer plan and goes on. Answers the version of its plan. */
async function publishRun(
  statements: Statements,
  { id, keyHash, job, groupId, settings }: SharedRun,
): Promise<number> {
  const [row] = await statements.query<{ version: number }>(
    `UPDATE rankline.runs SET job = $5, group_id = $3, settings = $4, plan_version = plan_version + 1,
      finished_at = NULL, finish_reason = NULL, duration_ms = NULL, dropped_at = NULL
    WHERE id = $1 AND key_hash = $2 RETURNING plan_version AS version`,
    [id, keyHash, groupId, JSON.stringify(settings), job],
  )
  if (row === undefined) throw new CoordinationLost(`a run of ${job} goes on with another key`)
  return row.version
}

/** Writes ends of runs that the queue has lost. Who goes on with one publishes a newer plan, and ends it by that. */
async function putBackEnds(statements: Statements, ends: readonly FinishStep[]): Promise<void> {
  await statements.query(
    `SELECT 1 FROM rankline.jobs WHERE (key_hash, job) IN (SELECT key_hash, job FROM rankline.runs WHERE id = ANY ($1::uuid[]))
    ORDER BY key_hash, job FOR SHARE`,
    [ends.map(({ run }) => run)],
  )
  for (const { run, version, reason, finishedAt, durationMs } of ends.toSorted(byRun)) {
    const ended = await statements.query<object>(
      `UPDATE rankline.runs SET finish_reason = $3, finished_at = $4, duration_ms = $5
      WHERE id = $1 AND plan_version = $2 AND finish_reason IS NULL AND closed_at IS NULL RETURNING id`,
      [run, version, reason, finishedAt, durationMs],
    )
    if (ended.length === 0) continue
    await cancelChunks(statements, [run])
    await statements.query(addEvent, [run, 'finished', finishedAt, durationMs, reason])
  }
}

/** All who lock runs lock them in one order, and never wait for each other. */
const byRun = (a: FinishStep, b: FinishStep): number => (a.run < b.run ? -1 : 1)

const addEvent = `
INSERT INTO rankline.run_events (run_id, kind, plan_version, at, duration_ms, finish_reason)
SELECT id, $2, plan_version, $3::bigint, $4::bigint, $5 FROM rankline.runs WHERE id = $1`

const insertChunks = `
INSERT INTO rankline.chunks (run_id, key_hash, added_with, place, priority, tags, encoding, body, queries, most_credits, least_credits)
SELECT r.id, r.key_hash, $4, g.place, g.priority, ARRAY(SELECT jsonb_array_elements_text(g.tags)), g.encoding, ($3::bytea[])[g.place],
  ARRAY(SELECT decode(key, 'hex') FROM jsonb_array_elements_text(g.queries) AS key), g.most, g.least
FROM jsonb_to_recordset($2::jsonb) AS g(priority integer, tags jsonb, encoding text, place integer, queries jsonb, most bigint, least bigint)
JOIN rankline.runs r ON r.id = $1 ORDER BY g.place
ON CONFLICT (added_with, place) DO NOTHING`

const forgetFailures = `
WITH failed AS (
  DELETE FROM rankline.task_ends e USING jsonb_to_recordset($2::jsonb) AS g(query text, page integer)
  WHERE e.run_id = $1 AND e.query = decode(g.query, 'hex') AND e.page = g.page AND e.cause IS NOT NULL RETURNING e.call_id
)
UPDATE rankline.answers a SET given_up = true FROM failed WHERE a.call_id = failed.call_id`

async function cancelChunks(statements: Statements, runs: readonly string[]): Promise<void> {
  await statements.query(
    `UPDATE rankline.chunks SET state = 'cancelled' WHERE run_id = ANY ($1::uuid[]) AND state IN ('planned', 'released', 'dead')`,
    [runs],
  )
}

/** The version comes with it: who coordinates a run looks at it all the time, and so learns of a journal that became newer than it knows. */
async function progress(statements: Statements, run: string) {
  const rows = await statements.query<{
    version: number
    state: ChunkState
    chunks: number
    spent: number
    in_doubt: number
    reserved: number
  }>(
    `SELECT (SELECT version FROM rankline.version) AS version, state, count(*)::int AS chunks, sum(spent)::bigint AS spent, sum(in_doubt)::bigint AS in_doubt,
      sum(${sql.reservedOf('chunks')})::bigint AS reserved
    FROM rankline.chunks WHERE run_id = $1 GROUP BY state`,
    [run],
  )
  const tooNew = layout.whyTooNew(rows[0]?.version ?? null)
  if (tooNew !== null) throw new UsageError(tooNew)
  return {
    chunks: chunksByState(rows),
    /** Credits billed, possibly billed, and reserved for chunks that are released. */
    spent: rows.reduce((sum, row) => sum + row.spent, 0),
    inDoubt: rows.reduce((sum, row) => sum + row.in_doubt, 0),
    reserved: rows.reduce((sum, row) => sum + row.reserved, 0),
  }
}

/** Keeps the right to coordinate a job until the transaction ends. Rejected with `CoordinationLost` where another process has it. */
async function holdJob(
  statements: Statements,
  coordinator: string,
  { keyHash, job }: SharedJob,
): Promise<void> {
  const rows = await statements.query<object>(
    'SELECT 1 FROM rankline.jobs WHERE key_hash = $1 AND job = $2 AND coordinator = $3 FOR SHARE',
    [keyHash, job, coordinator],
  )
  if (rows.length === 0) throw new CoordinationLost(`another process coordinates ${job} now`)
}

/** Any number of its own, beside the hash of a key. */
const releaseLock = 7_265_114

/** Releases of these keys take turns until the transaction ends. */
async function lockReleases(statements: Statements, keys: readonly string[]): Promise<void> {
  for (const key of [...new Set(keys)].sort())
    await statements.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [releaseLock, key])
}

/**
 * Keeps others from coordinating the job of a run until the transaction ends. Rejected with `CoordinationLost` where another process has
 * the right; nobody need have it.
 */
async function holdUncoordinated(statements: Statements, coordinator: string, run: string): Promise<void> {
  const rows = await statements.query<{ job: string; held: boolean }>(
    `SELECT job, coordinator IS DISTINCT FROM $2::uuid AND coordinator IS NOT NULL AND coordinated_until > clock_timestamp() AS held
    FROM rankline.jobs WHERE (key_hash, job) = (SELECT key_hash, job FROM rankline.runs WHERE id = $1) FOR SHARE`,
    [run, coordinator],
  )
  const held = rows.find((row) => row.held)
  if (held !== undefined) throw new CoordinationLost(`another process coordinates ${held.job} now`)
}

/** The same for the jobs of runs. */
async function holdRuns(statements: Statements, coordinator: string, runs: readonly string[]): Promise<void> {
  const rows = await statements.query<{ job: string; coordinator: string | null }>(
    `SELECT job, coordinator FROM rankline.jobs
    WHERE (key_hash, job) IN (SELECT key_hash, job FROM rankline.runs WHERE id = ANY ($1::uuid[])) ORDER BY key_hash, job FOR SHARE`,
    [runs],
  )
  const lost = rows.find((row) => row.coordinator !== coordinator)
  if (lost !== undefined) throw new CoordinationLost(`another process coordinates ${lost.job} now`)
}

/** Whether the coordinator of one of these runs is asked to stop. */
async function isDrained(statements: Statements, runs: readonly string[]): Promise<boolean> {
  const rows = await statements.query<object>(
    `SELECT 1 FROM rankline.jobs
    WHERE drained AND (key_hash, job) IN (SELECT key_hash, job FROM rankline.runs WHERE id = ANY ($1::uuid[])) LIMIT 1`,
    [runs],
  )
  return rows.length > 0
}

/**
 * Moves jobs to another key, with all that is theirs. Chunks keep their fence: a worker of the former key that has one finishes it.
 * Calls stay those of the key that paid for them. Readers are told by the newest run of each job, which is published once more as it is.
 */
async function rekey(statements: Statements, jobs: readonly SharedJob[], to: string) {
  const moved = JSON.stringify(jobs.map(({ keyHash, job }) => ({ key_hash: keyHash, job })))
  await statements.query(addJobs, [moved, to])
  const [held] = await statements.query<{ job: string; name: string }>(heldJobs, [moved, to])
  if (held !== undefined) throw new RekeyRefused(held.job, held.name)
  await lockReleases(statements, [to, ...jobs.map(({ keyHash }) => keyHash)])
  const [twice] = await statements.query<{ job: string }>(openTwice, [moved, to])
  if (twice !== undefined) throw new RekeyRefused(twice.job, null)
  const runs = await statements.query<{ id: string; job: string; before: string }>(moveRuns, [moved, to])
  const ids = runs.map(({ id }) => id)
  const chunks = await statements.query<{ run: string; state: ChunkState }>(moveChunks, [ids, to])
  await statements.query('UPDATE rankline.spending SET key_hash = $2 WHERE run_id = ANY ($1::uuid[])', [
    ids,
    to,
  ])
  await statements.query(dropJobs, [moved])
  await statements.query(publishAgain, [ids])
  return jobs.map(({ keyHash, job }) => {
    const own = new Set(runs.filter((run) => run.job === job && run.before === keyHash).map(({ id }) => id))
    const ownChunks = chunks.filter(({ run }) => own.has(run))
    return {
      keyHash,
      job,
      runs: own.size,
      /** Chunks that are not over, and those of them that workers of the former key have and finish. */
      chunks: ownChunks.length,
      leased: ownChunks.filter(({ state }) => state === 'leased').length,
    }
  })
}

const given = `jsonb_to_recordset($1::jsonb) AS g(key_hash text, job text)`

const addJobs = `
INSERT INTO rankline.jobs (key_hash, job) SELECT DISTINCT $2, job FROM ${given} ORDER BY 2 ON CONFLICT DO NOTHING`

/** All of them are locked, so that nobody begins to coordinate one meanwhile. */
const heldJobs = `
WITH locked AS (
  SELECT j.job, j.coordinator_name AS name, j.coordinator IS NOT NULL AND j.coordinated_until > clock_timestamp() AS held
  FROM rankline.jobs j JOIN ${given} ON j.job = g.job AND j.key_hash IN (g.key_hash, $2) ORDER BY j.key_hash, j.job FOR UPDATE OF j
)
SELECT job, name FROM locked WHERE held ORDER BY job LIMIT 1`

/** Of the newest runs of these jobs, more than one goes on. */
const openTwice = `
SELECT job FROM (
  SELECT DISTINCT ON (r.key_hash, r.job) r.job, r.closed_at IS NULL
    AND (r.finish_reason IS NULL OR r.finish_reason NOT IN ('completed', 'completed_with_failures')) AS open
  FROM rankline.runs r JOIN ${given} ON r.job = g.job AND r.key_hash IN (g.key_hash, $2) ORDER BY r.key_hash, r.job, r.number DESC
) newest WHERE open GROUP BY job HAVING count(*) > 1 ORDER BY job LIMIT 1`

/** `before` is the former key of a run. */
const moveRuns = `
UPDATE rankline.runs r SET key_hash = $2 FROM ${given}
WHERE r.key_hash = g.key_hash AND r.job = g.job RETURNING r.id, r.job, g.key_hash AS before`

/**
 * What was released with credits of the former key waits for credits of the new one; asynchronous jobs of closed runs are polled on.
 * Rows are locked in the order of their numbers, as everywhere.
 */
const moveChunks = `
WITH locked AS (
  SELECT c.id, c.state = 'released' AND r.closed_at IS NULL AS waits FROM rankline.chunks c JOIN rankline.runs r ON r.id = c.run_id
  WHERE c.run_id = ANY ($1::uuid[]) AND c.state IN ('planned', 'released', 'leased', 'dead') ORDER BY c.id FOR UPDATE OF c
)
UPDATE rankline.chunks c SET key_hash = $2, stop = NULL, state = CASE WHEN l.waits THEN 'planned' ELSE c.state END,
  granted = CASE WHEN l.waits THEN c.spent + c.in_doubt ELSE c.granted END
FROM locked l WHERE c.id = l.id RETURNING c.run_id AS run, c.state`

const dropJobs = `DELETE FROM rankline.jobs j USING ${given} WHERE j.key_hash = g.key_hash AND j.job = g.job`

const publishAgain = `
INSERT INTO rankline.run_events (run_id, kind, plan_version)
SELECT DISTINCT ON (job) id, 'published', plan_version FROM rankline.runs
WHERE id = ANY ($1::uuid[]) AND plan_version > 0 ORDER BY job, number DESC`

/** What others change of runs and their plans. */
export const planChanges = {
  lockReleases,
  rekey,
  holdRuns,
  isDrained,
  putBackEnds,
}
