import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { asciiSigns } from '../../src/output/table.ts'
import { trend } from '../../src/report/cells.ts'
import type { DayCell } from '../../src/report/history/rank-history.ts'
import { wordsOf } from '../../src/report/words/words.ts'

const { trendLegend } = wordsOf('en').unscripted

describe('a trend', () => {
  test.each<[string, readonly DayCell[], string]>([
    ['the limits of each height', [1, 2, 3, 4, 6, 7, 10, 11, 20, 21, 30, 31, 50, 51, 999], '█▇▇▆▆▅▅▄▄▃▃▂▂▁▁'],
    ['an estimated rank as that rank', [1.5, 30.5], '█▃'],
    ['what is absent, to any depth', [5, -11, -31.5, -1], '▆···'],
    ['what is unknown', [5, 0, 5], '▆?▆'],
    ['days of which nothing is known as gaps', [null, 5, null, 5], ' ▆ ▆'],
    ['a last day that has not been looked at yet', [5, null], '▆?'],
    ['no day', [], ''],
  ])('shows %s', (_, cells, shown) => {
    expect(trend(cells, 30)).toBe(shown)
  })

  test('shows the latest days', () => {
    expect(trend([1, 11, 21, 31], 2)).toBe('▃▂')
  })

  test('never shows a better rank lower', () => {
    const height = (rank: number) => '▁▂▃▄▅▆▇█'.indexOf(trend([rank], 1))
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 300 }), (a, b) => {
        expect(height(Math.min(a, b))).toBeGreaterThanOrEqual(height(Math.max(a, b)))
      }),
    )
  })

  test('is explained sign by sign', () => {
    const signs = trend([1, 2, 5, 10, 20, 30, 50, 99, -31, 0], 30)
    for (const sign of signs) expect(trendLegend).toContain(sign)
  })
})

describe('where there is ASCII alone', () => {
  const drawn = '▲ 3 ▼ 2 long… █▇▆▅▄▃▂▁·'

  test('every sign has another one, as wide', () => {
    expect(asciiSigns(drawn)).toBe('+ 3 - 2 long. #%*+=-,_x')
    expect(asciiSigns(trendLegend)).toMatch(/^[ -~]+$/)
  })

  test('words stay', () => {
    expect(asciiSigns('標準 desk')).toBe('標準 desk')
  })

  test('two heights are never the same sign', () => {
    expect(new Set(asciiSigns('█▇▆▅▄▃▂▁·')).size).toBe(9)
  })
})
