import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { relative } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { stopSignal } from '../../../collect/stop.ts'
import { exportKinds } from '../../../export/export.ts'
import { UsageError } from '../../../model/errors.ts'
import type { ReportNote } from '../../../model/settings.ts'
import { count } from '../../../model/text.ts'
import { addDays, type Clock, daysBetween, systemClock } from '../../../model/time.ts'
import { numberOption, type OptionSpecs, textOption } from '../../../model/values.ts'
import { writeFileAtomically } from '../../../output/file.ts'
import { writeCsv } from '../../../output/formats/csv.ts'
import { cellsOf } from '../../../output/formats/format.ts'
import { wrapLines } from '../../../output/table.ts'
import type { Terminal } from '../../../output/terminal.ts'
import { storyFormat } from '../../../report/formats/table.ts'
import type { ReportFormat } from '../../../report/report.ts'
import { presentationOf, presentationSettings } from '../../../report/requests/presentation.ts'
import { reportSource } from '../../../report/requests/report-source.ts'
import { type App, connections } from '../../../run/app.ts'
import { browserPlaces, databaseFile } from '../../../run/config.ts'
import { collections, planning } from '../../../run/run-jobs.ts'
import { openStore, type Store } from '../../../store/sqlite/open.ts'
import { formatArguments, type ReportFormatName } from '../../arguments.ts'
import type { Command, TypedOptions } from '../../flags.ts'
import { runLines } from '../../progress.ts'
import { metricOptions } from '../report/report.ts'

const jobFile = fileURLToPath(new URL('../jobs/rank-tracking.yaml', import.meta.url))
const dayMs = 86_400_000
/** Hour of the day, in UTC, at which the job runs. */
const morning = 6

const flags = { days: textOption('Days to simulate [30]') } satisfies OptionSpecs

export type DemoFlags = TypedOptions<typeof flags>

export const demoCommand = {
  flags,
  examples: [
    ['demo', 'a month of a made-up shop'],
    ['demo --days 7', 'a week'],
  ],
  run: demo,
} satisfies Command

/** `rankline demo`: a month of a real job against a sandbox of its own, then what came of it. */
export async function demo(flags: DemoFlags, terminal: Terminal): Promise<number> {
  const days = numberOption('--days', flags.days, { min: 1, max: 366 }) ?? 30
  const database = flags.db ?? 'data/demo.db'
  if (flags.db !== undefined && existsSync(flags.db))
    throw new UsageError(
      `${flags.db} exists already; the demo begins with a new database. Name another file with --db`,
    )
  if (flags.db === undefined) databaseFile.makeDataFolder()
  for (const file of [database, `${database}-wal`, `${database}-shm`]) await rm(file, { force: true })
  const started = performance.now()
  await using sandbox = await spawnSandbox()
  const { clock, goTo } = simulatedClock()
  const store = await openStore(database)
  await using app = await connections.join({ store, database }, sandbox, 120_000, clock)
  const today = Math.floor(Date.now() / dayMs) * dayMs
  for (let day = 0; day < days; day++) {
    const date = today - (days - 1 - day) * dayMs
    goTo(date + morning * 3_600_000)
    await sandbox.goTo(new Date(date).toISOString().slice(0, 10))
    await collectDay(app, terminal)
    terminal.status?.(`day ${day + 1} of ${days}`)
  }
  terminal.status?.('')
  await printDemo(store, database, terminal, { days, seconds: (performance.now() - started) / 1000 })
  return 0
}

async function collectDay(app: App, terminal: Terminal): Promise<void> {
  const planned = await planning.runs(app, { job: [jobFile] }, runLines.planEvents(terminal), null)
  if (planned === null) throw new Error(`${jobFile} has mistakes`)
  await collections.finish(app, planned.listed, { ...collections.usual, stop: stopSignal() })
}

async function printDemo(
  store: Store,
  database: string,
  terminal: Terminal,
  { days, seconds }: { readonly days: number; readonly seconds: number },
): Promise<void> {
  const [last] = await store.runs({ limit: 1 })
  const job = last?.job ?? ''
  const layout = {
    width: terminal.columns,
    color: terminal.color,
    ascii: terminal.ascii ?? false,
    rows: false,
  }
  const settings = await presentationSettings(store, job, null)
  const notes = onDaysOfDemo(settings.notes ?? [], last?.date ?? '')
  const presentation = await presentationOf({ ...settings, notes })
  const measure = metricOptions({})
  const written = async (format: ReportFormat) =>
    format.chunks(
      await reportSource(store, {
        job,
        settings: null,
        format,
        measure,
        layout,
        presentation,
        browsers: browserPlaces(),
      }),
    )
  const inFormat = async (name: ReportFormatName) =>
    await written(await formatArguments.ofReports[name].load())
  const folder = relative('', database).replace(/[^/]*$/, '')
  const write = async (name: string, pieces: AsyncIterable<string | Uint8Array>): Promise<string> => {
    await writeFileAtomically(`${folder}${name}`, pieces)
    return `${folder}${name}`
  }
  // Many machines have no browser.
  const pdf = async (): Promise<readonly [file: string, about: string]> => {
    try {
      return [await write('demo-report.pdf', await inFormat('pdf')), 'the same on paper']
    } catch (error) {
      if (error instanceof UsageError) return [`${folder}demo-report.pdf`, `is not written: ${error.message}`]
      throw error
    }
  }
  const { view, columns } = exportKinds.organic
  const latest = last === undefined ? [] : store.rows(view, { run: last.id })
  const files = [
    [await write('demo-report.html', await inFormat('html')), 'the report: open it in a browser'],
    await pdf(),
    [await write('demo-report.eml', await inFormat('email')), 'the message to the client'],
    [database, `everything, for sqlite3 or for rankline with --db`],
    [
      await write('demo-rankings.csv', await inFormat('csv')),
      'ranks of the last day, the day before, the best ever',
    ],
    [
      await write('demo-serps.csv', writeCsv(cellsOf(latest, columns), { columns, csv: 'guarded' })),
      'every result of the last day',
    ],
  ] as const
  const widest = Math.max(...files.map(([file]) => file.length))
  const { spent, tasks } = await totals(store, job)
  await terminal.write(
    wrapLines(
      `\n${count(days, 'day')} of ${job}: ${count(tasks, 'call')}, ${count(spent, 'credit')}, in ${seconds.toFixed(1)} s.

${files.map(([file, about]) => `  ${file.padEnd(widest)}  ${about}\n`).join('')}
Every rank: rankline report ${job} --rows --db ${database}
A workbook: rankline report ${job} --db ${database} --out ranks.xlsx
All runs: rankline runs --db ${database}

`,
      terminal.columns,
    ),
  )
  // Last, so that they are in sight.
  for await (const chunk of await written(storyFormat)) await terminal.write(chunk, true)
}

/** Days between the last note of the job file and the last day of the demo, which may be in any year. */
const daysSinceLastNote = 9

function onDaysOfDemo(notes: readonly ReportNote[], lastDay: string): readonly ReportNote[] {
  const last =
    notes
      .map(({ date }) => date)
      .sort()
      .at(-1) ?? lastDay
  const shift = daysBetween(last, addDays(lastDay, -daysSinceLastNote))
  return notes.map((one) => ({ ...one, date: addDays(one.date, shift) }))
}

async function totals(store: Store, job: string): Promise<{ spent: number; tasks: number }> {
  const tallies = await Promise.all((await store.runs({ job })).map(({ id }) => store.tally(id)))
  return {
    spent: tallies.reduce((sum, tally) => sum + tally.spent, 0),
    tasks: tallies.reduce((sum, tally) => sum + tally.tasks.done, 0),
  }
}

/** A clock that runs as fast as the machine's, from the instant that it was last set to. */
function simulatedClock(): { readonly clock: Clock; readonly goTo: (instant: number) => void } {
  let base = 0
  let since = 0
  return {
    clock: {
      wall: () => Math.round(base + performance.now() - since),
      monotonic: systemClock.monotonic,
      after: systemClock.after,
    },
    goTo: (instant) => {
      base = instant
      since = performance.now()
    },
  }
}

/** A sandbox in a process of its own, so that it does not share this one's core. */
async function spawnSandbox() {
  const program = process.argv[1] as string
  const flags = ['--port', '0', '--json']
  const child = spawn(process.execPath, [program, 'sandbox', ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  const { base_url: baseUrl, api_key: apiKey } = JSON.parse(line) as { base_url: string; api_key: string }
  return {
    baseUrl,
    apiKey,
    goTo: async (date: string): Promise<void> => {
      const answer = await fetch(`${baseUrl}/_sandbox/control`, {
        method: 'POST',
        body: JSON.stringify({ date }),
      })
      if (!answer.ok) throw new Error(`the sandbox refused the date ${date}: ${await answer.text()}`)
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}
