import type { Database } from 'better-sqlite3'
import { and, desc, eq, sql } from 'drizzle-orm'
import { removedJob } from '../../../model/job.ts'
import { shortKey } from '../../../model/text.ts'
import { drizzle, raw } from '../connection/statements.ts'
import { renameJob } from '../jobs.ts'
import { calls, jobs, keys, runs } from '../schema.ts'
import { sharedJobs, sharedRuns } from './schema.ts'

/** A job of the journal. */
interface KeyJob {
  readonly keyHash: string
  readonly job: string
}

/** The name here of a job of the journal, and whether this database collects it. */
function nameOf(db: Database, { keyHash, job }: KeyJob) {
  return drizzle(db)
    .select({ name: sharedJobs.name, own: sharedJobs.own })
    .from(sharedJobs)
    .where(and(eq(sharedJobs.keyHash, keyHash), eq(sharedJobs.job, job)))
    .get()
}

function setName(db: Database, { keyHash, job }: KeyJob, name: string, own: boolean): void {
  drizzle(db)
    .insert(sharedJobs)
    .values({ keyHash, job, name, own })
    .onConflictDoUpdate({
      target: [sharedJobs.keyHash, sharedJobs.job],
      set: { name, own: own ? true : sharedJobs.own },
    })
    .run()
}

/** Jobs of the journal that have a name here. */
function holders(db: Database, name: string) {
  return drizzle(db)
    .select({ keyHash: sharedJobs.keyHash, own: sharedJobs.own })
    .from(sharedJobs)
    .where(eq(sharedJobs.name, name))
    .orderBy(sharedJobs.keyHash, sharedJobs.job)
    .all()
}

/** Whose runs have that name here; null where nobody's have it. What ran before jobs were known by their keys is told by what paid for it. */
function keysNamed(db: Database, name: string): readonly (string | null)[] | null {
  const named = holders(db, name)
  if (named.length > 0) return named.map(({ keyHash }) => keyHash)
  const run = drizzle(db)
    .select({
      key: sql<
        string | null
      >`(SELECT ${keys.hash} FROM ${calls} JOIN ${keys} ON ${keys.id} = ${calls.keyId} WHERE ${calls.runId} = ${runs.id} AND ${calls.credits} > 0 LIMIT 1)`,
      shared: sharedRuns.id,
    })
    .from(runs)
    .leftJoin(sharedRuns, eq(sharedRuns.runId, runs.id))
    .where(eq(runs.job, name))
    .orderBy(desc(runs.id))
    .get()
  // A run that came from elsewhere and has bought nothing yet is anybody's.
  if (run === undefined || (run.key === null && run.shared !== null)) return null
  return [run.key]
}

/** Whether this database collects, with other keys than that one. */
function isForeign(db: Database, keyHash: string, ownKey: string | null): boolean {
  const own = new Set([ownKey, ...jobsCollectedHere(db).map((job) => job.keyHash)])
  own.delete(null)
  return own.size > 0 && !own.has(keyHash)
}

/**
 * A name here for a job that has none yet: its own, or with its key behind it where others have that. A database that collects keeps names
 * without a key for what it collects.
 */
function newName(db: Database, of: KeyJob, ownKey: string | null): string {
  const { keyHash, job } = of
  const isTheirs = keysNamed(db, job) !== null
  if (isFree(db, job, keyHash) && (isTheirs || !isForeign(db, keyHash, ownKey))) return job
  return nameWithKey(db, of)
}

function nameWithKey(db: Database, { keyHash, job }: KeyJob): string {
  const name = `${job}@${shortKey(keyHash)}`
  return isFree(db, name, keyHash) ? name : `${job}@${keyHash}`
}

/** Whether no job of another key has that name here. */
function isFree(db: Database, name: string, keyHash: string): boolean {
  return keysNamed(db, name)?.every((key) => key === keyHash) ?? true
}

/** What was two jobs here is one: its key was replaced. The history of both goes on under one name. */
function join(db: Database, from: string, to: string): void {
  const orm = drizzle(db)
  orm
    .update(runs)
    .set({ job: to, settings: sql`json_set(${runs.settings}, '$.name', ${to})` })
    .where(eq(runs.job, from))
    .run()
  orm.update(sharedJobs).set({ name: to }).where(eq(sharedJobs.name, from)).run()
  // Its file goes with it, unless the other one has a file.
  db.prepare(raw`UPDATE OR IGNORE ${jobs} SET ${jobs.name} = ? WHERE ${jobs.name} = ?`).run(to, from)
  orm.delete(jobs).where(eq(jobs.name, from)).run()
}

/**
 * The name here of a job of the journal. Inside a transaction.
 *
 * @param ownKey the key of this host; null where it has none
 */
export function nameHere(db: Database, of: KeyJob, ownKey: string | null): string {
  const known = nameOf(db, of)
  if (known !== undefined) return known.name
  const name = newName(db, of, ownKey)
  setName(db, of, name, false)
  return name
}

/**
 * A run that is known here by a name belongs to that job of the journal now: where its key was replaced, what was two jobs here is one.
 * Answers the name that is left. Inside a transaction.
 */
export function followJob(db: Database, of: KeyJob, name: string, ownKey: string | null): string {
  if (name === removedJob) return name
  const isPlain = !name.startsWith(`${of.job}@`)
  const known = nameOf(db, of)
  if (known === undefined && isPlain) setName(db, of, name, false)
  const other = nameHere(db, of, ownKey)
  if (other === name) return name
  // A name that reports go by stays, unless it is the job's own from now on.
  const [kept, left] = isPlain || other !== of.job ? [name, other] : [other, name]
  join(db, left, kept)
  return kept
}

/**
 * This database collects a job with a key: the job has its own name here. One of another key that has the name, and that came from
 * elsewhere, gets its key behind it; answers its new name. Inside a transaction.
 */
export function ownJob(db: Database, of: KeyJob): string | null {
  const { job } = of
  const known = nameOf(db, of)
  if (known?.own === true && known.name === job) return null
  const named = holders(db, job)
  const other = named.some(({ own }) => own) ? undefined : named.find(({ keyHash }) => keyHash !== of.keyHash)
  let moved: string | null = null
  if (other !== undefined && known?.name !== job) {
    moved = nameWithKey(db, { keyHash: other.keyHash, job })
    renameJob(db, { from: job, to: moved, file: null })
  }
  if (known !== undefined && known.name !== job) join(db, known.name, job)
  setName(db, of, job, true)
  return moved
}

/** The jobs of the journal that this database collects, or did. */
export function jobsCollectedHere(db: Database): readonly KeyJob[] {
  return drizzle(db)
    .select({ keyHash: sharedJobs.keyHash, job: sharedJobs.job })
    .from(sharedJobs)
    .where(eq(sharedJobs.own, true))
    .orderBy(sharedJobs.job, sharedJobs.keyHash)
    .all()
}

/** In a database that collects: names here of jobs of keys with which it does not. */
export function namesOfOthers(db: Database): readonly string[] {
  const own = new Set(jobsCollectedHere(db).map(({ keyHash }) => keyHash))
  if (own.size === 0) return []
  const all = drizzle(db)
    .select({ keyHash: sharedJobs.keyHash, name: sharedJobs.name })
    .from(sharedJobs)
    .all()
  return all.flatMap(({ keyHash, name }) => (own.has(keyHash) ? [] : [name]))
}
