import type { Clock } from '../model/clock.ts'
import { type UnusableAnswers, unusableAnswers } from './unusable.ts'

/** Whether an engine, or one operation of it, may be asked, and which of its tasks finds out when it may not. */
export interface Breaker {
  /** Notes how a call of a task ended. */
  note(engine: string, taskId: number, end: CallEnd): void
  /** Notes an answer that was paid for: why it cannot be used, or null where it can. */
  answered(operation: string, taskId: number, problem: string | null): void
  /** Stops new work for an engine, whatever its calls said; its first probe follows after a pause. */
  trip(engine: string): void
  /** The last answers of an operation could not be used, in an earlier run: one call finds out before the others follow. */
  distrust(operation: string): void
  /** Whether an engine or an operation gets no new work now. */
  isOpen(name: string): boolean
  /** Whether the task is one that finds out. */
  isProbe(taskId: number): boolean
  /** Whether the engine was ever seen to work. */
  everUp(engine: string): boolean
  /** Enough tasks failed to wonder whether the engine is down. */
  isSuspect(engine: string): boolean
  /** Engines and operations that get no new work now. */
  paused(): readonly string[]
  /** An engine or operation that one task may be sent to, to find out. */
  due(): string | null
  /** None of its tasks can be sent now: the probe waits for longer. */
  postpone(name: string): void
  /** That task was let through. */
  probing(name: string, taskId: number): void
  /** The task is no longer in work; where it was a probe that found nothing out, another one follows. */
  gone(taskId: number): void
  /** Milliseconds until a probe is due; null while none will be. */
  nextProbeIn(): number | null
  /** Engines and operations that were down for longer than is waited for. */
  givenUp(): readonly string[]
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
  /** Told when an engine or operation goes down and when it is back. */
  readonly onChange: (name: string, change: Change) => void
}

/** Tasks looked back at, each with its last call. */
const recentTasks = 20
const fewestTasks = 6
const suspectTasks = 3

/** When probes follow each other. */
interface Pace {
  readonly firstPauseMs: number
  readonly growth: number
  readonly longestPauseMs: number
}

/** An error of the service is free, and so is to look often whether it has passed. */
const freeProbes: Pace = { firstPauseMs: 1_000, growth: 2, longestPauseMs: 15_000 }
/** An answer that cannot be used is paid for, and so may be a call that is lost: three probes in a minute, six in half an hour, eight in a day. */
const paidProbes: Pace = { firstPauseMs: 5_000, growth: 4, longestPauseMs: Number.POSITIVE_INFINITY }

interface Outage {
  readonly since: number
  readonly pace: Pace
  pauseMs: number
  until: number
  /** The task that finds out; null while none is under way. */
  probe: number | null
  /** It has lasted for longer than is waited for, and the last probe failed, too. */
  over: boolean
}

/**
 * A circuit breaker for each engine and each operation. That of an engine opens when most of the tasks that were tried
 * last failed with an error of the service, or were lost; tasks are counted, not calls, so that a few queries that the service cannot
 * stand do not stop the others. That of an operation opens when too many of its answers cannot be used. While one is open
 * one task alone probes, with growing pauses, and the rest follows when that is answered.
 */
export function openBreaker({ clock, maxOutageMs, up, onChange }: BreakerOptions): Breaker {
  const worked = new Set(up)
  /** Engine -> task -> whether its last call failed; the task tried last stands last. */
  const recent = new Map<string, Map<number, boolean>>()
  const outages = new Map<string, Outage>()
  const answers = unusableAnswers()

  const failuresOf = (tasks: ReadonlyMap<number, boolean>): number =>
    [...tasks.values()].filter((failed) => failed).length
  const waiting = (): readonly (readonly [string, Outage])[] =>
    [...outages].filter(([, { probe, over }]) => probe === null && !over)

  /** The last probe comes when the time is up, not before. */
  const pause = (outage: Outage): void => {
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

  const giveUp = (name: string): void => {
    const outage = outages.get(name)
    if (outage !== undefined) outage.over = true
  }

  const lengthen = (outage: Outage): void => {
    outage.over = clock.monotonic() - outage.since >= maxOutageMs
    outage.pauseMs = Math.min(outage.pauseMs * outage.pace.growth, outage.pace.longestPauseMs)
    pause(outage)
  }

  const judge = (name: string, outage: Outage, end: CallEnd): void => {
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
      // Calls that were under way before say nothing about now.
      else if (outage.probe === taskId) judge(engine, outage, end)
      // The error says nothing of the answers of an operation that this task was to find out about.
      if (end !== 'up')
        for (const [name, other] of outages) if (other.probe === taskId) judge(name, other, 'down')
    },
    answered: (operation, taskId, problem) => {
      const outage = outages.get(operation)
      const isTooMuch = answers.note(operation, problem)
      if (outage?.probe === taskId) judge(operation, outage, problem === null ? 'up' : 'down')
      if (outage !== undefined || isTooMuch === false) return
      open(operation, paidProbes, 'unusable')
      if (isTooMuch === 'for-good') giveUp(operation)
    },
    trip,
    distrust: (operation) => open(operation, paidProbes, 'distrusted'),
    isOpen: (name) => outages.has(name),
    isProbe: (taskId) => [...outages.values()].some(({ probe }) => probe === taskId),
    everUp: (engine) => worked.has(engine),
    isSuspect: (engine) => failuresOf(recent.get(engine) ?? new Map()) >= suspectTasks,
    paused: () => [...outages.keys()],
    due: () => {
      const now = clock.monotonic()
      return waiting().find(([, { until }]) => until <= now)?.[0] ?? null
    },
    postpone: (name) => {
      const outage = outages.get(name)
      if (outage !== undefined) lengthen(outage)
    },
    probing: (name, taskId) => {
      const outage = outages.get(name)
      if (outage !== undefined) outage.probe = taskId
    },
    gone: (taskId) => {
      for (const outage of outages.values()) {
        if (outage.probe !== taskId) continue
        outage.probe = null
        // The next one may cost a credit.
        if (outage.pace === paidProbes) lengthen(outage)
      }
    },
    nextProbeIn: () => {
      const next = Math.min(...waiting().map(([, { until }]) => until))
      return Number.isFinite(next) ? Math.max(0, next - clock.monotonic()) : null
    },
    givenUp: () => [...outages].filter(([, { over }]) => over).map(([name]) => name),
    unusable: answers.of,
  }
}
