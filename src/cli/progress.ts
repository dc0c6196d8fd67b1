import type { Progress } from '../collect/collect.ts'
import type { RunDocument } from '../collect/finish.ts'
import { areTooLong, coverageOf, type Run, suspicionText } from '../model/run.ts'
import { count, duration, grouped, shellWord } from '../model/text.ts'
import { type Clock, systemClock, utcBetween } from '../model/time.ts'
import { isScreen, liveEveryMs, note, sanitize, statusLine, type Terminal } from '../output/terminal.ts'
import type { JobRead, PlanEvents } from '../run/job-files.ts'
import { shareQueue } from '../store/sqlite/ledger/sums.ts'
import type { Store } from '../store/sqlite/open.ts'
import type { FailureCause } from '../store/sqlite/runs.ts'

/** Rates are taken over this long. */
const rateWindowMs = 10_000

/** Shows on a terminal what happens while jobs are planned. */
export function planEvents(terminal: Terminal, onMistakes: PlanEvents['onMistakes'] = () => {}): PlanEvents {
  const line = statusLine<JobRead>(
    terminal,
    systemClock,
    ({ job, queries }) => `Reading ${job}: ${count(queries, 'query', 'queries')}`,
  )
  const log = (text: string): void => terminal.log(text, { level: 'error', code: 2 })
  return {
    log,
    logMistake: log,
    onMistakes,
    note: (text) => note(terminal, text),
    ask: terminal.ask ?? null,
    onRead: (read) => (read === null ? line.end() : line.show(read)),
  }
}

/** Shows how far a collection is. */
export function runStatusLine(terminal: Terminal, clock: Pick<Clock, 'monotonic'>) {
  const rate = slidingRate(clock)
  const line = statusLine<Progress>(terminal, clock, (progress) => progressLine(progress, rate.perSecond()))
  return {
    show: (progress: Progress): void => {
      rate.note(progress.done + progress.failed)
      line.show(progress)
    },
    end: line.end,
  }
}

const quietMs = 1000

/**
 * Counts rows as they are taken, and shows how many they are: on a terminal, where the work is long, and where the rows
 * themselves do not go there.
 */
export function exportProgress(terminal: Terminal, clock: Pick<Clock, 'monotonic'>, out: string | undefined) {
  const began = clock.monotonic()
  const shows = terminal.status !== null && (out !== undefined || !isScreen(terminal))
  const line = statusLine<number>(terminal, clock, (rows) => exportLine(rows, clock.monotonic() - began))
  return {
    *count<T>(rows: Iterable<T>): Generator<T> {
      let taken = 0
      for (const row of rows) {
        yield row
        taken += 1
        // The clock is not asked for every row.
        if (shows && taken % 1000 === 0 && clock.monotonic() - began >= quietMs) line.show(taken)
      }
    },
    end: line.end,
  }
}

/** One line: rows so far, and rows a second. */
export function exportLine(rows: number, ms: number): string {
  const perSecond = Math.round(rows / (ms / 1000))
  return `${count(rows, 'row')} · ${grouped(perSecond)}/s`
}

/** One line: done, rate, credits, balance, time left. */
function progressLine(progress: Progress, perSecond: number | null): string {
  const { planned, done, failed, spent, balance } = progress
  const settled = done + failed
  const percent = planned === 0 ? 100 : Math.floor((settled / planned) * 100)
  const left = perSecond === null || perSecond === 0 ? null : (planned - settled) / perSecond
  return [
    `${grouped(settled)}/${grouped(planned)} tasks (${percent} %)`,
    failed === 0 ? null : `${grouped(failed)} failed`,
    perSecond === null ? null : `${perSecond.toFixed(1)}/s`,
    `${grouped(spent)} credits`,
    balance === null ? null : `balance ${grouped(balance)}`,
    left === null ? null : `${duration(left)} left`,
  ]
    .filter((part) => part !== null)
    .join(' · ')
}

function slidingRate(clock: Pick<Clock, 'monotonic'>) {
  let marks: { readonly at: number; readonly settled: number }[] = []
  return {
    note: (settled: number): void => {
      const at = clock.monotonic()
      const last = marks.at(-1)
      if (last !== undefined && at - last.at < liveEveryMs) return
      marks.push({ at, settled })
      marks = marks.filter((mark) => at - mark.at <= rateWindowMs)
    },
    perSecond: (): number | null => {
      const [first] = marks
      const last = marks.at(-1)
      if (first === undefined || last === undefined || last.at === first.at) return null
      return ((last.settled - first.settled) / (last.at - first.at)) * 1000
    },
  }
}

const causesShown = 3

/**
 * What came of each run in one line, and under it why tasks failed and how to go on. Without a screen, as in the mail of cron, the
 * first line says what to do, too.
 *
 * @param shownAgain runs that were finished before the command
 */
export async function summaryLines(
  store: Pick<Store, 'failureCauses'>,
  documents: readonly RunDocument[],
  {
    shownAgain = new Set(),
    onScreen = false,
  }: {
    readonly shownAgain?: ReadonlySet<number>
    readonly onScreen?: boolean
  } = {},
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
