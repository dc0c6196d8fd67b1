import type { Account } from '../api/account.ts'
import { systemClock } from '../model/clock.ts'
import type { PlanSummary } from '../model/plan.ts'
import type { RunMeans } from '../plan/fit.ts'
import { exitCodeOf } from '../run/finish.ts'
import { type Course, plotCourse } from '../run/going-on.ts'
import { localDay } from '../run/local-day.ts'
import { type QuotaUse, quotaLeft, quotaUses, quotaWords } from '../run/quotas.ts'
import { type AccountReading, AccountUnknown, readUsage } from '../run/read-account.ts'
import { newStop } from '../run/stop.ts'
import type { PlanDraft, PlannedJob, Store } from '../store/store.ts'
import type { Terminal } from '../terminal.ts'
import { count } from '../words.ts'
import { backtestJobs } from './backtest.ts'
import { areLeftOut, type JobFileFlags, type StagedJob, stageJobs } from './job-files.ts'
import { type BudgetedJob, described, planDocuments } from './plan-document.ts'
import { accountWarnings } from './usage.ts'
import { type Connection, connectFreely, lookupPatience, type WireFlags } from './wire.ts'

export interface PlanFlags extends JobFileFlags, WireFlags {
  readonly fresh?: boolean
  readonly json?: boolean
  readonly 'fit-balance'?: boolean
  readonly backtest?: boolean
}

/** Jobs of a command as they would be planned, with what becomes of each. */
export interface Plotted {
  readonly job: StagedJob
  readonly planned: PlannedJob
  readonly course: Course
}

/** `rankline plan`: what would be called and what it would cost. */
export async function plan(flags: PlanFlags, terminal: Terminal): Promise<number> {
  if (flags.backtest === true) return await backtestJobs(flags, terminal)
  await using connection = await connectFreely(flags, { stored: 'read' })
  const { store } = connection
  await using draft = await store.draft()
  const jobs = await stageJobs(flags, draft, store, terminal)
  if (jobs === null) return 2
  const plotted = await plot(store, jobs, { fresh: flags.fresh === true, change: false })
  const summaries: PlanSummary[] = []
  for (const { planned } of plotted) summaries.push(await draft.summary(planned))
  const account = await accountOf(connection)
  if (account instanceof AccountUnknown) {
    terminal.say(account.message)
    return exitCodeOf(account.stop)
  }
  const budgeted = await Promise.all(
    plotted.map(async ({ planned }, index) => ({
      summary: summaries[index] as PlanSummary,
      planned,
      means: await meansOf(store, planned),
    })),
  )
  const quotas = await quotaUses(store, connection.keyHash, account, connection.clock.wall())
  const leftOut =
    flags['fit-balance'] === true ? await unfit(draft, budgeted, account, quotaLeft(quotas)) : null
  const documents = planDocuments(budgeted, account, leftOut)
  for (const warning of [...warnings(jobs, account), ...quotaWarnings(quotas, documents)])
    terminal.say(warning)
  await terminal.out(
    flags.json === true
      ? `${JSON.stringify(documents.length === 1 ? documents[0] : documents, null, 2)}\n`
      : described(documents, account, terminal.columns),
  )
  return areLeftOut(flags, jobs) ? 2 : 0
}

/** What each staged job would do; with `change`, runs that can no longer go on are closed. */
export async function plot(
  store: Store,
  jobs: readonly StagedJob[],
  { fresh, change }: { readonly fresh: boolean; readonly change: boolean },
  now: number = systemClock.wall(),
): Promise<readonly Plotted[]> {
  const dates = jobs.map(({ settings }) => localDay(now, settings.timezone))
  const courses = await plotCourse(
    store,
    jobs.map(({ settings, tracked }) => ({ name: settings.name, tracked })),
    { dates, fresh, now },
    change,
  )
  return jobs.map((job, index) => {
    const course = courses[index] as Course
    const { freshnessMs } = job.settings
    return {
      job,
      course,
      planned: {
        settings: job.settings,
        date: dates[index] as string,
        continues: course.do === 'continue' ? course.run.id : null,
        freshSince: freshnessMs === null ? null : now - freshnessMs,
      },
    }
  })
}

/** What a job's own budget still allows, over all continuations of its run. */
async function meansOf(store: Store, { settings, continues }: PlannedJob): Promise<RunMeans> {
  const { spent, ambiguous } = await store.creditsOf(continues === null ? [] : [continues])
  const { maxCredits, keep } = settings.budget
  return {
    budget: maxCredits === null ? Number.POSITIVE_INFINITY : Math.max(0, maxCredits - spent - ambiguous),
    keep: keep ?? 0,
  }
}

function unfit(draft: PlanDraft, jobs: readonly BudgetedJob[], { remaining }: Account, calls: number) {
  const runs = new Map(jobs.map(({ summary, means }) => [summary.job, means]))
  return draft.fit(
    jobs.map(({ planned }) => planned),
    { runs, credits: remaining ?? 0, calls },
  )
}

function quotaWarnings(
  quotas: readonly QuotaUse[],
  documents: readonly { readonly tasks: { readonly planned: number; readonly done: number } }[],
): readonly string[] {
  const open = documents.reduce((sum, { tasks }) => sum + tasks.planned - tasks.done, 0)
  return quotas
    .filter(({ limit, ours }) => limit - ours < open)
    .map(
      (use) =>
        `The key's ${quotaWords(use)} leaves ${count(Math.max(0, use.limit - use.ours), 'call')}; the run would stop there.`,
    )
}

async function accountOf({
  service,
  store,
  clock,
  keyHash,
}: Connection): Promise<AccountReading | AccountUnknown> {
  try {
    return await readUsage(
      {
        service,
        store,
        clock,
        keyHash,
        random: Math.random,
        signal: newStop().signal,
        maxThrottlingMs: lookupPatience.throttledMs,
      },
      null,
    )
  } catch (error) {
    if (error instanceof AccountUnknown) return error
    throw error
  }
}

function warnings(jobs: readonly StagedJob[], account: AccountReading): readonly string[] {
  const open = jobs
    .filter(({ originOpen }) => originOpen)
    .map(
      ({ settings }) =>
        `${settings.name}: ranks are tracked, but no location or uule says where from, so the service may ask from anywhere; set a location`,
    )
  return [...open, ...accountWarnings(account)]
}
