import { endOf, type FinishReason, isComplete, isGoodRun } from '../../model/run.ts'
import type { AlertKind } from '../../model/settings/alert.ts'
import type { RunFreshness } from '../../model/settings/job-settings.ts'
import { count, grouped } from '../../model/text.ts'
import { dayMs, hourMs } from '../../model/time.ts'
import { everyOf } from '../../schedule/every.ts'
import type { JobFacts, RunFacts } from './facts.ts'
import type { ProblemKind, StatusProblem } from './problem.ts'
import { age, limit } from './times.ts'

/** A job whose file is gone is no concern any more when it has not run for so long. */
const retiredAfterMs = 14 * dayMs

/** Whether a job was given up: its file is gone, and it was never scheduled or has not run for long. */
export function isRetired({ file, last, schedule, every, freshness }: JobFacts, now: number): boolean {
  if (file.state !== 'missing') return false
  const isWatched = schedule !== null || every !== null || freshness !== null
  return !isWatched || last === null || now - endOf(last) > retiredAfterMs
}

type FoundProblem = Pick<StatusProblem, 'level' | 'kind' | 'text' | 'cause'> | null

/** Everything that is wrong with one job. */
export function jobProblems(facts: JobFacts, now: number): readonly StatusProblem[] {
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
function freshnessOf(every: string): RunFreshness {
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

interface Ending {
  readonly level: StatusProblem['level']
  readonly how: string
  /** What to do before it is continued. */
  readonly first: string | null
}

const endings: Readonly<Record<Unfinished, Ending>> = {
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
