import fc from 'fast-check'
import type { Charge, UsageCount } from '../../src/model/call.ts'

/** A call, and what the service did of which the ledger knows nothing: when it counted the call, if ever. */
export interface OwnCall extends Charge {
  readonly until: number
  readonly countedAt: number | null
}

/** What somebody else spent with the same key. */
export interface Foreign {
  readonly credits: number
  readonly countedAt: number
}

/** A reading, and when between its two instants it was counted. */
export interface TrueReading extends UsageCount {
  readonly snapshotAt: number
  readonly totalUsed: number
}

/** What truly happened to one key, in the orders in which the ledger tells it. */
export interface History {
  readonly calls: readonly OwnCall[]
  readonly foreign: readonly Foreign[]
  readonly readings: readonly TrueReading[]
}

/** A lost call may be counted this long after it ended. */
const settlingMs = 120_000

/** Instants are few and far between, so that many are the same and the settling time matters. */
const stepMs = 10_000
const instant = fc.integer({ min: 0, max: 40 }).map((steps) => steps * stepMs)
const length = fc.oneof(
  fc.constant(stepMs),
  fc.integer({ min: 1, max: 9 }).map((steps) => steps * stepMs),
)
const credits = fc.constantFrom(1, 1, 3)
const share = fc.double({ min: 0, max: 0.999, noNaN: true })

/** An instant between two whole milliseconds, so that nothing is counted in the very instant of a reading. */
const between = (from: number, until: number, share: number): number =>
  from + Math.floor((until - from) * share) + 0.5

const billedCall: fc.Arbitrary<OwnCall> = fc
  .record({ from: instant, length, credits, share })
  .map(({ from, length, credits, share }) => {
    const until = from + length
    return { from, until, credits, certain: true, countedAt: between(from, until, share) }
  })

const lostCall: fc.Arbitrary<OwnCall> = fc
  .record({ from: instant, length, credits, share, fate: fc.constantFrom('never', 'in time', 'late') })
  .map(({ from, length, credits, share, fate }) => {
    const until = from + length
    const last = fate === 'late' ? until + settlingMs : until
    return {
      ...{ from, until, credits, certain: false },
      countedAt: fate === 'never' ? null : between(from, last, share),
    }
  })

/** A billed call that the service counts when it comes to it. */
const lateCall: fc.Arbitrary<OwnCall> = fc
  .record({ call: billedCall, lag: fc.integer({ min: 0, max: 10 }) })
  .map(({ call, lag }) => ({ ...call, countedAt: (call.countedAt ?? 0) + lag * stepMs }))

const foreignCall: fc.Arbitrary<Foreign> = fc
  .record({ credits, at: instant })
  .map(({ credits, at }) => ({ credits, countedAt: at + 0.5 }))

const askedAndRead = fc
  .record({ askedAt: instant, length: fc.oneof(fc.constant(0), fc.constant(7), length), share })
  .map(({ askedAt, length, share }) => ({
    askedAt,
    readAt: askedAt + length,
    snapshotAt: askedAt + Math.floor(length * share),
  }))

/** @param call what calls of ours it holds */
function historyOf(call: fc.Arbitrary<OwnCall>, others = fc.array(foreignCall, { maxLength: 5 })) {
  const most = { maxLength: 12 }
  return fc
    .record({
      calls: fc.array(call, most),
      foreign: others,
      readings: fc.array(askedAndRead, most),
      earlier: fc.nat(1_000),
    })
    .map(
      ({ calls, foreign, readings, earlier }): History => ({
        calls: calls.toSorted((a, b) => a.from - b.from),
        foreign,
        readings: readings
          .toSorted((a, b) => a.readAt - b.readAt)
          .map((reading) => ({
            ...reading,
            remaining: null,
            totalUsed: earlier + counted([...calls, ...foreign], 0, reading.snapshotAt),
          })),
      }),
    )
}

/** Every call is known to be billed. */
export const certainHistory = historyOf(billedCall)
export const history = historyOf(fc.oneof(billedCall, lostCall))
/** Nobody else has the key. */
export const lonelyHistory = historyOf(fc.oneof(billedCall, lostCall), fc.constant([]))
/** The service counts billed calls late. */
export const lateHistory = historyOf(lateCall)

/** Credits that were counted between two instants. */
export function counted(
  what: readonly { readonly credits: number; readonly countedAt: number | null }[],
  from: number,
  until: number,
): number {
  return what.reduce(
    (sum, { credits, countedAt }) =>
      sum + (countedAt !== null && countedAt > from && countedAt < until ? credits : 0),
    0,
  )
}

/** Readings beside which nothing was in the air, neither a call nor the quiet reading before. */
export function quietReadings({ calls, readings }: History): readonly TrueReading[] {
  const quiet: TrueReading[] = []
  for (const reading of readings) {
    const disturbed = calls.some(({ from, until }) => from < reading.readAt && until > reading.askedAt)
    if (!disturbed && reading.askedAt >= (quiet.at(-1)?.readAt ?? 0)) quiet.push(reading)
  }
  return quiet
}
