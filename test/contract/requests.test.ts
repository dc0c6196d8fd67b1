import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lookupRequest, pageRequest } from '../../src/api/client.ts'
import type { ApiRequest } from '../../src/api/http.ts'
import { billableOperation, findOperation } from '../../src/catalog/index.ts'
import type { FreeOperation } from '../../src/catalog/operation.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { testTable } from '../support/test-table.ts'
import { documentedCalls, exampleOf } from './interface.ts'

type PageRequest = Parameters<typeof pageRequest>[2]

const base = 'https://host.example:8443/service'
const first: PageRequest = { text: 'desk', params: {}, page: 1, style: 'get', async: false }

/** Method, path and body in one line, as a trace of the wire would show them. */
const line = ({ method, path, body }: ApiRequest) =>
  [method, path, body].filter((part) => part !== null).join(' ')

testTable<[string, PageRequest['style'], number, number | undefined, string]>([
  ['alpha.search', 'get', 1, undefined, 'GET /service/v1/alpha/search?query=desk'],
  ['alpha.search', 'get', 3, undefined, 'GET /service/v1/alpha/search?query=desk&page=3'],
  ['alpha.search', 'get', 3, 10, 'GET /service/v1/alpha/search?query=desk&num=10&page=3'],
  ['alpha.search', 'get', 3, 20, 'GET /service/v1/alpha/search?query=desk&num=20&page=3'],
  ['alpha.search', 'post', 1, undefined, 'POST /api/v1/alpha/search {"query":"desk"}'],
  ['alpha.search', 'post', 1, 20, 'POST /api/v1/alpha/search {"query":"desk","num":20}'],
  ['alpha.search', 'post', 2, undefined, 'POST /api/v1/alpha/search {"query":"desk","page":10}'],
  ['alpha.search', 'post', 3, undefined, 'POST /api/v1/alpha/search {"query":"desk","page":20}'],
  ['alpha.search', 'post', 3, 10, 'POST /api/v1/alpha/search {"query":"desk","num":10,"page":20}'],
  ['alpha.search', 'post', 3, 20, 'POST /api/v1/alpha/search {"query":"desk","num":20,"page":40}'],
  ['alpha.light', 'get', 1, undefined, 'GET /service/v1/alpha/search/light?query=desk'],
  ['alpha.autocomplete', 'get', 1, undefined, 'GET /service/v1/alpha/search/autocomplete?query=desk'],
  ['alpha.ai', 'get', 1, undefined, 'GET /service/v1/alpha/search/ai?query=desk'],
  ['alpha.news', 'get', 1, undefined, 'GET /service/v1/alpha/news?query=desk'],
  ['alpha.news', 'get', 3, 20, 'GET /service/v1/alpha/news?query=desk&num=20&page=3'],
  ['alpha.news', 'post', 1, undefined, 'POST /api/v1/alpha/news {"query":"desk"}'],
  ['alpha.news', 'post', 3, undefined, 'POST /api/v1/alpha/news {"query":"desk","page":20}'],
  ['alpha.news', 'post', 3, 20, 'POST /api/v1/alpha/news {"query":"desk","num":20,"page":40}'],
  ['alpha.videos', 'get', 1, undefined, 'GET /service/v1/alpha/videos?query=desk&page=1'],
  ['alpha.videos', 'get', 3, 10, 'GET /service/v1/alpha/videos?query=desk&num=10&page=3'],
  ['alpha.videos', 'post', 1, undefined, 'POST /api/v1/alpha/videos {"query":"desk"}'],
  ['alpha.videos', 'post', 3, undefined, 'POST /api/v1/alpha/videos {"query":"desk","page":20}'],
  ['alpha.videos', 'post', 3, 20, 'POST /api/v1/alpha/videos {"query":"desk","num":20,"page":40}'],
  ['alpha.images', 'get', 1, undefined, 'GET /service/v1/alpha/images?query=desk'],
  ['alpha.images', 'get', 3, undefined, 'GET /service/v1/alpha/images?query=desk&page=3'],
  ['beta.search', 'get', 1, undefined, 'GET /service/v1/beta/search?query=desk'],
  ['beta.search', 'get', 3, 20, 'GET /service/v1/beta/search?query=desk&num=20&page=3'],
  ['gamma.search', 'get', 1, undefined, 'GET /service/v1/gamma/search?query=desk'],
  ['gamma.search', 'get', 3, undefined, 'GET /service/v1/gamma/search?query=desk&page=3'],
  ['gamma.images', 'get', 1, undefined, 'GET /service/v1/gamma/images?query=desk'],
  ['gamma.images', 'get', 3, undefined, 'GET /service/v1/gamma/images?query=desk&page=3'],
])('%s by %s, page %i, num %s is asked for as documented', (name, style, page, num, wanted) => {
  const params: PageRequest['params'] = num === undefined ? {} : { num }
  const request = pageRequest(base, billableOperation(name), { ...first, style, page, params })
  expect([request.origin, line(request)]).toEqual(['https://host.example:8443', wanted])
})

testTable([
  ['https://host.example', '/v1/alpha/search/light?query=desk'],
  ['https://host.example/', '/v1/alpha/search/light?query=desk'],
  ['https://host.example/a/b//', '/a/b/v1/alpha/search/light?query=desk'],
])('below %s the path is %s', (baseUrl, path) => {
  expect(pageRequest(baseUrl, billableOperation('alpha.light'), first).path).toBe(path)
})

test('what has no older style is asked by GET', () => {
  const request = pageRequest(base, billableOperation('beta.search'), { ...first, style: 'post', page: 2 })
  expect(line(request)).toBe('GET /service/v1/beta/search?query=desk&page=2')
})

test('only images are asked for as a job', () => {
  const asked = (name: string) => pageRequest(base, billableOperation(name), { ...first, async: true }).path
  expect(asked('alpha.images')).toBe('/service/v1/alpha/images?query=desk&async=true')
  expect(asked('gamma.images')).toBe('/service/v1/gamma/images?query=desk')
})

testTable<[string, Record<string, string>, string]>([
  ['usage', {}, '/service/v1/usage'],
  ['stats', { engine: 'alpha' }, '/service/v1/stats?engine=alpha'],
  ['stats', { path: '/v1/alpha/search' }, '/service/v1/stats?path=%2Fv1%2Falpha%2Fsearch'],
  ['finder.countries', { query: 'ü & co' }, '/service/v1/finder/alpha-countries?query=%C3%BC+%26+co'],
  ['finder.languages', { query: 'en' }, '/service/v1/finder/alpha-languages?query=en'],
  ['jobs.poll', { job_id: 'job_1' }, '/service/jobs/job_1'],
  ['jobs.poll', { job_id: '../v1/usage?a=$&' }, '/service/jobs/..%2Fv1%2Fusage%3Fa%3D%24%26'],
])('the lookup %s with %j is at %s', (name, params, path) => {
  const request = lookupRequest(base, findOperation(name) as FreeOperation, params)
  expect(request).toEqual({ method: 'GET', origin: 'https://host.example:8443', path, body: null })
})

test('any text arrives as it was written, in both styles', () => {
  const operation = billableOperation('alpha.search')
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (text, location) => {
      const call = { ...first, text, params: { location } }
      const got = new URL(pageRequest(base, operation, call).path, base).searchParams
      expect([got.get('query'), got.get('location')]).toEqual([text, location])
      const posted = pageRequest(base, operation, { ...call, style: 'post' }).body
      expect(JSON.parse(posted ?? '')).toEqual({ query: text, location })
    }),
  )
})

test('every documented call that is built is taken by the running service', async () => {
  await using sandbox = await startSandbox({ basePath: '/service' })
  for (const call of documentedCalls) {
    const { query, page: _, async: __, ...others } = exampleOf(call, Object.keys(call.params))
    const { [call.exclusive?.[0] ?? '']: ___, ...params } = others
    for (const page of call.pageSize === undefined ? [1] : [1, 2, 3]) {
      const asked = { text: String(query), params, page, style: call.style, async: false }
      const request = pageRequest(sandbox.url, billableOperation(call.name), asked)
      const { status } = await fetch(request.origin + request.path, {
        method: request.method,
        headers: {
          'x-api-key': sandbox.key,
          ...(request.body === null ? {} : { 'content-type': 'application/json' }),
        },
        body: request.body,
      })
      expect([call.name, call.style, page, status]).toEqual([call.name, call.style, page, 200])
    }
  }
})
