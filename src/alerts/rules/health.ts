import { coverageOf } from '../../model/run.ts'
import type { AlertKind, AlertRule } from '../../model/settings/alert.ts'
import { count, grouped } from '../../model/text.ts'
import type { OpenAlert, RunHealth, Verdict } from './facts.ts'

/*
 * How a run went as a whole. What is not known begins nothing and ends nothing.
 *
 *   rule               begins                                     is over
 *   coverage, N        fewer than N % of its tasks are done       N % or more
 *   run-failed         it stopped, or tasks failed                completed
 *   run-skipped        the job could not run, or its key was refused   any other run of the job
 *   balance, N         fewer than N credits are left              N or more
 *   days-left, N       the balance lasts fewer than N days        N or more
 *   unexplained        the service counted other credits          they agree
 *   suspect            answers repeat a different query           none does
 */

export type HealthKind = Extract<
  AlertKind,
  'coverage' | 'run-failed' | 'run-skipped' | 'balance' | 'days-left' | 'unexplained' | 'suspect'
>

/** What a run says of a kind; null where that is not known. */
interface Reading {
  readonly isBad: boolean
  readonly now: number | string | null
  /** A predicate of the job. */
  readonly text: string
}

type Read = (health: RunHealth, below: number) => Reading | null

const readings: Readonly<Record<HealthKind, Read>> = {
  coverage: ({ tasks }, below) => {
    const coverage = coverageOf(tasks)
    if (coverage === null) return null
    const percent = Math.floor(coverage * 1000) / 10
    const text = `answered ${percent} % of its tasks (${grouped(tasks.done)} of ${grouped(tasks.planned)}); the limit is ${below} %`
    return { isBad: coverage * 100 < below, now: percent, text }
  },
  'run-failed': ({ finishReason, tasks: { failed } }) => {
    if (finishReason === 'completed') return { isBad: false, now: finishReason, text: 'completed its run' }
    const stopped = finishReason === 'completed_with_failures' ? '' : ` (${finishReason})`
    const failures = failed === 0 ? '' : `: ${count(failed, 'task')} failed`
    return { isBad: true, now: finishReason, text: `did not complete its run${stopped}${failures}` }
  },
  'run-skipped': ({ finishReason, tasks }) => {
    const isBad = finishReason === 'auth' && tasks.done === 0
    return { isBad, now: finishReason, text: isBad ? 'could not run: the key was refused' : 'ran again' }
  },
  balance: ({ balance }, below) =>
    balance === null
      ? null
      : {
          isBad: balance < below,
          now: balance,
          text: `has a balance of ${count(balance, 'credit')}; the limit is ${grouped(below)}`,
        },
  'days-left': ({ daysLeft }, below) => {
    if (daysLeft === null) return null
    const days = Math.floor(daysLeft)
    const text = `has a balance for ${count(days, 'day')}; the limit is ${grouped(below)}`
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
              ? 'agrees with the service on the credits of its run'
              : `differs from the service by ${count(Math.abs(unexplained), 'credit')} (the service counted ${unexplained > 0 ? 'more' : 'fewer'})`,
        },
  suspect: ({ mismatched }) => ({
    isBad: mismatched > 0,
    now: mismatched,
    text:
      mismatched === 0
        ? 'got answers to its own queries only'
        : `got ${count(mismatched, 'answer')} to a different query than asked`,
  }),
}

/** What a rule on runs as a whole says of one; null where nothing begins and nothing is over. */
export function judgeHealth(
  kind: HealthKind,
  { below }: AlertRule,
  { job, health }: { readonly job: string; readonly health: RunHealth },
  open: OpenAlert | null,
): Verdict | null {
  const reading = readings[kind](health, below ?? 0)
  if (reading === null || reading.isBad === (open !== null)) return null
  const { now, text } = reading
  return reading.isBad
    ? { state: 'open', before: null, now, text: `${job} ${text}` }
    : { state: 'over', before: open?.now ?? null, now, text: `${job} ${text}` }
}

/** What `run-skipped` says where a job could not run at its time; null where that has begun already. */
export function judgeSkipped(job: string, reason: string, open: OpenAlert | null): Verdict | null {
  if (open !== null) return null
  const [first, ...others] = reason.split('\n')
  const more = others.length === 0 ? '' : ` (and ${count(others.length, 'more line')})`
  return { state: 'open', before: null, now: null, text: `${job} could not run: ${first}${more}` }
}
