import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { defaultCurve } from '../../../src/report/ctr.ts'
import { filterPage, type PageData } from '../../../src/report/data.ts'
import { filterHistory, type HistoryFilter } from '../../../src/report/history/filter-history.ts'
import { keywordStatuses, valueOn } from '../../../src/report/history/keyword-status.ts'
import type { RankHistory } from '../../../src/report/history/rank-history.ts'
import { rankingLink } from '../../../src/report/metrics/pages.ts'
import { plainPresentation } from '../../../src/report/presentation/presentation.ts'
import { aHistory, aSerp, histories, march } from '../metrics/history.ts'

const history = aHistory(
  [
    { query: 'Desk', tags: ['head'], params: { gl: 'us', hl: 'en' }, cells: [1, 2, 3] },
    { query: 'Desk', of: 'rival.com', params: { gl: 'us', hl: 'en' }, cells: [4, 5, 6] },
    { query: 'desk lamp', tags: ['lamp', 'new'], params: { gl: 'gb', location: 'Leeds' }, cells: [7, 8, 9] },
    { query: 'lamp', operation: 'beta.search', cells: [null, null, 5] },
  ],
  {
    removed: [
      { query: 'old desk', operation: 'alpha.search', params: { gl: 'us' }, last: march(1) },
      { query: 'old lamp', operation: 'beta.search', params: {}, last: march(2) },
    ],
  },
)

/** What is kept: query and target of series, and removed queries. */
function kept(filter: HistoryFilter): readonly string[] {
  const { series, keywords, targets, removed } = filterHistory(history, filter)
  return [
    ...series.map(({ keyword, target }) => `${keywords[keyword]?.query} ${targets[target]?.label}`),
    ...removed.map(({ query }) => query),
  ]
}

const [desk, rival, deskLamp, lamp] = [
  'Desk acme.com',
  'Desk rival.com',
  'desk lamp acme.com',
  'lamp acme.com',
]

describe('a history is restricted', () => {
  test.each<[string, HistoryFilter, readonly (string | undefined)[]]>([
    ['to nothing less', {}, [desk, rival, deskLamp, lamp, 'old desk', 'old lamp']],
    [
      'by empty lists to nothing less',
      { tags: [], operations: [] },
      [desk, rival, deskLamp, lamp, 'old desk', 'old lamp'],
    ],
    ['to a tag', { tags: ['new', 'none'] }, [deskLamp]],
    ['to any of some tags', { tags: ['head', 'lamp'] }, [desk, rival, deskLamp]],
    ['to a target', { targets: ['rival.com'] }, [rival]],
    ['to an operation', { operations: ['beta.search'] }, [lamp, 'old lamp']],
    ['to a text', { text: 'DESK' }, [desk, rival, deskLamp, 'old desk']],
    ['to all of these', { text: 'lamp', tags: ['new'], targets: ['acme.com'] }, [deskLamp]],
    [
      'to the first days, of which one says nothing of a keyword',
      { until: march(2) },
      [desk, rival, deskLamp, 'old desk', 'old lamp'],
    ],
    ['to the last days', { from: march(2) }, [desk, rival, deskLamp, lamp, 'old lamp']],
    ['to days that there are not', { from: march(9) }, [desk, rival, deskLamp, lamp]],
  ])('%s', (_, filter, expected) => {
    expect(kept(filter)).toEqual(expected)
  })

  test('to days, which are numbered again', () => {
    const whole = aHistory([
      {
        cells: [-11, 2, 3, -31, 4],
        seen: { 0: 5, 3: -1 },
        links: [
          [0, null],
          [1, 8],
          [4, 9],
        ],
        places: {
          1: [
            [2, 8],
            [5, 9],
          ],
          4: [
            [4, 9],
            [6, 8],
          ],
        },
      },
    ])
    expect(filterHistory(whole, { from: march(3), until: march(4) })).toMatchObject({
      days: [march(3), march(4)],
      series: [{ cells: [3, -31], seen: { 1: -1 }, links: [[0, 8]], places: {} }],
    })
    expect(filterHistory(whole, { from: march(5) }).series).toMatchObject([
      {
        cells: [4],
        links: [[0, 9]],
        places: {
          0: [
            [4, 9],
            [6, 8],
          ],
        },
      },
    ])
  })

  test('and the days that stay say what they said', () => {
    fc.assert(
      fc.property(histories(), fc.nat(5), fc.nat(5), (all, from, length) => {
        const linked: RankHistory = {
          ...all,
          series: all.series.map((one) => ({
            ...one,
            links: one.cells.map((_, day) => [day, day] as const),
          })),
        }
        const range = { from: march(from + 1), until: march(from + 1 + length) }
        const less = filterHistory(linked, range)
        for (const one of less.series) {
          const before = linked.series.find(
            ({ keyword, target }) => keyword === one.keyword && target === one.target,
          )
          less.days.forEach((_, day) => {
            expect(before && valueOn(before, day + from)).toEqual(valueOn(one, day))
            expect(before && rankingLink(before, day + from)).toEqual(rankingLink(one, day))
          })
        }
        expect(keywordStatuses(less, null)).toHaveLength(less.series.length)
      }),
    )
  })
})

test('a page of less shows the results, citations and runs of what is left', () => {
  const run = {
    ...{ run: 1, finishReason: null, tasks: { planned: 1, done: 1, failed: 0 }, spent: 1, ambiguous: 0 },
  }
  const data: PageData = {
    history,
    period: null,
    compare: null,
    requestedPeriod: { period: null, compare: null },
    presentation: plainPresentation,
    measure: { curve: defaultCurve },
    runs: [1, 2, 3].map((day) => ({ ...run, run: day, date: march(day) })),
    serps: [0, 1, 2].flatMap((day) => [0, 1].map((keyword) => aSerp([keyword], { keyword, day }))),
    citations: [0, 2].map((day) => ({ keyword: 0, day, references: 1, cited: [] })),
    features: [0, 1].map((keyword) => ({ keyword, changes: [0, 1, 2, 33] })),
    texts: [],
    sites: [],
    links: [],
  }
  const less = filterPage(data, { tags: ['head'], from: march(2) })
  expect(less.history).toEqual(filterHistory(history, { tags: ['head'], from: march(2) }))
  expect(less.runs.map(({ run: one }) => one)).toEqual([2, 3])
  expect(less.serps.map(({ keyword, day }) => [keyword, day])).toEqual([
    [0, 0],
    [0, 1],
  ])
  expect(less.citations.map(({ day }) => day)).toEqual([1])
  expect(less.features).toEqual([{ keyword: 0, changes: [0, 1, 1, 33] }])
})
