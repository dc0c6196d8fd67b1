import { existsSync, readFileSync } from 'node:fs'
import type { RunDocument } from '../collect/finish.ts'
import { RanklineError, UsageError } from '../model/errors.ts'
import { coverageOf, endOf, type Run, type StopCause } from '../model/run.ts'
import type { Clock } from '../model/time.ts'
import { latestKnown } from '../model/trusted-time.ts'
import { writablePath, writeFileAtomically } from '../output/file.ts'
import { type JobMetrics, metricsText, workerMetricsText } from '../output/metrics-file.ts'
import type { App } from '../run/app.ts'
import { type MetricsFile, metricsFile } from '../run/config.ts'
import { searchJob } from '../run/job-files.ts'
import type { Store } from '../store/store.ts'
import { judgeRuns } from './alerts/judge-runs.ts'
import { deliverMessages } from './messages/deliver.ts'
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

type AfterRunStep = (after: AfterRun) => Promise<void>

/** What is done after runs, in this order. */
const steps: readonly AfterRunStep[] = [judgeRuns, writeMetrics, queueDigestsOfRuns, deliverMessages]

/**
 * Does what follows a collection. A step that fails is told in one line: it changes nothing of how the run ended. A bug in one step
 * keeps no other from its work, and is thrown in the end.
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
export function metricsFileToWrite(named: string | undefined): MetricsFile | null {
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
export async function writeMetrics({
  app: { store, clock },
  metricsFile,
}: Pick<AfterRun, 'metricsFile'> & {
  readonly app: { readonly store: Store; readonly clock: Pick<Clock, 'wall'> }
}): Promise<void> {
  if (metricsFile === null) return
  const text = await currentMetrics(store, clock.wall())
  await writeFileAtomically(metricsFile.path, [text], metricsFile.by, readableByAll)
}

/** Writes what a worker of a queue does into its file of metrics. */
export async function writeWorkerMetrics(
  file: MetricsFile,
  worker: Parameters<typeof workerMetricsText>[0],
): Promise<void> {
  await writeFileAtomically(file.path, [workerMetricsText(worker)], file.by, readableByAll)
}

async function currentMetrics(store: Store, now: number): Promise<string> {
  const jobs: JobMetrics[] = []
  for (const job of await store.jobsThatRan()) {
    const { last, good } = await store.newestRuns(job, latestKnown(now))
    if (last === null || job === searchJob) continue
    const { planned, done, failed, pending } = await store.taskCounts(last.id)
    const { spent } = await store.creditsOf([last.id])
    jobs.push({
      job,
      lastGoodAt: good === null ? null : endOf(good),
      lastRunAt: endOf(last),
      credits: spent,
      tasks: { done, failed, pending },
      coverage: coverageOf({ planned, done }),
      openAlerts: (await store.openAlerts(job)).length,
    })
  }
  return metricsText(jobs, (await store.newestUsage())?.remaining ?? null)
}
