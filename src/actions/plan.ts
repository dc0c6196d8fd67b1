import type { Account } from '../api/account.ts'
import { systemClock } from '../model/clock.ts'
import type { PlanSummary } from '../model/plan.ts'
import { formatTable } from '../report/table.ts'
import { exitCodes } from '../run/finish.ts'
import { type Course, plotCourse } from '../run/going-on.ts'
import { localDay } from '../run/local-day.ts'
import { AccountUnknown, readUsage } from '../run/read-account.ts'
import { newStop } from '../run/stop.ts'
import type { PlannedJob, Store } from '../store/store.ts'
import type { Terminal } from '../terminal.ts'
import { count, duration } from '../words.ts'
import { type JobFileFlags, type StagedJob, stageJobs } from './job-files.ts'
import { type Connection, connect, type WireFlags } from './wire.ts'

export interface PlanFlags extends JobFileFlags, WireFlags {
  readonly fresh?: boolean
  readonly json?: boolean
}

/** Jobs of a command as they would be planned, with what becomes of each. */
export interface Plotted {
  readonly job: StagedJob
  readonly planned: PlannedJob
  readonly course: Course
}

/** `rankline plan`: what would be called and what it would cost. */
export async function plan(flags: PlanFlags, terminal: Terminal): Promise<number> {
  await using connection = await connect(flags)
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
    return exitCodes[account.stop.reason]
  }
  const documents = summaries.map((summary) => document(summary, account))
  for (const warning of warnings(jobs, account)) terminal.say(warning)
  await terminal.out(
    flags.json === true
      ? `${JSON.stringify(documents.length === 1 ? documents[0] : documents, null, 2)}\n`
      : described(documents, account),
  )
  return 0
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
    jobs.map(({ settings }) => settings),
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

async function accountOf({ service, store, keyHash }: Connection): Promise<Account | AccountUnknown> {
  try {
    return await readUsage({ service, store, keyHash, random: Math.random, signal: newStop().signal }, null)
  } catch (error) {
    if (error instanceof AccountUnknown) return error
    throw error
  }
}

/** What `plan --json` prints for a job. */
function document(summary: PlanSummary, { remaining, limits }: Account) {
  const { min, expected, max } = summary.credits
  const open = summary.tasks - summary.done - summary.reused
  return {
    job: summary.job,
    continues: summary.continues,
    queries: summary.queries,
    duplicates: summary.duplicates,
    tasks: { planned: summary.tasks, done: summary.done, reused: summary.reused },
    credits: { min, expected, max },
    balance: remaining,
    balance_after: remaining === null ? null : remaining - expected,
    seconds: secondsFor(open, limits),
  }
}

/** Seconds that so many calls take at these limits at least; null where they set none. */
function secondsFor(calls: number, { perSecond, perMinute }: Account['limits']): number | null {
  if (perSecond === null && perMinute === null) return null
  const bySecond = perSecond === null ? 0 : calls / perSecond
  // The first minute's calls leave at once.
  const byMinute = perMinute === null ? 0 : Math.floor(Math.max(0, calls - 1) / perMinute) * 60
  return Math.ceil(Math.max(bySecond, byMinute))
}

type PlanDocument = ReturnType<typeof document>

function described(documents: readonly PlanDocument[], account: Account): string {
  const rows = documents.map(({ job, queries, tasks, credits, balance_after, seconds, continues }) => [
    job,
    queries.toLocaleString('en-US'),
    tasks.planned.toLocaleString('en-US'),
    (tasks.done + tasks.reused).toLocaleString('en-US'),
    credits.min.toLocaleString('en-US'),
    credits.expected.toLocaleString('en-US'),
    credits.max.toLocaleString('en-US'),
    balance_after?.toLocaleString('en-US') ?? '',
    seconds === null ? 'no limit' : duration(seconds),
    continues === null ? 'new' : `goes on with run ${continues}`,
  ])
  const table = formatTable(
    [
      { title: 'job' },
      { title: 'queries', align: 'right' },
      { title: 'tasks', align: 'right' },
      { title: 'have', align: 'right' },
      { title: 'credits min', align: 'right' },
      { title: 'expected', align: 'right' },
      { title: 'max', align: 'right' },
      { title: 'balance after', align: 'right' },
      { title: 'time', align: 'right' },
      { title: 'run' },
    ],
    rows,
  )
  const duplicates = documents.reduce((sum, one) => sum + one.duplicates, 0)
  const joined = duplicates === 0 ? '' : `${count(duplicates, 'duplicate row')} joined. `
  return `${table}\n${joined}Balance now ${account.remaining?.toLocaleString('en-US') ?? 'not known'}. Nothing was spent.\n`
}

const expiryNoticeMs = 14 * 86_400_000

function warnings(jobs: readonly StagedJob[], account: Account): readonly string[] {
  const open = jobs
    .filter(({ originOpen }) => originOpen)
    .map(
      ({ settings }) =>
        `${settings.name}: ranks are tracked, but no location or uule says where from; the service may then ask from anywhere. Set location:`,
    )
  const expires = account.keyExpires === null ? Number.NaN : Date.parse(account.keyExpires)
  const left = expires - systemClock.wall()
  return left < expiryNoticeMs ? [...open, `The API key expires on ${account.keyExpires}.`] : open
}
