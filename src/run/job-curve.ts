import { readFileSync } from 'node:fs'
import { jobPlaces } from '../jobfile/files.ts'
import { UsageError } from '../model/errors.ts'
import type { JobSettings } from '../model/job.ts'
import { defaultCurve, parseCtr } from '../report/ctr.ts'
import type { CtrCurve, MetricOptions } from '../report/metrics/figure.ts'
import { newestRun, rankedJob } from '../report/requests/rank-report.ts'
import type { Store } from '../store/sqlite/open.ts'

/**
 * The curve with which the clicks of a job are estimated, wherever that is: `ctr:` of its file, which is fitted from own clicks, a file, or the
 * default curve. Throws a sentence where the file cannot be read.
 */
async function curveOfJob(
  store: Store,
  {
    job,
    settings,
    date,
  }: {
    readonly job: string
    /** What the file of the job says now; null for what its newest run stored of it. */
    readonly settings: Pick<JobSettings, 'ctr' | 'file' | 'targets'> | null
    readonly date?: string | undefined
  },
): Promise<CtrCurve> {
  const { ctr = null, file } = settings ?? (await newestRun(store, job, date))?.settings ?? {}
  if (ctr === null || ctr === 'default') return defaultCurve
  if (ctr !== 'own') return readCurve(jobPlaces.fromJobFile(file ?? '', ctr))
  if (!store.hasClicks()) return defaultCurve
  const { ownCurve } = await import('../report/requests/measured-clicks.ts')
  const { history } = await rankedJob(store, job, { date, targets: settings?.targets })
  return ownCurve(store, history) ?? defaultCurve
}

/** How a job is measured: with its curve, where no option names another one. */
async function measureOfJob(
  store: Store,
  measure: MetricOptions,
  of: Parameters<typeof curveOfJob>[1],
): Promise<MetricOptions> {
  return measure.curve === defaultCurve ? { ...measure, curve: await curveOfJob(store, of) } : measure
}

/** The same for what runs by itself: a curve that cannot be read costs no message. */
async function curveOrDefault(store: Store, of: Parameters<typeof curveOfJob>[1]): Promise<CtrCurve> {
  return await curveOfJob(store, of).catch((error: unknown) => {
    if (error instanceof UsageError) return defaultCurve
    throw error
  })
}

/** Reads a file of ranks and rates. */
function readCurve(file: string): CtrCurve {
  try {
    return parseCtr(readFileSync(file, 'utf8'), file)
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(
      `The curve ${file} cannot be read. Check the path given to --ctr, or ctr: in the job file, and its permissions`,
      { cause: error },
    )
  }
}

/** The curves with which clicks are estimated. */
export const clickCurves = {
  ofJob: curveOfJob,
  measureOf: measureOfJob,
  orDefault: curveOrDefault,
  read: readCurve,
}
