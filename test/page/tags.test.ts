import type { BrowserContext, Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  chooseTag,
  chromium,
  type Opened,
  openBrowser,
  openFields,
  openPage,
  whyNoChromium,
} from './browser.ts'
import { samplePage } from './sample-page.ts'

const sample = samplePage({ keywords: 40, days: 12 })
const formula = '=HYPERLINK("https://evil.example";"x")'
const data = {
  ...sample,
  history: {
    ...sample.history,
    keywords: sample.history.keywords.map((one, place) => ({
      ...one,
      query: place === 0 ? formula : one.query,
      tags: place === 1 ? [] : one.tags,
    })),
  },
  presentation: {
    ...sample.presentation,
    views: [
      { name: '<b>Rivals</b>', tags: [], targets: ['risewell.example', 'northdesk.example'], kinds: [] },
      { name: 'News', tags: [], targets: [], kinds: ['news'] },
      { name: 'Of no keyword', tags: ['no such tag'], targets: [], kinds: [] },
    ],
  },
}
const { keywords } = data.history
const withTag = (...tags: readonly string[]): number =>
  keywords.filter((one) => (one.tags.length === 0 ? [''] : one.tags).some((tag) => tags.includes(tag))).length

let browser: BrowserContext | undefined
let opened: Opened
let page: Page

const title = chromium === undefined ? whyNoChromium : 'tags, saved views and tables in a browser'
describe.skipIf(chromium === undefined)(title, () => {
  beforeAll(async () => {
    browser = await openBrowser()
    opened = await openPage(browser, data)
    page = opened.page
    await page.waitForSelector('main[data-whole]')
  })
  afterAll(async () => {
    expect(opened.mishaps).toEqual([])
    await opened[Symbol.asyncDispose]()
    await browser?.close()
  })

  const text = (selector: string): Promise<string> =>
    page.$eval(selector, ({ textContent }) => textContent ?? '')
  const texts = (selector: string): Promise<readonly string[]> =>
    page.$$eval(selector, (all) => all.map(({ textContent }) => textContent ?? ''))
  const hash = (): Promise<string> => page.evaluate(() => location.hash)
  test('keywords stand in groups in the same table, and a group chooses its keywords', async () => {
    await page.click('#keywords input[value="tag"]')
    const names = await texts('#keywords tbody bdi')
    expect(names.toSorted()).toEqual(['accessories', 'desks', 'money', 'no tag'])
    await page.$$eval('#keywords .row-button', (all) => {
      for (const one of all)
        if (one.querySelector('bdi')?.textContent === 'desks') return (one as HTMLElement).click()
    })
    expect(await hash()).toBe('#tag=desks')
    expect(await text('.found')).toBe(`${withTag('desks')} of 40 keywords`)
    expect(await text('.scope')).toContain('desks')
    expect((await texts('#keywords thead th')).some((one) => one.startsWith('Rank'))).toBe(true)
    await page.evaluate(() => history.back())
    await page.waitForFunction(() => location.hash === '')
  })

  test('a tag is chosen in one field, which names several tags of an address', async () => {
    await openFields(page)
    await chooseTag(page, 'desks')
    expect([await hash(), await text('.found')]).toEqual(['#tag=desks', `${withTag('desks')} of 40 keywords`])
    await page.evaluate(() => {
      location.hash = '#tag=accessories&tag=desks'
    })
    await page.waitForFunction(() => document.querySelector('#choose-tag [value=several]') !== null)
    expect(await text('#choose-tag :checked')).toBe('accessories, desks')
    expect(await text('.found')).toBe(`${withTag('accessories', 'desks')} of 40 keywords`)
    await chooseTag(page, '')
    expect(await hash()).toBe('')
    expect(await texts('#choose-tag option')).toEqual(['All', 'accessories', 'desks', 'money', 'no tag'])
  })

  test('the first screen names the kind of results and the engine that its figures are of', async () => {
    expect(await text('.scope')).toBe('web results, alpha')
  })

  test('a saved view shows its targets and kinds only, and leaves other filters behind', async () => {
    expect(await texts('.views button')).toEqual(['All keywords', '<b>Rivals</b>', 'News'])
    await chooseTag(page, 'money')
    await page.click('.views button:nth-child(2)')
    expect(await hash()).toBe('#view=%3Cb%3ERivals%3C%2Fb%3E')
    const shown = await page.$$eval('#choose-target option:not([hidden])', (all) =>
      all.map((one) => [one.textContent, (one as HTMLOptionElement).selected].join()),
    )
    expect(shown).toEqual(['northdesk.example,false', 'risewell.example (competitor),true'])
    await page.click('.views button:nth-child(3)')
    expect(await text('.found')).toBe(
      `${keywords.filter(({ kind }) => kind === 'news').length} of 40 keywords`,
    )
    await chooseTag(page, 'desks')
    await page.click('.outcome button')
    expect(await hash()).toBe('#view=News')
    await page.click('.views button:first-child')
    expect(await hash()).toBe('')
  })
})
