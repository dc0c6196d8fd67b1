import { existsSync, readFileSync } from 'node:fs'
import type { RunDocument } from '../collect/stop.ts'
import { RanklineError, UsageError } from '../model/errors.ts'
import { coverageOf, endOf, type Run, type StopCause } from '../model/run.ts'
import { type Clock, latestKnown } from '../model/time.ts'
import { writablePath, writeFileAtomically } from '../output/file.ts'
import type { App } from '../run/app.ts'
import { type MetricsFile, metricsFile } from '../run/config.ts'
import { searchJob } from '../run/job-files.ts'
import type { Store } from '../store/sqlite/open.ts'
import { judgeRuns } from './alerts/judge-runs.ts'
import { deliver } from './messages/deliver.ts'
import { queueDigestsOfRuns } from './messages/digest.ts'

/** What follows a collection of any command. */
interface AfterRun {
  readonly app: App
  /** Runs that were collected, each with the document that says how it ended. */
  readonly finished: readonly { readonly run: Run; readonly document: RunDocument }[]
  /** Why the command stopped; null where it did not. */
  readonly cause: StopCause | null
  /** Where metrics are written; null where none are wanted. */
  readonly metricsFile: MetricsFile | null
  /** Prints a warning. */
  readonly log: (line: string) => void
}

/** What is done after runs, in this order. */
const steps: readonly ((after: AfterRun) => Promise<void>)[] = [
  judgeRuns,
  writeMetrics,
  queueDigestsOfRuns,
  async ({ app: { store, clock, outgoing }, log }) => await deliver({ store, clock, outgoing, log }),
]

/**
 * Does what follows a collection of any command. A step that fails is told in one line: it changes nothing of how the run ended. A bug
 * in one step keeps no other from its work, and is thrown in the end.
 */
export async function afterRuns(after: AfterRun): Promise<void> {
  const bugs: unknown[] = []
  for (const step of steps)
    try {
      await step(after)
    } catch (error) {
      if (error instanceof RanklineError) after.log(error.message)
      else bugs.push(error)
    }
  if (bugs.length > 0) throw bugs[0]
}

/** The file that option or environment name. Throws one sentence where it cannot be written, or holds something else. */
function metricsFileToWrite(named: string | undefined): MetricsFile | null {
  const file = metricsFile(named)
  if (file === null) return null
  const path = writablePath(file.path, file.by)
  if (existsSync(path) && !/^(# HELP |$)/.test(readFileSync(path, 'utf8').slice(0, 7)))
    throw new UsageError(
      `${file.path} is there and is not a file of metrics, so it would be lost. Give ${file.by} the name of another file`,
    )
  return file
}

/** The collector of node_exporter is another user. */
const readableByAll = 0o644

/** Writes what all jobs of the database come to into the file of metrics. */
async function writeMetrics({
  app: { store, clock },
  metricsFile,
}: {
  readonly metricsFile: MetricsFile | null
  readonly app: { readonly store: Store; readonly clock: Pick<Clock, 'wall'> }
}): Promise<void> {
  if (metricsFile === null) return
  const text = await currentMetrics(store, clock.wall())
  await writeFileAtomically(metricsFile.path, [text], metricsFile.by, readableByAll)
}

/** Writes what a worker of a queue does into its file of metrics. */
async function writeWorkerMetrics(
  file: MetricsFile,
  worker: Parameters<typeof workerMetricsText>[0],
): Promise<void> {
  await writeFileAtomically(file.path, [workerMetricsText(worker)], file.by, readableByAll)
}

/** Writes how a queue is doing into a file of metrics. */
async function writeQueueMetrics(
  file: MetricsFile,
  queue: Parameters<typeof queueMetricsText>[0],
): Promise<void> {
  await writeFileAtomically(file.path, [queueMetricsText(queue)], file.by, readableByAll)
}

async function currentMetrics(store: Store, now: number): Promise<string> {
  const jobs: JobMetrics[] = []
  for (const job of await store.jobsThatRan()) {
    const { last, good } = await store.newestRuns(job, latestKnown(now))
    if (last !== null && job !== searchJob) jobs.push(await metricsOf(job, last, good, store))
  }
  return metricsText(jobs, (await store.newestUsage())?.remaining ?? null)
}

/** The metrics of one job, of its newest run where nothing else is said. Null is not known: the line is left out. */
async function metricsOf(job: string, last: Run, good: Run | null, store: Store) {
  const { planned, done, failed, pending } = await store.taskCounts(last.id)
  const { spent } = await store.creditsOf([last.id])
  return {
    job,
    /** Epoch ms: when the newest good run ended. */
    lastGoodAt: good === null ? null : endOf(good),
    /** Epoch ms: when the newest run ended, or began where it has no end. */
    lastRunAt: endOf(last),
    credits: spent,
    tasks: { done, failed, pending },
    coverage: coverageOf({ planned, done }),
    openAlerts: (await store.openAlerts(job)).length,
  }
}

export type JobMetrics = Awaited<ReturnType<typeof metricsOf>>

/** One sample of a metric: its labels and its value. */
type MetricLine = readonly [labels: Readonly<Record<string, string>>, value: number | null]

/**
 * The text format of Prometheus, for the textfile collector of node_exporter: gauges without timestamps, jobs in the order given.
 *
 * @param balance credits that the last reading of the usage record showed
 */
export function metricsText(jobs: readonly JobMetrics[], balance: number | null): string {
  const perJob = (value: (one: JobMetrics) => number | null): readonly MetricLine[] =>
    jobs.map((one) => [{ job: one.job }, value(one)])
  const tasks = jobs.flatMap(({ job, tasks }): readonly MetricLine[] =>
    Object.entries(tasks).map(([state, number]) => [{ job, state }, number]),
  )
  return [
    family(
      { name: 'rankline_last_success_timestamp_seconds', help: 'When the newest good run of the job ended.' },
      perJob(({ lastGoodAt }) => seconds(lastGoodAt)),
    ),
    family(
      {
        name: 'rankline_last_run_timestamp_seconds',
        help: 'When the newest run of the job ended, or began where it has no end.',
      },
      perJob(({ lastRunAt }) => seconds(lastRunAt)),
    ),
    family(
      { name: 'rankline_run_credits', help: 'Credits billed for the newest run of the job.' },
      perJob(({ credits }) => credits),
    ),
    family({ name: 'rankline_run_tasks', help: 'Tasks of the newest run of the job, by state.' }, tasks),
    family(
      { name: 'rankline_coverage_ratio', help: 'Part of the tasks of the newest run that is done, 0 to 1.' },
      perJob(({ coverage }) => coverage),
    ),
    family({ name: 'rankline_balance_credits', help: 'Balance that the service showed last.' }, [
      [{}, balance],
    ]),
    family(
      { name: 'rankline_alerts_open', help: 'Alerts of the job that are not over.' },
      perJob(({ openAlerts }) => openAlerts),
    ),
  ].join('')
}

/** A worker of a queue, in the same format. */
export function workerMetricsText({
  at,
  isConnected,
  chunks,
  done,
}: {
  /** Epoch ms: when this was so. */
  readonly at: number
  readonly isConnected: boolean
  readonly chunks: number
  readonly done: number
}): string {
  const one = (name: string, help: string, value: number | null): string =>
    family({ name: `rankline_worker_${name}`, help }, [[{}, value]])
  return [
    one('seen_timestamp_seconds', 'When the worker wrote this last.', seconds(at)),
    one('connected', '1 while the worker reaches its queue, else 0.', isConnected ? 1 : 0),
    one('chunks', 'Chunks that the worker has.', chunks),
    one('chunks_done', 'Chunks that the worker has brought to their end since it was started.', done),
  ].join('')
}

/** How a queue is doing, in the same format. */
export function queueMetricsText({
  at,
  problems,
  keys,
  runs,
  readers,
}: {
  /** Epoch ms: when this was so. */
  readonly at: number
  /** How many sentences the status begins with. */
  readonly problems: number
  readonly keys: readonly {
    readonly key: string
    /** Chunks that wait for a worker or for credits and are not paused. */
    readonly depth: number
    /** Workers that were seen lately, and what their calls of the last minute came to. */
    readonly workers: number
    readonly callsPerSecond: number
    readonly errors: number
    /** Whether the service refuses its calls for their rate. */
    readonly isHeld: boolean
  }[]
  readonly runs: readonly {
    readonly key: string
    readonly job: string
    readonly chunks: Readonly<Record<string, number>>
    readonly credits: Readonly<Record<string, number>>
  }[]
  /** Databases that follow, and those of them that have not read everything. */
  readonly readers: { readonly all: number; readonly behind: number }
}): string {
  const name = (rest: string, help: string) => ({ name: `rankline_queue_${rest}`, help })
  const perKey = (value: (one: (typeof keys)[number]) => number): readonly MetricLine[] =>
    keys.map((one) => [{ key: one.key }, value(one)])
  const perRun = (label: string, values: (run: (typeof runs)[number]) => Readonly<Record<string, number>>) =>
    runs.flatMap((run): readonly MetricLine[] =>
      Object.entries(values(run)).map(([which, value]) => [
        { key: run.key, job: run.job, [label]: which },
        value,
      ]),
    )
  return [
    family(name('seen_timestamp_seconds', 'When the queue was looked at last.'), [[{}, seconds(at)]]),
    family(name('problems', 'Problems that rankline queue status begins with.'), [[{}, problems]]),
    family(
      name('depth', 'Chunks of the key that wait for a worker or for credits and are not paused.'),
      perKey(({ depth }) => depth),
    ),
    family(
      name('workers', 'Workers of the key that were seen within two minutes.'),
      perKey(({ workers }) => workers),
    ),
    family(
      name('calls_per_second', 'Calls of the key that ended within the last minute, for each second.'),
      perKey(({ callsPerSecond }) => callsPerSecond),
    ),
    family(
      name('errors', 'Calls of the key that failed within the last minute.'),
      perKey(({ errors }) => errors),
    ),
    family(
      name('held', '1 while the service refuses calls of the key for their rate, else 0.'),
      perKey(({ isHeld }) => (isHeld ? 1 : 0)),
    ),
    family(
      name('chunks', 'Chunks of unfinished runs, by state.'),
      perRun('state', ({ chunks }) => chunks),
    ),
    family(
      name('credits', 'Credits of unfinished runs: spent, possibly billed (ambiguous) and reserved.'),
      perRun('kind', ({ credits }) => credits),
    ),
    family(name('readers', 'Databases that follow the queue.'), [[{}, readers.all]]),
    family(name('readers_behind', 'Databases that have not read everything.'), [[{}, readers.behind]]),
  ].join('')
}

function seconds(instant: number | null): number | null {
  return instant === null ? null : instant / 1000
}

/** The lines of one metric; empty where no sample has a value. */
function family(
  {
    name,
    help,
  }: {
    readonly name: string
    readonly help: string
  },
  samples: readonly MetricLine[],
): string {
  const lines = samples.flatMap(([labels, value]) =>
    value === null ? [] : [`${name}${labelText(labels)} ${value}\n`],
  )
  return lines.length === 0 ? '' : `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${lines.join('')}`
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return parts.length === 0 ? '' : `{${parts.join(',')}}`
}

function escapeLabel(value: string): string {
  return value.toWellFormed().replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

/** Files of metrics: where they are written, and what is. */
export const metrics = {
  file: metricsFileToWrite,
  write: writeMetrics,
  writeQueue: writeQueueMetrics,
  writeWorker: writeWorkerMetrics,
}
