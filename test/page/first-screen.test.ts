import type { BrowserContext, Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PageData } from '../../src/report/data.ts'
import { chromium, type Look, openBrowser, openPage, whyNoChromium } from './browser.ts'
import { emptyPage, firstDayPage, hostilePage, hostileTexts, targetlessPage } from './odd-pages.ts'
import { samplePage } from './sample-page.ts'

let browser: BrowserContext

const usual = samplePage({ keywords: 70, days: 40 })
/** So many series that what moved is found after the figures. */
const large = samplePage({ keywords: 800, days: 12 })
const first =
  '.page-header h1, .days, .controls, .shown, .outcome, .sentences, .main-chart:not([hidden]), .card'

/** Where the parts of the first screen are, and what they say. */
const seen = (page: Page) =>
  page.$$eval(
    first,
    (all, hidden) =>
      all.map((one) => {
        const { x, y, width, height } = one.getBoundingClientRect()
        const copy = one.cloneNode(true) as Element
        for (const part of copy.querySelectorAll(hidden)) part.remove()
        // HTML has no way to write the sign for nothing.
        return [copy.textContent?.replaceAll('\0', ''), x, y, width, height]
      }),
    '.tooltip, .main-plot > *, [hidden]',
  )

const title = chromium === undefined ? whyNoChromium : 'the first screen'
describe.skipIf(chromium === undefined)(title, () => {
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  /** One after the other, in one tab: another tab costs more than a page. */
  async function firstOf(data: PageData, look: Look) {
    await using opened = await openPage(browser, data, look)
    const { page, mishaps } = opened
    const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    return { parts: await seen(page), background, mishaps }
  }

  test.each<[string, PageData, Look]>([
    ['a usual page', usual, {}],
    ['a page on a phone', usual, { width: 390 }],
    ['a page in dark colours', usual, { scheme: 'dark' }],
    ['a page of many keywords', large, {}],
    ['a first day', firstDayPage(), {}],
    ['a page of hostile texts', hostilePage(), {}],
    ['a job without targets', targetlessPage(), {}],
    ['a job that has not run', emptyPage(), {}],
  ])('of %s stands in the file as its script draws it', async (_, data, look) => {
    const written = await firstOf(data, { ...look, isUndrawn: true })
    expect(written.mishaps).toEqual([])
    expect(written.parts.length).toBeGreaterThan(1)
    const drawn = await firstOf(data, look)
    expect(written.parts).toEqual(drawn.parts)
    expect(written.background).toBe(drawn.background)
  })

  test.each(['en', 'de'] as const)(
    'of a phone has the sentences and the whole chart: %s',
    async (language) => {
      const presentation = {
        ...usual.presentation,
        language,
        title: 'Standing desks, US and UK',
        client: 'North Desk',
        agency: 'Harbor Search',
        logo: `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" width="220" height="36"/>')}`,
        views: ['Desks', 'Prices', 'Accessories and parts'].map((name) => ({
          name,
          tags: [],
          targets: [],
          kinds: [],
        })),
        notes: [{ date: usual.history.days.at(-9) ?? '', text: 'Autumn sale', url: null }],
      }
      await using opened = await openPage(browser, { ...usual, presentation }, { width: 390 })
      const ends = await opened.page.$$eval('.sentences li, .main-chart .plot', (all) =>
        all.map((one) => one.getBoundingClientRect().bottom),
      )
      expect(ends.length).toBeGreaterThanOrEqual(4)
      expect(Math.max(...ends)).toBeLessThanOrEqual(844)
    },
  )

  test('is what is to be seen first, and the rest comes from the script', async () => {
    await using opened = await openPage(browser, usual, { isUndrawn: true })
    const ids = await opened.page.$$eval('main > *', (all) => all.map(({ id }) => id))
    expect(ids).toEqual(['overview'])
    expect(await opened.page.$$('#report .chart, #report script, #report style, #report [style]')).toEqual([])
  })

  test('has texts of others as text alone', async () => {
    await using opened = await openPage(browser, hostilePage(), { isUndrawn: true })
    const { page } = opened
    expect(await page.$$('#report script, #report img, #report iframe, #report style')).toEqual([])
    expect(await page.$eval('h1', ({ textContent }) => textContent)).toBe(hostileTexts[1])
    const links = await page.$$eval('#report a', (all) => all.map((one) => one.getAttribute('href')))
    for (const link of links) expect(link).toMatch(/^(https?:|#[\w-]+$)/)
    expect(await page.evaluate(() => 'harmed' in window)).toBe(false)
  })

  test('is not shown where the address asks for something else, until that is drawn', async () => {
    const look = { hash: '#tag=desks' }
    {
      await using undrawn = await openPage(browser, usual, { ...look, isUndrawn: true })
      expect(await undrawn.page.$('.cards').then((cards) => cards?.isVisible())).toBe(false)
    }
    await using drawn = await openPage(browser, usual, look)
    expect(await drawn.page.$('.cards').then((cards) => cards?.isVisible())).toBe(true)
    expect(await drawn.page.$eval('#choose-tag', (field) => (field as HTMLSelectElement).value)).toBe(
      '=desks',
    )
  })
})
