import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { deflateSync } from 'node:zlib'
import type { Browser, BrowserContext, Page } from 'puppeteer-core'
import puppeteer from 'puppeteer-core'
import { reportAssets, reportPage } from '../../src/page/html.ts'
import type { PageData } from '../../src/report/data.ts'

const places = [
  process.env.CHROMIUM_PATH,
  // Without windows: pages take a fifth less of the processor.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]

/** Where Chromium is; undefined where there is none. */
export const chromium = places.find((place) => place !== undefined && existsSync(place))

export const whyNoChromium =
  'No Chromium was found. Install it with: apt-get install chromium-headless-shell, or name it in CHROMIUM_PATH'

let running: Promise<Browser> | undefined

/** Pages with a storage of their own, in the one browser of this process. Its pipe breaks when the process ends, however that ends: so does the browser. */
export async function openBrowser(): Promise<BrowserContext> {
  const args = [
    ...(process.getuid?.() === 0 ? ['--no-sandbox', '--disable-gpu', '--in-process-gpu'] : []),
    // Pages of the browser itself in each of its windows, which cost as much as a report.
    '--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup',
  ]
  running ??= puppeteer.launch({ executablePath: chromium ?? '', args, pipe: true })
  return (await running).createBrowserContext()
}

export interface Opened extends AsyncDisposable {
  readonly page: Page
  /** Everything that should not have happened: errors, violations of the policy, dialogs, requests. */
  readonly mishaps: readonly string[]
}

export interface Look {
  readonly width?: number
  readonly scheme?: 'light' | 'dark'
  readonly hash?: string
  /** Lets a test bring a script of its own. */
  readonly bypassCsp?: boolean
  /** The file as it stands, before its script draws anything. */
  readonly isUndrawn?: boolean
}

/** The tab of each window that no test uses now: a new one costs more than a page in it. */
const idle = new WeakMap<BrowserContext, Page>()

/** A tab in front, with no way back to what was in it before. */
async function takeTab(browser: BrowserContext): Promise<Page> {
  const before = idle.get(browser)
  if (before === undefined) return await browser.newPage()
  idle.delete(browser)
  const session = await before.createCDPSession()
  await session.send('Page.resetNavigationHistory')
  await session.detach()
  await before.bringToFront()
  return before
}

/** Keeps the tab for the next page, unless there is one. */
async function leaveTab(browser: BrowserContext, tab: Page): Promise<void> {
  if (idle.has(browser)) return await tab.close()
  for (const event of ['console', 'pageerror', 'dialog', 'request'] as const) tab.off(event)
  await tab.emulateMediaType()
  idle.set(browser, tab)
}

/** Writes the page to a file, as a user has it, and opens that. */
export async function openPage(browser: BrowserContext, data: PageData, look: Look = {}): Promise<Opened> {
  const folder = await mkdtemp(join(tmpdir(), 'rankline-page-'))
  const file = join(folder, 'report.html')
  const html = await htmlOf(data)
  await writeFile(
    file,
    look.isUndrawn
      ? html.replace(
          /(?<=<script id="page-script"[^>]*>).*?(?=<\/script>)/s,
          deflateSync('').toString('base64'),
        )
      : html,
  )
  const page = await takeTab(browser)
  const mishaps: string[] = []
  const address = pathToFileURL(file).href
  page.on('console', (message) => {
    if (['error', 'warn'].includes(message.type())) mishaps.push(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => mishaps.push(`error: ${String(error)}`))
  page.on('dialog', async (dialog) => {
    mishaps.push(`dialog: ${dialog.message()}`)
    await dialog.dismiss()
  })
  page.on('request', (request) => {
    // Chromium draws the button of a date field with a picture of its own.
    if (request.url().split('#')[0] !== address && !request.url().startsWith('data:'))
      mishaps.push(`request: ${request.url()}`)
  })
  await page.setBypassCSP(look.bypassCsp === true)
  await page.emulateMediaFeatures([
    { name: 'prefers-color-scheme', value: look.scheme ?? 'light' },
    { name: 'prefers-reduced-motion', value: 'reduce' },
  ])
  await page.setViewport({ width: look.width ?? 1280, height: 900 })
  await page.goto(`${address}${look.hash ?? ''}`)
  await page.waitForSelector(look.isUndrawn ? '#overview' : 'main[data-whole]')
  return {
    page,
    mishaps,
    [Symbol.asyncDispose]: async () => {
      await leaveTab(browser, page)
      await rm(folder, { recursive: true })
    },
  }
}

const dist = new URL('../../dist/', import.meta.url)
const written = new WeakMap<PageData, string>()

export async function htmlOf(data: PageData): Promise<string> {
  const before = written.get(data)
  if (before !== undefined) return before
  const pieces: string[] = []
  const assets = await reportAssets(data.presentation.language, dist)
  for await (const piece of reportPage(data, assets)) pieces.push(piece)
  const html = pieces.join('')
  written.set(data, html)
  return html
}

/** Ticks a tag in the list of tags, or unticks it. */
export async function chooseTag(page: Page, tag: string): Promise<void> {
  await openFields(page)
  await page.select('#choose-tag', tag === '' ? '' : `=${tag}`)
}

/** Opens the fields of the filters, unless they are open. */
export async function openFields(page: Page): Promise<void> {
  if (await page.$eval('.shown', (one) => one.getAttribute('aria-expanded') === 'false'))
    await page.click('.shown')
}
