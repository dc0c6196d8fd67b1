import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  commonLanguage,
  fileNames,
  problemLines,
  unseenProblem,
} from '../../../../src/cli/commands/report/portfolio.ts'
import { sparkPoints, sparkSize } from '../../../../src/page/portfolio/page.ts'
import { reportPageData } from '../../../../src/report/build-data.ts'
import {
  figureTexts,
  inOrder,
  type PortfolioRow,
  portfolioRanks,
  sparkSigns,
} from '../../../../src/report/formats/portfolio.ts'
import { story } from '../../../../src/report/story/story.ts'
import { english } from '../../../../src/report/words/en/index.ts'
import { anyText } from '../../../support/any-text.ts'
import { testTable } from '../../../support/test-table.ts'
import { sample, sourceOf } from '../email/message.ts'

testTable([
  ['acme', 'acme.html'],
  ['Acme US 2', 'Acme-US-2.html'],
  ['Müller & Söhne', 'Müller-Söhne.html'],
  ['..', 'job.html'],
  ['../../etc/passwd', 'etc-passwd.html'],
  ['-rf', 'rf.html'],
  ['CON', 'job-CON.html'],
  ['nul.txt', 'job-nul.txt.html'],
  ['a"b<c>|d?*', 'a-b-c-d.html'],
  ['日本', '日本.html'],
  ['x'.repeat(300), `${'x'.repeat(80)}.html`],
])('the file of the job %j is %s', (job, name) => {
  expect(fileNames([job]).get(job)).toBe(name)
})

test('no two jobs share a file, and none takes the name of the page', () => {
  const names = fileNames(['a b', 'a/b', 'A-B', 'index'], ['index.html'])
  expect([...names.values()]).toEqual(['a-b.html', 'a-b-2.html', 'A-B-3.html', 'index-2.html'])
})

test('file names are safe, whatever the names of jobs are', () => {
  fc.assert(
    fc.property(fc.uniqueArray(anyText({ minLength: 1 })), (jobs) => {
      const names = [...fileNames(jobs).values()]
      expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(jobs.length)
      const safe = /^[\p{L}\p{N}_\p{M}][\p{L}\p{N}\p{M}._-]*\.html$/u
      expect(names.filter((name) => !safe.test(name))).toEqual([])
    }),
    { numRuns: 40 },
  )
})

const row = (name: string, level: PortfolioRow['level']): PortfolioRow => ({
  ...{ job: name, name, level, language: null, problems: [], ranks: null, lastGood: null },
  ...{ spentThisMonth: 0, openAlerts: 0, file: null },
})

const figure = { value: 0.1, change: null, before: null, isUsual: false }
const ranks = (stake: number | null, visibility = 0.1): PortfolioRow['ranks'] => ({
  ...{ site: 'acme.com', keywords: 40, checked: 40, from: '2026-10-01', until: '2026-10-28', compared: null },
  ...{ stake, visibility: { ...figure, value: visibility }, trend: [] },
  ...{ averagePosition: figure, clicks: figure, topTen: figure },
})

test('the most clicks at stake come first, then the least visible, jobs that are no longer run at the end', () => {
  const rows = [
    { ...row('b', 'ok'), ranks: ranks(10) },
    { ...row('old', null), ranks: ranks(900) },
    row('z', 'error'),
    { ...row('A', 'ok'), ranks: ranks(500) },
    { ...row('low', 'ok'), ranks: ranks(null, 0.01) },
    { ...row('high', 'ok'), ranks: ranks(null, 0.3) },
  ]
  expect(inOrder(rows).map(({ name }) => name)).toEqual(['A', 'b', 'low', 'high', 'z', 'old'])
})

testTable([
  [0, true],
  [0.0004, true],
  [0.0005, false],
  [0.2, false],
])('a client with a visibility of %s is flagged: %s', (visibility, isFlagged) => {
  expect(unseenProblem(ranks(0, visibility))?.kind).toBe(isFlagged ? 'ranks' : undefined)
})

test('the same problem of several clients is told once, errors first', () => {
  const stale = (place: number) => ({ level: 'error', kind: 'stale', text: `${place} days old` }) as const
  const rows = [
    ...Array.from({ length: 8 }, (_, place) => ({ ...row(`c${place}`, 'error'), problems: [stale(place)] })),
    {
      ...row('Acme', 'warning'),
      problems: [{ level: 'warning', kind: 'run', text: 'Run 3 failed' } as const],
    },
  ]
  expect(problemLines(rows)).toEqual([
    {
      level: 'error',
      job: null,
      text: 'Out of date (8 clients): c0, c1, c2, c3, c4, c5 and 2 more. The first: 0 days old',
    },
    { level: 'warning', job: 'Acme', text: 'Run 3 failed' },
  ])
})

test('a row says what the report of the client says, and its line begins at the compared day', () => {
  const source = sourceOf()
  const found = portfolioRanks(source)
  const told = story(reportPageData(source), { say: english })
  const texts = figureTexts(found, english)
  const shown = { clicks: texts.clicks, visibility: texts.visibility, top_ten: texts.topTen }
  for (const { metric, value, change } of told.cards)
    if (metric in shown) expect(shown[metric as keyof typeof shown], metric).toEqual({ value, change })
  expect(found?.stake).toBe(
    told.steps.reduce((sum, { clicks, verb }) => sum + (verb === 'push' ? 0 : (clicks ?? 0)), 0),
  )
  expect(found?.trend[0]?.day).toBe(found?.compared)
})

testTable([
  [['de', 'de'], 'de'],
  [['de', null], 'de'],
  [['de', 'en'], 'en'],
  [[], 'en'],
] as const)('a page of reports in %j speaks %s', (languages, page) => {
  expect(commonLanguage(languages.map((language) => ({ language })))).toBe(page)
})

test('a spark line has a gap where a day is not known, and stays in its picture', () => {
  expect(sparkSigns([0.1, null, 0.2, 0.3])).toBe('▁ ▅█')
  expect(sparkSigns([0.2, 0.2])).toBe('▅▅')
  expect(sparkPoints([0.1, null, 0.2, 0.3]).map((line) => line.length)).toEqual([1, 2])
  const values = fc.array(fc.option(fc.double({ min: 0, max: 1, noNaN: true })))
  fc.assert(
    fc.property(values, (all) => {
      const outside = ([x, y]: readonly [number, number]) =>
        x < 0 || x > sparkSize.width || y < 0 || y > sparkSize.height
      expect(sparkPoints(all).flat().filter(outside)).toEqual([])
    }),
  )
})

test('all figures of a row are of one engine', () => {
  const operation = (place: number) => (place % 3 === 0 ? 'beta.search' : 'alpha.search')
  const keywords = sample.keywords.map((one, place) => ({ ...one, operation: operation(place) }))
  const series = sample.series.filter(({ keyword }) => operation(keyword) === 'alpha.search')
  const [both, one] = [
    { ...sample, keywords },
    { ...sample, keywords, series },
  ].map((history) => portfolioRanks(sourceOf({ history })))
  expect(both).toEqual(one)
})
