import { billableOperation } from '../../../catalog/index.ts'
import { exitCodeOf, UsageUnavailable } from '../../../collect/stop.ts'
import { type BudgetStanding, describeLimit, quotaUsage, type SkippedTotal } from '../../../ledger/budget.ts'
import type { Account } from '../../../model/call.ts'
import type { JobSettings, Target } from '../../../model/job.ts'
import type { PlanSummary } from '../../../model/run.ts'
import { count, duration, firstNames, grouped } from '../../../model/text.ts'
import { type OptionSpecs, quoted, switchOption } from '../../../model/values.ts'
import { formatTable } from '../../../output/table.ts'
import { sanitize, type Terminal } from '../../../output/terminal.ts'
import type { QueryState } from '../../../rank/paging.ts'
import { clocks, connections } from '../../../run/app.ts'
import { backtest, type Day, type PolicyOutcome } from '../../../run/backtest.ts'
import { dueWork } from '../../../run/due-work.ts'
import { areLeftOut, openJobs, type StagedJob, stageJobs } from '../../../run/job-files.ts'
import { storedData } from '../../../run/open-stored.ts'
import { accountOf, jobDecisions } from '../../../run/plan-jobs.ts'
import { wantedOf } from '../../../run/selection.ts'
import { plannedLimits, prices } from '../../../run/spending.ts'
import type { Store } from '../../../store/sqlite/open.ts'
import type { PlanDraft } from '../../../store/sqlite/planning/draft.ts'
import type { PlannedJob } from '../../../store/sqlite/planning/staging.ts'
import { type Command, sharedFlags, type TypedOptions, usualExits } from '../../flags.ts'
import { runLines } from '../../progress.ts'
import { accountWarnings } from '../account/lookups.ts'
import { jobArguments } from './collect-runs.ts'

const flags = {
  ...jobArguments.flags,
  ...sharedFlags.service,
  ...sharedFlags.log,
  ...sharedFlags.fit,
  backtest: switchOption('What each paging policy would have cost and missed on the stored history'),
} satisfies OptionSpecs

type PlanFlags = TypedOptions<typeof flags> & { readonly job?: readonly string[] | undefined }

export const planCommand = {
  flags,
  exits: usualExits.account,
  docs: 'jobs/README.md',
  examples: [
    ['plan keywords.csv --target acme.com --depth 30', 'a list of queries'],
    ['plan acme.yaml --backtest', 'paging policies on the history of a job'],
  ],
  readsStdin: true,
  run: plan,
} satisfies Command

/** `rankline plan`: what would be called and what it would cost. */
export async function plan(given: PlanFlags, terminal: Terminal): Promise<number> {
  const flags =
    given.due === true ? await jobArguments.due(given, terminal) : await jobArguments.named(given, terminal)
  if (flags.backtest === true) return await backtestJobs(flags, terminal)
  await using app = await connections.freely(flags, { stored: 'read' })
  const { store } = app
  await using draft = await store.draft()
  const events = runLines.planEvents(terminal)
  const now = app.clock.wall()
  const isDue = flags.due === true
  const wanted = wantedOf(flags)
  const choice = isDue ? dueWork.queries(store, wanted, now) : wanted.choiceIn(store, now)
  const staged = await stageJobs(flags, draft, store, events, choice)
  if (staged === null) return 2
  const jobs = isDue ? staged.filter(({ chosen }) => chosen > 0) : wanted.onlySelected(staged)
  const leftOutCode = areLeftOut(flags, staged) ? 2 : 0
  if (jobs.length === 0) {
    await terminal.write(flags.json === true ? '[]\n' : 'Nothing is due.\n')
    return leftOutCode
  }
  const decided = await jobDecisions.of(
    store,
    jobs,
    { fresh: flags.fresh === true, change: false, together: !isDue },
    now,
  )
  const summaries: PlanSummary[] = []
  for (const { planned } of decided) summaries.push(await draft.summary(planned))
  const account = await accountOf(app)
  if (account instanceof UsageUnavailable) {
    terminal.log(account.message)
    return exitCodeOf(account.stop)
  }
  clocks.judge(account.aheadMs, { now, options: { trustClock: true }, log: terminal.log })
  const limits = await plannedLimits(
    store,
    decided.map(({ planned }) => planned),
    app.clock.wall(),
  )
  const dear = await prices.dear(store, draft, decided)
  const budgeted = decided.map(({ planned }, index) => {
    const { name, budget } = planned.settings
    const ofJob = limits[index] ?? []
    return {
      summary: summaries[index] as PlanSummary,
      planned,
      funds: {
        budget: Math.min(Number.POSITIVE_INFINITY, ...ofWholeJob(ofJob).map(({ left }) => left)),
        keep: budget.keep ?? 0,
      },
      limits: ofJob,
      dear: dear.find(({ job }) => job === name) ?? null,
    }
  })
  const quotas = await quotaUsage(store, app.keyHash, account, app.clock.wall())
  const leftOut = flags.fitBalance === true ? await unfit(store, draft, budgeted, account, quotas.left) : null
  const documents = planDocuments(budgeted, account, leftOut)
  const shownLimits = limitsToShow(budgeted)
  for (const warning of [
    ...(await jobDecisions.edited(store, draft, decided)),
    ...(await jobDecisions.paused(store, jobs)),
    ...(await originAdvice(store, jobs)),
    ...accountWarnings(account),
    ...jobs.flatMap(({ notices, settings }) => [
      // What is due of many jobs fits a screen.
      ...notices.filter(({ inRuns }) => inRuns || !isDue).map(({ text }) => sanitize(text)),
      ...repeatedRows(draft.repeats(settings.name)),
    ]),
    ...quotaWarnings(quotas.all, documents),
    ...limitWarnings(shownLimits),
    ...(dear.length === 0 ? [] : [`${prices.list(dear)}: run asks first, or needs --yes.`]),
  ])
    terminal.log(warning)
  await terminal.write(
    flags.json === true
      ? `${JSON.stringify(documents.length === 1 ? documents[0] : documents, null, 2)}\n`
      : described(documents, account, terminal.columns, shownLimits),
  )
  return leftOutCode
}

/** A line for each limit that is mostly used. */
function limitWarnings(limits: readonly BudgetStanding[]): readonly string[] {
  return [...new Set(limits.flatMap((standing) => describeLimit(standing).warning ?? []))]
}

function quotaWarnings(
  quotas: Awaited<ReturnType<typeof quotaUsage>>['all'],
  documents: readonly { readonly tasks: { readonly planned: number; readonly done: number } }[],
): readonly string[] {
  const open = documents.reduce((sum, { tasks }) => sum + tasks.planned - tasks.done, 0)
  return quotas
    .filter(({ limit, ours }) => limit - ours < open)
    .map(
      (use) =>
        `The key's ${use.name} leaves ${count(Math.max(0, use.limit - use.ours), 'call')}; the run would stop there.`,
    )
}

/** Told until a job has run: a location that is set later makes each of its queries another one, without a history. */
async function originAdvice(store: Store, jobs: readonly StagedJob[]): Promise<readonly string[]> {
  const open: string[] = []
  for (const { settings, originOpen } of jobs)
    if (originOpen && (await store.runs({ job: settings.name, limit: 1 })).length === 0)
      open.push(settings.name)
  if (open.length === 0) return []
  return [
    `${firstNames(open)}: ranks are tracked, but neither location nor uule is set, so the service may search from any place; set a location before the first run`,
  ]
}

/** Limits to show: all of one job; of several those that may stop what is planned, for each other job would add a line that says nothing. */
function limitsToShow(
  plans: readonly {
    readonly summary: Pick<PlanSummary, 'credits'>
    readonly limits: readonly BudgetStanding[]
  }[],
): readonly BudgetStanding[] {
  const all = plans.flatMap(({ limits }) => limits)
  if (plans.length === 1) return all
  const wanted = new Map<string, number>()
  for (const { summary, limits } of plans)
    for (const { key } of limits.map(describeLimit))
      wanted.set(key, (wanted.get(key) ?? 0) + summary.credits.max)
  return all.filter((limit) => {
    const { key, left } = describeLimit(limit)
    return left < (wanted.get(key) ?? 0)
  })
}

/** A line for each of the first rows that repeat another. */
function repeatedRows(repeats: ReturnType<PlanDraft['repeats']>): readonly string[] {
  const place = ({ file, line }: { readonly file: string; readonly line: number }) => `${file}:${line}`
  return repeats.map(
    ({ text, row, of }) => `${place(row)} asks the same as ${place(of)}: ${quoted(text)}. It is bought once.`,
  )
}

/** `rankline plan --backtest`: what each paging policy would have cost and missed over what is stored. Calls nothing. */
async function backtestJobs(
  flags: PlanFlags & { readonly job: readonly string[] },
  terminal: Terminal,
): Promise<number> {
  const jobs = await openJobs(flags, terminal.log)
  if (jobs === null) return 2
  await using store = await storedData.read(flags)
  const documents = jobs.map((settings) => ({
    job: settings.name,
    used: settings.paging,
    ...backtest(histories(store, settings), settings),
  }))
  if (flags.json === true) {
    const shown = documents.map(documentOf)
    await terminal.write(`${JSON.stringify(shown.length === 1 ? shown[0] : shown, null, 2)}\n`)
  } else for (const one of documents) await terminal.write(backtestText(one, terminal.columns))
  return 0
}

/** Days of one query after the other, watched for the targets that the job names now. */
function* histories(store: Store, settings: JobSettings): Generator<readonly Day[]> {
  const named = settings.targets.map((target, index) => ({ ...target, id: -1 - index }))
  let days: Day[] = []
  let queryId: number | null = null
  for (const asked of store.askedQueries(settings.name)) {
    if (queryId !== null && asked.queryId !== queryId) {
      yield days
      days = []
    }
    queryId = asked.queryId
    days.push(dayOf(store, asked, named))
  }
  if (days.length > 0) yield days
}

/** @param named have the same numbers on all days, also on those that were not watched for them */
function dayOf(
  store: Store,
  {
    runId,
    queryId,
    startedAt,
    operation,
  }: {
    readonly runId: number
    readonly queryId: number
    readonly startedAt: number
    readonly operation: string
  },
  named: QueryState['targets'],
): Day {
  const query = store.storedQuery(runId, queryId)
  const known = new Set(named.map(keyOf))
  const others = query.targets.filter((target) => !known.has(keyOf(target)))
  return {
    startedAt,
    credits: billableOperation(operation).cost,
    query: { ...query, targets: [...named, ...others] },
  }
}

function keyOf({ site, match, also }: Target): string {
  return JSON.stringify([site, match, also])
}

type Backtested = Backtest & { readonly job: string; readonly used: string }

/** What `plan --backtest --json` prints for a job. */
function documentOf({ job, used, looks, leftOut, outcomes }: Backtested) {
  return {
    job,
    paging: used,
    looks,
    left_out: leftOut,
    policies: outcomes.map(({ topChanges, topChangesMissed, ...outcome }) => ({
      ...outcome,
      top_changes: topChanges,
      top_changes_missed: topChangesMissed,
    })),
  }
}

function backtestText({ job, used, looks, leftOut, outcomes }: Backtested, width: number): string {
  if (looks === 0)
    return `${job}: nothing to replay. ${leftOut === 0 ? 'The job has not run yet' : 'No query has every page stored; collect some days with paging: all'}.\n`
  const all = outcomes.find(({ policy }) => policy === 'all')?.credits ?? 0
  const table = formatTable(
    [
      { title: 'paging' },
      { title: 'pages', align: 'right' },
      { title: 'credits', align: 'right' },
      { title: 'of all', align: 'right' },
      { title: 'ranked', align: 'right' },
      { title: 'missed', align: 'right' },
      { title: 'estimated', align: 'right' },
      { title: 'wrong', align: 'right' },
      { title: 'top 10 changes missed', align: 'right' },
    ],
    outcomes.map((one) => cells(one, used, all)),
    width,
  )
  const rest = leftOut === 0 ? '' : ` ${count(leftOut, 'look')} left out: not every page of them is stored.`
  return `${job}: ${count(looks, 'look')} replayed.${rest} *: as the job file says.\n\n${table}\n`
}

function cells(one: PolicyOutcome, used: string, all: number): readonly string[] {
  return [
    `${one.policy}${one.policy === used ? ' *' : ''}`,
    grouped(one.pages),
    grouped(one.credits),
    all === 0 ? '' : `${((one.credits / all) * 100).toFixed(1)} %`,
    grouped(one.ranked),
    grouped(one.missed),
    grouped(one.estimated),
    grouped(one.wrong),
    `${grouped(one.topChangesMissed)} of ${grouped(one.topChanges)}`,
  ]
}

function runText({ continues, left_out, credits: { covered, expected } }: PlanDocument): string {
  const run = continues === null ? 'new' : `continues run ${continues}`
  if (left_out !== undefined)
    return left_out.queries === 0
      ? run
      : `${run}; leaves out ${count(left_out.queries, 'query', 'queries')} (${count(left_out.credits, 'credit')} at most)`
  return covered < expected ? `${run}; would stop after ${count(covered, 'credit')}` : run
}

function totalRow(documents: readonly PlanDocument[]): string[] {
  const sum = (of: (one: PlanDocument) => number): string =>
    grouped(documents.reduce((total, one) => total + of(one), 0))
  return [
    'total',
    sum(({ queries }) => queries),
    sum(({ tasks }) => tasks.planned),
    sum(({ tasks }) => tasks.done + tasks.reused),
    sum(({ credits }) => credits.min),
    sum(({ credits }) => credits.expected),
    sum(({ credits }) => credits.max),
    amount(documents.at(-1)?.balance_after, ''),
  ]
}

/** Plans as a table for people. */
function described(
  documents: readonly PlanDocument[],
  account: Account,
  width: number,
  limits: readonly BudgetStanding[] = [],
): string {
  const rows = documents.map((one) => {
    const { job, queries, tasks, credits, balance_after, seconds } = one
    return [
      sanitize(job),
      grouped(queries),
      grouped(tasks.planned),
      grouped(tasks.done + tasks.reused),
      grouped(credits.min),
      grouped(credits.expected),
      grouped(credits.max),
      amount(balance_after, ''),
      seconds !== null ? duration(seconds) : mayNotCall(account.limits) ? 'never' : '-',
      runText(one),
    ]
  })
  if (documents.length > 1) rows.push(totalRow(documents))
  const table = formatTable(
    [
      { title: 'job', shrinks: true },
      { title: 'queries', align: 'right', dropped: true },
      { title: 'tasks', align: 'right' },
      { title: 'already stored', align: 'right', dropped: true },
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
  const left = [...new Set(limits.map((limit) => describeLimit(limit).line))]
    .map((line) => `${sanitize(line)}\n`)
    .join('')
  return `${table}\n${left}${joined}Balance now ${amount(account.remaining, 'not known')}. Nothing was spent.\n`
}

function amount(n: number | null | undefined, otherwise: string): string {
  return n == null ? otherwise : grouped(n)
}

/** What would be left out of each job. Credits that open asynchronous jobs will cost are set aside. */
async function unfit(
  store: Store,
  draft: PlanDraft,
  jobs: Parameters<typeof planDocuments>[0],
  { remaining }: Account,
  calls: number,
) {
  const inJobs = await store.openJobsOfOthers([])
  const runs = new Map<string, { readonly budget: number; readonly keep: number }>()
  for (const { summary, funds, limits } of jobs) {
    const open = await store.acceptedJobs(summary.continues === null ? [] : [summary.continues])
    const ofRun = open.reduce((sum, { task }) => sum + task.credits, 0)
    // Limits of days and months count them already.
    const lefts = limits.flatMap((one) => ('limit' in one ? [] : [describeLimit(one).left - ofRun]))
    runs.set(summary.job, { budget: Math.min(funds.budget, ...lefts), keep: funds.keep })
  }
  const shared = new Set(jobs.flatMap(({ limits }) => limits.filter((one) => 'limit' in one)))
  return await draft.fit(
    jobs.map(({ planned }) => planned),
    {
      runs,
      limits: [...shared].flatMap((one) =>
        one.limit.scope === 'tag' ? [] : [{ runs: new Set(one.limit.jobs), left: describeLimit(one).left }],
      ),
      credits: (remaining ?? 0) - inJobs.credits,
      calls: calls - inJobs.calls,
    },
  )
}

/**
 * Jobs share the balance: each is covered by the rest that the jobs before it leave.
 *
 * @param jobs planned ones, each with its budget
 * @param leftOut the queries that are left out because the balance does not cover them, by job; null if runs stop instead
 */
function planDocuments(
  jobs: readonly {
    readonly summary: PlanSummary
    readonly planned: PlannedJob
    readonly funds: { readonly budget: number; readonly keep: number }
    /** Limits of its budget with what was spent of them; those of tags hold for some of its queries only. */
    readonly limits: readonly BudgetStanding[]
    /** The price that the user must agree to first; null where the run costs no more than its `confirm_over`. */
    readonly dear: { readonly confirmOver: number } | null
  }[],
  account: Account,
  leftOut: ReadonlyMap<string, SkippedTotal> | null,
): readonly PlanDocument[] {
  let balance = account.remaining ?? 0
  /** Of limits that several jobs share. */
  const spent = new Map<string, number>()
  return jobs.map(({ summary, funds: { budget, keep }, limits, dear }) => {
    const wholeJob = ofWholeJob(limits)
    const lefts = wholeJob.map(({ key, left }) => left - (spent.get(key) ?? 0))
    const rest = leftOut === null ? null : (leftOut.get(summary.job) ?? { queries: 0, credits: 0 })
    const wanted = Math.max(0, Math.min(summary.credits.expected, summary.credits.max - (rest?.credits ?? 0)))
    const covered = Math.max(0, Math.min(wanted, budget, ...lefts, balance - keep))
    balance -= covered
    for (const { key } of wholeJob) spent.set(key, (spent.get(key) ?? 0) + covered)
    return document(summary, { covered, balance, account, rest, limits, dear })
  })
}

/** Limits of a whole job; those of tags hold for some of its queries only. */
function ofWholeJob(limits: readonly BudgetStanding[]) {
  return limits.filter((one) => !('limit' in one) || one.limit.scope !== 'tag').map(describeLimit)
}

/** The document of a job in `plan --json`. */
function document(
  summary: PlanSummary,
  {
    covered,
    balance,
    account,
    rest,
    limits,
    dear,
  }: {
    /** Expected credits that budget and balance allow. */
    readonly covered: number
    /** The balance after this job and those before it. */
    readonly balance: number
    readonly account: Account
    readonly rest: SkippedTotal | null
    readonly limits: readonly BudgetStanding[]
    readonly dear: { readonly confirmOver: number } | null
  },
) {
  const { remaining } = account
  const { min, expected, max } = summary.credits
  const open = summary.tasks - summary.done - summary.reused
  return {
    job: summary.job,
    continues: summary.continues,
    queries: summary.queries,
    duplicates: summary.duplicates,
    tasks: { planned: summary.tasks, done: summary.done, reused: summary.reused },
    credits: { min, expected, max, covered },
    ...(rest === null ? {} : { left_out: rest }),
    balance: remaining,
    balance_after: remaining === null ? null : balance,
    seconds: secondsFor(open, account.limits),
    ...(dear === null ? {} : { confirm_over: dear.confirmOver }),
    ...(limits.length === 0 ? {} : { limits: limits.map(limitDocument) }),
  }
}

/** A limit of the budget as `plan --json` prints it. */
function limitDocument(standing: BudgetStanding) {
  const { credits, used, left } = describeLimit(standing)
  if (!('limit' in standing))
    return { limit: 'max_credits', of: 'job', name: standing.job, credits, used, left, begins_anew: null }
  const { scope, name, period } = standing.limit
  const beginsAnew = new Date(standing.span.until).toISOString()
  return { limit: `per_${period}`, of: scope, name, credits, used, left, begins_anew: beginsAnew }
}

/** Seconds that this number of calls takes at least under these limits; null if there are no limits, or they allow no call. */
function secondsFor(calls: number, { perSecond, perMinute }: Account['limits']): number | null {
  if ((perSecond === null && perMinute === null) || mayNotCall({ perSecond, perMinute })) return null
  const bySecond = perSecond === null ? 0 : calls / perSecond
  // The calls of the first minute leave at once.
  const byMinute = perMinute === null ? 0 : Math.floor(Math.max(0, calls - 1) / perMinute) * 60
  return Math.ceil(Math.max(bySecond, byMinute))
}

function mayNotCall({ perSecond, perMinute }: Account['limits']): boolean {
  return perSecond === 0 || perMinute === 0
}

type PlanDocument = ReturnType<typeof document>

type Backtest = ReturnType<typeof backtest>
