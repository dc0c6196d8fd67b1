import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jsonPieces, reportPage } from '../../src/page/html.ts'
import { addressesOf, inflated, unpacked } from '../../src/page/packed.ts'
import type { PageData, PageSerp } from '../../src/report/data.ts'
import { serpPairs } from '../../src/report/metrics/serps.ts'
import { firstDayPage, hostilePage } from './odd-pages.ts'
import { samplePage } from './sample-page.ts'

const assets = { head: 'document.title = "0"', script: 'document.title = "1 < 2"', style: 'p { color: red }' }

async function html(data: PageData, script = assets.script): Promise<string> {
  const pieces: string[] = []
  for await (const piece of reportPage(data, { ...assets, script })) pieces.push(piece)
  return pieces.join('')
}

/** What stands deflated in an element. */
function textIn(page: string, id: string): Promise<string> {
  const [, base64 = ''] =
    new RegExp(`<script id="${id}" type="text/plain">([\\w+/=]*)</script>`).exec(page) ?? []
  return inflated(base64)
}

describe('the report as a page', () => {
  test.each([
    ['a usual one', samplePage({ keywords: 20, days: 10 })],
    ['a hostile one', hostilePage()],
    ['a first day', firstDayPage()],
  ])('%s carries its data whole', async (_, data) => {
    const json = await textIn(await html(data), 'page-data')
    const { told, addresses, ...content } = unpacked(JSON.parse(json))
    expect(content).toEqual(JSON.parse(JSON.stringify(data)))
    expect(told['']?.sentences.length).toBeGreaterThan(0)
    expect(addresses).toEqual(addressesOf(data))
  })

  test('has no element but its own, whatever titles and names say', async () => {
    const page = await html(hostilePage())
    const tags = [...page.matchAll(/<\/?([a-z!][a-z-]*)/gi)].map(([, name]) => name)
    const calm = await html(firstDayPage())
    expect(tags).toEqual([...calm.matchAll(/<\/?([a-z!][a-z-]*)/gi)].map(([, name]) => name))
  })

  test('runs the script and has the style that it was made with, and no others', async () => {
    const page = await html(firstDayPage())
    const policy = page.match(/Content-Security-Policy" content="([^"]*)"/)?.[1]
    const hash = (text: string): string => createHash('sha256').update(text).digest('base64')
    expect(policy).toBe(
      `default-src 'none'; script-src 'sha256-${hash(assets.head)}' 'sha256-${hash(assets.script)}'; style-src 'sha256-${hash(assets.style)}'; img-src data:; base-uri 'none'; form-action 'none'`,
    )
    expect(await textIn(page, 'page-script')).toBe(assets.script)
    expect(page).toContain(`<script>${assets.head}</script>`)
    expect(page).toContain(`<style>${assets.style}</style>`)
  })

  test.each([
    ['a usual one', samplePage({ keywords: 20, days: 10 })],
    ['a hostile one', hostilePage()],
    ['a first day', firstDayPage()],
  ])('%s has its first screen drawn of the result pages of two days alone', async (_, data) => {
    const page = await html(
      data,
      `const tell = document.createElement('p');
      tell.textContent = encodeURIComponent(JSON.stringify(document.getElementById('page-data').drawn.serps));
      document.getElementById('report').append(tell)`,
    )
    const [, told = ''] = /<div id="report"><p>([^<]+)<\/p>/.exec(page) ?? []
    const given: PageData = { ...data, serps: JSON.parse(decodeURIComponent(told)) }
    const named = (serp: PageSerp | null) =>
      serp === null
        ? null
        : { ...serp, results: serp.results.map(([rank, , , site, targets]) => [rank, site, targets]) }
    const pairsOf = ({ history, serps, compare }: PageData) =>
      serpPairs(history, serps, compare).map(({ current, compared }) => [named(current), named(compared)])
    expect(pairsOf(given)).toEqual(pairsOf(data))
    expect(given.serps.length).toBe(
      pairsOf(data)
        .flat()
        .filter((serp) => serp !== null).length,
    )
  })

  test('is the same for the same data', async () => {
    const data = samplePage({ keywords: 12, days: 8 })
    expect(await html(data)).toBe(await html(structuredClone(data)))
  })
})

test('JSON in pieces is the JSON of the whole', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 600 }), (value, length) => {
      const whole = { value, long: Array.from({ length }, () => value), gone: undefined }
      expect([...jsonPieces(whole)].join('')).toBe(JSON.stringify(whole))
    }),
    { numRuns: 60 },
  )
})
