import { runDocument } from '../../../collect/stop.ts'
import { UsageError } from '../../../model/errors.ts'
import type { Run, RunQuality } from '../../../model/run.ts'
import { grouped } from '../../../model/text.ts'
import { utcMinute } from '../../../model/time.ts'
import { numberOption, type OptionSpecs, textOption } from '../../../model/values.ts'
import { formatTable, wrapLines } from '../../../output/table.ts'
import { sanitize, type Terminal } from '../../../output/terminal.ts'
import { databaseFile } from '../../../run/config.ts'
import { storedData } from '../../../run/open-stored.ts'
import { demoHint } from '../../../store/sqlite/connection/database.ts'
import { databaseLock, isHeld } from '../../../store/sqlite/connection/lock.ts'
import type { Command, TypedOptions } from '../../flags.ts'
import { runLines } from '../../progress.ts'

const listedByDefault = 20

const flags = {
  job: textOption('Runs of this job only'),
  limit: textOption('Runs to list [20]'),
} satisfies OptionSpecs

export type RunsFlags = TypedOptions<typeof flags> & { readonly run?: string }

export const runsCommand = {
  flags,
  docs: 'docs/cron.md',
  examples: [
    ['runs', 'the last twenty'],
    ['runs 12', 'one run, with every failed task'],
    ['runs --job acme --json', 'for programs'],
  ],
  run: runs,
} satisfies Command

/** `rankline runs`: lists runs, or shows one with every failed task. */
export async function runs(flags: RunsFlags, terminal: Terminal): Promise<number> {
  await using store = await storedData.runs(flags)
  const database = databaseFile.path(flags)
  // A run without an end is at work only as long as a process collects.
  const collecting = isHeld(databaseLock(database))
  const id = numberOption('The run', flags.run, { min: 1 })
  if (id !== undefined) return await showRun(store, id, collecting, flags, terminal)
  const limit = numberOption('--limit', flags.limit, { min: 1 }) ?? listedByDefault
  const listed = await store.runs({ limit, ...(flags.job === undefined ? {} : { job: flags.job }) })
  if (flags.json === true) {
    const documents = await Promise.all(listed.map((run) => documentOf(store, run, collecting)))
    await terminal.write(`${JSON.stringify(documents, null, 2)}\n`)
  } else if (listed.length === 0)
    terminal.log(`There are no runs yet. Start one with: rankline run <job file>${demoHint(database)}`)
  else {
    // Results are not counted for it, which takes longer than all the rest.
    const rows = listed.map((run) => cells(run, store.runQuality(run.id), collecting))
    await terminal.write(formatTable(columns, rows, terminal.columns))
  }
  return 0
}

type OpenedRuns = Awaited<ReturnType<typeof storedData.runs>>

async function documentOf(store: OpenedRuns, run: Run, collecting: boolean) {
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
    sanitize(job),
    utcMinute(startedAt),
    finishReason ?? (collecting ? 'running' : 'died'),
    ...[tasks.done, tasks.failed, left, spent, ambiguous, mismatched].map(grouped),
  ]
}

async function showRun(
  store: OpenedRuns,
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
    await terminal.write(`${JSON.stringify({ ...document, failures: failed }, null, 2)}\n`)
    return 0
  }
  const lines = [
    ...runLines.suspicion(document),
    runLines.summary(document),
    ...runLines.malformed(document.malformed_items),
    ...runLines.mismatch(document.mismatched_answers),
  ]
  await terminal.write(wrapLines(`${lines.join('\n')}\n`, terminal.columns))
  const withParams = failures.some(({ params }) => Object.keys(params).length > 0)
  if (failures.length > 0) {
    const { paramTexts } = await import('../../../report/cells.ts')
    await terminal.write(
      formatTable(
        [
          { title: 'task', align: 'right' },
          { title: 'operation' },
          { title: 'query' },
          ...(withParams ? [{ title: 'params' }] : []),
          { title: 'page', align: 'right' },
          { title: 'cause' },
        ],
        failures.map((one) => [
          String(one.taskId),
          one.operation,
          sanitize(one.query),
          ...(withParams ? [sanitize(paramTexts(one.params).join(' '))] : []),
          String(one.page),
          sanitize(one.cause),
        ]),
      ),
    )
  }
  return 0
}
