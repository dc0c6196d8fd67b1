import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { count } from '../../src/model/text.ts'
import { addDays } from '../../src/model/time.ts'
import { timeAxis } from '../../src/page/client/chart/frame.ts'
import { pathOf, scaleFromZero, scaleOfRanks } from '../../src/page/client/chart/line-chart.ts'
import { filterLabels, filtersIn, withUsedDay } from '../../src/page/client/filters.ts'
import { runningHead } from '../../src/page/client/header.ts'
import { askedText } from '../../src/page/client/keyword/dialog.ts'
import { sorted } from '../../src/page/client/table/grid.ts'
import { rankText } from '../../src/page/client/text.ts'
import { countedView, type View, viewOf, withMovement } from '../../src/page/client/view.ts'
import { shortLink, valueRank } from '../../src/report/cells.ts'
import { hashOf, noFilters } from '../../src/report/choice.ts'
import { partKey } from '../../src/report/history/filter-history.ts'
import type { KeywordStatus } from '../../src/report/history/keyword-status.ts'
import { compare, groupOf } from '../../src/report/history/movement.ts'
import { absentCell, dayValue, type Keyword, rankedCell } from '../../src/report/history/rank-history.ts'
import { english } from '../../src/report/words/en/index.ts'
import { testTable } from '../support/test-table.ts'
import { hostilePage } from './odd-pages.ts'
import { samplePage } from './sample-page.ts'

const page = samplePage({ keywords: 24, days: 20 })

describe('what is chosen', () => {
  test.each([
    ['usual', page],
    ['hostile', hostilePage()],
  ])('is the same after it was said in the address of a %s page', (_, data) => {
    const { days, keywords, targets } = data.history
    fc.assert(
      fc.property(
        fc.nat(targets.length - 1),
        fc.string(),
        fc.subarray([...new Set(keywords.flatMap(({ tags }) => tags))].filter((tag) => tag.isWellFormed())),
        fc.constantFrom('', '7d', '90d', 'all', ...days.slice(1).map((day) => `${days[0]}..${day}`)),
        fc.constantFrom('', '1d', 'year', ...days.slice(0, -1)),
        (target, text, tags, period, compare) => {
          const choice = withUsedDay(data, { ...noFilters, target, text, tags, period, compare })
          expect(filtersIn(`#${hashOf(choice, data)}`, data)).toEqual(choice)
        },
      ),
    )
  })

  test('is nothing where the address names what is not there', () => {
    expect(filtersIn('#target=nobody&period=1999-01-01..1999-01-31&overview', page)).toEqual(noFilters)
    expect(
      filtersIn(
        '#tag=none&operation=alpha&locale=xx&movement=sideways&compare=soon&period=soon&view=x',
        page,
      ),
    ).toEqual(noFilters)
    expect(hashOf(noFilters, page)).toBe('')
  })

  test('is no compared day that is not before the end of the period', () => {
    const day = (place: number): string => page.history.days[place] as string
    for (const [last, compare] of [
      [12, day(12)],
      [12, day(15)],
      [19, day(19)],
    ] as const)
      expect(filtersIn(`#period=${day(3)}..${day(last)}&compare=${compare}`, page).compare).toBe('')
    expect(filtersIn(`#period=${day(3)}..${day(12)}&compare=${day(11)}`, page).compare).toBe(day(11))
  })

  test('is said in words, for paper has no fields', () => {
    const [from, to] = [page.history.days[3] as string, page.history.days[12] as string]
    const all = { target: 2, text: 'oak', tags: ['desks'], operation: 'alpha.search' }
    expect(
      filterLabels(
        {
          ...{ ...noFilters, ...all, locale: 'en-us', part: 'reference-alpha', movement: 'improved' },
          ...{ period: `${from}..${to}`, compare: '7d' },
        },
        page,
      ).map((words) => words.join(': ')),
    ).toEqual([
      'Target: risewell.example',
      'Search: oak',
      'Tag: desks',
      'Engine: alpha.search',
      'Country, language: en-us',
      'Figures of: AI references, alpha',
      'Listed keywords: improved',
      'Period: 4 Nov to 13 Nov 2026',
      'Compared with: 6 November 2026',
    ])
    expect(filterLabels(noFilters, page)).toEqual([['Target', 'northdesk.example']])
  })

  test('narrows keywords, days and what is compared, for all that is shown', () => {
    const [from, to] = [page.history.days.at(-9) as string, page.history.days.at(-3) as string]
    const period = `${from}..${to}`
    const view = viewOf(page, { ...noFilters, target: 2, text: 'desk', period })
    expect(view.history.days).toEqual(page.history.days.slice(0, -2))
    expect(view.history.days.slice(view.shown.start, view.shown.end)).toEqual(page.history.days.slice(-9, -2))
    expect(view.compare).toEqual({ day: addDays(from, -1), tolerance: 3 })
    expect(view.statuses.length).toBeGreaterThan(3)
    for (const { keyword, series } of view.statuses) {
      expect(keyword.query).toContain('desk')
      expect(series.target).toBe(2)
      expect(series.cells).toHaveLength(18)
    }
  })

  test('figures are of web results alone, or of what is chosen, and the table has every keyword', () => {
    const kindsOf = (view: View) => [...new Set(view.statuses.map(({ keyword }) => keyword.kind))].sort()
    const [all, chosen] = ['', 'reference-alpha'].map((part) => viewOf(page, { ...noFilters, part }))
    expect([all, chosen].map((view) => kindsOf(view as View))).toEqual([
      ['news', 'organic', 'reference'],
      ['news', 'organic', 'reference'],
    ])
    const [headline, references] = [all, chosen].map((view) => countedView(view as View))
    expect([headline, references].map((view) => kindsOf(view as View))).toEqual([['organic'], ['reference']])
    const kinds = ({ data, allTargets }: View) =>
      new Set(
        [...data.serps, ...allTargets().map(({ series }) => series)].map(
          (one) => page.history.keywords[one.keyword]?.kind,
        ),
      )
    expect(kinds(headline as View)).toEqual(new Set(['organic']))
    expect(kinds(references as View)).toEqual(new Set(['reference']))
    const few = viewOf(page, { ...noFilters, operation: 'alpha.ai' })
    expect(countedView(few)).toBe(few)
  })

  test('of a movement leaves keywords out of the list alone: figures of winners only would be no figures', () => {
    const [all, improved] = ['', 'improved'].map((movement) => viewOf(page, { ...noFilters, movement })) as [
      View,
      View,
    ]
    const isImproved = ({ change }: KeywordStatus): boolean => change.movement === 'improved'
    expect(improved.listed.length).toBeGreaterThan(0)
    // Those of another part are counted by no button.
    expect(improved.listed).toEqual(countedView(all).statuses.filter(isImproved))
    expect(improved.listed.length).toBeLessThan(all.statuses.filter(isImproved).length)
    expect(withMovement(all, 'improved').listed).toEqual(improved.listed)
    expect(improved.statuses).toEqual(all.statuses)
    expect(improved.allTargets()).toEqual(all.allTargets())
    expect(improved.data).toEqual(all.data)
  })

  test('a part that no selected keyword is of is not what figures are of, on screen and on paper', () => {
    const view = viewOf(page, { ...noFilters, operation: 'alpha.news', part: 'reference-alpha' })
    expect(view.parts.map(partKey)).toEqual(['news-alpha'])
    expect(filterLabels(view.filters, page).map(([name]) => name)).toEqual(['Target', 'Engine'])
    expect(withMovement(view, 'improved').filters.part).toBe('')
  })
})

test('what ranks on neither day is not among what stayed', () => {
  const absent = (depth: number) => ({ state: 'absent', rank: null, unbrokenDepth: depth }) as const
  const ranked = { state: 'ranked', rank: 4, unbrokenDepth: 30 } as const
  expect(groupOf(compare(absent(30), absent(20)))).toBe('unranked')
  expect(groupOf(compare(ranked, ranked))).toBe('same')
  const { days, series } = page.history
  const never = series.map((one) =>
    one.keyword === 2 ? { ...one, cells: days.map(() => absentCell(30, false)) } : one,
  )
  const data = { ...page, history: { ...page.history, series: never } }
  const listed = (movement: string) =>
    viewOf(data, { ...noFilters, movement }).listed.map(({ series: { keyword } }) => keyword)
  expect(listed('unranked')).toEqual([2])
  expect(listed('same')).not.toContain(2)
})

describe('scales', () => {
  test('from zero reach the largest value in at most five even steps, whole where things are counted', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1_000_000), { minLength: 1 }), fc.boolean(), (values, whole) => {
        const { top, ticks } = scaleFromZero(values, { whole })
        expect(top).toBeGreaterThanOrEqual(Math.max(...values) * (1 - 1e-9))
        expect(ticks.length).toBeLessThanOrEqual(6)
        expect([ticks[0], ticks.at(-1)]).toEqual([0, top])
        if (whole) expect(ticks.every(Number.isInteger)).toBe(true)
      }),
    )
  })

  test.each([
    [[0.164], [0, 0.04, 0.08, 0.12, 0.16, 0.2]],
    [[120], [0, 30, 60, 90, 120]],
    [[0], [0, 0.2, 0.4, 0.6, 0.8, 1]],
    [[null], [0, 0.2, 0.4, 0.6, 0.8, 1]],
  ])('of %j has the names %j', (values, ticks) => {
    expect(scaleFromZero(values).ticks).toHaveLength(ticks.length)
    for (const [place, tick] of scaleFromZero(values).ticks.entries())
      expect(tick).toBeCloseTo(ticks[place] as number)
  })

  test('of ranks begin with the first', () => {
    expect(scaleOfRanks([3, null, 34])).toEqual({ top: 1, bottom: 40, ticks: [1, 10, 20, 30, 40] })
    expect(scaleOfRanks([]).ticks).toEqual([1, 5, 10])
  })

  test('of days are as far apart as the days are', () => {
    const axis = timeAxis(['2026-01-01', '2026-01-02', '2026-01-11'], { left: 0, right: 100 })
    expect([0, 1, 2].map(axis.x)).toEqual([0, 10, 100])
    expect([4, 7, 54, 56].map(axis.nearest)).toEqual([0, 1, 1, 2])
    expect(timeAxis(['2026-01-01'], { left: 0, right: 100 }).x(0)).toBe(50)
  })
})

test('a line leaves gaps where there is nothing', () => {
  expect(
    pathOf(
      [1, 2, null, null, 3, null, 4, 5],
      (day) => day,
      (value) => value,
    ),
  ).toBe('M0 1L1 2M4 3M6 4L7 5')
})

test('rows are sorted by one column, stable, with nothing last in both directions', () => {
  const rows = [
    { name: 'b', rank: 2 },
    { name: 'a', rank: null },
    { name: 'c', rank: 1 },
    { name: 'd', rank: 2 },
  ]
  const columns = [
    { key: 'rank', title: '', cell: () => '', value: ({ rank }: (typeof rows)[number]) => rank },
  ]
  const names = (descending: boolean): string =>
    sorted(rows, columns, { by: 'rank', descending })
      .map(({ name }) => name)
      .join('')
  expect([names(false), names(true)]).toEqual(['cbda', 'bdca'])
})

testTable<readonly [number, number | undefined, string, string, number?]>([
  [rankedCell(7, false), undefined, '7', 'rank 7'],
  [rankedCell(7, true), undefined, '~7', 'rank 7 (estimated)'],
  [absentCell(30, false), undefined, '>30', 'not in top 30'],
  [absentCell(20, false), 10, '>10', 'not in top 10'],
  [absentCell(4, false), -1, '>4', 'not in top 4'],
  [absentCell(4, false), -1, '>30', 'not in top 30', 30],
  [absentCell(20, true), 10, '~>50', 'not in top 50 (estimated)', 50],
  [0, undefined, '?', 'not known'],
])('a day of %j, seen %j, is written %s and read %s', (cell, seen, text, words, absentDepth) => {
  const value = dayValue(cell, seen, absentDepth)
  expect(value === null ? null : [valueRank(value), rankText(value)]).toEqual([text, words])
})

test('numbers and days are written for people', () => {
  expect([
    english.decimal(-0.25, 2),
    english.percent(0.1234),
    count(1, 'query', 'queries'),
    count(12_000, 'keyword'),
  ]).toEqual(['\u22120.25', '12.3%', '1 query', '12,000 keywords'])
  expect([english.longDay('2026-03-01'), english.shortDay('2026-09-30')]).toEqual(['1 March 2026', '30 Sept'])
  expect(shortLink('https://www.acme.example/shop/')).toBe('acme.example/shop')
})

testTable([
  ['https://www.acme.example/s%C3%BC%C3%9Fe-h%c3%bcte/', 'acme.example/süße-hüte'],
  ['https://acme.example/%E6%9C%BA?q=%D1%81%D1%82%D0%BE%D0%BB', 'acme.example/机?q=стол'],
  ['https://acme.example/%E0%A4%B9%E0%A4%BF', 'acme.example/हि'],
  // What would part the link, or end it, and what is not UTF-8.
  ['https://acme.example/a%2Fb%3Fc%23d%20e%25f%22', 'acme.example/a%2Fb%3Fc%23d%20e%25f%22'],
  ['https://acme.example/%FF%C3', 'acme.example/%FF%C3'],
  // Right-to-left override, isolates, zero width joiner, soft hyphen, no-break space, line separator, tag sign.
  ['https://acme.example/%E2%80%AEgpj.exe', 'acme.example/%E2%80%AEgpj.exe'],
  ['https://acme.example/%E2%81%A6x%E2%81%A9', 'acme.example/%E2%81%A6x%E2%81%A9'],
  [
    'https://acme.example/%E2%80%8D%C2%AD%C2%A0%E2%80%A8%F3%A0%80%81',
    'acme.example/%E2%80%8D%C2%AD%C2%A0%E2%80%A8%F3%A0%80%81',
  ],
  ['https://acme.example/%C3%BC%0A%1B%C2%85%7F', 'acme.example/ü%0A%1B%C2%85%7F'],
])('the link %s is shown as %s', (link, text) => {
  expect(shortLink(link)).toBe(text)
})

test('whatever a link holds, its encoded controls and signs of direction are never shown', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(0x10ffff), { maxLength: 12 }), (signs) => {
      const text = String.fromCodePoint(...signs).toWellFormed()
      const link = `https://acme.example/${encodeURIComponent(text)}`
      expect(shortLink(link)).not.toMatch(/[\p{C}\p{Z}]/u)
    }),
  )
})

const keyword = (query: string, operation: string, params: Keyword['params'], volume = 100): Keyword => ({
  ...{ query, operation, params, volume, kind: 'organic', tags: [], url: null, labels: {} },
})

test('the running head shortens names, and never the days', () => {
  const days = '27 Oct to 23 Nov 2026'
  expect(runningHead('', 'Desks', days)).toBe(`Desks · ${days}`)
  for (const [client, name] of [
    ['North', 'title '.repeat(40)],
    ['client '.repeat(40), 'Desks'],
    ['client '.repeat(40), 'title '.repeat(40)],
  ] as const) {
    const line = runningHead(client, name, days)
    expect(line.endsWith(`… · ${days}`) || line.endsWith(`Desks · ${days}`)).toBe(true)
    expect(line).toMatch(/^(North|client)/)
    expect(line).toMatch(/ · (Desks|title)/)
    expect(line.length).toBeLessThan(120)
  }
})

test('a lead says which of many keywords are printed', () => {
  const { mostChanged } = english.tables
  const of = (moved: number, hasVolume = true) => mostChanged(80, 300, { moved, hasVolume })
  expect([of(80), of(79), of(0), of(0, false)]).toEqual([
    'The 80 keywords whose clicks changed most, of 300.',
    'The 79 keywords whose clicks changed, and 1 other with the most searches, of 300.',
    'The 80 keywords with the most searches, of 300.',
    'The 80 keywords with the best ranks, of 300.',
  ])
})

test('what is asked for a keyword is told to a client without the names of params', () => {
  const desk = keyword('desk', 'web results', { gl: 'us', hl: 'en' })
  expect(askedText(desk, 'team')).toBe('web results  gl=us  hl=en')
  expect(askedText(desk, 'client')).toBe('web results · en-us')
  expect(askedText({ ...desk, params: {} }, 'client')).toBe('web results')
})
