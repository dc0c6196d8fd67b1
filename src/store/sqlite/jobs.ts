import type { Database } from 'better-sqlite3'
import { and, eq, isNull, sql } from 'drizzle-orm'
import type { JobStore } from '../jobs.ts'
import type { GroupCommit } from './connection/group-commit.ts'
import { orm, prepared, type Values } from './connection/statements.ts'
import { jobs, runs } from './schema.ts'
import { sharedJobs } from './sync/schema.ts'
import { alerts, mutes, outbox, slots } from './unattended/schema.ts'

const pauseOf = prepared(($: Values<{ name: string }>) =>
  orm.select({ pausedAt: jobs.pausedAt, resumedAt: jobs.resumedAt }).from(jobs).where(eq(jobs.name, $.name)),
)

const pause = prepared(($: Values<{ name: string; file: string; now: number }>) =>
  orm
    .insert(jobs)
    .values({ name: $.name, file: $.file, pausedAt: $.now })
    .onConflictDoUpdate({ target: jobs.name, set: { pausedAt: sql`coalesce(${jobs.pausedAt}, ${$.now})` } }),
)

const resume = prepared(($: Values<{ name: string; now: number }>) =>
  orm
    .update(jobs)
    .set({ pausedAt: null, resumedAt: sql`${$.now}` })
    .where(eq(jobs.name, $.name)),
)

const setFile = prepared(($: Values<{ name: string; file: string }>) =>
  orm
    .update(jobs)
    .set({ file: sql`${$.file}` })
    .where(eq(jobs.name, $.name)),
)

/** What stops several jobs is an alert of all of them. */
const renameStopped = `UPDATE alerts SET job = CASE job WHEN @from THEN @to ELSE job END,
    stopped = (SELECT json_group_array(CASE value ->> 'job' WHEN @from THEN json_set(value, '$.job', @to) ELSE json(value) END)
      FROM json_each(alerts.stopped))
  WHERE stopped IS NOT NULL AND EXISTS (SELECT 1 FROM json_each(alerts.stopped) WHERE value ->> 'job' = @from)`

type Renamed = Values<{ from: string; to: string }>

/** What else names its job, and nothing beside it. */
const renamed = [
  prepared(($: Renamed) =>
    orm
      .update(jobs)
      .set({ name: sql`${$.to}` })
      .where(eq(jobs.name, $.from)),
  ),
  prepared(($: Renamed) =>
    orm
      .update(runs)
      .set({ job: sql`${$.to}`, settings: sql`json_set(${runs.settings}, '$.name', ${$.to})` })
      .where(eq(runs.job, $.from)),
  ),
  prepared(($: Renamed) =>
    orm
      .update(slots)
      .set({ job: sql`${$.to}` })
      .where(eq(slots.job, $.from)),
  ),
  prepared(($: Renamed) =>
    orm
      .update(mutes)
      .set({ job: sql`${$.to}` })
      .where(eq(mutes.job, $.from)),
  ),
  // What comes from the shared journal goes on under the new name.
  prepared(($: Renamed) =>
    orm
      .update(sharedJobs)
      .set({ name: sql`${$.to}` })
      .where(eq(sharedJobs.name, $.from)),
  ),
]

const messages = prepared(($: Values<{ job: string }>) =>
  orm.select({ id: outbox.id, identity: outbox.identity }).from(outbox).where(eq(outbox.job, $.job)),
)

const renameMessage = prepared(($: Values<{ id: number; job: string; identity: string }>) =>
  orm
    .update(outbox)
    .set({
      job: sql`${$.job}`,
      identity: sql`${$.identity}`,
      message: sql`CASE WHEN ${outbox.state} = 'waiting' THEN json_set(${outbox.message}, '$.job', ${$.job}) ELSE ${outbox.message} END`,
    })
    .where(eq(outbox.id, $.id)),
)

const identities = prepared(($: Values<{ job: string }>) =>
  orm
    .select({ id: alerts.id, identity: alerts.identity })
    .from(alerts)
    .where(and(eq(alerts.job, $.job), isNull(alerts.stopped))),
)

const renameAlert = prepared(($: Values<{ id: string; job: string; identity: string }>) =>
  orm
    .update(alerts)
    .set({ job: sql`${$.job}`, identity: sql`${$.identity}` })
    .where(eq(alerts.id, $.id)),
)

export function jobStore(db: Database, writer: GroupCommit): JobStore {
  return {
    pauseOf: async (name) => pauseOf.get(db, { name }) ?? { pausedAt: null, resumedAt: null },
    pauseJob: ({ name, file }, now) => writer.write(() => void pause.run(db, { name, file, now })),
    resumeJob: (name, now) => writer.write(() => void resume.run(db, { name, now })),
    renameJob: (from, to, file) => writer.write(() => renameJob(db, { from, to, file })),
  }
}

/** Gives everything that is stored of a job another name; `file` is null where it stays. Inside a transaction. */
export function renameJob(
  db: Database,
  { from, to, file }: { readonly from: string; readonly to: string; readonly file: string | null },
): void {
  for (const statement of renamed) statement.run(db, { from, to })
  if (file !== null) setFile.run(db, { name: to, file })
  db.prepare(renameStopped).run({ from, to })
  for (const { id, identity } of messages.all(db, { job: from })) {
    // What was put in once, such as the digest of a week, is not put in again under the new name.
    const [kind = ''] = identity.split(':')
    const about = `${kind}:${from}:`
    const named = identity.startsWith(about) ? `${kind}:${to}:${identity.slice(about.length)}` : identity
    renameMessage.run(db, { id, job: to, identity: named })
  }
  for (const { id, identity } of identities.all(db, { job: from })) {
    // What an alert is about begins with its job.
    const [, ...about] = JSON.parse(identity) as readonly unknown[]
    renameAlert.run(db, { id, job: to, identity: JSON.stringify([to, ...about]) })
  }
}
