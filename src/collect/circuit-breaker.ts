import type { ApiClient } from '../api/client.ts'
import { asFields } from '../catalog/fields.ts'
import { billableOperation } from '../catalog/index.ts'
import { stats } from '../catalog/operations/lookups.ts'
import type { Outcome, Settlement } from '../model/call.ts'
import type { Task } from '../model/run.ts'
import type { Clock } from '../model/time.ts'

/** Whether an engine, or one operation of it, gets new work, and which task probes it where it does not. */
export interface CircuitBreaker {
  /** Notes how a call of a task ended. */
  note(engine: string, taskId: number, end: CallEnd): void
  /** Notes an answer that was paid for: why it cannot be used, or null where it can. */
  answered(operation: string, taskId: number, problem: string | null): void
  /** Stops new work for an engine, whatever its calls said; its first probe follows after a pause. */
  trip(engine: string): void
  /** The last answers of an operation could not be used, in an earlier run: one probe comes before its other calls. */
  distrust(operation: string): void
  /** Whether an engine or an operation gets no new work now. */
  isOpen(name: string): boolean
  /** Whether the task is a probe. */
  isProbe(taskId: number): boolean
  /** Whether the engine was ever seen to work. */
  everUp(engine: string): boolean
  /** Enough tasks failed to ask the service whether the engine is down. */
  isFailing(engine: string): boolean
  /** Engines and operations that get no new work now. */
  paused(): readonly string[]
  /** An engine or operation whose probe is due. */
  dueProbe(): string | null
  /** None of its tasks can be sent now: the next probe is due later. */
  delayProbe(name: string): void
  /** That task is the probe. */
  probing(name: string, taskId: number): void
  /** The task is no longer in work; a probe without a result is followed by another. */
  taskEnded(taskId: number): void
  /** Milliseconds until a probe is due; null where none will be. */
  nextProbeIn(): number | null
  /** Engines and operations that were down for longer than an outage is waited for. */
  expired(): readonly string[]
  /** Answers of an operation that were paid for and cannot be used. */
  unusable(operation: string): UnusableAnswers
}

/** How a call ended: answered (in whatever way), failed on the service's side, or lost, so that it may have been billed. */
export type CallEnd = 'up' | 'down' | 'lost'

/** What became of an engine or an operation. */
export type Change =
  | 'down'
  /** Most of its calls are lost, and may be billed. */
  | 'losing'
  | 'up'
  /** Its answers cannot be used. */
  | 'unusable'
  /** Its last answers could not be used, in an earlier run. */
  | 'distrusted'

export interface BreakerOptions {
  readonly clock: Pick<Clock, 'monotonic'>
  /** How long an engine that is down is waited for. */
  readonly maxOutageMs: number
  /** Engines that worked before, as far as is known. */
  readonly up: Iterable<string>
  /** Counts that go on from earlier work, and for others that work side by side. */
  readonly answers?: AnswerCounts | undefined
  /** Called when an engine or operation goes down and when it is back. */
  readonly onChange: (name: string, change: Change) => void
}

/** Tasks of an engine that count, each with its last call. */
const recentTasks = 20
const fewestTasks = 6
const suspectTasks = 3

/** When probes follow each other. */
interface Pace {
  readonly firstPauseMs: number
  readonly growth: number
  readonly longestPauseMs: number
}

/** Errors of the service are free, and so are frequent probes. */
const freeProbes: Pace = { firstPauseMs: 1_000, growth: 2, longestPauseMs: 15_000 }
/** Unusable answers are billed, and lost calls may be: three probes in a minute, six in half an hour, eight in a day. */
const paidProbes: Pace = { firstPauseMs: 5_000, growth: 4, longestPauseMs: Number.POSITIVE_INFINITY }

interface EngineOutage {
  readonly since: number
  readonly pace: Pace
  pauseMs: number
  until: number
  /** The task that probes; null while none does. */
  probe: number | null
  /** It has lasted for longer than an outage is waited for, and the last probe failed, too. */
  over: boolean
}

/**
 * A circuit breaker for each engine and each operation:
 *
 * - closed: tasks run. An engine's opens when most of its last tasks failed with an error of the service or were lost;
 *   tasks count, not calls, so that a few queries which always fail do not stop the others. An operation's opens when too
 *   many of its answers cannot be used.
 * - open: its tasks wait until a probe is due. After `maxOutageMs` and one more failed probe it has expired.
 * - half-open: one task alone probes. Its answer closes the breaker; a failure opens it again, with a longer pause.
 */
export function circuitBreakers({
  clock,
  maxOutageMs,
  up,
  answers = unusableAnswers(),
  onChange,
}: BreakerOptions): CircuitBreaker {
  const worked = new Set(up)
  /** Engine -> task -> whether its last call failed; the task tried last stands last. */
  const recent = new Map<string, Map<number, boolean>>()
  const outages = new Map<string, EngineOutage>()

  const failuresOf = (tasks: ReadonlyMap<number, boolean>): number =>
    [...tasks.values()].filter((failed) => failed).length
  const waiting = (): readonly (readonly [string, EngineOutage])[] =>
    [...outages].filter(([, { probe, over }]) => probe === null && !over)

  /** The last probe comes when the time is up, not before. */
  const pause = (outage: EngineOutage): void => {
    outage.until = Math.min(clock.monotonic() + outage.pauseMs, outage.since + maxOutageMs)
  }

  const open = (name: string, pace: Pace, change: Change): void => {
    if (outages.has(name)) return
    const now = clock.monotonic()
    const outage = { since: now, pace, pauseMs: pace.firstPauseMs, until: now, probe: null, over: false }
    if (change !== 'distrusted') pause(outage)
    outages.set(name, outage)
    onChange(name, change)
  }
  const trip = (engine: string): void => open(engine, freeProbes, 'down')

  const remember = (engine: string, taskId: number, end: CallEnd): void => {
    const failed = end !== 'up'
    const tasks = recent.get(engine) ?? new Map<number, boolean>()
    recent.set(engine, tasks)
    tasks.delete(taskId)
    tasks.set(taskId, failed)
    for (const oldest of tasks.keys()) {
      if (tasks.size <= recentTasks) break
      tasks.delete(oldest)
    }
    if (!failed || tasks.size < fewestTasks || failuresOf(tasks) <= tasks.size / 2) return
    if (end === 'lost') open(engine, paidProbes, 'losing')
    else trip(engine)
  }

  const expire = (name: string): void => {
    const outage = outages.get(name)
    if (outage !== undefined) outage.over = true
  }

  const lengthen = (outage: EngineOutage): void => {
    outage.over = clock.monotonic() - outage.since >= maxOutageMs
    outage.pauseMs = Math.min(outage.pauseMs * outage.pace.growth, outage.pace.longestPauseMs)
    pause(outage)
  }

  const judge = (name: string, outage: EngineOutage, end: CallEnd): void => {
    outage.probe = null
    if (end === 'up') {
      outages.delete(name)
      recent.delete(name)
      answers.forgive(name)
      onChange(name, 'up')
      return
    }
    lengthen(outage)
  }

  return {
    note: (engine, taskId, end) => {
      if (end === 'up') worked.add(engine)
      const outage = outages.get(engine)
      if (outage === undefined) remember(engine, taskId, end)
      // Calls that were sent before it opened say nothing new.
      else if (outage.probe === taskId) judge(engine, outage, end)
      // The probe of an operation that ends with an error proves nothing about its answers.
      if (end !== 'up')
        for (const [name, other] of outages) if (other.probe === taskId) judge(name, other, 'down')
    },
    answered: (operation, taskId, problem) => {
      const outage = outages.get(operation)
      const isTooMuch = answers.note(operation, problem)
      if (outage?.probe === taskId) judge(operation, outage, problem === null ? 'up' : 'down')
      if (outage !== undefined || isTooMuch === false) return
      open(operation, paidProbes, 'unusable')
      if (isTooMuch === 'for-good') expire(operation)
    },
    trip,
    distrust: (operation) => open(operation, paidProbes, 'distrusted'),
    isOpen: (name) => outages.has(name),
    isProbe: (taskId) => [...outages.values()].some(({ probe }) => probe === taskId),
    everUp: (engine) => worked.has(engine),
    isFailing: (engine) => failuresOf(recent.get(engine) ?? new Map()) >= suspectTasks,
    paused: () => [...outages.keys()],
    dueProbe: () => {
      const now = clock.monotonic()
      return waiting().find(([, { until }]) => until <= now)?.[0] ?? null
    },
    delayProbe: (name) => {
      const outage = outages.get(name)
      if (outage !== undefined) lengthen(outage)
    },
    probing: (name, taskId) => {
      const outage = outages.get(name)
      if (outage !== undefined) outage.probe = taskId
    },
    taskEnded: (taskId) => {
      for (const outage of outages.values()) {
        if (outage.probe !== taskId) continue
        outage.probe = null
        // The next probe may cost a credit.
        if (outage.pace === paidProbes) lengthen(outage)
      }
    },
    nextProbeIn: () => {
      const next = Math.min(...waiting().map(([, { until }]) => until))
      return Number.isFinite(next) ? Math.max(0, next - clock.monotonic()) : null
    },
    expired: () => [...outages].filter(([, { over }]) => over).map(([name]) => name),
    unusable: answers.of,
  }
}

/** What calls, and the service's own health record, say of the engines. */
export interface EngineStatus {
  note(task: Task, settlement: Pick<Settlement, 'outcome' | 'error'>): void
  /** Notes an answer that was paid for: why it cannot be used, or null where it can. */
  answered(task: Task, problem: string | null): void
  /** Whether the breaker of the task's engine or operation is open. */
  isDown(task: Task): boolean
  /** Whether the task's engine is not known to have ever worked; its breaker is then opened. */
  neverWorked(task: Task): boolean
}

export interface EngineWatchOptions {
  readonly service: ApiClient
  readonly clock: Clock
  readonly breaker: CircuitBreaker
  readonly signal: AbortSignal
  readonly background: (work: Promise<void>) => void
}

/** Outcomes that show that an engine works, also where it rejects the query. */
const signsOfLife: ReadonlySet<Outcome> = new Set([
  'answered',
  'accepted',
  'rejected',
  'not-found',
  'unreadable',
])
const askAgainMs = 60_000

export function watchEngines({
  service,
  clock,
  breaker,
  signal,
  background,
}: EngineWatchOptions): EngineStatus {
  /** When the health of each engine was asked for last. */
  const asked = new Map<string, number>()
  /** 403: the account has no access to health records. */
  let disabled = false

  const askHealth = async (engine: string): Promise<void> => {
    asked.set(engine, clock.monotonic())
    const { settlement, body } = await service.lookup(stats, { engine }, { signal })
    if (settlement.httpStatus === 403) disabled = true
    if (settlement.outcome === 'answered' && saysDown(body)) breaker.trip(engine)
  }

  const consult = (engine: string): void => {
    const last = asked.get(engine) ?? Number.NEGATIVE_INFINITY
    if (disabled || breaker.isOpen(engine) || !breaker.isFailing(engine)) return
    if (clock.monotonic() - last < askAgainMs) return
    background(askHealth(engine))
  }

  return {
    note: ({ operation, id }, { outcome, error }) => {
      const { engine } = billableOperation(operation)
      if (signsOfLife.has(outcome)) breaker.note(engine, id, 'up')
      if (outcome === 'unreadable') breaker.answered(operation, id, error ?? outcome)
      if (outcome === 'ambiguous') breaker.note(engine, id, 'lost')
      if (outcome !== 'server-error') return
      breaker.note(engine, id, 'down')
      consult(engine)
    },
    answered: ({ operation, id }, problem) => breaker.answered(operation, id, problem),
    isDown: ({ operation }) =>
      breaker.isOpen(operation) || breaker.isOpen(billableOperation(operation).engine),
    neverWorked: ({ operation }) => {
      const { engine } = billableOperation(operation)
      if (breaker.everUp(engine)) return false
      breaker.trip(engine)
      return true
    },
  }
}

function saysDown(body: Buffer): boolean {
  try {
    return asFields(JSON.parse(body.toString('utf8')))?.health === 'down'
  } catch {
    return false
  }
}

/** Answers of an operation that were paid for and cannot be used. */
export interface UnusableAnswers {
  readonly calls: number
  /** Among so many that were paid for in this process. */
  readonly of: number
  /** Why the last one cannot be; null where there is none. */
  readonly problem: string | null
}

const fewestUnusable = 3
const fewestCalls = 20
const toleratedShare = 0.01
/** Answers that count: one percent of them is what may be wasted at most, however long a run is. */
const lookedBackAt = fewestCalls / toleratedShare

/** Whether this many unusable answers, of this many that were paid for, are too many to continue. */
export function areTooMany(unusable: number, calls: number): boolean {
  return unusable >= fewestUnusable && calls >= fewestCalls && unusable > calls * toleratedShare
}

/** Whether the breaker of the operation opens: for now, or for the rest of this process. */
export type Verdict = false | 'for-now' | 'for-good'

interface Count {
  calls: number
  unusable: number
  problem: string | null
  /** Since its breaker closed: the calls, and the numbers of the last ones whose answers cannot be used. */
  callsSince: number
  unusableSince: number[]
}

function isTooMuch({ unusableSince, callsSince }: Count): boolean {
  return areTooMany(unusableSince.length, Math.min(callsSince, lookedBackAt))
}

/** What was counted of answers that cannot be used. */
export type AnswerCounts = ReturnType<typeof unusableAnswers>

/** Counts, for each operation, the answers that were paid for and cannot be used. */
export function unusableAnswers() {
  const counts = new Map<string, Count>()
  const countOf = (operation: string): Count => {
    const known = counts.get(operation)
    if (known !== undefined) return known
    const begun: Count = { calls: 0, unusable: 0, problem: null, callsSince: 0, unusableSince: [] }
    counts.set(operation, begun)
    return begun
  }

  return {
    /** Notes an answer: why it cannot be used, or null where it can. */
    note: (operation: string, problem: string | null): Verdict => {
      const count = countOf(operation)
      count.calls += 1
      count.callsSince += 1
      if (problem === null) return false
      count.unusable += 1
      count.problem = problem
      const from = count.callsSince - lookedBackAt
      count.unusableSince = [...count.unusableSince.filter((call) => call > from), count.callsSince]
      if (!isTooMuch(count)) return false
      // Closed and opened again, it has wasted what may be wasted.
      const isRelapse = count.callsSince < count.calls
      return isRelapse && count.unusable > Math.max(fewestCalls, count.calls * toleratedShare)
        ? 'for-good'
        : 'for-now'
    },
    /** Operations that had too many, and no answer since that shows that this has passed. */
    tooMany: (): readonly string[] =>
      [...counts].filter(([, count]) => isTooMuch(count)).map(([name]) => name),
    /** Counts an operation from the start again. */
    forgive: (operation: string): void => {
      const count = countOf(operation)
      count.callsSince = 0
      count.unusableSince = []
    },
    of: (operation: string): UnusableAnswers => {
      const { calls, unusable, problem } = countOf(operation)
      return { calls: unusable, of: calls, problem }
    },
  }
}
