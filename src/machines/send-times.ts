/*
 * How calls come to send times, as a machine: an event changes the state, and the effects follow from both. Nothing here waits or asks; instants
 * are monotonic milliseconds.
 *
 * A call is in one of these states:
 *
 *   waiting   it has asked, and is not written yet
 *   writing   it was let through, and its row is being written
 *   ready     it is written, and leaves at the next send time
 *   left      it is no longer here
 *
 *   state     goes on                                 given up   the database fails
 *   waiting   writing, shortly before its send time   left       waiting
 *   writing   ready, when it is written               left       writing
 *   ready     left, at the next send time             -          left, rejected
 *
 * Without a limit a waiting call skips the other states: it is let through and may leave when it is written.
 *
 *   event       what it changes                                                               then
 *   asked       the call waits; urgent ones stand before the others, jobs take turns          calls go on
 *   aborted     a waiting call is gone                                                        -
 *   written     a writing call is ready; how long that took is learned                        calls go on
 *   cancelled   a writing call is gone: the next call takes its send time                     calls go on
 *   throttled   calls are refused from now on; the send times at hand would be refused, too   it is noted in the database
 *   passed      a call that left after the refusal: calls are refused no longer               it is noted in the database
 *   leased      there are more send times; or no limit; or another process met a refusal      calls go on
 *   limits      what is known of the limit is forgotten                                       calls go on
 *   failed      ready calls are rejected: no send time will come                              -
 *   woken       nothing                                                                       calls go on
 *
 * `calls go on` lets calls leave whose send time has come, lets others through, leases send times where some are missing, and says when to wake it.
 */

export interface QueuedCall {
  readonly id: number
  /** A free lookup: it goes before all others. */
  readonly urgent: boolean
  /** Whose call it is: jobs take turns. */
  readonly job?: string | undefined
}

export interface LimiterState {
  readonly waiting: readonly QueuedCall[]
  readonly ready: readonly QueuedCall[]
  /** How many calls are writing or ready: each takes one of the next send times. */
  readonly underWay: number
  /** The send times at hand, the next one first. */
  readonly sendTimes: readonly number[]
  /** How many of the next send times stay unused: the second ones of cold requests. */
  readonly unused: number
  /** How many requests are still cold: they take two send times each. */
  readonly coldLeft: number
  /** Until then there is no limit. */
  readonly unlimitedUntil: number
  /** The send time of the call that probes after a refusal: before it no send time is asked for. */
  readonly probeAt: number
  readonly isLeasing: boolean
  /** How long before its send time a call is let through, so that it can be written; others follow it within `togetherMs`. */
  readonly leadMs: number
  /** How long after their send times calls left: the longest time lately. */
  readonly lateMs: number
  /** Since when the service refuses calls; null while it lets them pass. */
  readonly refusedSince: number | null
  /** The last refusal: a call that left before it says nothing of whether others pass now. */
  readonly refusedAt: number
  /** Whether a paid call was refused: a free lookup that passes does not mean that paid calls pass. */
  readonly paidRefused: boolean
}

export type LimiterEvent =
  | { readonly kind: 'asked' | 'aborted'; readonly call: QueuedCall }
  | { readonly kind: 'written'; readonly call: QueuedCall; readonly tookMs: number }
  | {
      readonly kind: 'throttled'
      readonly free: boolean
      readonly sentAt: number
      readonly namedMs: number | null
    }
  | {
      readonly kind: 'passed'
      readonly free: boolean
      readonly sentAt: number
      readonly leftAt: number
    }
  | {
      readonly kind: 'leased'
      /** Null where there is no limit. */
      readonly sendTimes: readonly number[] | null
      /** Calls are refused, here or by another process: the one send time is for a call that probes. */
      readonly isProbe: boolean
      /** `refusedAt` when the send times were asked for: what was refused since would be refused at these send times, too. */
      readonly refusedBefore: number
    }
  | { readonly kind: 'failed'; readonly error: unknown; readonly wasLeasing: boolean }
  | { readonly kind: 'cancelled' | 'limits' | 'woken' }

export type LimiterEffect =
  | { readonly kind: 'let-through'; readonly id: number; readonly needsTime: boolean }
  /** The call leaves at its send time; null without a limit. */
  | { readonly kind: 'leave'; readonly id: number; readonly sendTime: number | null }
  | { readonly kind: 'reject'; readonly id: number; readonly error: unknown }
  /** Takes the place of an earlier one; null: no wake is needed. */
  | { readonly kind: 'wake'; readonly inMs: number | null }
  | { readonly kind: 'lease' }
  /** `sentAt` is the send time of the call by the clock of the database. */
  | { readonly kind: 'note-refusal'; readonly sentAt: number; readonly namedMs: number | null }
  | { readonly kind: 'note-pass'; readonly sentAt: number }

/** Send times that are leased at once: few are lost with a process, and a lease is one statement for several calls. */
const timesAtOnce = 5
/** More send times are leased while those at hand last for less than this many times as long as writing a call takes. */
const leadsAhead = 3
/** A send time is used at its time, or this much later, for a process may be kept from its work so long; then it is lost. */
const graceMs = 20
/** The part of the limit that is used at least, and at first: calls may arrive late by 75 ms before a second has one too many. */
const leastPart = 0.93
/** So much lateness is left for connections, network and service where calls leave on time, clocks agree, and the service is near. */
const spareForArrivalMs = 40
/** How late calls leave until it is known: the least part of the limit is used then. */
const firstLateMs = 40
/** So much earlier than writing takes: a group that takes longer to be written than those lately loses no send time by that. */
const spareMs = 20
/** Calls that leave within so long after one that is let through are let through with it, and written together. */
const togetherMs = 120
/** Without a limit it is asked so often whether there is one, or a refusal. */
const unlimitedForMs = 500
/** What writing a call takes at first; then the longest time lately. */
const firstLeadMs = 4
const longestLeadMs = 200
/** The longest times lately shrink by so much per call. */
const decay = 0.02

const never = Number.NEGATIVE_INFINITY

export function firstState(coldRequests: number): LimiterState {
  return {
    waiting: [],
    ready: [],
    underWay: 0,
    sendTimes: [],
    unused: 0,
    coldLeft: coldRequests,
    unlimitedUntil: never,
    probeAt: never,
    isLeasing: false,
    leadMs: firstLeadMs,
    lateMs: firstLateMs,
    refusedSince: null,
    refusedAt: never,
    paidRefused: false,
  }
}

/** What an event at `now` makes of a state. */
export function stepOf(
  state: LimiterState,
  event: LimiterEvent,
  now: number,
): {
  readonly state: LimiterState
  /** In the order in which they are done. */
  readonly effects: readonly LimiterEffect[]
} {
  switch (event.kind) {
    case 'asked':
      return goOn({ ...state, waiting: queued(state.waiting, event.call) }, now)
    case 'aborted': {
      const waiting = state.waiting.filter(({ id }) => id !== event.call.id)
      const isIdle = waiting.length + state.ready.length === 0
      return { state: { ...state, waiting }, effects: isIdle ? [{ kind: 'wake', inMs: null }] : [] }
    }
    case 'written': {
      const leadMs = Math.min(longestLeadMs, learned(state.leadMs, event.tookMs))
      return goOn({ ...state, leadMs, ready: queued(state.ready, event.call) }, now)
    }
    case 'cancelled':
      return goOn({ ...state, underWay: state.underWay - 1 }, now)
    case 'throttled':
      return {
        state: {
          ...state,
          sendTimes: [],
          probeAt: never,
          unlimitedUntil: never,
          refusedAt: now,
          refusedSince: state.refusedSince ?? now,
          paidRefused: state.paidRefused || !event.free,
        },
        effects: [{ kind: 'note-refusal', sentAt: event.sentAt, namedMs: event.namedMs }],
      }
    case 'passed': {
      const saysNothing =
        state.refusedSince === null || event.leftAt <= state.refusedAt || (event.free && state.paidRefused)
      if (saysNothing) return { state, effects: [] }
      return {
        state: { ...state, refusedSince: null, paidRefused: false, probeAt: never },
        effects: [{ kind: 'note-pass', sentAt: event.sentAt }],
      }
    }
    case 'leased':
      return goOn({ ...withLease(state, event, now), isLeasing: false }, now)
    case 'failed':
      return {
        state: {
          ...state,
          ready: [],
          underWay: state.underWay - state.ready.length,
          isLeasing: state.isLeasing && !event.wasLeasing,
        },
        effects: state.ready.map(({ id }) => ({ kind: 'reject', id, error: event.error })),
      }
    case 'limits':
      return goOn({ ...state, unlimitedUntil: never }, now)
    case 'woken':
      return goOn(state, now)
  }
}

/** How many send times are leased for the calls of a state. */
export function timesToLease(state: LimiterState): number {
  return Math.min(timesAtOnce, Math.max(1, missingTimes(state)))
}

/** How long after now the first of them begins at the earliest: it is asked for, and then a call is written. */
export function leaseLeadMs({ leadMs }: LimiterState): number {
  return 2 * leadMs + spareMs
}

/**
 * The part of the limit that is used: the service counts calls when they arrive, and no second may have one too many because some
 * arrived late. It is less where calls leave late here, or may arrive later than those of another process by `apartMs`: by what clocks
 * may differ, and by the way to the service. After a refusal, here or by another process, it is the least for good: calls arrive later
 * than can be seen here.
 */
export function usedPart({ lateMs, refusedAt }: LimiterState, apartMs: number): number {
  if (refusedAt !== never) return leastPart
  return Math.max(leastPart, 1_000 / (1_000 + spareForArrivalMs + lateMs + apartMs))
}

/** Lets calls leave and lets others through, as far as the send times at hand allow at `now`. */
function goOn(state: LimiterState, now: number): ReturnType<typeof stepOf> {
  const effects: LimiterEffect[] = []
  if (now < state.unlimitedUntil) {
    for (const { id } of state.ready) effects.push({ kind: 'leave', id, sendTime: null })
    for (const { id } of state.waiting) effects.push({ kind: 'let-through', id, needsTime: false })
    effects.push({ kind: 'wake', inMs: null })
    const underWay = state.underWay - state.ready.length
    return { state: { ...state, underWay, ready: [], waiting: [] }, effects }
  }
  let next = withoutPastTimes(state, now)
  for (;;) {
    const [call] = next.ready
    const [sendTime] = next.sendTimes
    if (call === undefined || sendTime === undefined || sendTime > now) break
    effects.push({ kind: 'leave', id: call.id, sendTime })
    const isCold = next.coldLeft > 0
    next = withoutPastTimes(
      {
        ...next,
        lateMs: learned(next.lateMs, now - sendTime),
        ready: next.ready.slice(1),
        sendTimes: next.sendTimes.slice(1),
        underWay: next.underWay - 1,
        coldLeft: next.coldLeft - (isCold ? 1 : 0),
        unused: next.unused + (isCold ? 1 : 0),
      },
      now,
    )
  }
  for (let aheadMs = letThroughMs(next); ; aheadMs = letThroughMs(next) + togetherMs) {
    const [call] = next.waiting
    const sendTime = next.sendTimes[next.underWay]
    if (call === undefined || sendTime === undefined || sendTime - aheadMs > now) break
    effects.push({ kind: 'let-through', id: call.id, needsTime: true })
    next = { ...next, waiting: next.waiting.slice(1), underWay: next.underWay + 1 }
  }
  effects.push({ kind: 'wake', inMs: untilNext(next, now) })
  if (next.isLeasing || !lacksTimes(next, now)) return { state: next, effects }
  effects.push({ kind: 'lease' })
  return { state: { ...next, isLeasing: true }, effects }
}

/** Drops send times that are over, and those that stay unused. */
function withoutPastTimes(state: LimiterState, now: number): LimiterState {
  let { sendTimes, unused, lateMs } = state
  while (sendTimes.length > 0 && (unused > 0 || (sendTimes[0] as number) < now - graceMs)) {
    if (state.ready.length > 0) lateMs = Math.max(lateMs, now - (sendTimes[0] as number))
    sendTimes = sendTimes.slice(1)
    unused = Math.max(0, unused - 1)
  }
  return { ...state, sendTimes, unused, lateMs }
}

/**
 * Milliseconds until the next call may leave or be let through, or until send times may be asked for again after a probe; null where no call
 * waits for an instant.
 */
function untilNext(state: LimiterState, now: number): number | null {
  const { waiting, ready, sendTimes, underWay, probeAt } = state
  const leaves = (ready.length > 0 ? sendTimes[0] : undefined) ?? Number.POSITIVE_INFINITY
  const isLetThrough = (waiting.length > 0 ? sendTimes[underWay] : undefined) ?? Number.POSITIVE_INFINITY
  const probed = missingTimes(state) > 0 && now < probeAt ? probeAt : Number.POSITIVE_INFINITY
  const wakeAt = Math.min(leaves, isLetThrough - letThroughMs(state), probed)
  return wakeAt < Number.POSITIVE_INFINITY ? Math.max(1, Math.ceil(wakeAt - now)) : null
}

/** How long before its send time a call is let through. */
function letThroughMs({ leadMs }: LimiterState): number {
  return Math.min(longestLeadMs, leadMs + spareMs)
}

/**
 * Send times of written calls are spoken for. So more are asked for right behind the statement that wrote some: a server that has just been at work
 * answers for less than one that is woken later.
 */
function lacksTimes(state: LimiterState, now: number): boolean {
  const { sendTimes, ready, probeAt, leadMs } = state
  if (missingTimes(state) <= 0 || now < probeAt) return false
  return (
    sendTimes.length - ready.length < timesAtOnce || (sendTimes.at(-1) as number) < now + leadsAhead * leadMs
  )
}

function missingTimes({ waiting, underWay, unused, sendTimes }: LimiterState): number {
  return waiting.length + underWay + unused - sendTimes.length
}

function withLease(
  state: LimiterState,
  { sendTimes, isProbe, refusedBefore }: Extract<LimiterEvent, { kind: 'leased' }>,
  now: number,
): LimiterState {
  if (state.refusedAt !== refusedBefore) return state
  const standing = withStanding(state, isProbe, now)
  if (sendTimes === null) return { ...standing, unlimitedUntil: now + unlimitedForMs }
  return {
    ...standing,
    unlimitedUntil: never,
    sendTimes: [...state.sendTimes, ...sendTimes].sort((a, b) => a - b),
    probeAt: isProbe ? (sendTimes[0] as number) : state.probeAt,
  }
}

/** The service refuses calls of another process, or lets them pass again. */
function withStanding(state: LimiterState, isRefused: boolean, now: number): LimiterState {
  if (isRefused === (state.refusedSince !== null)) return state
  return isRefused
    ? { ...state, refusedSince: now, refusedAt: now, paidRefused: true }
    : { ...state, refusedSince: null, paidRefused: false }
}

/** The longest time lately, by one that was taken now: longer at once, shorter bit by bit. */
function learned(longestMs: number, tookMs: number): number {
  return Math.max(tookMs, longestMs + (tookMs - longestMs) * decay)
}

/** Urgent ones stand before all others. */
function queued(calls: readonly QueuedCall[], call: QueuedCall): readonly QueuedCall[] {
  const urgent = calls.filter((one) => one.urgent)
  const others = calls.slice(urgent.length)
  return call.urgent ? [...urgent, call, ...others] : [...urgent, ...inTurns(others, call)]
}

/** Those who wait, with one more: jobs take turns, and calls of one job keep their order. */
export function inTurns<One extends Pick<QueuedCall, 'job'>>(
  waiting: readonly One[],
  one: One,
): readonly One[] {
  const own = waiting.filter(({ job }) => job === one.job).length
  const lastOwn = waiting.findLastIndex(({ job }) => job === one.job)
  const before = new Map<string | undefined, number>()
  const place = waiting.findIndex(({ job }, index) => {
    const ofJob = before.get(job) ?? 0
    before.set(job, ofJob + 1)
    return index > lastOwn && ofJob > own
  })
  return place < 0 ? [...waiting, one] : waiting.toSpliced(place, 0, one)
}
