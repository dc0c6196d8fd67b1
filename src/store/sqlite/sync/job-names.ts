import type { Database } from 'better-sqlite3'
import { and, desc, eq, sql } from 'drizzle-orm'
import { removedJob } from '../../../model/job.ts'
import { orm, prepared, type Values } from '../connection/statements.ts'
import { renameJob } from '../jobs.ts'
import { calls, jobs, keys, runs } from '../schema.ts'
import { sharedJobs, sharedRuns } from './schema.ts'

/** A job of the journal. */
interface KeyJob {
  readonly keyHash: string
  readonly job: string
}

type OfJob = Values<KeyJob>

const nameOf = prepared(($: OfJob) =>
  orm
    .select({ name: sharedJobs.name, own: sharedJobs.own })
    .from(sharedJobs)
    .where(and(eq(sharedJobs.keyHash, $.keyHash), eq(sharedJobs.job, $.job))),
)
const setName = prepared(($: Values<KeyJob & { name: string; own: boolean }>) =>
  orm
    .insert(sharedJobs)
    .values({ keyHash: $.keyHash, job: $.job, name: $.name, own: $.own })
    .onConflictDoUpdate({
      target: [sharedJobs.keyHash, sharedJobs.job],
      set: { name: sql`excluded.name`, own: sql`max(${sharedJobs.own}, excluded.own)` },
    }),
)
const holders = prepared(($: Values<{ name: string }>) =>
  orm
    .select({ keyHash: sharedJobs.keyHash, own: sharedJobs.own })
    .from(sharedJobs)
    .where(eq(sharedJobs.name, $.name))
    .orderBy(sharedJobs.keyHash, sharedJobs.job),
)
const newestRun = prepared(($: Values<{ name: string }>) =>
  orm
    .select({
      key: sql<
        string | null
      >`(SELECT ${keys.hash} FROM ${calls} JOIN ${keys} ON ${keys.id} = ${calls.keyId} WHERE ${calls.runId} = ${runs.id} AND ${calls.credits} > 0 LIMIT 1)`,
      shared: sharedRuns.id,
    })
    .from(runs)
    .leftJoin(sharedRuns, eq(sharedRuns.runId, runs.id))
    .where(eq(runs.job, $.name))
    .orderBy(desc(runs.id))
    .limit(1),
)

/** Whether jobs of other keys have that name here. What ran before jobs were known by their keys is told by what paid for it. */
function isOfOthers(db: Database, name: string, keyHash: string): boolean {
  const named = holders.all(db, { name })
  if (named.length > 0) return named.some((one) => one.keyHash !== keyHash)
  const run = newestRun.get(db, { name })
  if (run === undefined) return false
  return run.key === null ? run.shared === null : run.key !== keyHash
}

/** How much of a key a name shows, as `queue status` does. */
const shownKey = 8

/** The first name that is free here for a job: its own, or with its key behind it. */
function freeName(db: Database, { keyHash, job }: KeyJob, isTaken = false): string {
  const withKey = `${job}@${keyHash.slice(0, shownKey)}`
  const names = isTaken ? [withKey] : [job, withKey]
  return names.find((name) => !isOfOthers(db, name, keyHash)) ?? `${job}@${keyHash}`
}

const keepFile = prepared(
  ($: Values<{ from: string; to: string }>) =>
    sql`UPDATE OR IGNORE ${jobs} SET name = ${$.to} WHERE name = ${$.from}`,
)
const forgetJob = prepared(($: Values<{ name: string }>) => orm.delete(jobs).where(eq(jobs.name, $.name)))
const moveRuns = prepared(($: Values<{ from: string; to: string }>) =>
  orm
    .update(runs)
    .set({ job: sql`${$.to}`, settings: sql`json_set(${runs.settings}, '$.name', ${$.to})` })
    .where(eq(runs.job, $.from)),
)
const moveNames = prepared(($: Values<{ from: string; to: string }>) =>
  orm
    .update(sharedJobs)
    .set({ name: sql`${$.to}` })
    .where(eq(sharedJobs.name, $.from)),
)

/** What was two jobs here is one: its key was replaced. The history of both goes on under one name. */
function join(db: Database, from: string, to: string): void {
  moveRuns.run(db, { from, to })
  moveNames.run(db, { from, to })
  keepFile.run(db, { from, to })
  forgetJob.run(db, { name: from })
}

/** The name here of a job of the journal, where it has one; it gets one where it has none. Inside a transaction. */
export function nameHere(db: Database, of: KeyJob): string {
  const known = nameOf.get(db, of)
  if (known !== undefined) return known.name
  const name = freeName(db, of)
  setName.run(db, { ...of, name, own: false })
  return name
}

/**
 * A run that is known here by a name belongs to that job of the journal now: where its key was replaced, the job goes on here under the
 * name that it had. Inside a transaction.
 */
export function followJob(db: Database, of: KeyJob, name: string): string {
  if (name === removedJob) return name
  const known = nameOf.get(db, of)
  if (known === undefined) setName.run(db, { ...of, name, own: false })
  else if (known.name !== name) {
    const [kept, other] = known.name === of.job ? [known.name, name] : [name, known.name]
    join(db, other, kept)
    return kept
  }
  return name
}

/**
 * This database collects a job with a key: the job has its own name here. One of another key that has the name, and that came from
 * elsewhere, gets its key behind it; answers its new name. Inside a transaction.
 */
export function ownJob(db: Database, of: KeyJob): string | null {
  const { job } = of
  const known = nameOf.get(db, of)
  if (known?.own === true && known.name === job) return null
  const named = holders.all(db, { name: job })
  const other = named.some(({ own }) => own) ? undefined : named.find(({ keyHash }) => keyHash !== of.keyHash)
  let moved: string | null = null
  if (other !== undefined && known?.name !== job) {
    moved = freeName(db, { keyHash: other.keyHash, job }, true)
    renameJob(db, { from: job, to: moved, file: null })
  }
  if (known !== undefined && known.name !== job) join(db, known.name, job)
  setName.run(db, { ...of, name: job, own: true })
  return moved
}

const ownJobs = prepared(() =>
  orm
    .select({ keyHash: sharedJobs.keyHash, job: sharedJobs.job })
    .from(sharedJobs)
    .where(eq(sharedJobs.own, true))
    .orderBy(sharedJobs.job, sharedJobs.keyHash),
)
const allJobs = prepared(() =>
  orm.select({ keyHash: sharedJobs.keyHash, name: sharedJobs.name }).from(sharedJobs),
)

/** The jobs of the journal that this database collects, or did. */
export function jobsCollectedHere(db: Database): readonly KeyJob[] {
  return ownJobs.all(db)
}

/** Names here of jobs of keys with which this database collects nothing. */
export function namesOfOthers(db: Database): readonly string[] {
  const own = new Set(ownJobs.all(db).map(({ keyHash }) => keyHash))
  return allJobs.all(db).flatMap(({ keyHash, name }) => (own.has(keyHash) ? [] : [name]))
}
