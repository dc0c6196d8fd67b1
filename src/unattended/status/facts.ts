import { unexplained } from '../../ledger/verify.ts'
import type { FinishReason, RunTotals } from '../../model/run.ts'
import type { RunFreshness } from '../../model/settings/job-settings.ts'
import { dayMs, hourMs } from '../../model/time.ts'
import { latestKnown } from '../../model/trusted-time.ts'
import type { StoredAlert } from '../../store/alerts.ts'
import type { Store } from '../../store/store.ts'
import type { Slot } from '../../store/unattended.ts'

// What is known of all jobs at one instant. Instants are epoch milliseconds, money is in credits.

export interface StatusFacts {
  readonly now: number
  readonly jobs: readonly JobFacts[]
  readonly money: MoneyFacts
  readonly messages: { readonly waiting: MessageFacts; readonly dead: MessageFacts }
  readonly database: DatabaseFacts
  /** Files that jobs share (`rankline.yaml`) and that have mistakes. */
  readonly brokenShared: readonly BrokenShared[]
}

export interface BrokenShared {
  /** Place and text of its first mistake, and how many more there are. */
  readonly mistake: string
  /** Jobs that are not run until it is mended. */
  readonly jobs: number
}

export interface JobFacts {
  readonly job: string
  readonly file: JobFileFacts
  readonly timezone: string
  /** Its cron pattern; null where it has none. */
  readonly schedule: string | null
  /** How often its queries are due, as the file says it; null where it does not. */
  readonly every: string | null
  readonly freshness: RunFreshness | null
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
  readonly alerts: readonly ShownAlert[]
}

type ShownAlert = Pick<StoredAlert, 'id' | 'when' | 'text' | 'openedAt' | 'mutedUntil'>

export interface JobFileFacts {
  /** As a user can name it from the working folder; null for a job without a file. */
  readonly path: string | null
  /** `waiting` where a file that jobs share has mistakes, and so cannot be read with it. */
  readonly state: 'sound' | 'broken' | 'waiting' | 'missing'
  /** Place and text of its first mistake, or that of a file it names, and how many more there are; null where there is none. */
  readonly mistake: string | null
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

export interface MoneyFacts {
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
export interface MessageFacts {
  readonly messages: number
  readonly channels: readonly string[]
  /** How a try of one of them ended. */
  readonly error: string | null
}

export interface DatabaseFacts {
  readonly path: string
  /** Nothing has run: there is no such file. */
  readonly isMissing: boolean
  /** How it is damaged, in one sentence; null where nothing is wrong. */
  readonly damage: string | null
  /** Bytes that are free on its disk; infinite where it is missing. */
  readonly freeBytes: number
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
export type ProblemKind =
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
  /** What stops this job and others alike; absent where it is its own. */
  readonly cause?: SharedCause
  /** Jobs that one cause stops; absent where it is not about several. */
  readonly jobs?: readonly string[]
}

/** What may stop several jobs, in words that are the same for each. */
interface SharedCause {
  readonly what: string
  /** One thing to do, after which all of them go on. */
  readonly advice: string
}

/** How many days of spending say how long the balance lasts. */
const spendingDays = 14

/** What calls of the last days cost, of all jobs. */
export async function recentSpending(store: Store, now: number): Promise<MoneyFacts['spent']> {
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
export async function unexplainedSince(
  store: Store,
  keyHash: string,
  instant: number,
): Promise<number | null> {
  const { earlier, readings, charges } = await store.ledgerSince(keyHash, await store.markAt(instant))
  return unexplained(earlier, readings, charges, await store.queueFailovers())?.credits ?? null
}
