import { CoordinationLost, type SharedJob } from '../shared/plans.ts'
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
