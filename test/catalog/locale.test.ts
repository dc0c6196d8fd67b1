import { expect, test } from 'vitest'
import { bodies, completed } from '../../src/catalog/answers.ts'
import { billableOperation } from '../../src/catalog/index.ts'
import { testTable } from '../support/test-table.ts'

const fetchedAt = Date.parse('2026-03-17T12:00:00Z')

testTable([
  [{}, null, null],
  [{ hl: 'de', gl: 'at' }, 'de', 'at'],
  [{ hl: 'pt-BR' }, 'pt-BR', null],
  [{ mkt: 'en-GB' }, 'en-GB', 'GB'],
  [{ mkt: 'zh-Hant-TW' }, 'zh-Hant-TW', 'TW'],
  [{ cc: 'fr' }, null, 'fr'],
  [{ hl: null, gl: [] }, null, null],
])('%j asks for the language %s and the country %s', (params, language, country) => {
  expect(bodies.localeOf(params)).toEqual({ language, country })
})

test('an echo says what the call left open, and nothing else', () => {
  const open = { fetchedAt, language: null, country: 'us' }
  expect(completed(open, { hl: 'en', gl: 'gb' })).toEqual({ fetchedAt, language: 'en', country: 'us' })
  expect(completed(open, null)).toEqual(open)
})

testTable([
  ['as asked', { language: 'de', country: 'de' }, { hl: 'en', gl: 'us' }, '2025-03-04'],
  ['as repeated', { language: null, country: null }, { hl: 'de', gl: 'de' }, '2025-03-04'],
  [
    'in English of the United States',
    { language: null, country: null },
    { hl: 'en', gl: 'us' },
    '2025-03-04',
  ],
  ['by nobody', { language: null, country: null }, undefined, null],
])('the dates of an answer are read in the language %s', (_, asked, echo, day) => {
  const date = echo?.hl === 'en' && asked.language === null ? '03/04/2025' : '04.03.2025'
  const body = { organic_results: [{ date }], search_parameters: echo }
  const { results } = bodies.normalise(billableOperation('alpha.news'), body, { fetchedAt, ...asked })
  expect(results[0]?.news).toEqual({
    date,
    publishedAt: day === null ? null : `${day}T00:00:00.000Z`,
    precision: day === null ? null : 'day',
  })
})

test.each([
  ['alpha.search', 'organic_results'],
  ['gamma.images', 'images'],
])('the total of %s is read in the language of the echo', (name, list) => {
  const body = {
    [list]: [],
    search_parameters: { hl: 'de' },
    search_information: { total_results: '1.230' },
  }
  const { facts } = bodies.normalise(billableOperation(name), body, {
    fetchedAt,
    language: null,
    country: null,
  })
  expect(facts.totalResults).toBe(1230)
})
