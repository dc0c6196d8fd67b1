import { type MovedJob, RekeyRefused } from '../../store/shared/operations.ts'
import type { SharedJob } from '../../store/shared/plans.ts'
import type { Statements } from './connection.ts'
import { lockReleases } from './coordination.ts'

/**
 * Moves jobs to another key, with all that is theirs. Chunks keep their fence: a worker of the key of before that has one finishes it.
 * Calls stay those of the key that paid for them. Readers are told by the newest run of each job, which is published once more as it is.
 */
export async function rekey(
  statements: Statements,
  jobs: readonly SharedJob[],
  to: string,
): Promise<readonly MovedJob[]> {
  const moved = JSON.stringify(jobs.map(({ keyHash, job }) => ({ key_hash: keyHash, job })))
  await statements.query(addJobs, [moved, to])
  const [held] = await statements.query<{ job: string; name: string }>(heldJobs, [moved, to])
  if (held !== undefined) throw new RekeyRefused(held.job, held.name)
  await lockReleases(statements, [to, ...jobs.map(({ keyHash }) => keyHash)])
  const [twice] = await statements.query<{ job: string }>(openTwice, [moved, to])
  if (twice !== undefined) throw new RekeyRefused(twice.job, null)
  const runs = await statements.query<MovedRun>(moveRuns, [moved, to])
  const ids = runs.map(({ id }) => id)
  const chunks = await statements.query<MovedChunk>(moveChunks, [ids, to])
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
      chunks: ownChunks.length,
      leased: ownChunks.filter(({ state }) => state === 'leased').length,
    }
  })
}

interface MovedRun {
  readonly id: string
  readonly job: string
  /** The key of before. */
  readonly before: string
}

interface MovedChunk {
  readonly run: string
  readonly state: string
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

const moveRuns = `
UPDATE rankline.runs r SET key_hash = $2 FROM ${given}
WHERE r.key_hash = g.key_hash AND r.job = g.job RETURNING r.id, r.job, g.key_hash AS before`

/**
 * What was released with the credits of the key of before waits for those of the new one; asynchronous jobs of closed runs are polled on.
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
