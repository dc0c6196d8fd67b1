import type { BrowserContext, Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addressOf, placeIn, type ReaderPlace } from '../../src/page/client/filters.ts'
import { noFilters } from '../../src/report/choice.ts'
import { testTable } from '../support/test-table.ts'
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

const sample = samplePage({ keywords: 40, days: 40 })
const views = [
  { name: 'Desks only', tags: ['desks'], targets: ['risewell.example'], kinds: ['organic'] },
  { name: 'All of it', tags: [], targets: [], kinds: [] },
]
const data = { ...sample, presentation: { ...sample.presentation, views } }
const { query } = data.history.keywords[3] as (typeof data.history.keywords)[number]
const nowhere: ReaderPlace = { filters: noFilters, keyword: null, section: null }

describe('a place on the page', () => {
  testTable<[string, ReaderPlace]>([
    ['', nowhere],
    ['section=moved', { ...nowhere, section: 'moved' }],
    [`keyword=${query.replaceAll(' ', '+')}`, { ...nowhere, keyword: 3 }],
    [
      'view=Desks+only&text=oak&period=7d&tag=desks&section=keywords',
      {
        ...{ ...nowhere, section: 'keywords' },
        filters: { ...noFilters, target: 2, view: 'Desks only', text: 'oak', period: '7d', tags: ['desks'] },
      },
    ],
  ])('#%s is said and read alike', (hash, place) => {
    expect(addressOf(place, data)).toBe(hash)
    expect(placeIn(`#${hash}`, data)).toEqual(place)
  })

  test('a section alone is one, and what does not exist is none', () => {
    expect(placeIn('#competitors', data)).toEqual({ ...nowhere, section: 'competitors' })
    expect(placeIn('#section=cellar&keyword=nothing', data)).toEqual(nowhere)
  })

  test('keywords with the same text are told apart', () => {
    const keywords = data.history.keywords.map((one) => ({ ...one, query: 'lamp' }))
    const same = { ...data, history: { ...data.history, keywords } }
    for (const keyword of [0, 5, 39])
      expect(placeIn(`#${addressOf({ ...nowhere, keyword }, same)}`, same).keyword).toBe(keyword)
    expect(placeIn('#keyword=lamp&nth=41', same).keyword).toBeNull()
  })
})

let browser: BrowserContext | undefined
let opened: Opened
let page: Page

const title = chromium === undefined ? whyNoChromium : 'the address of a page'
describe.skipIf(chromium === undefined)(title, () => {
  beforeAll(async () => {
    browser = await openBrowser()
    opened = await openPage(browser, data)
    page = opened.page
  })
  afterAll(async () => {
    expect(opened.mishaps).toEqual([])
    await opened[Symbol.asyncDispose]()
    await browser?.close()
  })

  const text = (selector: string): Promise<string> =>
    page.$eval(selector, ({ textContent }) => textContent ?? '')
  const hash = (): Promise<string> => page.evaluate(() => decodeURIComponent(location.hash))
  const openKeyword = (): Promise<string | null> =>
    page.evaluate(() => document.querySelector('dialog[open] h2')?.textContent ?? null)
  const first = (): Promise<string> => text('#keywords tbody th bdi')
  const isSetTo = (selector: string): Promise<string> =>
    page.$eval(selector, (field) => (field as HTMLSelectElement | HTMLInputElement).value)
  /** The page as a link opens it. */
  async function afresh(at = ''): Promise<void> {
    await page.evaluate((hash) => history.replaceState(null, '', `${location.href.split('#')[0]}${hash}`), at)
    await page.reload()
    await page.waitForSelector('main[data-whole]')
  }
  async function back(): Promise<void> {
    const before = await hash()
    await page.evaluate(() => history.back())
    await page.waitForFunction((one) => decodeURIComponent(location.hash) !== one, {}, before)
    await page.evaluate(() => new Promise((done) => setTimeout(done, 0)))
  }

  test('has each step, and Back undoes one after the other', async () => {
    await afresh()
    await page.click('#keywords tbody tr:nth-child(2) td:nth-child(3)')
    const name = await openKeyword()
    expect(await hash()).toBe(`#keyword=${name?.replaceAll(' ', '+')}`)
    await page.click('dialog [aria-label="Next keyword"]')
    expect(await openKeyword()).not.toBe(name)
    await page.keyboard.press('Escape')
    await page.waitForFunction(() => location.hash === '')
    await chooseTag(page, 'desks')
    expect(await hash()).toBe('#tag=desks')
    await page.click('.sentences a[href="#competitors"]')
    expect(await hash()).toBe('#tag=desks&section=competitors')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('competitors-title')
    await back()
    expect(await hash()).toBe('#tag=desks')
    await back()
    expect(await isSetTo('#choose-tag')).toBe('')
    await back()
    expect(await openKeyword()).not.toBeNull()
    await back()
    expect([await openKeyword(), await hash()]).toEqual([null, ''])
  })

  test('opens the page as it was: filters and keyword; the order stays while the page is open', async () => {
    await afresh(`#tag=desks&tag=oak&keyword=${encodeURIComponent(query)}`)
    expect(await openKeyword()).toBe(query)
    await page.keyboard.press('Escape')
    await page.click('#keywords [data-column="keyword"]')
    await chooseTag(page, 'money')
    expect(await page.$eval('[data-column="keyword"]', (head) => head.closest('th')?.ariaSort)).toBe(
      'ascending',
    )
  })

  test('the figures and the first keyword are at most five stops away by keyboard', async () => {
    await afresh()
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to figures')
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to keywords')
    await page.keyboard.press('Enter')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain(await first())
    await page.keyboard.press('Enter')
    expect(await openKeyword()).toBe(await first())
  })

  test('periods: presets, free days that are never the wrong way round, and a free day to compare with', async () => {
    await afresh()
    await openFields(page)
    expect(await text('.days')).toMatch(/^24 Oct to 20 Nov 2026, compared with 13 November 2026/)
    expect(await page.$('#choose-from').then((field) => field?.isVisible())).toBe(false)
    await page.select('#choose-period', '7d')
    expect(await text('.days')).toMatch(/^14 Nov to 20 Nov 2026/)
    await page.select('#choose-period', 'free')
    expect(await isSetTo('#choose-from')).toBe('2026-11-14')
    await type('#choose-from', '11102026')
    expect(await hash()).toBe('#period=2026-11-10..2026-11-20')
    await type('#choose-until', '11182026')
    expect(await hash()).toBe('#period=2026-11-10..2026-11-18')
    // After Until, and before From: the earlier day is the first one.
    await type('#choose-from', '11192026')
    expect(await hash()).toBe('#period=2026-11-18..2026-11-19')
    await type('#choose-until', '11102026')
    expect(await hash()).toBe('#period=2026-11-10..2026-11-18')
    expect([await isSetTo('#choose-from'), await isSetTo('#choose-until')]).toEqual([
      '2026-11-10',
      '2026-11-18',
    ])
    // Before the first day, and after the last one: no day that can be chosen.
    for (const [field, day] of [
      ['#choose-from', '01012020'],
      ['#choose-until', '12312027'],
    ] as const) {
      await type(field, day)
      expect(await hash()).toBe('#period=2026-11-10..2026-11-18')
    }
    await page.select('#choose-compare', 'free')
    expect(await hash()).toBe('#period=2026-11-10..2026-11-18&compare=2026-11-11')
    await type('#choose-until', '11102026')
    expect(await hash()).toBe('#period=2026-11-10..2026-11-10')
    expect(await page.$('#choose-compared-day').then((field) => field?.isVisible())).toBe(false)
    await type('#choose-until', '11182026')
    await page.select('#choose-compare', 'free')
    await type('#choose-compared-day', '11032026')
    expect(await text('.days')).toMatch(/^10 Nov to 18 Nov 2026, compared with 3 November 2026/)
    expect(await text('#keywords .section-lead, #keywords p')).toContain(
      '18 November 2026, compared with 3 November',
    )
    await page.click('.outcome button')
    expect(await text('.days')).toMatch(/^24 Oct to 20 Nov 2026, compared with 13 November 2026/)
    await back()
    expect(await hash()).toBe('#period=2026-11-10..2026-11-18&compare=2026-11-03')
  })

  test('Back takes a typed day away for good', async () => {
    await afresh()
    await openFields(page)
    await page.select('#choose-period', 'free')
    await type('#choose-from', '11102026')
    await back()
    await page.waitForFunction(() => document.activeElement?.id !== 'choose-from')
    expect(await hash()).toBe('')
  })

  test('where filters select nothing the page still says what is compared, and keeps the focus', async () => {
    await afresh()
    await page.focus('.cards .term')
    await page.evaluate(() => {
      location.hash = 'text=no+such+keyword'
    })
    await page.waitForSelector('#overview .empty')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('overview-title')
    expect(await text('.days')).toContain('compared with 13 November 2026')
  })

  async function type(field: string, digits: string): Promise<void> {
    // In a field that has the focus already, typing would go on in the year.
    await page.$eval(field, (one) => (one as HTMLInputElement).blur())
    await page.focus(field)
    await page.keyboard.type(digits)
    await page.keyboard.press('Enter')
  }

  test('saved views are buttons, one of which is pressed', async () => {
    await afresh()
    await page.click('.views button:nth-child(2)')
    expect(await hash()).toBe('#view=Desks+only')
    expect(
      await page.$$eval('.views button', (all) => all.map((one) => `${one.textContent} ${one.ariaPressed}`)),
    ).toEqual(['All keywords false', 'Desks only true', 'All of it false'])
    const tagged = data.history.keywords.filter(
      ({ kind, tags }) => kind === 'organic' && tags.includes('desks'),
    )
    expect(await text('.found')).toBe(`${tagged.length} of 40 keywords`)
  })
})
