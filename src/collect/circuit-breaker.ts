import type { ApiClient } from '../api/client.ts'
import { billableOperation, stats } from '../catalog/index.ts'
import { readPart } from '../catalog/operation.ts'
import { isUseless, type Outcome, type Settlement, uselessInRow } from '../model/call.ts'
import type { Task } from '../model/run.ts'
import type { Clock } from '../model/time.ts'

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
  /** All its calls end without an answer, and others would. */
  | 'useless'
  /** Its last calls were of no use, in an earlier run. */
  | 'distrusted'

/** The last tasks of an engine are looked at, each by its last call. */
const recentTasks = 20
/** With fewer tasks no breaker opens. */
const fewestTasks = 6
/** From so many failed tasks on the health record of the service is asked for. */
const failuresToAsk = 3

/** When probes follow each other: errors of the service are free, and so are frequent probes. */
const freeProbes = { firstPauseMs: 1_000, growth: 2, longestPauseMs: 15_000 }
type Pace = Readonly<typeof freeProbes>
/** Unusable answers are billed, useless and lost calls may be: three probes in a minute, six in half an hour, eight in a day. */
const paidProbes: Pace = { firstPauseMs: 5_000, growth: 4, longestPauseMs: Number.POSITIVE_INFINITY }

/** Whether an engine, or one operation of it, gets new work, and which task probes it where it does not. */
export type CircuitBreaker = ReturnType<typeof circuitBreakers>

/**
 * A circuit breaker for each engine and each operation:
 *
 * - closed: tasks run. An engine's opens when most of its last tasks failed with an error of the service or were lost;
 *   tasks count, not calls, so that a few queries which always fail do not stop the others. An operation's opens when too
 *   many of its answers cannot be used, or none of its calls is of use.
 * - open: its tasks wait until a probe is due. After `maxOutageMs` and one more failed probe it has expired.
 * - half-open: one task alone probes. Its answer closes the breaker; a failure opens it again, with a longer pause.
 */
export function circuitBreakers({
  clock,
  maxOutageMs,
  up,
  counts = callCounts(),
  onChange,
}: {
  readonly clock: Pick<Clock, 'monotonic'>
  /** How long an engine that is down is waited for. */
  readonly maxOutageMs: number
  /** Engines that worked before, as far as is known. */
  readonly up: Iterable<string>
  /** Counts that go on from earlier work, and for others that work side by side. */
  readonly counts?: CallCounts | undefined
  /** Called when an engine or operation goes down and when it is back. */
  readonly onChange: (name: string, change: Change) => void
}) {
  const worked = new Set(up)
  /** Tasks at work that have to be bought, with their operations. */
  const begun = new Map<number, string>()
  /** Engine -> task -> whether its last call failed; the task tried last stands last. */
  const recent = new Map<string, Map<number, boolean>>()
  const outages = new Map<string, OpenBreaker>()

  const failuresOf = (tasks: ReadonlyMap<number, boolean>): number =>
    [...tasks.values()].filter((failed) => failed).length
  const waiting = (): readonly (readonly [string, OpenBreaker])[] =>
    [...outages].filter(([, { probe, hasExpired }]) => probe === null && !hasExpired)

  /** The last probe comes when the time is up, not before. */
  const pause = (outage: OpenBreaker): void => {
    outage.until = Math.min(clock.monotonic() + outage.pauseMs, outage.since + maxOutageMs)
  }

  const open = (name: string, pace: Pace, change: Change): void => {
    if (outages.has(name)) return
    const now = clock.monotonic()
    const outage = openBreaker(pace, now)
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
    if (outage !== undefined) outage.hasExpired = true
  }

  const lengthen = (outage: OpenBreaker): void => {
    outage.hasExpired = clock.monotonic() - outage.since >= maxOutageMs
    outage.pauseMs = Math.min(outage.pauseMs * outage.pace.growth, outage.pace.longestPauseMs)
    pause(outage)
  }

  const judge = (name: string, outage: OpenBreaker, end: CallEnd): void => {
    outage.probe = null
    if (end === 'up') {
      outages.delete(name)
      recent.delete(name)
      counts.forgive(name)
      onChange(name, 'up')
      return
    }
    lengthen(outage)
  }

  const wasCounted = (operation: string, taskId: number, verdict: Verdict, change: Change): void => {
    const outage = outages.get(operation)
    if (outage?.probe === taskId) {
      judge(operation, outage, change === 'up' ? 'up' : 'down')
      outage.hasExpired ||= outage.isDecisive && change !== 'up'
    }
    if (outage !== undefined || verdict === false) return
    open(operation, paidProbes, change)
    if (verdict === 'for-good') expire(operation)
  }

  return {
    /** Notes how a call of a task ended. */
    note: (engine: string, taskId: number, end: CallEnd): void => {
      if (end === 'up') worked.add(engine)
      const outage = outages.get(engine)
      if (outage === undefined) remember(engine, taskId, end)
      // Calls that were sent before it opened say nothing new.
      else if (outage.probe === taskId) judge(engine, outage, end)
      // The probe of an operation that ends with an error proves nothing about its answers.
      if (end !== 'up')
        for (const [name, other] of outages) if (other.probe === taskId) judge(name, other, 'down')
    },
    /** Notes an answer that was paid for: why it cannot be used, or null where it can. */
    answered: (operation: string, taskId: number, problem: string | null): void => {
      const verdict = counts.answered(operation, problem)
      wasCounted(operation, taskId, verdict, problem === null ? 'up' : 'unusable')
    },
    /** Notes a call that brought no answer, and that others of its operation would not bring either. */
    useless: (operation: string, taskId: number, end: Parameters<CallCounts['useless']>[1]): void =>
      wasCounted(operation, taskId, counts.useless(operation, end), 'useless'),
    /** Stops new work for an engine, whatever its calls said; its first probe follows after a pause. */
    trip,
    /**
     * The last calls of an operation were of no use, in an earlier run: one probe comes before its other calls.
     *
     * @param isDecisive whether it has expired when that probe is of no use, too
     */
    distrust: (operation: string, isDecisive: boolean): void => {
      open(operation, paidProbes, 'distrusted')
      const outage = outages.get(operation)
      if (outage !== undefined) outage.isDecisive = isDecisive
    },
    /** Whether an engine or an operation gets no new work now. */
    isOpen: (name: string): boolean => outages.has(name),
    /** Whether the task is a probe. */
    isProbe: (taskId: number): boolean => [...outages.values()].some(({ probe }) => probe === taskId),
    /** Whether the engine was ever seen to work. */
    everUp: (engine: string): boolean => worked.has(engine),
    /** Whether enough tasks failed to ask the service if the engine is down. */
    isFailing: (engine: string): boolean => failuresOf(recent.get(engine) ?? new Map()) >= failuresToAsk,
    /** Engines and operations that get no new work now. */
    paused: (): readonly string[] => [...outages.keys()],
    /** An engine or operation whose probe is due. */
    dueProbe: (): string | null => {
      const now = clock.monotonic()
      return waiting().find(([, { until }]) => until <= now)?.[0] ?? null
    },
    /** None of its tasks can be sent now: the next probe is due later. */
    delayProbe: (name: string): void => {
      const outage = outages.get(name)
      if (outage !== undefined) lengthen(outage)
    },
    /** That task is the probe. */
    probing: (name: string, taskId: number): void => {
      const outage = outages.get(name)
      if (outage !== undefined) outage.probe = taskId
    },
    /** How many more tasks of an operation may be at work: few, until one of its answers was usable. */
    roomFor: counts.roomFor,
    /** The task, which has to be bought, is at work. */
    taskBegun: ({ id, operation }: Pick<Task, 'id' | 'operation'>): void => {
      begun.set(id, operation)
      counts.begun(operation)
    },
    /** The task is no longer in work; a probe without a result is followed by another. */
    taskEnded: (taskId: number): void => {
      const operation = begun.get(taskId)
      if (operation !== undefined) counts.ended(operation)
      begun.delete(taskId)
      for (const outage of outages.values()) {
        if (outage.probe !== taskId) continue
        outage.probe = null
        // The next probe may cost a credit.
        if (outage.pace === paidProbes) lengthen(outage)
      }
    },
    /** Milliseconds until a probe is due; null where none will be. */
    nextProbeIn: (): number | null => {
      const next = Math.min(...waiting().map(([, { until }]) => until))
      return Number.isFinite(next) ? Math.max(0, next - clock.monotonic()) : null
    },
    /** Engines and operations that were down for longer than an outage is waited for. */
    expired: (): readonly string[] =>
      [...outages].filter(([, { hasExpired }]) => hasExpired).map(([name]) => name),
    /** Useless calls of an operation. */
    wasted: counts.wasted,
  }
}

type OpenBreaker = ReturnType<typeof openBreaker>

/** A breaker that is open or half-open. */
function openBreaker(pace: Pace, now: number) {
  return {
    since: now,
    pace,
    pauseMs: pace.firstPauseMs,
    until: now,
    /** The task that probes; null while none does. */
    probe: null as number | null,
    /** It expires with the first useless probe. */
    isDecisive: false,
    /** It has lasted for longer than an outage is waited for, and the last probe failed, too. */
    hasExpired: false,
  }
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

/** What calls, and the service's own health record, say of the engines. */
export type EngineStatus = ReturnType<typeof watchEngines>

export function watchEngines({
  service,
  clock,
  breaker,
  signal,
  background,
}: {
  readonly service: ApiClient
  readonly clock: Clock
  readonly breaker: CircuitBreaker
  readonly signal: AbortSignal
  readonly background: (work: Promise<void>) => void
}) {
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
    note: (
      { operation, id }: Task,
      { outcome, httpStatus, billed, error }: Pick<Settlement, 'outcome' | 'httpStatus' | 'billed' | 'error'>,
    ): void => {
      const { engine } = billableOperation(operation)
      if (signsOfLife.has(outcome)) breaker.note(engine, id, 'up')
      if (isUseless({ outcome, httpStatus }))
        breaker.useless(operation, id, {
          problem: `HTTP ${httpStatus}${error === null || error === `HTTP ${httpStatus}` ? '' : ` (${error})`}`,
          mayBeBilled: billed === null,
        })
      if (outcome === 'unreadable') breaker.answered(operation, id, error ?? outcome)
      if (outcome === 'ambiguous') breaker.note(engine, id, 'lost')
      if (outcome !== 'server-error') return
      breaker.note(engine, id, 'down')
      consult(engine)
    },
    /** Notes that an asynchronous job was lost, which may have been billed, and why. */
    lostJob: ({ operation, id }: Task, problem: string): void =>
      breaker.useless(operation, id, { problem, mayBeBilled: true }),
    /** Notes an answer that was paid for: why it cannot be used, or null where it can. */
    answered: ({ operation, id }: Task, problem: string | null): void =>
      breaker.answered(operation, id, problem),
    /** Whether the breaker of the task's engine or operation is open. */
    isDown: ({ operation }: Task): boolean =>
      breaker.isOpen(operation) || breaker.isOpen(billableOperation(operation).engine),
    /** Whether the task's engine is not known to have ever worked; its breaker is then opened. */
    neverWorked: ({ operation }: Task): boolean => {
      const { engine } = billableOperation(operation)
      if (breaker.everUp(engine)) return false
      breaker.trip(engine)
      return true
    },
  }
}

function saysDown(body: Buffer): boolean {
  try {
    return readPart.fields(JSON.parse(body.toString('utf8')))?.health === 'down'
  } catch {
    return false
  }
}

const fewestUnusable = 3
const fewestCalls = uselessInRow
const toleratedShare = 0.01
/** Answers that count: one percent of them is what may be wasted at most, however long a run is. */
const lookedBackAt = fewestCalls / toleratedShare
/** Tasks of an operation at work, until an answer of it could be used. */
const mostUntried = 8

/** Whether this many unusable answers, of this many that were paid for, are too many to continue. */
export function areTooMany(unusable: number, calls: number): boolean {
  return unusable >= fewestUnusable && calls >= fewestCalls && unusable > calls * toleratedShare
}

/** Whether the breaker of the operation opens: for now, or for the rest of this process. */
export type Verdict = false | 'for-now' | 'for-good'

type CallCount = ReturnType<typeof callCount>

/** What calls of an operation came to in this process, before the first one. */
function callCount() {
  return {
    /** All answers that were paid for, and how many of them cannot be used. */
    answers: 0,
    unusable: 0,
    /** Calls that ended without an answer, as others of the operation would. */
    useless: 0,
    /** How many of them may have been billed. */
    maybeBilled: 0,
    /** Why the last call of no use was of none; null where there is no such call. */
    problem: null as string | null,
    /** Calls in a row that were of no use, answered or not. */
    inRow: 0,
    /** Since its breaker closed: the answers, and the numbers of the last ones that cannot be used. */
    answersSince: 0,
    unusableSince: [] as number[],
    /** Its breaker was open. */
    wasOpen: false,
    /** Tasks at work that have to be bought. */
    atWork: 0,
  }
}

/** Whether an operation whose breaker was open before has now wasted all that may be wasted. */
function hasWastedAll({ wasOpen, answers, unusable, useless }: CallCount): boolean {
  return wasOpen && unusable + useless >= Math.max(fewestCalls, (answers + useless) * toleratedShare)
}

function isTooMuch(count: CallCount): boolean {
  const answers = Math.min(count.answersSince, lookedBackAt)
  const judged = hasWastedAll(count) ? Math.max(answers, fewestCalls) : answers
  return count.inRow >= fewestCalls || areTooMany(count.unusableSince.length, judged)
}

/** What was counted of the calls of each operation. */
export type CallCounts = ReturnType<typeof callCounts>

export type WastedCalls = Readonly<ReturnType<CallCounts['wasted']>>

/** Counts, for each operation, the calls that were of no use, and the tasks at work until one was. */
export function callCounts() {
  const counts = new Map<string, CallCount>()
  const listeners = new Set<() => void>()
  const countOf = (operation: string): CallCount => {
    const known = counts.get(operation)
    if (known !== undefined) return known
    const begun = callCount()
    counts.set(operation, begun)
    return begun
  }
  const tell = (): void => {
    for (const listener of listeners) listener()
  }
  const verdictOn = (count: CallCount): Verdict => {
    if (!isTooMuch(count)) return false
    return hasWastedAll(count) ? 'for-good' : 'for-now'
  }

  return {
    /** Notes an answer: why it cannot be used, or null where it can. */
    answered: (operation: string, problem: string | null): Verdict => {
      const count = countOf(operation)
      const isFirst = count.answers === count.unusable
      count.answers += 1
      count.answersSince += 1
      if (problem === null) {
        count.inRow = 0
        if (isFirst) tell()
        return false
      }
      count.unusable += 1
      count.inRow += 1
      count.problem = problem
      const from = count.answersSince - lookedBackAt
      count.unusableSince = [...count.unusableSince.filter((call) => call > from), count.answersSince]
      return verdictOn(count)
    },
    /** Notes a call that ended without an answer, as others of the operation would. */
    useless: (
      operation: string,
      {
        problem,
        mayBeBilled,
      }: {
        readonly problem: string
        readonly mayBeBilled: boolean
      },
    ): Verdict => {
      const count = countOf(operation)
      count.useless += 1
      count.inRow += 1
      if (mayBeBilled) count.maybeBilled += 1
      count.problem = problem
      return verdictOn(count)
    },
    /** Operations that had too many, and no answer since that shows that this has passed. */
    tooMany: (): readonly string[] =>
      [...counts].filter(([, count]) => isTooMuch(count)).map(([name]) => name),
    /** Counts an operation from the start again. */
    forgive: (operation: string): void => {
      const count = countOf(operation)
      count.wasOpen = true
      count.inRow = 0
      count.answersSince = 0
      count.unusableSince = []
    },
    /** How many more tasks of it may be at work. */
    roomFor: (operation: string): number => {
      const { answers, unusable, atWork } = countOf(operation)
      return answers > unusable ? Number.POSITIVE_INFINITY : Math.max(0, mostUntried - atWork)
    },
    begun: (operation: string): void => {
      countOf(operation).atWork += 1
    },
    ended: (operation: string): void => {
      const count = countOf(operation)
      count.atWork -= 1
      if (count.answers === count.unusable) tell()
    },
    /** Calls the listener when there is more room; the function that it answers ends that. */
    watch: (listener: () => void): (() => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    /** Calls of an operation that were of no use. */
    wasted: (operation: string) => {
      const { unusable, answers, useless, maybeBilled, problem } = countOf(operation)
      return { unusable, answers, useless, maybeBilled, problem }
    },
  }
}
