import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import readXlsx from 'read-excel-file/node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Workspace } from '../support/rankline.ts'
import { testTable } from '../support/test-table.ts'
import { threeDays } from './staged.ts'

const job = `name: acme
pages: 2
targets: [acme.com, { site: acme.com/shop, match: prefix, label: Shop }]
competitors: [rival.com]
queries:
  - { query: desk, tags: [head, money], volume: 1000 }
  - { query: oak desk, tags: [tail], volume: 100 }
  - lamp
`
let place: Workspace
beforeAll(async () => {
  place = await threeDays(job)
})
afterAll(() => place[Symbol.asyncDispose]())

const report = (...flags: readonly string[]) => place.call(['report', 'acme', ...flags])

async function said(...flags: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await report(...flags)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}

const dayOf = (cell: unknown): string => (cell as Date).toISOString().slice(0, 10)

describe('a form', () => {
  test('for the terminal has sentences, figures, what moved and what to do next, in a pipe also the table with trends', async () => {
    const text = await said()
    const told = text.split(/\n\n(?=target )/)[0] ?? ''
    expect(told).toMatch(
      /^acme\.com:\nWorse: visibility .* behind rival\.com \(.*%\)\.\n“oak desk” is at rank 3, down 1 place since .*\n“lamp” is at rank 3, unchanged since .*; “desk” is at rank 13, .*\n\nClicks a month, estimated +\d+ /,
    )
    expect(told).toMatch(/^What moved, by clicks a month\n▼ +“oak desk” +2 → 3/m)
    expect(told).toMatch(/^What to do next\n- /m)
    const [figures, tags, table, footer] = text.slice(told.length).trimStart().split('\n\n')
    expect(figures).toMatch(/^target +ranked +visibility +share of voice +average position +clicks a month$/m)
    expect(tags).toMatch(
      /^By tag for acme\.com:\ntag +keywords +visibility +share of voice +average +clicks a month +top 10\n/,
    )
    expect(table).toMatch(/^query +target +rank +change +trend +best +best on +page$|^query +locale /m)
    expect(table?.split('\n')).toHaveLength(1 + 3 * 3)
    expect(footer).toContain('trend: the last days with a run')
  })

  test('for a terminal without Unicode is the same in ASCII', async () => {
    const [unicode, ascii] = await Promise.all([
      said(),
      place.call(['report', 'acme'], { LANG: 'C' }).then(({ stdout }) => stdout),
    ])
    expect(ascii).toMatch(/^[\n -~]+$/)
    expect(ascii.split('\n').map((line) => line.length)).toEqual(
      unicode.split('\n').map((line) => line.length),
    )
    expect((await place.call(['report', 'acme'], { LC_ALL: 'de_DE.UTF-8', LANG: 'C' })).stdout).toBe(unicode)
    expect((await place.call(['report', 'acme'], { TERM: 'dumb' })).stdout).toBe(ascii)
  })

  test('in a file is the same for every terminal', async () => {
    await report('-o', 'unicode.txt')
    await place.call(['report', 'acme', '-o', 'ascii.txt'], { LANG: 'C', FORCE_COLOR: '1' })
    expect(await place.read('ascii.txt')).toBe(await place.read('unicode.txt'))
  })

  test('as Markdown has every section', async () => {
    const sections = (await said('--format', 'md')).match(/^## .*$/gm)
    expect(sections).toEqual(
      expect.arrayContaining([
        '## What moved, acme.com',
        '## What to do next, acme.com',
        '## Rivals',
        '## By tag',
        '## Keywords',
        '## Runs',
        '## Definitions',
      ]),
    )
  })

  test('as a workbook has the same rows as the others', async () => {
    expect((await report('--format', 'xlsx', '-o', 'acme.xlsx')).stderr).toMatch(
      /^Written: acme.xlsx, [\d.]+ kB\n$/,
    )
    const sheets = await readXlsx(join(place.folder, 'acme.xlsx'))
    const data = (name: string) => sheets.find(({ sheet }) => sheet === name)?.data.slice(1) ?? []
    const rows: readonly Record<string, unknown>[] = JSON.parse(await said('--json', '--period', 'all'))
    expect(data('Rankings').map(([, query, target]) => [query, target])).toEqual(
      rows.map(({ query, target }) => [query, target]),
    )
    expect(data('Rank history')).toHaveLength(3 * rows.length)
    const days = new Set(data('SERPs').map(([date]) => dayOf(date)))
    expect([...days].sort()).toEqual([rows[0]?.previous_date, rows[0]?.date])
    const stored = place.sql<{ link: string }>(
      "SELECT link FROM organic_results WHERE run_id = 3 AND query = 'desk' AND rank <= 10 ORDER BY rank",
    )
    const shown = data('SERPs').filter(([date, query]) => query === 'desk' && dayOf(date) === rows[0]?.date)
    const links = sheets.find(({ sheet }) => sheet === 'SERPs')?.data[0]?.indexOf('link') ?? -1
    expect(shown.map((row) => row[links])).toEqual(stored.map(({ link }) => link))
  })

  testTable([['csv'], ['json'], ['jsonl'], ['md'], ['table'], ['xlsx']])(
    'as %s is the same to the byte every time',
    async (format) => {
      for (const name of ['one', 'two']) await report('--format', format, '-o', name)
      const [one, two] = await Promise.all(['one', 'two'].map((name) => readFile(join(place.folder, name))))
      expect(one?.length).toBeGreaterThan(100)
      expect(one?.equals(two ?? Buffer.alloc(0))).toBe(true)
    },
  )
})

describe('figures alone', () => {
  test('are a few lines, or a document', async () => {
    const [text, json] = await Promise.all([said('--metrics'), said('--metrics', '--json')])
    expect(text).toMatch(/^target +ranked/)
    expect(text).not.toContain('trend')
    const { targets, ...document } = JSON.parse(json)
    expect(document).toMatchObject({ job: 'acme', keywords: { asked: 3 }, ctr_curve: { version: '2020-07' } })
    expect(targets.map(({ target }: { target: string }) => target)).toEqual(['acme.com', 'Shop', 'rival.com'])
  })

  test('are measured by a curve of your own', async () => {
    await place.file('flat.csv', '# name: Flat\n# version: 1\n# source: nobody\nrank,ctr\n1,50%\n2,50%\n')
    const { ctr_curve: curve } = JSON.parse(await said('--metrics', '--json', '--ctr', 'flat.csv'))
    expect(curve).toEqual({ name: 'Flat', version: '1', source: 'nobody' })
    expect(await said('--format', 'md', '--ctr', 'flat.csv')).toContain(
      'Click-through rates (CTR): Flat, 1. nobody.',
    )
  })

  test('count absent as they are told to', async () => {
    const average = async (...flags: readonly string[]) =>
      JSON.parse(await said('--metrics', '--json', ...flags)).targets[0].figures[2]
    const [usual, looked, ranked, fixed] = await Promise.all([
      average(),
      average('--absent', 'looked-at'),
      average('--absent', 'ranked-only'),
      average('--absent', '500'),
    ])
    const { ranked: found, observed } = usual
    expect(observed).toBe(3)
    expect(ranked.denominator).toBe(found)
    // Two pages of ten were asked for; the sandbox sends fewer.
    expect(usual.numerator).toBe(ranked.numerator + 21 * (observed - found))
    expect(looked.numerator).toBeLessThanOrEqual(usual.numerator)
    expect(fixed.numerator).toBe(ranked.numerator + 500 * (observed - found))
  })
})

describe('what is reported', () => {
  testTable([
    [['--tag', 'head'], ['desk'], ['acme.com', 'Shop', 'rival.com']],
    [
      ['--tag', 'head', '--tag', 'tail'],
      ['desk', 'oak desk'],
      ['acme.com', 'Shop', 'rival.com'],
    ],
    [['--target', 'Shop'], ['desk', 'lamp', 'oak desk'], ['Shop']],
    [['--tag', 'tail', '--target', 'rival.com'], ['oak desk'], ['rival.com']],
  ])('can be chosen: %j', async (flags, queries, targets) => {
    const [json, figures, md] = await Promise.all([
      said('--json', ...flags),
      said('--metrics', '--json', ...flags),
      said('--format', 'md', ...flags),
    ])
    const rows: readonly Record<string, string>[] = JSON.parse(json)
    expect([...new Set(rows.map(({ query }) => query))].sort()).toEqual(queries)
    expect([...new Set(rows.map(({ target }) => target))].sort()).toEqual([...targets].sort())
    const summary = JSON.parse(figures)
    expect(summary.keywords.asked).toBe(queries.length)
    expect(summary.targets.map(({ target }: { target: string }) => target)).toEqual(targets)
    const [, listed = ''] = md.match(/^## Keywords\n\n([\s\S]*?)\n\n/m) ?? []
    expect(listed.split('\n')).toHaveLength(2 + rows.length)
  })

  test('can be sorted', async () => {
    const volumes = JSON.parse(await said('--json', '--sort', 'volume')).map(
      ({ query }: { query: string }) => query,
    )
    expect([...new Set(volumes)]).toEqual(['desk', 'oak desk', 'lamp'])
  })

  testTable<[string, readonly string[], string]>([
    [
      'a tag that is near another',
      ['--tag', 'haed'],
      "No keyword of acme has the tag 'haed'. Did you mean --tag 'head'?",
    ],
    ['a tag like no other', ['--tag', 'xyzzyplugh'], 'Write one of head, money, tail'],
    [
      'a target that is near another',
      ['--target', 'shpo'],
      "acme tracks no target 'shpo'. Did you mean --target 'Shop'?",
    ],
    ['a part of a target', ['--target', 'rival'], "Did you mean --target 'rival.com'?"],
    [
      'an unknown order',
      ['--sort', 'size'],
      "--sort cannot be 'size'; write one of query, rank, change, volume",
    ],
    [
      'an unknown form',
      ['--format', 'docx'],
      "--format cannot be 'docx'; write one of table, csv, json, jsonl, md, xlsx",
    ],
    ['no curve', ['--ctr', 'none.csv'], 'The curve none.csv cannot be read'],
    [
      'absent as a word',
      ['--absent', 'never'],
      "--absent cannot be 'never'; write depth, looked-at, ranked-only, or a rank such as 101",
    ],
    ['absent as no rank', ['--absent', '0'], "--absent cannot be '0'"],
    ['figures as CSV', ['--metrics', '--format', 'csv'], '--metrics has no meaning for --format csv'],
    ['figures in an order', ['--metrics', '--sort', 'rank'], '--sort has no meaning for --metrics'],
    ['paper for a page', ['--format', 'html', '--paper', 'a4'], '--paper has no meaning for --format html'],
    ['another paper', ['--out', 'x.pdf', '--paper', 'a5'], "--paper cannot be 'a5'; write one of a4, letter"],
    ['a curve for rows', ['--format', 'csv', '--ctr', 'x'], '--ctr has no meaning for --format csv'],
    ['no such kind', ['--kind', 'maps'], "--kind cannot be 'maps'; write one of organic, news,"],
    [
      'a kind that the job does not ask for',
      ['--kind', 'videos'],
      'The job acme has no ranks of videos; write --kind organic',
    ],
    ['a kind for rows', ['--json', '--kind', 'news'], '--kind has no meaning for --format json'],
    ['absent for rows', ['--json', '--absent', 'depth'], '--absent has no meaning for --format json'],
    ['Markdown for Excel', ['--format', 'md', '--excel'], '--excel has no meaning for --format md'],
    ['Markdown as it is', ['--format', 'md', '--raw'], '--raw has no meaning for --format md'],
    ['a query and a tag', ['--explain', 'desk', '--tag', 'head'], '--tag has no meaning for --explain'],
    ['a query and figures', ['--explain', 'desk', '--metrics'], '--metrics has no meaning for --explain'],
  ])('%s is refused in a sentence, with exit code 2', async (_, flags, words) => {
    const { code, stdout, stderr } = await report(...flags)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(words)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })

  test('by a curve with mistakes is refused with each of them', async () => {
    await place.file('bad.csv', '# name: Bad\n# version: 1\nrank,ctr\n1,much\n3,1%\n')
    const { code, stdout, stderr } = await report('--ctr', 'bad.csv')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr.match(/bad\.csv:\d+: /g)).toEqual(['bad.csv:1: ', 'bad.csv:4: ', 'bad.csv:5: '])
  })

  test('of a day before the first is a workbook of heads, and a sentence', async () => {
    const { code, stderr } = await report('--date', '2020-01-01', '--format', 'xlsx', '-o', 'empty.xlsx')
    expect(code).toBe(0)
    expect(stderr).toContain('No run of the job acme had started by 2020-01-01')
    const [first, ...others] = await readXlsx(join(place.folder, 'empty.xlsx'))
    expect(first?.data.flat().filter((cell) => cell !== null)).toEqual(['There are no ranks to report.'])
    for (const { sheet, data } of others) if (sheet !== 'Definitions') expect(data, sheet).toHaveLength(1)
    const md = await report('--date', '2020-01-01', '--format', 'md')
    expect(md.stdout).toBe('# Ranks of acme\n\nThere are no ranks to report.\n')
  })
})
