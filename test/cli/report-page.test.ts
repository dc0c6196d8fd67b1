import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inflated, unpacked } from '../../src/page/packed.ts'
import type { PageData, PageSerp } from '../../src/report/data.ts'
import { chromium, whyNoChromium } from '../page/browser.ts'
import type { Workspace } from '../support/rankline.ts'
import { testTable } from '../support/test-table.ts'
import { threeDays } from './staged.ts'

const job = `name: acme
targets: [acme.com]
competitors: [rival.com]
queries:
  - { query: desk, volume: 1000, tags: [head] }
  - { query: desk, operation: alpha.ai }
  - { query: desk, operation: alpha.news }
`
let place: Workspace
let usual: PageData
beforeAll(async () => {
  place = await threeDays(job)
  usual = await pageOf()
})
afterAll(() => place[Symbol.asyncDispose]())

async function pageOf(...flags: readonly string[]): Promise<PageData> {
  const { code, stderr } = await place.call(['report', 'acme', '--format', 'html', '-o', 'r.html', ...flags])
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringMatching(/^Written: r.html, [\d.]+ kB\n$/),
  })
  return dataIn(await place.read('r.html'))
}

async function dataIn(html: string): Promise<PageData> {
  const [, data = ''] = html.match(/<script id="page-data"[^>]*>(.*?)<\/script>/s) ?? []
  return unpacked(JSON.parse(await inflated(data)))
}

interface ResultRow {
  readonly rank: number
  readonly title: string
  readonly link: string
  readonly site: string
}

const views = { organic: 'organic_results', reference: 'ai_references', news: 'news_results' } as const

/** The first ten results of a SERP as the public views have them. */
function viewed({ history }: PageData, { keyword, day }: PageSerp): readonly ResultRow[] {
  const kind = history.keywords[keyword]?.kind as keyof typeof views
  return place.sql<ResultRow>(
    `SELECT rank, title, link, site FROM ${views[kind]} WHERE rank <= 10 AND run_id =
      (SELECT run_id FROM runs WHERE date = '${history.days[day]}') ORDER BY rank`,
  )
}

test('the page has the results of the last day and of all that it offers to compare with, as they are stored', () => {
  const data = usual
  expect(data.serps.map(({ keyword, day }) => [keyword, day])).toEqual(
    [0, 1, 2].flatMap((keyword) => [
      // The first day.
      [keyword, 0],
      [keyword, 1],
      [keyword, 2],
    ]),
  )
  for (const serp of data.serps) {
    const shown = serp.results.map(([rank, title, link, site]) => ({
      rank,
      title: data.texts[title ?? -1],
      link: data.links[link ?? -1],
      site: data.sites[site ?? -1],
    }))
    expect(shown.length).toBeGreaterThan(0)
    expect(shown).toEqual(viewed(data, serp))
    expect(serp.depth).toBe(Math.min(10, shown.length))
  }
})

test('results belong to the targets that the rankings name', () => {
  const data = usual
  const owned = data.serps.flatMap(({ keyword, day, results }) =>
    results.flatMap(([rank, , , , targets]) =>
      targets.map((target) => [keyword, day, data.history.targets[target]?.label, rank]),
    ),
  )
  const ranked = data.history.series.flatMap(({ keyword, target, cells, places }) =>
    [0, 1, 2].flatMap((day) => {
      const rank = cells[day] ?? 0
      const ranks = places[day]?.map(([one]) => one) ?? (rank > 0 ? [rank] : [])
      return ranks
        .filter((one) => one <= 10)
        .map((one) => [keyword, day, data.history.targets[target]?.label, one])
    }),
  )
  expect(owned.length).toBeGreaterThan(0)
  expect(owned.map(String).sort()).toEqual(ranked.map(String).sort())
})

test('citations are the references of AI answers, at their indexes as sent', () => {
  const data = usual
  const rows = place.sql<{ date: string; reference_index: number; site: string }>(
    `SELECT r.date, a.reference_index, a.site FROM ai_references a JOIN runs r USING (run_id)
    WHERE r.date > '2026-03-01' ORDER BY r.date, a.reference_index`,
  )
  expect(data.citations).toHaveLength(2)
  for (const { day, references, cited } of data.citations) {
    const those = rows.filter(({ date }) => date === data.history.days[day])
    expect(references).toBe(those.length)
    const expected = data.history.targets.flatMap(({ site }, target) => {
      const indexes = those.filter((row) => row.site === site).map((row) => row.reference_index)
      return indexes.length === 0 ? [] : [{ target, indexes }]
    })
    expect(cited).toEqual(expected)
  }
})

test('more days of results, runs with their cost, the same bytes', async () => {
  const data = await pageOf('--serps', '30d')
  const first = await place.read('r.html')
  expect(data.serps.filter(({ keyword }) => keyword === 0).map(({ day }) => day)).toEqual([0, 1, 2])
  expect(data.runs.map(({ date, spent }) => [date, spent])).toEqual(
    place
      .sql<{ date: string; spent: number }>('SELECT date, credits_spent AS spent FROM runs ORDER BY date')
      .map(({ date, spent }) => [date, spent]),
  )
  await pageOf('--serps', '30d')
  expect(await place.read('r.html')).toBe(first)
})

test('a filter and the measures hold for the page, too', async () => {
  const data = await pageOf('--tag', 'head', '--absent', '101')
  expect(data.measure.absent).toBe(101)
  expect(new Set(data.history.series.map(({ keyword }) => keyword))).toEqual(new Set([0]))
})

test('what was not chosen is nowhere in the file, for it may be of another client', async () => {
  const { keywords, links } = (await pageOf('--tag', 'head')).history
  expect(keywords.map(({ operation }) => operation)).toEqual(['alpha.search'])
  expect(links.length).toBeLessThan(usual.history.links.length)
})

test('a page of one target opens on it, with its results', async () => {
  const { history, serps } = await pageOf('--target', 'rival.com')
  expect(history.targets.map(({ label }) => label)).toEqual(['rival.com'])
  expect(new Set(history.series.map(({ target }) => target))).toEqual(new Set([0]))
  const whose = serps.flatMap(({ results }) => results.flatMap(([, , , , targets]) => targets))
  expect(new Set(whose)).toEqual(new Set([0]))
})

const looks = `${job}report: { title: Acme in the US, client: Acme Inc., agency: North, logo: logo.svg, accent: "#0a5", footer: North GmbH, language: de }
notes: [{ date: 2026-03-02, text: New site }]
`

test('the settings of the job and the flags say how it looks', async () => {
  await place.file('looks.yaml', looks)
  await place.file('logo.svg', '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h9v9z"/></svg>')
  await place.file('words.md', '# March\n\nA **good** month.\n')
  const { code } = await place.call(['report', 'looks.yaml', '--comment', 'words.md', '-o', 'l.html'])
  expect(code).toBe(0)
  const html = await place.read('l.html')
  expect(html).toContain('<html lang="de">')
  expect(html).toContain('<title>Acme in the US · Acme Inc. · Ranking-Bericht</title>')
  expect(html).toContain(':root{--brand-light:#007239;--brand-dark:#00aa55}</style>')
  const { presentation } = await dataIn(html)
  expect(presentation).toMatchObject({
    ...{ client: 'Acme Inc.', agency: 'North', footer: 'North GmbH', audience: 'team' },
    logo: expect.stringMatching(/^data:image\/svg\+xml;base64,/),
    notes: [{ date: '2026-03-02', text: 'New site', url: null }],
    comment: { html: '<h3>March</h3>\n<p>A <strong>good</strong> month.</p>' },
  })
})

test('what the newest run was told counts where the job is named without its file', async () => {
  const { presentation } = await pageOf()
  expect(presentation).toMatchObject({ title: null, logo: null, language: 'en', audience: 'team' })
})

test('a saved view that no keyword is in is named', async () => {
  const views = 'views: [{ name: Odd, tags: [odd, old], kinds: [news] }, { name: News, kinds: [news] }]\n'
  await place.file('views.yaml', `${job}${views}`)
  const { stderr } = await place.call(['report', 'views.yaml', '-o', 'v.html'])
  expect(stderr.split('\n')[0]).toBe(
    "The view 'Odd' has no tab: no keyword has one of its tags (odd, old) and one of its kinds of results (news)",
  )
  expect(stderr).not.toContain("'News'")
})

/** Neither names of operations nor of engines, nor money, nor runs. */
const internal = /alpha|credit|operation"?: ?"(alpha|beta)|\brun_id\b|possibly billed/i

test('a client is shown no runs, no credits and no operations', async () => {
  await place.file('looks.yaml', looks)
  await place.file('logo.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>')
  const { code } = await place.call(['report', 'looks.yaml', '--for', 'client', '-o', 'c.html'])
  expect(code).toBe(0)
  const html = await place.read('c.html')
  const data = await dataIn(html)
  expect(data.runs).toEqual([])
  expect(data.history.keywords.map(({ operation }) => operation)).toEqual([
    'KI-Quellen',
    'Nachrichten',
    'Webergebnisse',
  ])
  expect(html.replace(/<script id="page-script"[\s\S]*<\/script>/, '')).not.toMatch(internal)
  expect(html).not.toContain('"runs":')
  const md = await place.call(['report', 'looks.yaml', '--for', 'client', '--format', 'md'])
  expect(md.stdout).toMatch(
    /^# Acme in the US, \d{4}-\d{2}-\d{2}\n\nRanking-Bericht für Acme Inc. · von North\n/,
  )
  expect(md.stdout).toContain('| desk | Webergebnisse |')
  expect(md.stdout).not.toMatch(internal)
})

testTable(['html', 'xlsx', 'md', 'csv', 'json', 'table'])(
  'a day before the first run is no mistake as %s',
  async (form) => {
    const flags = ['--date', '2020-01-01', '--format', form, '--out', 'none']
    const args = ['report', 'acme', ...flags]
    const { code, stderr } = await place.call(args)
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(
        /^No run of the job acme had started by 2020-01-01\..*\nWritten: none, .*\n$/,
      ),
    })
  },
)

testTable([
  [
    ['--format', 'md', '--serps', '30d'],
    '--serps has no meaning for --format md, which has none; use --format html',
  ],
  [['--format', 'html', '--serps', 'all'], "--serps cannot be 'all'; write days such as 7d, 4w or 30d"],
  [
    ['--format', 'csv', '--for', 'client'],
    '--for has no meaning for --format csv, which is no document; use --format html, pdf, email, md or xlsx',
  ],
  [
    ['--comment', 'words.md'],
    '--comment has no meaning for --format table, which does not show it; use --format html, pdf, email or md',
  ],
  [
    ['--format', 'xlsx', '--comment', 'words.md'],
    '--comment has no meaning for --format xlsx, which does not show it; use --format html, pdf, email or md',
  ],
  [['--format', 'md', '--for', 'boss'], "--for cannot be 'boss'; write client or team"],
  [
    ['--format', 'md', '--comment', 'none.md'],
    'The comment none.md cannot be read. Check the path given to --comment',
  ],
  [['--format', 'html', '--sort', 'rank'], '--sort has no meaning for --format html, which has no rows'],
])('%j is refused', async (flags, words) => {
  const { code, stderr } = await place.call(['report', 'acme', ...flags])
  expect({ code, stderr }).toEqual({ code: 2, stderr: `rankline: ${words}\n` })
})

test('two formats at once are refused, as JSON because that is one of them', async () => {
  const { code, stderr } = await place.call(['report', 'acme', '--format', 'html', '--json'])
  expect({ code, ...JSON.parse(stderr) }).toEqual({
    code: 2,
    error: {
      code: 2,
      message: '--json and --format html ask for two formats',
      hint: 'Leave one of them out',
    },
  })
})

test.skipIf(chromium === undefined)(
  chromium === undefined ? whyNoChromium : 'a PDF is printed by the browser that CHROME_PATH names',
  async () => {
    const flags = ['--paper', 'letter', '-o', 'r.pdf']
    const { code, stderr } = await place.call(['report', 'acme', ...flags], { CHROME_PATH: chromium ?? '' })
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^Written: r.pdf, [\d.]+ kB\n$/),
    })
    const pdf = await readFile(join(place.folder, 'r.pdf'), 'latin1')
    expect(pdf).toMatch(/^%PDF-/)
    expect(pdf.match(/\/Type \/Page\b/g)?.length).toBeGreaterThan(1)
    // Letter, in points.
    expect(pdf).toMatch(/\/MediaBox \[0 0 612 792\]/)
  },
)

test('without a browser no PDF is begun, and the error says what to do', async () => {
  const { code, stderr } = await place.call(['report', 'acme', '-o', 'none.pdf'], { CHROME_PATH: '/nowhere' })
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining('CHROME_PATH names /nowhere, which does not exist. Name the program'),
  })
  expect(existsSync(join(place.folder, 'none.pdf'))).toBe(false)
})
