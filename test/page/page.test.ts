import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { BrowserContext, Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addDays } from '../../src/model/time.ts'
import { compare } from '../../src/report/history/movement.ts'
import {
  chooseTag,
  chromium,
  type Look,
  type Opened,
  openBrowser,
  openFields,
  openPage,
  whyNoChromium,
} from './browser.ts'
import {
  emptyPage,
  firstDayPage,
  hostilePage,
  hostileTexts,
  linklessPage,
  nothingRanksPage,
  targetlessPage,
} from './odd-pages.ts'
import { samplePage } from './sample-page.ts'

let browser: BrowserContext
/** The usual page, which most tests share. */
let shared: Opened | undefined

beforeAll(async () => {
  if (chromium !== undefined) browser = await openBrowser()
})
afterAll(async () => {
  await shared?.[Symbol.asyncDispose]()
  await browser?.close()
  expect(shared?.mishaps ?? []).toEqual([])
})

/** The usual page, drawn anew with the filters of an address. */
async function usualPage(hash = ''): Promise<Page> {
  shared ??= await openPage(browser, usual)
  const { page } = shared
  await page.bringToFront()
  await page.setViewport({ width: 1280, height: 900 })
  // A dialog that was closed takes its keyword out of the address a moment later.
  await page.waitForFunction(
    () => document.querySelector('dialog[open]') !== null || !location.hash.includes('keyword='),
  )
  for (const next of ['#text=drawn+anew', hash]) {
    await page.evaluate((one) => {
      location.hash = one
      scrollTo(0, 0)
    }, next)
    await page.waitForFunction((one) => location.hash === one, {}, next)
    await page.waitForFunction(
      (isOther) => (document.querySelector('.found')?.textContent === '0 of 70 keywords') === isOther,
      {},
      next === '#text=drawn+anew' || hash.includes('fits+nothing'),
    )
  }
  await page.waitForSelector('main[data-whole]')
  return page
}

const text = (page: Page, selector: string): Promise<string> =>
  page.$eval(selector, ({ textContent }) => textContent ?? '')

const texts = (page: Page, selector: string): Promise<readonly string[]> =>
  page.$$eval(selector, (all) => all.map(({ textContent }) => textContent ?? ''))

const usual = samplePage({ keywords: 70, days: 40 })
const rivals = samplePage({ keywords: 30, days: 10, targets: 8 })
const many = samplePage({ keywords: 5_000, days: 3 })

const firstCells = async (page: Page, count = 8): Promise<readonly string[]> =>
  (await texts(page, '#keywords tbody th bdi')).slice(0, count)

const attributes = (page: Page, selector: string, name: string): Promise<readonly (string | null)[]> =>
  page.$$eval(selector, (all, one) => all.map((element) => element.getAttribute(one)), name)

const rowsOf = (page: Page): Promise<number> =>
  page.$$eval('#keywords tbody:not(.spacer) tr', (rows) => rows.length)

/** The browser tells of a closed dialog later: then the focus goes back, and the keyword leaves the address. */
const dialogClosed = (page: Page) => page.waitForFunction(() => location.hash === '')

const focused = (page: Page): Promise<string> =>
  page.evaluate(() => document.activeElement?.textContent ?? '')

/** Whether the middle of what has the focus is on the screen, with nothing before it. */
const isInSight = (page: Page): Promise<boolean> =>
  page.evaluate(() => {
    const one = document.activeElement as Element
    const { left, top, height } = one.getBoundingClientRect()
    return one.contains(document.elementFromPoint(left + 4, top + height / 2))
  })

const title = chromium === undefined ? whyNoChromium : 'the page in a browser'

describe.skipIf(chromium === undefined)(title, () => {
  const looks: readonly (readonly [string, ReturnType<typeof samplePage>, Look])[] = [
    ['in light colours', usual, {}],
    ['in dark colours', usual, { scheme: 'dark' }],
    ['on a phone', usual, { width: 390 }],
    ['with hostile texts', hostilePage(), {}],
    ['with hostile texts on a phone', hostilePage(), { width: 390 }],
    ['on its first day', firstDayPage(), {}],
    ['on its first day on a phone', firstDayPage(), { width: 390 }],
  ]

  test.each(looks)(
    '%s: no error, no request, nothing against the policy, nothing wider than the window',
    async (_, data, look) => {
      await using opened = await openPage(browser, data, look)
      const { page, mishaps } = opened
      await page.click('#keywords .row-button')
      await page.waitForSelector('dialog[open] .chart path, dialog[open] .chart circle')
      const [wide, dialog] = await page.evaluate(() => [
        document.documentElement.scrollWidth,
        document.querySelector('.dialog-body')?.scrollWidth ?? 0,
      ])
      expect(wide).toBeLessThanOrEqual(look.width ?? 1280)
      expect(dialog).toBeLessThanOrEqual(look.width ?? 1280)
      expect(mishaps).toEqual([])
    },
  )

  test.each([
    ['tracks no target', targetlessPage()],
    ['has not run yet', emptyPage()],
  ])('of a job that %s says so, and what there is', async (words, data) => {
    await using opened = await openPage(browser, data)
    const { page, mishaps } = opened
    expect(await attributes(page, 'main > section', 'id')).toEqual(['overview'])
    expect(await text(page, '#overview')).toContain(words)
    expect(mishaps).toEqual([])
  })

  test('on its first day no column, list or panel is empty for want of a second one', async () => {
    await using opened = await openPage(browser, firstDayPage())
    const { page } = opened
    const heads = await texts(page, '#keywords thead th, .switch span')
    expect(heads.length).toBeGreaterThan(5)
    expect(heads.filter((one) => /Change|Before|Trend|^Up$|^Down$/.test(one))).toEqual([])
  })

  test('where nothing ranks, there is no column of ranks, pages or clicks', async () => {
    await using opened = await openPage(browser, nothingRanksPage())
    const { page, mishaps } = opened
    await page.waitForSelector('main[data-whole]')
    const heads = await texts(page, '#keywords thead th')
    expect(heads.filter((one) => /Change|Trend|Clicks|Page/.test(one))).toEqual([])
    expect(await page.$$('#moved .move')).toEqual([])
    expect(await text(page, '#next .empty')).toMatch(/^Nothing ranks\. .* searches a month/)
    expect(mishaps).toEqual([])
  })

  test('of ranks without their pages, and of a site alone, it says no more than is known', async () => {
    await using opened = await openPage(browser, linklessPage())
    const { page, mishaps } = opened
    await page.waitForSelector('main[data-whole]')
    expect(await texts(page, '#competitors tbody .mine')).toHaveLength(1)
    expect(await page.$$('.main-chart .series')).toHaveLength(1)
    expect(mishaps).toEqual([])
  })

  test('titles stay text: no element comes of them, and nothing runs', async () => {
    await using opened = await openPage(browser, hostilePage())
    const { page, mishaps } = opened
    for (let row = 0; row < 12; row++) {
      await page.$$eval('#keywords .row-button', (buttons, at) => (buttons[at] as HTMLElement).click(), row)
      await page.waitForSelector('dialog[open]')
      await page.keyboard.press('Escape')
    }
    const foreign = '#report script, #report img, #report iframe, #report style, [style*="inset"]'
    expect(await page.$$(foreign)).toEqual([])
    expect(await page.evaluate(() => 'harmed' in window)).toBe(false)
    const outside = 'a[href]:not([href^="#"])'
    for (const href of await attributes(page, outside, 'href')) expect(href).toMatch(/^https?:/)
    expect(new Set(await attributes(page, outside, 'rel'))).toEqual(new Set(['noopener noreferrer']))
    expect(await text(page, 'h1')).toBe(hostileTexts[1])
    expect(mishaps).toEqual([])
  })

  test('sorts by every column, in both directions, and says so', async () => {
    const page = await usualPage()
    await page.click('#keywords [data-column="keyword"]')
    const names = usual.history.keywords.map(({ query }) => query)
    const collator = new Intl.Collator('en', { numeric: true })
    const ascending = [...names].sort(collator.compare)
    expect(await firstCells(page)).toEqual(ascending.slice(0, 8))
    expect(await text(page, '#keywords th[aria-sort="ascending"]')).toContain('Keyword')
    await page.keyboard.press('Enter')
    expect(await firstCells(page)).toEqual(ascending.toReversed().slice(0, 8))
    expect(await text(page, '#keywords th[aria-sort="descending"]')).toContain('Keyword')
  })

  test('filters by text, tag and movement; figures and address follow', async () => {
    const page = await usualPage()
    await openFields(page)
    await page.type('#choose-text', 'walnut')
    await page.waitForFunction(() => location.hash === '#text=walnut')
    const fitting = usual.history.keywords.filter(({ query }) => query.includes('walnut'))
    expect(await text(page, '.found')).toBe(`${fitting.length} of 70 keywords`)
    expect(await text(page, '.shown')).toContain('walnut')
    expect(await text(page, '.scope')).toContain('walnut')
    expect(await texts(page, '.sentences li')).toEqual([
      `${fitting.length} of 70 keywords`,
      'For this selection there are chart, figures and lists, but no sentences and no next steps.',
    ])
    expect(await page.$$('#next')).toEqual([])
    expect(await text(page, '.card:nth-child(3) .value')).toContain(
      ` of ${fitting.filter(({ kind }) => kind === 'organic').length}`,
    )
    expect((await firstCells(page)).every((name) => name.includes('walnut'))).toBe(true)
    await chooseTag(page, 'accessories')
    const both = fitting.filter(({ tags }) => tags.includes('accessories')).length
    expect(await text(page, '.found')).toBe(`${both} of 70 keywords`)
    await page.click('.outcome button')
    expect(await text(page, '.found')).toBe('70 keywords')
    const figures = (): Promise<readonly (string | null)[]> =>
      texts(page, '.card, #moved .switch, #competitors tbody tr')
    await page.waitForSelector('main[data-whole]')
    const before = await figures()
    const counted = Number.parseInt(await text(page, '#keywords .kinds option[value="improved"]'), 10)
    await page.select('#keywords .kinds select', 'improved')
    const improved = await texts(page, '#keywords tbody .change')
    expect(improved.length).toBeGreaterThan(0)
    expect(improved.every((text) => text?.startsWith('▲'))).toBe(true)
    await page.waitForSelector('main[data-whole]')
    expect(await figures()).toEqual(before)
    expect(await text(page, '.found')).toBe(`70 keywords, ${counted} listed`)
    expect(await attributes(page, '#keywords table', 'aria-rowcount')).toEqual([`${counted + 1}`])
    expect(await text(page, '#keywords .lead')).toMatch(
      RegExp(`^Only ${counted} of \\d+: improved \\(web results, alpha\\)\\.`),
    )
  })

  test('a tag has sentences and steps of its own, which the file tells, and other choices lead back to the whole report', async () => {
    const page = await usualPage()
    const said = (): Promise<readonly (string | null)[]> => texts(page, '.sentences li, #next .step .name')
    const whole = await said()
    await chooseTag(page, 'desks')
    const ofTag = await said()
    expect(ofTag.length).toBeGreaterThan(3)
    expect(ofTag).not.toEqual(whole)
    await page.$eval('#next .step', (one) => (one as HTMLElement).click())
    await page.waitForSelector('dialog[open]')
    expect(await text(page, '#next .step .name')).toContain(await text(page, 'dialog h2 bdi'))
    await page.keyboard.press('Escape')
    await page.waitForFunction(() => location.hash === '#tag=desks')
    await page.evaluate(() => {
      location.hash = '#tag=accessories&tag=desks'
    })
    await page.waitForFunction(() => document.querySelector('#next') === null)
    await page.click('.sentences .next a')
    expect(await page.evaluate(() => location.hash)).toBe('')
    expect(await said()).toEqual(whole)
  })

  test('a movement redraws the table of keywords alone, and keeps its order', async () => {
    const page = await usualPage()
    const others = '#overview, #overview *, main > section, #competitors *, #moved *, #next *'
    await page.click('#keywords [data-column="keyword"]')
    const sorting = await page.$eval('#keywords thead', (head) => head.innerText)
    const drawn = await page.evaluateHandle((all) => [...document.querySelectorAll(all)], others)
    /** How many elements are not those that were there before. */
    const redrawn = () =>
      page.evaluate(
        (before, all) => [...document.querySelectorAll(all)].filter((one) => !before.includes(one)).length,
        drawn,
        others,
      )
    for (const movement of ['improved', 'declined']) {
      await page.select('#keywords .kinds select', movement)
      expect(await text(page, '#keywords .lead')).toContain(`: ${movement} (`)
      expect(await page.$eval('#keywords thead', (head) => head.innerText)).toBe(sorting)
      expect(await redrawn()).toBe(0)
    }
    await page.select('#keywords .kinds select', '')
    expect(await text(page, '.found')).toBe('70 keywords')
    expect(await redrawn()).toBe(0)
    await chooseTag(page, 'desks')
    expect(await redrawn()).toBeGreaterThan(0)
  })

  test('Back undoes what was chosen, one filter after the other, and typed letters at once', async () => {
    const page = await usualPage()
    const back = async (hash: string): Promise<readonly unknown[]> => {
      await page.evaluate(() => history.back())
      await page.waitForFunction((wanted) => location.hash === wanted, {}, hash)
      return page.evaluate(() => [
        (document.querySelector('#choose-tag') as HTMLSelectElement).value,
        (document.querySelector('#choose-text') as HTMLInputElement).value,
        document.querySelector('.found')?.textContent,
      ])
    }
    await chooseTag(page, 'desks')
    const found = await text(page, '.found')
    for (const part of ['oa', 'oak']) {
      await page.evaluate((value) => {
        const field = document.querySelector('#choose-text') as HTMLInputElement
        field.value = value
        field.dispatchEvent(new Event('input'))
      }, part)
      await page.waitForFunction((wanted) => location.hash === `#text=${wanted}&tag=desks`, {}, part)
    }
    expect(await page.evaluate(() => location.hash)).toBe('#text=oak&tag=desks')
    expect(await back('#tag=desks')).toEqual(['=desks', '', found])
    expect(await back('')).toEqual(['', '', '70 keywords'])
  })

  test('an address opens the part that it names, and the filters undone from there', async () => {
    await using opened = await openPage(browser, usual, { hash: '#competitors' })
    const { page } = opened
    const top = (): Promise<number> =>
      page.$eval('#competitors', (part) => Math.round(part.getBoundingClientRect().top))
    expect(await top()).toBeGreaterThanOrEqual(0)
    expect(await top()).toBeLessThan(200)
    await chooseTag(page, 'accessories')
    await page.evaluate(() => history.back())
    await page.waitForFunction(() => document.querySelector('.found')?.textContent === '70 keywords')
    expect(await page.evaluate(() => location.hash)).toBe('#competitors')
  })

  test('filters that match nothing say so', async () => {
    const page = await usualPage('#text=fits+nothing')
    expect(new Set(await texts(page, '#overview .empty, #keywords .empty'))).toEqual(
      new Set(['No keyword matches the filters.']),
    )
    expect(await text(page, '.found')).toBe('0 of 70 keywords')
  })

  test('a chosen day is the last one of every figure, and a link to it opens the same', async () => {
    const day = usual.history.days.at(-10) as string
    const [from, before] = [addDays(day, -6), addDays(day, -7)]
    const page = await usualPage(`#period=${from}..${day}&target=risewell.example&compare=${before}`)
    const november = (one: string): string => `${Number(one.slice(8))} November 2026`
    expect(await text(page, '.days')).toBe(
      `${Number(from.slice(8))} Nov to ${Number(day.slice(8))} Nov 2026, compared with ${november(before)} (or the nearest day checked)`,
    )
    expect(await text(page, '#keywords')).toContain(`on ${november(day)}, compared with ${november(before)}`)
    expect(
      await page.$eval('#choose-target', (field) => (field as HTMLSelectElement).selectedOptions[0]?.text),
    ).toBe('risewell.example (competitor)')
  })

  test('a keyword opens by mouse and by keyboard, and gives the focus back', async () => {
    const page = await usualPage()
    const [first, second] = await firstCells(page, 2)
    await page.click('#keywords tbody tr:nth-child(2) td:nth-child(3)')
    expect(await text(page, 'dialog[open] h2')).toBe(second)
    await page.keyboard.press('Escape')
    expect(await page.$('dialog[open]')).toBeNull()
    await dialogClosed(page)
    expect(await focused(page)).toContain(second)
    await page.focus('#keywords tbody tr:nth-child(2) .row-button')
    await page.keyboard.press('ArrowUp')
    expect(await focused(page)).toContain(first)
    await page.keyboard.press('Enter')
    expect(await text(page, 'dialog[open] h2')).toBe(first)
    await page.keyboard.press('Escape')
    await dialogClosed(page)
    expect(await focused(page)).toContain(first)
    await page.keyboard.press('Enter')
    await page.click('dialog [aria-label="Next keyword"]')
    await page.keyboard.press('Escape')
    await dialogClosed(page)
    expect(await focused(page)).toContain(second)
    await page.keyboard.press('ArrowUp')
    expect(await focused(page)).toContain(first)
  })

  test('at the last keyword the button for the next one keeps the focus, and does nothing', async () => {
    const page = await usualPage('#text=walnut')
    await page.focus('#keywords tbody .row-button')
    await page.keyboard.press('End')
    await page.keyboard.press('Enter')
    const last = await text(page, 'dialog .place')
    expect(await page.$eval('dialog [aria-label="Previous keyword"]', (one) => one.ariaDisabled)).toBe(
      'false',
    )
    await page.focus('dialog [aria-label="Next keyword"]')
    await page.keyboard.press('Enter')
    expect(await text(page, 'dialog .place')).toBe(last)
    expect(await attributes(page, ':focus', 'aria-disabled')).toEqual(['true'])
    await page.keyboard.press('Escape')
  })

  test('where nothing can be compared no keyword is told to be checked for the first time', async () => {
    const [first, second] = usual.history.days as [string, string]
    const page = await usualPage(`#period=${first}..${second}&compare=7d`)
    expect(await text(page, '.days')).toContain('nothing to compare with')
    expect(await page.$(':is(.counts, .move)')).toBeNull()
    const heads = await texts(page, '#keywords thead th .sort')
    expect(heads.some((head) => head.startsWith('Rank'))).toBe(true)
    expect(heads.filter((head) => /Change|Before/.test(head))).toEqual([])
  })

  test('the first ten say what entered, left and moved as comparisons do', async () => {
    const page = await usualPage()
    const last = usual.history.days.length - 1
    const serp = usual.serps.find(
      (one) =>
        one.day === last &&
        usual.serps.some(
          (other) =>
            other.keyword === one.keyword &&
            other.day === last - 7 &&
            one.results.some(([, , link]) => other.results.every((then) => then[2] !== link)),
        ),
    )
    const before = usual.serps.find((one) => one.keyword === serp?.keyword && one.day === last - 7)
    const { query } = usual.history.keywords[serp?.keyword ?? 0] ?? { query: '' }
    await openFields(page)
    await page.type('#choose-text', query)
    await page.waitForFunction(() => location.hash.startsWith('#text='))
    const at = (await firstCells(page, 20)).indexOf(query)
    await page.$$eval(
      '#keywords .row-button',
      (buttons, place) => (buttons[place] as HTMLElement).click(),
      at,
    )
    const shown = await page.$$eval('dialog[open] .serps section:first-child .result', (results) =>
      results.map((result) => result.querySelector('.change')?.classList[1] ?? ''),
    )
    const expected = serp?.results.map(([rank, , link]) => {
      const then = before?.results.find((result) => result[2] === link)?.[0] ?? null
      const { movement } = compare(
        { state: 'ranked', rank, unbrokenDepth: 10 },
        { state: then === null ? 'absent' : 'ranked', rank: then, unbrokenDepth: 10 },
      )
      return { improved: 'up', entered: 'up', declined: 'down' }[movement as string] ?? 'still'
    })
    expect(shown).toEqual(expected)
    // Where it was on the day before is not known beyond the first ten.
    const words = await texts(page, 'dialog[open] .serps section:first-child .change.up.word')
    expect(words.length).toBe(
      expected?.filter(
        (_, place) => !before?.results.some(({ 2: link }) => link === serp?.results[place]?.[2]),
      ).length,
    )
    expect(new Set(words)).toEqual(new Set(['new in top 10']))
  })

  test('sentences say how things stand and open what they speak of, and what to do next opens a keyword', async () => {
    const page = await usualPage()
    const sentences = await page.$$eval('.sentences li', (all) => all.map((one) => one.textContent ?? ''))
    expect(sentences).toHaveLength(3)
    expect(await page.$$eval('.sentences li :is(a, button)', (all) => all.length)).toBe(sentences.length)
    expect(await text(page, '.sentences .next')).toContain(await text(page, '.step .name'))
    expect(await page.$$eval('#next .step', (all) => all.length)).toBeLessThanOrEqual(5)
    expect(await page.$$eval('#moved .move', (all) => all.length)).toBeLessThanOrEqual(10)
    const entries = (): Promise<number> => page.evaluate(() => history.length)
    const before = await entries()
    await page.select('#keywords .kinds select', 'improved')
    expect(await page.evaluate(() => location.hash)).toBe('#movement=improved')
    expect(await entries()).toBe(before + 1)
    const step = await text(page, '.step')
    await page.$eval('.step', (one) => (one as HTMLElement).click())
    await page.waitForSelector('dialog[open]')
    expect(step).toContain(await text(page, 'dialog h2 bdi'))
    await page.keyboard.press('Escape')
  })

  test('thousands of keywords: few rows are elements, and those on the screen are the right ones', async () => {
    await using opened = await openPage(browser, many)
    const { page } = opened
    await page.click('#keywords [data-column="keyword"]')
    expect(await rowsOf(page)).toBeLessThan(60)
    const collator = new Intl.Collator('en', { numeric: true })
    const names = many.history.keywords.map(({ query }) => query).sort(collator.compare)
    // Far away at once, then a little farther, as people do.
    for (const top of [1490 * 48, 1500 * 48])
      await page.$eval(
        '#keywords .grid',
        async (box, place) => {
          box.scrollTop = place
          for (let frame = 0; frame < 6; frame++) await new Promise(requestAnimationFrame)
        },
        top,
      )
    expect(await page.$eval('#keywords .grid', (box) => box.scrollTop)).toBe(1500 * 48)
    await page.waitForSelector('#keywords tr[data-index="1500"]')
    expect(await rowsOf(page)).toBeLessThan(60)
    expect(await text(page, '#keywords tr[data-index="1500"] bdi')).toBe(names[1500])
    expect(await attributes(page, '#keywords tr[data-index="1500"]', 'aria-rowindex')).toEqual(['1502'])
    expect(await attributes(page, '#keywords table', 'aria-rowcount')).toEqual(['5001'])
    await page.focus('#keywords tbody .row-button[tabindex="0"]')
    for (const [key, name] of [
      ['End', names.at(-1)],
      ['Home', names[0]],
      ['PageDown', null],
      ['End', names.at(-1)],
    ] as const) {
      await page.keyboard.press(key)
      if (name !== null) expect(await focused(page)).toContain(name)
      expect(await isInSight(page)).toBe(true)
    }
  })

  test('large figures stay within their cards, on a phone, too', async () => {
    await using opened = await openPage(browser, many)
    const { page } = opened
    for (const width of [390, 1280]) {
      await page.setViewport({ width, height: 900 })
      const over = await page.$$eval('.card .value', (all) =>
        all.map((one) => {
          const range = document.createRange()
          range.selectNodeContents(one)
          return (
            range.getBoundingClientRect().right - (one.parentElement as Element).getBoundingClientRect().right
          )
        }),
      )
      expect(over, `${width} px`).toHaveLength(4)
      expect(Math.max(...over), `${width} px`).toBeLessThanOrEqual(0)
    }
  })

  test('a print has no controls, and the first rows of each table', async () => {
    await using opened = await openPage(browser, samplePage({ keywords: 300, days: 10 }), {
      scheme: 'dark',
    })
    const { page, mishaps } = opened
    await page.emulateMediaType('print')
    await page.waitForFunction(
      () => document.querySelectorAll('#keywords tbody:not(.spacer) tr').length === 80,
    )
    expect(await text(page, '#keywords .note.only-print')).toBe(
      'The 67 keywords whose clicks changed, and 13 others with the most searches, of 300.',
    )
    expect(
      await page.$$eval(
        '.controls, .switch, .tools',
        (all) => all.filter((one) => one.checkVisibility()).length,
      ),
    ).toBe(0)
    expect(await page.evaluate(() => getComputedStyle(document.body).color)).toBe('rgb(21, 22, 26)')
    expect((await page.pdf()).length).toBeGreaterThan(10_000)
    expect(mishaps).toEqual([])
  })

  test('on a low sheet, where the figures follow on the second one, no sheet is left empty below them', async () => {
    await using opened = await openPage(browser, samplePage({ keywords: 12, days: 10 }))
    const { page } = opened
    await page.emulateMediaType('print')
    await page.waitForSelector('#keywords tbody tr')
    const pdf = Buffer.from(await page.pdf({ width: '210mm', height: '190mm' })).toString('latin1')
    expect(pdf.match(/\/Type \/Page\b/g)).toHaveLength(5)
  })

  test('a print names the filters, counts movements, and cuts nothing off', async () => {
    await using opened = await openPage(browser, rivals, { hash: '#text=desk&movement=improved' })
    const { page } = opened
    // A4 between its margins.
    await page.setViewport({ width: 688, height: 1000 })
    await page.emulateMediaType('print')
    await page.waitForSelector('#competitors tbody')
    const visible = (selector: string): Promise<readonly string[]> =>
      page.$$eval(selector, (all) =>
        all.filter((one) => one.checkVisibility()).map((one) => (one as HTMLElement).innerText),
      )
    const found = await text(page, '.found')
    expect((await visible('.page-header .selection div')).map((one) => one.replace(/\s+/g, ' '))).toEqual([
      'Target northdesk.example',
      'Search desk',
      'Listed keywords improved',
      `Shown ${found}`,
    ])
    expect((await visible('#moved .note')).join()).toMatch(/^Up \d+ · Down \d+/)
    expect(await visible('#keywords thead th')).toEqual([
      ...['Keyword', 'Rank', 'Change', 'Trend', rivals.history.targets[1]?.label],
      ...[rivals.history.targets[2]?.label, 'Volume', 'Clicks'],
    ])
    const cut = await page.evaluate(() => {
      const sheet = document.documentElement.clientWidth
      return [...document.querySelectorAll('main *')]
        .filter((one) => one.checkVisibility() && one.closest('.sr-only, svg') === null)
        .filter(
          (one) =>
            one.getBoundingClientRect().right > sheet ||
            (getComputedStyle(one).overflowX !== 'visible' && one.scrollWidth > one.clientWidth),
        )
        .map((one) => `${one.className} ${one.textContent?.slice(0, 40)}`)
    })
    expect(cut).toEqual([])
  })

  test.each([
    ['eight targets', rivals],
    ['hostile texts', hostilePage()],
  ])('with %s no table of a few rows is wider than its panel on a screen', async (_, data) => {
    await using opened = await openPage(browser, data)
    const { page } = opened
    for (const width of [390, 768, 1024, 1280, 1920]) {
      await page.setViewport({ width, height: 900 })
      const cut = await page.$$eval('.table-frame', (all) =>
        all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.getAttribute('aria-label')),
      )
      expect([width, ...cut]).toEqual([width])
    }
  })

  test('on a phone tables scroll with the page, more rows are a button, and names break between their parts', async () => {
    await using opened = await openPage(browser, rivals, { width: 390 })
    const { page } = opened
    await page.waitForSelector('main[data-whole]')
    const traps = await page.$$eval('main *', (all) =>
      all
        .filter((one) => /auto|scroll/.test(getComputedStyle(one).overflowY))
        .filter((one) => one.scrollHeight > one.clientHeight + 1)
        .map(({ className }) => className),
    )
    expect(traps).toEqual([])
    expect(await rowsOf(page)).toBe(20)
    await page.click('#keywords .more-rows')
    expect(await rowsOf(page)).toBe(30)
    expect(await page.$eval('#keywords .more-rows', (button) => button.checkVisibility())).toBe(false)
    /** Names of which a line ends within a part. */
    const broken = await page.$$eval('#competitors .site-name .breakable', (all) =>
      all
        .filter((one) => !one.textContent?.includes(' '))
        .filter((one) =>
          [...one.childNodes].some((part) => {
            const range = document.createRange()
            range.selectNodeContents(part)
            return new Set([...range.getClientRects()].map(({ top }) => top)).size > 1
          }),
        )
        .map((one) => one.textContent),
    )
    expect(broken).toEqual([])
  })

  test('no meaning of a figure is cut off, and open filters scroll away', async () => {
    const page = await usualPage('#tag=desks&tag=money&text=desk')
    expect(await page.$$('.choose-text.set')).toHaveLength(1)
    for (const width of [390, 480, 768, 1280]) {
      await page.setViewport({ width, height: 900 })
      await openFields(page)
      expect(await page.$eval('.controls', (one) => getComputedStyle(one).position)).toBe('relative')
      for (const term of await page.$$('.card .term')) {
        await term.focus()
        const [left = -1, right = -1] = await term.evaluate((one) => {
          const box = one.nextElementSibling?.getBoundingClientRect()
          return [box?.left, innerWidth - (box?.right ?? Number.POSITIVE_INFINITY)]
        })
        expect(Math.min(left, right)).toBeGreaterThanOrEqual(0)
      }
    }
    const spoken = await page.$eval('#keywords tbody th', (one) => [
      one.textContent,
      `${one.querySelector('bdi')?.textContent} ${[...one.querySelectorAll('.tag')].map((tag) => `${tag.textContent} `).join('')}en-`,
    ])
    expect(spoken[0]).toContain(spoken[1])
  })

  test('the colours are those of the system, also when these change', async () => {
    await using opened = await openPage(browser, usual, { scheme: 'dark' })
    const { page } = opened
    const ground = (): Promise<string> => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    expect(await ground()).toBe('rgb(15, 16, 19)')
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }])
    expect(await ground()).toBe('rgb(255, 255, 255)')
  })

  test('a chart says by arrow keys what a day came to', async () => {
    const page = await usualPage()
    await page.focus('#overview .plot')
    await page.keyboard.press('End')
    expect(await text(page, '#overview .plot [role="status"]')).toMatch(
      /^20 November 2026, northdesk\.example \d/,
    )
  })

  test('the main chart shows the chosen figure, without incomplete days, with notes and names at its lines', async () => {
    const failedOn = 30
    const series = usual.history.series.map((one) =>
      one.keyword < 60 ? { ...one, cells: one.cells.with(failedOn, 0) } : one,
    )
    const notes = [
      { date: '2026-11-03', text: 'New <b>site</b>', url: 'https://acme.example/news' },
      { date: '2026-01-01', text: 'Long ago', url: null },
    ]
    const data = {
      ...usual,
      history: { ...usual.history, series },
      presentation: { ...usual.presentation, notes },
    }
    await using opened = await openPage(browser, data)
    const { page, mishaps } = opened
    await page.waitForFunction(() => document.querySelectorAll('.main-chart .series').length === 4)
    // A gap for each incomplete day: the failed one, and the sample's own, 20 days before the last.
    expect(
      await page.$eval(
        '.main-chart .series.main .line',
        (line) => line.getAttribute('d')?.match(/M/g)?.length,
      ),
    ).toBe(3)
    expect(await texts(page, '.main-chart .key')).toEqual([expect.stringContaining('2 days on which')])
    expect(await texts(page, '.main-chart .note-marker')).toEqual(['1'])
    expect(await texts(page, '.chart-notes li')).toEqual(['13 Nov 2026 New <b>site</b>acme.example/news'])
    expect(await attributes(page, '.chart-notes a', 'rel')).toEqual(['noopener noreferrer'])
    expect(await texts(page, '.main-chart .compared-day')).toEqual(['compared day'])
    const names = await texts(page, '.main-chart .end')
    expect(names.toSorted()).toEqual(usual.history.targets.map(({ label }) => label).toSorted())
    const colours = await page.$$eval('.main-chart .line', (all) =>
      all.map((one) => getComputedStyle(one).stroke),
    )
    // Rivals are alike, the chosen one is not.
    expect([new Set(colours.slice(0, -1)).size, new Set(colours).size]).toEqual([1, 2])
    await page.focus('.main-chart .plot')
    const said = async (...keys: readonly string[]): Promise<string> => {
      for (const key of keys) await page.keyboard.press(key as 'End')
      return text(page, '.main-chart .plot [role="status"]')
    }
    const back = Array.from({ length: 39 - failedOn }, () => 'ArrowLeft')
    expect(await said('End', ...back)).toMatch(
      /^11 November 2026, northdesk\.example left out, \d+ of \d+ keywords checked/,
    )
    expect(await said(...Array.from({ length: 8 }, () => 'ArrowLeft'))).toMatch(
      /^3 November 2026, northdesk\.example \d.*, Note 1: New <b>site<\/b>$/,
    )
    expect(await said('ArrowDown', 'ArrowDown')).toBe(usual.history.targets[1]?.label)
    expect(await texts(page, '.main-chart .lit .end')).toEqual([usual.history.targets[1]?.label])

    await page.click('.chart-head input[value="clicks"]')
    const titles: string[] = []
    for (let figure = 0; figure < 3; figure++) {
      await page.keyboard.press('ArrowRight')
      titles.push(await text(page, '.main-chart figcaption button'))
    }
    expect(titles).toEqual(['Visibility', 'Keywords in the top 10', 'Average position'])
    expect(await text(page, '#competitors h3')).toBe('Average position')
    await chooseTag(page, 'desks')
    expect(await text(page, '.main-chart figcaption button')).toBe('Average position')
    expect(mishaps).toEqual([])
  })

  test('what was imported continues the line to the left, dashed and named, where the period reaches it', async () => {
    const few = samplePage({ keywords: 24, days: 20 })
    const { history } = few
    const first = history.days[0] as string
    const days = Array.from({ length: 60 }, (_, day) => addDays(first, day - 61))
    const lines = history.keywords.flatMap(({ kind }, keyword) =>
      kind === 'organic'
        ? [
            {
              keyword,
              target: 0,
              cells: days.map((_, day) => (day % 9 === 4 ? -101 : 1 + ((keyword + day) % 20))),
            },
          ]
        : [],
    )
    const imported = { sources: ['serpbear'], countsAll: false, days, lines }
    const data = { ...few, history: { ...history, imported } }
    await using opened = await openPage(browser, data)
    const { page, mishaps } = opened
    await page.waitForSelector('.main-chart .series.imported')
    const dashes = (scope: string): Promise<readonly string[]> =>
      page.$$eval(`${scope} .series.imported .line`, (all) =>
        all.map((one) => getComputedStyle(one).strokeDasharray),
      )
    const name = 'imported (serpbear)'
    expect(await dashes('.main-chart')).toEqual(['6px, 4px'])
    expect(await texts(page, '.main-chart .series.imported .end')).toEqual([name])
    const [left, right] = await page.evaluate(() =>
      ['.series.imported', '.series.main:not(.imported)']
        .map((one) => (document.querySelector(`.main-chart ${one} .line`) as Element).getBoundingClientRect())
        .map(({ left, right }) => [left, right]),
    )
    expect(left?.[1]).toBeLessThan(right?.[0] as number)
    const shown = await page.$eval('#report', (all) => (all as HTMLElement).innerText)
    expect(shown.match(/were imported/g)).toHaveLength(1)
    await page.focus('.main-chart .plot')
    await page.keyboard.press('Home')
    expect(await text(page, '.main-chart .plot [role="status"]')).toMatch(
      /^\d+ \w+ 2026, imported \(serpbear\) [\d,.%]+( \(.*\))?$/,
    )

    await page.click('#keywords .row-button')
    await page.waitForSelector('dialog[open] .chart path')
    expect(await dashes('dialog')).toEqual(['6px, 4px'])
    expect(await texts(page, 'dialog .series.imported .end')).toEqual([name])
    await page.keyboard.press('Escape')
    await dialogClosed(page)

    await page.evaluate(() => {
      location.hash = '#period=7d'
    })
    await page.waitForFunction(() => document.querySelector('.main-chart .series.imported') === null)
    expect(mishaps).toEqual([])
  })

  test.each([
    ['in light colours', {}],
    ['in dark colours on a phone', { scheme: 'dark', width: 390 }],
  ] as const)('axe finds nothing %s, and what is pressed is large enough', async (_, look) => {
    const few = samplePage({ keywords: 24, days: 20 })
    await using opened = await openPage(browser, few, { ...look, bypassCsp: true })
    const { page } = opened
    await page.evaluate(await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'))
    expect(await violations(page)).toEqual([])
    expect(await smallTargets(page)).toEqual([])
    await page.click('#keywords .row-button')
    await page.waitForSelector('dialog[open] .chart path')
    expect(await violations(page)).toEqual([])
    expect(await smallTargets(page)).toEqual([])
  })
})

async function violations(page: Page): Promise<readonly string[]> {
  const results = (await page.evaluate("axe.run({ resultTypes: ['violations'] })")) as AxeResults
  return results.violations
    .filter(({ impact }) => impact !== 'minor')
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .slice(0, 3)
          .map(({ target, failureSummary }) => `${target.join(' ')} ${failureSummary}`)
          .join(' | ')} (${nodes.length})`,
    )
}

/** What is pressed and is less than 24 pixels wide or high, apart from links within a sentence. */
async function smallTargets(page: Page): Promise<readonly string[]> {
  return page.$$eval('button, summary, select, input, a[href]', (all) =>
    all
      .filter(
        (one) => one.checkVisibility() && one.closest('p, .sr-only, .skip') === null && !one.matches('.skip'),
      )
      .flatMap((one) => {
        const { width, height } = one.getBoundingClientRect()
        return width >= 24 && height >= 24 ? [] : [`${one.className} ${one.textContent} ${width} x ${height}`]
      })
      .slice(0, 5),
  )
}
