import { expect, test } from 'vitest'
import { keywordStatuses } from '../../src/report/history/keyword-status.ts'
import { summarise, topRanksOf } from '../../src/report/summary.ts'
import { type DigestFigures, digestMessage } from '../../src/unattended/messages/digest-content.ts'
import { type ASeries, aHistory, curve } from '../report/metrics/history.ts'
import { testTable } from '../support/test-table.ts'

const quiet: DigestFigures = {
  ...{ job: 'acme', summary: null, sentences: new Map(), topTen: new Map(), counted: new Map() },
  ...{ runs: { all: 7, incomplete: 0 }, tasks: { planned: 700, done: 700 } },
  ...{ credits: { week: 1_400, weekBefore: 700 }, openAlerts: [] },
}

const linesOf = (figures: DigestFigures): readonly string[] =>
  digestMessage(figures, 'team').sections.flatMap(({ title, lines }) => [
    title,
    ...lines.map(({ label, value, change }) => `${label}: ${value}${change === null ? '' : ` (${change})`}`),
  ])

/** The figures of a job on its last day, beside those of its first one. */
function figuresOf(all: readonly ASeries[]): DigestFigures {
  const history = aHistory(all)
  const topTen = new Map([['acme.com', topRanksOf(keywordStatuses(history, null), 10)]])
  return { ...quiet, summary: summarise(history, { curve }), topTen }
}

test('a digest tells the figures of each own target, then what the week came to', () => {
  const figures = figuresOf([
    { query: 'up', volume: 100, cells: [2, 1] },
    { query: 'in', volume: 100, cells: [-30, 3] },
    { query: 'out', volume: 100, cells: [9, 12] },
  ])
  expect(linesOf(figures)).toEqual([
    'acme.com',
    'Visibility: 40.0% (▲ 26.7)',
    'Share of voice: 20.0% (▲ 13.3)',
    'Average position: 5.3 (▲ 8.3)',
    'Estimated clicks a month: 60 (▲ 40)',
    'Top 10: 2 of 3 keywords (=)',
    'Keywords: 1 up, 1 down, 1 entered, 0 left',
    'The week',
    'Runs: 7',
    'Coverage: 100.0% (700 of 700 tasks)',
    'Spent: 1,400 credits (700 the week before)',
    'Open alerts: none',
  ])
  expect(digestMessage(figures, 'team')).toMatchObject({
    job: 'acme',
    date: '2026-03-02',
    comparedWith: '2026-03-01',
  })
  // A client is told nothing of runs and credits.
  expect(digestMessage(figures, 'client').sections.map(({ title }) => title)).toEqual(['acme.com'])
})

test('what has no value, or nothing to be compared with, is not made up', () => {
  expect(linesOf(figuresOf([{ cells: [4] }])).slice(0, 5)).toEqual([
    'acme.com',
    'Visibility: 0.0%',
    'Average position: 4.0',
    'Top 10: 1 of 1 keyword',
    'The week',
  ])
  const idle = { ...quiet, runs: { all: 0, incomplete: 0 }, tasks: { planned: 0, done: 0 } }
  expect(linesOf(idle)).toEqual([
    'The week',
    'Runs: 0',
    'Spent: 1,400 credits (700 the week before)',
    'Open alerts: none',
  ])
})

test('runs that were not complete, tasks that are missing and alerts are told', () => {
  const openAlerts = Array.from({ length: 12 }, (_, place) => `alert ${place + 1}`)
  const lines = linesOf({
    ...quiet,
    runs: { all: 7, incomplete: 2 },
    tasks: { planned: 1_000, done: 999 },
    openAlerts,
  })
  expect(lines.slice(1, 5)).toEqual([
    'Runs: 7 (2 not complete)',
    'Coverage: 99.9% (999 of 1,000 tasks)',
    'Spent: 1,400 credits (700 the week before)',
    'Open alerts: 12',
  ])
  expect(lines.slice(5)).toEqual([
    ...openAlerts.slice(0, 10).map((text) => `Alert: ${text}`),
    'Alert: and 2 more',
  ])
  // All but one of a million tasks are not all of them.
  expect(linesOf({ ...quiet, tasks: { planned: 1_000_000, done: 999_999 } })[2]).toBe(
    'Coverage: 99.9% (999,999 of 1,000,000 tasks)',
  )
})

testTable<[readonly [number, number], number | null, number]>([
  [[11, 10], 1, 1],
  [[10, 11], -1, 0],
  [[3, 9], 0, 1],
  [[-30, 8], 1, 1],
  [[8, -30], -1, 0],
  // A look at five results cannot say what left the first ten.
  [[8, -6], 0, 0],
  [[8, 0], null, 0],
  [[0, 8], null, 1],
])('ranks %j change the first ten by %s', (cells, change, now) => {
  const history = aHistory([{ cells: [...cells] }])
  expect(topRanksOf(keywordStatuses(history, null), 10)).toMatchObject({ now, change })
})
