import { type AccountReading, fetchUsage } from '../../collect/account.ts'
import { stopSignal, UsageUnavailable } from '../../collect/stop.ts'
import type { Account } from '../../model/call.ts'
import { localDay, systemClock } from '../../model/time.ts'
import { freshSpan } from '../../model/trusted-time.ts'
import type { BudgetedJob } from '../../plan/document.ts'
import { editLines } from '../../plan/edited-queries.ts'
import { decideResume, type ResumeDecision } from '../../plan/resume.ts'
import type { PlanDraft, PlannedJob } from '../../store/runs.ts'
import type { Store } from '../../store/store.ts'
import type { App } from '../connect/app.ts'
import { lookupPatience } from '../connect/service.ts'
import type { StagedJob } from '../job-files.ts'

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

/** What edits of job files cost their history, a sentence each, of jobs that are to be collected. */
export async function editedJobs(
  draft: PlanDraft,
  decided: readonly JobDecision[],
): Promise<readonly string[]> {
  const lines: string[] = []
  for (const { job, decision } of decided) {
    const edited = decision.do === 'show' ? null : await draft.edited(job.settings.name)
    if (edited !== null) lines.push(...editLines(job.settings, edited))
  }
  return lines
}

export function unfit(draft: PlanDraft, jobs: readonly BudgetedJob[], { remaining }: Account, calls: number) {
  const runs = new Map(jobs.map(({ summary, means }) => [summary.job, means]))
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
        maxThrottlingMs: lookupPatience.throttledMs,
      },
      null,
    )
  } catch (error) {
    if (error instanceof UsageUnavailable) return error
    throw error
  }
}
