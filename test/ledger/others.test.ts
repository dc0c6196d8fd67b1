import fc from 'fast-check'
import { expect, test } from 'vitest'
import { corrected, paceOfOthers, unexplained, verifyLedger } from '../../src/ledger/verify.ts'
import type { Charge, UsageCount } from '../../src/model/call.ts'
import { testTable } from '../support/test-table.ts'
import { billed, lost, read, s, slowRead } from './build.ts'
import { certainHistory, counted, lonelyHistory, quietReadings } from './history.ts'

/** Readings of before, readings of a run, and all calls of the database. */
interface Ledger {
  readonly earlier?: readonly UsageCount[]
  readonly readings: readonly UsageCount[]
  readonly charges?: readonly Charge[]
}

/** Credits that are not explained; of others, and between which seconds. */
type Said = { readonly credits: number; readonly others: readonly [number, number, number] | null } | null

const agrees: Said = { credits: 0, others: null }

testTable<[string, Ledger, Said]>([
  [
    'all was billed',
    { readings: [read(10, 5), read(20, 7)], charges: [billed(11, 12), billed(13, 14)] },
    agrees,
  ],
  [
    'others spent',
    { readings: [read(10, 5), read(20, 9)], charges: [billed(11, 12)] },
    { credits: 3, others: [3, 10, 20] },
  ],
  [
    'others spent in some of many spans',
    { readings: [read(10, 0), read(20, 0), read(30, 2), read(40, 2), read(50, 5), read(60, 5)] },
    { credits: 5, others: [5, 20, 50] },
  ],
  [
    'fewer were counted',
    { readings: [read(10, 5), read(20, 6)], charges: [billed(11, 12, 2)] },
    { credits: -1, others: null },
  ],
  [
    'the last calls are not counted yet: so much less is said of others',
    { readings: [read(10, 0), read(20, 5), read(30, 5)], charges: [billed(21, 22, 2)] },
    { credits: 3, others: [3, 10, 20] },
  ],
  [
    'others spent less than is not counted yet',
    { readings: [read(10, 0), read(20, 2), read(30, 2)], charges: [billed(21, 22, 3)] },
    { credits: -1, others: null },
  ],
  [
    'another database of this machine spent before the run',
    { earlier: [read(0, 1)], readings: [read(10, 5), read(20, 6)], charges: [billed(11, 12)] },
    agrees,
  ],
  [
    'what was billed before is counted only now',
    {
      earlier: [read(0, 0), read(5, 1)],
      readings: [read(10, 1), read(20, 5)],
      charges: [billed(1, 4, 4), billed(11, 12)],
    },
    agrees,
  ],
  [
    'what was billed before is counted only now, and others spent',
    { earlier: [read(0, 0), read(5, 1)], readings: [read(10, 1), read(20, 9)], charges: [billed(1, 4, 4)] },
    { credits: 5, others: [5, 10, 20] },
  ],
  [
    'what was lost before is counted now',
    { earlier: [read(0, 4)], readings: [read(10, 4), read(20, 6)], charges: [lost(1, 9), billed(11, 12)] },
    agrees,
  ],
  [
    'what was lost before had been counted by then',
    { earlier: [read(0, 4)], readings: [read(10, 5), read(20, 7)], charges: [lost(1, 9), billed(11, 12)] },
    { credits: 1, others: [1, 10, 20] },
  ],
  [
    'lost calls may be billed, all of them',
    { readings: [read(10, 5), read(20, 8)], charges: [lost(11, 12), lost(11, 13, 2)] },
    agrees,
  ],
  ['the balance was topped up', { readings: [read(10, 5, 10), read(20, 5, 900)] }, agrees],
  [
    'the balance was topped up, and no count is given',
    { readings: [read(10, null, 10), read(20, null, 900)] },
    null,
  ],
  [
    'the count began anew',
    { readings: [read(10, 900), read(20, 3), read(30, 4)], charges: [billed(21, 22)] },
    agrees,
  ],
  [
    'a job went on while it was read',
    { readings: [read(10, 0), read(20, 0), read(30, 1), read(40, 1)], charges: [billed(11, 35)] },
    agrees,
  ],
  [
    'readings overtook each other',
    {
      readings: [read(10, 0), slowRead(22, 24, 1), slowRead(20, 26, 0), read(30, 1)],
      charges: [billed(11, 12)],
    },
    agrees,
  ],
  ['there is one reading', { earlier: [read(0, 4)], readings: [read(10, 5)], charges: [billed(1, 2)] }, null],
  [
    'a job is open',
    { earlier: [read(0, 4)], readings: [read(10, 4), read(20, 5)], charges: [lost(1, 3_600)] },
    null,
  ],
])(
  'where %s, what no call explains is said and no more',
  (_, { earlier = [], readings, charges = [] }, said) => {
    const { others, lostByFailover, ...found } = unexplained(earlier, readings, () => charges) ?? {}
    const wanted = said === null ? {} : { credits: said.credits }
    expect(found).toEqual(wanted)
    expect(lostByFailover ?? 0).toBe(0)
    expect(others == null ? null : [others.credits, others.from, others.until]).toEqual(
      said?.others == null ? null : [said.others[0], s(said.others[1]), s(said.others[2])],
    )
  },
)

test('what a failover lost is not said to be spent by others', () => {
  const said = (failovers: readonly number[]) =>
    unexplained([], [read(0, 4), read(10, 7)], () => [], failovers)
  expect(said([])).toMatchObject({ credits: 3, others: { credits: 3 }, lostByFailover: 0 })
  expect(said([s(5)])).toMatchObject({ credits: 0, others: null, lostByFailover: 3 })
})

test('nobody is said to spend where nobody else has the key, whatever was lost and wherever a run begins', () => {
  fc.assert(
    fc.property(lonelyHistory, fc.nat(6), ({ readings, calls }, before) => {
      const said = unexplained(readings.slice(0, before), readings.slice(before), () => calls)
      expect(said?.others ?? null).toBeNull()
    }),
    { numRuns: 500 },
  )
})

test('where every end is known, others spent what is said', () => {
  fc.assert(
    fc.property(certainHistory, (history) => {
      const quiet = quietReadings(history)
      fc.pre(quiet.length > 1)
      const spent = counted(history.foreign, quiet[0]?.snapshotAt ?? 0, quiet.at(-1)?.snapshotAt ?? 0)
      expect(unexplained([], history.readings, () => history.calls)?.others?.credits ?? 0).toBe(spent)
    }),
    { numRuns: 500 },
  )
})

testTable<[string, Omit<Ledger, 'earlier'> & { readonly now: number }, number | null]>([
  ['nobody spends', { readings: [read(0, 5), read(2, 5)], now: 2 }, 0],
  ['others spend', { readings: [read(0, 5), read(2, 7)], now: 2 }, 60],
  ['others spend little', { readings: [read(0, 5), read(40, 6)], now: 40 }, 2],
  ['only the newest readings count', { readings: [read(0, 0), read(10, 90), read(12, 90)], now: 12 }, 0],
  [
    'two readings are too close, and the one before is taken',
    { readings: [read(0, 0), read(2, 2), read(2.4, 2)], now: 3 },
    50,
  ],
  ['one reading', { readings: [read(0, 5)], now: 0 }, null],
  ['readings are too close', { readings: [read(0, 5), read(0.9, 9)], now: 1 }, null],
  ['others spent at some time', { readings: [read(0, 5), read(600, 9)], now: 600 }, null],
  ['nobody spent for long', { readings: [read(0, 5), read(600, 5)], now: 600 }, 0],
  ['the newest reading is old', { readings: [read(0, 5), read(2, 9)], now: 70 }, null],
  [
    'our own calls lie between',
    { readings: [read(0, 5), read(2, 9)], charges: [billed(1, 1.5)], now: 2 },
    null,
  ],
  [
    'a call of ours was lost between',
    { readings: [read(0, 5), read(2, 9)], charges: [lost(1, 1.5)], now: 2 },
    null,
  ],
  [
    'what was billed before is counted late',
    { readings: [read(0, 0), read(5, 1), read(8, 4)], charges: [billed(1, 4, 4)], now: 8 },
    0,
  ],
  [
    'what was lost before is counted',
    { readings: [read(5, 1), read(8, 4)], charges: [lost(1, 4, 4)], now: 8 },
    0,
  ],
])('the pace of others where %s', (_, { readings, charges = [], now }, wanted) => {
  expect(paceOfOthers(corrected(verifyLedger(readings, charges).spans), s(now))).toBe(wanted)
})
