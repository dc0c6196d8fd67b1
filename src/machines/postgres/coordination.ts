import { CoordinationLost, type SharedJob } from '../../store/shared/plans.ts'
import type { Statements } from './connection.ts'

/** Keeps the right to coordinate a job until the transaction ends. Rejected with `CoordinationLost` where another process has it. */
export async function holdJob(
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
export async function lockReleases(statements: Statements, keys: readonly string[]): Promise<void> {
  for (const key of [...new Set(keys)].sort())
    await statements.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [releaseLock, key])
}

/**
 * Keeps others from coordinating the job of a run until the transaction ends. Rejected with `CoordinationLost` where another process has
 * the right; nobody need have it.
 */
export async function holdUncoordinated(
  statements: Statements,
  coordinator: string,
  run: string,
): Promise<void> {
  const rows = await statements.query<{ job: string; held: boolean }>(
    `SELECT job, coordinator IS DISTINCT FROM $2::uuid AND coordinator IS NOT NULL AND coordinated_until > clock_timestamp() AS held
    FROM rankline.jobs WHERE (key_hash, job) = (SELECT key_hash, job FROM rankline.runs WHERE id = $1) FOR SHARE`,
    [run, coordinator],
  )
  const held = rows.find((row) => row.held)
  if (held !== undefined) throw new CoordinationLost(`another process coordinates ${held.job} now`)
}

/** The same for the jobs of runs. */
export async function holdRuns(
  statements: Statements,
  coordinator: string,
  runs: readonly string[],
): Promise<void> {
  const rows = await statements.query<{ job: string; coordinator: string | null }>(
    `SELECT job, coordinator FROM rankline.jobs
    WHERE (key_hash, job) IN (SELECT key_hash, job FROM rankline.runs WHERE id = ANY ($1::uuid[])) ORDER BY key_hash, job FOR SHARE`,
    [runs],
  )
  const lost = rows.find((row) => row.coordinator !== coordinator)
  if (lost !== undefined) throw new CoordinationLost(`another process coordinates ${lost.job} now`)
}

/** Whether the coordinator of one of these runs is asked to stop. */
export async function isDrained(statements: Statements, runs: readonly string[]): Promise<boolean> {
  const rows = await statements.query<object>(
    `SELECT 1 FROM rankline.jobs
    WHERE drained AND (key_hash, job) IN (SELECT key_hash, job FROM rankline.runs WHERE id = ANY ($1::uuid[])) LIMIT 1`,
    [runs],
  )
  return rows.length > 0
}
