import { expect, test } from 'vitest'
import type { JobQuery } from '../../src/model/query.ts'
import type { RankHistory } from '../../src/report/history/rank-history.ts'
import { isInView, plainPresentation } from '../../src/report/presentation/presentation.ts'
import { filterReport } from '../../src/report/requests/rank-report.ts'
import { withKeywordsOfViews } from '../../src/report/requests/report-source.ts'
import { selectionOf } from '../../src/run/selection.ts'
import { watchedBy } from '../../src/unattended/alerts/judgement.ts'
import { aJobQuery } from '../run/build.ts'
import { testTable } from '../support/test-table.ts'
import { aRule, aWatchedQuery } from '../unattended/build.ts'

const desk = aJobQuery({
  text: 'standing desk',
  tags: ['money', 'us'],
  volume: 1000,
  priority: -2,
  params: { gl: 'us' },
  labels: { team: 'Red', 'search intent': 'buy', share: '0.5' },
})

function fits(where: string, query: JobQuery = desk): boolean {
  return selectionOf({ where: [where] })?.includes(query) ?? false
}

testTable([
  ['volume>1000', false],
  ['volume >= 1000', true],
  ['volume<1e3', null],
  ['volume!=1000', false],
  ['volume=1000.0', true],
  ['priority<0', true],
  ['priority > -2', false],
  ['tag=money', true],
  ['tags=de', false],
  ['tag!=money', false],
  ['tag!=de', true],
  ['gl=us', true],
  ['gl=US', true],
  ['team=red', true],
  ['search intent = buy', true],
  ['share>0.4', true],
  ['team>3', false],
  ['depth<100', false],
  ['engine=alpha', true],
  ['query=Standing Desk', true],
  ['query=standing\u00a0 desk\u200b', true],
  ['unheard=1', false],
  ['unheard!=1', true],
  ['constructor!=1', true],
  ['volume', null],
  ['volume=', null],
  ['>3', null],
  ['volume>>3', null],
  ['volume>=1000 and tag=money', true],
  ['volume>=1000 AND tag=de', false],
  ['tag=us and search intent=buy and share < 0.6', true],
  ['query=standing and desk', false],
  ['this and that!=3 and volume=1000', true],
  ['volume>1 and', null],
  ['volume>1 and tag', null],
] as const)('--where %s: %s', (where, expected) => {
  if (expected === null) expect(() => fits(where)).toThrow(/--where/)
  else expect(fits(where)).toBe(expected)
})

const hesse = aJobQuery({ text: 'salt and pepper', volume: null, tags: [], labels: { team: 'blue' } })

test('an "and" that stands in a value belongs to it', () => {
  expect(fits('query=salt and pepper', hesse)).toBe(true)
  expect(fits('query=salt and pepper and team=blue', hesse)).toBe(true)
  expect(fits('query=salt and pepper and team=red', hesse)).toBe(false)
})

test('reports, saved views and alerts read a condition as runs do', () => {
  const queries = [desk, hesse, aJobQuery({ text: 'oak', volume: 5, tags: ['money'], url: 'https://a.com/' })]
  const keywords = queries.map(({ text, ...query }) => ({ ...query, query: text, kind: 'organic' as const }))
  const history: RankHistory = {
    job: 'acme',
    days: ['2026-10-01'],
    keywords,
    targets: [{ label: 'acme.com', site: 'acme.com', match: 'domain', also: [], own: true }],
    series: keywords.map((_, keyword) => ({
      keyword,
      target: 0,
      cells: [1],
      seen: {},
      absentDepths: [],
      links: [],
      places: {},
    })),
    links: [],
    removed: [],
  }
  const conditions = [
    'volume>4',
    'volume!=5',
    'tag=money',
    'tag!=us',
    'gl=us',
    'team=Red',
    'url!=x and tag=money',
  ]
  for (const where of [...conditions, 'engine=alpha and query=oak', 'search intent=buy']) {
    const ofRun = queries.filter((query) => fits(where, query)).map(({ text }) => text)
    const built = { history, queryIds: [1, 2, 3], removedTargets: 0 }
    const { keywords: ofReport } = filterReport(built, { where: [where] }).history
    expect(
      ofReport.map(({ query }) => query),
      where,
    ).toEqual(ofRun)
    const view = { name: 'V', tags: [], targets: [], kinds: [], where }
    const { views } = withKeywordsOfViews({ ...plainPresentation, views: [view] }, history)
    const ofView = keywords.filter((keyword, place) => isInView(keyword, place, views[0]))
    expect(
      ofView.map(({ query }) => query),
      where,
    ).toEqual(ofRun)
    const isWatched = watchedBy(aRule({ when: 'drop', for: { tags: null, targets: null, where } }))
    const ofAlert = queries.filter((query) => isWatched(aWatchedQuery(query)))
    expect(
      ofAlert.map(({ text }) => text),
      where,
    ).toEqual(ofRun)
  }
  for (const where of ['depth>3', 'priority<1 and volume>1'])
    expect(() => filterReport({ history, queryIds: [], removedTargets: 0 }, { where: [where] })).toThrow(
      /how a query is bought/,
    )
  const report = (where: string) => () =>
    filterReport({ history, queryIds: [], removedTargets: 0 }, { where: [where] })
  expect(report('volme>3')).toThrow("--where 'volme>3': no query has 'volme'; write 'volume'")
  expect(report('volume>5000')).toThrow("No keyword of acme is left by --where 'volume>5000'")
})

test('all flags must fit, and of several values of one flag any', () => {
  const selection = selectionOf({ tag: ['b', 'us'], engine: ['alpha'], query: ['STANDING desk'], limit: '3' })
  expect(selection?.includes(desk)).toBe(true)
  expect(selection?.includes({ ...desk, tags: ['c'] })).toBe(false)
  expect(selection?.includes({ ...desk, operation: 'beta.search' })).toBe(false)
  expect(selection).toMatchObject({ limit: 3, text: expect.stringContaining("--tag 'b' --tag 'us'") })
  expect(selectionOf({})).toBeNull()
})
