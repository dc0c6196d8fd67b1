import type { Database } from 'better-sqlite3'
import { and, asc, desc, eq, gt, gte, isNotNull, isNull, max, or, type SQL, sql } from 'drizzle-orm'
import type { AlertStore, CauseAlert, ChangeCauses, Judgement, MuteScope, StoredAlert } from '../../alerts.ts'
import type { GroupCommit } from '../connection/group-commit.ts'
import { drizzle } from '../connection/statements.ts'
import { loadRun } from '../runs.ts'
import { queries, runQueries as rq, runs, runTargets, targets } from '../schema.ts'
import { observationReads } from './observations.ts'
import { joinMessage, putMessage } from './outbox.ts'
import { alerts, judgedRuns, mutes, rechecks, restingQueries } from './schema.ts'

const stored = {
  id: alerts.id,
  identity: alerts.identity,
  job: alerts.job,
  when: alerts.when,
  query: queries.text,
  target: alerts.target,
  state: alerts.state,
  openedAt: alerts.openedAt,
  openedRun: alerts.openedRun,
  overAt: alerts.overAt,
  before: alerts.before,
  now: alerts.now,
  text: alerts.text,
  mutedUntil: alerts.mutedUntil,
  told: alerts.told,
  stopped: alerts.stopped,
}

/** About the job alone, or about a cause that has stopped it. */
const concerns = (job: string) =>
  sql`CASE WHEN ${alerts.stopped} IS NULL THEN ${alerts.job} = ${job}
    ELSE EXISTS (SELECT 1 FROM json_each(${alerts.stopped}) WHERE value ->> 'job' = ${job} AND value ->> 'isStopped') END`

const isOpen = eq(alerts.state, 'open')

/** Alerts that fulfil a condition: open ones first, then those that are over. */
function loadAlerts(db: Database, where: SQL | undefined, order = asc(alerts.openedAt)): StoredAlert[] {
  return drizzle(db)
    .select(stored)
    .from(alerts)
    .leftJoin(queries, eq(queries.id, alerts.queryId))
    .where(where)
    .orderBy(sql`${alerts.state} = 'over'`, order, alerts.id)
    .all() as StoredAlert[]
}

/** Until when each identity is muted: of a job, or (null) of causes. */
function mutedIdentities(db: Database, job: string | null, now: number): ReadonlyMap<string, number> {
  const muted = drizzle(db)
    .select({ identity: alerts.identity, until: max(alerts.mutedUntil) })
    .from(alerts)
    .where(and(gt(alerts.mutedUntil, now), job === null ? isNotNull(alerts.stopped) : eq(alerts.job, job)))
    .groupBy(alerts.identity)
    .all()
  return new Map(muted.map(({ identity, until }) => [identity, until as number]))
}

/** How many runs of a job are considered: earlier ones were judged, or come too late for news. */
const lateRuns = 20

/** Runs that ended or were closed since they were judged, the oldest first; `hasEnded` is 1 where one ended. */
function runsToJudge(db: Database, job: string): readonly { id: number; hasEnded: number }[] {
  return drizzle(db).all(sql`WITH lately AS MATERIALIZED (
      SELECT ${runs.id} AS id, ${judgedRuns.runId} IS NOT NULL AS judged,
      ${judgedRuns.finishedAt} IS NOT ${runs.finishedAt} AS ended,
      ${judgedRuns.closedAt} IS NOT ${runs.closedAt} AS closed, ${rechecks.runId} IS NOT NULL AS recheck
      FROM ${runs} LEFT JOIN ${judgedRuns} ON ${judgedRuns.runId} = ${runs.id}
      LEFT JOIN ${rechecks} ON ${rechecks.runId} = ${runs.id}
      WHERE ${runs.job} = ${job} AND ${runs.finishedAt} IS NOT NULL
      ORDER BY ${runs.id} DESC LIMIT ${lateRuns})
    SELECT lately.id AS id, lately.ended AND NOT lately.recheck AS hasEnded FROM lately JOIN ${runs} ON ${runs.id} = lately.id
    WHERE (NOT judged OR ended OR closed)
      AND lately.id >= coalesce((SELECT max(id) FROM lately WHERE judged AND NOT recheck), 0)
      AND (json_array_length(${runs.settings}, '$.alerts') > 0
      OR EXISTS (SELECT 1 FROM ${alerts} WHERE ${alerts.job} = ${job} AND ${alerts.state} = 'open'))
    ORDER BY lately.id`)
}

/** `match:site`, as identities name the targets of a job; other sites stand there alone. */
const watchedTarget = sql`json_extract(${alerts.identity}, '$[3]')`

/** Open alerts about queries that neither the run asks nor rest in it, or about targets that it no longer has. */
function goneAlerts(db: Database, run: number, job: string): readonly { id: string }[] {
  return drizzle(db).all(sql`WITH asked AS (SELECT ${rq.queryId} AS query FROM ${runs}
        JOIN ${rq} ON ${rq.runId} = ${runs.id} AND ${rq.planNumber} = ${runs.planNumber} WHERE ${runs.id} = ${run})
      SELECT ${alerts.id} AS id FROM ${alerts}
      WHERE ${alerts.job} = ${job} AND ${alerts.state} = 'open' AND ${alerts.queryId} IS NOT NULL AND CASE
        WHEN ${alerts.queryId} IN (SELECT query FROM asked) THEN instr(${watchedTarget}, ':') > 0
          AND ${watchedTarget} NOT IN (SELECT ${targets.match} || ':' || ${targets.site} FROM ${runTargets}
            JOIN ${targets} ON ${targets.id} = ${runTargets.targetId} WHERE ${runTargets.runId} = ${run})
        ELSE NOT EXISTS (SELECT 1 FROM ${restingQueries}
          WHERE ${restingQueries.runId} = ${run} AND ${restingQueries.queryId} = ${alerts.queryId}) END`)
}

/** What changes of causes; inside a transaction. Answers how many messages that made. */
function changeCauses(db: Database, change: ChangeCauses, now: number): number {
  const { alerts: changed, messages } = change(openCauses(db), mutedIdentities(db, null, now))
  for (const { query: _, ...alert } of changed) {
    const { state, overAt, text, told, stopped, before, now } = alert
    drizzle(db)
      .insert(alerts)
      .values(alert)
      .onConflictDoUpdate({
        target: alerts.id,
        set: { state, overAt, text, told, stopped, before, now },
      })
      .run()
  }
  return messages.reduce((sum, message) => sum + joinMessage(db, message, now), 0)
}

const openCauses = (db: Database) => loadAlerts(db, and(isOpen, isNotNull(alerts.stopped))) as CauseAlert[]

/** Alerts that one statement inserts. */
const openedAtOnce = 100

function record(db: Database, judgement: Judgement, causes: ChangeCauses): void {
  const { job, run, at, now, opened, over, dropped, toldNow, messages } = judgement
  const orm = drizzle(db)
  const runId = run?.id ?? null
  const isAmong = (ids: readonly string[]) =>
    sql`${alerts.id} IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`
  const ended = { state: 'over', overAt: at, overRun: runId } as const
  // A bad day may begin and end as many alerts as the job has queries.
  const end = orm
    .update(alerts)
    .set({ ...ended, now: sql`${sql.placeholder('now')}`, text: sql`${sql.placeholder('text')}` })
    .where(and(eq(alerts.id, sql.placeholder('id')), isOpen))
    .prepare()
  for (const { id, now: value, text } of over) end.run({ id, now: JSON.stringify(value), text })
  orm
    .update(alerts)
    .set(ended)
    .where(and(isAmong(dropped), isOpen))
    .run()
  for (let from = 0; from < opened.length; from += openedAtOnce)
    orm
      .insert(alerts)
      .values(
        opened.slice(from, from + openedAtOnce).map((alert) => ({
          ...alert,
          job,
          openedAt: at,
          openedRun: runId,
          state: 'open' as const,
        })),
      )
      .run()
  orm.update(alerts).set({ told: true }).where(isAmong(toldNow)).run()
  for (const message of messages) putMessage(db, message, now)
  changeCauses(db, causes, now)
  if (run === null) return
  const { finishedAt, closedAt } = run
  orm
    .insert(judgedRuns)
    .values({ runId: run.id, finishedAt, closedAt })
    .onConflictDoUpdate({ target: judgedRuns.runId, set: { finishedAt, closedAt } })
    .run()
}

/** Mutes alerts of a scope that are open, and those to come; answers how many are open. */
function muteScope(db: Database, { job, tag, when }: MuteScope, until: number): number {
  const orm = drizzle(db)
  orm
    .delete(mutes)
    .where(sql`${mutes.job} IS ${job} AND ${mutes.tag} IS ${tag} AND ${mutes.when} IS ${when}`)
    .run()
  orm.insert(mutes).values({ job, tag, when, until }).run()
  return orm
    .update(alerts)
    .set({ mutedUntil: until })
    .where(
      and(
        isOpen,
        // What stops several jobs is muted by its id alone.
        isNull(alerts.stopped),
        job === null ? undefined : eq(alerts.job, job),
        when === null ? undefined : eq(alerts.when, when),
        tag === null
          ? undefined
          : sql`EXISTS (SELECT 1 FROM ${rq} asked, json_each(asked.tags) tag
              WHERE asked.run_id = ${alerts.openedRun} AND asked.query_id = ${alerts.queryId} AND tag.value = ${tag})`,
      ),
    )
    .run().changes
}

export function alertStore(db: Database, writer: GroupCommit): AlertStore {
  const orm = drizzle(db)
  return {
    alert: async (id) => loadAlerts(db, eq(alerts.id, id))[0] ?? null,
    openAlerts: async (job) => loadAlerts(db, and(isOpen, concerns(job))),
    listAlerts: async ({ job, overSince }) =>
      loadAlerts(
        db,
        and(job === undefined ? undefined : concerns(job), or(isOpen, gte(alerts.overAt, overSince))),
        desc(alerts.openedAt),
      ),
    mutedIdentities: async (job, now) => mutedIdentities(db, job, now),
    runsToJudge: async (job) =>
      runsToJudge(db, job).flatMap(({ id, hasEnded }) => {
        const run = loadRun(db, id)
        return run === null ? [] : [{ run, hasEnded: hasEnded === 1 }]
      }),
    goneAlerts: async ({ id, job }) => goneAlerts(db, id, job).map((one) => one.id),
    ...observationReads(db),
    recordJudgement: (judgement, causes) => writer.write(() => record(db, judgement, causes)),
    recordCauses: (change, now) => writer.write(() => changeCauses(db, change, now)),
    isAnyStopped: async (jobs) =>
      openCauses(db).some(({ stopped }) =>
        stopped.some(({ job, isStopped }) => isStopped && jobs.includes(job)),
      ),
    mutes: async (now) =>
      orm
        .select({ job: mutes.job, tag: mutes.tag, when: mutes.when, until: mutes.until })
        .from(mutes)
        .where(gt(mutes.until, now))
        .all(),
    muteAlerts: (scope, until) => writer.write(() => muteScope(db, scope, until)),
    muteAlert: (id, until) =>
      writer.write(
        () => orm.update(alerts).set({ mutedUntil: until }).where(eq(alerts.id, id)).run().changes === 1,
      ),
  }
}
