import { expect, test } from 'vitest'
import { type CountedSpan, periodFor, spansFor } from '../../src/arrive/clicks/counted.ts'
import type { Keyword } from '../../src/report/history/rank-history.ts'
import {
  clickSamples,
  rankDifferences,
  withCountedClicks,
} from '../../src/report/requests/measured-clicks.ts'
import { countedSum } from '../../src/report/story/facts.ts'
import type { ClickSpan } from '../../src/store/sqlite/clicks/clicks.ts'
import { aHistory, march } from './metrics/history.ts'

/** Days of a file: `1-28` or `1-10 12-28`. */
const daysOf = (text: string): readonly CountedSpan[] =>
  text.split(' ').flatMap((range) => {
    const [from = 0, until = from] = range.split('-').map(Number)
    return Array.from({ length: until - from + 1 }, (_, place) => ({
      from: from + place,
      until: from + place,
      spans: [],
    }))
  })

test.each<[string, string, readonly [now: string, before: string | null] | null]>([
  ['all days', '1-56', ['29-56', '1-28']],
  ['the newest three days are late', '1-53', ['29-53', '4-28']],
  ['four days are too many', '1-52', null],
  ['one day is missing', '1-40 42-56', ['29-56', '1-28']],
  ['a week is missing', '1-35 43-56', null],
  ['nothing before', '29-56', ['29-56', null]],
  ['too little before', '15-56', ['29-56', null]],
  ['it begins in the middle', '40-56', null],
  ['other days', '60-90', null],
])('the period from day 29 to 56 with %s: %s', (_, stored, wanted) => {
  const found = spansFor(daysOf(stored), { from: 29, until: 56 })
  const shown = (spans: readonly CountedSpan[]) => `${spans[0]?.from}-${spans.at(-1)?.until}`
  expect(found && [shown(found.now), found.before && shown(found.before)]).toEqual(wanted)
})

test.each([
  ['the same', [[29, 56]], 29],
  ['a longer one that has it', [[1, 56]], 1],
  ['most of it', [[20, 50]], 20],
  ['too little of it', [[1, 40]], null],
  ['a year', [[-300, 56]], null],
  [
    'the newest of two',
    [
      [25, 52],
      [29, 56],
    ],
    29,
  ],
])('the period from day 29 to 56 with %s', (_, stored, wanted) => {
  const spans = stored.map(([from = 0, until = 0]) => ({ from, until, spans: [] }))
  expect(periodFor(spans, { from: 29, until: 56, begins: 1 })?.from ?? null).toBe(wanted)
})

test.each<[string, readonly (number | null)[], position: number, rank: number | null]>([
  ['within three places', [5, 5, 5], 8, null],
  ['further apart', [5, 5, 5], 8.5, 5],
  ['apart in the mean of the counted days alone', [1, 9, 11], 4, 10],
  ['not ranked in the counted days: the newest rank counts', [2, null, null], 9, 2],
  ['never ranked', [null, null, null], 9, null],
])('rank and position of Search Console: %s', (_, cells, position, rank) => {
  const counted = { clicks: 1, impressions: 50, position, clicksBefore: null }
  const history = aHistory([{ cells, counted }], {
    countedClicks: { from: march(2), until: march(3), before: null },
  })
  const told = rank === null ? [] : [{ query: 'standing desk', rank, position, impressions: 50 }]
  expect(rankDifferences(history)).toEqual(told)
})

test('a job that began within its period takes an export of three months, which is longer', () => {
  const found = (from: number, until: number, begins: number) =>
    periodFor([{ from, until, spans: [] }], { from: 29, until: 56, begins })?.from ?? null
  expect(found(-36, 53, 1)).toBeNull()
  expect(found(-36, 53, 56)).toBe(-36)
  expect(found(-90, 30, 56)).toBeNull()
})

test('a query of two markets that its file does not tell apart is once in the sum', () => {
  const [desks] = aHistory([{}]).keywords as [Keyword]
  const of = (query: string, clicks: number) => ({
    keyword: { ...desks, query, counted: { clicks, impressions: 100, position: 4, clicksBefore: 1 } },
  })
  const days = {
    from: '2026-02-01',
    until: '2026-02-28',
    before: { from: '2026-01-04', until: '2026-01-31' },
  }
  const sum = countedSum([of('Desk', 9), of('desk', 9), of('lamp', 9), of('desk', 2)], days)
  expect(sum).toMatchObject({ clicks: 20, impressions: 300, before: 3 })
})

test('of years of clicks the days that are looked at are read: those of the period, and for a curve those with ranks', () => {
  const day = (date: number): number => Date.parse(march(date)) / 86_400_000
  const spans = Array.from({ length: 900 }, (_, place): ClickSpan => {
    const own = day(28 - place)
    return {
      table: 1,
      property: 'sc-domain:acme.com',
      countedBy: 'property',
      rowsOf: 'query',
      timeSpan: 'day',
      hasCountries: false,
      day: own,
      untilDay: own,
      clicks: 1,
      impressions: 1,
      anonymousClicks: 0,
      anonymousImpressions: 0,
    }
  })
  const read: unknown[] = []
  const store = {
    clickSpans: () => spans,
    clicksOf: (_queries: unknown, _tables: unknown, days: unknown) => {
      read.push(days)
      return []
    },
  }
  const history = aHistory([{ cells: [3, 4, 5] }])
  clickSamples(store, history)
  withCountedClicks(store, history, { from: march(-6), until: march(3) })
  expect(read).toEqual([
    { from: day(1), until: day(3) },
    { from: day(3) - 27, until: day(3) },
    { from: day(3) - 55, until: day(3) - 28 },
  ])
})
