import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { BrowserContext, Page } from 'puppeteer-core'
import { reportAssets, reportPage } from '../src/page/html.ts'
import { openBrowser } from '../test/page/browser.ts'
import { samplePage } from '../test/page/sample-page.ts'
import { choosing, isSeen, reset, settled } from './page/in-page.ts'
import { traced } from './page/trace.ts'
import { grouped, machine, median, print } from './print.ts'

/**
 * How long the HTML report keeps the processor busy until it is seen, until it is whole, and when a filter is chosen: processor time of the
 * main thread of the page, by Chromium's own trace. Every time is the median of fresh tabs of one browser, in turns.
 * Arguments: rounds, then numbers of keywords, or files of reports.
 */

const [rounds = '7', ...wanted] = process.argv.slice(2)
const sizes = wanted.length === 0 ? ['80', '1000', '10000'] : wanted
const sample = { days: 30, targets: 3 }
const empty = '<!doctype html><html lang="en"><title>Empty</title><p>Nothing</p></html>'
const columns = ['firstPaint', 'whole', 'tag', 'text'] as const

const folder = await mkdtemp(join(tmpdir(), 'rankline-bench-'))
const browser = await openBrowser()
try {
  const rows = [await rowOf('a page of one word', empty), ...(await Promise.all(sizes.map(sized)))]
  print(`${machine()}, ${await browser.browser().version()}; medians of ${rounds}\n`)
  // The first round is for the browser to get warm.
  for (let round = 0; round <= Number(rounds); round++)
    for (const row of rows) {
      const times = await timesOf(browser, row)
      if (round > 0) row.rounds.push(times)
    }
  print('| page | MB | first paint, ms | whole, ms | a tag, ms | a text, ms |')
  print('| --- | --: | --: | --: | --: | --: |')
  for (const { name, bytes, rounds: all } of rows) {
    const cells = columns.map((column) => {
      const known = all.flatMap(({ [column]: ms }) => ms ?? [])
      return known.length === 0 ? '' : median(known).toFixed(0)
    })
    print(`| ${[name, (bytes / 1e6).toFixed(2), ...cells].join(' | ')} |`)
  }
} finally {
  await browser.browser().close()
  await rm(folder, { recursive: true, force: true })
}

interface Row {
  readonly name: string
  readonly file: string
  readonly bytes: number
  readonly rounds: Times[]
}

async function sized(size: string): Promise<Row> {
  if (size.endsWith('.html')) return fileRow(size, resolve(size))
  const data = samplePage({ ...sample, keywords: Number(size) })
  const pieces: string[] = []
  const assets = await reportAssets('en', new URL('../', import.meta.url))
  for await (const piece of reportPage(data, assets)) pieces.push(piece)
  return rowOf(`${grouped(Number(size))} keywords`, pieces.join(''))
}

async function rowOf(name: string, html: string): Promise<Row> {
  const file = join(folder, `${name.replaceAll(/\W/g, '-')}.html`)
  await writeFile(file, html)
  return fileRow(name, file)
}

async function fileRow(name: string, file: string): Promise<Row> {
  return { name, file, bytes: (await stat(file)).size, rounds: [] }
}

/** Milliseconds of the main thread. */
interface Times {
  readonly firstPaint: number
  /** Until every section is drawn. */
  readonly whole?: number
  /** From the choice of a tag, and from the last letter of a text, until figures and table are those of the chosen keywords. */
  readonly tag?: number
  readonly text?: number
}

async function timesOf(browser: BrowserContext, { name, file }: Row): Promise<Times> {
  const page = await browser.newPage()
  try {
    await page.setViewport({ width: 1280, height: 900 })
    const isReport = !name.startsWith('a page')
    const loading = await traced(page, async () => {
      await page.goto(pathToFileURL(file).href)
      if (isReport) await page.waitForSelector('main[data-whole]')
      await page.waitForFunction(isSeen)
      await page.evaluate(settled('whole'))
    })
    const firstPaint = loading.firstPaint()
    if (!isReport) return { firstPaint }
    return {
      firstPaint,
      whole: loading.until('whole'),
      tag: await timeOf(page, '#choose-tag'),
      text: await timeOf(page, '#choose-text'),
    }
  } finally {
    await page.close()
  }
}

/** Until the frame that shows the figures and rows of other keywords. */
async function timeOf(page: Page, field: string): Promise<number> {
  await page.evaluate(reset)
  await page.waitForSelector('main[data-whole]')
  await page.evaluate(settled('reset'))
  const trace = await traced(page, async () => {
    await page.evaluate(choosing(field))
  })
  return trace.between('chosen', 'shown')
}
