import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lookupRequest, type PageCall, pageRequest } from '../../src/api/request.ts'
import { billableOperation, billableOperations, findOperation } from '../../src/catalog/index.ts'
import type { FreeOperation } from '../../src/catalog/operation.ts'
import { anyText } from './any-text.ts'

const base = 'https://api.example'

function aCall(call: Partial<PageCall> = {}): PageCall {
  return { text: 'standing desk', params: {}, page: 1, style: 'get', async: false, ...call }
}

function request(operation: string, call: Partial<PageCall> = {}, baseUrl = base) {
  return pageRequest(baseUrl, billableOperation(operation), aCall(call))
}

const free = (name: string) => findOperation(name) as FreeOperation

describe('the newer style', () => {
  test.each<[string, Partial<PageCall>, string]>([
    ['alpha.search', {}, '/v1/alpha/search?query=standing+desk'],
    ['alpha.search', { page: 3 }, '/v1/alpha/search?query=standing+desk&page=3'],
    ['alpha.search', { page: 2, params: { num: 20 } }, '/v1/alpha/search?query=standing+desk&num=20&page=2'],
    ['alpha.search', { params: { gl: 'us', hl: 'en' } }, '/v1/alpha/search?query=standing+desk&gl=us&hl=en'],
    ['alpha.videos', {}, '/v1/alpha/videos?query=standing+desk&page=1'],
    ['alpha.light', { page: 1 }, '/v1/alpha/search/light?query=standing+desk'],
    ['alpha.ai', {}, '/v1/alpha/search/ai?query=standing+desk'],
    ['alpha.images', { page: 2 }, '/v1/alpha/images?query=standing+desk&page=2'],
    ['alpha.images', { async: true }, '/v1/alpha/images?query=standing+desk&async=true'],
    ['alpha.news', { async: true }, '/v1/alpha/news?query=standing+desk'],
    ['gamma.images', { page: 4 }, '/v1/gamma/images?query=standing+desk&page=4'],
    ['beta.search', { params: { lat: -12.5 } }, '/v1/beta/search?query=standing+desk&lat=-12.5'],
  ])('%s asked for %j is GET %s', (operation, call, path) => {
    expect(request(operation, call)).toEqual({ method: 'GET', origin: base, path, body: null })
  })
})

describe('the older style', () => {
  test.each<[string, Partial<PageCall>, string, object]>([
    ['alpha.search', {}, '/api/v1/alpha/search', { query: 'standing desk' }],
    ['alpha.search', { page: 2 }, '/api/v1/alpha/search', { query: 'standing desk', page: 10 }],
    [
      'alpha.search',
      { page: 3, params: { num: 25 } },
      '/api/v1/alpha/search',
      { query: 'standing desk', num: 25, page: 50 },
    ],
    ['alpha.news', { page: 5 }, '/api/v1/alpha/news', { query: 'standing desk', page: 40 }],
    ['alpha.videos', {}, '/api/v1/alpha/videos', { query: 'standing desk' }],
    ['alpha.videos', { page: 2 }, '/api/v1/alpha/videos', { query: 'standing desk', page: 10 }],
  ])('%s asked for %j is POST %s %j: a page is an offset of results', (operation, call, path, body) => {
    const { body: sent, ...rest } = request(operation, { ...call, style: 'post' })
    expect(rest).toEqual({ method: 'POST', origin: base, path })
    expect(JSON.parse(sent as string)).toEqual(body)
  })

  test('an operation that has only the newer style is asked in it', () => {
    expect(request('gamma.search', { style: 'post', page: 2 })).toEqual({
      method: 'GET',
      origin: base,
      path: '/v1/gamma/search?query=standing+desk&page=2',
      body: null,
    })
  })
})

describe('the path of the base URL', () => {
  test.each([
    ['https://api.example', 'https://api.example', '/v1/alpha/search?query=standing+desk'],
    ['https://api.example/', 'https://api.example', '/v1/alpha/search?query=standing+desk'],
    ['https://api.example/a/b', 'https://api.example', '/a/b/v1/alpha/search?query=standing+desk'],
    ['https://api.example/a//', 'https://api.example', '/a/v1/alpha/search?query=standing+desk'],
    ['http://127.0.0.1:8080/x', 'http://127.0.0.1:8080', '/x/v1/alpha/search?query=standing+desk'],
  ])('a GET to %s goes to %s%s', (baseUrl, origin, path) => {
    expect(request('alpha.search', {}, baseUrl)).toMatchObject({ origin, path })
  })

  test('does not stand before the path of a POST, which belongs to the host', () => {
    const sent = request('alpha.search', { style: 'post' }, 'https://api.example:444/proxy')
    expect(sent).toMatchObject({ origin: 'https://api.example:444', path: '/api/v1/alpha/search' })
  })
})

describe('texts', () => {
  test.each([
    ['a&b=c', 'a%26b%3Dc'],
    ['c++', 'c%2B%2B'],
    ['50% off', '50%25+off'],
    ['what?#why', 'what%3F%23why'],
    ['"exact" site:acme.com', '%22exact%22+site%3Aacme.com'],
    ['naïve 日本 😀', 'na%C3%AFve+%E6%97%A5%E6%9C%AC+%F0%9F%98%80'],
    ['a\r\nHost: evil', 'a%0D%0AHost%3A+evil'],
    ['\u0000', '%00'],
    [' ', '+'],
  ])('%j stands in the query string as %s', (text, encoded) => {
    expect(request('alpha.search', { text }).path).toBe(`/v1/alpha/search?query=${encoded}`)
  })

  test('any text, in any param, is read back from the query string and from the body', () => {
    const text = anyText()
    fc.assert(
      fc.property(text, text, fc.integer({ min: 1, max: 99 }), (query, location, page) => {
        const call = { text: query, params: { location }, page }
        const got = new URL(base + request('alpha.search', call).path)
        expect(got.searchParams.getAll('query')).toEqual([query])
        expect(got.searchParams.getAll('location')).toEqual([location])
        expect(got.searchParams.get('page')).toBe(page === 1 ? null : String(page))
        const posted = JSON.parse(request('alpha.search', { ...call, style: 'post' }).body as string)
        expect(posted).toEqual({ query, location, ...(page === 1 ? {} : { page: (page - 1) * 10 }) })
      }),
    )
  })

  test('no text can leave the request line: it is visible ASCII for every operation', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...billableOperations),
        fc.array(fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit))),
        (operation, units) => {
          const { path } = pageRequest(base, operation, aCall({ text: units.join('') }))
          expect(path).toMatch(/^[\x21-\x7e]+$/)
        },
      ),
    )
  })

  test('half a character becomes the replacement character and no other text', () => {
    expect(request('alpha.search', { text: 'a\ud800b' }).path).toBe('/v1/alpha/search?query=a%EF%BF%BDb')
  })
})

describe('free lookups', () => {
  test.each<[string, Record<string, string>, string]>([
    ['usage', {}, '/p/v1/usage'],
    ['finder.countries', { query: 'united s' }, '/p/v1/finder/alpha-countries?query=united+s'],
    ['stats', { engine: 'alpha' }, '/p/v1/stats?engine=alpha'],
    ['stats', { path: '/v1/alpha/search' }, '/p/v1/stats?path=%2Fv1%2Falpha%2Fsearch'],
    ['jobs.poll', { job_id: 'j-1' }, '/p/jobs/j-1'],
    ['jobs.poll', { job_id: 'a/../b?c#d e' }, '/p/jobs/a%2F..%2Fb%3Fc%23d%20e'],
  ])('%s with %j is GET %s', (name, params, path) => {
    expect(lookupRequest(`${base}/p`, free(name), params)).toEqual({
      method: 'GET',
      origin: base,
      path,
      body: null,
    })
  })

  test('leave the params they were given as they are', () => {
    const params = { job_id: 'j-1' }
    lookupRequest(base, free('jobs.poll'), params)
    expect(params).toEqual({ job_id: 'j-1' })
  })
})
