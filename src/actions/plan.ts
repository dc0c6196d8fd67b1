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
  const documents = await documentsOf(store, plotted, summaries, account)
  for (const warning of warnings(jobs, account)) terminal.say(warning)
  await terminal.out(
    flags.json === true
      ? `${JSON.stringify(documents.length === 1 ? documents[0] : documents, null, 2)}\n`
      : described(documents, account, terminal.columns),
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

async function accountOf({ service, store, keyHash }: Connection): Promise<Account | AccountUnknown> {
  try {
    return await readUsage({ service, store, keyHash, random: Math.random, signal: newStop().signal }, null)
  } catch (error) {
    if (error instanceof AccountUnknown) return error
    throw error
  }
}

/** Jobs share the balance: each is covered by what those before it leave. */
async function documentsOf(
  store: Store,
  plotted: readonly Plotted[],
  summaries: readonly PlanSummary[],
  account: Account,
): Promise<readonly PlanDocument[]> {
  let balance = account.remaining ?? 0
  const documents: PlanDocument[] = []
  for (const [index, summary] of summaries.entries()) {
    const { maxCredits, keep } = (plotted[index] as Plotted).planned.settings.budget
    const { spent, ambiguous } = await store.creditsOf(summary.continues === null ? [] : [summary.continues])
    const budget =
      maxCredits === null ? Number.POSITIVE_INFINITY : Math.max(0, maxCredits - spent - ambiguous)
    const covered = Math.min(summary.credits.expected, budget, Math.max(0, balance - (keep ?? 0)))
    balance -= covered
    documents.push(document(summary, { covered, balance, account }))
  }
  return documents
}

interface Cover {
  /** Credits of the expected ones that budget and balance allow. */
  readonly covered: number
  /** Left when the job, and those before it, have spent theirs. */
  readonly balance: number
  readonly account: Account
}

/** What `plan --json` prints for a job. */
function document(summary: PlanSummary, { covered, balance, account: { remaining, limits } }: Cover) {
  const { min, expected, max } = summary.credits
  const open = summary.tasks - summary.done - summary.reused
  return {
    job: summary.job,
    continues: summary.continues,
    queries: summary.queries,
    duplicates: summary.duplicates,
    tasks: { planned: summary.tasks, done: summary.done, reused: summary.reused },
    credits: { min, expected, max, covered },
    balance: remaining,
    balance_after: remaining === null ? null : balance,
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

function runWords(continues: number | null, { covered, expected }: PlanDocument['credits']): string {
  const run = continues === null ? 'new' : `goes on with run ${continues}`
  return covered < expected ? `${run}; would stop after ${count(covered, 'credit')}` : run
}

function totalRow(documents: readonly PlanDocument[]): string[] {
  const sum = (of: (one: PlanDocument) => number): string =>
    documents.reduce((total, one) => total + of(one), 0).toLocaleString('en-US')
  return [
    'total',
    sum(({ queries }) => queries),
    sum(({ tasks }) => tasks.planned),
    sum(({ tasks }) => tasks.done + tasks.reused),
    sum(({ credits }) => credits.min),
    sum(({ credits }) => credits.expected),
    sum(({ credits }) => credits.max),
    documents.at(-1)?.balance_after?.toLocaleString('en-US') ?? '',
  ]
}

function described(documents: readonly PlanDocument[], account: Account, width: number): string {
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
    runWords(continues, credits),
  ])
  if (documents.length > 1) rows.push(totalRow(documents))
  const table = formatTable(
    [
      { title: 'job', shrinks: true },
      { title: 'queries', align: 'right', dropped: true },
      { title: 'tasks', align: 'right' },
      { title: 'have', align: 'right', dropped: true },
      { title: 'credits min', align: 'right' },
      { title: 'expected', align: 'right' },
      { title: 'max', align: 'right' },
      { title: 'balance after', align: 'right' },
      { title: 'time', align: 'right' },
      { title: 'run' },
    ],
    rows,
    width,
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
        `${settings.name}: ranks are tracked, but no location or uule says where from, so the service may ask from anywhere; set a location`,
    )
  const expires = account.keyExpires === null ? Number.NaN : Date.parse(account.keyExpires)
  const left = expires - systemClock.wall()
  return left < expiryNoticeMs ? [...open, `The API key expires on ${account.keyExpires}.`] : open
}
