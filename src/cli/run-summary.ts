import type { RunDocument } from '../collect/finish.ts'
import { shareQueue } from '../ledger/shares.ts'
import { areTooLong, coverageOf, type Run, suspicionText } from '../model/run.ts'
import { count, duration, grouped, shellWord } from '../model/text.ts'
import { utcBetween } from '../model/time.ts'
import { sanitize } from '../output/terminal.ts'
import type { FailureCause, RunStore } from '../store/runs.ts'

const causesShown = 3

interface RunSummaryOptions {
  readonly shownAgain?: ReadonlySet<number>
  readonly onScreen?: boolean
}

/**
 * What came of each run in one line, and under it why tasks failed and how to go on. Without a screen, as in the mail of cron, the
 * first line says what to do, too.
 *
 * @param shownAgain runs that were finished before the command
 */
export async function summaryLines(
  store: Pick<RunStore, 'failureCauses'>,
  documents: readonly RunDocument[],
  { shownAgain = new Set(), onScreen = false }: RunSummaryOptions = {},
): Promise<readonly string[]> {
  const blocks = documents.map(async (one) => {
    const causes = one.tasks.failed === 0 ? [] : await store.failureCauses(one.run, causesShown)
    const again = shownAgain.has(one.run) ? ' (finished before; nothing was bought now)' : ''
    const next = [whatToDo(one, causes)].flatMap((line) => line ?? [])
    return [
      ...suspicionLines(one),
      `${summaryLine(one)}${again}${onScreen ? '' : next.map((line) => `. ${line}`).join('')}`,
      ...leftOut(one),
      ...malformedLines(one.malformed_items),
      ...mismatchLines(one.mismatched_answers),
      ...causeLines(one, causes),
      ...(onScreen ? next.map((line) => `  ${line}`) : []),
    ]
  })
  return [
    ...(await Promise.all(blocks)).flat(),
    ...otherPrograms(documents),
    ...lostByFailover(documents),
    ...balanceNotRead(documents),
  ]
}

/** That a whole run is suspect, which is said before all else; nothing where it is not. */
export function suspicionLines({ run, job, suspect }: RunDocument): readonly string[] {
  if (suspect === undefined) return []
  return [
    `${sanitize(job)} (run ${run}) is suspect: ${suspicionText(suspect)}. Check before you tell anyone: rankline report ${sanitize(shellWord(job))}`,
  ]
}

/** The last reading is not waited for, where the service does not answer it soon. */
function balanceNotRead(documents: readonly RunDocument[]): readonly string[] {
  const isMissing = ({ credits }: RunDocument): boolean =>
    credits.balance_before !== null && credits.balance_after === null
  return documents.some(isMissing)
    ? [
        '  The balance was not read at the end. The next reading settles what was spent: rankline usage, then rankline ledger verify',
      ]
    : []
}

/** What no lock of this machine keeps out: another one that spends with the same key. Runs of one command share what is known of it. */
function otherPrograms(documents: readonly RunDocument[]): readonly string[] {
  const others = documents.find(({ spent_by_others: spent }) => spent !== undefined)?.spent_by_others
  if (others === undefined) return []
  const when = utcBetween(Date.parse(others.from), Date.parse(others.until))
  const throttled = documents.reduce((sum, one) => sum + (one.throttled_calls ?? 0), 0)
  const refused =
    throttled === 0
      ? ''
      : ` It uses up the rate limit, too: ${count(throttled, 'call')} ${throttled === 1 ? 'was' : 'were'} refused for it.`
  return [
    `  Another program uses this key: ${count(others.credits, 'credit')} ${when} ${others.credits === 1 ? 'is' : 'are'} in no call of this database.${refused} ${shareQueue}`,
  ]
}

/** What was paid while the queue failed over and is in no call. Runs of one command share what is known of it. */
function lostByFailover(documents: readonly RunDocument[]): readonly string[] {
  const lost = documents.find(({ lost_by_failover: credits }) => credits !== undefined)?.lost_by_failover
  return lost === undefined
    ? []
    : [
        `  ${count(lost, 'credit')} ${lost === 1 ? 'was' : 'were'} spent in calls that the queue lost when its server failed over.`,
      ]
}

/** One line that says what happened in a run. */
export function summaryLine({
  run,
  job,
  status,
  finish_reason,
  tasks,
  credits,
  results,
  duration_ms,
}: RunDocument): string {
  const found = Object.values(results).reduce((sum, n) => sum + n, 0)
  const { ambiguous, balance_after, unexplained } = credits
  return [
    `${sanitize(job)} (run ${run}): ${reasonText[finish_reason ?? ''] ?? (status === 'running' ? 'running' : 'ended by a crash')}`,
    `${grouped(tasks.done)} of ${count(tasks.planned, 'task')} done${partOf(tasks)}`,
    tasks.failed === 0 ? null : `${grouped(tasks.failed)} failed`,
    tasks.reused === 0 ? null : `${grouped(tasks.reused)} from stored answers`,
    count(credits.spent, 'credit'),
    ambiguous === 0 ? null : `${grouped(ambiguous)} more possibly billed`,
    unexplained === null || unexplained === 0
      ? null
      : unexplained > 0
        ? `${grouped(unexplained)} spent by others`
        : `${grouped(-unexplained)} not counted yet`,
    balance_after === null ? null : `balance ${grouped(balance_after)}`,
    count(found, 'result'),
    duration_ms === null ? null : duration(duration_ms / 1000),
  ]
    .filter((part) => part !== null)
    .join(', ')
}

/** How much of a run is done, where that is not all: rounded down, for 99.9 % is not all. */
function partOf(tasks: RunDocument['tasks']): string {
  const coverage = coverageOf(tasks) ?? 1
  return coverage === 1 ? '' : ` (${Math.floor(coverage * 100)} %)`
}

const reasonText: Readonly<Record<string, string>> = {
  completed: 'completed',
  completed_with_failures: 'completed with failures',
  budget: 'stopped at its budget',
  balance: 'stopped, the balance covers no more',
  quota: 'stopped, the quota is used up',
  auth: 'stopped, the key was refused',
  unavailable: 'stopped, the service or the disk is not available',
  interrupted: 'interrupted',
  crashed: 'crashed',
}

function causeLines({ run }: RunDocument, causes: readonly FailureCause[]): readonly string[] {
  if (causes.length === 0) return []
  const lines = causes.map(({ kind, tasks }) => `  ${count(tasks, 'task')}: ${sanitize(kind)}`)
  return [
    ...lines,
    ...(unusable(causes) === 0
      ? []
      : [
          `  The answers are stored. After an update of rankline, read them again at no cost with: rankline renormalise`,
        ]),
    `  Each: rankline runs ${run}`,
  ]
}

function unusable(causes: readonly FailureCause[]): number {
  return causes.reduce((sum, { answered }) => sum + answered, 0)
}

function leftOut({ left_out: left }: RunDocument): readonly string[] {
  return left === undefined
    ? []
    : [
        `  Left out, because the balance does not cover them: ${count(left.queries, 'query', 'queries')} (${count(left.credits, 'credit')} at most)`,
      ]
}

/** Says how many items of answers were no results; nothing where none was. */
export function malformedLines(items = 0): readonly string[] {
  if (items === 0) return []
  const kept = `${count(items, 'malformed item')} ${items === 1 ? 'was' : 'were'} kept aside`
  return [`  ${kept}; see the column malformed_items of the view answers`]
}

/** Says how many answers repeat a different query than asked; nothing where none does. */
export function mismatchLines(answers = 0): readonly string[] {
  if (answers === 0) return []
  const those = `${count(answers, 'answer')} ${answers === 1 ? 'repeats' : 'repeat'} a different query than asked`
  return [`  ${those}; see the column echo_mismatch of the view answers`]
}

/** How to get what is missing; null where nothing is. */
function whatToDo(document: RunDocument, causes: readonly FailureCause[]): string | null {
  const { run, status, finish_reason: reason, tasks, limits_reached: reached } = document
  if (status === 'finished' && areTooLong(causes, tasks.failed))
    return 'Another try cannot help. Change the job as it says, then run it again'
  // What is not finished is not retried.
  if (status === 'finished' && tasks.failed > 0)
    return unusable(causes) === 0
      ? `Buy what failed again: rankline retry ${run}`
      : `When the service works again, buy what failed again: rankline retry ${run}`
  if (status !== 'stopped') return null
  const left = `${count(tasks.pending, 'task')} left.`
  const ownLimit = reached === undefined || reached.some((name) => name.startsWith('max_credits '))
  if (reason !== 'budget') return `${left} Continue with the same command, or: rankline resume ${run}`
  return ownLimit
    ? `${left} Raise max_credits (or --max-credits), then run the same command again`
    : `${left} Stopped by ${sanitize(reached.join(' and '))}; the same command continues when that begins anew`
}

const exportOf = {
  organic: 'organic',
  news: 'news',
  video: 'videos',
  image: 'images',
  reference: 'references',
  suggestion: 'suggestions',
  related: 'related',
} as const

/** Where to look at what finished runs found. */
export function nextCommands(
  ended: readonly { readonly run: Pick<Run, 'settings'>; readonly document: RunDocument }[],
): readonly string[] {
  return ended.flatMap(({ run, document: { job, status, results } }) => {
    if (status !== 'finished') return []
    const name = sanitize(shellWord(job))
    if (run.settings.targets.length > 0) return [`Next: rankline report ${name}`]
    const kinds = Object.keys(exportOf) as (keyof typeof exportOf)[]
    const kind = kinds.find((one) => (results[one] ?? 0) > 0)
    return kind === undefined ? [] : [`Next: rankline export ${exportOf[kind]} --job ${name}`]
  })
}
