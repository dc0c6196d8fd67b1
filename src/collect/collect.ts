import PQueue from 'p-queue'
import type { ApiClient } from '../api/client.ts'
import { billableOperation, billableOperations, highestPrice } from '../catalog/index.ts'
import { type CreditBudget, creditBudget, type SpendingLimit } from '../ledger/budget.ts'
import {
  type CountedLimit,
  countLimits,
  limitsOfJob,
  type PeriodLimit,
  periodLimits,
} from '../ledger/period-limits.ts'
import { settlingMs, uselessInRow } from '../model/call.ts'
import type { Run, Task } from '../model/run.ts'
import type { Clock } from '../model/time.ts'
import type { SkippedQueries } from '../store/journal.ts'
import type { CollectStore } from '../store/sqlite/open.ts'
import { answerIngest, type TaskResult } from './answers.ts'
import { type Batches, type BatchOptions, openBatches } from './batches.ts'
import {
  type CallCounts,
  type Change,
  type CircuitBreaker,
  callCounts,
  circuitBreakers,
  watchEngines,
} from './circuit-breaker.ts'
import { abortedWith, StopRequested, type StopSignal, stopCauses, watchThrottling } from './stop.ts'
import { taskRunner } from './task.ts'

export interface CollectOptions {
  readonly store: CollectStore
  readonly service: ApiClient
  readonly clock: Clock
  readonly random: () => number
  /** Names the key without giving it away. */
  readonly keyHash: string
  readonly stop: StopSignal
  /** Calls in flight at once; null leaves it to the rate limit. */
  readonly concurrency: number | null
  /** How long a service, or an engine of it, that is down is waited for. */
  readonly maxOutageMs: number
  /** How long rate-limit responses are waited out. */
  readonly maxThrottlingMs: number
  /** Leave out what is worth least, so that the balance covers the rest. */
  readonly fitBalance: boolean
  /** Called some times a second at most. */
  readonly onProgress: (progress: Progress) => void
  /** Prints a line that users should see while it collects. */
  readonly notice: (message: string) => void
  /** Reads the account where another process reads the usage record. */
  readonly readAccount?: BatchOptions['readAccount']
  /** The usage record as it was read just before. */
  readonly opening?: BatchOptions['opening']
  /** Limits of days and months beside those of the jobs: of folders and tags. */
  readonly sharedLimits?: readonly PeriodLimit[] | undefined
  /** Limits of the budget that were reported: each is reported once in its period. */
  readonly reported?: Set<string> | undefined
  /** Counts of useless calls, where several collections share them. */
  readonly counts?: CallCounts
  /** The run that it continues was stopped by unusable answers: one call of each such operation decides whether that has passed. */
  readonly isTrial?: boolean | undefined
}

/** How far a collection is. */
export interface Progress {
  readonly planned: number
  readonly done: number
  readonly failed: number
  /** Credits billed to these runs, earlier processes counted. */
  readonly spent: number
  /** Credits left, as far as known. */
  readonly balance: number | null
}

/** The result of a collection that the store does not hold. */
export interface CollectResult {
  readonly balanceBefore: number | null
  readonly balanceAfter: number | null
  /** Runs that lack something because a limit covers no more. */
  readonly limits: ReadonlyMap<number, SpendingLimit>
  /** Names of the limits of the budget that they have reached. */
  readonly reached: ReadonlyMap<number, ReadonlySet<string>>
  /** What was left out of the runs so that the balance covers the rest. */
  readonly leftOut: readonly SkippedQueries[]
}

/**
 * Works through the open tasks of these runs until none is left, nothing more is covered, or the run stops. Every call
 * that was sent is awaited, and its answer stored. Rejected only for an error of our own.
 *
 * @param closed runs of which only stored answers are read and asynchronous jobs polled
 */
export async function collect(
  options: CollectOptions,
  runs: readonly Run[],
  closed: readonly Run[],
): Promise<CollectResult> {
  const { store, stop, clock, counts = callCounts() } = options
  const runIds = runs.map(({ id }) => id)
  const all = [...runs, ...closed]
  const allIds = all.map(({ id }) => id)
  const pool = taskPool(stop, clock)
  const { background } = pool
  /** For free lookups that only help to decide what is sent next. */
  const lookups = abortedWith(stop.signal)
  const before = await spentBefore(options, allIds)
  const periods = periodLimits(await limitsNow(options, runs), all, clock.wall)
  const budget = creditBudget(all, before, highestPrice, clock, periods)
  const batches = openBatches({ ...options, signal: lookups.signal }, runs, budget)
  const breaker = await openBreakers({ ...options, counts }, runIds)
  const unwatch = counts.watch(pool.nudge)
  const engines = watchEngines({ ...options, breaker, signal: lookups.signal, background: pool.inBackground })
  const throttling = watchThrottling({ ...options, ...batches })
  const progress = await progressReport(options, runIds, budget)
  const onDamaged = damageReport(options.notice)
  const ingest = { store, onSettled: progress.count, onBought: engines.answered, onDamaged, background }
  const answers = answerIngest(ingest, all)
  const work = { ...options, budget, breaker, engines, throttling, answers, background }
  const onLeaving = ({ id }: Task): void => pool.leaving(id)
  const onAnswered = ({ id }: Task): void => pool.answered(id)
  const tasks = taskRunner({ ...work, onLeaving, onAnswered }, runs, closed)
  let leftOut: readonly SkippedQueries[] = []

  try {
    // Stored by an earlier process, and never bought again.
    await answers.catchUp(allIds)
    // Reads the account, which sets the rate limit.
    await batches.start()
    stopWhenFull(store, stop)
    void store.file.whenLost().then(() => stop.request(stopCauses.databaseLost(store.file)))
    const { concurrency } = options
    const atWork = batches.concurrency()
    const usual = concurrency ?? atWork.usual
    // No more answers can be on their way than there are pages to ask for.
    const pages = all.reduce((sum, { plannedMax }) => sum + plannedMax, 0)
    await store.space.reserve(Math.min(usual, pages))
    const lacking = store.space.lacking()
    if (lacking !== null) stop.request(stopCauses.reserveLacks(lacking))
    if (concurrency === null) pool.adaptConcurrency(atWork, store.space.reserve)
    else pool.setConcurrency(concurrency)
    progress.report()
    // Accepted jobs first: polling them is free.
    for (const job of await store.acceptedJobs(allIds)) background(tasks.resumeJob(job))
    if (options.fitBalance) leftOut = await batches.fit()
    await dispatch({
      batches,
      breaker,
      pool,
      stop,
      isDiskFull: store.space.isLow,
      isLost: store.file.isLost,
      hasPending: () => store.hasPending(runIds),
      run: tasks.run,
    })
  } catch (error) {
    pool.fail(error)
  }
  lookups.abort(new StopRequested())
  const waiting = await pool.drain()
  for (const { id } of waiting) breaker.taskEnded(id)
  unwatch()
  // No call is in flight any more: the reserve now serves to store how the run ended.
  await store.space.release()
  // Should that fail, the next process makes these tasks pending again.
  await store.release(waiting.map(({ id }) => id)).catch(pool.fail)
  pool.rethrow()
  const balance = await batches.end()
  for (const line of batches.warnings()) options.notice(line)
  return { ...balance, limits: batches.limits(), reached: batches.reached(), leftOut }
}

/** Takes batches and adds their tasks to the pool, never far ahead of what it can take; ends when no more may be sent. */
export async function dispatch(options: {
  readonly batches: Pick<Batches, 'next' | 'one'>
  readonly breaker: CircuitBreaker
  readonly pool: TaskPool
  readonly stop: StopSignal
  readonly hasPending: () => Promise<boolean>
  readonly isDiskFull: () => Promise<boolean>
  /** Whether the file of the database is lost: the run is being stopped then. */
  readonly isLost: () => boolean
  readonly run: (task: Task) => Promise<void>
}): Promise<void> {
  const { batches, breaker, pool, stop, hasPending, isDiskFull, isLost, run } = options
  const add = (task: Task): void => {
    if (task.reusable === null) breaker.taskBegun(task)
    pool.add(task, () => run(task))
  }
  while (!stop.signal.aborted) {
    if (isLost()) return
    if (await isDiskFull()) return stop.request(stopCauses.diskFull)
    const changes = pool.changes()
    const probe = await nextProbe()
    if (probe !== null) add(probe)
    const operations = operationsOf(breaker.paused(), false)
    // Others may have what is at work of an operation.
    const busy = () => pool.busy() || operations.some((operation) => breaker.roomFor(operation) === 0)
    const batch = await batches.next(operations, busy, breaker.roomFor)
    for (const task of batch ?? []) add(task)
    if (batch === null && !(await enginesMayReturn())) return
    if (batch === null || batch.length === 0)
      await pool.waitForChange(changes, breaker.nextProbeIn() ?? Number.POSITIVE_INFINITY)
    await pool.waitForRoom()
  }

  /** The probe: one task that finds out whether an engine or operation that was down works again. */
  async function nextProbe(): Promise<Task | null> {
    const name = breaker.dueProbe()
    if (name === null) return null
    // An operation whose own breaker is open cannot probe its engine.
    const operations = operationsOf([name], true).filter((one) => one === name || !breaker.isOpen(one))
    const task = await batches.one(operations)
    if (task === null) breaker.delayProbe(name)
    // A stored answer costs nothing and proves nothing.
    else if (task.reusable === null) breaker.probing(name, task.id)
    return task
  }

  /** Where only tasks of engines that are down are left: whether those engines are still waited for. */
  async function enginesMayReturn(): Promise<boolean> {
    if (breaker.paused().length === 0 || !(await hasPending())) return false
    if (pool.busy() || breaker.nextProbeIn() !== null) return true
    stop.request(
      stopCauses.expired(breaker.expired().map((name) => ({ name, wasted: breaker.wasted(name) }))),
    )
    return false
  }
}

/** Operations that are named or whose engine is (`included`), or all others. */
function operationsOf(names: readonly string[], included: boolean): readonly string[] {
  return billableOperations
    .filter(({ engine, name }) => (names.includes(engine) || names.includes(name)) === included)
    .map(({ name }) => name)
}

/** Tasks that work on without a place in the pool (answers being read, jobs being polled), before no new task is taken. */
const maxBackground = 1_024
/** Tasks that wait for the rate limit: enough that the rate never waits for a task. */
const waitingForRate = 8

export type TaskPool = ReturnType<typeof taskPool>

/** The tasks at work, by priority, and the work that goes on without a place in the pool. */
export function taskPool(stop: StopSignal, clock: Pick<Clock, 'after'>) {
  const queue = new PQueue({ concurrency: 1 })
  const waiting = new Map<number, Task>()
  const background = new Set<Promise<void>>()
  const backgroundWork = new Set<Promise<void>>()
  let failure: { readonly error: unknown } | null = null
  /** Tasks added that did not end; the queue's own count changes only after its promises are fulfilled. */
  let inWork = 0
  /** Tasks that do not wait for the rate. */
  const onTheirWay = new Set<number>()
  /** Those of them whose answers are being stored. */
  const storing = new Set<number>()
  /** Where the pool grows and shrinks with the calls on their way: its largest size now, and how that is raised. */
  let adaptive: { most: number; readonly inTheAir: number; readonly widen: () => void } | null = null
  let changes = 0
  let wake: () => void = () => {}

  const fail = (error: unknown): void => {
    if (error instanceof StopRequested) return
    const cause = stopCauses.thrown(error)
    if (cause.reason === 'crashed') failure ??= { error }
    stop.request(cause)
  }
  const changed = (): void => {
    changes += 1
    wake()
  }
  const ended = (): void => {
    inWork -= 1
    changed()
  }
  stop.signal.addEventListener('abort', changed, { once: true })

  const track = (works: Set<Promise<void>>, work: Promise<void>, onEnd: () => void): void => {
    const tracked = work.catch(fail).then(() => {
      works.delete(tracked)
      onEnd()
    })
    works.add(tracked)
  }

  /** Fulfilled once more changes than this were made, or after this many milliseconds. */
  const waitForChange = (seen: number, timeoutMs = Number.POSITIVE_INFINITY): Promise<void> =>
    new Promise((resolve) => {
      const cancel = Number.isFinite(timeoutMs) ? clock.after(timeoutMs, () => wake()) : () => {}
      wake = () => {
        cancel()
        resolve()
      }
      if (changes > seen) wake()
    })

  /** The calls on their way are as many as the rate sends while one is answered, and only some tasks more are taken up. */
  const adapt = (): void => {
    if (adaptive === null) return
    const { most, inTheAir } = adaptive
    const concurrency = Math.min(most, inTheAir + storing.size, onTheirWay.size + waitingForRate)
    // To set it takes as long where it stays the same.
    if (concurrency !== queue.concurrency) queue.concurrency = concurrency
  }

  const leaving = (taskId: number): void => {
    onTheirWay.add(taskId)
    storing.delete(taskId)
    adapt()
  }
  const answered = (taskId: number): void => {
    storing.add(taskId)
    adapt()
  }
  const left = (taskId: number): void => {
    // None waits: the rate would let more through.
    if (adaptive !== null && onTheirWay.size >= adaptive.most) adaptive.widen()
    onTheirWay.delete(taskId)
    storing.delete(taskId)
    adapt()
  }

  return {
    /** Stops the run for an error; `rethrow` throws it where it is one of our own. */
    fail,
    setConcurrency: (concurrency: number): void => {
      queue.concurrency = concurrency
    },
    /**
     * From now on, keeps as many tasks at work as the rate needs.
     *
     * @param reserve asked before there are more than usual, whether there is room for so many answers
     */
    adaptConcurrency: (
      { usual, most, inTheAir }: ReturnType<Batches['concurrency']>,
      reserve: (tasks: number) => Promise<boolean>,
    ): void => {
      let asked = usual
      const now = {
        most: usual,
        inTheAir,
        widen: (): void => {
          const more = Math.min(most, asked * 2)
          if (more === asked) return
          asked = more
          const widened = reserve(more).then((hasRoom) => {
            if (hasRoom) now.most = more
          })
          track(backgroundWork, widened, adapt)
        },
      }
      adaptive = now
      adapt()
    },
    /** Notes that the rate has let the call of a task through, or that it waits for something else than the rate. */
    leaving,
    /** Notes that the answer of a task has come: another call may be in the air while that is stored. */
    answered,
    add: (task: Task, run: () => Promise<void>): void => {
      waiting.set(task.id, task)
      inWork += 1
      const start = (): Promise<void> => {
        waiting.delete(task.id)
        if (task.reusable !== null) leaving(task.id)
        // Errors are handled inside: the queue would start, and pay for, the next task before a handler outside runs.
        return run()
          .catch(fail)
          .finally(() => left(task.id))
      }
      void queue.add(start, { priority: task.priority }).then(ended)
    },
    background: (work: Promise<void>): void => track(background, work, changed),
    /** For free lookups: the run does not wait for them to end. */
    inBackground: (work: Promise<void>): void => track(backgroundWork, work, () => {}),
    busy: (): boolean => inWork + background.size > 0,
    /** Counts tasks that ended, background work that ended, nudges, and the stop. */
    changes: (): number => changes,
    /** There may be more to do. */
    nudge: changed,
    waitForChange,
    /** Fulfilled when the queue can take more, at once when the run stops. */
    waitForRoom: async (): Promise<void> => {
      while (!stop.signal.aborted && background.size > maxBackground) await waitForChange(changes)
      if (!stop.signal.aborted) await queue.onSizeLessThan((adaptive?.most ?? queue.concurrency) + 1)
    },
    /** Waits for what is in work; answers the tasks that were not started. */
    drain: async (): Promise<readonly Task[]> => {
      queue.clear()
      await queue.onIdle()
      while (background.size > 0) await Promise.all(background)
      await Promise.all(backgroundWork)
      return [...waiting.values()]
    },
    rethrow: (): void => {
      if (failure !== null) throw failure.error
    },
  }
}

function stopWhenFull({ space }: Pick<CollectStore, 'space'>, stop: StopSignal): void {
  space.whenFull().then(
    () => stop.request(stopCauses.diskFull),
    // The change that failed reports it.
    () => {},
  )
}

async function openBreakers(
  {
    store,
    clock,
    maxOutageMs,
    notice,
    counts,
    isTrial = false,
  }: CollectOptions & { readonly counts: CallCounts },
  runIds: readonly number[],
): Promise<CircuitBreaker> {
  const worked = await store.operationsBilled(runIds)
  const breaker = circuitBreakers({
    clock,
    maxOutageMs,
    up: worked.map((operation) => billableOperation(operation).engine),
    counts,
    onChange: (name, change) => notice(changeMessage(name, change, breaker.wasted(name).problem)),
  })
  const useless = await store.operationsUnusable()
  for (const operation of new Set([...useless.keys(), ...counts.tooMany()]))
    if ((await store.cheapestPending(runIds, [operation])) !== null)
      // A few queries without usable answers that came last in a run may come first in the next.
      breaker.distrust(operation, isTrial || (useless.get(operation) ?? 0) >= uselessInRow)
  return breaker
}

function changeMessage(name: string, change: Change, problem: string | null): string {
  switch (change) {
    case 'up':
      return `${name} is back.`
    case 'down':
      return `${name} fails on the service's side. New work for it waits; one call at a time finds out when it is back.`
    case 'losing':
      return `Most calls to ${name} are lost before they are answered whole, and may be billed. New work for it waits; a few single calls find out when that has passed.`
    case 'unusable':
      return `${name} answers with something that is not search results: ${problem}. New work for it waits; a few single calls find out when that has passed.`
    case 'useless':
      return `${name} gives no search results: ${problem}. New work for it waits; a few single calls find out when that has passed.`
    case 'distrusted':
      return `The last calls of ${name} brought nothing that can be used. One call finds out whether that has passed before others follow.`
  }
}

const damagedNamed = 20

/** Reports each damaged answer once, by its number where they are few. */
function damageReport(notice: (message: string) => void): (answerId: number) => void {
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

async function spentBefore({ store, clock }: CollectOptions, runIds: readonly number[]) {
  const now = clock.wall()
  const entries = runIds.map(async (id) => [id, await store.creditsOf([id])] as const)
  const ambiguous = await store.ambiguousSince(now - settlingMs)
  const { credits: inJobs } = await store.openJobsOfOthers(runIds)
  return {
    byRun: new Map(await Promise.all(entries)),
    ambiguous: [
      ...ambiguous.map(({ credits, endedAt }) => ({ credits, age: Math.max(0, now - endedAt) })),
      { credits: inJobs, age: 0 },
    ],
  }
}

/** Limits of days and months with what was spent of them. */
async function limitsNow(
  { store, clock, sharedLimits = [] }: CollectOptions,
  runs: readonly Run[],
): Promise<readonly CountedLimit[]> {
  const own = runs.flatMap(({ settings }) => limitsOfJob(settings))
  return await countLimits(store, [...own, ...sharedLimits], clock.wall())
}

const progressEveryMs = 50

/** Counts tasks that end, and reports them at a rate that people can see. */
async function progressReport(
  { store, clock, onProgress }: CollectOptions,
  runIds: readonly number[],
  budget: CreditBudget,
) {
  const counts = await Promise.all(runIds.map((id) => store.taskCounts(id)))
  const sumOf = (state: 'planned' | 'done' | 'failed') => counts.reduce((sum, tasks) => sum + tasks[state], 0)
  const counters = { planned: sumOf('planned'), done: sumOf('done'), failed: sumOf('failed') }
  let reportedAt = Number.NEGATIVE_INFINITY
  const report = (): void => {
    reportedAt = clock.monotonic()
    onProgress({ ...counters, spent: budget.spent(), balance: budget.balance() })
  }
  return {
    count: ({ end, effect }: TaskResult): void => {
      counters[end] += 1
      counters.planned += effect.added - effect.skipped
      if (clock.monotonic() - reportedAt >= progressEveryMs) report()
    },
    report,
  }
}
