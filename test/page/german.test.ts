import type { BrowserContext } from 'puppeteer-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { defaultCurve } from '../../src/report/ctr.ts'
import type { PageData } from '../../src/report/data.ts'
import { chromium, openBrowser, openPage, whyNoChromium } from './browser.ts'
import { samplePage } from './sample-page.ts'

let browser: BrowserContext
beforeAll(async () => {
  if (chromium !== undefined) browser = await openBrowser()
})
afterAll(async () => browser?.close())

/** What is the same in German and English. */
const bothLanguages = ['Feature', 'Top-', 'Top 3', 'Top 10', 'CSV', 'Tag', 'Keyword', 'Keywords']

/** Every text that the report is made of: keywords, tags, sites, titles. */
function valuesIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  // Parameters and labels stand with their names.
  return Object.entries(value).flatMap(([name, one]) => [
    ...valuesIn(one),
    ...(name === 'labels' || name === 'params' ? Object.keys(one) : []),
  ])
}

/** Every text of the page, seen and spoken, with the dialog of a keyword open; and which figures changed, in their order. */
async function contentOf(
  data: PageData,
): Promise<{ readonly texts: ReadonlySet<string>; readonly changes: readonly string[] }> {
  await using opened = await openPage(browser, data)
  await opened.page.click('#keywords .row-button')
  await opened.page.waitForSelector('dialog[open] .chart')
  const changes = await opened.page.$$eval('.card .change', (marks) =>
    marks.map(({ className }) => className),
  )
  const texts = await opened.page.evaluate(() => {
    const report = document.querySelector('#report') as HTMLElement
    const found: string[] = []
    const walker = document.createTreeWalker(report, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) found.push((walker.currentNode as Text).data.trim())
    const names = ['aria-label', 'aria-description', 'aria-valuetext', 'title', 'placeholder', 'alt']
    for (const element of report.querySelectorAll('*'))
      for (const name of names) found.push(element.getAttribute(name) ?? '')
    return found
  })
  return { texts: new Set(texts), changes }
}

test.skipIf(chromium === undefined)(
  chromium === undefined
    ? whyNoChromium
    : 'a German page has no English words but those of its data, and the same changes as an English one',
  async () => {
    const english = { ...samplePage({ keywords: 40, days: 40 }), measure: { curve: defaultCurve } }
    const german: PageData = {
      ...english,
      presentation: { ...english.presentation, language: 'de' },
    }
    const [{ texts: inEnglish, changes }, { texts: inGerman, changes: germanChanges }] = [
      await contentOf(english),
      await contentOf(german),
    ]
    expect(germanChanges).toEqual(changes)
    expect(changes).toContain('change down')
    const data = valuesIn(english).join('\n')
    const isData = (text: string): boolean =>
      data.includes(text) || text.split(/[·,:=-]|\s{2,}/).every((part) => data.includes(part.trim()))
    const same = [...inGerman].filter((text) => inEnglish.has(text) && /\p{L}{2}/u.test(text))
    expect(inGerman.size).toBeGreaterThan(200)
    expect(same.filter((text) => !bothLanguages.includes(text) && !isData(text))).toEqual([])
  },
)
