import { request } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { testTable } from '../support/test-table.ts'
import { get, type Params, post } from './ask.ts'

let shared: Sandbox
beforeAll(async () => {
  shared = await startSandbox()
})
afterAll(() => shared.close())

testTable<[string, Params, string]>([
  ['/v1/alpha/search', { query: '' }, 'query is empty'],
  ['/v1/alpha/search', { query: 'a', foo: 1 }, 'unknown parameter foo'],
  ['/v1/alpha/search', { query: 'a', gl: 'usa' }, 'gl cannot be'],
  ['/v1/alpha/search', { query: 'a', page: 0 }, 'page cannot be'],
  ['/v1/alpha/search', { query: 'a', page: '1.5' }, 'page cannot be'],
  ['/v1/alpha/search', { query: 'a', async: 'true' }, 'unknown parameter async'],
  ['/v1/beta/search', { query: 'a', cc: 'us', mkt: 'en-US' }, 'cc and mkt cannot be combined'],
  ['/v1/beta/search', { query: 'a', lat: 91 }, 'lat cannot be'],
  ['/v1/alpha/images', { query: 'a', async: 'yes' }, 'async cannot be'],
  ['/v1/usage', { engine: 'alpha' }, 'unknown parameter engine'],
])('a GET of %s with %j is refused, and it is said why', async (path, params, problem) => {
  const { status, body } = await get(shared, path, params)
  expect([status, body.error]).toEqual([400, expect.stringMatching(`^Bad Request: ${problem}`)])
})

testTable<[string, string]>([
  ['{"query":"a","page":1.5}', 'page cannot be'],
  ['{"query":"a","page":-1}', 'page cannot be'],
  ['{"query":"a","num":"10"}', 'num must be a number'],
  ['{"query":7}', 'query must be a string'],
  ['{"query":"a","uule":null}', 'uule must be a string'],
  ['[]', 'the body is no JSON object'],
  ['{"query":', 'the body is no JSON object'],
])('a POST of %s is refused, and it is said why', async (sent, problem) => {
  const { status, body } = await post(shared, '/api/v1/alpha/search', sent)
  expect([status, body.error]).toEqual([400, expect.stringMatching(`^Bad Request: ${problem}`)])
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
