import { setTimeout as pause } from 'node:timers/promises'
import { openPostgres, type Postgres } from '../../src/machines/postgres/connection.ts'
import { endWorkers, runJob, startService, startWorkers } from './fleet.ts'
import { type CountingPostgres, urlFor } from './queue.ts'
import type { Service } from './seen.ts'

/** What became of the chunks of a worker that was killed. */
export interface Takeover {
  readonly chunks: number
  /** Seconds from its death until another worker had the last of them, and until that was done. */
  readonly takenAfter: number
  readonly doneAfter: number
  /** Calls that were under way when it was killed. */
  readonly inDoubt: number
}

export interface TakeoverOptions {
  readonly postgres: CountingPostgres
  readonly service: Service
  readonly folder: string
  readonly calls: number
  /** Null for the usual one. */
  readonly leaseSeconds: number | null
}

const lookEveryMs = 50

/** Runs that are begun at most until one of them gives the worker something to do that is to be killed. */
const mostRuns = 10

/** Kills one of two workers while it buys. */
export async function takeover(options: TakeoverOptions): Promise<Takeover> {
  for (let run = 1; run <= mostRuns; run++) {
    const killed = await killOneWorker(options)
    if (killed !== null) return killed
  }
  throw new Error(`in ${mostRuns} runs the worker that is to be killed bought nothing`)
}

/** Null where the other worker had done everything before this one began. */
async function killOneWorker(options: TakeoverOptions): Promise<Takeover | null> {
  const { postgres, service, folder, calls, leaseSeconds } = options
  using server = await startService(service)
  const database = await postgres.database()
  const flags = leaseSeconds === null ? [] : ['--lease', `${leaseSeconds}s`]
  const queue = urlFor('worker', postgres.port, database)
  const workers = await startWorkers(2, queue, server.environment, flags)
  const [victim] = workers
  await using journal = await openPostgres(urlFor('coordinator', postgres.port, database))
  const running = runJob(folder, calls, server.environment, ['--queue', queue])
  let isOver = false
  const ended = running.finally(() => {
    isOver = true
  })
  const pid = victim?.process.pid as number
  while (!(await buys(journal, pid))) {
    if (isOver) {
      await ended
      await endWorkers(workers)
      return null
    }
    await pause(lookEveryMs)
  }
  victim?.process.kill('SIGKILL')
  const killedAt = performance.now()
  const chunks = await chunksOf(journal, pid)
  const after = () => (performance.now() - killedAt) / 1000
  while (!(await areTaken(journal, chunks))) await pause(lookEveryMs)
  const takenAfter = after()
  while (!(await areDone(journal, chunks))) await pause(lookEveryMs)
  const doneAfter = after()
  await ended
  await endWorkers(workers)
  const [lost] = await journal.query<{ calls: number }>(
    `SELECT count(*)::int AS calls FROM rankline.calls WHERE outcome = 'ambiguous'`,
  )
  return { chunks: chunks.length, takenAfter, doneAfter, inDoubt: lost?.calls ?? 0 }
}

interface Held {
  readonly id: number
  readonly fence: number
}

/** Workers are called by the number of their process. */
const ofProcess = `c.state = 'leased' AND c.worker = w.id AND w.name LIKE '%process ' || $1::text`

/** Whether it has calls under way in chunks that others could take over. */
async function buys(journal: Postgres, pid: number): Promise<boolean> {
  const rows = await journal.query(
    `SELECT c.id FROM rankline.chunks c JOIN rankline.workers w ON ${ofProcess}
    WHERE EXISTS (SELECT 1 FROM rankline.calls WHERE chunk_id = c.id AND outcome = 'answered')`,
    [pid],
  )
  return rows.length > 0
}

async function chunksOf(journal: Postgres, pid: number): Promise<readonly Held[]> {
  return await journal.query<Held>(
    `SELECT c.id, c.fence FROM rankline.chunks c JOIN rankline.workers w ON ${ofProcess}`,
    [pid],
  )
}

async function areTaken(journal: Postgres, chunks: readonly Held[]): Promise<boolean> {
  const rows = await journal.query(
    `SELECT c.id FROM rankline.chunks c JOIN jsonb_to_recordset($1::jsonb) AS h(id bigint, fence integer)
      ON h.id = c.id AND h.fence < c.fence`,
    [JSON.stringify(chunks)],
  )
  return rows.length === chunks.length
}

async function areDone(journal: Postgres, chunks: readonly Held[]): Promise<boolean> {
  const rows = await journal.query(
    `SELECT id FROM rankline.chunks WHERE id = ANY ($1::bigint[]) AND state = 'done'`,
    [chunks.map(({ id }) => id)],
  )
  return rows.length === chunks.length
}
