import { coverageOf, type FinishReason, type Suspicion, suspicionText } from '../../model/run.ts'
import type { AlertKind, AlertRule } from '../../model/settings/alert.ts'
import { count, grouped } from '../../model/text.ts'
import type { OpenAlert, RuleVerdict } from './query-rules.ts'

/** How a run went as a whole. Null is not known: then nothing begins and nothing is over. */
export interface RunHealth {
  readonly finishReason: FinishReason
  /** It stopped for a cause that stops other jobs, too: one alert tells of all of them. */
  readonly hasCause: boolean
  readonly tasks: { readonly planned: number; readonly done: number; readonly failed: number }
  /** Answers that repeat a different query than asked. */
  readonly mismatched: number
  /** Credits that the service counted and no call explains. */
  readonly unexplained: number | null
  /** Credits. */
  readonly balance: number | null
  /** Days that the balance lasts at the recent spending. */
  readonly daysLeft: number | null
}

/*
 * How a run went as a whole. What is not known begins nothing and ends nothing.
 *
 *   rule               begins                                     is over
 *   coverage, N        fewer than N % of its tasks are done       N % or more
 *   run-failed         it stopped, or tasks failed                completed
 *   run-skipped        the job could not run                      any run of the job
 *   balance, N         fewer than N credits are left              N or more
 *   days-left, N       the balance lasts fewer than N days        N or more
 *   unexplained        the service counted other credits          they agree
 *   suspect            answers repeat a different query           none does
 *
 * Where a run stopped for a cause that stops other jobs, too, its job says nothing of it: `causes` tells it of all of them. So it
 * does of what is said of the whole account.
 */

type HealthKind = Extract<AlertKind, 'coverage' | 'run-failed' | 'run-skipped' | 'suspect'>

/** What is said of the whole account, whatever job says it. */
type AccountKind = Extract<AlertKind, 'balance' | 'days-left' | 'unexplained'>

/** What a run says of a kind; null where that is not known. */
type HealthReader = (
  health: RunHealth,
  below: number,
) => {
  readonly isBad: boolean
  readonly now: number | string | null
  /** A predicate of the job; a sentence where it is said of the account. */
  readonly text: string
} | null

const readings: Readonly<Record<HealthKind, HealthReader>> = {
  coverage: ({ tasks, hasCause }, below) => {
    const coverage = coverageOf(tasks)
    if (coverage === null || hasCause) return null
    const percent = Math.floor(coverage * 1000) / 10
    const text = `answered ${percent} % of its tasks (${grouped(tasks.done)} of ${grouped(tasks.planned)}); the limit is ${below} %`
    return { isBad: coverage * 100 < below, now: percent, text }
  },
  'run-failed': ({ finishReason, hasCause, tasks: { failed } }) => {
    if (hasCause) return null
    if (finishReason === 'completed') return { isBad: false, now: finishReason, text: 'completed its run' }
    const stopped = finishReason === 'completed_with_failures' ? '' : ` (${finishReason})`
    const failures = failed === 0 ? '' : `: ${count(failed, 'task')} failed`
    return { isBad: true, now: finishReason, text: `did not complete its run${stopped}${failures}` }
  },
  'run-skipped': ({ finishReason, hasCause }) =>
    hasCause ? null : { isBad: false, now: finishReason, text: 'ran again' },
  suspect: ({ mismatched }) => ({
    isBad: mismatched > 0,
    now: mismatched,
    text:
      mismatched === 0
        ? 'got answers to its own queries only'
        : `got ${count(mismatched, 'answer')} to a different query than asked`,
  }),
}

const accountReadings: Readonly<Record<AccountKind, HealthReader>> = {
  balance: ({ balance }, below) =>
    balance === null
      ? null
      : {
          isBad: balance < below,
          now: balance,
          text: `The balance is ${count(balance, 'credit')}; the limit is ${grouped(below)}`,
        },
  'days-left': ({ daysLeft }, below) => {
    if (daysLeft === null) return null
    const days = Math.floor(daysLeft)
    const text = `The balance lasts ${count(days, 'day')}; the limit is ${grouped(below)}`
    return { isBad: daysLeft < below, now: days, text }
  },
  unexplained: ({ unexplained }) =>
    unexplained === null
      ? null
      : {
          isBad: unexplained !== 0,
          now: unexplained,
          text:
            unexplained === 0
              ? 'The service counts the credits that the calls explain'
              : `The service counted ${count(Math.abs(unexplained), 'credit')} ${unexplained > 0 ? 'more' : 'fewer'} than the calls explain`,
        },
}

/** What a rule on the account says, in a sentence; null where that is not known. */
export function readAccount({ when, below }: AlertRule, health: RunHealth): ReturnType<HealthReader> {
  return when in accountReadings ? accountReadings[when as AccountKind](health, below ?? 0) : null
}

/** Whether fewer tasks of a run are done than a rule on coverage allows. */
export function isCoverageLow({ below }: AlertRule, { tasks }: RunHealth): boolean {
  return (coverageOf(tasks) ?? 1) * 100 < (below ?? 0)
}

/** What a rule on runs as a whole says of one; null where nothing begins and nothing is over. */
export function judgeHealth(
  { when, below }: AlertRule,
  { job, health }: { readonly job: string; readonly health: RunHealth },
  open: OpenAlert | null,
): RuleVerdict | null {
  const reading = readings[when as HealthKind](health, below ?? 0)
  if (reading === null || reading.isBad === (open !== null)) return null
  const { now, text } = reading
  return reading.isBad
    ? { state: 'open', before: null, now, text: `${job} ${text}` }
    : { state: 'over', before: open?.now ?? null, now, text: `${job} ${text}` }
}

/** What `run-skipped` says where a job could not run at its time; null where that has begun already. */
export function judgeSkipped(job: string, reason: string, open: OpenAlert | null): RuleVerdict | null {
  if (open !== null) return null
  const [first, ...others] = reason.split('\n')
  const more = others.length === 0 ? '' : ` (and ${count(others.length, 'more line')})`
  return { state: 'open', before: null, now: null, text: `${job} could not run: ${first}${more}` }
}

/*
 * A run that is suspect as a whole: most of its ranks are gone at once, or many queries got one list. That is one alert in place of
 * all that the rules on queries would say of it, and its observations are left out when later runs are judged: the next one says what
 * is true.
 *
 *   open  suspect  the run ended
 *   -     x        -               begins; nothing else is told of its queries
 *   x     x        -               goes on; the same
 *   x     -        x               over; its queries are judged against what was before
 */

/** Rules that watch how a run went, or what was spent, and no queries. */
const ofRuns: readonly AlertKind[] = [
  'coverage',
  'run-failed',
  'run-skipped',
  'balance',
  'days-left',
  'unexplained',
]

/** The rule that tells of a suspect run, to whom the others tell of queries; null where none does. */
export function wholeRunRule(rules: readonly AlertRule[]): AlertRule | null {
  const watching = rules.filter(({ when }) => !ofRuns.includes(when))
  if (watching.length === 0) return null
  const channels = watching.flatMap(({ to }) => to ?? [])
  return {
    when: 'suspect',
    by: null,
    top: null,
    below: null,
    for: { tags: null, targets: null },
    confirm: 1,
    to: watching.some(({ to }) => to === null) ? null : [...new Set(channels)],
  }
}

/** What is told of a suspect run; null where nothing begins and nothing is over. */
export function judgeWholeRun(
  {
    job,
    suspicion,
    hasEnded,
  }: { readonly job: string; readonly suspicion: Suspicion | null; readonly hasEnded: boolean },
  open: OpenAlert | null,
): RuleVerdict | null {
  if (suspicion === null)
    return open === null || !hasEnded
      ? null
      : {
          state: 'over',
          before: open.now,
          now: null,
          text: `${job} is no longer suspect: its last run was judged as usual`,
        }
  if (open !== null) return null
  const { ranked, gone, alike } = suspicion
  return {
    state: 'open',
    before: gone === 0 ? null : ranked,
    now: gone === 0 ? alike : ranked - gone,
    text: `Check before you tell anyone: ${job} is suspect, ${suspicionText(suspicion)}`,
  }
}
