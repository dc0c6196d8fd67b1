import { describe, expect, test } from 'vitest'
import { unexplained, verifyLedger } from '../../src/ledger/verify.ts'
import type { Charge, UsageCount } from '../../src/model/call.ts'
import { billed, lost, read, slowRead, verified } from './build.ts'

interface Case {
  readonly readings: readonly UsageCount[]
  readonly charges?: readonly Charge[]
  readonly spans: readonly Record<string, unknown>[]
}

function spansAre(cases: Readonly<Record<string, Case>>): void {
  test.each(Object.entries(cases))('%s', (_, { readings, charges = [], spans }) => {
    expect(verified(readings, charges).spans).toEqual(spans)
  })
}

test('what nothing explains while the queue fails over was spent in calls that it lost, not by others', () => {
  const readings = [read(0, 100), read(100, 104), read(200, 106)]
  const explained = (failover: number) => verifyLedger(readings, [billed(1, 2)], [failover]).spans
  expect(explained(100_500)).toMatchObject([
    { spentByOthers: 0, lostByFailover: 3 },
    { spentByOthers: 0, lostByFailover: 2 },
  ])
  expect(explained(180_000)).toMatchObject([
    { spentByOthers: 3, lostByFailover: 0 },
    { spentByOthers: 0, lostByFailover: 2 },
  ])
  expect(unexplained([], readings, () => [billed(1, 2)], [180_000])).toMatchObject({ credits: 3 })
})

describe('between two readings', () => {
  spansAre({
    'what was billed is what was counted': {
      readings: [read(0, 100), read(10, 104)],
      charges: [billed(1, 2), billed(1, 3, 3)],
      spans: [{ from: 0, until: 10, used: 4, billed: 4 }],
    },
    'nothing happened': {
      readings: [read(0, 100), read(10, 100)],
      spans: [{ from: 0, until: 10, used: 0 }],
    },
    'others spent what is more than our own': {
      readings: [read(0, 100), read(10, 107)],
      charges: [billed(1, 2)],
      spans: [{ from: 0, until: 10, used: 7, billed: 1, spentByOthers: 6 }],
    },
    'what was booked and is missing is not counted': {
      readings: [read(0, 100), read(10, 101)],
      charges: [billed(1, 2), billed(2, 3, 3)],
      spans: [{ from: 0, until: 10, used: 1, billed: 4, notCounted: 3 }],
    },
    'the count of an instant belongs to the reading: calls touch it on either side': {
      readings: [read(0, 100), read(10, 101), read(20, 103)],
      charges: [billed(0, 10), billed(10, 20, 2)],
      spans: [
        { from: 0, until: 10, used: 1, billed: 1 },
        { from: 10, until: 20, used: 2, billed: 2 },
      ],
    },
  })
})

describe('a call of which nobody knows', () => {
  const readings = (used: number) => [read(0, 100), read(300, 100 + used)]
  const charges = [billed(1, 2), lost(3, 4, 3)]
  const of = { from: 0, until: 300, billed: 1, ambiguous: 3 }
  spansAre({
    'was billed': { readings: readings(4), charges, spans: [{ ...of, used: 4, ambiguousBilled: 3 }] },
    'was billed in part': { readings: readings(2), charges, spans: [{ ...of, used: 2, ambiguousBilled: 1 }] },
    'was not billed': { readings: readings(1), charges, spans: [{ ...of, used: 1 }] },
    'was billed, and others spent, too': {
      readings: readings(9),
      charges,
      spans: [{ ...of, used: 9, ambiguousBilled: 3, spentByOthers: 5 }],
    },
  })
})

describe('a lost call that is counted late', () => {
  const late = { from: 300, until: 600, used: 1 }
  spansAre({
    'goes to the next span': {
      readings: [read(0, 0), read(300, 0), read(600, 1)],
      charges: [lost(1, 180.001)],
      spans: [
        { from: 0, until: 300, used: 0, ambiguous: 1 },
        { ...late, ambiguousBilled: 1 },
      ],
    },
    'does not where it ended 120 seconds before the reading': {
      readings: [read(0, 0), read(300, 0), read(600, 1)],
      charges: [lost(1, 180)],
      spans: [
        { from: 0, until: 300, used: 0, ambiguous: 1 },
        { ...late, spentByOthers: 1 },
      ],
    },
    'does not where it was counted already': {
      readings: [read(0, 0), read(300, 1), read(600, 2)],
      charges: [lost(1, 299)],
      spans: [
        { from: 0, until: 300, used: 1, ambiguous: 1, ambiguousBilled: 1 },
        { ...late, spentByOthers: 1 },
      ],
    },
    'does although another one of its span was counted in time': {
      readings: [read(0, 0), read(300, 1), read(600, 2)],
      charges: [lost(1, 2), lost(298, 299)],
      spans: [
        { from: 0, until: 300, used: 1, ambiguous: 2, ambiguousBilled: 1 },
        { ...late, ambiguousBilled: 1 },
      ],
    },
    'goes to the span after the next while it may still be counted': {
      readings: [read(0, 0), read(300, 0), read(310, 0), read(600, 1)],
      charges: [lost(1, 299)],
      spans: [
        { from: 0, until: 300, used: 0, ambiguous: 1 },
        { from: 300, until: 310, used: 0 },
        { from: 310, until: 600, used: 1, ambiguousBilled: 1 },
      ],
    },
    'does so from before the first reading, too': {
      readings: [read(300, 0), read(600, 1)],
      charges: [lost(1, 299)],
      spans: [{ ...late, ambiguousBilled: 1 }],
    },
  })
})

describe('a reading is passed over', () => {
  spansAre({
    'while a call is in the air': {
      readings: [read(0, 100), read(10, 101), read(20, 102)],
      charges: [billed(1, 2), billed(9, 11)],
      spans: [{ from: 0, until: 20, used: 2, billed: 2 }],
    },
    'where a call began or ended while it was awaited': {
      readings: [read(0, 100), slowRead(10, 13, 101), slowRead(20, 23, 102), read(30, 102)],
      charges: [billed(1, 11), billed(22, 24)],
      spans: [{ from: 0, until: 30, used: 2, billed: 2 }],
    },
    'during an asynchronous job': {
      readings: [read(0, 100), read(10, 100), read(20, 101), read(40, 101)],
      charges: [billed(1, 30)],
      spans: [{ from: 0, until: 40, used: 1, billed: 1 }],
    },
    'ever after a call that is still in the air': {
      readings: [read(0, 100), read(10, 101), read(500, 102)],
      charges: [billed(1, 2), lost(20, null)],
      spans: [{ from: 0, until: 10, used: 1, billed: 1 }],
    },
    'where it was asked for before the one before it had come': {
      readings: [read(0, 100), slowRead(12, 14, 103), slowRead(10, 16, 101), read(20, 103)],
      spans: [
        { from: 0, until: 14, used: 3, spentByOthers: 3 },
        { from: 14, until: 20, used: 0 },
      ],
    },
  })
})

describe('what was used', () => {
  spansAre({
    'is not known where the service began to count anew': {
      readings: [read(0, 100), read(10, 2), read(20, 3)],
      charges: [billed(1, 2), billed(11, 12)],
      spans: [
        { from: 0, until: 10, used: null, billed: 1 },
        { from: 10, until: 20, used: 1, billed: 1 },
      ],
    },
    'is what is less of the balance where an older record gives no count': {
      readings: [read(0, null, 50), read(10, 700, 48), read(20, 701, 1_047)],
      charges: [billed(1, 2, 2), billed(11, 12)],
      spans: [
        { from: 0, until: 10, used: 2, billed: 2 },
        { from: 10, until: 20, used: 1, billed: 1 },
      ],
    },
    'is not known where that balance was topped up, or is not given either': {
      readings: [read(0, null, 50), read(10, null, 149), read(20, null), read(30, 5)],
      charges: [billed(1, 2)],
      spans: [
        { from: 0, until: 10, used: null, billed: 1 },
        { from: 10, until: 20, used: null },
        { from: 20, until: 30, used: null },
      ],
    },
  })
})
