import { databasePath, type SettingFlags } from '../config.ts'
import { reportColumns } from '../report/columns.ts'
import { rankRows } from '../report/rank-rows.ts'
import { rankTable } from '../report/rank-table.ts'
import { rowsOut } from '../report/rows-out.ts'
import { openStore } from '../store/sqlite/open.ts'
import type { Store } from '../store/store.ts'
import type { Terminal } from '../terminal.ts'
import { chosenFormat, jobName } from './choices.ts'
import { deliver } from './output.ts'

export interface ReportFlags extends SettingFlags {
  readonly job: string
  readonly format?: string
  readonly json?: boolean
  readonly out?: string
  readonly raw?: boolean
}

/** `rankline report`: where the targets of a job stand, and how they moved. */
export async function report(flags: ReportFlags, terminal: Terminal): Promise<number> {
  const format = chosenFormat(flags.json === true ? 'json' : flags.format, ['table', 'csv', 'json', 'jsonl'])
  await using store = await openStore(databasePath(flags))
  const job = await jobName(store, flags.job, terminal)
  if (job === null) return 2
  const rows = rankRows(store.rows('rankings', { job }))
  if (rows.length === 0) terminal.say(await whyEmpty(store, job))
  await deliver(
    format === 'table'
      ? pieces(
          rankTable(rows, {
            width: flags.out === undefined ? terminal.columns : 120,
            color: terminal.color && flags.out === undefined,
          }),
        )
      : rowsOut(rows, { columns: reportColumns, format, raw: flags.raw === true }),
    flags.out,
    terminal,
  )
  return 0
}

async function whyEmpty(store: Store, job: string): Promise<string> {
  const run = await store.latestRun(job)
  if (run === null) return `The job ${job} has not run yet. Start it with: rankline run <job file>`
  return `The job ${job} has no rankings: it tracks no targets, or no run of it has finished. Results are in: rankline export organic --job ${job}`
}

async function* pieces(text: string): AsyncGenerator<string> {
  yield text
}
