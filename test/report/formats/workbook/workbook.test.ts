import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import readXlsx from 'read-excel-file/node'
import { describe, expect, test } from 'vitest'
import type { WholeReport } from '../../../../src/report/build-data.ts'
import { columnKinds } from '../../../../src/report/formats/rows.ts'
import { reportWorkbook } from '../../../../src/report/formats/workbook.ts'
import { plainPresentation } from '../../../../src/report/presentation/presentation.ts'
import { storiesOf } from '../../../../src/report/story/story.ts'
import { english } from '../../../../src/report/words/en/index.ts'
import { anyText } from '../../../support/any-text.ts'
import { aRanking } from '../../build.ts'
import { aRun, smallRankings, wholeReport } from '../../whole.ts'

async function bytesOf(whole: WholeReport): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of reportWorkbook(whole)) pieces.push(piece)
  return Buffer.concat(pieces)
}

type Line = Readonly<Record<string, unknown>>

/** Sheet -> its rows by the names in its head. */
async function sheetsOf(whole: WholeReport): Promise<Readonly<Record<string, readonly Line[]>>> {
  const sheets = await readXlsx(await bytesOf(whole))
  return Object.fromEntries(
    sheets.map(({ sheet, data: [head = [], ...rows] }) => [
      sheet,
      rows.map((row) => Object.fromEntries(head.map((name, index) => [String(name), row[index]]))),
    ]),
  )
}

const day = (text: string) => new Date(`${text}T00:00:00Z`)
const whole = wholeReport(smallRankings, {
  runs: [aRun],
  serps: [
    { keyword: 0, day: 0, depth: 10, results: [[1, 0, 0, 0, []]] },
    { keyword: 0, day: 1, depth: 10, results: [[1, 1, 1, 1, [0]]] },
  ],
  texts: ['=HYPERLINK("http://evil.example")', 'Acme'],
  links: ['https://other.example/', 'https://acme.com/'],
  sites: ['other.example', 'acme.com'],
})
const sheets = await sheetsOf(whole)

describe('the workbook', () => {
  test('has a sheet for each purpose', () => {
    expect(Object.keys(sheets)).toEqual([
      'In short',
      'Summary',
      'What to do next',
      'Tags',
      'Rankings',
      'Movement',
      'SERPs',
      'Competitors',
      'Sites',
      'Runs',
      'Definitions',
      'Rank history',
    ])
  })

  test('begins with a sheet that people read: the story of the report, and its notes, in its language', async () => {
    const notes = [
      { date: '2026-03-02', text: 'Moved', url: null, query: 'lamp' },
      { date: '2026-03-01', text: 'New site', url: null },
      { date: '2025-01-01', text: 'Long ago', url: null },
    ]
    const linesIn = async (language: 'en' | 'de') => {
      const presentation = { ...plainPresentation, client: 'Acme Inc.', language, notes }
      const [first] = await readXlsx(await bytesOf({ ...whole, presentation }))
      return (first?.data ?? []).map((row) => row.filter((cell) => cell !== null).join(' | '))
    }
    const lines = await linesIn('en')
    const [told] = storiesOf({ ...whole, ...whole.serps }, { say: english, mark: (name) => name })
    expect(lines[0]).toBe('Search rankings of Acme Inc.')
    for (const { text } of told?.sentences ?? []) expect(lines).toContain(text)
    for (const { label, value, change } of told?.cards ?? [])
      expect(lines).toContainEqual(
        expect.stringContaining([label, value, ...(change === null ? [] : [change.text])].join(' | ')),
      )
    expect(told?.cards.some(({ change }) => change !== null)).toBe(true)
    for (const { name, from, to } of told?.moves ?? [])
      expect(lines).toContainEqual(expect.stringContaining(`${name} | ${from} → ${to}`))
    expect(lines.slice(lines.indexOf('Notes'))).toEqual(['Notes', 'New site | 1 Mar', 'lamp: Moved | 2 Mar'])
    expect(await linesIn('de')).toContain('Anmerkungen')
  })

  test('has columns for programs on its last sheet alone', () => {
    const withThem = Object.entries(sheets).flatMap(([name, [row = {}]]) =>
      Object.keys(row).some((column) => ['params', 'exactness'].includes(column)) ? [name] : [],
    )
    expect(withThem).toEqual(['Rank history'])
  })

  test('has no runs and no operations for clients', async () => {
    const presentation = { ...plainPresentation, audience: 'client' } as const
    const forClient = await sheetsOf({ ...whole, presentation })
    const names = Object.keys(forClient)
    expect(names).toEqual(Object.keys(sheets).filter((name) => name !== 'Runs'))
    const headers = names.flatMap((name) => Object.keys(forClient[name]?.[0] ?? {}))
    expect(headers).toContain('results')
    expect(headers.filter((header) => /operation|run|credit/.test(header))).toEqual([])
  })

  test('sums up every target on a row', () => {
    expect(sheets.Summary).toHaveLength(2)
    expect(sheets.Summary?.[0]).toMatchObject({
      date: day('2026-03-02'),
      'compared from': day('2026-03-01'),
      target: 'acme.com',
      own: 1,
      asked: 3,
      observed: 2,
      ranked: 2,
      visibility: 0.5,
      'share of voice': 0.285,
      'average position': 6.5,
      'average position, change': 3,
      'estimated clicks a month': 285,
      'estimated clicks a month, change': 205,
      'rank 1': 1,
      'rank 11-20': 1,
      unknown: 1,
      'moved: improved': 1,
      'moved: declined': 1,
    })
  })

  test('sheets for people are in the language of the report, those of programs keep their names', async () => {
    const german = await sheetsOf({ ...whole, presentation: { ...whole.presentation, language: 'de' } })
    expect(Object.keys(german)).toEqual([
      ...['Auf einen Blick', 'Überblick', 'Nächste Schritte', 'Tags', 'Rankings', 'Veränderungen'],
      ...['SERPs', 'Direktvergleich', 'Websites', 'Runs', 'Definitionen', 'Rank history'],
    ])
    const left = Object.entries(german)
      .filter(([name]) => !['Auf einen Blick', 'Rankings', 'Runs', 'Rank history'].includes(name))
      .flatMap(([, [line = {}]]) => Object.keys(line))
      .filter((head) => /change|clicks|average|visibility|period|compared|before|rank\b|^volume/.test(head))
    expect(left).toEqual([])
    expect(Object.keys(german['Rank history']?.[0] ?? {})).toEqual(expect.arrayContaining(['date', 'params']))
  })

  test('leaves changes empty where nothing was known before', async () => {
    const { Summary } = await sheetsOf(wholeReport([aRanking()]))
    expect(Summary?.[0]).toMatchObject({
      'compared from': null,
      'known on both days': 0,
      'visibility, change': null,
      'average position': 3,
      'average position, change': null,
    })
  })

  test('has the figures of each tag', () => {
    expect(sheets.Tags?.map(({ tag, target, asked }) => [tag, target, asked])).toEqual([
      ['head', 'acme.com', 1],
      ['head', 'Rival', 1],
      [null, 'acme.com', 2],
    ])
  })

  test('has the rows of the report, with days as days and numbers as numbers', () => {
    const [first] = sheets.Rankings ?? []
    expect(Object.keys(first ?? {})).toEqual(
      Object.keys(columnKinds).filter((name) => name !== 'params' && name !== 'exactness'),
    )
    expect(first).toMatchObject({
      query: 'standing desk',
      date: day('2026-03-02'),
      observed_at: new Date('2026-03-01T06:00:00Z'),
      rank: 1,
      previous_date: day('2026-03-01'),
      change: 3,
      best_date: day('2026-03-02'),
      volume: 1000,
    })
  })

  test('has every move, in the order of what it is worth', () => {
    expect(
      sheets.Movement?.map(({ target, query, movement, previous_rank, rank }) => [
        target,
        query,
        movement,
        previous_rank,
        rank,
      ]),
    ).toEqual([
      ['acme.com', 'standing desk', 'improved', 4, 1],
      ['acme.com', 'lamp', 'declined', 3, 12],
      ['Rival', 'standing desk', 'left', 2, null],
    ])
    expect(sheets.Movement?.[0]?.['gain, clicks a month']).toBeCloseTo(1000 * (0.285 - 0.08))
  })

  test('has the history as a row for each day, keyword and target', () => {
    const rows = sheets['Rank history'] ?? []
    expect(rows.map(({ date, query, target, state, rank }) => [date, query, target, state, rank])).toEqual([
      [day('2026-03-01'), 'standing desk', 'acme.com', 'ranked', 4],
      [day('2026-03-02'), 'standing desk', 'acme.com', 'ranked', 1],
      [day('2026-03-01'), 'standing desk', 'Rival', 'ranked', 2],
      [day('2026-03-02'), 'standing desk', 'Rival', 'absent', null],
      [day('2026-03-01'), 'lamp', 'acme.com', 'ranked', 3],
      [day('2026-03-02'), 'lamp', 'acme.com', 'ranked', 12],
      [day('2026-03-02'), 'sofa', 'acme.com', 'unknown', null],
    ])
    expect(rows[3]).toMatchObject({ depth: 30, own: 0, tags: 'head', url: null })
    expect(rows[5]).toMatchObject({ exactness: 'estimated', url: 'https://acme.com/lamp' })
  })

  test('has the first results as text, whatever they look like', () => {
    expect(sheets.SERPs).toEqual([
      expect.objectContaining({
        date: day('2026-03-01'),
        rank: 1,
        title: '=HYPERLINK("http://evil.example")',
        target: null,
      }),
      expect.objectContaining({
        date: day('2026-03-02'),
        rank: 1,
        title: 'Acme',
        site: 'acme.com',
        target: 'acme.com',
      }),
    ])
  })

  test('has who competes, how runs went, and what all that means', () => {
    expect(sheets.Competitors?.[0]).toMatchObject({ target: 'acme.com', against: 'Rival', won: 1, lost: 0 })
    expect(sheets.Sites?.[0]).toMatchObject({
      site: 'acme.com',
      target: 'acme.com',
      SERPs: 1,
      'SERPs before': 0,
      change: 1,
    })
    expect(sheets.Runs?.[0]).toMatchObject({
      run: 2,
      tasks_failed: 1,
      credits_spent: 1199,
      credits_ambiguous: 1,
    })
    const ctr = sheets.Definitions?.filter(({ figure }) => String(figure).startsWith('CTR('))
    expect(ctr?.map(({ CTR }) => CTR)).toEqual(whole.measure.curve.rates)
    expect(sheets.Definitions?.[0]).toMatchObject({
      figure: 'visibility',
      better: 'higher',
      formula: 'sum of CTR(rank) / (CTR(1) x checked keywords)',
      denominator: 'CTR(1) x checked keywords',
    })
  })

  test('has heads alone where nothing has run', async () => {
    const none = { days: [], keywords: [], targets: [], series: [], links: [], removed: [], job: 'acme' }
    const empty = await sheetsOf({ ...wholeReport([]), history: none })
    expect(Object.keys(empty)).toEqual(Object.keys(sheets))
    for (const name of Object.keys(empty)) if (name !== 'Definitions') expect(empty[name]).toEqual([])
  })

  test('is the same to the byte every time', async () => {
    expect(Buffer.compare(await bytesOf(whole), await bytesOf(whole))).toBe(0)
  })

  test('keeps its rows and numbers, whatever the texts are', async () => {
    const starts = fc.constantFrom('=', '+', '-', '@', '\t', '|')
    const text = fc.oneof(
      anyText({ maxLength: 15 }),
      fc.tuple(starts, anyText({ maxLength: 15 })).map((two) => two.join('')),
    )
    await fc.assert(
      fc.asyncProperty(text, async (evil) => {
        const hostile = smallRankings.map((row) => ({
          ...row,
          query: `${row.query} ${evil}`,
          target: `x${evil}${row.target}`,
          title: evil,
        }))
        const read = await sheetsOf(wholeReport(hostile))
        expect(read.Rankings).toHaveLength(4)
        expect(read['Rank history']?.map(({ rank }) => rank)).toEqual([4, 1, 2, null, 3, 12, null])
      }),
      { numRuns: 10 },
    )
  })
})
