import type { Database } from 'better-sqlite3'
import { and, eq, isNull, sql } from 'drizzle-orm'
import type { GroupCommit } from './connection/group-commit.ts'
import { drizzle } from './connection/statements.ts'
import { jobs, runs, sharedJobs } from './schema.ts'
import { alerts, mutes, outbox, slots } from './unattended/schema.ts'

/** Whether a job is paused, and was. Instants are epoch milliseconds. */
interface Pause {
  /** Since when; null where it is not paused now. */
  readonly pausedAt: number | null
  /** When its last pause ended; null where it had none. */
  readonly resumedAt: number | null
}

export function jobStore(db: Database, writer: GroupCommit) {
  const orm = drizzle(db)
  return {
    /** The pause of a job, also of one that never ran. */
    pauseOf: async (name: string): Promise<Pause> =>
      orm
        .select({ pausedAt: jobs.pausedAt, resumedAt: jobs.resumedAt })
        .from(jobs)
        .where(eq(jobs.name, name))
        .get() ?? { pausedAt: null, resumedAt: null },
    /** Pauses a job; one that never ran is known by its file from then on. */
    pauseJob: (
      { name, file }: { readonly name: string; readonly file: string },
      now: number,
    ): Promise<void> =>
      writer.write(() => {
        orm
          .insert(jobs)
          .values({ name, file, pausedAt: now })
          .onConflictDoUpdate({
            target: jobs.name,
            set: { pausedAt: sql`coalesce(${jobs.pausedAt}, ${now})` },
          })
          .run()
      }),
    /** Ends the pause of a job. */
    resumeJob: (name: string, now: number): Promise<void> =>
      writer.write(() => {
        orm.update(jobs).set({ pausedAt: null, resumedAt: now }).where(eq(jobs.name, name)).run()
      }),
    /** Gives everything that is stored of a job another name, in one change; `file` is null where it stays. */
    renameJob: (from: string, to: string, file: string | null): Promise<void> =>
      writer.write(() => renameJob(db, { from, to, file })),
  }
}

/** What becomes of jobs in the life of a client. */
export type JobStore = ReturnType<typeof jobStore>

/** What stops several jobs is an alert of all of them. */
const renameStopped = `UPDATE alerts SET job = CASE job WHEN @from THEN @to ELSE job END,
    stopped = (SELECT json_group_array(CASE value ->> 'job' WHEN @from THEN json_set(value, '$.job', @to) ELSE json(value) END)
      FROM json_each(alerts.stopped))
  WHERE stopped IS NOT NULL AND EXISTS (SELECT 1 FROM json_each(alerts.stopped) WHERE value ->> 'job' = @from)`

/** Gives everything that is stored of a job another name; `file` is null where it stays. Inside a transaction. */
export function renameJob(
  db: Database,
  { from, to, file }: { readonly from: string; readonly to: string; readonly file: string | null },
): void {
  const orm = drizzle(db)
  orm
    .update(jobs)
    .set({ name: to, ...(file !== null && { file }) })
    .where(eq(jobs.name, from))
    .run()
  orm
    .update(runs)
    .set({ job: to, settings: sql`json_set(${runs.settings}, '$.name', ${to})` })
    .where(eq(runs.job, from))
    .run()
  for (const table of [slots, mutes]) orm.update(table).set({ job: to }).where(eq(table.job, from)).run()
  // What comes from the shared journal goes on under the new name.
  orm.update(sharedJobs).set({ name: to }).where(eq(sharedJobs.name, from)).run()
  db.prepare(renameStopped).run({ from, to })
  const messages = orm
    .select({ id: outbox.id, identity: outbox.identity })
    .from(outbox)
    .where(eq(outbox.job, from))
    .all()
  for (const { id, identity } of messages) {
    // What was put in once, such as the digest of a week, is not put in again under the new name.
    const [kind = ''] = identity.split(':')
    const about = `${kind}:${from}:`
    orm
      .update(outbox)
      .set({
        job: to,
        identity: identity.startsWith(about) ? `${kind}:${to}:${identity.slice(about.length)}` : identity,
        message: sql`CASE WHEN ${outbox.state} = 'waiting' THEN json_set(${outbox.message}, '$.job', ${to}) ELSE ${outbox.message} END`,
      })
      .where(eq(outbox.id, id))
      .run()
  }
  const own = orm
    .select({ id: alerts.id, identity: alerts.identity })
    .from(alerts)
    .where(and(eq(alerts.job, from), isNull(alerts.stopped)))
    .all()
  for (const { id, identity } of own) {
    // What an alert is about begins with its job.
    const [, ...about] = JSON.parse(identity) as readonly unknown[]
    orm
      .update(alerts)
      .set({ job: to, identity: JSON.stringify([to, ...about]) })
      .where(eq(alerts.id, id))
      .run()
  }
}
