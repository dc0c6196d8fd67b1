import type { Database } from 'better-sqlite3'
import { and, between, desc, eq, gte, inArray, isNull, lt, min, or, sql } from 'drizzle-orm'
import { tooLongStatuses } from '../../model/call.ts'
import type { QueryHistory } from '../../model/query.ts'
import type { GroupCommit } from './connection/group-commit.ts'
import { drizzle, raw } from './connection/statements.ts'
import { imports } from './imports/schema.ts'
import { answers, calls, jobs, queries, runs, sharedJobs, tasks } from './schema.ts'
import { alerts, mutes, outbox, slots } from './unattended/schema.ts'

/** Pauses and names of jobs, the slots of their schedules, and what is due of their queries. */
export function jobStore(db: Database, writer: GroupCommit) {
  const orm = drizzle(db)
  return {
    /** The pause of a job, also of one that never ran. */
    pauseOf: async (name: string) =>
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
    ...slotStore(db, writer),
    ...dueReads(db),
  }
}

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
  for (const table of [slots, mutes, imports])
    orm.update(table).set({ job: to }).where(eq(table.job, from)).run()
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

/** A time of a job's schedule that a process has taken, to run the job. Instants are epoch milliseconds. */
export type Slot = typeof slots.$inferSelect

/** What is stored of a query that a job asks. */
export interface StoredQueryHistory extends QueryHistory {
  /** What an unfinished run says of it: `open` where it still has pages to be fetched. */
  readonly inRun: 'not-asked' | 'open' | 'settled'
}

const unknownQuery: StoredQueryHistory = { answeredAt: null, failures: [], inRun: 'not-asked' }

function dueReads(db: Database) {
  return {
    /**
     * What the runs of a job say of queries, in their order, as far as it happened after an instant. A query is answered when every page
     * that a run wanted is there; it has failed where one is not.
     */
    queryHistories: async (
      job: string,
      keys: readonly Buffer[],
      { since, unfinishedRun }: { readonly since: number; readonly unfinishedRun: number | null },
    ): Promise<readonly StoredQueryHistory[]> => {
      // Runs go on for days: one that began earlier may have ended later.
      const oldest = drizzle(db)
        .select({ id: min(runs.id) })
        .from(runs)
        .where(
          and(
            eq(runs.job, job),
            or(
              gte(endedAt, since),
              isNull(runs.finishedAt),
              unfinishedRun === null ? undefined : eq(runs.id, unfinishedRun),
            ),
          ),
        )
        .get()?.id
      if (oldest === undefined || oldest === null) return keys.map(() => unknownQuery)
      const refused = new Map<number, ReadonlySet<number>>()
      const refusedOf = (run: number): ReadonlySet<number> => {
        const known = refused.get(run) ?? refusedQueries(db, run)
        refused.set(run, known)
        return known
      }
      const queryOfKey = db
        .prepare<[key: Buffer], number>(raw`SELECT ${queries.id} FROM ${queries} WHERE ${queries.key} = ?`)
        .pluck()
      const inRuns = db.prepare<[query: number, job: string, oldest: number], QueryInRun>(queryInRuns)
      return keys.map((key) => {
        const query = queryOfKey.get(key)
        if (query === undefined) return unknownQuery
        return historyOf(inRuns.iterate(query, job, oldest), unfinishedRun, (run) =>
          refusedOf(run).has(query),
        )
      })
    },
  }
}

const endedAt = sql<number>`coalesce(${runs.finishedAt}, ${runs.startedAt})`

/** What a run made of a query: its tasks by state, the instants, and when its newest answer was fetched. */
interface QueryInRun {
  readonly run: number
  readonly startedAt: number
  readonly endedAt: number
  readonly open: number
  readonly failed: number
  readonly done: number
  readonly fetchedAt: number | null
}

/** The newest run first. Asked for each query of a job. */
const queryInRuns = raw`SELECT r.${runs.id} AS run, r.${runs.startedAt} AS startedAt,
    coalesce(r.${runs.finishedAt}, r.${runs.startedAt}) AS endedAt,
    sum(t.${tasks.state} IN ('pending', 'leased', 'sent', 'accepted', 'answered')) AS open,
    sum(t.${tasks.state} = 'failed') AS failed, sum(t.${tasks.state} = 'done') AS done,
    max(a.${answers.fetchedAt}) AS fetchedAt
  FROM ${runs} r JOIN ${tasks} t ON t.${tasks.runId} = r.${runs.id} AND t.${tasks.queryId} = ?
    LEFT JOIN ${answers} a ON a.${answers.id} = t.${tasks.answerId}
  WHERE r.${runs.job} = ? AND r.${runs.id} >= ? GROUP BY r.${runs.id} ORDER BY r.${runs.id} DESC`

/** Queries of a run with a task that failed after a 400 or a 404, or because its request is too long. */
function refusedQueries(db: Database, run: number): ReadonlySet<number> {
  const refused = drizzle(db)
    .selectDistinct({ query: tasks.queryId })
    .from(calls)
    .innerJoin(tasks, eq(tasks.id, calls.taskId))
    .where(
      and(
        eq(calls.runId, run),
        inArray(calls.httpStatus, [400, 404, ...tooLongStatuses]),
        eq(tasks.runId, run),
        eq(tasks.state, 'failed'),
      ),
    )
    .all()
  return new Set(refused.map(({ query }) => query))
}

function historyOf(
  inRuns: Iterable<QueryInRun>,
  unfinishedRun: number | null,
  isRefusedIn: (run: number) => boolean,
): StoredQueryHistory {
  const failures: StoredQueryHistory['failures'][number][] = []
  let inRun: StoredQueryHistory['inRun'] = 'not-asked'
  for (const { run, startedAt, endedAt, open, failed, done, fetchedAt } of inRuns) {
    if (run === unfinishedRun) inRun = open > 0 ? 'open' : 'settled'
    if (failed > 0) failures.push({ at: endedAt, isFinal: isRefusedIn(run) })
    // A stored answer that is used again counts from the run that used it.
    else if (open === 0 && done > 0)
      return { answeredAt: Math.max(fetchedAt ?? 0, startedAt), failures, inRun }
  }
  return { answeredAt: null, failures, inRun }
}

const killed = 'The process that ran it was killed.'

function slotStore(db: Database, writer: GroupCommit) {
  const orm = drizzle(db)
  const isSlot = (job: string, slotAt: number) => and(eq(slots.job, job), eq(slots.slotAt, slotAt))
  return {
    /** The newest slots of a job that were taken, the newest first. */
    slots: async (job: string, limit: number): Promise<readonly Slot[]> =>
      orm.select().from(slots).where(eq(slots.job, job)).orderBy(desc(slots.slotAt)).limit(limit).all(),
    /** The newest slot of a job that lies between two instants, both included; null where none was taken. */
    slotIn: async (job: string, from: number, until: number): Promise<Slot | null> =>
      orm
        .select()
        .from(slots)
        .where(and(eq(slots.job, job), between(slots.slotAt, from, until)))
        .orderBy(desc(slots.slotAt))
        .get() ?? null,
    /** Takes a slot of a job; false where it was taken before: of all that try, one gets it. */
    takeSlot: (job: string, slotAt: number, now: number): Promise<boolean> =>
      writer.write(() => {
        const { changes } = orm
          .insert(slots)
          .values({ job, slotAt, takenAt: now })
          .onConflictDoNothing()
          .run()
        return changes === 1
      }),
    /** Notes the run that a slot began or continued. */
    noteSlotRun: (job: string, slotAt: number, runId: number): Promise<void> =>
      writer.write(() => {
        orm.update(slots).set({ runId }).where(isSlot(job, slotAt)).run()
      }),
    /** Notes what became of a slot. */
    endSlot: (
      job: string,
      slotAt: number,
      {
        outcome,
        runId,
        reason,
      }: Pick<Slot, 'runId' | 'reason'> & { readonly outcome: NonNullable<Slot['outcome']> },
    ): Promise<void> =>
      writer.write(() => {
        orm.update(slots).set({ runId, outcome, reason }).where(isSlot(job, slotAt)).run()
      }),
    /** Notes of older slots without an outcome that their process was killed. */
    endKilledSlots: (job: string, before: number): Promise<void> =>
      writer.write(() => {
        orm
          .update(slots)
          .set({ outcome: 'skipped', reason: killed })
          .where(and(eq(slots.job, job), lt(slots.slotAt, before), isNull(slots.outcome)))
          .run()
      }),
  }
}
