import { parseHTML } from 'linkedom'
import { describe, expect, test } from 'vitest'
import { paperPage, reportAssets } from '../../src/page/html.ts'
import type { PageData } from '../../src/report/data.ts'
import { testTable } from '../support/test-table.ts'
import { emptyPage, firstDayPage, hostilePage, targetlessPage } from './odd-pages.ts'
import { samplePage } from './sample-page.ts'

const dist = new URL('../../dist/', import.meta.url)

const pages = new Map<PageData, ReturnType<typeof draw>>()

/** A page as it is printed, which no test changes. */
function drawn(data: PageData): ReturnType<typeof draw> {
  const known = pages.get(data) ?? draw(data)
  pages.set(data, known)
  return known
}

async function draw(data: PageData) {
  const html = await paperPage(data, await reportAssets(data.presentation.language, dist), 'a4')
  return { html, document: parseHTML(html).document }
}

const usual = samplePage({ keywords: 230, days: 40 })

describe('a page on paper', () => {
  testTable<[string, PageData]>([
    ['usual', usual],
    ['hostile', hostilePage()],
    ['first', firstDayPage()],
    ['without targets', targetlessPage()],
    ['empty', emptyPage()],
  ])('%s: has no script, nothing that listens or loads, and no data but what is printed', async (_, data) => {
    const { html, document } = await drawn(data)
    expect(html).not.toMatch(/<script|page-data/i)
    const all = [...document.querySelectorAll('*')]
    const odd = all.flatMap((element) =>
      [...element.attributes].map(({ name, value }) => `${name}=${value}`).filter((one) => isOdd.test(one)),
    )
    expect(odd).toEqual([])
    expect(
      all.filter(({ tagName }) => /^(iframe|object|embed|link|base|form|dialog)$/i.test(tagName)),
    ).toEqual([])
    expect(document.querySelector('meta[http-equiv]')?.getAttribute('content')).toMatch(
      /^default-src 'none'; style-src/,
    )
    expect(document.querySelector('.page-footer')?.textContent).not.toBe('')
  })

  test('has its charts, the first rows of its tables, and says that there are more', async () => {
    const { document } = await drawn(usual)
    const charts = [...document.querySelectorAll('svg.chart')]
    expect(charts).toHaveLength(1)
    for (const chart of charts) expect(chart.querySelectorAll('path, rect').length).toBeGreaterThan(0)
    expect(document.querySelectorAll('#keywords tbody tr')).toHaveLength(80)
    expect(document.querySelector('#keywords .note')?.textContent).toBe(
      'The 68 keywords whose clicks changed, and 12 others with the most searches, of 230.',
    )
    expect(document.querySelectorAll('.only-screen, .controls, nav')).toHaveLength(0)
  })

  test('has its name in a running head, which no name can leave', async () => {
    const styleOf = async (data: PageData) =>
      (await drawn(data)).document.documentElement.getAttribute('style')?.replaceAll(/\\([0-9a-f]+) /g, ' ')
    expect(await styleOf(firstDayPage())).toMatch(/^--running-head:"standing desks us {3}20 November 2026/)
    expect(await styleOf(hostilePage())).toMatch(/^--running-head:"[\p{L}\p{N} ]+"$/u)
  })

  test('has the size of paper that was asked for', async () => {
    const style = async (paper: 'a4' | 'letter') =>
      await paperPage(firstDayPage(), await reportAssets('en', dist), paper)
    expect(await style('a4')).toContain('@page{size:A4}')
    expect(await style('letter')).toContain('@page{size:letter}')
  })
})

/** An attribute that would run a script or load something. */
const isOdd = /^(on\w+=|(?:href|src|action|xlink:href)=(?!https?:|#|data:image\/))/i
