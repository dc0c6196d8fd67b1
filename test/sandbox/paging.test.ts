import { expect, test } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { links, post, search } from './ask.ts'

test('a POST offset need not be a multiple of the page size', async () => {
  await using sandbox = await startSandbox()
  const first = links(await search(sandbox, 'desk', { num: 20 }))
  const skipped = await post(sandbox, '/api/v1/alpha/search', { query: 'desk', page: 3, num: 5 })
  expect(links(skipped)).toEqual(first.slice(3, 8))
})

test('pages go on without a gap or a repetition until the results end', async () => {
  await using sandbox = await startSandbox()
  const pages = await allPages(sandbox)
  const all = pages.flat()
  expect(new Set(all).size).toBe(all.length)
  expect(all.length).toBeGreaterThan(90)
  expect(all).toEqual(links(await search(sandbox, 'desk', { num: 500 })))
  const beyond = await search(sandbox, 'desk', { page: pages.length + 1 })
  expect([links(beyond), beyond.body.pagination.has_next_page]).toEqual([[], false])
})

test.each([
  ['restart', [1, 2, 3]],
  ['continue', [11, 12, 13]],
] as const)('with positions: %s page 2 begins with %j', async (positions, begin) => {
  await using sandbox = await startSandbox({ positions })
  const { body } = await search(sandbox, 'desk', { page: 2 })
  expect(body.organic_results.slice(0, 3).map((item: { position: number }) => item.position)).toEqual(begin)
})

test('short pages miss some of their last results', async () => {
  await using sandbox = await startSandbox({ pages: 'short' })
  const pages = (await allPages(sandbox)).slice(0, -1)
  const sizes = pages.map((page) => page.length)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(10)
  expect(Math.min(...sizes)).toBeGreaterThan(5)
  expect(new Set(sizes).size).toBeGreaterThan(1)
})

test('overlapping pages begin with the last quarter of the page before', async () => {
  await using sandbox = await startSandbox({ pages: 'overlap' })
  const [first = [], second = []] = await allPages(sandbox)
  expect(second.slice(0, 3)).toEqual(first.slice(-3))
  expect(new Set([...first, ...second]).size).toBe(17)
})

async function allPages(sandbox: Sandbox): Promise<string[][]> {
  const pages: string[][] = []
  for (let page = 1; ; page++) {
    const answer = await search(sandbox, 'desk', { page })
    pages.push(links(answer))
    if (!answer.body.pagination.has_next_page) return pages
  }
}
