import fc from 'fast-check'
import type { Browser, Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { competitorsLine } from '../../src/page/competitors-line.ts'
import type { PageData } from '../../src/report/data.ts'
import { absentCell } from '../../src/report/history/rank-history.ts'
import { chromium, type Opened, openBrowser, openPage, whyNoChromium } from './browser.ts'
import { samplePage } from './sample-page.ts'

const hosts = [
  'rival.example',
  'xn--bcher-kva.example',
  '10.0.0.1',
  '1.e5',
  'no',
  '-a.b',
  'a: b',
  '"',
  '\u2028',
  'a#b.de',
]

test('the line for the job file names the sites, whatever they are called', () => {
  expect(competitorsLine(['rival.example', 'a b'])).toBe('competitors: [rival.example, "a b"]')
  const site = fc.oneof(fc.constantFrom(...hosts), fc.domain(), fc.string({ unit: 'binary' }))
  fc.assert(
    fc.property(fc.array(site, { minLength: 1, maxLength: 4 }), (sites) => {
      const line = competitorsLine(sites)
      expect(line).not.toMatch(/[\n\r\u2028\u2029]/)
      expect(parse(line)).toEqual({ competitors: sites })
    }),
    { numRuns: 50 },
  )
})

let browser: Browser
beforeAll(async () => {
  if (chromium !== undefined) browser = await openBrowser()
})
afterAll(() => browser?.close())

const open = async (data: PageData, width = 1280): Promise<Opened> => {
  const opened = await openPage(browser, data, { width })
  await opened.page.waitForSelector('#features tbody')
  return opened
}

const texts = (page: Page, selector: string): Promise<readonly string[]> =>
  page.$$eval(selector, (all) =>
    all.filter((one) => one.checkVisibility()).map((one) => (one as HTMLElement).innerText.trim()),
  )

describe.skipIf(chromium === undefined)(
  chromium === undefined ? whyNoChromium : 'competitors in a browser',
  () => {
    test('a change within the usual swing is grey in every place of the figure', async () => {
      await using opened = await open(samplePage({ keywords: 80, days: 30, targets: 3 }))
      const { page } = opened
      const looks = (selector: string): Promise<readonly string[]> =>
        page.$$eval(selector, (all) =>
          all.map((one) => `${one.firstChild?.textContent} ${getComputedStyle(one).color}`),
        )
      const cards = (await looks('.cards .card .change')).slice(0, 4)
      expect(cards.filter((one) => /[▲▼]/.test(one)).length).toBe(3)
      expect(new Set(cards.map((one) => one.slice(one.indexOf('rgb')))).size).toBe(1)
      const inTable = await looks('#competitors .panel tbody tr:first-child .with-delta .change')
      expect(inTable.slice(0, 4)).toEqual(cards)
      const [ofAll] = await looks('#breakdown .between:last-of-type ~ * tbody tr:first-child .change')
      expect(ofAll).toBe(cards[1])
    })

    test('names stay apart from figures on every screen, and tell keywords of one text apart', async () => {
      const sample = samplePage({ keywords: 70, days: 20 })
      const word = 'Donaudampfschifffahrtsgesellschaftskapitänsschreibtisch'
      const keywords = sample.history.keywords.map((one, place) => ({
        ...one,
        query: word,
        params: { gl: 'us', location: `Place ${place}` },
      }))
      // All were absent, so that those that rank have come in.
      const compared = sample.history.days.indexOf(sample.compare?.day ?? '')
      const series = sample.history.series.map((one) => ({
        ...one,
        cells: one.cells.map((cell, day) =>
          one.target === 0 && day === compared ? absentCell(30, false) : cell,
        ),
      }))
      await using opened = await open({
        ...sample,
        history: { ...sample.history, keywords, series },
        presentation: { ...sample.presentation, language: 'de' },
      })
      const { page, mishaps } = opened
      expect(await page.$$eval('.movers .word', (all) => all.length)).toBeGreaterThan(0)
      for (const width of [390, 768, 1280]) {
        await page.setViewport({ width, height: 900 })
        await page.waitForFunction((wanted) => document.documentElement.scrollWidth === wanted, {}, width)
        const overlaps = await page.$$eval('.movers button', (all) =>
          all.flatMap((row) => {
            const boxes = [...row.children].filter((one) => one.checkVisibility())
            const edges = [...boxes.map((one) => one.getBoundingClientRect())].sort((a, b) => a.x - b.x)
            return edges.slice(1).flatMap((box, place) => {
              const before = edges[place] as DOMRect
              return before.right > box.x + 1 ? [(row as HTMLElement).innerText] : []
            })
          }),
        )
        expect(overlaps).toEqual([])
      }
      const names = await texts(page, '.movers .name')
      expect(names.length).toBeGreaterThan(1)
      for (const name of names) expect(name).toMatch(/Place \d+/)
      await page.click('.movers button')
      expect(await texts(page, 'dialog h2 .about')).toEqual([expect.stringMatching(/Place \d+/)])
      const why = await page.$$eval('.action-why button', (all) => all.map((one) => one.ariaLabel))
      expect(new Set(why).size).toBe(why.length)
      expect(mishaps).toEqual([])
    })

    test('AI answers: how shares changed, and a line of them only where it has enough days', async () => {
      const data = samplePage({ keywords: 24, days: 20 })
      const [last, compared] = [19, data.history.days.indexOf(data.compare?.day ?? '')]
      const twoDays = data.citations.filter(({ day }) => day === last || day === compared)
      const changes = '#answers td .change'
      for (const [citations, charts] of [
        [data.citations, 1],
        [twoDays, 0],
      ] as const) {
        await using opened = await open({ ...data, citations })
        const { page } = opened
        await page.waitForSelector('#answers tbody')
        expect(await page.$$eval('#answers .chart', (all) => all.length)).toBe(charts)
        const cited = (target: number, day: number, other: number): readonly number[] => {
          const both = twoDays.filter(
            (one) =>
              one.day === day &&
              twoDays.some(({ keyword, day: at }) => at === other && keyword === one.keyword),
          )
          return both.map((one) => Number(one.cited.some((each) => each.target === target)))
        }
        const share = (all: readonly number[]) => all.reduce((sum, one) => sum + one, 0) / all.length
        const wanted = data.history.targets.map((_, target) =>
          Math.sign(share(cited(target, last, compared)) - share(cited(target, compared, last))),
        )
        const shown = await page.$$eval(changes, (all) =>
          all.map(({ textContent: text }) => (text?.includes('▲') ? 1 : text?.includes('▼') ? -1 : 0)),
        )
        expect(shown).toEqual(wanted)
      }
    })

    test('whether answers were not checked, or are not in the file', async () => {
      const data = samplePage({ keywords: 24, days: 20 })
      const said = async (one: PageData): Promise<readonly string[]> => {
        await using opened = await open(one)
        await opened.page.waitForSelector('#answers .empty')
        return await texts(opened.page, '#answers .panel:first-of-type .empty')
      }
      const without = { ...data, citations: data.citations.filter(({ day }) => day < 19) }
      expect(await said(without)).toEqual([
        'The results of 20 November 2026 are not in this report. More days come with --serps, for instance --serps 30d.',
      ])
      const series = data.history.series.map((one) => ({ ...one, cells: one.cells.with(19, 0) }))
      expect(await said({ ...without, history: { ...data.history, series } })).toEqual([
        'No AI answer was checked on the last selected day.',
      ])
    })

    test('a competitor is not asked for the pages of others, and has a line when it is chosen', async () => {
      await using opened = await open(samplePage({ keywords: 24, days: 20 }))
      const { page } = opened
      const [main, titles] = ['.chart-panel path.line.main:not(.sample *)', '#pages h3 button']
      expect(await texts(page, titles)).toContain('Target pages')
      await page.$eval('.toggles [data-target="2"]', (one) => (one as HTMLElement).click())
      expect(await page.$$('.toggles [aria-pressed="false"]')).toHaveLength(1)
      await page.select('#choose-target', '2')
      await page.waitForSelector('#definitions')
      expect(await texts(page, titles)).not.toContain('Target pages')
      expect(await page.$$('.toggles [aria-pressed="false"]')).toEqual([])
      expect(await page.$$(main)).toHaveLength(1)
    })

    test('the keywords and what to do next can be copied: one figure in a column, and all rows', async () => {
      await using opened = await open(samplePage({ keywords: 120, days: 40 }))
      const { page } = opened
      const copies = await page.evaluate(async () => {
        const copied: (readonly string[])[][] = []
        Object.defineProperty(navigator, 'clipboard', {
          value: {
            writeText: async (one: string) =>
              copied.push(
                one
                  .trimEnd()
                  .split('\r\n')
                  .map((line) => line.split('\t')),
              ),
          },
        })
        for (const one of document.querySelectorAll<HTMLElement>('.table-tools .tool:first-of-type'))
          one.click()
        await new Promise((done) => setTimeout(done, 100))
        return copied
      })
      const [actions, keywords] = copies
      expect(copies).toHaveLength(2)
      expect(actions?.[0]).toEqual([
        ...['Keyword', 'Country and language', 'Engine', 'Reason', 'Clicks a month to win or lose', 'Page'],
      ])
      expect(keywords).toHaveLength(121)
      const cells = copies.flatMap(([, ...rows]) => rows.flat())
      expect(cells.filter((cell) => /^\d+ of \d+|%$|^'?[=+]|^\d+\.\d{2}/.test(cell))).toEqual([])
    })

    test('gives the line for the job file, for as many sites as are pressed', async () => {
      await using opened = await open(samplePage({ keywords: 24, days: 20 }))
      const { page } = opened
      const sites: string[] = []
      for (const place of [0, 1]) {
        sites.push(
          await page.$$eval(
            '.add-site',
            (buttons, at) => {
              const add = buttons[at] as HTMLElement
              add.click()
              return add.closest('tr')?.querySelector('.breakable')?.textContent ?? ''
            },
            place,
          ),
        )
        expect(await texts(page, '.job-line code')).toEqual([competitorsLine(sites)])
      }
      expect(await texts(page, '.add-site')).toContain(`Added below\n: ${sites[0]}`)
    })

    test('the reader chooses the day that the first ten results are compared with', async () => {
      const data = samplePage({ keywords: 24, days: 20 })
      await using opened = await open(data)
      const { page } = opened
      const organic = data.history.keywords.findIndex(
        ({ operation }, keyword) =>
          operation === 'alpha.search' && data.serps.filter((one) => one.keyword === keyword).length === 3,
      )
      const { query } = data.history.keywords[organic] ?? { query: '' }
      await page.$$eval(
        '#keywords .row-button',
        (all, text) =>
          all
            .find((one) => one.querySelector('bdi')?.textContent === text)
            ?.dispatchEvent(new MouseEvent('click', { bubbles: true })),
        query,
      )
      await page.waitForSelector('dialog[open] .compared-day select')
      const options = await page.$$eval('dialog .compared-day option', (all) => all.map(({ text }) => text))
      expect(options).toEqual(['19 Nov 2026', '13 Nov 2026'])
      const titles = () => texts(page, 'dialog .serps section:last-child .result-title')
      const at = (day: number) =>
        data.serps
          .find((one) => one.keyword === organic && one.day === day)
          ?.results.map(([, title]) => data.texts[title ?? 0])
      expect(await titles()).toEqual(at(12))
      await page.select('dialog .compared-day select', '18')
      expect(await titles()).toEqual(at(18))
      expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('SELECT')
    })
  },
)
