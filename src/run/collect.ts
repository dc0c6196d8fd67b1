import { billableOperation } from '../catalog/index.ts'
import type { Clock } from '../model/clock.ts'
import { settlingMs } from '../model/ledger.ts'
import type { Run } from '../model/run.ts'
import type { Task } from '../model/task.ts'
import type { LeftOut } from '../store/calls.ts'
import type { CollectStore, Space } from '../store/store.ts'
import { openBatches } from './batches.ts'
import { type Earlier, type MoneyLimit, openBooks } from './books.ts'
import { type Breaker, type Change, openBreaker } from './breaker.ts'
import { openCounters } from './counters.ts'
import { feed } from './feed.ts'
import type { Filer, Settled } from './filer.ts'
import { watchHealth } from './health.ts'
import type { Keeper } from './keeper.ts'
import { openPool } from './pool.ts'
import { AccountUnknown } from './read-account.ts'
import { reader } from './reading.ts'
import { watchRefusals } from './refused.ts'
import type { Service } from './service.ts'
import { abortedWith, type Stop, Stopped } from './stop.ts'
import { diskFull } from './stop-causes.ts'
import type { TaskEnd } from './task-end.ts'
import { inFlightTwins } from './twins.ts'
import { worker } from './work.ts'

export interface CollectParts {
  readonly store: CollectStore
  readonly space: Omit<Space, 'isExhausted'>
  /** Opens what arrives and has it filed. */
  readonly keeper: Keeper
  /** Files the answers for these runs and leftovers, in the same database. */
  readonly filer: Filer
  readonly service: Service
  readonly clock: Clock
  readonly random: () => number
  /** Names the key without giving it away. */
  readonly keyHash: string
  readonly stop: Stop
  /** Calls in the air at once; null leaves it to the rate limit. */
  readonly concurrency: number | null
  /** How long a service, or an engine of it, that is down is waited for. */
  readonly maxOutageMs: number
  /** How long refusals of the rate are waited out. */
  readonly maxThrottlingMs: number
  /** Leave out what is worth least, so that the balance covers the rest. */
  readonly fitBalance: boolean
  readonly onProgress: (progress: Progress) => void
  /** Tells what people should know while it goes on. */
  readonly notice: (words: string) => void
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
  /** Runs that lack something because a limit covers no more. */
  readonly limits: ReadonlyMap<number, MoneyLimit>
  /** What was left out of the runs so that the balance covers the rest. */
  readonly leftOut: readonly LeftOut[]
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
  const { store, space, filer, stop } = parts
  const runIds = runs.map(({ id }) => id)
  const all = [...runs, ...leftovers]
  const allIds = all.map(({ id }) => id)
  const books = openBooks(all, await spentBefore(parts, allIds), parts.clock)
  /** Free lookups that only help to decide what is sent next: nothing waits for them once nothing more is. */
  const lookups = abortedWith(stop.signal)
  const batches = openBatches({ ...parts, signal: lookups.signal }, runs, books)
  const counters = await openCounters(store, runIds)
  const progress = () => parts.onProgress({ ...counters, spent: books.spent(), balance: books.balance() })
  const pool = openPool(stop, parts.clock)
  const breaker = await breakerFor(parts, runIds)
  const { background, aside } = pool
  const health = watchHealth({ ...parts, breaker, signal: lookups.signal, background: aside })
  const refusals = watchRefusals({ ...parts, quota: batches.quota, lookAgain: batches.readAgain })
  let leftOut: readonly LeftOut[] = []
  const onSettled = ({ end, effect }: Settled): void => {
    counters[end] += 1
    counters.planned += effect.added - effect.skipped
    progress()
  }
  const onDamaged = damageReport(parts.notice)
  const reads = reader({ ...parts, onSettled, onBought: health.answered, onDamaged, background })
  const runsById = new Map(all.map((run) => [run.id, run]))
  const work = worker({ ...parts, books, runs: runsById, reader: reads, health, refusals })
  const twins = inFlightTwins(runIds.length > 1, {
    buy: work.buy,
    reuse: reads.reuse,
    stored: store.groupAnswer,
  })

  const attempt = async (begin: () => Promise<TaskEnd>): Promise<TaskEnd> => {
    try {
      return await begin()
    } catch (error) {
      if (error instanceof Stopped) return 'open'
      throw error
    }
  }
  /** Works on a task in a slot of the pool; its credits stay reserved until it ends. */
  const perform = (task: Task, begin: () => Promise<TaskEnd>): void => {
    // Let through before the engine went down: it waits with the others.
    const admitted = (): boolean =>
      stop.cause() === null && (task.reusable !== null || !health.isDown(task) || breaker.isProbe(task.id))
    pool.add(task, () => settle(task, async () => (admitted() ? await begin() : 'open')))
  }
  const settle = async (task: Task, begin: () => Promise<TaskEnd>): Promise<void> => {
    const end = await attempt(begin)
    breaker.gone(task.id)
    // The service works on it: its slot is free, its credits stay reserved.
    if (typeof end === 'object' && 'follows' in end) return background(settle(task, () => end.follows))
    // What was given back may be in work again already.
    if (end === 'given-back') return
    books.release(task)
    if (end === 'open') await store.release([task.id])
  }

  try {
    const { settled, damaged } = await filer.catchUp(allIds)
    settled.forEach(onSettled)
    damaged.forEach(onDamaged)
    await batches.start()
    const slots = parts.concurrency ?? batches.concurrency()
    void space.whenFull().then(
      () => stop.request(diskFull),
      () => {}, // Whoever it is that breaks hears of it by what is in work.
    )
    await space.hold(slots)
    pool.setConcurrency(slots)
    progress()
    // Accepted jobs first: polling them is free.
    for (const { task, ...job } of await store.acceptedJobs(allIds)) {
      books.reserve(task)
      const goOn = () => work.goOn(task, job)
      // What closed runs still get is theirs alone.
      background(settle(task, () => (runIds.includes(task.runId) ? twins.goOn(task, goOn) : goOn())))
    }
    if (parts.fitBalance) leftOut = await batches.fit()
    await feed({
      batches,
      breaker,
      pool,
      stop,
      hasPending: () => store.hasPending(runIds),
      isDiskFull: space.isLow,
      perform: (task) => perform(task, () => twins.run(task)),
    })
  } catch (error) {
    if (error instanceof AccountUnknown) stop.request(error.stop)
    else if (!(error instanceof Stopped)) pool.fail(error)
  }
  lookups.abort(new Stopped())
  const left = await pool.drain()
  // Nothing is in the air any more: what is left of the reserve is for ending well.
  await space.letGo()
  try {
    await store.release(left.map(({ id }) => id))
  } catch (error) {
    // The run that goes on lets them wait again.
    pool.fail(error)
  }
  pool.rethrow()
  return { ...(await batches.end()), limits: batches.limits(), leftOut }
}

async function breakerFor(
  { store, clock, maxOutageMs, notice }: CollectParts,
  runIds: readonly number[],
): Promise<Breaker> {
  const worked = await store.operationsBilled(runIds)
  const breaker = openBreaker({
    clock,
    maxOutageMs,
    up: worked.map((operation) => billableOperation(operation).engine),
    onChange: (name, change) => notice(changeWords(name, change, breaker.unusable(name).problem)),
  })
  for (const operation of await store.operationsUnusable())
    if ((await store.cheapestPending(runIds, [operation])) !== null) breaker.distrust(operation)
  return breaker
}

function changeWords(name: string, change: Change, problem: string | null): string {
  switch (change) {
    case 'up':
      return `${name} is back.`
    case 'down':
      return `${name} fails on the service's side. New work for it waits; one call at a time finds out when it is back.`
    case 'losing':
      return `Most calls to ${name} are lost before they are answered whole, and may be billed. New work for it waits; a few single calls find out when that has passed.`
    case 'unusable':
      return `${name} answers with something that is not search results: ${problem}. New work for it waits; a few single calls find out when that has passed.`
    case 'distrusted':
      return `The last answers of ${name} could not be used. One call finds out whether that has passed before others follow.`
  }
}

const damagedNamed = 20

/** Tells of each damaged answer once, by its number where they are few. */
function damageReport(notice: (words: string) => void): (answerId: number) => void {
  const known = new Set<number>()
  return (answerId) => {
    if (known.has(answerId)) return
    known.add(answerId)
    if (known.size <= damagedNamed)
      notice(
        `The stored answer ${answerId} is damaged and not used; its page is bought again where the run still needs it.`,
      )
    else if (known.size === damagedNamed + 1)
      notice('More stored answers are damaged. See how many: rankline db check')
  }
}

async function spentBefore({ store, clock }: CollectParts, runIds: readonly number[]): Promise<Earlier> {
  const now = clock.wall()
  const entries = runIds.map(async (id) => [id, await store.creditsOf([id])] as const)
  const unsure = await store.ambiguousSince(now - settlingMs)
  const { credits: inJobs } = await store.openJobsBeside(runIds)
  return {
    byRun: new Map(await Promise.all(entries)),
    unsure: [
      ...unsure.map(({ credits, endedAt }) => ({ credits, age: Math.max(0, now - endedAt) })),
      { credits: inJobs, age: 0 },
    ],
  }
}
