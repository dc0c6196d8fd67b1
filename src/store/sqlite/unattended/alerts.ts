import type { Database } from 'better-sqlite3'
import { and, desc, eq, gt, isNotNull, type SQLWrapper, sql } from 'drizzle-orm'
import type { AlertKind } from '../../../model/settings/alert.ts'
import type {
  AlertStore,
  CauseAlert,
  ChangeCauses,
  Judgement,
  NewAlert,
  StoppedJob,
  StoredAlert,
} from '../../alerts.ts'
import type { GroupCommit } from '../connection/group-commit.ts'
import { orm, prepared, type Values } from '../connection/statements.ts'
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
const concerns = (job: SQLWrapper) =>
  sql`CASE WHEN ${alerts.stopped} IS NULL THEN ${alerts.job} = ${job}
    ELSE EXISTS (SELECT 1 FROM json_each(${alerts.stopped}) WHERE value ->> 'job' = ${job} AND value ->> 'isStopped') END`

const openOf = prepared(($: Values<{ job: string }>) =>
  orm
    .select(stored)
    .from(alerts)
    .leftJoin(queries, eq(queries.id, alerts.queryId))
    .where(sql`${alerts.state} = 'open' AND ${concerns($.job)}`)
    .orderBy(alerts.openedAt, alerts.id),
)

const ofId = prepared(($: Values<{ id: string }>) =>
  orm
    .select(stored)
    .from(alerts)
    .leftJoin(queries, eq(queries.id, alerts.queryId))
    .where(eq(alerts.id, $.id)),
)

const listed = prepared(($: Values<{ job: string | null; overSince: number }>) =>
  orm
    .select(stored)
    .from(alerts)
    .leftJoin(queries, eq(queries.id, alerts.queryId))
    .where(
      sql`(${$.job} IS NULL OR ${concerns($.job)})
        AND (${alerts.state} = 'open' OR ${alerts.overAt} >= ${$.overSince})`,
    )
    .orderBy(sql`${alerts.state} = 'over'`, desc(alerts.openedAt), alerts.id),
)

/** Of a job, or of causes. */
const muted = prepared(($: Values<{ job: string | null; now: number }>) =>
  orm
    .select({ identity: alerts.identity, until: sql<number>`max(${alerts.mutedUntil})` })
    .from(alerts)
    .where(
      sql`${alerts.mutedUntil} > ${$.now} AND CASE WHEN ${$.job} IS NULL THEN ${alerts.stopped} IS NOT NULL ELSE ${alerts.job} = ${$.job} END`,
    )
    .groupBy(alerts.identity),
)

/** How many runs of a job are considered: earlier ones were judged, or come too late for news. */
const lateRuns = 20

const toJudge = prepared(
  ($: Values<{ job: string }>) =>
    sql<{ id: number; hasEnded: number }>`WITH lately AS MATERIALIZED (
        SELECT ${runs.id} AS id, ${judgedRuns.runId} IS NOT NULL AS judged,
          ${judgedRuns.finishedAt} IS NOT ${runs.finishedAt} AS ended,
          ${judgedRuns.closedAt} IS NOT ${runs.closedAt} AS closed, ${rechecks.runId} IS NOT NULL AS recheck
        FROM ${runs} LEFT JOIN ${judgedRuns} ON ${judgedRuns.runId} = ${runs.id}
          LEFT JOIN ${rechecks} ON ${rechecks.runId} = ${runs.id}
        WHERE ${runs.job} = ${$.job} AND ${runs.finishedAt} IS NOT NULL
        ORDER BY ${runs.id} DESC LIMIT ${sql.raw(String(lateRuns))})
      SELECT lately.id AS id, lately.ended AND NOT lately.recheck AS hasEnded FROM lately JOIN ${runs} ON ${runs.id} = lately.id
      WHERE (NOT judged OR ended OR closed)
        AND lately.id >= coalesce((SELECT max(id) FROM lately WHERE judged AND NOT recheck), 0)
        AND (json_array_length(${runs.settings}, '$.alerts') > 0
          OR EXISTS (SELECT 1 FROM ${alerts} WHERE ${alerts.job} = ${$.job} AND ${alerts.state} = 'open'))
      ORDER BY lately.id`,
)

/** `match:site`, as identities name the targets of a job; other sites stand there alone. */
const watchedTarget = sql`json_extract(${alerts.identity}, '$[3]')`

const gone = prepared(
  ($: Values<{ run: number; job: string }>) =>
    sql<{ id: string }>`WITH asked AS (SELECT ${rq.queryId} AS query FROM ${runs}
        JOIN ${rq} ON ${rq.runId} = ${runs.id} AND ${rq.planNumber} = ${runs.planNumber} WHERE ${runs.id} = ${$.run})
      SELECT ${alerts.id} AS id FROM ${alerts}
      WHERE ${alerts.job} = ${$.job} AND ${alerts.state} = 'open' AND ${alerts.queryId} IS NOT NULL AND CASE
        WHEN ${alerts.queryId} IN (SELECT query FROM asked) THEN instr(${watchedTarget}, ':') > 0
          AND ${watchedTarget} NOT IN (SELECT ${targets.match} || ':' || ${targets.site} FROM ${runTargets}
            JOIN ${targets} ON ${targets.id} = ${runTargets.targetId} WHERE ${runTargets.runId} = ${$.run})
        ELSE NOT EXISTS (SELECT 1 FROM ${restingQueries}
          WHERE ${restingQueries.runId} = ${$.run} AND ${restingQueries.queryId} = ${alerts.queryId}) END`,
)

type Inserted = Omit<NewAlert, 'told'> & {
  readonly job: string
  readonly openedAt: number
  readonly openedRun: number | null
  readonly told: boolean
  readonly when: AlertKind
}

const open = prepared(($: Values<Inserted>) =>
  orm.insert(alerts).values({
    id: $.id,
    identity: $.identity,
    job: $.job,
    when: $.when,
    queryId: $.queryId,
    target: $.target,
    state: 'open',
    openedAt: $.openedAt,
    openedRun: $.openedRun,
    before: $.before,
    now: $.now,
    text: $.text,
    mutedUntil: $.mutedUntil,
    told: $.told,
  }),
)

const end = prepared(
  (
    $: Values<{
      id: string
      at: number
      run: number | null
      now: string | null
      text: string | null
    }>,
  ) =>
    orm
      .update(alerts)
      .set({
        state: 'over',
        overAt: sql`${$.at}`,
        overRun: sql`${$.run}`,
        now: sql`coalesce(${$.now}, ${alerts.now})`,
        text: sql`coalesce(${$.text}, ${alerts.text})`,
      })
      .where(and(eq(alerts.id, $.id), eq(alerts.state, 'open'))),
)

const tell = prepared(($: Values<{ id: string }>) =>
  orm.update(alerts).set({ told: true }).where(eq(alerts.id, $.id)),
)

const mute = prepared(($: Values<{ id: string; until: number }>) =>
  orm
    .update(alerts)
    .set({ mutedUntil: sql`${$.until}` })
    .where(eq(alerts.id, $.id)),
)

type Scope = { job: string | null; tag: string | null; when: AlertKind | null }

const sameScope = ($: Values<Scope>) =>
  sql`${mutes.job} IS ${$.job} AND ${mutes.tag} IS ${$.tag} AND ${mutes.when} IS ${$.when}`

const forgetMute = prepared(($: Values<Scope>) => orm.delete(mutes).where(sameScope($)))

const addMute = prepared(($: Values<Scope & { until: number }>) =>
  orm.insert(mutes).values({ job: $.job, tag: $.tag, when: $.when, until: $.until }),
)

const mutesAt = prepared(($: Values<{ now: number }>) =>
  orm
    .select({ job: mutes.job, tag: mutes.tag, when: mutes.when, until: mutes.until })
    .from(mutes)
    .where(gt(mutes.until, $.now)),
)

/** Open alerts of one job each; what stops several is muted by its id alone. */
const muteOpen = prepared(($: Values<Scope & { until: number }>) =>
  orm
    .update(alerts)
    .set({ mutedUntil: sql`${$.until}` })
    .where(
      sql`${alerts.state} = 'open' AND ${alerts.stopped} IS NULL AND (${$.job} IS NULL OR ${alerts.job} = ${$.job})
        AND (${$.when} IS NULL OR ${alerts.when} = ${$.when})
        AND (${$.tag} IS NULL OR EXISTS (SELECT 1 FROM ${rq} asked, json_each(asked.tags) tag
          WHERE asked.run_id = ${alerts.openedRun} AND asked.query_id = ${alerts.queryId} AND tag.value = ${$.tag}))`,
    ),
)

const openCauses = prepared(() =>
  orm
    .select(stored)
    .from(alerts)
    .leftJoin(queries, eq(queries.id, alerts.queryId))
    .where(and(eq(alerts.state, 'open'), isNotNull(alerts.stopped)))
    .orderBy(alerts.openedAt, alerts.id),
)

const putCause = prepared(
  (
    $: Values<
      Omit<Inserted, 'queryId'> & {
        overAt: number | null
        state: 'open' | 'over'
        stopped: readonly StoppedJob[]
      }
    >,
  ) =>
    orm
      .insert(alerts)
      .values({
        id: $.id,
        identity: $.identity,
        job: $.job,
        when: $.when,
        target: $.target,
        state: $.state,
        openedAt: $.openedAt,
        openedRun: $.openedRun,
        overAt: $.overAt,
        before: $.before,
        now: $.now,
        text: $.text,
        mutedUntil: $.mutedUntil,
        told: $.told,
        stopped: $.stopped,
      })
      .onConflictDoUpdate({
        target: alerts.id,
        set: {
          state: sql`excluded.state`,
          overAt: sql`excluded.over_at`,
          text: sql`excluded.text`,
          told: sql`excluded.told`,
          stopped: sql`excluded.stopped`,
          before: sql`excluded.before`,
          now: sql`excluded.now`,
        },
      }),
)

/** What changes of causes; inside a transaction. Answers how many messages that made. */
function changeCauses(db: Database, change: ChangeCauses, now: number): number {
  const mutedCauses = muted.all(db, { job: null, now })
  const { alerts: changed, messages } = change(
    openCauses.all(db) as CauseAlert[],
    new Map(mutedCauses.map(({ identity, until }) => [identity, until])),
  )
  for (const { query: _, ...alert } of changed) putCause.run(db, alert)
  return messages.reduce((sum, message) => sum + joinMessage(db, message, now), 0)
}

const noteJudged = prepared(
  ($: Values<{ run: number; finishedAt: number | null; closedAt: number | null }>) =>
    orm
      .insert(judgedRuns)
      .values({ runId: $.run, finishedAt: $.finishedAt, closedAt: $.closedAt })
      .onConflictDoUpdate({
        target: judgedRuns.runId,
        set: { finishedAt: sql`${$.finishedAt}`, closedAt: sql`${$.closedAt}` },
      }),
)

function record(db: Database, judgement: Judgement, causes: ChangeCauses): void {
  const { job, run, at, now, opened, over, dropped, toldNow, messages } = judgement
  const runId = run?.id ?? null
  for (const one of over)
    end.run(db, { id: one.id, at, run: runId, now: JSON.stringify(one.now), text: one.text })
  for (const id of dropped) end.run(db, { id, at, run: runId, now: null, text: null })
  for (const alert of opened) open.run(db, { ...alert, job, openedAt: at, openedRun: runId })
  for (const id of toldNow) tell.run(db, { id })
  for (const message of messages) putMessage(db, message, now)
  changeCauses(db, causes, now)
  if (run !== null) noteJudged.run(db, { run: run.id, finishedAt: run.finishedAt, closedAt: run.closedAt })
}

export function alertStore(db: Database, writer: GroupCommit): AlertStore {
  return {
    alert: async (id) => (ofId.get(db, { id }) as StoredAlert | undefined) ?? null,
    openAlerts: async (job) => openOf.all(db, { job }) as StoredAlert[],
    listAlerts: async ({ job = null, overSince }) => listed.all(db, { job, overSince }) as StoredAlert[],
    mutedIdentities: async (job, now) =>
      new Map(muted.all(db, { job, now }).map(({ identity, until }) => [identity, until])),
    runsToJudge: async (job) =>
      toJudge.all(db, { job }).flatMap(({ id, hasEnded }) => {
        const run = loadRun(db, id)
        return run === null ? [] : [{ run, hasEnded: hasEnded === 1 }]
      }),
    goneAlerts: async ({ id, job }) => gone.all(db, { run: id, job }).map((one) => one.id),
    ...observationReads(db),
    recordJudgement: (judgement, causes) => writer.write(() => record(db, judgement, causes)),
    recordCauses: (change, now) => writer.write(() => changeCauses(db, change, now)),
    isAnyStopped: async (jobs) =>
      (openCauses.all(db) as CauseAlert[]).some(({ stopped }) =>
        stopped.some(({ job, isStopped }) => isStopped && jobs.includes(job)),
      ),
    mutes: async (now) => mutesAt.all(db, { now }),
    muteAlerts: ({ job, tag, when }, until) =>
      writer.write(() => {
        forgetMute.run(db, { job, tag, when })
        addMute.run(db, { job, tag, when, until })
        return muteOpen.run(db, { job, tag, when, until }).changes
      }),
    muteAlert: (id, until) => writer.write(() => mute.run(db, { id, until }).changes === 1),
  }
}
