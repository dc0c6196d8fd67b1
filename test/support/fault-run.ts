import { writeFile } from 'node:fs/promises'
import { join as joinPath } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { runLines } from '../../src/cli/progress.ts'
import { type StopSignal, stopSignal } from '../../src/collect/stop.ts'
import { RanklineError } from '../../src/model/errors.ts'
import type { FinishReason, StopCause } from '../../src/model/run.ts'
import { type App, connections } from '../../src/run/app.ts'
import { collections, planning } from '../../src/run/run-jobs.ts'
import type { Sandbox } from '../../src/sandbox/server.ts'
import type { LedgerEntry } from '../../src/sandbox/state.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import type { FastClock } from './fast-clock.ts'
import { apiKey, type FaultCase, type Go } from './fault-cases.ts'
import type { JobFile } from './fault-jobs.ts'
import { type Life, newLife } from './life.ts'
import { liveAs, mortalClock, mortalStore } from './mortal.ts'
import { type CallRow, query } from './stored-rows.ts'
import { aTerminal } from './terminal.ts'

/** What became of one process. */
export interface GoEnd {
  readonly end: 'died' | 'full' | 'ended' | 'hung'
  /** Numbers of its requests among those that the sandbox saw. */
  readonly requests: { readonly from: number; readonly until: number }
  /** Requests that left, as far as the process knew. */
  readonly sent: number
  /** Numbers of its calls in the ledger. */
  readonly calls: { readonly from: number; readonly until: number }
  /** Why each run of it ended; null for those that did not. */
  readonly reasons: readonly (FinishReason | null)[]
  /** Why it stopped before it was through; null where it did not. */
  readonly stopped: StopCause['reason'] | null
}

/** Everything that happened in a case so far. */
export interface Story {
  readonly case: FaultCase
  /** The database. */
  readonly path: string
  /** As they were written last. */
  readonly jobs: readonly JobFile[]
  readonly goes: readonly GoEnd[]
  readonly requests: readonly LedgerEntry[]
  /** The ledger of calls. */
  readonly calls: readonly CallRow[]
  /** Credits. */
  readonly charged: number
}

export interface Stage {
  readonly case: FaultCase
  readonly folder: string
  readonly sandbox: Sandbox
  readonly clock: FastClock
  /** Exchanges so far, by all processes. */
  readonly isUnreachable: () => boolean
}

const timeoutMs = 120
/** Of real time; a process that takes longer waits for something that never comes. */
const longestGoMs = 20_000
const silent = aTerminal()

export const databaseOf = ({ folder }: Pick<Stage, 'folder'>): string => joinPath(folder, 'rankline.db')

/** Lets one process work on the jobs, as `rankline run` does, until it ends or is killed. */
export async function letGo(stage: Stage, jobs: readonly JobFile[], go: Go): Promise<GoEnd> {
  const { sandbox } = stage
  const path = databaseOf(stage)
  const stop = stopSignal()
  const life = newLife({
    path,
    interruption: go.interruption,
    stop: () => stop.request({ reason: 'interrupted', message: 'Interrupted.' }),
    isUnreachable: stage.isUnreachable,
  })
  const [firstRequest, firstCall] = [sandbox.ledger.requests.length, lastCall(path)]
  const files = await writeJobs(stage.folder, jobs)
  const end = await Promise.race([
    work(stage, { life, stop, files, fresh: go.fresh }),
    life.death,
    sleep(longestGoMs, 'hung' as const, { ref: false }),
  ])
  liveAs(null)
  if (end === 'died' || end === 'hung') await life.bury()
  await arrived(sandbox, firstRequest + life.sent())
  return {
    end: life.wasFull() ? 'full' : end,
    requests: { from: firstRequest, until: sandbox.ledger.requests.length },
    sent: life.sent(),
    calls: { from: firstCall + 1, until: lastCall(path) },
    reasons: newestRuns(path).map(({ reason }) => reason),
    stopped: stop.cause()?.reason ?? null,
  }
}

interface Work {
  readonly life: Life
  readonly stop: StopSignal
  readonly files: readonly string[]
  readonly fresh: boolean
}

async function work(stage: Stage, { life, stop, files, fresh }: Work): Promise<'ended'> {
  const connection = await connectAs(life, stage)
  try {
    const planned = await life.guard(
      planning.runs(connection, { job: files, fresh }, runLines.planEvents(silent), null),
    )
    if (planned === null) throw new Error('the job files are not accepted')
    const { concurrency } = stage.case
    await life.guard(
      collections.finish(connection, planned.listed, { ...collections.usual, concurrency, stop }),
    )
  } catch (error) {
    if (!(error instanceof RanklineError && life.wasFull())) throw error
  } finally {
    if (!life.isDead()) await connection[Symbol.asyncDispose]()
  }
  return 'ended'
}

async function connectAs(life: Life, { sandbox, clock, ...stage }: Stage): Promise<App> {
  liveAs(life)
  const store = mortalStore(await openStore(databaseOf(stage)), life)
  const settings = { baseUrl: sandbox.url, apiKey }
  return await connections.join(
    { store, database: databaseOf(stage) },
    settings,
    timeoutMs,
    mortalClock(clock, life),
  )
}

async function writeJobs(folder: string, jobs: readonly JobFile[]): Promise<readonly string[]> {
  const written = jobs.map(async (job) => {
    const file = joinPath(folder, `${job.name}.yaml`)
    await writeFile(file, JSON.stringify(job))
    return file
  })
  return await Promise.all(written)
}

/** Waits, not for ever, until the sandbox has seen as many requests. */
async function arrived({ ledger }: Sandbox, requests: number): Promise<void> {
  for (let patience = 200; patience > 0 && ledger.requests.length < requests; patience--) await sleep(1)
}

function lastCall(path: string): number {
  const [last] = query<{ id: number | null }>(path, 'SELECT max(id) AS id FROM calls_')
  return last?.id ?? 0
}

/** The newest run of each job. */
export function newestRuns(path: string) {
  return query<{ job: string; reason: FinishReason | null }>(
    path,
    `SELECT job, finish_reason AS reason FROM runs_
    WHERE id IN (SELECT max(id) FROM runs_ GROUP BY job) ORDER BY job`,
  )
}
