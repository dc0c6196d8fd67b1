import { databasePath, type SettingFlags } from '../config.ts'
import { UsageError } from '../errors.ts'
import type { Run, RunQuality } from '../model/run.ts'
import { formatTable } from '../report/table.ts'
import { runDocument } from '../run/summary.ts'
import { demoHint } from '../store/sqlite/inspect.ts'
import { databaseLock, isHeld } from '../store/sqlite/lock.ts'
import type { RunList } from '../store/sqlite/open-runs.ts'
import { harmless, type Terminal } from '../terminal.ts'
import { grouped } from '../words.ts'
import { openRunList } from './stored.ts'
import { malformedLines, mismatchLines, summaryLine } from './summary-lines.ts'
import { wholeNumber } from './whole-number.ts'

export interface RunsFlags extends SettingFlags {
  readonly run?: string
  readonly job?: string
  readonly limit?: string
  readonly json?: boolean
}

const listedByDefault = 20

/** `rankline runs`: lists runs, or shows one with every failed task. */
export async function runs(flags: RunsFlags, terminal: Terminal): Promise<number> {
  await using store = await openRunList(flags)
  const database = databasePath(flags)
  // A run without an end is at work only as long as a process collects.
  const collecting = isHeld(databaseLock(database))
  const id = wholeNumber('The run', flags.run, { min: 1 })
  if (id !== undefined) return await showRun(store, id, collecting, flags, terminal)
  const limit = wholeNumber('--limit', flags.limit, { min: 1 }) ?? listedByDefault
  const listed = await store.runs({ limit, ...(flags.job === undefined ? {} : { job: flags.job }) })
  if (flags.json === true) {
    const documents = await Promise.all(listed.map((run) => documentOf(store, run, collecting)))
    await terminal.out(`${JSON.stringify(documents, null, 2)}\n`)
  } else if (listed.length === 0)
    terminal.say(`There are no runs yet. Start one with: rankline run <job file>${demoHint(database)}`)
  else {
    // Results are not counted for it, which takes longer than all the rest.
    const rows = listed.map((run) => cells(run, store.runQuality(run.id), collecting))
    await terminal.out(formatTable(columns, rows, terminal.columns))
  }
  return 0
}

async function documentOf(store: RunList, run: Run, collecting: boolean) {
  const document = runDocument(run, await store.tally(run.id), null)
  return document.status === 'running' && !collecting ? { ...document, status: 'stopped' as const } : document
}

const columns = [
  { title: 'run', align: 'right' },
  { title: 'job', shrinks: true },
  { title: 'started (UTC)', dropped: true },
  { title: 'ended as' },
  { title: 'done', align: 'right' },
  { title: 'failed', align: 'right' },
  { title: 'left', align: 'right' },
  { title: 'credits', align: 'right' },
  { title: 'ambiguous', align: 'right', dropped: true },
  { title: 'suspect', align: 'right', dropped: true },
] as const

function cells(
  { id, job, startedAt, finishReason }: Run,
  { tasks, spent, ambiguous, mismatched = 0 }: RunQuality,
  collecting: boolean,
): readonly string[] {
  const left = tasks.planned - tasks.done - tasks.failed
  return [
    String(id),
    harmless(job),
    new Date(startedAt).toISOString().slice(0, 16).replace('T', ' '),
    finishReason ?? (collecting ? 'running' : 'died'),
    ...[tasks.done, tasks.failed, left, spent, ambiguous, mismatched].map(grouped),
  ]
}

async function showRun(
  store: RunList,
  id: number,
  collecting: boolean,
  flags: RunsFlags,
  terminal: Terminal,
): Promise<number> {
  const run = await store.run(id)
  if (run === null) throw new UsageError(`There is no run ${id}. List them with: rankline runs`)
  const document = await documentOf(store, run, collecting)
  const failures = await store.failures(id)
  if (flags.json === true) {
    const failed = failures.map(({ taskId, ...rest }) => ({ task_id: taskId, ...rest }))
    await terminal.out(`${JSON.stringify({ ...document, failures: failed }, null, 2)}\n`)
    return 0
  }
  const lines = [
    summaryLine(document),
    ...malformedLines(document.malformed_items),
    ...mismatchLines(document.mismatched_answers),
  ]
  await terminal.out(`${lines.join('\n')}\n`)
  if (failures.length > 0)
    await terminal.out(
      formatTable(
        [
          { title: 'task', align: 'right' },
          { title: 'operation' },
          { title: 'query' },
          { title: 'page', align: 'right' },
          { title: 'cause' },
        ],
        failures.map((one) => [
          String(one.taskId),
          one.operation,
          harmless(one.query),
          String(one.page),
          harmless(one.cause),
        ]),
      ),
    )
  return 0
}
