import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  commonLanguage,
  fileNames,
  inOrder,
  type PortfolioRow,
  portfolioRanks,
  sparkPoints,
  sparkSigns,
  sparkSize,
} from '../../../../src/report/formats/portfolio.ts'
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
    fc.property(fc.uniqueArray(fc.string({ unit: 'binary', minLength: 1 })), (jobs) => {
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

test('problems come first, the worst of them at the top, jobs that are no longer run at the end', () => {
  const rows = [row('b', 'ok'), row('old', null), row('z', 'error'), row('A', 'ok'), row('c', 'warning')]
  expect(inOrder(rows).map(({ name }) => name)).toEqual(['z', 'c', 'A', 'b', 'old'])
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
