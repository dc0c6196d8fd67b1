import type { Clock } from '../model/clock.ts'
import type { Run } from '../model/run.ts'
import type { Task } from '../model/task.ts'
import type { Store } from '../store/store.ts'
import { openBatches } from './batches.ts'
import { type Earlier, openBooks, settlingMs } from './books.ts'
import { weigh } from './follow.ts'
import { openPool } from './pool.ts'
import { AccountUnknown } from './read-account.ts'
import { reader } from './reading.ts'
import type { Service } from './service.ts'
import { type Stop, Stopped } from './stop.ts'
import { inFlightTwins } from './twins.ts'
import { type TaskEnd, worker } from './work.ts'

export interface CollectParts {
  readonly store: Store
  readonly service: Service
  readonly clock: Clock
  readonly random: () => number
  /** Names the key without giving it away. */
  readonly keyHash: string
  readonly stop: Stop
  /** Calls in the air at once; null leaves it to the rate limit. */
  readonly concurrency: number | null
  readonly onProgress: (progress: Progress) => void
}

/** How far a collection is. */
export interface Progress {
  readonly planned: number
  readonly done: number
  readonly failed: number
  /** Credits billed to these runs, earlier continuations counted. */
  readonly spent: number
  /** Credits left, as far as known. */
  readonly balance: number | null
}

/** What a collection came to, beside what the store says of its runs. */
export interface Collected {
  readonly balanceBefore: number | null
  readonly balanceAfter: number | null
  /** Runs that stopped because their own budget covers nothing more. */
  readonly overBudget: ReadonlySet<number>
}

/**
 * Works through the open tasks of these runs until none is left, nothing more is covered, or the stop is asked
 * for. What was paid for is awaited and stored in every case. Rejected only for what nobody foresaw.
 *
 * @param leftovers closed runs, of which only answers are read and jobs polled
 */
export async function collect(
  parts: CollectParts,
  runs: readonly Run[],
  leftovers: readonly Run[],
): Promise<Collected> {
  const { store, stop } = parts
  const runIds = runs.map(({ id }) => id)
  const all = [...runs, ...leftovers]
  const allIds = all.map(({ id }) => id)
  const books = openBooks(all, await spentBefore(parts, allIds), parts.clock)
  const batches = openBatches(parts, runs, books)
  const counters = await openCounters(store, runIds)
  const progress = () => parts.onProgress({ ...counters, spent: books.spent(), balance: books.balance() })
  const pool = openPool(stop)
  const runsById = new Map(all.map((run) => [run.id, run]))
  const reads = reader({
    store,
    runs: runsById,
    onSettled: (end, effect) => {
      counters[end] += 1
      counters.planned += effect.added - effect.skipped
      progress()
    },
    background: pool.background,
  })
  const work = worker({ ...parts, books, runs: runsById, reader: reads })
  const twins = inFlightTwins(runIds.length > 1, {
    buy: work.buy,
    reuse: reads.reuse,
    stored: store.groupAnswer,
  })

  const attempt = async (begin: () => Promise<TaskEnd>): Promise<TaskEnd> => {
    try {
      return stop.cause() === null ? await begin() : 'open'
    } catch (error) {
      if (error instanceof Stopped) return 'open'
      throw error
    }
  }
  /** Works on a task in a slot of the pool; its credits are reserved until it ends. */
  const perform = (task: Task, begin: () => Promise<TaskEnd>): void => {
    if (task.reusable === null) books.reserve(task)
    pool.add(task, () => settle(task, begin))
  }
  const settle = async (task: Task, begin: () => Promise<TaskEnd>): Promise<void> => {
    const end = await attempt(begin)
    // What was given back may be in work again already.
    if (end === 'given-back') return
    books.release(task)
    if (end === 'open') await store.release([task.id])
  }

  try {
    await catchUp(store, allIds, reads.readStored)
    await batches.start()
    pool.setConcurrency(parts.concurrency ?? batches.concurrency())
    progress()
    // Accepted jobs first: polling them is free.
    for (const { task, ...job } of await store.acceptedJobs(allIds)) perform(task, () => work.goOn(task, job))
    await feed()
  } catch (error) {
    if (error instanceof AccountUnknown) stop.request(error.stop)
    else if (!(error instanceof Stopped)) pool.fail(error)
  }
  const left = await pool.drain()
  await store.release(left.map(({ id }) => id))
  pool.rethrow()
  return { ...(await batches.end()), overBudget: batches.overBudget() }

  /** Hands tasks to the pool as they are let through, never far ahead of what it can take. */
  async function feed(): Promise<void> {
    while (stop.cause() === null) {
      const changes = pool.changes()
      const tasks = await batches.next(pool.busy)
      if (tasks === null) return
      if (tasks.length === 0) await pool.changeAfter(changes)
      for (const task of tasks) perform(task, () => twins.run(task))
      await pool.room()
    }
  }
}

async function spentBefore({ store, clock }: CollectParts, runIds: readonly number[]): Promise<Earlier> {
  const now = clock.wall()
  const entries = runIds.map(async (id) => [id, await store.creditsOf([id])] as const)
  const unsure = await store.ambiguousSince(now - settlingMs)
  return {
    byRun: new Map(await Promise.all(entries)),
    unsure: unsure.map(({ credits, endedAt }) => ({ credits, age: Math.max(0, now - endedAt) })),
  }
}

interface Counters {
  planned: number
  done: number
  failed: number
}

async function openCounters(store: Store, runIds: readonly number[]): Promise<Counters> {
  const tallies = await Promise.all(runIds.map((id) => store.tally(id)))
  const sum = (of: keyof Counters): number => tallies.reduce((total, { tasks }) => total + tasks[of], 0)
  return { planned: sum('planned'), done: sum('done'), failed: sum('failed') }
}

/** Reads the answers that a dead process had stored, and weighs the stored pages for targets that are new. */
async function catchUp(
  store: Store,
  runIds: readonly number[],
  readStored: (task: Awaited<ReturnType<Store['answeredTasks']>>[number]) => Promise<void>,
): Promise<void> {
  for (const task of await store.answeredTasks(runIds)) await readStored(task)
  for (const { runId, queryId } of await store.unobserved(runIds))
    await store.understand({
      taskId: null,
      runId,
      queryId,
      outcome: 'as-stored',
      follow: (query) => ({ ...weigh(query), paging: null }),
    })
}
