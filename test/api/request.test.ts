import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lookupRequest, pageRequest } from '../../src/api/client.ts'
import { billableOperation, billableOperations, findOperation } from '../../src/catalog/index.ts'
import type { FreeOperation } from '../../src/catalog/operation.ts'
import { anyText } from '../support/any-text.ts'
import { testTable } from '../support/test-table.ts'

type PageRequest = Parameters<typeof pageRequest>[2]

const base = 'https://api.example'

function aCall(call: Partial<PageRequest> = {}): PageRequest {
  return { text: 'standing desk', params: {}, page: 1, style: 'get', async: false, ...call }
}

function request(operation: string, call: Partial<PageRequest> = {}, baseUrl = base) {
  return pageRequest(baseUrl, billableOperation(operation), aCall(call))
}

const free = (name: string) => findOperation(name) as FreeOperation

describe('the path of the base URL', () => {
  test('does not stand before the path of a POST, which belongs to the host', () => {
    const sent = request('alpha.search', { style: 'post' }, 'https://api.example:444/proxy')
    expect(sent).toMatchObject({ origin: 'https://api.example:444', path: '/api/v1/alpha/search' })
  })
})

describe('texts', () => {
  testTable([
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

test('lookups leave the params they were given as they are', () => {
  const params = { job_id: 'j-1' }
  lookupRequest(base, free('jobs.poll'), params)
  expect(params).toEqual({ job_id: 'j-1' })
})
