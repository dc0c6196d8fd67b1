import { databasePath, type SettingFlags } from '../config.ts'
import { UsageError } from '../errors.ts'
import { reportColumns } from '../report/columns.ts'
import { rankTable } from '../report/rank-table.ts'
import { rowsOut } from '../report/rows-out.ts'
import { openStore } from '../store/sqlite/open.ts'
import type { Terminal } from '../terminal.ts'
import { chosenFormat, day, namedJob } from './choices.ts'
import { explainQuery } from './explain.ts'
import { observeThePast } from './new-targets.ts'
import { deliver, fileColumns, whole } from './output.ts'
import { type CompareFlags, comparisonOf, notYetRun, type RankedJob, rankedJob } from './rank-report.ts'

export interface ReportFlags extends SettingFlags, CompareFlags {
  readonly job: string
  readonly explain?: string
  readonly format?: string
  readonly json?: boolean
  readonly out?: string
  readonly raw?: boolean
}

/** `rankline report`: where the targets of a job stand, how they moved, and why one query says what it says. */
export async function report(flags: ReportFlags, terminal: Terminal): Promise<number> {
  const format = chosenFormat(flags.json === true ? 'json' : flags.format, ['table', 'csv', 'json', 'jsonl'])
  const comparison = comparisonOf(flags)
  const date = day('--date', flags.date)
  refuseBesideExplain(flags)
  await using store = await openStore(databasePath(flags))
  const named = await namedJob(store, flags.job, terminal)
  if (named === null) return 2
  const { name: job, settings } = named
  if (settings !== null) await observeThePast(store, settings, null, terminal)
  const width = flags.out === undefined ? terminal.columns : fileColumns
  if (flags.explain !== undefined) {
    const look = { job, text: flags.explain, date }
    const text = await explainQuery(store, look, { json: format === 'json', width })
    await deliver(whole(text), flags.out, terminal)
    return 0
  }
  const ranked = await rankedJob(store, job, { date, comparison, targets: settings?.targets })
  const { report, compare } = ranked
  if (report.rows.length === 0) terminal.say(whyEmpty(job, ranked, date))
  const color = terminal.color && flags.out === undefined
  await deliver(
    format === 'table'
      ? whole(rankTable(report, { width, color, compare }))
      : rowsOut(report.rows, { columns: reportColumns, format, raw: flags.raw === true }),
    flags.out,
    terminal,
  )
  return 0
}

/** What says how ranks are compared or written has no meaning for one query's evidence. */
function refuseBesideExplain(flags: ReportFlags): void {
  if (flags.explain === undefined) return
  const others = { '--compare': flags.compare, '--raw': flags.raw, '--format': flags.format }
  const meaningless = Object.entries(others).find(([, value]) => value !== undefined)
  if (meaningless !== undefined)
    throw new UsageError(
      `${meaningless[0]} has no meaning for --explain, which prints text, or JSON with --json`,
    )
}

function whyEmpty(job: string, { runs }: RankedJob, date: string | undefined): string {
  if (runs.length === 0) return notYetRun(job, date)
  return `The job ${job} has no rankings: it tracks no targets. Results are in: rankline export organic --job ${job}`
}
