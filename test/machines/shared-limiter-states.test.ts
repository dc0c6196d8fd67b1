import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  firstState,
  type LimiterEffect,
  type LimiterEvent,
  type LimiterState,
  type QueuedCall,
  stepOf,
  timesToLease,
  usedPart,
} from '../../src/machines/send-times.ts'
import { testTable } from '../support/test-table.ts'

const calm = firstState(0)
const aCall = (id: number, urgent = false): QueuedCall => ({ id, urgent })
const noWake: LimiterEffect = { kind: 'wake', inMs: null }
const letThrough = (id: number, needsTime = true): LimiterEffect => ({ kind: 'let-through', id, needsTime })

/** All at 1,000 ms, with a lead of 4 ms, to which 20 ms are added. */
testTable<
  [
    what: string,
    before: Partial<LimiterState>,
    event: LimiterEvent,
    after: Partial<LimiterState>,
    effects: readonly LimiterEffect[],
  ]
>([
  [
    'a call that asks without send times has some leased',
    {},
    { kind: 'asked', call: aCall(1) },
    { waiting: [aCall(1)], isLeasing: true },
    [noWake, { kind: 'lease' }],
  ],
  [
    'none are leased while a lease is under way',
    { isLeasing: true },
    { kind: 'asked', call: aCall(1) },
    { waiting: [aCall(1)], isLeasing: true },
    [noWake],
  ],
  [
    'none are leased before the probe has left',
    { probeAt: 1_500, sendTimes: [] },
    { kind: 'asked', call: aCall(1) },
    { waiting: [aCall(1)], isLeasing: false },
    [{ kind: 'wake', inMs: 500 }],
  ],
  [
    'an urgent call stands before the others, and behind urgent ones',
    { waiting: [aCall(1, true), aCall(2)], isLeasing: true },
    { kind: 'asked', call: aCall(3, true) },
    { waiting: [aCall(1, true), aCall(3, true), aCall(2)] },
    [noWake],
  ],
  [
    'a call is let through shortly before its send time',
    { waiting: [aCall(1)], sendTimes: [1_024] },
    { kind: 'woken' },
    { waiting: [], underWay: 1 },
    [letThrough(1), noWake],
  ],
  [
    'and not earlier',
    { waiting: [aCall(1)], sendTimes: [1_025] },
    { kind: 'woken' },
    { waiting: [aCall(1)], underWay: 0 },
    [{ kind: 'wake', inMs: 1 }],
  ],
  [
    'those that leave within 120 ms after it are let through with it',
    {
      waiting: [aCall(1), aCall(2), aCall(3), aCall(4)],
      sendTimes: [1_024, 1_051, 1_144, 1_145],
      isLeasing: true,
    },
    { kind: 'woken' },
    { waiting: [aCall(4)], underWay: 3 },
    [letThrough(1), letThrough(2), letThrough(3), { kind: 'wake', inMs: 121 }],
  ],
  [
    'the send time of a call under way is not given to another one',
    { waiting: [aCall(2)], underWay: 1, sendTimes: [1_000], isLeasing: true },
    { kind: 'woken' },
    { waiting: [aCall(2)], underWay: 1 },
    [noWake],
  ],
  [
    'a written call leaves at a send time whose time has come',
    { underWay: 1, sendTimes: [990, 1_100] },
    { kind: 'written', call: aCall(1), tookMs: 4 },
    { ready: [], underWay: 0, sendTimes: [1_100] },
    [{ kind: 'leave', id: 1, sendTime: 990 }, noWake],
  ],
  [
    'the next ones are leased when a call is written for one of the last five, not when it leaves',
    {
      underWay: 1,
      sendTimes: [1_200, 1_227, 1_254, 1_281, 1_308],
      waiting: Array.from({ length: 5 }, (_, index) => aCall(index + 2)),
    },
    { kind: 'written', call: aCall(1), tookMs: 4 },
    { ready: [aCall(1)], isLeasing: true },
    [{ kind: 'wake', inMs: 200 }, { kind: 'lease' }],
  ],
  [
    'a written call waits for its send time',
    { underWay: 1, sendTimes: [1_007] },
    { kind: 'written', call: aCall(1), tookMs: 4 },
    { ready: [aCall(1)], underWay: 1, sendTimes: [1_007] },
    [{ kind: 'wake', inMs: 7 }],
  ],
  [
    'a send time is lost when its time is over by more than 20 ms',
    { underWay: 1, sendTimes: [979, 980] },
    { kind: 'written', call: aCall(1), tookMs: 4 },
    { underWay: 0, sendTimes: [] },
    [{ kind: 'leave', id: 1, sendTime: 980 }, noWake],
  ],
  [
    'the second send time of a cold request stays unused',
    { underWay: 1, unused: 1, sendTimes: [900, 1_000] },
    { kind: 'written', call: aCall(1), tookMs: 4 },
    { sendTimes: [], unused: 0 },
    [{ kind: 'leave', id: 1, sendTime: 1_000 }, noWake],
  ],
  [
    'writing that takes longer is learned at once',
    { underWay: 1, sendTimes: [1_007] },
    { kind: 'written', call: aCall(1), tookMs: 50 },
    { leadMs: 50 },
    [{ kind: 'wake', inMs: 7 }],
  ],
  [
    'writing that takes shorter is learned by 2 %',
    { underWay: 1, sendTimes: [1_007], leadMs: 104 },
    { kind: 'written', call: aCall(1), tookMs: 4 },
    { leadMs: 102 },
    [{ kind: 'wake', inMs: 7 }],
  ],
  [
    'a cold call leaves the send time behind its own unused',
    { underWay: 1, sendTimes: [1_000, 1_100, 1_200], coldLeft: 1 },
    { kind: 'written', call: aCall(1), tookMs: 4 },
    { coldLeft: 0, unused: 0, sendTimes: [1_200] },
    [{ kind: 'leave', id: 1, sendTime: 1_000 }, noWake],
  ],
  [
    'the send time of a call that is given up goes to the next one',
    { underWay: 1, sendTimes: [1_000], waiting: [aCall(2)], isLeasing: true },
    { kind: 'cancelled' },
    { underWay: 1, waiting: [] },
    [letThrough(2), noWake],
  ],
  [
    'the last call that is aborted leaves no timer',
    { waiting: [aCall(1)] },
    { kind: 'aborted', call: aCall(1) },
    { waiting: [] },
    [noWake],
  ],
  [
    'another call that waits keeps it',
    { waiting: [aCall(1), aCall(2)] },
    { kind: 'aborted', call: aCall(1) },
    { waiting: [aCall(2)] },
    [],
  ],
  [
    'a refusal drops the send times at hand and is noted',
    { sendTimes: [1_100], probeAt: 900, unlimitedUntil: 1_100 },
    { kind: 'throttled', free: false, sentAt: 70_500, namedMs: 300 },
    { sendTimes: [], refusedSince: 1_000, refusedAt: 1_000, paidRefused: true, probeAt: -Infinity },
    [{ kind: 'note-refusal', sentAt: 70_500, namedMs: 300 }],
  ],
  [
    'a second refusal does not change since when',
    { refusedSince: 400, refusedAt: 400 },
    { kind: 'throttled', free: true, sentAt: 0, namedMs: null },
    { refusedSince: 400, refusedAt: 1_000, paidRefused: false },
    [{ kind: 'note-refusal', sentAt: 0, namedMs: null }],
  ],
  [
    'a call that passes ends the refusal and is noted',
    { refusedSince: 400, refusedAt: 600, paidRefused: true },
    { kind: 'passed', free: false, sentAt: 7, leftAt: 601 },
    { refusedSince: null, paidRefused: false },
    [{ kind: 'note-pass', sentAt: 7 }],
  ],
  [
    'one that left before the refusal says nothing',
    { refusedSince: 400, refusedAt: 600 },
    { kind: 'passed', free: false, sentAt: 7, leftAt: 600 },
    { refusedSince: 400 },
    [],
  ],
  [
    'a free lookup says nothing of paid calls',
    { refusedSince: 400, refusedAt: 600, paidRefused: true },
    { kind: 'passed', free: true, sentAt: 7, leftAt: 700 },
    { refusedSince: 400, paidRefused: true },
    [],
  ],
  [
    'leased send times are added in the order of time',
    { sendTimes: [1_500], isLeasing: true, waiting: [aCall(1)] },
    { kind: 'leased', sendTimes: [1_200, 1_700], isProbe: false, refusedBefore: -Infinity },
    { sendTimes: [1_200, 1_500, 1_700], isLeasing: false },
    [{ kind: 'wake', inMs: 176 }],
  ],
  [
    'send times that were asked for before a refusal are not used',
    { isLeasing: true, refusedAt: 900, refusedSince: 900 },
    { kind: 'leased', sendTimes: [1_200], isProbe: false, refusedBefore: -Infinity },
    { sendTimes: [], isLeasing: false, refusedSince: 900 },
    [noWake],
  ],
  [
    'a probe tells that another process met a refusal',
    { isLeasing: true },
    { kind: 'leased', sendTimes: [1_200], isProbe: true, refusedBefore: -Infinity },
    { refusedSince: 1_000, refusedAt: 1_000, paidRefused: true, probeAt: 1_200 },
    [noWake],
  ],
  [
    'where the send time of a probe stays unused, the next one is asked for after it',
    { isLeasing: true, waiting: [aCall(1)], unused: 1, refusedSince: 900, refusedAt: 900 },
    { kind: 'leased', sendTimes: [1_250], isProbe: true, refusedBefore: 900 },
    { waiting: [aCall(1)], unused: 0, sendTimes: [], probeAt: 1_250, isLeasing: false },
    [{ kind: 'wake', inMs: 250 }],
  ],
  [
    'without a limit all go at once',
    { isLeasing: true, waiting: [aCall(2)], ready: [aCall(1)], underWay: 2 },
    { kind: 'leased', sendTimes: null, isProbe: false, refusedBefore: -Infinity },
    { waiting: [], ready: [], underWay: 1, unlimitedUntil: 1_500 },
    [{ kind: 'leave', id: 1, sendTime: null }, letThrough(2, false), noWake],
  ],
  [
    'where the database fails, written calls are rejected and others wait on',
    { isLeasing: true, waiting: [aCall(2)], ready: [aCall(1)], underWay: 2 },
    { kind: 'failed', error: 'refused', wasLeasing: true },
    { isLeasing: false, waiting: [aCall(2)], ready: [], underWay: 1 },
    [{ kind: 'reject', id: 1, error: 'refused' }],
  ],
  [
    'other limits are asked for at once',
    { unlimitedUntil: 1_400, waiting: [aCall(1)] },
    { kind: 'limits' },
    { isLeasing: true },
    [noWake, { kind: 'lease' }],
  ],
])('%s', (_, before, event, after, effects) => {
  const step = stepOf({ ...calm, ...before }, event, 1_000)
  expect(step.state).toMatchObject(after)
  expect(step.effects).toEqual(effects)
})

/** At 1,000 ms: how late calls leave decides how much of the limit is used. */
testTable<[what: string, before: Partial<LimiterState>, event: LimiterEvent, lateMs: number]>([
  [
    'a call that leaves later than those before it tells how late calls leave',
    { lateMs: 3, ready: [aCall(1)], underWay: 1, sendTimes: [988] },
    { kind: 'woken' },
    12,
  ],
  [
    'one that is more punctual counts little',
    { lateMs: 3, ready: [aCall(1)], underWay: 1, sendTimes: [999] },
    { kind: 'woken' },
    2.96,
  ],
  [
    'a send time that a written call missed tells it, too',
    { lateMs: 3, ready: [aCall(1)], underWay: 1, sendTimes: [950, 1_010] },
    { kind: 'woken' },
    50,
  ],
  [
    'one that no call was written for does not',
    { lateMs: 3, waiting: [aCall(1)], sendTimes: [950, 1_500], isLeasing: true },
    { kind: 'woken' },
    3,
  ],
])('%s', (_, before, event, lateMs) => {
  expect(stepOf({ ...calm, ...before }, event, 1_000).state.lateMs).toBeCloseTo(lateMs)
})

testTable<[what: string, state: Partial<LimiterState>, apartMs: number, marginMs: number]>([
  ['at first 75 ms of lateness are left', {}, 0, 75],
  ['40 ms where calls leave on time', { lateMs: 0 }, 0, 40],
  ['and as much more as they left late', { lateMs: 8 }, 0, 48],
  ['and as calls of others may arrive apart from them', { lateMs: 8 }, 15, 63],
  ['75 ms at most', { lateMs: 30 }, 15, 75],
  [
    '75 ms before the clock of the database, or the way to the service, is known',
    { lateMs: 0 },
    Number.POSITIVE_INFINITY,
    75,
  ],
  ['75 ms after a refusal, however punctual calls are', { lateMs: 0, refusedAt: 900 }, 0, 75],
])('%s', (_, state, apartMs, marginMs) => {
  const part = usedPart({ ...calm, ...state }, apartMs)
  expect(1_000 / part - 1_000).toBeCloseTo(marginMs, marginMs === 75 ? -1 : 6)
})

test('No second has one call too many while a call of one of ten workers leaves late by the grace, and arrives 20 ms later still', () => {
  const delayMs = fc.array(fc.nat(20), { minLength: 1, maxLength: 40 })
  const oneIn = fc.integer({ min: 1, max: 400 })
  fc.assert(
    fc.property(delayMs, oneIn, fc.integer({ min: 1, max: 50 }), (delays, oneIn, perSecond) => {
      const states = Array.from({ length: 10 }, (): LimiterState => ({ ...calm, lateMs: 0 }))
      let sendTime = 0
      const arrivals: number[] = []
      for (let call = 0; call < 20 * perSecond; call++) {
        const worker = call % states.length
        const state = states[worker] as LimiterState
        sendTime += 1_000 / perSecond / usedPart(state, 0)
        const isLate = call % oneIn === 0
        const leftAt = sendTime + (isLate ? 20 : 0)
        const before = { ...state, ready: [aCall(call)], underWay: 1, sendTimes: [sendTime] }
        states[worker] = stepOf(before, { kind: 'woken' }, leftAt).state
        arrivals.push(leftAt + (isLate ? 20 : (delays[call % delays.length] as number)))
      }
      arrivals.sort((a, b) => a - b)
      const closest = Math.min(
        ...arrivals.slice(perSecond).map((at, index) => at - (arrivals[index] as number)),
      )
      expect(closest).toBeGreaterThanOrEqual(999.99)
    }),
  )
})

/** What happens next: a call asks, is written, is given up, comes back; a lease is answered; time passes. */
const anyAction = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('ask' as const), urgent: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('write' as const), tookMs: fc.nat(60) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.nat(80) }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('lease' as const), spacingMs: fc.integer({ min: 1, max: 60 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom(...(['cancel', 'abort', 'refuse', 'let-pass', 'fail'] as const)),
    }),
  },
)

test('For any events no send time is used twice, at another time, or lost while a call is ready, and no call is forgotten', () => {
  fc.assert(
    fc.property(fc.array(anyAction, { minLength: 50, maxLength: 200 }), fc.nat(3), (actions, cold) => {
      let now = 0
      let state = firstState(cold)
      let lastId = 0
      let isAsked = false
      let nextTime = 0
      let refusedBefore = state.refusedAt
      const writing: QueuedCall[] = []
      const known = new Map<number, QueuedCall>()
      const open = new Set<number>()
      const used = new Set<number>()
      const happen = (event: LimiterEvent): void => {
        const before = state
        const step = stepOf(state, event, now)
        state = step.state
        let isWoken = false
        for (const effect of step.effects) {
          if (effect.kind === 'lease') {
            expect(isAsked).toBe(false)
            isAsked = true
            refusedBefore = state.refusedAt
          }
          if (effect.kind === 'let-through') {
            expect(effect.needsTime).toBe(true)
            writing.push(known.get(effect.id) as QueuedCall)
          }
          if (effect.kind === 'leave') {
            const sendTime = effect.sendTime as number
            expect(open.delete(effect.id)).toBe(true)
            // Each send time lets one call leave, at its time or within the grace: so the limit holds.
            expect(used.has(sendTime)).toBe(false)
            used.add(sendTime)
            expect(sendTime).toBeLessThanOrEqual(now)
            expect(sendTime).toBeGreaterThanOrEqual(now - 20)
          }
          if (effect.kind === 'reject') expect(open.delete(effect.id)).toBe(true)
          isWoken ||= effect.kind === 'wake' && effect.inMs !== null
        }
        // A send time that is gone was used, is over, stays unused for a cold call, or was refused.
        const gone = before.sendTimes.filter(
          (sendTime) => !state.sendTimes.includes(sendTime) && !used.has(sendTime),
        )
        const mayBeUnused = before.unused + before.coldLeft - state.coldLeft - state.unused
        if (event.kind !== 'throttled')
          expect(gone.filter((sendTime) => sendTime >= now - 20).length).toBeLessThanOrEqual(mayBeUnused)
        expect(state.underWay).toBe(writing.length + state.ready.length)
        // A ready call leaves at a send time whose time has come; who waits is woken, or waits for a lease or for a call that is written.
        if (!['aborted', 'throttled', 'passed', 'failed'].includes(event.kind)) {
          const isKept = state.ready.length > 0 && (state.sendTimes[0] ?? Infinity) <= now
          expect(isKept).toBe(false)
          if (state.ready.length + state.waiting.length > 0)
            expect(isWoken || state.isLeasing || writing.length > 0).toBe(true)
        }
        expect(state.waiting.length + state.ready.length + writing.length).toBe(open.size)
      }
      for (const action of actions) {
        if (action.do === 'ask') {
          const call = { id: ++lastId, urgent: action.urgent }
          known.set(call.id, call)
          open.add(call.id)
          happen({ kind: 'asked', call })
        } else if (action.do === 'write') {
          const call = writing.shift()
          if (call !== undefined) happen({ kind: 'written', call, tookMs: action.tookMs })
        } else if (action.do === 'cancel') {
          const call = writing.shift()
          if (call !== undefined) open.delete(call.id)
          if (call !== undefined) happen({ kind: 'cancelled' })
        } else if (action.do === 'abort') {
          const [call] = state.waiting
          if (call !== undefined) open.delete(call.id)
          if (call !== undefined) happen({ kind: 'aborted', call })
        } else if (action.do === 'refuse') {
          happen({ kind: 'throttled', free: false, sentAt: 0, namedMs: null })
          // It is noted in the database.
          happen({ kind: 'woken' })
        } else if (action.do === 'let-pass') {
          happen({ kind: 'passed', free: false, sentAt: 0, leftAt: now })
          happen({ kind: 'woken' })
        } else if (action.do === 'fail') happen({ kind: 'failed', error: 'failed', wasLeasing: false })
        else if (action.do === 'pass') {
          now += action.ms
          happen({ kind: 'woken' })
        } else if (action.do === 'lease' && isAsked) {
          const first = Math.max(nextTime, now + 1)
          // While calls are refused there is one send time, for a call that probes.
          const isProbe = state.refusedSince !== null
          const sendTimes = Array.from(
            { length: isProbe ? 1 : timesToLease(state) },
            (_, index) => first + index * action.spacingMs,
          )
          nextTime = first + sendTimes.length * action.spacingMs
          isAsked = false
          happen({ kind: 'leased', sendTimes, isProbe, refusedBefore })
        }
      }
    }),
    { numRuns: 300 },
  )
})
