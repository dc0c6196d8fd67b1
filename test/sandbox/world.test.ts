import { expect, test } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { testTable } from '../support/test-table.ts'
import { get, links, type Params, search } from './ask.ts'

const day = (number: number) => `2026-10-${String(number).padStart(2, '0')}`

test('the same seed, call and day give the same bytes', async () => {
  await using one = await startSandbox({ sites: ['acme.com'] })
  await using other = await startSandbox({ sites: ['acme.com'] })
  one.control({ now: Date.UTC(2026, 9, 1, 1) })
  other.control({ now: Date.UTC(2026, 9, 1, 23) })
  await search(one, 'something else')
  for (const path of ['/v1/alpha/search', '/v1/alpha/news', '/v1/gamma/images', '/v1/alpha/search/ai'])
    expect((await get(other, path, { query: 'desk' })).text).toBe(
      (await get(one, path, { query: 'desk' })).text,
    )
})

test.each<[string, string, Params]>([
  ['another seed', 'other', {}],
  ['another country', 'rankline', { gl: 'de' }],
  ['another language', 'rankline', { hl: 'de' }],
  ['another place', 'rankline', { location: 'Austin' }],
])('%s gives another order', async (_, seed, params) => {
  await using sandbox = await startSandbox()
  await using other = await startSandbox({ seed })
  expect(links(await search(other, 'desk', params))).not.toEqual(links(await search(sandbox)))
})

test('another country shows many of the same pages', async () => {
  await using sandbox = await startSandbox()
  const here = links(await search(sandbox, 'desk', { num: 20 }))
  const there = links(await search(sandbox, 'desk', { num: 20, gl: 'de' }))
  expect(shared(here, there)).toBeGreaterThan(8)
})

test('defaults that are said give what defaults that are not said give', async () => {
  await using sandbox = await startSandbox()
  const said = await search(sandbox, 'desk', { gl: 'US', hl: 'en', num: 10, page: 1 })
  expect(said.text).toBe((await search(sandbox, 'desk')).text)
})

test('from day to day most of the first page stays, over a month it does not stay the same', async () => {
  await using sandbox = await startSandbox()
  const month: string[][] = []
  for (let number = 1; number <= 30; number++) {
    sandbox.control({ date: day(number) })
    month.push(links(await search(sandbox)))
  }
  const kept = month.slice(1).map((page, index) => shared(page, month[index] as string[]))
  expect(Math.min(...kept)).toBeGreaterThanOrEqual(6)
  expect(kept.some((count) => count < 10)).toBe(true)
  expect(new Set(month.map((page) => page.join())).size).toBeGreaterThan(10)
})

test('a month changes more of the first page than a day does', async () => {
  await using sandbox = await startSandbox()
  let overDay = 0
  let overMonth = 0
  for (let query = 0; query < 20; query++) {
    const pages: string[][] = []
    for (const number of [1, 2, 30]) {
      sandbox.control({ date: day(number) })
      pages.push(links(await search(sandbox, `thing ${query}`)))
    }
    const [first = [], second = [], last = []] = pages
    overDay += 10 - shared(first, second)
    overMonth += 10 - shared(first, last)
  }
  expect(overMonth).toBeGreaterThan(2.5 * overDay)
  expect(overMonth).toBeLessThan(20 * 6)
})

test('a tracked site moves a little every day and is rarely gone', async () => {
  await using sandbox = await startSandbox({ sites: ['acme.com'] })
  let absent = 0
  const ranks: number[] = []
  for (const query of ['desk', 'office chair', 'lamp'])
    for (let number = 1; number <= 30; number++) {
      sandbox.control({ date: day(number) })
      const rank = await rankOf(sandbox, 'acme.com', query)
      if (rank === 0) absent++
      else ranks.push(rank)
    }
  expect(absent).toBeLessThan(10)
  expect(ranks.filter((rank) => rank <= 30).length / ranks.length).toBeGreaterThan(0.7)
  expect(new Set(ranks).size).toBeGreaterThan(10)
})

test('one site can have several pages among the results', async () => {
  await using sandbox = await startSandbox()
  const { body } = await search(sandbox, 'desk', { num: 200 })
  const hosts = body.organic_results.map(({ domain }: { domain: string }) => domain)
  expect(new Set(hosts).size).toBeLessThan(hosts.length)
  expect(new Set(body.organic_results.map(({ link }: { link: string }) => link)).size).toBe(hosts.length)
})

test('a query narrowed to a site has pages of that site only', async () => {
  await using sandbox = await startSandbox({ sites: ['acme.com'] })
  const { body } = await search(sandbox, 'desk site:shop.rival.com', { num: 200 })
  expect(body.organic_results.length).toBeGreaterThan(5)
  for (const { domain, link } of body.organic_results)
    expect([domain, link.startsWith('https://shop.rival.com/')]).toEqual(['shop.rival.com', true])
})

testTable([
  '/v1/alpha/search',
  '/v1/alpha/news',
  '/v1/gamma/images',
  '/v1/alpha/search/ai',
  '/v1/alpha/search/autocomplete',
])('nothing is found for zxqv by %s, and it is charged', async (path) => {
  await using sandbox = await startSandbox({ sites: ['acme.com'] })
  const { status, body } = await get(sandbox, path, { query: 'desk zxqv' })
  const list = body.organic_results ?? body.images ?? body.references ?? body.suggestions
  expect([status, list, sandbox.ledger.charged > 0]).toEqual([200, [], true])
  expect(body.pagination?.has_next_page ?? false).toBe(false)
})

testTable([
  '日本語 検索',
  '🦊',
  '"quoted" $& $1',
  `long ${'word '.repeat(200)}`,
  '   ',
  '%',
  'a/b?c#d',
  'site:.',
  'site:"x',
])('the query %j gives links that can be read', async (query) => {
  await using sandbox = await startSandbox()
  const answer = await search(sandbox, query)
  expect(answer.status).toBe(200)
  for (const link of links(answer)) expect(URL.canParse(link)).toBe(true)
  expect(answer.body.search_parameters.q).toBe(query)
})

async function rankOf(sandbox: Sandbox, host: string, query: string): Promise<number> {
  const { body } = await search(sandbox, query, { num: 200 })
  return body.organic_results.findIndex(({ domain }: { domain: string }) => domain === host) + 1
}

function shared(a: readonly string[], b: readonly string[]): number {
  return a.filter((link) => b.includes(link)).length
}
