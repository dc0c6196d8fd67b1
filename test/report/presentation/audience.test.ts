import { expect } from 'vitest'
import { partKey, partOf } from '../../../src/report/history/filter-history.ts'
import { plainPresentation } from '../../../src/report/presentation/presentation.ts'
import type { ReportSource } from '../../../src/report/report.ts'
import { sourceForClient } from '../../../src/report/requests/report-source.ts'
import { testTable } from '../../support/test-table.ts'
import { aHistory } from '../metrics/history.ts'

const history = aHistory([{ cells: [1] }])
const [keyword] = history.keywords

/** A report on a keyword for each operation. */
function sourceOf(asked: readonly (readonly [operation: string, kind: 'organic' | 'news'])[]): ReportSource {
  const keywords = asked.map(([operation, kind]) => ({ ...keyword, operation, kind }))
  return {
    presentation: { ...plainPresentation, audience: 'client' },
    ranked: {
      history: { ...history, keywords },
      queryIds: [],
      report: () => ({
        rows: keywords.map(({ operation }) => ({ operation, run_id: 7 })),
        statuses: keywords.map((one) => ({ keyword: one })),
        leftOut: { queries: 0, targets: 0 },
      }),
    },
    featuresOf: (operation: string) => [operation],
  } as unknown as ReportSource
}

testTable<[Parameters<typeof sourceOf>[0], readonly string[]]>([
  [[['alpha.search', 'organic']], ['web results']],
  [
    [
      ['alpha.search', 'organic'],
      ['alpha.news', 'news'],
    ],
    ['web results', 'news'],
  ],
  [
    [
      ['beta.search', 'organic'],
      ['alpha.search', 'organic'],
    ],
    ['web results, engine B', 'web results, engine A'],
  ],
  [
    [
      ['alpha.search', 'organic'],
      ['alpha.light', 'organic'],
    ],
    ['web results', 'web results.2'],
  ],
])('operations %j have names for clients', (asked, names) => {
  const source = sourceOf(asked)
  const shown = sourceForClient(source)
  const keywords = shown.ranked.history.keywords
  const { rows, statuses } = shown.ranked.report()
  expect(keywords.map(({ operation }) => operation)).toEqual(names)
  expect(rows).toEqual(names.map((operation) => ({ operation, run_id: null })))
  expect(names.map((name) => shown.featuresOf(name))).toEqual(asked.map(([operation]) => [operation]))
  expect(statuses.length).toBe(asked.length)
  // What had common figures still has.
  const partsIn = (all: readonly Parameters<typeof partOf>[0][]) =>
    all.map((one) => all.findIndex((other) => partKey(partOf(other)) === partKey(partOf(one))))
  expect(partsIn(keywords)).toEqual(partsIn(source.ranked.history.keywords))
})
