import type Database from 'better-sqlite3'
import { fieldsOf, jobSettings, removedJob } from '../../../model/job.ts'
import { changing, inspect } from '../connection/database.ts'
import { raw } from '../connection/statements.ts'
import { removeImport } from '../imports/imports.ts'
import { imports } from '../imports/schema.ts'
import {
  answers,
  asyncJobs,
  bodyBlocks,
  calls,
  continuations,
  countedRuns,
  datedDetails,
  deliveries,
  imageDetails,
  jobs,
  observations,
  queries,
  rankCounts,
  rawAnswers,
  runQueries,
  runs,
  runTargets,
  sharedCalls,
  sharedJobs,
  targets,
  tasks,
} from '../schema.ts'
import { alerts, judgedRuns, mutes, outbox, rechecks, restingQueries, slots } from '../unattended/schema.ts'

const ofJob = raw`SELECT ${runs.id} FROM ${runs} WHERE ${runs.job} = @job`

/** Answers that tasks of the job have, or that were bought for it. */
const answersOf = raw`SELECT ${tasks.answerId} AS id FROM ${tasks} WHERE ${tasks.runId} IN (${ofJob}) AND ${tasks.answerId} IS NOT NULL
  UNION SELECT a.${answers.id} FROM ${answers} a WHERE a.${answers.runId} IN (${ofJob})`

/** Whether a task of a job that stays has the answer. */
const isUsed = (answer: string, removedJobs: string): string =>
  raw`EXISTS (SELECT 1 FROM ${tasks} u JOIN ${runs} r ON r.${runs.id} = u.${tasks.runId}
    WHERE u.${tasks.answerId} = ${answer} AND r.${runs.job} NOT IN (${removedJobs}))`

/** What is counted of a job. */
const counted = {
  runs: raw`SELECT count(*) FROM ${runs} WHERE ${runs.job} = @job`,
  /** Queries that no other job asks. */
  queries: raw`SELECT count(*) FROM (SELECT DISTINCT ${runQueries.queryId} AS id FROM ${runQueries} WHERE ${runQueries.runId} IN (${ofJob})) mine
    WHERE NOT EXISTS (SELECT 1 FROM ${runQueries} o WHERE o.${runQueries.queryId} = mine.id AND o.${runQueries.runId} NOT IN (${ofJob}))`,
  observations: raw`SELECT count(*) FROM ${observations} WHERE ${observations.runId} IN (${ofJob})`,
  /** Answers that no other job uses, and the bytes of their bodies. */
  answers: raw`SELECT count(*) FROM (${answersOf}) mine WHERE NOT ${isUsed('mine.id', '@job, @removed')}`,
  bytes: raw`SELECT coalesce(sum(coalesce(length(k.${bodyBlocks.block}) / k.${bodyBlocks.bodies}, length(b.${rawAnswers.body}))), 0)
    FROM (${answersOf}) mine JOIN ${rawAnswers} b ON b.${rawAnswers.answerId} = mine.id
    LEFT JOIN ${bodyBlocks} k ON k.${bodyBlocks.id} = b.${rawAnswers.blockId} WHERE NOT ${isUsed('mine.id', '@job, @removed')}`,
  alerts: raw`SELECT count(*) FROM ${alerts} WHERE ${alerts.job} = @job`,
  messages: raw`SELECT count(*) FROM ${outbox} WHERE ${outbox.job} = @job`,
  slots: raw`SELECT count(*) FROM ${slots} WHERE ${slots.job} = @job`,
  /** Answers that other jobs use, too: they stay. */
  sharedAnswers: raw`SELECT count(*) FROM (${answersOf}) mine WHERE ${isUsed('mine.id', '@job, @removed')}`,
  /** Calls and their credits stay in the ledger. */
  calls: raw`SELECT count(*) FROM ${calls} WHERE ${calls.runId} IN (${ofJob})`,
  credits: raw`SELECT coalesce(sum(${calls.credits}), 0) FROM ${calls} WHERE ${calls.runId} IN (${ofJob}) AND ${calls.billed} = 1`,
} as const

/** What goes with a job, or would, and what stays of it. */
type RemovedJob = Readonly<Record<keyof typeof counted, number>>

/** What would go with a job; changes nothing. */
export async function countJob(path: string, job: string): Promise<RemovedJob> {
  return await inspect(path, (db) => countIn(db, job))
}

function countIn(db: Database.Database, job: string): RemovedJob {
  const numbers = Object.entries(counted).map(([what, text]) => {
    const values = text.includes('@removed') ? { job, removed: removedJob } : { job }
    return [what, db.prepare(text).pluck().get(values) as number]
  })
  return Object.fromEntries(numbers)
}

/**
 * Removes all that is stored of a job alone. Its calls stay, with their credits, and so do its runs, which the calls name: without
 * settings, and under a name that all removed jobs share. What it shares with other jobs stays, so that the credits stay split as they were.
 * Each run is one change, the oldest first: where it is interrupted, the job is still there with its later runs, and the same call
 * goes on. Only for a process that holds the collector lock.
 */
export async function removeJob(path: string, job: string, now: number): Promise<RemovedJob> {
  return await changing(path, (db) => {
    const total = countIn(db, job)
    db.exec('CREATE TEMP TABLE dropped (id INTEGER PRIMARY KEY)')
    const removeOne = db.transaction((run: number) => removeRun(db, run, now))
    for (const run of db.prepare(`${ofJob} ORDER BY 1`).pluck().all({ job }) as number[])
      removeOne.immediate(run)
    db.transaction(() => removeName(db, job)).immediate()
    return total
  })
}

const aboutRun = [
  raw`UPDATE ${calls} SET ${calls.outcome} = 'ambiguous', ${calls.billed} = CASE WHEN ${calls.credits} = 0 THEN 0 END,
    ${calls.finishedAt} = @now, ${calls.error} = 'rankline died while the call was in the air'
    WHERE ${calls.runId} = @run AND ${calls.outcome} IS NULL`,
  raw`UPDATE ${runs} SET ${runs.job} = @removed, ${runs.settings} = @settings, ${runs.closedAt} = coalesce(${runs.closedAt}, @now),
    ${runs.finishedAt} = coalesce(${runs.finishedAt}, @now), ${runs.finishReason} = coalesce(${runs.finishReason}, 'crashed')
    WHERE ${runs.id} = @run`,
  raw`DELETE FROM ${asyncJobs} WHERE ${asyncJobs.taskId} IN (SELECT ${tasks.id} FROM ${tasks} WHERE ${tasks.runId} = @run)`,
  raw`DELETE FROM ${deliveries} WHERE ${deliveries.taskId} IN (SELECT ${tasks.id} FROM ${tasks} WHERE ${tasks.runId} = @run)`,
  ...[observations, rankCounts, countedRuns, runTargets, continuations, restingQueries, judgedRuns].map(
    (table) => raw`DELETE FROM ${table} WHERE ${table.runId} = @run`,
  ),
  raw`DELETE FROM ${rechecks} WHERE ${rechecks.runId} = @run OR ${rechecks.ofRun} = @run`,
  raw`INSERT OR IGNORE INTO temp.dropped SELECT ${tasks.answerId} FROM ${tasks}
    WHERE ${tasks.runId} = @run AND ${tasks.answerId} IS NOT NULL AND NOT ${isUsed(`tasks_.${tasks.answerId.name}`, '@removed')}`,
]

/** What goes with answers that no task of a job that stays has. Tasks that share an answer with others stay: by them credits are split. */
const withDropped = [
  ...[datedDetails, imageDetails, rawAnswers].map(
    (table) => raw`DELETE FROM ${table} WHERE ${table.answerId} IN (SELECT id FROM temp.dropped)`,
  ),
  raw`DELETE FROM ${answers} WHERE ${answers.id} IN (SELECT id FROM temp.dropped)`,
  raw`DELETE FROM ${tasks} WHERE ${tasks.answerId} IN (SELECT id FROM temp.dropped)`,
  'DELETE FROM temp.dropped',
]

const ofRemoved = raw`SELECT ${runs.id} FROM ${runs} WHERE ${runs.job} = @removed`

const rest = [
  raw`DELETE FROM ${tasks} WHERE ${tasks.runId} = @run AND ${tasks.answerId} IS NULL`,
  raw`UPDATE ${tasks} SET ${tasks.state} = 'skipped', ${tasks.ready} = 0, ${tasks.cause} = NULL, ${tasks.ranks} = NULL WHERE ${tasks.runId} = @run`,
  raw`DELETE FROM ${runQueries} WHERE ${runQueries.runId} IN (${ofRemoved}) AND NOT EXISTS (SELECT 1 FROM ${tasks} t
    WHERE t.${tasks.runId} = run_queries.${runQueries.runId} AND t.${tasks.queryId} = run_queries.${runQueries.queryId})`,
  raw`UPDATE ${runQueries} SET ${runQueries.volume} = NULL, ${runQueries.url} = NULL, ${runQueries.tags} = '[]', ${runQueries.labels} = '{}',
    ${runQueries.targets} = '[]', ${runQueries.plannedTargets} = NULL WHERE ${runQueries.runId} = @run`,
]

/** Runs a statement with those of the values that it names. */
function change(db: Database.Database, text: string, values: Readonly<Record<string, unknown>>): void {
  const named = Object.entries(values).filter(([name]) => new RegExp(`@${name}\\b`).test(text))
  db.prepare(text).run(Object.fromEntries(named))
}

/** What is left of the settings of a run. */
const noSettings = JSON.stringify({
  ...fieldsOf(jobSettings, {}),
  name: removedJob,
  file: '',
  targets: [],
  budget: {},
})

/** Inside a transaction. */
function removeRun(db: Database.Database, run: number, now: number): void {
  const values = { run, now, removed: removedJob, settings: noSettings }
  for (const text of [...aboutRun, ...withDropped, ...rest]) change(db, text, values)
}

const others = raw`SELECT value FROM json_each(alerts.${alerts.stopped}) WHERE value ->> 'job' <> @job`

const namesJob = [
  // What stops several jobs is an alert of all of them.
  raw`UPDATE ${alerts} SET ${alerts.stopped} = (SELECT json_group_array(json(value)) FROM (${others})),
      ${alerts.job} = coalesce((SELECT value ->> 'job' FROM (${others}) LIMIT 1), ${alerts.job})
    WHERE ${alerts.stopped} IS NOT NULL`,
  raw`DELETE FROM ${alerts} WHERE ${alerts.stopped} IS NOT NULL AND ${alerts.state} = 'open'
    AND NOT EXISTS (SELECT 1 FROM json_each(${alerts.stopped}) WHERE value ->> 'isStopped')`,
  ...[alerts, outbox, slots, mutes].map((table) => raw`DELETE FROM ${table} WHERE ${table.job} = @job`),
]

/** Every column that names a query, apart from the queries themselves. */
const queryUses = [
  runQueries.queryId,
  tasks.queryId,
  answers.queryId,
  restingQueries.queryId,
  continuations.queryId,
  continuations.formerId,
  alerts.queryId,
]

const unnamed = [
  raw`DELETE FROM ${jobs} WHERE ${jobs.name} = @job`,
  raw`DELETE FROM ${sharedJobs} WHERE ${sharedJobs.name} = @job`,
  // Answers that were bought again, and were left without a task.
  raw`INSERT OR IGNORE INTO temp.dropped SELECT a.${answers.id} FROM ${answers} a WHERE a.${answers.runId} IN (${ofRemoved})
    AND NOT EXISTS (SELECT 1 FROM ${tasks} t WHERE t.${tasks.answerId} = a.${answers.id})`,
  ...withDropped,
  raw`UPDATE ${sharedCalls} SET ${sharedCalls.answerId} = NULL
    WHERE ${sharedCalls.answerId} NOT IN (SELECT ${answers.id} FROM ${answers})`,
  raw`DELETE FROM ${targets} WHERE ${targets.id} NOT IN (SELECT ${runTargets.targetId} FROM ${runTargets})`,
  'CREATE TEMP TABLE used_queries (id INTEGER PRIMARY KEY)',
  ...queryUses.map(
    (column) =>
      raw`INSERT OR IGNORE INTO temp.used_queries SELECT ${column} FROM ${column.table} WHERE ${column} IS NOT NULL`,
  ),
  raw`INSERT OR IGNORE INTO temp.used_queries SELECT ${queries.sameAs} FROM ${queries}
    WHERE ${queries.sameAs} IS NOT NULL AND ${queries.id} IN (SELECT id FROM temp.used_queries)`,
  raw`DELETE FROM ${queries} WHERE ${queries.id} NOT IN (SELECT id FROM temp.used_queries)
    AND (${queries.sameAs} IS NULL OR ${queries.sameAs} NOT IN (SELECT id FROM temp.used_queries))`,
]

/** Inside a transaction. */
function removeName(db: Database.Database, job: string): void {
  for (const text of [...namesJob, ...unnamed]) change(db, text, { job, removed: removedJob })
  const imported = db
    .prepare<[string], number>(raw`SELECT ${imports.id} FROM ${imports} WHERE ${imports.job} = ?`)
    .pluck()
  for (const id of imported.all(job)) removeImport(db, id)
}
