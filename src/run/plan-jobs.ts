import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { type AccountReading, fetchUsage } from '../collect/account.ts'
import { stopSignal, UsageUnavailable } from '../collect/stop.ts'
import type { Account } from '../model/call.ts'
import { noFile } from '../model/job.ts'
import { count, shellWord } from '../model/text.ts'
import { localDay, systemClock } from '../model/time.ts'
import { freshSpan } from '../model/trusted-time.ts'
import type { BudgetedJob } from '../plan/document.ts'
import { editLines } from '../plan/edited-queries.ts'
import { decideResume, type ResumeDecision } from '../plan/resume.ts'
import type { FormerJob, PlanDraft, PlannedJob } from '../store/runs.ts'
import type { Store } from '../store/store.ts'
import { type App, lookupDelays } from './app.ts'
import type { StagedJob } from './job-files.ts'

/** Jobs of a command as they would be planned, with what becomes of each. */
export interface JobDecision {
  readonly job: StagedJob
  readonly planned: PlannedJob
  readonly decision: ResumeDecision
}

/** What each staged job would do; with `change`, runs that can no longer go on are closed. */
export async function decideJobs(
  store: Store,
  jobs: readonly StagedJob[],
  {
    fresh,
    change,
    together = true,
  }: {
    readonly fresh: boolean
    readonly change: boolean
    /** Whether they are one piece of work, in which a finished job waits for the others. */
    readonly together?: boolean
  },
  now: number = systemClock.wall(),
): Promise<readonly JobDecision[]> {
  const dates = jobs.map(({ settings }) => localDay(now, settings.timezone))
  const tracked = jobs.map(({ settings, tracked }, index) => ({
    job: { name: settings.name, tracked },
    date: dates[index] as string,
  }))
  const courses: ResumeDecision[] = []
  for (const some of together ? [tracked] : tracked.map((one) => [one]))
    courses.push(
      ...(await decideResume(
        store,
        some.map(({ job }) => job),
        { dates: some.map(({ date }) => date), fresh, now },
        change,
      )),
    )
  return jobs.map((job, index) => {
    const decision = courses[index] as ResumeDecision
    return {
      job,
      decision,
      planned: {
        settings: job.settings,
        date: dates[index] as string,
        continues: decision.do === 'continue' ? decision.run.id : null,
        fresh: freshSpan(job.settings.freshnessMs, now),
      },
    }
  })
}

/** What edits of job files cost their history, a sentence each, of jobs that are to be collected; renamed ones, too. */
export async function editedJobs(
  store: Pick<Store, 'jobFiles'>,
  draft: PlanDraft,
  decided: readonly JobDecision[],
): Promise<readonly string[]> {
  const lines: string[] = []
  const gone = await jobsWithoutFile(store, decided)
  for (const { job, decision } of decided) {
    const edited = decision.do === 'show' ? null : await draft.edited(job.settings.name)
    if (edited !== null) lines.push(...editLines(job.settings, edited))
    const { name, file } = job.settings
    const before = decision.do === 'show' || gone.length === 0 ? null : await draft.formerJob(name, gone)
    if (before !== null) lines.push(renamedLine(name, file, before))
  }
  return lines
}

/** Jobs whose file is gone, or names another job by now. */
async function jobsWithoutFile(
  store: Pick<Store, 'jobFiles'>,
  decided: readonly JobDecision[],
): Promise<readonly string[]> {
  const names = new Set(decided.map(({ job }) => job.settings.name))
  const files = new Set(decided.map(({ job }) => job.settings.file))
  return (await store.jobFiles())
    .filter(({ name, file }) => !names.has(name) && file !== noFile && (files.has(file) || !existsSync(file)))
    .map(({ name }) => name)
}

function renamedLine(name: string, file: string, { job, same, asked }: FormerJob): string {
  const isYaml = /\.ya?ml$/i.test(file)
  const way = isYaml ? `write 'name: ${job}' into ${relative('', file)}` : `add --name ${shellWord(job)}`
  return `${name}: has not run yet, and asks ${count(same, 'query', 'queries')} of the ${asked} of ${job}, which no file describes any more. To keep its history ${way}, or: rankline job rename ${shellWord(job)} ${shellWord(name)}`
}

/** A line for each job that is paused and runs all the same, because it was named. */
export async function pausedJobs(
  store: Pick<Store, 'pauseOf'>,
  jobs: readonly StagedJob[],
): Promise<readonly string[]> {
  const lines: string[] = []
  for (const { settings } of jobs)
    if ((await store.pauseOf(settings.name)).pausedAt !== null)
      lines.push(
        `${settings.name} is paused: it runs only by hand, as now, until: rankline job resume ${shellWord(settings.name)}`,
      )
  return lines
}

export function unfit(draft: PlanDraft, jobs: readonly BudgetedJob[], { remaining }: Account, calls: number) {
  const runs = new Map(jobs.map(({ summary, funds }) => [summary.job, funds]))
  return draft.fit(
    jobs.map(({ planned }) => planned),
    { runs, credits: remaining ?? 0, calls },
  )
}

export async function accountOf({
  service,
  store,
  clock,
  keyHash,
}: App): Promise<AccountReading | UsageUnavailable> {
  try {
    return await fetchUsage(
      {
        service,
        store,
        clock,
        keyHash,
        random: Math.random,
        signal: stopSignal().signal,
        maxThrottlingMs: lookupDelays.throttledMs,
      },
      null,
    )
  } catch (error) {
    if (error instanceof UsageUnavailable) return error
    throw error
  }
}
