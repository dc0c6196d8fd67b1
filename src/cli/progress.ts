import type { RunDocument } from '../collect/stop.ts'
import { coverageOf, suspicions } from '../model/run.ts'
import { count, duration, grouped, shellWord } from '../model/text.ts'
import { systemClock } from '../model/time.ts'
import { note, sanitize, statusLine, type Terminal } from '../output/terminal.ts'
import type { PlanEvents } from '../run/job-files.ts'

/** Shows on a terminal what happens while jobs are planned. */
function planEvents(terminal: Terminal, onMistakes: PlanEvents['onMistakes'] = () => {}): PlanEvents {
  const line = statusLine<NonNullable<Parameters<PlanEvents['onRead']>[0]>>(
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

/** That a whole run is suspect, which is said before all else; nothing where it is not. */
function suspicionLines({ run, job, suspect }: RunDocument): readonly string[] {
  if (suspect === undefined) return []
  return [
    `${sanitize(job)} (run ${run}) is suspect: ${suspicions.text(suspect)}. Check before you tell anyone: rankline report ${sanitize(shellWord(job))}`,
  ]
}

/** One line that says what happened in a run. */
function summaryLine({
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

/** Says how many items of answers were no results; nothing where none was. */
function malformedLines(items = 0): readonly string[] {
  if (items === 0) return []
  const kept = `${count(items, 'malformed item')} ${items === 1 ? 'was' : 'were'} kept aside`
  return [`  ${kept}; see the column malformed_items of the view answers`]
}

/** Says how many answers repeat a different query than asked; nothing where none does. */
function mismatchLines(answers = 0): readonly string[] {
  if (answers === 0) return []
  const those = `${count(answers, 'answer')} ${answers === 1 ? 'repeats' : 'repeat'} a different query than asked`
  return [`  ${those}; see the column echo_mismatch of the view answers`]
}

/** What a terminal shows of plans and runs. */
export const runLines = {
  planEvents,
  suspicion: suspicionLines,
  summary: summaryLine,
  malformed: malformedLines,
  mismatch: mismatchLines,
}
