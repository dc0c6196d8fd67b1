import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AxeResults } from 'axe-core'
import type { BrowserContext } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addDays } from '../../src/model/time.ts'
import { portfolioAssets } from '../../src/page/html.ts'
import { portfolioPage } from '../../src/page/portfolio/page.ts'
import type { PortfolioRow } from '../../src/report/formats/portfolio.ts'
import { chromium, openBrowser, whyNoChromium } from './browser.ts'

let browser: BrowserContext
let folder: string
beforeAll(async () => {
  if (chromium === undefined) return
  browser = await openBrowser()
  folder = await mkdtemp(join(tmpdir(), 'rankline-portfolio-'))
})
afterAll(async () => {
  await browser?.close()
  if (folder !== undefined) await rm(folder, { recursive: true })
})

const figure = (value: number, change: number | null, isUsual = false) => ({
  value,
  change,
  before: null,
  isUsual,
})

/** A row; the more, the better its figures. */
function row(name: string, more: number, rest: Partial<PortfolioRow> = {}): PortfolioRow {
  const trend = Array.from({ length: 28 }, (_, day) => ({
    day: addDays('2026-10-24', day),
    value: day === 9 ? null : (more + (day % 5)) / 100,
  }))
  return {
    ...{ job: name.toLowerCase(), name, language: 'en', level: 'ok', problems: [], openAlerts: 0 },
    ...{ lastGood: Date.UTC(2026, 10, 20, 6, more), spentThisMonth: more * 100, file: `${name}.html` },
    ranks: {
      ...{ site: `${name}.example`, keywords: 40, checked: 40, trend },
      ...{ from: '2026-10-24', until: '2026-11-20', compared: '2026-10-23' },
      stake: more * 30,
      visibility: figure(more / 100, 0.012, true),
      averagePosition: figure(20 - more, -0.4),
      clicks: figure(more * 900, -120),
      topTen: figure(more, 0),
    },
    ...rest,
  }
}

const hostile = '<img src=x onerror=alert(1)>'
const data: Parameters<typeof portfolioPage>[0] = {
  rows: [
    row('Beta', 9),
    row('Alpha', 3),
    row('A very long name of a client that has no place in a narrow column GmbH & Co. KG', 12),
    row('plain', 1, { ranks: null, file: null, lastGood: null }),
    row(hostile, 5, {
      level: 'error',
      file: 'a b#c?.html',
      problems: [{ level: 'error', kind: 'run', text: `${hostile} failed` }],
    }),
    row('old', 2, { level: null }),
  ],
  language: 'en',
  now: Date.UTC(2026, 10, 23, 7),
  problems: [{ level: 'warning', kind: 'balance', text: 'The balance lasts 3 days' }],
  balance: { credits: 1200, days: 3 },
  spentThisMonth: 4100,
}

test('a site of which nothing could be checked has a dash, not 0 of 0', async () => {
  const { ranks, ...rest } = row('Gamma', 0)
  const assets = await portfolioAssets(new URL('../../dist/', import.meta.url))
  const write = (checked: number): string =>
    [...portfolioPage({ ...data, rows: [{ ...rest, ranks: ranks && { ...ranks, checked } }] }, assets)].join(
      '',
    )
  expect(write(0)).not.toContain('0 of 0')
  expect(write(5)).toContain('0 of 5')
})

async function opened(look: { readonly width: number; readonly scheme?: 'light' | 'dark' }, page = data) {
  const file = join(folder, 'index.html')
  const assets = await portfolioAssets(new URL('../../dist/', import.meta.url))
  await writeFile(file, portfolioPage(page, assets))
  const tab = await browser.newPage()
  const mishaps: string[] = []
  tab.on('console', (message) => mishaps.push(message.text()))
  tab.on('pageerror', (error) => mishaps.push(String(error)))
  tab.on('dialog', (dialog) => void dialog.dismiss().then(() => mishaps.push('dialog')))
  await tab.setBypassCSP(false)
  await tab.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: look.scheme ?? 'light' }])
  await tab.setViewport({ width: look.width, height: 900 })
  await tab.goto(pathToFileURL(file).href)
  return { tab, mishaps }
}

describe.skipIf(chromium === undefined)(chromium === undefined ? whyNoChromium : 'the portfolio', () => {
  test('has the most clicks at stake first, sorts by each column with what is not known at the end, and finds clients', async () => {
    const { tab, mishaps } = await opened({ width: 1280 })
    const names = () =>
      tab.$$eval('tbody .name', (all) => all.map((one) => one.firstChild?.textContent ?? ''))
    const long = 'A very long name of a client that has no place in a narrow column GmbH & Co. KG'
    expect(await names()).toEqual([long, 'Beta', hostile, 'Alpha', 'plain', 'old'])
    const press = (column: number) => tab.click(`thead th:nth-child(${column}) button`)
    await press(2)
    expect(await names()).toEqual([long, 'Beta', hostile, 'Alpha', 'old', 'plain'])
    await press(2)
    expect(await names()).toEqual(['old', 'Alpha', hostile, 'Beta', long, 'plain'])
    expect(await tab.$eval('thead th:nth-child(2)', (head) => head.getAttribute('aria-sort'))).toBe(
      'ascending',
    )
    await press(8)
    expect((await names()).at(-1)).toBe('plain')
    expect(await tab.$$eval('[aria-sort]', (all) => all.length)).toBe(1)
    await tab.type('.find', 'beta.EXA')
    expect(
      await tab.$$eval('tbody tr:not([hidden]) .name', (all) => all.map((one) => one.textContent)),
    ).toEqual(['Beta'])
    expect(await tab.$eval('.found', (one) => one.textContent)).toBe('1 found')
    // No more than the usual swing is grey; worse is never green.
    expect(
      await tab.$$eval('tbody tr:first-child .change', (all) => all.map((one) => one.className)),
    ).toEqual(['change worse', 'change same', 'change same'])
    expect(mishaps).toEqual([])
    await tab.close()
  })

  test('opens the reports beside it, whatever they are named', async () => {
    const { tab } = await opened({ width: 1280 })
    await writeFile(join(folder, 'a b#c?.html'), '<title>theirs</title>')
    await Promise.all([tab.waitForNavigation(), tab.click('tbody tr.error a')])
    expect(await tab.title()).toBe('theirs')
    await tab.close()
  })

  test('has forty clients on one screen, each in one row, and the same problem of eight in one line', async () => {
    const rows = Array.from({ length: 40 }, (_, place) =>
      row(`Client ${String(place).padStart(2, '0')} with a name of usual length`, place % 20, {
        ...(place % 5 === 0
          ? {
              level: 'error',
              problems: [{ level: 'error', kind: 'stale', text: `The last good run is ${place} days old` }],
            }
          : {}),
      }),
    )
    const { tab } = await opened({ width: 1280 }, { ...data, rows })
    const heights = await tab.$$eval('tbody tr', (all) =>
      all.map((one) => {
        const { height, bottom } = one.getBoundingClientRect()
        return { height, bottom }
      }),
    )
    expect(heights).toHaveLength(40)
    expect(Math.max(...heights.map(({ height }) => height))).toBeLessThanOrEqual(21)
    expect(heights.at(-1)?.bottom).toBeLessThanOrEqual(960)
    expect(
      await tab.$$eval('.problems > li', (all) => all.map((one) => one.textContent?.slice(0, 40))),
    ).toEqual([
      'Balance The balance lasts 3 days',
      expect.stringMatching(/^Out of date 8 clients: Client \d\d/),
    ])
    await tab.click('.problems summary')
    expect(await tab.$$eval('.problems details li', (all) => all.length)).toBe(8)
    await tab.close()
  })

  test('fits every screen, and axe finds nothing in light and dark', async () => {
    const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
    const found: unknown[] = []
    for (const [width, scheme] of [
      [390, 'dark'],
      [768, 'light'],
      [1280, 'dark'],
      [1920, 'light'],
    ] as const) {
      const { tab } = await opened({ width, scheme })
      expect(await tab.evaluate('document.documentElement.scrollWidth'), `${width}`).toBe(width)
      await tab.evaluate(axe)
      const { violations } = (await tab.evaluate("axe.run({ resultTypes: ['violations'] })")) as AxeResults
      found.push(...violations.map(({ id, nodes }) => [width, scheme, id, nodes[0]?.html]))
      await tab.close()
    }
    expect(found).toEqual([])
  })
})

test.each([
  ['en', null, /1,200 credits left</],
  ['en', 3, /1,200 credits left, enough for 3 days</],
  ['en', 731, /1,200 credits left, enough for more than two years</],
  ['de', 148_446, /1\.200 Credits übrig, reicht für mehr als zwei Jahre</],
] as const)('the page in %s says how long a balance for %s days lasts', async (language, days, said) => {
  const assets = await portfolioAssets(new URL('../../dist/', import.meta.url))
  const page = portfolioPage({ ...data, language, balance: { credits: 1200, days } }, assets)
  expect([...page].join('')).toMatch(said)
})
