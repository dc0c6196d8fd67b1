import { type Account, settlingMs } from '../model/call.ts'
import type { Run, Task } from '../model/run.ts'
import { count, grouped } from '../model/text.ts'
import { type Clock, dayMs, latestCounted, localDay, type TimeSpan } from '../model/time.ts'
import { type CountedLimit, type PeriodLimits, periodLimits } from './period-limits.ts'

/** What keeps a run from buying more; the names are finish reasons. */
export type SpendingLimit = 'budget' | 'quota' | 'balance'

/** A limit of the budget and what was spent of it: for a run, or for a day or a month. */
export type BudgetStanding =
  /** The `max_credits` of a run. */
  | {
      readonly job: string
      readonly credits: number
      readonly used: number
    }
  | CountedLimit

/** What may still be spent, exact to the credit between two readings of the account. */
export type CreditBudget = ReturnType<typeof creditBudget>

/**
 * @param before what earlier processes spent, by the ledger
 * @param highestPrice credits of the most expensive call
 * @param periods limits for days and months; none where it is not given
 */
export function creditBudget(
  runs: readonly Run[],
  before: {
    /** By each run; `ambiguous` of it may have been. */
    readonly byRun: ReadonlyMap<number, { readonly spent: number; readonly ambiguous: number }>
    /** By ambiguous calls of any run, with the milliseconds since they ended. */
    readonly ambiguous: readonly { readonly credits: number; readonly age: number }[]
  },
  highestPrice: number,
  clock: Pick<Clock, 'monotonic'>,
  periods: PeriodLimits = periodLimits([], runs, () => 0),
) {
  /** What each run came to so far, in credits. */
  const spendings = new Map(
    runs.map((run) => [
      run.id,
      { run, reserved: 0, ...(before.byRun.get(run.id) ?? { spent: 0, ambiguous: 0 }) },
    ]),
  )
  let remaining: number | null = null
  let billedTotal = 0
  let billedWhenAsked = 0
  let reserved = 0
  let quotaLeft = Number.POSITIVE_INFINITY
  /** Tasks that are being leased. */
  let leasingTasks = 0
  /** Tasks whose credits are reserved. */
  const reservedTasks = new Set<number>()
  let ambiguousCalls = before.ambiguous.map(({ credits, age }) => ({ credits, at: clock.monotonic() - age }))

  const spendingOf = (runId: number) => spendings.get(runId) as NonNullable<ReturnType<typeof spendings.get>>
  const covered = (): number =>
    leftByBalance({
      remaining: remaining ?? 0,
      billedSince: billedTotal - billedWhenAsked,
      ambiguous: ambiguousCalls.reduce((sum, { credits }) => sum + credits, 0),
      reserved,
    })
  const leftOfRun = (runId: number): number => {
    const { run, ...state } = spendingOf(runId)
    return leftByBudget({ maxCredits: run.settings.budget.maxCredits, ...state })
  }
  const budgetOf = (runId: number): number => Math.min(leftOfRun(runId), periods.left(runId))
  const maxCreditsOf = (runId: number): readonly BudgetStanding[] => {
    const { run, spent, ambiguous } = spendingOf(runId)
    const { maxCredits } = run.settings.budget
    return maxCredits === null ? [] : [{ job: run.job, credits: maxCredits, used: spent + ambiguous }]
  }
  const release = (task: Task): void => {
    periods.release(task)
    if (!reservedTasks.delete(task.id)) return
    reserved -= task.credits
    spendingOf(task.runId).reserved -= task.credits
  }

  const reserve = (task: Task): void => {
    periods.reserve(task)
    if (reservedTasks.has(task.id)) return
    reservedTasks.add(task.id)
    reserved += task.credits
    spendingOf(task.runId).reserved += task.credits
  }
  const availableFor = (runId: number): number =>
    Math.min(budgetOf(runId), Math.max(0, covered() - (spendingOf(runId).run.settings.budget.keep ?? 0)))
  const availableCalls = (): number => Math.max(0, quotaLeft - reservedTasks.size)

  return {
    /** Call it when the account is asked for; pass the account to the returned function when it came. */
    ask: (): ((account: Account) => void) => {
      const asked = billedTotal
      const askedAt = clock.monotonic()
      return (account) => {
        remaining = account.remaining
        billedWhenAsked = asked
        ambiguousCalls = ambiguousCalls.filter(({ at }) => at > askedAt - settlingMs)
      }
    },
    /** Credits that the last known balance covers beyond what is reserved. */
    availableCredits: covered,
    /** Calls that the quotas of the key still allow beyond what is reserved, infinite without any. */
    availableCalls,
    /** Sets the calls that the quotas allow. */
    quota: (left: number): void => {
      quotaLeft = left
    },
    /** Credits that a run may spend: its budget, and the balance above what it keeps. */
    availableFor,
    /** Credits that a run's own budget and its days and months still allow, infinite without any; limits of tags left out. */
    budgetLeft: budgetOf,
    /** Limits of days and months that several runs share, and those of tags. */
    sharedLimits: periods.shared,
    /** Limits of the budget that leave a task less than that; those of tags only for the tags that are given. */
    budgetsReached: (runId: number, credits: number, tags?: readonly string[]): readonly BudgetStanding[] => [
      ...(leftOfRun(runId) < credits ? maxCreditsOf(runId) : []),
      ...periods.reached(runId, credits, tags),
    ],
    /** Tags that have a limit in the job of the run. */
    limitedTags: periods.tagsOf,
    /** All limits of these runs and their jobs as they stand. */
    standings: (): readonly BudgetStanding[] => [
      ...[...spendings.keys()].flatMap(maxCreditsOf),
      ...periods.standings(),
    ],
    /** The limit that keeps a run from spending that many credits. */
    limitReached: (runId: number, credits: number): SpendingLimit => {
      if (budgetOf(runId) < credits) return 'budget'
      if (quotaLeft - reservedTasks.size < 1) return 'quota'
      // What balance and quota cover and is not bought all the same is held by the limit of a tag.
      return periods.tagsOf(runId).length > 0 && availableFor(runId) >= credits ? 'budget' : 'balance'
    },
    /** Notes how many tasks are being leased and not reserved yet, at most; the returned function ends that. */
    leasing: (tasks: number): (() => void) => {
      leasingTasks += tasks
      return () => {
        leasingTasks -= tasks
      }
    },
    /** Whether one more call for a task is covered, whose last one was lost and may have been billed. */
    canAffordRetry: (task: Task): boolean => {
      release(task)
      const covered = Math.min(availableFor(task.runId), periods.left(task.runId, task.tags))
      const credits = covered - leasingTasks * highestPrice
      const isCovered = credits >= task.credits && availableCalls() - leasingTasks >= 1
      reserve(task)
      return isCovered
    },
    reserve,
    /** Reserves what a job costs that an earlier process submitted then. */
    resume: (task: Task, sentAt: number): void => {
      periods.resume(task, sentAt)
      reserve(task)
    },
    /** Gives back what is reserved for the task, if anything still is. */
    release,
    /** The reserved credits were billed, for a call that was sent at `sentAt`; now if not given. */
    billed: (task: Task, sentAt?: number): void => {
      periods.spent(task, sentAt)
      release(task)
      billedTotal += task.credits
      quotaLeft -= 1
      spendingOf(task.runId).spent += task.credits
    },
    /** A call was lost: it counts as spent, and the reservation stays for the next one. */
    ambiguous: (task: Task, sentAt?: number): void => {
      periods.spent(task, sentAt)
      ambiguousCalls.push({ credits: task.credits, at: clock.monotonic() })
      quotaLeft -= 1
      spendingOf(task.runId).ambiguous += task.credits
    },
    spent: (): number => [...spendings.values()].reduce((sum, { spent }) => sum + spent, 0),
    balance: (): number | null => (remaining === null ? null : remaining - (billedTotal - billedWhenAsked)),
  }
}

/** What the balance still covers, never less than 0. */
export function leftByBalance({
  remaining,
  billedSince,
  ambiguous,
  reserved,
}: {
  /** Left when the account was asked for; what was billed after may or may not be in it. */
  readonly remaining: number
  /** Billed by calls that ended after that. */
  readonly billedSince: number
  /** Of ambiguous calls that the account may not hold yet. */
  readonly ambiguous: number
  /** Of leased tasks and calls in flight. */
  readonly reserved: number
}): number {
  return Math.max(0, remaining - billedSince - ambiguous - reserved)
}

/** What the run's budget still covers, infinite without one; what may have been billed counts as spent. */
export function leftByBudget({
  maxCredits,
  spent,
  ambiguous,
  reserved,
}: {
  readonly maxCredits: number | null
  readonly spent: number
  readonly ambiguous: number
  readonly reserved: number
}): number {
  if (maxCredits === null) return Number.POSITIVE_INFINITY
  return Math.max(0, maxCredits - spent - ambiguous - reserved)
}

/** `per_day of acme`, `per_month of the tag acme in rankline.yaml`. */
function limitName(standing: BudgetStanding): string {
  if (!('limit' in standing)) return `max_credits of ${standing.job}`
  const { scope, name, period } = standing.limit
  const setting = `per_${period}`
  if (scope === 'job') return `${setting} of ${name}`
  return scope === 'folder' ? `${setting} in rankline.yaml` : `${setting} of the tag ${name} in rankline.yaml`
}

/** The day on which a limit begins anew, and its time zone; null for a run's own, which never does. */
function beginsAnew(standing: BudgetStanding): { readonly day: string; readonly timezone: string } | null {
  if (!('limit' in standing)) return null
  const { timezone } = standing.limit
  return { day: localDay(standing.span.until, timezone), timezone }
}

/** Of a limit, used so far before users are warned. */
const warnedPercent = 80

/** A limit as it stands, in credits and in words. */
export function describeLimit(standing: BudgetStanding) {
  const { used } = standing
  const { credits } = 'limit' in standing ? standing.limit : standing
  const left = Math.max(0, credits - used)
  const name = limitName(standing)
  const anew = beginsAnew(standing)
  const untilAnew = anew === null ? '' : ` until ${anew.day} begins (${anew.timezone})`
  return {
    /** Names the limit and its period: it is reported once. */
    key: JSON.stringify([name, anew]),
    name,
    /** What it allows, what was spent of it, and what is left, in credits. */
    credits,
    used,
    left,
    /** `per_day of acme: 12 of 800 credits left until 2026-11-24 begins (UTC).` */
    line: `${name}: ${grouped(left)} of ${count(credits, 'credit')} left${untilAnew}.`,
    /** The warning where most of it is used; null where it is not. */
    warning:
      used <= 0 || used * 100 < credits * warnedPercent
        ? null
        : `${name}: ${grouped(used)} of ${count(credits, 'credit')} are used, ${grouped(left)} left${untilAnew}.`,
    /** The message where it does not cover a call of that price. */
    reached: (price: number): string => {
      if (anew !== null && credits < price)
        return `${name} allows ${count(credits, 'credit')}, and a call costs ${grouped(price)}: it covers none, on any day. Raise it, then run the same command again.`
      return anew === null
        ? `${name} allows ${count(credits, 'credit')}, and ${grouped(left)} of them are left: too few for a call of ${grouped(price)}. Raise it, then run the same command again.`
        : `${name} is reached: ${grouped(left)} of ${count(credits, 'credit')} are left until ${anew.day} begins (${anew.timezone}). The rest stays open; run the same command again then, or raise the limit.`
    },
  }
}

/**
 * Tells of limits that are reached or mostly used: of each once in its period.
 *
 * @param reported what was told before, by its key
 */
export function limitReports(notice: (message: string) => void, reported: Set<string>) {
  const names = new Map<number, ReadonlySet<string>>()
  return {
    /** Tells that a run has reached a limit, which does not cover a call of that price. */
    note: (runId: number, standing: BudgetStanding, price: number): void => {
      const { key, name, reached } = describeLimit(standing)
      names.set(runId, new Set([...(names.get(runId) ?? []), name]))
      if (reported.has(key)) return
      reported.add(key)
      // The summary of the run speaks of its own limit.
      if ('limit' in standing) notice(reached(price))
    },
    /** The limits that runs have reached, each by its name. */
    reached: (): ReadonlyMap<number, ReadonlySet<string>> => names,
    /** A line for each of these limits that is mostly used. */
    warnings: (standings: readonly BudgetStanding[]): readonly string[] =>
      standings.flatMap((standing) => {
        const { key, warning } = describeLimit(standing)
        if (warning === null || reported.has(key)) return []
        reported.add(key)
        return [warning]
      }),
  }
}

/** What there is to spend. */
export interface FitFunds {
  /** What each run may spend, in credits. */
  readonly runs: ReadonlyMap<
    number | string,
    {
      /** What its own budget allows. */
      readonly budget: number
      /** What must be left of the balance after each of its tasks. */
      readonly keep: number
    }
  >
  /** Limits that hold for several of them together, with the credits that they leave. */
  readonly limits: readonly { readonly runs: ReadonlySet<number | string>; readonly left: number }[]
  /** Credits that the balance covers. */
  readonly credits: number
  /** Calls that the quotas of the key allow. */
  readonly calls: number
}

/** A query with all pages that it may yet need. */
export interface FitQuery {
  /** Its run, or its job where it has none yet. */
  readonly run: number | string
  /** What is asked: the same in every run, and each page of it is bought once; null where no other run asks it. */
  readonly query: number | string | null
  /** Numbers of the pages that no stored answer covers. */
  readonly pages: readonly number[]
  /** Credits of a page. */
  readonly price: number
  /** Pages that the service works on already: their price is set aside, and the query is taken whatever the others cost. */
  readonly accepted: readonly number[]
}

/**
 * Decides for one query after the other, the most valuable first, whether it is bought: where everything that it may
 * need is covered beside all that was taken before.
 */
export function fitToBalance({ runs, limits, credits, calls }: FitFunds): (query: FitQuery) => boolean {
  const all = { left: credits, pages: takenPages() }
  let callsLeft = calls
  /** The most that any run with a taken query keeps: any of them may be sent last. */
  let kept = 0
  // Each run pays for itself where the call of another fails.
  const budgets = new Map([...runs].map(([run, { budget }]) => [run, budget]))
  const shared = limits.map((limit) => ({ ...limit, pages: takenPages() }))
  return (query) => {
    const { run, pages, price, accepted } = query
    const binding = shared.filter((limit) => limit.runs.has(run))
    for (const payer of [all, ...binding]) payer.pages.take(query, accepted)
    if (pages.length === 0) return true
    const budget = (budgets.get(run) ?? 0) - pages.length * price
    const keep = Math.max(kept, runs.get(run)?.keep ?? 0)
    const beyond = all.pages.beyond(query)
    const isCovered =
      budget >= 0 &&
      beyond * price <= all.left - keep &&
      beyond <= callsLeft &&
      binding.every((limit) => limit.pages.beyond(query) * price <= limit.left)
    if (!isCovered && accepted.length === 0) return false
    kept = keep
    budgets.set(run, budget)
    callsLeft -= beyond
    for (const payer of [all, ...binding]) payer.left -= payer.pages.take(query, pages) * price
    return true
  }
}

/** The pages of queries that several runs ask, each of which is paid once. */
function takenPages() {
  const taken = new Map<number | string, readonly number[]>()
  const missing = ({ query }: FitQuery, pages: readonly number[]): readonly number[] => {
    const known = query === null ? undefined : taken.get(query)
    return known === undefined ? pages : pages.filter((page) => !known.includes(page))
  }
  return {
    /** How many pages of a query are to be paid beside those that were taken. */
    beyond: (query: FitQuery): number => missing(query, query.pages).length,
    /** Takes pages of a query; answers how many of them are to be paid. */
    take: (query: FitQuery, pages: readonly number[]): number => {
      const more = missing(query, pages)
      if (query.query !== null && more.length > 0)
        taken.set(query.query, [...(taken.get(query.query) ?? []), ...more])
      return more.length
    },
  }
}

/** Queries that do not fit, and the most credits that they could have cost. */
export interface SkippedTotal {
  readonly queries: number
  readonly credits: number
}

type QuotaPeriod = keyof Account['quotas']

/**
 * When the periods that hold an instant began, epoch ms. Where the service draws its lines is not documented; they
 * are taken as UTC days, weeks from Monday and calendar months.
 */
export function periodStarts(now: number): Readonly<Record<QuotaPeriod, number>> {
  const day = new Date(now).setUTCHours(0, 0, 0, 0)
  const date = new Date(day)
  return {
    total: 0,
    daily: day,
    weekly: day - ((date.getUTCDay() + 6) % 7) * 86_400_000,
    monthly: Date.UTC(date.getUTCFullYear(), date.getUTCMonth()),
  }
}

/** The quotas of a key that has any, compared with the ledger. */
export async function quotaUsage(
  store: {
    chargedCalls(keyHash: string, span: TimeSpan): Promise<number>
    lastUsage(keyHash: string, before?: number): Promise<{ readonly totalUsed: number | null } | null>
  },
  keyHash: string,
  { quotas, totalUsed }: Pick<Account, 'quotas' | 'totalUsed'>,
  now: number,
) {
  const starts = periodStarts(now)
  // The same all day, so that the store can keep what it counted.
  const latest = latestCounted(starts.daily + dayMs)
  const limited = (Object.keys(quotas) as QuotaPeriod[]).flatMap((period) => {
    const limit = quotas[period]
    return limit === null ? [] : [{ period, limit }]
  })
  const uses = await Promise.all(
    limited.map(async ({ period, limit }) => {
      const since = starts[period]
      const before = (await store.lastUsage(keyHash, since))?.totalUsed ?? 0
      // The count starts again from 0 with a billing period.
      const atMost =
        totalUsed === null ? Number.POSITIVE_INFINITY : totalUsed - (before > totalUsed ? 0 : before)
      // A quota of all calls counts them whatever they are dated.
      const until = period === 'total' ? Number.MAX_SAFE_INTEGER : latest
      const ours = await store.chargedCalls(keyHash, { from: since, until })
      return { period, limit, ours, atMost }
    }),
  )
  return usedQuotas(uses)
}

/** The quotas of a key with what is known to have been used of each, in calls that cost, and what follows from that. */
export function usedQuotas(
  uses: readonly {
    readonly period: QuotaPeriod
    readonly limit: number
    /** By calls in our ledger, those counted that may have been billed. */
    readonly ours: number
    /** By all users of the key, at most: what the service counted since before the period began. */
    readonly atMost: number
  }[],
) {
  const all = uses.map((use) => ({
    ...use,
    /** `daily quota of 500 calls`. */
    name: `${use.period} quota of ${grouped(use.limit)} ${use.limit === 1 ? 'call' : 'calls'}`,
  }))
  const [least] = all.toSorted((a, b) => a.limit - a.ours - (b.limit - b.ours))
  return {
    all,
    /** Calls that they still allow, infinite without any. */
    left: Math.max(0, Math.min(Number.POSITIVE_INFINITY, ...all.map(({ limit, ours }) => limit - ours))),
    /** The one that may be why the service throttles every call, or null where none can be. */
    exhausted: all.find(({ limit, atMost, ours }) => Math.max(atMost, ours) >= limit) ?? null,
    /** The message where our own calls have used up one of them. */
    message:
      least === undefined
        ? ''
        : `The ${least.name} of the key is used up by the calls in the ledger. Run the same command again when it starts anew or is raised.`,
  }
}
