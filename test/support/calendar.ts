import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ReportFlags, report } from '../../src/cli/commands/report/report.ts'
import { runLines } from '../../src/cli/progress.ts'
import { stopSignal } from '../../src/collect/stop.ts'
import { groupedBy } from '../../src/model/text.ts'
import { type Clock, systemClock } from '../../src/model/time.ts'
import type { Terminal } from '../../src/output/terminal.ts'
import { connections } from '../../src/run/app.ts'
import type { JobFileOptions } from '../../src/run/job-files.ts'
import { collections, planning } from '../../src/run/run-jobs.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import type { FaultRule } from '../../src/sandbox/state.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { isBillable } from './judge.ts'
import { query } from './stored-rows.ts'

/** One run of the job at an instant (ISO 8601), unlike the others where more is said. */
export interface CalendarEntry {
  readonly at: string
  readonly flags?: Omit<JobFileOptions, 'job'>
  readonly rules?: readonly FaultRule[]
}

/** A job that was run again and again, without waiting for the days to pass. */
export interface Calendar extends AsyncDisposable {
  run(entry: CalendarEntry): Promise<void>
  /** Pages that the service was asked for in the newest run, by query, in their order. */
  asked(): ReadonlyMap<string, readonly number[]>
  /** The report as JSON. */
  report(flags?: Omit<ReportFlags, 'job' | 'db' | 'json'>): Promise<readonly ReportRow[]>
  /** Rows of the database as another program sees them. */
  sql<T>(text: string): readonly T[]
}

export type ReportRow = Readonly<Record<string, string | number | null>>

/** @param jobFile YAML whose `name` is `year` */
export async function calendar(jobFile: string, sites: readonly string[]): Promise<Calendar> {
  const folder = await mkdtemp(join(tmpdir(), 'rankline-year-'))
  const file = join(folder, 'year.yaml')
  const db = join(folder, 'rankline.db')
  await writeFile(file, jobFile)
  const sandbox = await startSandbox({ sites })
  const time = { base: 0, since: 0 }
  let before = 0
  const clock: Clock = {
    wall: () => Math.round(time.base + performance.now() - time.since),
    monotonic: systemClock.monotonic,
    after: systemClock.after,
  }
  const connection = await connections.join(
    { store: await openStore(db), database: db },
    { baseUrl: sandbox.url, apiKey: sandbox.key },
    10_000,
    clock,
  )
  return {
    run: async ({ at, flags = {}, rules = [] }) => {
      Object.assign(time, { base: Date.parse(at), since: performance.now() })
      sandbox.control({ now: time.base, rules })
      before = sandbox.ledger.requestsFor(isBillable).length
      const planned = await planning.runs(
        connection,
        { job: [file], ...flags },
        runLines.planEvents(listener().terminal),
        null,
      )
      await collections.finish(connection, planned?.listed ?? [], {
        ...collections.usual,
        stop: stopSignal(),
      })
    },
    asked: () => {
      const entries = sandbox.ledger.requestsFor(isBillable).slice(before)
      const ofQuery = groupedBy(entries, ({ params }) => String(params.query))
      return new Map([...ofQuery].map(([query, sent]) => [query, sent.map(({ page }) => Number(page ?? 1))]))
    },
    report: async (flags = {}) => {
      const { terminal, heard } = listener()
      await report({ job: 'year', db, json: true, ...flags }, terminal)
      return JSON.parse(heard())
    },
    sql: <T>(text: string) => query<T>(db, text),
    [Symbol.asyncDispose]: async () => {
      await connection[Symbol.asyncDispose]()
      await sandbox.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function listener(): { readonly terminal: Terminal; readonly heard: () => string } {
  let text = ''
  const out: Terminal['write'] = async (piece) => {
    text += piece
  }
  return {
    terminal: { write: out, log: () => {}, status: null, columns: 100, color: false },
    heard: () => text,
  }
}
