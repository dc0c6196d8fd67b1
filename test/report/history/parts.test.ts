import { describe, expect, test } from 'vitest'
import type { ResultKind } from '../../../src/model/result.ts'
import { daily } from '../../../src/report/daily.ts'
import { summaryDocument } from '../../../src/report/formats/figures-json.ts'
import { summaryText } from '../../../src/report/formats/table.ts'
import { historyOfParts, partsOf } from '../../../src/report/history/filter-history.ts'
import { keywordStatuses } from '../../../src/report/history/keyword-status.ts'
import { winnersAndLosers } from '../../../src/report/metrics/movements.ts'
import { segments, summarise } from '../../../src/report/summary.ts'
import { type ASeries, aHistory, aPageOf, aSerp, curve } from '../metrics/history.ts'

const web: readonly ASeries[] = [
  { query: 'desk', volume: 100, cells: [3, 1] },
  { query: 'lamp', volume: 300, cells: [2, 3] },
]
const bing: ASeries = { query: 'desk', operation: 'beta.search', volume: 100, cells: [9, 2] }
const news: ASeries = { query: 'desk', operation: 'alpha.news', kind: 'news', volume: 100, cells: [2, 2] }
const answer: ASeries = {
  ...{ query: 'desk', operation: 'alpha.ai', kind: 'reference', volume: 100, tags: ['ai'], cells: [4, 1] },
}
const all = aHistory([answer, ...web, bing, news])

const documentOf = (history = all, more: Partial<Parameters<typeof summarise>[1]> = {}) =>
  summaryDocument(summarise(history, { curve, ...more }), aPageOf(history)).targets[0]
const told = (figures: readonly { metric: string; engine: string; value: number | null }[] = []) =>
  figures.map(({ metric, engine, value }) => [
    metric,
    engine,
    value === null ? null : Number(value.toFixed(6)),
  ])

describe('the figures of the headline', () => {
  test('are of web results, each engine apart, whatever else the job asks', () => {
    const alone = documentOf(aHistory(web))
    const mixed = documentOf()
    expect(mixed?.figures.filter(({ engine }) => engine === 'alpha')).toEqual(alone?.figures)
    expect(told(mixed?.figures.filter(({ engine }) => engine === 'beta'))).toEqual([
      // 0.2 / 0.5
      ['visibility', 'beta', 0.4],
      ['share_of_voice', 'beta', 0.2],
      ['average_position', 'beta', 2],
      ['clicks', 'beta', 20],
      ['serp_share_of_voice', 'beta', null],
      ['first_ten_share', 'beta', null],
    ])
    expect(mixed?.movements).toMatchObject({ improved: 2, declined: 1, same: 0 })
    expect(mixed?.best_rank).toMatchObject({ value: 1, query: 'desk', operation: 'alpha.search' })
  })

  test('have other kinds beside them, without what a click curve makes', () => {
    expect(documentOf()?.other_kinds.map(({ kind, figures }) => [kind, told(figures)])).toEqual([
      [
        'news',
        [
          ['average_position', 'alpha', 2],
          ['first_ten_share', 'alpha', null],
        ],
      ],
      [
        'reference',
        [
          ['average_position', 'alpha', 1],
          ['first_ten_share', 'alpha', null],
        ],
      ],
    ])
  })

  test('are of another kind if that is asked for', () => {
    expect(documentOf(all, { kind: 'news' })?.figures[0]).toMatchObject({
      kind: 'news',
      metric: 'average_position',
      value: 2,
    })
    expect(documentOf(all, { kind: 'reference' })?.figures).toMatchObject([
      { metric: 'average_position', value: 1 },
      { metric: 'first_ten_share' },
    ])
  })

  test('are of what there is where the job asks for no web results', () => {
    expect(documentOf(aHistory([answer, news]))?.figures[0]).toMatchObject({ kind: 'news', engine: 'alpha' })
    expect(partsOf(aHistory([])).length).toBe(0)
  })

  test('count the first results of their own kind alone', () => {
    const serps = [
      aSerp([7, 1, 2], { keyword: 0, day: 1, targets: { 7: [0] } }),
      aSerp([1, 2, 3], { keyword: 1, day: 1 }),
    ]
    const page = aPageOf(all, { serps, sites: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'] })
    const { targets, first_ten } = summaryDocument(summarise(all, { curve }), page)
    expect(targets[0]?.figures.find(({ metric }) => metric === 'serp_share_of_voice')).toMatchObject({
      value: 0,
      expected: 2,
      observed: 1,
    })
    expect(first_ten.map(({ kind, site_share }) => [kind, site_share.sites.length])).toEqual([
      ['organic', 0],
      ['organic', 0],
      ['news', 0],
      ['reference', 0],
    ])
  })
})

test('tags have their figures for each kind and engine', () => {
  const byTag = segments(all, { curve }).map(({ tag, kind, engine }) => [tag, `${kind} ${engine}`])
  expect(byTag).toEqual([
    ['ai', 'reference alpha'],
    ...['organic alpha', 'organic beta', 'news alpha'].map((part) => [null, part]),
  ])
})

test('the terminal has a line for each engine, and names the other kinds', () => {
  const text = summaryText(summarise(all, { curve }), { width: 200, color: false })
  expect(text.split('\n').slice(0, 3)).toMatchObject([
    expect.stringMatching(/^target +engine +ranked/),
    expect.stringMatching(/^acme\.com +alpha +2 of 2 /),
    expect.stringMatching(/^acme\.com +beta +1 of 1 /),
  ])
  expect(text).toContain('Figures of web results; of news, AI references with --kind news or reference.')
  expect(summaryText(summarise(aHistory(web), { curve }), { width: 200, color: false })).not.toMatch(
    /engine|kind/,
  )
})

test('what has no clicks for its kind is not said to have no volume', () => {
  const text = (kind: ResultKind) =>
    summaryText(summarise(all, { curve, kind }), { width: 200, color: false })
  expect(text('reference')).not.toContain('Without volume')
  expect(text('news')).not.toContain('Without volume')
  const without = summarise(aHistory([{ cells: [1, 1] }]), { curve })
  expect(summaryText(without, { width: 200, color: false })).toContain('Without volume: 1 keyword.')
})

test('the figures of a target are those of its first part', () => {
  const [target] = summarise(all, { curve }).targets
  expect(target?.parts.map(({ kind, engine }) => `${kind} ${engine}`)).toEqual([
    'organic alpha',
    'organic beta',
    'news alpha',
    'reference alpha',
  ])
  expect(target?.figures).toEqual(target?.parts[0]?.figures)
  expect(target?.figures).not.toEqual(target?.parts[1]?.figures)
})

test('no click is counted for the place of an AI reference', () => {
  const references = historyOfParts(all, [{ kind: 'reference', engine: 'alpha' }])
  expect(daily(references, 0, { curve }).map(({ figures }) => figures.visibility.value)).toEqual([null, null])
  expect(daily(references, 0, { curve }).map(({ figures }) => figures.share_of_voice)).toMatchObject([
    { value: null, uncounted: 1 },
    { value: null, uncounted: 1 },
  ])
  expect(winnersAndLosers(keywordStatuses(references, null), curve).winners).toMatchObject([{ gain: null }])
})
