import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Clock } from '../../model/time.ts'
import type { Store } from '../../store/store.ts'
import { deliver } from '../messages/deliver.ts'
import type { Outgoing } from '../messages/outgoing.ts'
import { judgeSkippedJob } from './judge.ts'

/** What is needed to say that jobs could not run. */
export interface SkippedMeans {
  /** Path of the database. Where there is none, or one of an older rankline, nothing is said. */
  readonly database: string
  readonly clock: Pick<Clock, 'wall' | 'monotonic'>
  readonly outgoing: Outgoing
  /** Called with a line that must be read. */
  readonly log: (line: string) => void
}

/**
 * Says of jobs, by their files, that they could not run at their time, where their rules ask for that (`when: run-skipped`): a
 * file has mistakes, or the settings allow no call. The rules are those of the last run.
 */
export async function alertSkippedJobs(
  files: readonly string[],
  reason: string,
  { database, clock, outgoing, log }: SkippedMeans,
): Promise<void> {
  if (!existsSync(database)) return
  const { needsMigration } = await import('../../store/sqlite/connection/inspect.ts')
  if (needsMigration(database)) return
  const { openStore } = await import('../../store/sqlite/open.ts')
  await using store = await openStore(database)
  let isTold = false
  for (const job of await jobsOf(store, files))
    isTold = (await judgeSkippedJob({ store, clock }, { job, reason })) || isTold
  if (isTold) await deliver({ store, clock, outgoing, log })
}

/** The jobs whose last run was of one of these files. */
async function jobsOf(store: Store, files: readonly string[]): Promise<readonly string[]> {
  const paths = new Set(files.map((file) => resolve(file)))
  const jobs: string[] = []
  for (const job of await store.jobNames()) if (paths.has((await store.jobFile(job)) ?? '')) jobs.push(job)
  return jobs
}
