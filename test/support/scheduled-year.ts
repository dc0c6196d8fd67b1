import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { watchJobFiles } from '../../src/app/scheduler/job-files.ts'
import { runScheduler } from '../../src/app/scheduler/scheduler.ts'
import { dueCollector } from '../../src/cli/commands/collect/schedule-collect.ts'
import { StopRequested } from '../../src/collect/stop.ts'
import type { ControlChange, SandboxOptions } from '../../src/sandbox/options.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { type SimulatedClock, simulatedClock, type TimedEvent } from './simulated-clock.ts'
import { query } from './stored-rows.ts'
import { aTerminal } from './terminal.ts'

/** What happens in a simulated time, each at its instant (ISO 8601). */
export type Incident = { readonly at: string } & (
  | { readonly sandbox: ControlChange }
  | { readonly file: string; readonly text: string }
  /** The machine is off, and the scheduler is started again with it. */
  | { readonly offUntil: string }
  /** The machine is suspended: the scheduler sleeps on. */
  | { readonly suspendedUntil: string }
)

export interface ScheduledTime {
  readonly from: string
  readonly until: string
  readonly files: Readonly<Record<string, string>>
  readonly incidents: readonly Incident[]
  readonly sandbox?: SandboxOptions
}

export interface ScheduledHistory extends AsyncDisposable {
  /** What was logged, each line with its instant. */
  readonly lines: readonly string[]
  /** Credits that the service has charged. */
  readonly charged: number
  readonly sql: <T>(text: string) => readonly T[]
}

/** Lets a scheduler run on a folder of jobs for a time that passes at once, with a sandbox on a real socket. */
export async function scheduled(time: ScheduledTime): Promise<ScheduledHistory> {
  const folder = await mkdtemp(join(tmpdir(), 'rankline-schedule-'))
  const db = join(folder, 'rankline.db')
  const jobs = join(folder, 'jobs')
  const lines: string[] = []
  let clock: SimulatedClock | null = null
  let controller = new AbortController()
  let off: string | null = null
  const now = (): number => clock?.wall() ?? Date.parse(time.from)
  const sandbox = await startSandbox({ ...time.sandbox, now })

  const happening = (incident: Incident): TimedEvent => ({
    at: Date.parse(incident.at),
    happens: async () => {
      if ('sandbox' in incident) sandbox.control(incident.sandbox)
      else if ('file' in incident) await writeFile(join(jobs, incident.file), incident.text)
      else if ('offUntil' in incident) {
        off = incident.offUntil
        controller.abort(new StopRequested())
      } else clock?.jump(Date.parse(incident.suspendedUntil) - now())
    },
  })
  const end: TimedEvent = { at: Date.parse(time.until), happens: () => controller.abort(new StopRequested()) }
  clock = simulatedClock(Date.parse(time.from), [...time.incidents.map(happening), end])
  const { working, jump } = clock
  const log = (line: string): void => void lines.push(`${new Date(now()).toISOString().slice(0, 16)} ${line}`)
  const terminal = aTerminal({
    write: async (data) => {
      for (const line of String(data).trimEnd().split('\n')) log(line)
    },
    ...{ log, ask: null, columns: Number.POSITIVE_INFINITY },
  })
  const key = join(folder, 'key')
  await writeFile(key, sandbox.key)
  const flags = { db, 'base-url': sandbox.url, 'api-key-file': key, 'max-outage': '1s' }
  const collect = dueCollector(flags, terminal, clock)
  await mkdir(jobs)
  for (const [name, text] of Object.entries(time.files)) await writeFile(join(jobs, name), text)
  for (;;) {
    off = null
    controller = new AbortController()
    await runScheduler({
      clock,
      jobFiles: watchJobFiles({ named: [], folder: jobs }, log),
      collect: (forms, stop) => working(() => collect(forms, stop)),
      log,
      stop: controller.signal,
      longestSleepMs: 6 * 3_600_000,
    })
    if (off === null) break
    jump(Date.parse(off) - now())
  }
  return {
    lines,
    charged: sandbox.ledger.charged,
    sql: <T>(text: string) => query<T>(db, text),
    [Symbol.asyncDispose]: async () => {
      await sandbox.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
