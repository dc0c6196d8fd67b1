import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pageRequest } from '../../src/api/client.ts'
import { billableOperation, billableOperations } from '../../src/catalog/index.ts'
import { echoMismatch, type RequestedPage } from '../../src/collect/answers.ts'
import { echoOf } from '../../src/sandbox/world/world.ts'

const asks = (asked: Partial<RequestedPage> = {}): RequestedPage => ({
  text: 'Standing desk',
  params: {},
  page: 1,
  ...asked,
})

/** What differs of an answer that repeats that; `current` is its page by `pagination`. */
function differs(
  operation: string,
  asked: Partial<RequestedPage>,
  echo: unknown,
  current: number | null = null,
) {
  const facts = { searchParameters: echo, currentPage: current }
  return echoMismatch(billableOperation(operation), asks(asked), facts)
}

describe('an answer that repeats the question in its own way says nothing else', () => {
  test.each<[string, string, Partial<RequestedPage>, unknown, number?]>([
    ['nothing repeated', 'alpha.search', { params: { gl: 'us' } }, {}],
    ['no echo at all', 'alpha.search', { params: { gl: 'us' } }, null],
    ['an echo that is no object', 'alpha.search', {}, 'standing'],
    ['fields that are null', 'alpha.search', { params: { gl: 'de' } }, { q: null, gl: null, page: null }],
    ['fields of other types', 'alpha.search', { params: { gl: 'de' } }, { q: 7, gl: ['us'], page: [2] }],
    ['other case and spaces', 'alpha.search', {}, { q: ' STANDING \u00a0 desk\n' }],
    ['another composition of letters', 'alpha.search', { text: 'Café' }, { q: 'cafe\u0301' }],
    ['case that changes letters', 'alpha.search', { text: 'Große Straße' }, { q: 'GROSSE STRASSE' }],
    ['a country in upper case', 'alpha.search', { params: { gl: 'us' } }, { gl: 'US' }],
    ['a region by another sign', 'alpha.search', { params: { hl: 'pt-BR' } }, { hl: 'pt_br' }],
    ['a language with a region', 'gamma.images', { params: { hl: 'en' } }, { hl: 'en-US' }],
    ['a region left out', 'alpha.search', { params: { hl: 'pt-BR' } }, { hl: 'pt' }],
    ['defaults that were not asked', 'alpha.search', {}, { gl: 'us', hl: 'en', num: 10, page: 1 }, 1],
    ['the country of a market', 'beta.search', { params: { mkt: 'de-DE' } }, { cc: 'us' }],
    ['a number of results that is capped', 'alpha.search', { params: { num: 100 } }, { num: 10 }],
    ['a number that is only a suggestion', 'beta.search', { params: { num: 10 } }, { num: 50 }],
    ['a page as text', 'alpha.search', { page: 2 }, { page: '2' }],
    ['a page counted from 0', 'gamma.search', { page: 1 }, { page: 0 }],
    ['a page counted from 1', 'gamma.search', { page: 2 }, { page: 2 }],
    ['an offset for a page', 'alpha.search', { page: 3 }, { page: 20 }, 3],
    ['an offset of longer pages', 'alpha.news', { page: 3, params: { num: 50 } }, { page: 100 }, 100],
    ['a page of shorter pages', 'alpha.search', { page: 2, params: { num: 100 } }, { num: 20, page: 100 }, 6],
    ['the page of an operation without pages', 'alpha.light', {}, { page: 7 }, 7],
    ['places, and what else is repeated', 'alpha.search', {}, { uule: 'x', location: 'Bonn', engine: 'y' }],
  ])('%s', (_, operation, asked, echo, current = null as never) => {
    expect(differs(operation, asked, echo, current)).toBe(null)
  })

  test('as the service is documented to, whatever is asked', () => {
    const params = fc.record(
      {
        gl: fc.constantFrom('us', 'DE', 'no'),
        hl: fc.constantFrom('en', 'de', 'pt-BR'),
        num: fc.integer({ min: 1, max: 100 }),
        cc: fc.constantFrom('us', 'GB'),
        safe: fc.constantFrom('active', 'off'),
      },
      { requiredKeys: [] },
    )
    const asked = fc.record({
      operation: fc.constantFrom(...billableOperations),
      style: fc.constantFrom('get' as const, 'post' as const),
      text: fc.string({ unit: 'grapheme', minLength: 1 }),
      page: fc.integer({ min: 1, max: 50 }),
      params,
    })
    fc.assert(
      fc.property(asked, ({ operation, style, text, page, params: all }) => {
        const params = Object.fromEntries(Object.entries(all).filter(([name]) => name in operation.params))
        const call = { text, params, page: operation.paging === null ? 1 : page }
        const { method, path, body } = pageRequest('http://s', operation, { ...call, style, async: false })
        const sent =
          method === 'POST'
            ? (JSON.parse(body ?? '') as { page?: number }).page
            : new URL(path, 'http://s').searchParams.get('page')
        const echo = echoOf(operation, {
          style: method === 'POST' ? 'post' : 'get',
          query: text,
          params,
          page: sent == null ? null : Number(sent),
          isAsync: false,
        })
        const facts = { searchParameters: echo, currentPage: operation.paging === null ? null : call.page }
        expect(echoMismatch(operation, call, facts)).toBe(null)
      }),
    )
  })
})

describe('an answer to another question says what differs', () => {
  test.each<[string, string, Partial<RequestedPage>, unknown, Record<string, readonly unknown[]>]>([
    ['the text', 'alpha.search', {}, { q: 'oak desk' }, { q: ['Standing desk', 'oak desk'] }],
    ['a word less', 'alpha.search', {}, { q: 'desk' }, { q: ['Standing desk', 'desk'] }],
    ['an accent', 'alpha.search', { text: 'café' }, { q: 'cafe' }, { q: ['café', 'cafe'] }],
    ['no text', 'alpha.search', {}, { q: '' }, { q: ['Standing desk', ''] }],
    ['the country', 'alpha.search', { params: { gl: 'de' } }, { gl: 'us' }, { gl: ['de', 'us'] }],
    ['the country of beta', 'beta.search', { params: { cc: 'de' } }, { cc: 'US' }, { cc: ['de', 'US'] }],
    ['the language', 'alpha.images', { params: { hl: 'de' } }, { hl: 'en' }, { hl: ['de', 'en'] }],
    ['a region', 'alpha.search', { params: { hl: 'pt-BR' } }, { hl: 'pt-PT' }, { hl: ['pt-BR', 'pt-PT'] }],
    ['more results', 'alpha.search', { params: { num: 10 } }, { num: 100 }, { num: [10, 100] }],
    ['the page', 'alpha.search', { page: 2 }, { page: 1 }, { page: [2, 1] }],
    ['a page from 0 elsewhere', 'alpha.images', { page: 3 }, { page: 2 }, { page: [3, 2] }],
    ['the page before that', 'gamma.search', { page: 3 }, { page: 1 }, { page: [3, 1] }],
    [
      'several at once',
      'alpha.search',
      { params: { gl: 'de', hl: 'de' }, page: 2 },
      { q: 'x', gl: 'us', hl: 'de', page: 5 },
      { q: ['Standing desk', 'x'], gl: ['de', 'us'], page: [2, 5] },
    ],
  ])('%s', (_, operation, asked, echo, difference) => {
    const named = Object.entries(difference).map(([name, [asked, answered]]) => [name, { asked, answered }])
    expect(differs(operation, asked, echo)).toEqual(Object.fromEntries(named))
  })

  test('by the page that pagination names', () => {
    expect(differs('alpha.search', { page: 2 }, { page: 2 }, 1)).toEqual({
      'pagination.current': { asked: 2, answered: 1 },
    })
  })
})
