import { readdirSync, readFileSync } from 'node:fs'
import { inflateSync } from 'node:zlib'
import type { BrowserContext } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromium, htmlOf, openBrowser, openPage, whyNoChromium } from './browser.ts'
import { samplePage } from './sample-page.ts'

/** As large as the demo, for a client. */
const sample = samplePage({ keywords: 80, days: 30, targets: 3 })
const page = {
  ...sample,
  runs: [],
  presentation: { ...sample.presentation, audience: 'client' as const },
}

let browser: BrowserContext
beforeAll(async () => {
  if (chromium !== undefined) browser = await openBrowser()
})
afterAll(() => browser?.close())

test('a page of 80 keywords and a month is a small file', async () => {
  const html = await htmlOf(page)
  const [, script = ''] = /<script id="page-script"[^>]*>([^<]*)</.exec(html) ?? []
  expect(script.length).toBeGreaterThan(1_000)
  expect(script.length).toBeLessThan(66_000)
  expect(inflateSync(Buffer.from(script, 'base64')).length).toBeLessThan(116_900)
  expect(Buffer.byteLength(html)).toBeLessThan(240_000)
})

describe.skipIf(chromium === undefined)(
  chromium === undefined ? whyNoChromium : 'a page is read in a few minutes',
  () => {
    test.each([
      [1280, 4_500],
      [390, 9_000],
    ])('at %i pixels it is no higher than %i, with few words and controls', async (width, most) => {
      await using opened = await openPage(browser, page, { width })
      const { page: window } = opened
      const { height, words, stops, controls } = await window.evaluate(() => ({
        height: document.documentElement.scrollHeight,
        words: document.body.innerText.split(/\s+/).filter((word) => word !== '').length,
        // Rows of a table or a list are one stop of Tab.
        stops: [
          ...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]'),
        ].filter(
          (one) =>
            one.checkVisibility() && (one as HTMLElement).tabIndex >= 0 && one.closest('tbody tr') === null,
        ).length,
        // All that there is, also what is folded away, but for rows.
        controls: [...document.querySelectorAll('a[href], button, input, select, summary')].filter(
          (one) => one.closest('tbody tr, .rows li') === null,
        ).length,
      }))
      expect(height).toBeLessThanOrEqual(most)
      expect(words).toBeLessThanOrEqual(1_500)
      expect(stops).toBeLessThanOrEqual(45)
      expect(controls).toBeLessThanOrEqual(60)
    })

    test('nothing that is read is smaller than 12 pixels', async () => {
      await using opened = await openPage(browser, page)
      const small = await opened.page.$$eval('#report *', (all) =>
        all
          .filter((one) => one.checkVisibility() && [...one.childNodes].some((node) => node.nodeType === 3))
          .filter((one) => Number.parseFloat(getComputedStyle(one).fontSize) < 12)
          .map((one) => one.className),
      )
      expect(small).toEqual([])
    })

    test('rows of a list are one stop of Tab, and arrow keys go from row to row', async () => {
      await using opened = await openPage(browser, page)
      const { page: window } = opened
      await window.focus('#moved .move[tabindex="0"]')
      for (const key of ['ArrowDown', 'ArrowDown', 'ArrowUp'] as const) await window.keyboard.press(key)
      const place = await window.$$eval('#moved .move', (all) =>
        all.indexOf(document.activeElement as Element),
      )
      expect(place).toBe(1)
      expect(await window.$$('#moved .move[tabindex="0"]')).toHaveLength(1)
    })
  },
)

test('the style writes no size under 12 pixels', () => {
  const style = readFileSync(new URL('../../dist/report-page.css', import.meta.url), 'utf8')
  const sizes = [...style.matchAll(/font-size:([\d.]+)px/g)].map(([, size]) => Number(size))
  expect(sizes.length).toBeGreaterThan(10)
  expect(Math.min(...sizes)).toBeGreaterThanOrEqual(12)
})

test('the page stays small in the house, too', () => {
  const source = new URL('../../src/page/', import.meta.url)
  const lines = (ending: string) =>
    readdirSync(source, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith(ending))
      .reduce((sum, name) => sum + readFileSync(new URL(name, source), 'utf8').split('\n').length - 1, 0)
  expect(lines('.ts')).toBeLessThanOrEqual(5_351)
  expect(lines('.css')).toBeLessThanOrEqual(2_200)
})
