import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { openPostgres } from '../../src/machines/postgres/connection.ts'
import { type Measured, measured, measuredScript } from '../measured.ts'
import type { Seen, Service } from './seen.ts'

/** A worker in a process of its own. */
export interface BenchWorker {
  readonly process: ChildProcess
  /** What it took; null where it was killed. */
  readonly ended: Promise<Measured | null>
}

export interface BenchService extends Disposable {
  /** What processes need to know of it. */
  readonly environment: NodeJS.ProcessEnv
  /** What it saw since it was asked last. */
  seen(): Promise<Seen>
}

export const usualConcurrency = 16
const lookEveryMs = 50

export async function startService(service: Service): Promise<BenchService> {
  const server = fork('dist/bench/machines/service.js', [JSON.stringify(service)])
  const [port] = (await once(server, 'message')) as [number]
  return {
    environment: {
      RANKLINE_BASE_URL: `http://127.0.0.1:${port}`,
      RANKLINE_API_KEY: `bench-machines-${process.pid}`,
    },
    seen: async () => {
      server.send('what did you see?')
      const [seen] = (await once(server, 'message')) as [Seen]
      return seen
    },
    [Symbol.dispose]: () => server.disconnect(),
  }
}

/** Starts workers and waits until the queue knows them. */
export async function startWorkers(
  count: number,
  queue: string,
  environment: NodeJS.ProcessEnv,
  flags: readonly string[] = [],
): Promise<readonly BenchWorker[]> {
  const args = ['--queue', queue, '--concurrency', String(usualConcurrency), ...flags]
  const workers = await Promise.all(Array.from({ length: count }, () => startWorker(args, environment)))
  await using postgres = await openPostgres(queue)
  for (let up = 0; up < count; await pause(lookEveryMs)) {
    const rows = await postgres
      .query<{ up: number }>('SELECT count(*)::int AS up FROM rankline.workers')
      // The first of them lays the tables out.
      .catch(() => [])
    up = rows[0]?.up ?? 0
  }
  return workers
}

/** Workers never end by themselves, and would outlive a benchmark that fails. */
const alive = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL')
})

function startWorker(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<BenchWorker> {
  return new Promise((resolve) => {
    let worker: ChildProcess | null = null
    const watch = async (child: ChildProcess): Promise<void> => {
      worker = child
      alive.add(child)
      await pause(0)
      resolve({ process: child, ended })
    }
    const ended = measuredScript('dist/cli.js', ['worker', ...args], environment, { watch }).catch(
      (error: unknown) => {
        if (worker?.signalCode === 'SIGKILL') return null
        throw error
      },
    )
  })
}

/** Ends workers as a service manager does; what they took. */
export async function endWorkers(workers: readonly BenchWorker[]): Promise<readonly Measured[]> {
  for (const { process } of workers) process.kill('SIGTERM')
  const took = await Promise.all(workers.map(({ ended }) => ended))
  return took.filter((one) => one !== null)
}

/** Writes a job of so many queries, and runs it. With a queue its calls are made by workers. */
export async function runJob(
  folder: string,
  calls: number,
  environment: NodeJS.ProcessEnv,
  flags: readonly string[],
): Promise<Measured> {
  const job = join(folder, `job-${crypto.randomUUID()}`)
  const queries = Array.from({ length: calls }, (_, id) => `query ${id + 1}`)
  await writeFile(`${job}.csv`, `query\n${queries.join('\n')}\n`)
  return await measured(
    ['run', `${job}.csv`, '--operation', 'alpha.search', '--db', `${job}.db`, ...flags],
    environment,
  )
}
