import { expect, test } from 'vitest'
import { bodies } from '../../src/catalog/answers.ts'
import { billableOperation, billableOperations } from '../../src/catalog/index.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { testTable } from '../support/test-table.ts'
import { get, type Params } from './ask.ts'

function pageParam(name: string): Params {
  return name === 'alpha.videos' ? { page: 1 } : {}
}

testTable(billableOperations.map((operation) => [operation.name, operation] as const))(
  '%s is understood by the catalog, with a text in every title',
  async (name, operation) => {
    await using sandbox = await startSandbox()
    const { body } = await get(sandbox, operation.path, { query: 'standing desk', ...pageParam(name) })
    const { results, malformed } = bodies.normalise(operation, body, {
      fetchedAt: Date.now(),
      language: null,
      country: null,
    })
    expect(malformed).toEqual([])
    expect(results.length).toBeGreaterThan(4)
    expect(results.every(({ title }) => (title?.length ?? 0) > 0)).toBe(true)
    expect(sandbox.ledger.charged).toBe(operation.cost)
  },
)

testTable<[string, Params, Record<string, unknown>]>([
  [
    '/v1/alpha/search',
    {},
    { q: 'a', gl: 'us', hl: 'en', num: 10, page: 1, uule: null, location: null, engine: 'alpha' },
  ],
  [
    '/v1/alpha/search',
    { gl: 'DE', hl: 'de', page: 2, num: 5, location: 'Berlin' },
    { q: 'a', gl: 'de', hl: 'de', num: 5, page: 2, uule: null, location: 'Berlin', engine: 'alpha' },
  ],
  [
    '/v1/alpha/videos',
    { page: 1, uule: 'w' },
    { q: 'a', gl: 'us', hl: 'en', num: 10, page: 1, uule: 'w', location: null, engine: 'alpha_videos' },
  ],
  ['/v1/alpha/search/ai', {}, { q: 'a', gl: 'us', hl: 'en', engine: 'alpha_ai_mode' }],
  ['/v1/beta/search', { mkt: 'en-GB' }, { q: 'a', cc: 'gb', page: 1, engine: 'beta' }],
  ['/v1/gamma/search', {}, { q: 'a', page: 0, engine: 'gamma' }],
  [
    '/v1/gamma/images',
    { safe: 'active' },
    { q: 'a', gl: 'us', hl: 'en', page: 1, safe: 'active', safesearch: 'strict', engine: 'gamma_images' },
  ],
])('%s with %j echoes its own fields', async (path, params, echo) => {
  await using sandbox = await startSandbox()
  const { body } = await get(sandbox, path, { query: 'a', ...params })
  const engine = billableOperations.find((operation) => operation.path === path)?.echoEngine
  expect(body.search_parameters).toEqual({ engine, ...echo })
})

test('over many queries the optional parts are sometimes there and sometimes not', async () => {
  await using sandbox = await startSandbox()
  const seen = await bodiesOf(sandbox, '/v1/alpha/search')
  for (const field of ['knowledge_graph', 'related_searches', 'search_information'])
    expect(new Set(seen.map((body) => field in body))).toEqual(new Set([true, false]))
  const snippets = (await bodiesOf(sandbox, '/v1/gamma/search')).flatMap(({ organic_results }) =>
    organic_results.map((item: { snippet: unknown }) => item.snippet === null),
  )
  expect(new Set(snippets)).toEqual(new Set([true, false]))
})

test('dates, durations and video ids have their documented forms', async () => {
  await using sandbox = await startSandbox()
  for (const { organic_results } of await bodiesOf(sandbox, '/v1/alpha/news'))
    for (const { date } of organic_results) expect(date).toMatch(/^\d+ (minute|hour|day)s? ago$/)
  const videos = (await bodiesOf(sandbox, '/v1/alpha/videos', { page: 1 })).flatMap(
    (body) => body.organic_results,
  )
  for (const { date, duration } of videos) {
    expect(date).toMatch(/^(\d+ (day|week)s? ago|[A-Z][a-z]{2} \d{1,2}, 20\d\d)$/)
    expect(duration).toMatch(/^(\d+:[0-5]\d:[0-5]\d|[1-5]?\d:[0-5]\d)$/)
  }
  expect(new Set(videos.map(({ video_id }) => typeof video_id))).toEqual(new Set(['string', 'object']))
})

testTable(['de', 'fr', 'ja', 'xx'])(
  'dates are in the language %s, or in English, and are read',
  async (hl) => {
    await using sandbox = await startSandbox()
    const { body } = await get(sandbox, '/v1/alpha/videos', { query: 'a', page: 1, hl })
    const { results } = bodies.normalise(billableOperation('alpha.videos'), body, {
      fetchedAt: Date.now(),
      language: hl,
      country: null,
    })
    const isRead = results.map(({ video }) => video?.publishedAt != null)
    expect(new Set(isRead)).toEqual(new Set([true]))
    const english = body.organic_results.filter(({ date }: { date: string }) => /ago$|^[A-Z]/.test(date))
    expect(english.length > 0).toBe(hl === 'xx')
  },
)

test('an AI answer counts its references from 0 and cites them in its Markdown', async () => {
  await using sandbox = await startSandbox()
  const { body } = await get(sandbox, '/v1/alpha/search/ai', { query: 'standing desk' })
  expect(body.references.map(({ index }: { index: number }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  expect(body.reconstructed_markdown).toContain(body.references[0].link)
  const types = body.text_blocks.map(({ type }: { type: string }) => type)
  expect(new Set(types)).toEqual(new Set(['paragraph', 'heading', 'list']))
})

test('every suggestion begins with the query', async () => {
  await using sandbox = await startSandbox()
  const { body } = await get(sandbox, '/v1/alpha/search/autocomplete', { query: 'standing d' })
  for (const suggestion of body.suggestions) expect(suggestion.startsWith('standing d')).toBe(true)
})

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was sent
function bodiesOf(sandbox: Sandbox, path: string, params: Params = {}): Promise<any[]> {
  const words = Array.from({ length: 40 }, (_, index) => `thing ${index}`)
  return Promise.all(words.map(async (query) => (await get(sandbox, path, { query, ...params })).body))
}
