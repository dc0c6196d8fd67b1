import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gatherStatus, type StatusDocument, statusDocument } from '../../src/check/status.ts'
import { jobStarts } from '../../src/cli/commands/collect/run.ts'
import { dueCollector, serviceAsker } from '../../src/cli/commands/collect/schedule.ts'
import { StopRequested } from '../../src/collect/stop.ts'
import type { AlertMessage } from '../../src/model/settings.ts'
import { type Clock, dayMs } from '../../src/model/time.ts'
import { outgoing } from '../../src/run/app.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import type { ControlChange, SandboxOptions } from '../../src/sandbox/state.ts'
import type { DigestMessage } from '../../src/store/sqlite/unattended/schema.ts'
import { sendWithoutRun } from '../../src/unattended/messages/digest.ts'
import { scheduledFiles } from '../../src/unattended/scheduler/job-files.ts'
import { runScheduler } from '../../src/unattended/scheduler/scheduler.ts'
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
  /** What the receiver of webhooks answers from now on. */
  | { readonly receiver: number }
)

export interface ScheduledTime {
  readonly from: string
  readonly until: string
  readonly files: Readonly<Record<string, string>>
  readonly incidents: readonly Incident[]
  readonly sandbox?: SandboxOptions
  /** Instants (epoch ms) at which the scheduler looks besides: it does so all the time, and here only where something can happen. */
  readonly looks: readonly number[]
}

/** A message as channels wrote it. */
export type Told = { readonly timestamp: string } & (
  | { readonly type: 'rankline.alerts'; readonly data: AlertMessage }
  | { readonly type: 'rankline.digest'; readonly data: DigestMessage }
)

/** A webhook as it came in. */
export interface Received {
  /** `webhook-id`: the same on every try. */
  readonly id: string
  /** Epoch ms. */
  readonly at: number
  readonly status: number
  readonly told: Told
}

export interface ScheduledHistory extends AsyncDisposable {
  /** What `rankline status` says in the folder at the end. */
  readonly status: StatusDocument
  /** What was logged, each line with its instant. */
  readonly lines: readonly string[]
  /** Credits that the service has charged. */
  readonly charged: number
  /** What the file of messages holds, in its order. */
  readonly told: readonly (Told & { readonly id: string })[]
  readonly received: readonly Received[]
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
  const receiver = await startReceiver(now)
  process.env.RECEIVER_URL = receiver.url

  const happening = (incident: Incident): TimedEvent => ({
    at: Date.parse(incident.at),
    happens: async () => {
      if ('sandbox' in incident) sandbox.control(incident.sandbox)
      else if ('file' in incident) await writeFile(join(jobs, incident.file), incident.text)
      else if ('offUntil' in incident) {
        off = incident.offUntil
        controller.abort(new StopRequested())
      } else if ('receiver' in incident) receiver.status = incident.receiver
      else clock?.jump(Date.parse(incident.suspendedUntil) - now())
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
  const flags = { db, baseUrl: sandbox.url, apiKeyFile: key, maxOutage: '1s' }
  const printed = jobStarts.printedMistakes(null)
  const collect = dueCollector(flags, terminal, clock, printed)
  const probe = serviceAsker(flags, clock)
  await mkdir(jobs)
  for (const [name, text] of Object.entries(time.files)) await writeFile(join(jobs, name), text)
  const sendMessages = sendWithoutRun({
    ...{ database: db, log: (line: string) => log(line) },
    clock: { wall: now, monotonic: clock.monotonic },
    outgoing: () => outgoing(false),
  })
  for (;;) {
    off = null
    controller = new AbortController()
    await runScheduler({
      clock: lookingAt(clock, time.looks, db),
      jobFiles: scheduledFiles.watch({ named: [], folder: jobs }, (line) => {
        printed.isNew(line)
        log(line)
      }),
      askService: () => working(probe),
      collect: (forms, stop, isTrial) => working(() => collect(forms, stop, isTrial)),
      onWake: (known) => working(() => sendMessages(known.map(({ settings }) => settings))),
      log,
      stop: controller.signal,
      longestSleepMs: dayMs,
    })
    if (off === null) break
    jump(Date.parse(off) - now())
  }
  const file = await readFile(join(jobs, 'told.jsonl'), 'utf8').catch(() => '')
  return {
    status: await statusIn(jobs, db, now()),
    lines,
    told: file.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)])),
    received: receiver.received,
    charged: sandbox.ledger.charged,
    sql: <T>(text: string) => query<T>(db, text),
    [Symbol.asyncDispose]: async () => {
      delete process.env.RECEIVER_URL
      receiver.close()
      await sandbox.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function statusIn(folder: string, db: string, now: number): Promise<StatusDocument> {
  const before = process.cwd()
  process.chdir(folder)
  try {
    return statusDocument(await gatherStatus({ db }, now))
  } finally {
    process.chdir(before)
  }
}

/** A web server that takes webhooks, while its status is a good one. */
async function startReceiver(now: () => number) {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { status } = receiver
      const told = JSON.parse(Buffer.concat(chunks).toString('utf8'))
      received.push({ id: String(request.headers['webhook-id']), at: now(), status, told })
      response.writeHead(status).end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const receiver = {
    ...{ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received, status: 200 },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
  return receiver
}

/** How often a scheduler looks. */
const lookMs = 30_000

/**
 * A clock for a scheduler that looks twice a minute: the looks between which nothing can happen are left out. A look is kept where
 * the test asks for one, and where a message may be tried again.
 */
function lookingAt(clock: Clock, looks: readonly number[], db: string): Clock {
  const tryAt = "SELECT min(next_try_at) AS at FROM outbox WHERE state = 'waiting'"
  return {
    ...clock,
    after: (ms, ring) => {
      const now = clock.wall()
      const next = looks.find((at) => at > now) ?? Number.POSITIVE_INFINITY
      const retry = query<{ at: number | null }>(db, tryAt)[0]?.at ?? Number.POSITIVE_INFINITY
      const wait = Math.min(next - now, Math.ceil(Math.max(1, retry - now) / lookMs) * lookMs)
      return clock.after(Math.min(ms, wait), ring)
    },
  }
}
