import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dayLabels, timeAxis } from '../../src/page/client/chart/frame.ts'
import {
  endGutter,
  eventsWithin,
  eventTexts,
  markersAt,
  spread,
} from '../../src/page/client/chart/line-chart.ts'
import { march } from '../report/metrics/history.ts'
import { testTable } from '../support/test-table.ts'

describe('names at the ends of lines', () => {
  testTable<[string, readonly number[], readonly number[]]>([
    ['stay where they are wanted', [10, 40, 80], [10, 40, 80]],
    ['move apart, in their order', [40, 41, 10], [40, 53, 10]],
    ['stay within the plot', [98, 99, 100], [74, 87, 100]],
    ['of one line stay within it, too', [140], [100]],
    ['of none are none', [], []],
  ])('%s', (_, wanted, places) => {
    expect(spread(wanted, { from: 0, to: 100, gap: 13 })).toEqual(places)
  })

  test('have as much room as the longest needs', () => {
    expect(endGutter([])).toBe(10)
    expect(endGutter(['a', 'northdesk.example'])).toBe(endGutter(['northdesk.example']))
    expect(endGutter(['northdesk.example'])).toBeGreaterThan(endGutter(['a']))
  })

  test('never overlap where there is room for all, and stay within the plot', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 1, maxLength: 12 }), (wanted) => {
        const places = spread(wanted, { from: 0, to: 100, gap: 13 }).toSorted((a, b) => a - b)
        const least = Math.min(13, 100 / Math.max(1, wanted.length - 1))
        for (const [index, place] of places.slice(1).entries())
          expect(place - (places[index] as number)).toBeGreaterThanOrEqual(least - 1e-9)
        expect(places[0]).toBeGreaterThanOrEqual(-1e-9)
        expect(places.at(-1)).toBeLessThanOrEqual(100 + 1e-9)
      }),
    )
  })
})

describe('names of days', () => {
  const namesOf = (days: readonly string[], width: number, marked: string | null = null) => {
    const axis = timeAxis(days, { left: 40, right: width - 10 })
    return dayLabels(days, axis, width, marked).map(({ text }) => text)
  }
  const inMarch = (day: string): string => `${day} Mar`
  const daysFrom = (first: number, count: number) =>
    Array.from({ length: count }, (_, day) => march(first + day))

  testTable<[string, readonly string[], number, readonly string[], (string | null)?]>([
    ['one day', [march(1)], 300, ['1 Mar']],
    ['both of two', [march(1), march(2)], 300, ['1 Mar', '2 Mar']],
    ['first and last, and weeks between them', daysFrom(1, 28), 300, ['1 Mar', '14 Mar', '28 Mar']],
    [
      'with their year if there are two',
      daysFrom(-365, 366),
      500,
      ['28 Feb 2025', 'Jul 2025', 'Oct 2025', '28 Feb 2026'],
    ],
    ['none', [], 300, []],
    [
      'every second one, to the last',
      daysFrom(1, 14),
      560,
      ['1', '4', '6', '8', '10', '12', '14'].map(inMarch),
    ],
    [
      'the marked one in place of what it would cover',
      daysFrom(1, 28),
      360,
      ['1', '7', '17', '21', '28'].map(inMarch),
      march(17),
    ],
    [
      'not the marked one where it would cover the last',
      daysFrom(1, 2),
      300,
      ['1', '2'].map(inMarch),
      march(1),
    ],
  ])('%s', (_, days, width, names, marked) => {
    expect(namesOf(days, width, marked)).toEqual(names)
  })

  test('the last one is as near to its day as the edge of the drawing lets it', () => {
    const days = daysFrom(1, 28)
    const last = (right: number) => dayLabels(days, timeAxis(days, { left: 40, right }), 300).at(-1)
    expect(last(240)).toEqual({ x: 240, text: '28 Mar' })
    expect(last(290)).toEqual({ x: 282, text: '28 Mar' })
  })

  test('never overlap', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 250, max: 1900 }), (count, width) => {
        const days = daysFrom(1, count)
        const labels = dayLabels(days, timeAxis(days, { left: 40, right: width - 60 }), width)
        const edges = labels.map(({ x, text }) => [x - text.length * 3, x + text.length * 3] as const)
        for (const [index, [from]] of edges.slice(1).entries())
          expect(from).toBeGreaterThanOrEqual((edges[index] as readonly [number, number])[1])
        expect(labels[0]?.text.split(' ')[0]).toBe(String(Number((days[0] as string).slice(8))))
      }),
    )
  })
})

describe('notes', () => {
  const note = (day: number, text = `on ${day}`) => ({ date: march(day), text, url: null })

  test('are numbered by date, and those of other days are left out', () => {
    const events = eventsWithin([march(2), march(9)], {
      notes: [note(9), note(1), note(2), note(10)],
      compared: march(1),
    })
    expect(events).toEqual({ notes: [note(2), note(9)], compared: null })
  })

  test('are told with their day, or with the next one that has a run', () => {
    const days = [march(2), march(5), march(9)]
    const events = eventsWithin(days, { notes: [note(2), note(4), note(9)], compared: march(5) })
    expect(days.map((_, day) => eventTexts(days, day, events))).toEqual([
      ['Note 1: on 2'],
      ['compared day', 'Note 2: on 4'],
      ['Note 3: on 9'],
    ])
  })

  testTable<[string, readonly number[], readonly string[]]>([
    ['apart', [0, 50, 90], ['1', '2', '3']],
    ['close together are one marker', [0, 20, 90], ['1–2', '3']],
    ['all in one place', [5, 5, 5], ['1–3']],
    ['none', [], []],
  ])('%s', (_, places, texts) => {
    expect(markersAt(places).map(({ text }) => text)).toEqual(texts)
  })
})

describe('without red and green', () => {
  const style = readFileSync(new URL('../../src/page/client/style/base.css', import.meta.url), 'utf8')
  const [light = '', dark = ''] = style.split('@media screen')
  const colour = (of: string, name: string): readonly number[] => {
    const [, hex = ''] = new RegExp(`--${name}: (?:var\\(--brand-\\w+, )?#(\\w{6})`).exec(of) ?? []
    return [0, 2, 4].map((at) => {
      const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
    })
  }
  /** What an eye without the pigment for green sees of a linear colour (Viénot, Brettel and Mollon 1999). */
  const seen = ([red = 0, green = 0, blue = 0]: readonly number[]): readonly number[] => {
    const yellow = 0.29275 * red + 0.70725 * green
    return [yellow, yellow, -0.02234 * red + 0.02234 * green + blue]
  }
  const luminance = ([red = 0, green = 0, blue = 0]: readonly number[]) =>
    0.2126 * red + 0.7152 * green + 0.0722 * blue
  const contrast = (one: readonly number[], other: readonly number[]): number => {
    const [less = 0, more = 0] = [one, other]
      .map((each) => luminance(seen(each)) + 0.05)
      .toSorted((a, b) => a - b)
    return more / less
  }

  test.each([
    ['light', light],
    ['dark', dark],
  ])('lines are told apart by their brightness on %s ground', (_, of) => {
    const [ground, own, rival, lit] = ['ground', 'accent', 'grey-line', 'lit'].map((name) =>
      colour(of, name),
    ) as [readonly number[], readonly number[], readonly number[], readonly number[]]
    expect(contrast(own, ground)).toBeGreaterThan(4.5)
    expect(contrast(rival, ground)).toBeGreaterThan(2)
    // The main line is thicker as well, and has its name in bold at its end.
    expect(contrast(own, rival)).toBeGreaterThan(1.7)
    expect(contrast(lit, rival)).toBeGreaterThan(1.7)
  })
})
