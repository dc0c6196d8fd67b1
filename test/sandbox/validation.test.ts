import { request } from 'undici'
import { expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { get, type Params, post } from './ask.ts'

test.each<[string, string, Params, string | null]>([
  ['a plain search', '/v1/alpha/search', { query: 'a' }, null],
  [
    'a search with everything',
    '/v1/alpha/search',
    { query: 'a', gl: 'us', hl: 'en', page: 2, num: 20, tbs: 'qdr:d', uule: 'w' },
    null,
  ],
  ['no query', '/v1/alpha/search', {}, 'query is required'],
  ['an empty query', '/v1/alpha/search', { query: '' }, 'query is empty'],
  ['an unknown param', '/v1/alpha/search', { query: 'a', foo: 1 }, 'unknown parameter foo'],
  ['a misspelt country', '/v1/alpha/search', { query: 'a', gl: 'usa' }, 'gl cannot be'],
  ['page 0', '/v1/alpha/search', { query: 'a', page: 0 }, 'page cannot be'],
  ['half a page', '/v1/alpha/search', { query: 'a', page: '1.5' }, 'page cannot be'],
  ['a page in words', '/v1/alpha/search', { query: 'a', page: 'two' }, 'page cannot be'],
  [
    'location and uule',
    '/v1/alpha/search',
    { query: 'a', location: 'b', uule: 'c' },
    'location and uule cannot be combined',
  ],
  ['cc and mkt', '/v1/beta/search', { query: 'a', cc: 'us', mkt: 'en-US' }, 'cc and mkt cannot be combined'],
  ['a latitude beyond the pole', '/v1/beta/search', { query: 'a', lat: 91 }, 'lat cannot be'],
  ['an unknown filter', '/v1/gamma/images', { query: 'a', safe: 'on' }, 'safe cannot be'],
  [
    'a page where there are none',
    '/v1/alpha/search/light',
    { query: 'a', page: 1 },
    'unknown parameter page',
  ],
  ['videos without page', '/v1/alpha/videos', { query: 'a' }, 'page is required'],
  ['videos with page', '/v1/alpha/videos', { query: 'a', page: 1 }, null],
  [
    'a param that only POST has',
    '/v1/alpha/news',
    { query: 'a', location: 'b' },
    'unknown parameter location',
  ],
  [
    'async elsewhere than images',
    '/v1/alpha/search',
    { query: 'a', async: 'true' },
    'unknown parameter async',
  ],
  ['async that is no boolean', '/v1/alpha/images', { query: 'a', async: 'yes' }, 'async cannot be'],
  ['synchronous images, said so', '/v1/alpha/images', { query: 'a', async: 'false' }, null],
  ['a param for usage', '/v1/usage', { engine: 'alpha' }, 'unknown parameter engine'],
  ['a lookup without query', '/v1/finder/alpha-countries', {}, 'query is required'],
])('GET: %s', async (_, path, params, problem) => {
  await using sandbox = await startSandbox()
  const { status, body } = await get(sandbox, path, params)
  if (problem === null) expect(status).toBe(200)
  else expect([status, body.error]).toEqual([400, expect.stringMatching(`^Bad Request: ${problem}`)])
  expect(sandbox.ledger.charged).toBe(problem === null ? 1 : 0)
})

test.each<[string, unknown, string | null]>([
  ['a plain search', { query: 'a' }, null],
  ['numbers', { query: 'a', page: 10, num: 20 }, null],
  ['a page as text', { query: 'a', page: '10' }, 'page must be a number'],
  ['half a page', { query: 'a', page: 1.5 }, 'page cannot be'],
  ['a negative page', { query: 'a', page: -1 }, 'page cannot be'],
  ['num as text', { query: 'a', num: '10' }, 'num must be a number'],
  ['a query that is a number', { query: 7 }, 'query must be a string'],
  ['a param that only GET has', { query: 'a', tbs: 'qdr:d' }, 'unknown parameter tbs'],
  ['a null', { query: 'a', uule: null }, 'uule must be a string'],
  ['no query', {}, 'query is required'],
  ['a list', [], 'the body is no JSON object'],
  ['half a body', '{"query":', 'the body is no JSON object'],
  ['no body', '', 'the body must be|the body is no JSON object'],
])('POST: %s', async (_, sent, problem) => {
  await using sandbox = await startSandbox()
  const { status, body } = await post(sandbox, '/api/v1/alpha/search', sent)
  if (problem === null) expect(status).toBe(200)
  else expect([status, body.error]).toEqual([400, expect.stringMatching(`^Bad Request: (${problem})`)])
})

test('a param given twice is refused', async () => {
  await using sandbox = await startSandbox()
  const answer = await get(sandbox, '/v1/alpha/search?query=a&gl=us&gl=de&hl=en')
  expect(answer.body.error).toMatch('gl is given twice')
})

test('POST params belong in a JSON body', async () => {
  await using sandbox = await startSandbox()
  expect((await post(sandbox, '/api/v1/alpha/news?query=a', {})).status).toBe(400)
  expect((await post(sandbox, '/api/v1/alpha/news', { query: 'a' }, 'text/plain')).status).toBe(400)
})

test('a body above a megabyte is 413', async () => {
  await using sandbox = await startSandbox()
  const answer = await post(sandbox, '/api/v1/alpha/search', { query: 'a'.repeat(1_100_000) })
  expect([answer.status, sandbox.ledger.charged]).toEqual([413, 0])
})

test('the older lookup takes its query from a JSON body', async () => {
  await using sandbox = await startSandbox()
  const { statusCode, body } = await request(`${sandbox.url}/api/v1/finder/alpha-languages`, {
    method: 'GET',
    headers: { 'x-api-key': sandbox.key, 'content-type': 'application/json' },
    body: '{"query":"germ"}',
  })
  expect([statusCode, await body.json()]).toEqual([
    200,
    expect.arrayContaining([{ language_code: 'de', language_name: 'German' }]),
  ])
  const newer = await get(sandbox, '/api/v1/finder/alpha-languages', { query: 'germ' })
  expect(newer.status).toBe(200)
})
