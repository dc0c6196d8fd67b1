import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type RanklineError, UsageError } from '../../model/errors.ts'
import { isComplete } from '../../model/run.ts'
import { isLoopback } from '../../model/url.ts'
import type { NotifySettings } from '../../run/config.ts'
import { localTime } from '../../schedule/slots.ts'
import type { ScheduledJobState } from './scheduler.ts'

/** What `/health` answers with. Instants are ISO 8601, UTC. */
export interface HealthDocument {
  /** `failing` where the last check of some job failed, its last run could not be finished, or its file has mistakes. */
  readonly status: 'ok' | 'failing'
  readonly version: string
  readonly up_since: string
  readonly jobs: readonly {
    readonly job: string
    readonly file: string
    readonly next: { readonly at: string; readonly local: string; readonly zone: string } | null
    readonly last_run: {
      readonly run: number
      readonly finish_reason: string | null
      readonly finished_at: string | null
    } | null
    readonly problem: string | null
  }[]
}

export function healthDocument(
  jobs: readonly ScheduledJobState[],
  { version, upSince }: { readonly version: string; readonly upSince: number },
): HealthDocument {
  const isWell = ({ last, problem }: ScheduledJobState): boolean =>
    problem === null && (last === null || last.run === null || isComplete(last.finishReason))
  return {
    status: jobs.every(isWell) ? 'ok' : 'failing',
    version,
    up_since: iso(upSince),
    jobs: jobs.map(({ job, file, next, zone, last, problem }) => ({
      job,
      file,
      next: next === null ? null : { at: iso(next), local: localTime(next, zone), zone },
      last_run:
        last === null || last.run === null
          ? null
          : {
              run: last.run,
              finish_reason: last.finishReason,
              finished_at: last.finishedAt === null ? null : iso(last.finishedAt),
            },
      problem,
    })),
  }
}

function iso(instant: number): string {
  return new Date(instant).toISOString()
}

/** Answers `GET /health` on this machine alone: 200, or 503 where something is failing. Port 0 takes a free one. */
export async function serveHealth(port: number, document: () => { readonly status: 'ok' | 'failing' }) {
  const server = createServer((request, response) => {
    const { method, url, headers } = request
    const answer = (status: number, body: object): void => {
      const text = `${JSON.stringify(body, null, 2)}\n`
      response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
      response.end(method === 'HEAD' ? undefined : text)
    }
    // The page of another site can have its own name lead here.
    const host = headers.host?.replace(/:\d+$/, '') ?? ''
    if (!isLoopback(host)) return answer(403, { error: 'Ask for 127.0.0.1 or localhost' })
    if (url?.split('?')[0] !== '/health' || (method !== 'GET' && method !== 'HEAD'))
      return answer(404, { error: 'There is only GET /health' })
    const shown = document()
    answer(shown.status === 'ok' ? 200 : 503, shown)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(notListening(port, error)))
    server.listen(port, '127.0.0.1', resolve)
  })
  const { port: taken } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${taken}/health`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function notListening(port: number, error: NodeJS.ErrnoException): RanklineError {
  if (error.code === 'EADDRINUSE')
    return new UsageError(`Port ${port} is taken. Give --health another one, or 0 for a free one`)
  return new UsageError(`Port ${port} cannot be used (${error.code}). Give --health another one`)
}

/**
 * Tells systemd through its own program: Node has no datagram sockets. Does nothing where no service manager listens.
 *
 * @param log called once, with a line, where that program cannot be started
 */
export function serviceManager(settings: NotifySettings | null, log: (line: string) => void) {
  if (settings === null) return { up: (_: string) => {}, stopping: () => {}, [Symbol.dispose]: () => {} }
  const { env, watchdogMs } = settings
  // Versions before 246 do not know the option.
  let options: readonly string[] = ['--no-block']
  let hasFailed = false
  let status = ''

  const tell = (...messages: readonly string[]): void => {
    const child = spawn('systemd-notify', [...options, ...messages], { stdio: 'ignore', env })
    child.on('error', (error) => {
      if (!hasFailed)
        log(`systemd-notify cannot be started (${error.message}), so systemd is not told of anything.`)
      hasFailed = true
    })
    child.on('exit', (code) => {
      if (code === 0 || options.length === 0) return
      options = []
      tell(...messages)
    })
  }
  // A message can get lost where its sender ends before systemd has looked at it: each one says again that the service is up.
  const tellUp = (): void => tell('--ready', `--status=${status}`, 'WATCHDOG=1')
  // Three times in the interval that systemd waits for.
  const alive = watchdogMs === null ? undefined : setInterval(tellUp, watchdogMs / 3).unref()

  return {
    /** The service is up; what it waits for is its status. */
    up: (now: string) => {
      status = now
      tellUp()
    },
    stopping: () => {
      clearInterval(alive)
      tell('STOPPING=1')
    },
    [Symbol.dispose]: () => clearInterval(alive),
  }
}
