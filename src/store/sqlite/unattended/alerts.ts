import type { Database } from 'better-sqlite3'
import { and, asc, desc, eq, gt, gte, isNotNull, isNull, max, or, type SQL, sql } from 'drizzle-orm'
import type { Run } from '../../../model/run.ts'
import type { GroupCommit } from '../connection/group-commit.ts'
import { drizzle, once, raw } from '../connection/statements.ts'
import { loadRun } from '../runs.ts'
import { queries, runQueries as rq, runs, runTargets, targets } from '../schema.ts'
import { observationReads } from './observations.ts'
import { joinMessage, type NewMessage, putMessage } from './outbox.ts'
import { alerts, judgedRuns, mutes, rechecks, restingQueries, type StoppedJob } from './schema.ts'

/**
 * An alert, from its beginning to its end, with the text of its query, which is null where it is about a job. Instants are epoch
 * milliseconds.
 */
export type StoredAlert = Omit<typeof alerts.$inferSelect, 'queryId' | 'overRun'> & {
  readonly query: string | null
}

/** An alert of several jobs that one cause has stopped. */
export interface CauseAlert extends StoredAlert {
  readonly query: null
  readonly stopped: readonly StoppedJob[]
}

/** Decides what changes, with the alerts that are open and those that are muted (identity and until when). */
type ChangeCauses = (
  open: readonly CauseAlert[],
  muted: ReadonlyMap<string, number>,
) => {
  readonly alerts: readonly CauseAlert[]
  /** A message that waits untried is replaced by one of its identity. */
  readonly messages: readonly NewMessage[]
}

/** What begins and ends with one judgement, and what is told of it: one change. */
export interface Judgement {
  readonly job: string
  /** The run as it was judged; null where the job could not run. */
  readonly run: Pick<Run, 'id' | 'finishedAt' | 'closedAt'> | null
  /** When the run ended. */
  readonly at: number
  /** When it was judged. */
  readonly now: number
  readonly opened: readonly NewAlert[]
  readonly over: readonly Pick<StoredAlert, 'id' | 'now' | 'text'>[]
  /** Ids of alerts that end without a word. */
  readonly dropped: readonly string[]
  /** Ids of alerts that began while they were muted, and are told now. */
  readonly toldNow: readonly string[]
  readonly messages: readonly NewMessage[]
}

export type NewAlert = Pick<
  StoredAlert,
  'id' | 'identity' | 'when' | 'target' | 'before' | 'now' | 'text' | 'mutedUntil' | 'told'
> & { readonly queryId: number | null }

/** Alerts of a job, of a tag of their query, of a kind of rule: of all that are given, until an instant. */
export type Mute = Omit<typeof mutes.$inferSelect, 'id'>

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
function loadAlerts(db: Database, where: SQL | undefined, order = asc(alerts.openedAt)) {
  return drizzle(db)
    .select(stored)
    .from(alerts)
    .leftJoin(queries, eq(queries.id, alerts.queryId))
    .where(where)
    .orderBy(sql`${alerts.state} = 'over'`, order, alerts.id)
    .all()
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
const runsToJudge = raw`WITH lately AS MATERIALIZED (
    SELECT r.${runs.id} AS id, j.${judgedRuns.runId} IS NOT NULL AS judged,
    j.${judgedRuns.finishedAt} IS NOT r.${runs.finishedAt} AS ended,
    j.${judgedRuns.closedAt} IS NOT r.${runs.closedAt} AS closed, c.${rechecks.runId} IS NOT NULL AS recheck
    FROM ${runs} r LEFT JOIN ${judgedRuns} j ON j.${judgedRuns.runId} = r.${runs.id}
    LEFT JOIN ${rechecks} c ON c.${rechecks.runId} = r.${runs.id}
    WHERE r.${runs.job} = @job AND r.${runs.finishedAt} IS NOT NULL
    ORDER BY r.${runs.id} DESC LIMIT ${lateRuns})
  SELECT lately.id AS id, lately.ended AND NOT lately.recheck AS hasEnded FROM lately JOIN ${runs} r ON r.${runs.id} = lately.id
  WHERE (NOT judged OR ended OR closed)
    AND lately.id >= coalesce((SELECT max(id) FROM lately WHERE judged AND NOT recheck), 0)
    AND (json_array_length(r.${runs.settings}, '$.alerts') > 0
    OR EXISTS (SELECT 1 FROM ${alerts} a WHERE a.${alerts.job} = @job AND a.${alerts.state} = 'open'))
  ORDER BY lately.id`

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
function muteScope(db: Database, { job, tag, when }: Omit<Mute, 'until'>, until: number): number {
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

export function alertStore(db: Database, writer: GroupCommit) {
  const orm = drizzle(db)
  // Asked for each job after every run.
  const toJudge = once(() => db.prepare<[{ job: string }], { id: number; hasEnded: number }>(runsToJudge))
  return {
    alert: async (id: string): Promise<StoredAlert | null> => loadAlerts(db, eq(alerts.id, id))[0] ?? null,
    /** Those of a job, and those of causes that have stopped it. */
    openAlerts: async (job: string): Promise<readonly StoredAlert[]> =>
      loadAlerts(db, and(isOpen, concerns(job))),
    /** Alerts of a job or of all that are open, or were over since an instant: open ones first, then the newest first. */
    listAlerts: async ({
      job,
      overSince,
    }: {
      readonly job?: string
      readonly overSince: number
    }): Promise<readonly StoredAlert[]> =>
      loadAlerts(
        db,
        and(job === undefined ? undefined : concerns(job), or(isOpen, gte(alerts.overAt, overSince))),
        desc(alerts.openedAt),
      ),
    /** Until when each of these identities is muted; those that are not are missing. */
    mutedIdentities: async (job: string, now: number): Promise<ReadonlyMap<string, number>> =>
      mutedIdentities(db, job, now),
    /**
     * Runs of the job whose end was not judged: they have rules, or alerts that are open. The oldest first; none of before the last
     * one that was judged. `hasEnded` says whether it ended anew: where it was only closed, how it went is not judged.
     */
    runsToJudge: async (job: string) =>
      toJudge()
        .all({ job })
        .flatMap(({ id, hasEnded }) => {
          const run = loadRun(db, id)
          return run === null ? [] : [{ run, hasEnded: hasEnded === 1 }]
        }),
    /** Ids of open alerts of a job about queries that neither the run asks nor rest in it, or about targets that it no longer has. */
    goneAlerts: async ({ id, job }: Run): Promise<readonly string[]> =>
      goneAlerts(db, id, job).map((one) => one.id),
    ...observationReads(db),
    recordJudgement: (judgement: Judgement, causes: ChangeCauses): Promise<void> =>
      writer.write(() => record(db, judgement, causes)),
    /** Changes alerts about causes alone. Answers how many messages that made. */
    recordCauses: (change: ChangeCauses, now: number): Promise<number> =>
      writer.write(() => changeCauses(db, change, now)),
    /** Whether an alert about a cause is open that has stopped one of these jobs. */
    isAnyStopped: async (jobs: readonly string[]): Promise<boolean> =>
      openCauses(db).some(({ stopped }) =>
        stopped.some(({ job, isStopped }) => isStopped && jobs.includes(job)),
      ),
    /** What else is muted for alerts that begin. */
    mutes: async (now: number): Promise<readonly Mute[]> =>
      orm
        .select({ job: mutes.job, tag: mutes.tag, when: mutes.when, until: mutes.until })
        .from(mutes)
        .where(gt(mutes.until, now))
        .all(),
    /** Mutes alerts of a scope that are open, and those to come; answers how many are open. */
    muteAlerts: (scope: Omit<Mute, 'until'>, until: number): Promise<number> =>
      writer.write(() => muteScope(db, scope, until)),
    /** Mutes an alert and those of its identity to come; false where there is no such alert. */
    muteAlert: (id: string, until: number): Promise<boolean> =>
      writer.write(
        () => orm.update(alerts).set({ mutedUntil: until }).where(eq(alerts.id, id)).run().changes === 1,
      ),
  }
}
