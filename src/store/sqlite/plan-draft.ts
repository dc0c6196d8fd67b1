import type { Database } from 'better-sqlite3'
import type { Run } from '../../model/run.ts'
import type { PlanDraft } from '../store.ts'
import { commitPlan } from './plan-commit.ts'
import { numberTables } from './plan-numbers.ts'
import { type Staged, stagedJob } from './plan-staged.ts'
import { restOf, summarise } from './plan-summary.ts'
import { runById } from './run-reads.ts'
import type { RunTargets } from './targets.ts'
import type { Writer } from './writer.ts'

/** Kilobytes of the draft that are held in memory: it is written and read from its beginning to its end. */
const cacheSize = 8_000

/**
 * Plans are staged in a database of their own that lies in a temporary file: nobody else sees them, they take no lock, a
 * million queries need no memory, and when the draft is dropped the disk has its room back.
 */
export function openDraft(db: Database, writer: Writer, watched: RunTargets): PlanDraft {
  db.exec(`ATTACH '' AS draft`)
  db.pragma(`draft.cache_size = -${cacheSize}`)
  // There are no old pages to keep but those of the last one.
  db.pragma('draft.journal_mode = MEMORY')
  db.exec(numberTables)
  const byJob = new Map<string, Staged>()
  const staged = (job: string): Staged => {
    const known = byJob.get(job) ?? stagedJob(db, byJob.size + 1)
    byJob.set(job, known)
    return known
  }
  const change = <A extends readonly unknown[], T>(work: (...args: A) => T) => db.transaction(work)
  const join = change((job: string) => staged(job).join())
  const add = change((job: string, queries: Parameters<PlanDraft['add']>[1]) => staged(job).add(queries))

  return {
    add: async (job, queries) => add(job, queries),
    summary: async (job) => {
      const duplicates = join(job.settings.name)
      return summarise(db, staged(job.settings.name), job, duplicates)
    },
    fit: async (jobs, means) => {
      for (const { settings } of jobs) join(settings.name)
      return restOf(db, staged, jobs, means)
    },
    commit: async (jobs, now) => {
      for (const { settings } of jobs) join(settings.name)
      const ids = await writer.write(() => {
        watched.forget()
        return commitPlan(db, staged, jobs, now)
      })
      return ids.map((id) => runById(db, id) as Run)
    },
    [Symbol.asyncDispose]: async () => {
      db.exec('DETACH draft')
    },
  }
}
