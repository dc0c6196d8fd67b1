import type { StatusDocument } from '../../../check/status.ts'
import { RanklineError } from '../../../model/errors.ts'
import type { JobSettings } from '../../../model/job.ts'
import { endOf } from '../../../model/run.ts'
import type { Audience } from '../../../model/settings/presentation.ts'
import { latestKnown } from '../../../model/trusted-time.ts'
import { sanitize } from '../../../output/terminal.ts'
import {
  type PortfolioProblem,
  type PortfolioRow,
  portfolioRanks,
} from '../../../report/formats/portfolio.ts'
import type { MetricOptions } from '../../../report/metrics/figure.ts'
import type { ReportFormat, ReportSource } from '../../../report/report.ts'
import { presentationOf, presentationSettings } from '../../../report/requests/presentation.ts'
import { type ReportRequest, reportSource } from '../../../report/requests/report-source.ts'
import type { Store } from '../../../store/store.ts'

/** A job of a portfolio. */
export interface PortfolioJob {
  readonly name: string
  /** What its file says now; null where it was named without one. */
  readonly settings: JobSettings | null
}

export interface PortfolioRequest
  extends Pick<ReportRequest, 'period' | 'tolerance' | 'layout' | 'browsers'> {
  readonly measure: MetricOptions
  readonly audience: Audience
  /** How all jobs are doing. */
  readonly status: StatusDocument
  readonly now: number
  readonly format: Pick<ReportFormat, 'dayBefore'>
  /** Writes the own report of a job, and answers the name of its file; null where none is wanted. */
  readonly write: ((source: ReportSource) => Promise<string>) | null
}

/** Reads one job after the other. Of each only its row is kept: a portfolio needs as much memory as its largest job. */
export async function* portfolioRows(
  store: Store,
  jobs: readonly PortfolioJob[],
  request: PortfolioRequest,
): AsyncGenerator<PortfolioRow> {
  for (const job of jobs) {
    const standing = await standingOf(store, job.name, request)
    try {
      yield { ...standing, ...(await reported(store, job, request)) }
    } catch (error) {
      // A logo that is gone, or a period without a run, is a matter of one client.
      if (!(error instanceof RanklineError)) throw error
      yield withProblem(standing, { level: 'warning', kind: 'report', text: sanitize(error.message) })
    }
  }
}

/** What a job says of its report, and where it ranks. */
async function reported(
  store: Store,
  { name: job, settings }: PortfolioJob,
  { audience, write, status: _, now: _now, ...request }: PortfolioRequest,
): Promise<Pick<PortfolioRow, 'name' | 'language' | 'ranks' | 'file'>> {
  const presentation = await presentationOf(await presentationSettings(store, job, settings), { audience })
  // What is collected meanwhile is in neither the row nor the report.
  using _snapshot = store.snapshot()
  const source = await reportSource(store, { ...request, job, settings, presentation })
  const file = write === null ? null : await write(source)
  return {
    name: presentation.client ?? presentation.title ?? job,
    language: presentation.language,
    ranks: portfolioRanks(source),
    file,
  }
}

/** How a job is doing, without its ranks. */
async function standingOf(
  store: Store,
  job: string,
  { status: { jobs, problems }, now }: Pick<PortfolioRequest, 'status' | 'now'>,
): Promise<PortfolioRow> {
  const known = jobs.find((one) => one.job === job)
  const { good } = await store.newestRuns(job, latestKnown(now))
  return {
    job,
    name: job,
    language: null,
    ranks: null,
    file: null,
    // `status` leaves out jobs that were given up.
    level: known?.level ?? null,
    problems: problems.filter((one) => one.job === job),
    lastGood: good === null ? null : endOf(good),
    spentThisMonth: known?.spent_this_month ?? 0,
    openAlerts: known?.open_alerts.length ?? 0,
  }
}

function withProblem(row: PortfolioRow, problem: PortfolioProblem): PortfolioRow {
  const level = row.level === 'error' ? 'error' : 'warning'
  return { ...row, level, problems: [...row.problems, problem] }
}
