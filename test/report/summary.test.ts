import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { daily } from '../../src/report/daily.ts'
import { summaryDocument } from '../../src/report/formats/figures-json.ts'
import { byHeadline, valueText } from '../../src/report/headline.ts'
import { ranksOn, valueOn } from '../../src/report/history/keyword-status.ts'
import { type RankHistory, unknown } from '../../src/report/history/rank-history.ts'
import { metrics } from '../../src/report/metrics/definitions.ts'
import type { AbsentAs, MetricOptions } from '../../src/report/metrics/figure.ts'
import { headlineMetrics } from '../../src/report/metrics/index.ts'
import { distribution } from '../../src/report/metrics/positions.ts'
import { type Summary, segments, summarise } from '../../src/report/summary.ts'
import { testTable } from '../support/test-table.ts'
import { type ASeries, aCell, aHistory, aPageOf, curve, histories, march } from './metrics/history.ts'

const options: MetricOptions = { curve }
const summaryOf = (all: readonly ASeries[], more: Partial<RankHistory> = {}): Summary =>
  summarise(aHistory(all, more), options)

/** Numbers that were added up in another order are the same. */
const rounded = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, one) => (typeof one === 'number' ? Number(one.toPrecision(9)) + 0 : one)),
  )

describe('headline figures', () => {
  test('stand beside those of the same keywords before', () => {
    const [own] = summaryOf([
      { query: 'up', volume: 100, cells: [2, 1] },
      { query: 'down', volume: 300, cells: [2, 3] },
      { query: 'new', volume: 100, cells: [null, 1] },
      { query: 'unknown now', volume: 100, cells: [1, 0] },
      { query: 'unknown before', cells: [0, -11] },
    ]).targets
    const coverage = { ranked: 3, observed: 4, expected: 5 }
    // (0.5 + 0.1 + 0.5 + 0) / (0.5 * 4)
    expect(own?.figures.visibility).toMatchObject({ value: expect.closeTo(0.55, 12), coverage })
    // Of two keywords: (0.5 + 0.1) / 1 now, (0.2 + 0.2) / 1 before
    expect(own?.figures.visibility.cohort).toMatchObject({
      now: { value: expect.closeTo(0.6, 12), coverage: { observed: 2, expected: 2 } },
      before: { value: expect.closeTo(0.4, 12) },
      delta: expect.closeTo(0.2, 12),
    })
    // (50 + 30 + 50) / 500; of two keywords 80 / 400 now, (20 + 60) / 400 before
    expect(own?.figures.share_of_voice).toMatchObject({
      value: 0.26,
      uncounted: 1,
      cohort: { now: { value: 0.2 }, before: { value: 0.2 }, delta: 0 },
    })
    // (1 + 3 + 1 + 11) / 4; of two keywords (1 + 3) / 2 now, (2 + 2) / 2 before
    expect(own?.figures.average_position).toMatchObject({
      value: 4,
      cohort: { now: { value: 2 }, before: { value: 2 }, delta: 0 },
    })
    expect(own?.distribution).toMatchObject({ 1: 2, '2-3': 1, absent: 1, unknown: 1 })
    expect(own?.movements).toMatchObject({ improved: 1, declined: 1, new: 1, unknown: 2 })
  })

  test('do not move where only the depth does: rank 35 of 100 results, then absent from 20', () => {
    const [own] = summaryOf([
      { query: 'p', cells: [35, -21] },
      { query: 'q', cells: [-101, -21] },
    ]).targets
    for (const { name } of headlineMetrics.filter(({ needs }) => needs === undefined))
      expect(own?.figures[name].cohort?.delta).toBe(0)
  })

  test('are of what ranks on both days, where absent is left out: (2 - 1) / 1', () => {
    const history = aHistory([
      { query: 'p', cells: [1, 2] },
      { query: 'q', cells: [40, -101] },
    ])
    const [own] = summarise(history, { curve, absent: 'left out' }).targets
    expect(own?.figures.average_position).toMatchObject({ value: 2, uncounted: 1, cohort: { delta: 1 } })
  })

  test('have nothing to be compared with on the first day', () => {
    const { targets, compared, added, removed } = summaryOf([{ cells: [3] }])
    expect(targets[0]?.figures.visibility).toMatchObject({ value: 0.2, cohort: null })
    expect({ compared, added, removed }).toEqual({ compared: [], added: 1, removed: 0 })
  })

  test('are those of every target, and how it does against the others', () => {
    const { targets } = summaryOf([
      { cells: [3] },
      { of: 'rival.com', cells: [1] },
      { of: 'other.com', cells: [2] },
    ])
    const told = targets.map(({ target: { label, own }, figures, competitors: against }) => [
      ...[label, own, figures.visibility.value],
      ...against.map(({ other, won, lost }) => `${other.label} ${won}:${lost}`),
    ])
    expect(told).toEqual([
      ['acme.com', true, 0.2, 'rival.com 0:1', 'other.com 0:1'],
      ['rival.com', false, 1, 'acme.com 1:0', 'other.com 1:0'],
      ['other.com', false, 0.4, 'acme.com 1:0', 'rival.com 0:1'],
    ])
  })

  test('of an asked day are those of the days near it', () => {
    const history = aHistory([{ volume: 1, cells: [1, 2, 3, 3] }])
    const compare = { day: march(1), tolerance: 1 }
    expect(summarise(history, { curve, compare }).compared).toEqual([march(1)])
    expect(summarise(history, { curve, compare }).targets[0]?.losers[0]?.gain).toBeCloseTo(0.1 - 0.5, 12)
  })

  test('take as many winners and losers as are wanted', () => {
    const all = Array.from({ length: 12 }, (_, index): ASeries => ({ query: `q${index}`, cells: [9, 1] }))
    expect(summaryOf(all).targets[0]?.winners).toHaveLength(10)
    expect(summarise(aHistory(all), { curve, movers: 3 }).targets[0]?.winners).toHaveLength(3)
  })
})

describe('keywords added and removed', () => {
  const gone = (last: number) => ({
    query: `gone ${last}`,
    operation: 'alpha.search',
    params: {},
    last: march(last),
  })

  test('are counted since the day that is compared with', () => {
    const { added, removed, keywords } = summaryOf(
      [
        { query: 'old', cells: [1, 1, 1] },
        { query: 'new', cells: [null, null, 1] },
        { query: 'new', of: 'rival.com', cells: [null, null, -11] },
        { query: 'with a new competitor', cells: [1, 1, 1] },
        { query: 'with a new competitor', of: 'rival.com', cells: [null, null, 1] },
        { query: 'not observed yet', cells: [null, null, 0] },
        { query: 'last known long ago', cells: [1, 0, 1] },
      ],
      { removed: [gone(1), gone(2)] },
    )
    expect({ added, removed, keywords }).toEqual({ added: 1, removed: 1, keywords: 5 })
  })

  test('are all where every keyword is another one', () => {
    expect(summaryOf([{ cells: [null, 1] }], { removed: [gone(1)] })).toMatchObject({ added: 1, removed: 1 })
  })
})

test('the order of series never matters', () => {
  const withOrder = histories().chain((history) =>
    fc.tuple(
      fc.constant(history),
      fc.shuffledSubarray([...history.series], { minLength: history.series.length }),
    ),
  )
  fc.assert(
    fc.property(withOrder, ([history, series]) => {
      const other = { ...history, series }
      const documentOf = (one: RankHistory) => rounded(summaryDocument(summarise(one, options), aPageOf(one)))
      expect(documentOf(other)).toEqual(documentOf(history))
      expect(rounded(segments(other, options))).toEqual(rounded(segments(history, options)))
      expect(rounded(daily(other, 0, options))).toEqual(rounded(daily(history, 0, options)))
    }),
    { numRuns: 40 },
  )
})

test('a keyword of which nothing is known changes no value, but what is expected', () => {
  fc.assert(
    fc.property(histories(), (history) => {
      const cells = history.days.map(() => 0)
      const keywords = [...history.keywords, { ...history.keywords[0], query: 'unheard of' } as const]
      const one = {
        keyword: keywords.length - 1,
        target: 0,
        cells,
        seen: {},
        absentDepths: [],
        links: [],
        places: {},
      }
      const more = { ...history, keywords, series: [...history.series, one] } as RankHistory
      const [before] = summarise(history, options).targets
      const [after] = summarise(more, options).targets
      for (const { name } of headlineMetrics) {
        const { coverage, ...figure } = before?.figures[name] ?? {}
        expect(after?.figures[name]).toEqual({
          ...figure,
          coverage: { ...coverage, expected: (coverage?.expected ?? 0) + 1 },
        })
      }
      expect(after).toMatchObject({ winners: before?.winners, losers: before?.losers })
    }),
  )
})

test('deltas turn round when the days do', () => {
  const observed = aCell.filter((cell) => cell !== null)
  fc.assert(
    fc.property(histories(observed, { min: 2, max: 2 }), (history) => {
      const turned = {
        ...history,
        series: history.series.map((one) => ({
          ...one,
          cells: one.cells.toReversed(),
          seen: Object.fromEntries(Object.entries(one.seen).map(([day, seen]) => [1 - Number(day), seen])),
        })),
      }
      const [there, back] = [summarise(history, options).targets, summarise(turned, options).targets]
      for (const [index, { figures }] of there.entries())
        for (const { name } of headlineMetrics) {
          const [delta, other] = [figures[name].cohort?.delta, back[index]?.figures[name].cohort?.delta]
          expect(other ?? 0).toBeCloseTo(-(delta ?? 0), 9)
        }
    }),
  )
})

describe('day by day', () => {
  const history = aHistory([
    { query: 'p', volume: 100, cells: [1, 0, 2] },
    { query: 'q', cells: [-11, null, null] },
    { query: 'p', of: 'rival.com', cells: [1, 1, 1] },
  ])

  test('a day on which most searches failed, or were never made, is partial; one before keywords were added is not', () => {
    const all = [
      { query: 'a', cells: [1, 2, 0, null, 1] },
      { query: 'b', cells: [1, 0, 0, null, 1] },
      { query: 'c', cells: [1, 0, 1, 1, 0] },
      { query: 'added', cells: [null, 2, null, null, null] },
    ]
    const days = daily(aHistory(all), 0, options)
    expect(days.map(({ asked, isPartial }) => [asked, isPartial])).toEqual([
      [3, false],
      [4, false],
      [4, true],
      [4, true],
      [4, false],
    ])
  })

  test('each day is what the metrics make of all its keywords at once', () => {
    fc.assert(
      fc.property(histories(), fc.constantFrom<AbsentAs>('depth', 'left out', 101), (made, absent) => {
        const kinds = ['organic', 'reference', 'news'] as const
        const keywords = made.keywords.map((one, place) => ({ ...one, kind: kinds[place % 3] ?? 'organic' }))
        const history = { ...made, keywords }
        const measure = { curve, absent }
        const last = history.days.length - 1
        const those = history.series.filter(({ target }) => target === 0)
        const expected = history.days.map((_, day) => {
          const all = those
            .map((series) => ({
              value: valueOn(series, day) ?? (day === last ? unknown : null),
              ranks: ranksOn(series, day),
              kind: history.keywords[series.keyword]?.kind ?? 'organic',
              volume: history.keywords[series.keyword]?.volume ?? null,
            }))
            .flatMap(({ value, ...rest }) => (value === null ? [] : [{ value, ...rest }]))
          return {
            figures: byHeadline(({ compute }) => compute(all, measure)),
            distribution: distribution(all.map(({ value }) => value)),
          }
        })
        const shown = daily(history, 0, measure).map(({ figures, distribution: counts }) => ({
          figures,
          distribution: counts,
        }))
        expect(rounded(shown)).toEqual(rounded(expected))
      }),
    )
  })

  test('each day speaks for what was observed on it', () => {
    const days = daily(history, 0, options).map(({ day, coverage, figures, distribution }) => ({
      day,
      coverage: Object.values(coverage),
      values: headlineMetrics.map(({ name }) => figures[name].value),
      unknown: distribution.unknown,
    }))
    expect(days).toEqual([
      // 0.5 / 1, 50 / 100, (1 + 11) / 2, 100 x 0.5
      { day: march(1), coverage: [1, 2, 2], values: [0.5, 0.5, 6, 50], unknown: 0 },
      { day: march(2), coverage: [0, 0, 1], values: [null, null, null, null], unknown: 1 },
      // 0.2 / 0.5, 20 / 100, 2, 100 x 0.2; what is missing on the last day is unknown
      { day: march(3), coverage: [1, 1, 2], values: [0.4, 0.2, 2, 20], unknown: 1 },
    ])
  })

  test('from a day on they are the same, whichever days were asked for before', () => {
    fc.assert(
      fc.property(histories(), fc.nat(4), (one, from) => {
        const known = { curve }
        const later = daily(one, 0, known, from)
        const all = daily(one, 0, known)
        expect(rounded(all.slice(from))).toEqual(rounded(later))
        expect(daily(one, 0, known, from)).toEqual(later)
      }),
    )
  })

  test('the last day is what the summary says', () => {
    fc.assert(
      fc.property(histories(), (one) => {
        for (const [index, { figures, distribution }] of summarise(one, options).targets.entries()) {
          const last = daily(one, index, options).at(-1)
          expect(last?.distribution).toEqual(distribution)
          for (const { name } of headlineMetrics)
            expect(rounded(figures[name])).toMatchObject(rounded(last?.figures[name] ?? {}) as object)
        }
      }),
    )
  })
})

describe('tags', () => {
  test('each has the figures of its keywords, and what has none comes last', () => {
    const all = segments(
      aHistory([
        { query: 'r', cells: [3, 3] },
        { query: 'p', tags: ['b', 'a', 'b'], cells: [2, 1] },
        { query: 'q', tags: ['b'], cells: [-11, -11] },
        { query: 'q', tags: ['b'], of: 'rival.com', cells: [1, 1] },
      ]),
      options,
    )
    const told = all.map(({ tag, keywords, target, figures: { visibility } }) => [
      ...[tag, keywords, target.label, visibility.value, visibility.cohort?.delta],
    ])
    expect(told).toEqual([
      // 0.5 / 0.5, before 0.2 / 0.5
      ['a', 1, 'acme.com', 1, 0.6],
      // (0.5 + 0) / 1, before 0.2 / 1; the competitor has 0.5 / 0.5 of the one keyword that it is looked for
      ['b', 2, 'acme.com', 0.5, 0.3],
      ['b', 2, 'rival.com', 1, 0],
      // 0.1 / 0.5
      [null, 1, 'acme.com', 0.2, 0],
    ])
  })
})

test('a document says of every number what it is and what it is made of', () => {
  const history = aHistory([
    { query: 'desk', volume: 100, cells: [3, 1] },
    { query: 'desk', of: 'rival.com', cells: [1, 2] },
  ])
  const { targets, first_ten, ...rest } = summaryDocument(summarise(history, options), aPageOf(history))
  expect(first_ten).toMatchObject([{ kind: 'organic', engine: 'alpha' }])
  expect(rest).toEqual({
    kind: 'organic',
    job: 'acme',
    date: march(2),
    period: null,
    compared_with: [march(1)],
    ctr_curve: { name: 'test', version: '1', source: 'made up' },
    keywords: { asked: 1, added: 0, removed: 0 },
  })
  const parts = { numerator: 0.5, denominator: 0.5, ranked: 1, observed: 1, expected: 1, uncounted: 0 }
  expect(targets[0]).toMatchObject({ target: 'acme.com', own: true, site: 'acme.com' })
  expect(targets[0]?.figures[0]).toEqual({
    metric: 'visibility',
    label: 'visibility',
    unit: 'share',
    better: 'higher',
    definition: metrics.visibility.definition,
    formula: 'sum of CTR(rank) / (CTR(1) x checked keywords)',
    divided_by: 'CTR(1) x checked keywords',
    kind: 'organic',
    engine: 'alpha',
    value: 1,
    ...parts,
    // 0.1 / 0.5 before
    same_keywords: {
      now: { value: 1, ...parts },
      before: { value: 0.2, ...parts, numerator: 0.1 },
      delta: 0.8,
    },
  })
  expect(targets[0]?.top_ranks).toMatchObject({ top_3: 1, top_10: 1 })
  expect(targets[0]?.movers.winners).toEqual([
    {
      query: 'desk',
      operation: 'alpha.search',
      params: {},
      volume: 100,
      movement: 'improved',
      rank: 1,
      previous_rank: 3,
      change: 2,
      // (0.5 - 0.1) * 100
      gain: 40,
    },
  ])
  expect(targets[1]?.head_to_head).toMatchObject([{ against: 'acme.com', won: 0, lost: 1 }])
})

testTable<[number | null, 'share' | 'rank', string]>([
  [0.1234, 'share', '12.3%'],
  [12.34, 'rank', '12.3'],
  [null, 'share', '-'],
])('%d as a %s reads %s', (value, unit, text) => {
  expect(valueText(value, { unit })).toBe(text)
})
