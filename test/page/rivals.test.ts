import type { BrowserContext, Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { daily } from '../../src/report/daily.ts'
import type { PageData } from '../../src/report/data.ts'
import { absentCell } from '../../src/report/history/rank-history.ts'
import { chromium, type Opened, openBrowser, openFields, openPage, whyNoChromium } from './browser.ts'
import { samplePage } from './sample-page.ts'

let browser: BrowserContext
beforeAll(async () => {
  if (chromium !== undefined) browser = await openBrowser()
})
afterAll(() => browser?.close())

const open = async (data: PageData, width = 1280): Promise<Opened> => {
  const opened = await openPage(browser, data, { width })
  await opened.page.waitForSelector('main[data-whole]')
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
      const [clicks] = await looks('.cards .card:first-child .change')
      expect(clicks).toMatch(/[▲▼]/)
      expect(await looks('#competitors tbody tr:first-child .with-delta .change')).toEqual([clicks])
    })

    test('rivals: the average of each month is that of its days where there are seven, then the compared day; the chosen site is first', async () => {
      const data = samplePage({ keywords: 24, days: 40, targets: 3 })
      const compared = data.compare?.day as string
      await using opened = await open(data)
      const { page } = opened
      await page.click('.chart-head input[value="visibility"]')
      const [head = '', ...rows] = await page.$$eval('#competitors table:first-of-type tr', (all) =>
        all.map((one) => [...one.children].map(({ textContent }) => textContent).join('|')),
      )
      expect(head).toMatch(/^Site\|Oct 2026\|Nov 2026\|13 Nov\|Now\|Trend/)
      expect(compared).toBe('2026-11-13')
      // Figures are of web results.
      const own = data.history.series.filter(
        ({ target, keyword }) => target === 0 && data.history.keywords[keyword]?.kind === 'organic',
      )
      const alike = { day: compared, asked: compared, tolerance: data.compare?.tolerance ?? 0 }
      const days = daily({ ...data.history, series: own }, 0, data.measure, 0, alike)
      const average = (month: string): string => {
        const known = days.flatMap(({ day, isPartial, figures }) =>
          !day.startsWith(month) || isPartial ? [] : (figures.visibility.value ?? []),
        )
        return `${((known.reduce((sum, one) => sum + one, 0) / known.length) * 100).toFixed(1)}%`
      }
      expect(rows[0]).toContain(
        `northdesk.example|${average('2026-10')}|${average('2026-11')}|${average(compared)}|`,
      )
      // The change is that from the compared day to the last one.
      const [then = 0, now = 0, points = 0] =
        rows[0]
          ?.match(/[\d.]+(?=%| points)/g)
          ?.slice(2)
          .map(Number) ?? []
      expect(Math.abs(now - then)).toBeCloseTo(points, 0)
      // Another site of the client is no rival, and beats nobody.
      const rowOf = (label: string): string => rows.find((row) => row.startsWith(label)) ?? ''
      expect(rowOf('North Desk Shop')).toMatch(/\|–[^\d]*$/)
      expect(rowOf('risewell.example')).toMatch(/\|\d+ of \d+$/)

      await using short = await open(samplePage({ keywords: 24, days: 23, targets: 3 }))
      const months = await short.page.$$eval('#competitors .month', (all) =>
        all.map(({ textContent }) => textContent),
      )
      expect(months[0]).toBe('Nov 2026')
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
      expect(await page.$$eval('#moved .word', (all) => all.length)).toBeGreaterThan(0)
      for (const width of [390, 768, 1280]) {
        await page.setViewport({ width, height: 900 })
        await page.waitForFunction((wanted) => document.documentElement.scrollWidth === wanted, {}, width)
        const overlaps = await page.$$eval('.move', (all) =>
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
      const names = await texts(page, '.move .name')
      expect(names.length).toBeGreaterThan(1)
      for (const name of names) expect(name).toMatch(/Place \d+/)
      await page.click('.move')
      expect(await texts(page, 'dialog h2 .about')).toEqual([expect.stringMatching(/Place \d+/)])
      expect(mishaps).toEqual([])
    })

    test('a rival that is chosen has no next steps, the main line, and a column for each other site', async () => {
      const data = samplePage({ keywords: 24, days: 20, targets: 3 })
      await using opened = await open(data)
      const { page } = opened
      const [own, ...others] = data.history.targets.map(({ label }) => label.replace(/\s/g, ''))
      const heads = (): Promise<readonly string[]> => texts(page, '#keywords th.rival')
      expect((await heads()).map((one) => one.replace(/\s/g, ''))).toEqual(others)
      await openFields(page)
      await page.select('#choose-target', '2')
      await page.waitForSelector('main[data-whole]')
      expect(await page.$$('#next')).toEqual([])
      expect(await texts(page, '.shown')).toEqual([expect.stringContaining('risewell.example')])
      expect((await heads())[0]?.replace(/\s/g, '')).toBe(own)
      expect(await page.$$('.series.main')).toHaveLength(1)
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
