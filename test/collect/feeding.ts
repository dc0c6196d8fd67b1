import { rateLimiter } from '../../src/api/rate-limiter.ts'
import { billableOperation } from '../../src/catalog/index.ts'
import { type Batches, concurrencyFor } from '../../src/collect/batches.ts'
import { circuitBreakers } from '../../src/collect/circuit-breaker.ts'
import { dispatch, taskPool } from '../../src/collect/collect.ts'
import { stopSignal } from '../../src/collect/stop.ts'
import type { RateLimits } from '../../src/model/call.ts'
import type { Task } from '../../src/model/run.ts'
import { sleep } from '../../src/model/time.ts'
import { fakeTime } from '../api/fake-time.ts'
import { aTask } from '../support/tasks.ts'

export interface FeedSetup {
  /** Operation of each task. */
  readonly tasks: readonly string[]
  /** Whether a call of the engine fails at that instant. */
  readonly down?: (engine: string, at: number) => boolean
  /** Why an answer of the operation at that instant cannot be used. */
  readonly problem?: (operation: string, at: number) => string | null
  readonly latencyMs?: number
  /** How long it takes to store an answer. */
  readonly storingMs?: number
  /** For so many answers the disk has room. */
  readonly room?: number
  readonly concurrency?: number
  readonly maxOutageMs?: number
  /** Tasks that one batch holds at most. */
  readonly batch?: number
  /** Engines of which nothing is covered. */
  readonly uncovered?: readonly string[]
  /** Rate limits; the pool then has the places that they need, whatever `concurrency` says. */
  readonly limits?: RateLimits
}

/** More turns than any of these tests needs: whoever takes them spins. */
const mostTurns = 5_000

const engineOf = ({ operation }: Pick<Task, 'operation'>) => billableOperation(operation).engine

/** Feeds tasks to a real pool under a real breaker; what they get from the service is made up. */
export function aFeed(setup: FeedSetup) {
  const { problem = () => null, storingMs = 0, room = Number.POSITIVE_INFINITY } = setup
  const { down = () => false, latencyMs = 100, concurrency = 4, maxOutageMs = 60_000, batch = 10 } = setup
  const time = fakeTime()
  const stop = stopSignal()
  const pool = taskPool(stop, time.clock)
  const { limits } = setup
  const limiter = rateLimiter({ clock: time.clock, ...(limits === undefined ? {} : { limits }) })
  const reserved: number[] = []
  const reserve = async (places: number): Promise<boolean> => {
    reserved.push(places)
    return places <= room
  }
  if (limits === undefined) pool.setConcurrency(concurrency)
  else pool.adaptConcurrency(concurrencyFor(limits), reserve)
  const told: string[] = []
  const breaker = circuitBreakers({
    clock: time.clock,
    maxOutageMs,
    up: [],
    onChange: (engine, change) => told.push(`${engine} ${change} at ${time.now()}`),
  })
  const pending = setup.tasks.map((operation, index) => aTask({ id: index + 1, operation }))
  const sent: {
    readonly engine: string
    readonly operation: string
    readonly at: number
    readonly probe: boolean
    readonly open: boolean
  }[] = []
  const done = new Set<number>()
  const failures = new Map<number, number>()
  let turns = 0
  let inWork = 0
  /** Calls that have left and are not answered. */
  let inTheAir = 0
  let mostInTheAir = 0

  const take = (
    operations: readonly string[],
    limit: number,
    roomFor: (operation: string) => number = () => limit,
  ): readonly Task[] => {
    const rooms = new Map(operations.map((operation) => [operation, roomFor(operation)]))
    const fits = pending.filter(({ operation, ...task }) => {
      const room = rooms.get(operation) ?? 0
      rooms.set(operation, room - 1)
      return room > 0 && !setup.uncovered?.includes(engineOf({ ...task, operation }))
    })
    const taken = fits.slice(0, limit)
    for (const task of taken) pending.splice(pending.indexOf(task), 1)
    return taken
  }
  const batches: Pick<Batches, 'next' | 'one'> = {
    next: async (operations, busy, roomFor) => {
      turns += 1
      if (turns > mostTurns) throw new Error('it spins')
      const tasks = take(operations, batch, roomFor)
      return tasks.length > 0 || busy() ? tasks : null
    },
    one: async (operations) => take(operations, 1)[0] ?? null,
  }

  const run = async (task: Task): Promise<void> => {
    inWork += 1
    try {
      if (stop.cause() === null && !waits(task)) await call(task)
      else pending.push(task)
    } finally {
      inWork -= 1
      breaker.taskEnded(task.id)
    }
  }
  const waits = (task: Task): boolean =>
    (breaker.isOpen(engineOf(task)) || breaker.isOpen(task.operation)) && !breaker.isProbe(task.id)
  const call = async (task: Task): Promise<void> => {
    const engine = engineOf(task)
    const permit = await limiter.acquire({ signal: stop.signal })
    // As the client asks when the rate lets it through.
    if (waits(task)) {
      permit.cancel()
      pending.push(task)
      return
    }
    pool.leaving(task.id)
    permit.sent()
    inTheAir += 1
    mostInTheAir = Math.max(mostInTheAir, inTheAir)
    const { id, operation } = task
    const probe = breaker.isProbe(id)
    sent.push({ engine, operation, at: time.now(), probe, open: breaker.isOpen(engine) })
    await sleep(time.clock, latencyMs, stop.signal).finally(() => {
      inTheAir -= 1
      permit.finish(false)
      pool.answered(task.id)
    })
    if (storingMs > 0) await sleep(time.clock, storingMs)
    const fails = down(engine, time.now())
    breaker.note(engine, id, fails ? 'down' : 'up')
    if (!fails) breaker.answered(operation, id, problem(operation, time.now()))
    const tries = (failures.get(task.id) ?? 0) + 1
    if (fails && !breaker.isOpen(engine)) failures.set(task.id, tries)
    // As the worker has it: a task that fails too often is over, unless its engine never worked.
    if (tries >= 8 && !breaker.everUp(engine)) breaker.trip(engine)
    if (fails && (tries < 8 || breaker.isOpen(engine))) pending.push(task)
    else done.add(task.id)
  }

  let endedAt: number | null = null
  let error: unknown = null
  dispatch({
    batches,
    breaker,
    pool,
    stop,
    isDiskFull: async () => false,
    isLost: () => false,
    hasPending: async () => pending.length > 0,
    run,
  }).then(
    () => {
      endedAt = time.now()
    },
    (thrown) => {
      error = thrown
    },
  )
  return {
    time,
    stop,
    breaker,
    told,
    sent,
    done,
    pending,
    turns: () => turns,
    inWork: () => inWork,
    mostInTheAir: () => mostInTheAir,
    reserved,
    endedAt: () => {
      if (error !== null) throw error
      return endedAt
    },
  }
}
