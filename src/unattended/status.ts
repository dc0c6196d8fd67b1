import { unexplained } from '../ledger/verify.ts'
import type { JobSettings } from '../model/job.ts'
import { endOf, type FinishReason, isComplete, isGoodRun, type RunTotals } from '../model/run.ts'
import type { AlertKind } from '../model/settings.ts'
import { count, grouped, size } from '../model/text.ts'
import { dayMs, hourMs, latestKnown } from '../model/time.ts'
import { everyOf } from '../schedule/slots.ts'
import type { Slot } from '../store/sqlite/jobs.ts'
import type { Store } from '../store/sqlite/open.ts'
import type { StoredAlert } from '../store/sqlite/unattended/alerts.ts'

/** What is known of all jobs at one instant. Instants are epoch milliseconds, money is in credits. */
export interface StatusFacts {
  readonly now: number
  readonly jobs: readonly JobFacts[]
  readonly money: {
    /** What the last reading of the usage record showed; null where there is none. */
    readonly balance: { readonly credits: number; readonly readAt: number } | null
    /** What all calls cost since an instant: that at which the look-back began, or the first day with calls in it. */
    readonly spent: { readonly credits: number; readonly since: number }
    readonly spentToday: number
    readonly spentThisMonth: number
    /** What the service counted in the last week beyond what calls of this database explain; null where that is not known. */
    readonly unexplained: number | null
  }
  /** Messages that were not delivered. */
  readonly messages: Readonly<
    Record<
      'waiting' | 'dead',
      {
        readonly messages: number
        readonly channels: readonly string[]
        /** How a try of one of them ended. */
        readonly error: string | null
      }
    >
  >
  readonly database: {
    readonly path: string
    /** Nothing has run: there is no such file. */
    readonly isMissing: boolean
    /** How it is damaged, in one sentence; null where nothing is wrong. */
    readonly damage: string | null
    /** Bytes that are free on its disk; infinite where it is missing. */
    readonly freeBytes: number
  }
  /** Files that jobs share (`rankline.yaml`) and that have mistakes. */
  readonly brokenShared: readonly {
    /** Place and text of its first mistake, and how many more there are. */
    readonly mistake: string
    /** Jobs that are not run until it is mended. */
    readonly jobs: number
  }[]
}

export interface JobFacts {
  readonly job: string
  readonly file: {
    /** As a user can name it from the working folder; null for a job without a file. */
    readonly path: string | null
    /** `waiting` where a file that jobs share has mistakes: until it is mended, the job cannot be read. */
    readonly state: 'sound' | 'broken' | 'waiting' | 'missing'
    /** Place and text of its first mistake, or that of a file it names, and how many more there are; null where there is none. */
    readonly mistake: string | null
  }
  readonly timezone: string
  /** Its cron pattern; null where it has none. */
  readonly schedule: string | null
  /** How often its queries are due, as the file says it; null where it does not. */
  readonly every: string | null
  readonly freshness: JobSettings['freshnessOfRuns']
  /** Since when it is paused; null where it is not. */
  readonly pausedAt: number | null
  /** When its last pause ended; null where it had none. */
  readonly resumedAt: number | null
  /** The newest run; null where it never ran. */
  readonly last: RunFacts | null
  /** The newest run that gave what it was made for. */
  readonly good: RunFacts | null
  /** A process collects its newest run now. */
  readonly isRunning: boolean
  /** Scheduled times since the last good run that nothing came of, the oldest first: two at most. */
  readonly missed: readonly number[]
  /** The newest scheduled time that a process took; null where there is none. */
  readonly slot: Slot | null
  readonly nextSlot: number | null
  readonly spentToday: number
  readonly spentThisMonth: number
  /** Alerts that are not over. */
  readonly alerts: readonly Pick<StoredAlert, 'id' | 'when' | 'text' | 'openedAt' | 'mutedUntil'>[]
}

export interface RunFacts {
  readonly run: number
  readonly startedAt: number
  readonly finishedAt: number | null
  /** Null while it is at work, or where its process was killed. */
  readonly finishReason: FinishReason | null
  readonly tasks: RunTotals['tasks']
  readonly spent: number
  /** All of its failed tasks have requests that are too long for the service: buying them again cannot help. */
  readonly isTooLong?: true
}

const units = [
  [dayMs, 'd'],
  [hourMs, 'h'],
  [60_000, 'min'],
] as const

/** A time in its largest unit, rounded down: `3 d`, `26 h`, `5 min`. Below three days it is hours. */
export function span(ms: number): string {
  const [unit, name] = units.find(([unit, name]) => ms >= (name === 'd' ? 3 * unit : unit)) ?? units[2]
  return `${Math.floor(ms / unit)} ${name}`
}

/** How long ago: `3 d ago`; `just now` within the last minute, also where a clock was set back. */
export function age(ms: number): string {
  return ms < 60_000 ? 'just now' : `${span(ms)} ago`
}

/** How far ahead: `in 3 h`. */
export function ahead(ms: number): string {
  return ms < 60_000 ? 'now' : `in ${span(ms)}`
}

/** A limit as one writes it, in the largest unit that it is whole in: `50 h`, `2 d`. */
export function limit(ms: number): string {
  const [unit, name] = units.find(([unit]) => ms % unit === 0) ?? units[2]
  return `${ms / unit} ${name}`
}

/** How bad something is, the worst first. */
export const levels = ['error', 'warning', 'ok'] as const
export type Level = (typeof levels)[number]

/** What a problem is about. */
type ProblemKind =
  | 'job-file'
  | 'workspace'
  | 'stale'
  | 'run'
  | 'slot'
  | 'alerts'
  | 'balance'
  | 'unexplained'
  | 'messages'
  | 'database'
  | 'disk'

/** Something that a person has to look at. */
export interface StatusProblem {
  readonly level: Exclude<Level, 'ok'>
  /** Null where it is not about one job. */
  readonly job: string | null
  readonly kind: ProblemKind
  /** What happened, and what to do; without a full stop. */
  readonly text: string
  /** What stops this job and others alike, in words that are the same for each; absent where it is its own. */
  readonly cause?: {
    readonly what: string
    /** One thing to do, after which all of them go on. */
    readonly advice: string
  }
  /** Jobs that one cause stops; absent where it is not about several. */
  readonly jobs?: readonly string[]
}

/** How many days of spending say how long the balance lasts. */
const spendingDays = 14

/** What calls of the last days cost, of all jobs. */
async function recentSpending(store: Store, now: number): Promise<StatusFacts['money']['spent']> {
  const begin = now - spendingDays * dayMs
  const days = (await store.sums('day', { from: begin, until: latestKnown(now) })).filter(
    ({ credits }) => credits > 0,
  )
  return {
    credits: days.reduce((total, { credits }) => total + credits, 0),
    since: Math.max(begin, Date.parse(String(days[0]?.group ?? new Date(begin).toISOString()))),
  }
}

/** Credits that the service counted since an instant beyond what calls explain; null where that is not known. */
async function unexplainedSince(store: Store, keyHash: string, instant: number): Promise<number | null> {
  const { earlier, readings, charges } = await store.ledgerSince(keyHash, await store.markAt(instant))
  return unexplained(earlier, readings, charges, await store.queueFailovers())?.credits ?? null
}

/** Everything that is wrong, the worst first; of the same level, what concerns all jobs stands before single ones. */
export function problemsOf({
  jobs,
  money,
  messages,
  database,
  brokenShared,
  now,
}: StatusFacts): readonly StatusProblem[] {
  if (database.isMissing) return []
  const all = [
    ...databaseProblems(database),
    ...brokenShared.map(sharedProblem),
    ...moneyProblems(money, now),
    ...messageProblems(messages),
    ...jobs.flatMap((job) => jobProblems(job, now)),
  ]
  return levels.flatMap((level) => all.filter((one) => one.level === level))
}

/** How many days the balance lasts at the spending of the last days; null where nothing was spent, or it is not known. */
function daysLeft(
  { balance, spent }: Pick<StatusFacts['money'], 'balance' | 'spent'>,
  now: number,
): number | null {
  const perDay = spentPerDay({ spent }, now)
  return balance === null || perDay === 0 ? null : Math.max(0, balance.credits) / perDay
}

function sharedProblem({ mistake, jobs }: StatusFacts['brokenShared'][number]): StatusProblem {
  const waiting = jobs === 1 ? 'The job that uses it is' : `The ${jobs} jobs that use it are`
  return {
    level: 'error',
    job: null,
    kind: 'workspace',
    text: `${mistake}. ${waiting} not run until it is mended`,
  }
}

const fewDays = 7
const hardlyADay = 1

function moneyProblems(money: StatusFacts['money'], now: number): readonly StatusProblem[] {
  const { balance, unexplained } = money
  const problems: StatusProblem[] = []
  const days = daysLeft(money, now)
  if (balance !== null && days !== null && days < fewDays) {
    const lasts = days < hardlyADay ? 'less than a day' : `about ${count(Math.floor(days), 'day')}`
    problems.push({
      level: days < hardlyADay ? 'error' : 'warning',
      job: null,
      kind: 'balance',
      text: `The balance of ${count(balance.credits, 'credit')} lasts ${lasts} at ${grouped(Math.round(spentPerDay(money, now)))} a day. Top up`,
    })
  }
  if (unexplained !== null && unexplained > 0)
    problems.push({
      level: 'warning',
      job: null,
      kind: 'unexplained',
      text: `In the last week the service counted ${count(unexplained, 'credit')} that no call of this database explains. Another program may use the key; see: rankline ledger verify`,
    })
  return problems
}

function messageProblems({ waiting, dead }: StatusFacts['messages']): readonly StatusProblem[] {
  const about = { level: 'warning', job: null, kind: 'messages' } as const
  const problem = (
    facts: StatusFacts['messages']['dead'],
    one: string,
    many: string,
  ): readonly StatusProblem[] => {
    const { messages, channels, error } = facts
    if (messages === 0) return []
    const why = error === null ? '' : ` (${error})`
    const said = `${count(messages, 'message')} to ${channels.join(', ')} ${messages === 1 ? one : many}${why}`
    return [{ ...about, text: `${said}. Try the channel with: rankline alerts test ${channels[0]}` }]
  }
  return [
    ...problem(dead, 'was given up', 'were given up'),
    ...problem(waiting, 'is not delivered yet', 'are not delivered yet'),
  ]
}

/** A run keeps up to 35 MB in reserve; a month of a small job takes about as much. */
export const lowBytes = 500_000_000
export const leastBytes = 50_000_000

function databaseProblems({ path, damage, freeBytes }: StatusFacts['database']): readonly StatusProblem[] {
  const problems: StatusProblem[] = []
  if (damage !== null) problems.push({ level: 'error', job: null, kind: 'database', text: damage })
  if (freeBytes < lowBytes)
    problems.push({
      level: freeBytes < leastBytes ? 'error' : 'warning',
      job: null,
      kind: 'disk',
      text: `The disk of ${path} has ${size(freeBytes)} left. Free some space: on a full disk nothing is bought`,
    })
  return problems
}

type FoundProblem = Pick<StatusProblem, 'level' | 'kind' | 'text' | 'cause'> | null

/** Everything that is wrong with one job. */
function jobProblems(facts: JobFacts, now: number): readonly StatusProblem[] {
  if (isRetired(facts, now) || facts.pausedAt !== null) return []
  const found =
    facts.file.state === 'missing'
      ? [missingFile(facts)]
      : [brokenFile(facts, now), stale(facts, now), lastRun(facts), lostSlot(facts, now), alerts(facts, now)]
  return found.flatMap((one) => (one === null ? [] : { ...one, job: facts.job }))
}

function missingFile({ file }: JobFacts): FoundProblem {
  const text = `Its file ${file.path} is gone, so it runs no more. Put it back, or leave it: two weeks after its last run the job is no longer shown here`
  return { level: 'warning', kind: 'job-file', text }
}

function brokenFile({ file, missed: [first] }: JobFacts, now: number): FoundProblem {
  if (file.state !== 'broken') return null
  const mistake = file.mistake ?? `Its file has mistakes. List them with: rankline plan ${file.path}`
  const since = first === undefined ? '' : `. No good run since its scheduled time ${age(now - first)}`
  const shared = file.mistake === null ? {} : { cause: { what: mistake, advice: 'Mend it' } }
  return { level: 'error', kind: 'job-file', text: `${mistake}${since}`, ...shared }
}

/**
 * How old the last good run may be. Without `freshness_of_runs`, one missed time of the schedule is a warning and two are an error;
 * without a schedule, a period of `every` that passed without one.
 */
function stale(facts: JobFacts, now: number): FoundProblem {
  const { missed, isRunning, schedule, every, file } = facts
  // Why is said already.
  if (file.state !== 'sound') return null
  const kind: ProblemKind = 'stale'
  const freshness = facts.freshness ?? (schedule === null && every !== null ? freshnessOf(every) : null)
  if (freshness === null) {
    const [first, second] = missed
    if (first === undefined || isRunning) return null
    const since = `No good run since its scheduled time ${age(now - first)}`
    const text = `${since}. Is its scheduler running? ${howToRun(facts)}`
    return { level: second === undefined ? 'warning' : 'error', kind, text }
  }
  // Without a good run, time began to count with the run that is known.
  const from = facts.good ?? facts.last
  if (from === null) return null
  const ageMs = now - Math.max(endOf(from), facts.resumedAt ?? 0)
  const last = facts.good === null ? 'No run was good yet' : `The last good run ended ${age(ageMs)}`
  const allowed = (most: number): string =>
    facts.freshness === null ? `it is due every ${every}` : `freshness_of_runs allows ${limit(most)}`
  const limits = [
    ['error', freshness.errorAfterMs],
    ['warning', freshness.warnAfterMs],
  ] as const
  for (const [level, most] of limits)
    if (most !== null && ageMs > most)
      return {
        level,
        kind,
        text: `${last}; ${allowed(most)}. ${howToRun(facts)}`,
      }
  return null
}

/** What is due so often is late after two periods, and left alone after three. */
function freshnessOf(every: string): NonNullable<JobSettings['freshnessOfRuns']> {
  const period = everyOf(every)
  const hours =
    period.unit === 'hours'
      ? period.count
      : 24 * (period.unit === 'days' ? period.count : period.unit === 'month' ? 31 : 7)
  return { warnAfterMs: 2 * hours * hourMs, errorAfterMs: 3 * hours * hourMs }
}

function howToRun({ file, last, isRunning }: JobFacts): string {
  if (isRunning) return 'It is running now'
  if (last !== null && !isComplete(last.finishReason)) return howToContinue(last, file)
  return file.path === null ? 'Run it again' : `Run it with: rankline run ${file.path}`
}

/** A raised limit counts where the file is read again: `resume` goes on as the run was planned. */
function howToContinue({ run, finishReason }: RunFacts, { path }: JobFacts['file']): string {
  const { first } = endings[unfinished(finishReason)]
  const raise = 'Raise its limit (per_day and per_month also begin anew)'
  if (finishReason === 'budget')
    return path === null ? `${raise}, then run it again` : `${raise}, then: rankline run ${path}`
  return first === null
    ? `Continue it with: rankline resume ${run}`
    : `${first}, then: rankline resume ${run}`
}

function unfinished(reason: FinishReason | null): Unfinished {
  return reason === null || reason === 'completed' || reason === 'completed_with_failures' ? 'killed' : reason
}

type Unfinished = Exclude<FinishReason, 'completed' | 'completed_with_failures'> | 'killed'

const endings: Readonly<
  Record<
    Unfinished,
    {
      readonly level: StatusProblem['level']
      readonly how: string
      /** What to do before it is continued. */
      readonly first: string | null
    }
  >
> = {
  budget: { level: 'warning', how: 'stopped at its budget', first: null },
  balance: { level: 'error', how: 'stopped: the balance covers no more', first: 'Top up' },
  quota: { level: 'error', how: 'stopped: the quota is used up', first: 'Raise the quota' },
  auth: { level: 'error', how: 'stopped: the key was refused', first: 'Check RANKLINE_API_KEY' },
  unavailable: {
    level: 'error',
    how: 'stopped: the service or the disk was not available',
    first: 'Check both',
  },
  interrupted: { level: 'warning', how: 'was interrupted', first: null },
  crashed: { level: 'error', how: 'crashed', first: null },
  killed: { level: 'error', how: 'was killed', first: null },
}

/** Reasons that stop all jobs that meet them, each with what was the case. */
const sharedReasons: Partial<Record<Unfinished, string>> = {
  balance: 'The balance covers no more',
  quota: 'The quota is used up',
  auth: 'The key was refused',
  unavailable: 'The service or the disk was not available',
}

function lastRun({ last, isRunning, file }: JobFacts): FoundProblem {
  if (last === null || isRunning || last.finishReason === 'completed') return null
  const { run, tasks, finishReason } = last
  const kind: ProblemKind = 'run'
  if (finishReason === 'completed_with_failures') {
    const next = last.isTooLong
      ? 'their requests are too long for the service'
      : `buy them again: rankline retry ${run}`
    const text = `${grouped(tasks.failed)} of ${count(tasks.planned, 'task')} of run ${run} failed. Why: rankline runs ${run}; ${next}`
    return { level: isGoodRun(finishReason, tasks) ? 'warning' : 'error', kind, text }
  }
  const { level, how, first } = endings[unfinished(finishReason)]
  const what = sharedReasons[unfinished(finishReason)]
  const shared = what === undefined ? {} : { cause: { what, advice: `${first}, then run them again` } }
  const done = `${grouped(tasks.done)} of ${count(tasks.planned, 'task')} done`
  return { level, kind, text: `Run ${run} ${how} (${done}). ${howToContinue(last, file)}`, ...shared }
}

/** A slot without an end was lost with its process when it was taken so long ago. */
const longestSlotMs = hourMs

/** The newest scheduled time where it was skipped or lost, and nothing ran since. */
function lostSlot({ slot, last, isRunning }: JobFacts, now: number): FoundProblem {
  if (slot === null || isRunning || slot.outcome === 'ran' || slot.outcome === 'nothing-due') return null
  if (last !== null && last.startedAt >= slot.takenAt) return null
  const kind: ProblemKind = 'slot'
  const time = `Its time ${age(now - slot.slotAt)}`
  if (slot.outcome === 'skipped')
    return {
      level: 'warning',
      kind,
      text: `${time} was skipped: ${slot.reason ?? 'the reason is not known'}`,
    }
  if (now - slot.takenAt <= longestSlotMs) return null
  return { level: 'warning', kind, text: `${time} was taken by a process that was killed before it ran` }
}

/** What alerts tell of the work itself, beyond what is judged here; those about ranks and citations are counted in a column. */
const ofWork: ReadonlySet<AlertKind> = new Set<AlertKind>([
  'coverage',
  'balance',
  'days-left',
  'unexplained',
  'suspect',
])

function alerts({ alerts }: JobFacts, now: number): FoundProblem {
  const loud = alerts.filter(
    ({ when, mutedUntil }) => ofWork.has(when) && (mutedUntil === null || mutedUntil <= now),
  )
  const [first] = loud
  if (first === undefined) return null
  const more = loud.length === 1 ? '' : ` (and ${count(loud.length - 1, 'alert')} more)`
  const text = `${first.text.replace(/\.$/, '')}${more}. See: rankline alerts list`
  return { level: 'warning', kind: 'alerts', text }
}

/** Credits a day, of the last days with calls. */
function spentPerDay(
  { spent: { credits, since } }: Pick<StatusFacts['money'], 'spent'>,
  now: number,
): number {
  return credits / Math.max(1, (now - since) / dayMs)
}

/** A job whose file is gone is no concern any more when it has not run for so long. */
const retiredAfterMs = 14 * dayMs

/** Whether a job was given up: its file is gone, and it was never scheduled or has not run for long. */
export function isRetired({ file, last, schedule, every, freshness }: JobFacts, now: number): boolean {
  if (file.state !== 'missing') return false
  const isWatched = schedule !== null || every !== null || freshness !== null
  return !isWatched || last === null || now - endOf(last) > retiredAfterMs
}

/** What the account spends, and what is left of it. */
export const accountSpending = {
  recent: recentSpending,
  unexplainedSince,
  daysLeft,
  perDay: spentPerDay,
}
