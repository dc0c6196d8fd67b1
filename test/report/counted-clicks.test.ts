import { expect, test } from 'vitest'
import type { CountedSpan } from '../../src/arrive/clicks/counted.ts'
import { periodFor, spansFor } from '../../src/report/requests/measured-clicks.ts'

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
  expect(periodFor(spans, { from: 29, until: 56 })?.from ?? null).toBe(wanted)
})
