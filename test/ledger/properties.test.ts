import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type UsageInterval, verifyLedger } from '../../src/ledger/verify.ts'
import {
  certainHistory,
  counted,
  type History,
  history,
  lateHistory,
  lonelyHistory,
  quietReadings,
} from './history.ts'

const often = { numRuns: 2_000 }

const sum = (spans: readonly UsageInterval[], of: Exclude<keyof UsageInterval, 'used'>): number =>
  spans.reduce((total, span) => total + span[of], 0)

const credits = (charges: readonly { readonly credits: number }[]): number =>
  charges.reduce((total, one) => total + one.credits, 0)

/** What was counted from the first quiet reading to the one that many after it. */
function countedBy(history: History, later: number) {
  const quiet = quietReadings(history)
  const [from, until] = [quiet[0]?.snapshotAt ?? 0, quiet[later]?.snapshotAt ?? 0]
  const lost = history.calls.filter(({ certain }) => !certain)
  return {
    foreign: counted(history.foreign, from, until),
    lost: counted(lost, from, until),
    all: counted([...history.calls, ...history.foreign], from, until),
  }
}

describe('whatever happened', () => {
  test('spans lie between the quiet readings, and every call is in one of them or named as not compared', () => {
    fc.assert(
      fc.property(history, (history) => {
        const { spans, unverified } = verifyLedger(history.readings, history.calls)
        const quiet = quietReadings(history)
        const ends = quiet.slice(1).map((end, index) => ({ from: quiet[index]?.readAt, until: end.readAt }))
        expect(spans.map(({ from, until }) => ({ from, until }))).toEqual(ends)
        const compared = sum(spans, 'billed') + sum(spans, 'ambiguous')
        expect(unverified.before + compared + unverified.after).toBe(credits(history.calls))
      }),
      often,
    )
  })

  test('every counted credit is explained once, span by span and in all', () => {
    fc.assert(
      fc.property(fc.oneof(history, lateHistory), (history) => {
        const { spans, total } = verifyLedger(history.readings, history.calls)
        for (const { used, billed, ambiguousBilled, spentByOthers, notCounted } of [
          ...spans,
          ...(total === null ? [] : [total]),
        ])
          expect(billed + ambiguousBilled + spentByOthers - notCounted).toBe(used)
        expect(total?.used ?? 0).toBe(countedBy(history, spans.length).all)
      }),
      often,
    )
  })
})

describe('where every end is known', () => {
  test('each span tells exactly what others spent, and nothing is missing', () => {
    fc.assert(
      fc.property(certainHistory, (history) => {
        const { spans } = verifyLedger(history.readings, history.calls)
        const quiet = quietReadings(history)
        for (const [index, { spentByOthers, ambiguousBilled, notCounted }] of spans.entries()) {
          const [from, until] = [quiet[index]?.snapshotAt ?? 0, quiet[index + 1]?.snapshotAt ?? 0]
          expect(spentByOthers).toBe(counted(history.foreign, from, until))
          expect([ambiguousBilled, notCounted]).toEqual([0, 0])
        }
      }),
      often,
    )
  })

  test('in all, nothing is missing once all that was counted late has been counted', () => {
    fc.assert(
      fc.property(lateHistory, (history) => {
        const { total, spans } = verifyLedger(history.readings, history.calls)
        const last = quietReadings(history)[spans.length]?.snapshotAt ?? 0
        const open = history.calls.filter(({ until, countedAt }) => until <= last && (countedAt ?? 0) > last)
        expect(total?.notCounted ?? 0).toBeLessThanOrEqual(credits(open))
      }),
      often,
    )
  })
})

describe('where calls were lost', () => {
  test('up to each span, others spent at least what is said of them, and at most that and what may be ours', () => {
    fc.assert(
      fc.property(history, (history) => {
        const { spans } = verifyLedger(history.readings, history.calls)
        for (const index of spans.keys()) {
          const past = spans.slice(0, index + 1)
          const truth = countedBy(history, index + 1)
          expect(sum(past, 'spentByOthers')).toBeLessThanOrEqual(truth.foreign)
          // So it is at most that much, too: what is lost cannot be less than nothing.
          expect(sum(past, 'spentByOthers') + sum(past, 'ambiguousBilled')).toBe(truth.foreign + truth.lost)
        }
        expect(sum(spans, 'notCounted')).toBe(0)
      }),
      often,
    )
  })

  test('no more is called billed than was lost', () => {
    fc.assert(
      fc.property(history, (history) => {
        const { spans } = verifyLedger(history.readings, history.calls)
        const lost = history.calls.filter(({ certain }) => !certain)
        for (const [index, span] of spans.entries())
          expect(sum(spans.slice(0, index + 1), 'ambiguousBilled')).toBeLessThanOrEqual(
            credits(lost.filter(({ from }) => from < span.until)),
          )
      }),
      often,
    )
  })

  test('all together say the same as the spans one by one', () => {
    fc.assert(
      fc.property(history, (history) => {
        const { spans, total } = verifyLedger(history.readings, history.calls)
        for (const of of ['billed', 'ambiguous', 'ambiguousBilled', 'spentByOthers', 'notCounted'] as const)
          expect(total?.[of] ?? 0).toBe(sum(spans, of))
      }),
      often,
    )
  })

  test('how much of it was billed is told exactly where nobody else spends', () => {
    fc.assert(
      fc.property(lonelyHistory, (history) => {
        const { spans, total } = verifyLedger(history.readings, history.calls)
        const truth = countedBy(history, spans.length)
        expect([total?.ambiguousBilled ?? 0, total?.spentByOthers ?? 0]).toEqual([truth.lost, 0])
      }),
      often,
    )
  })
})
