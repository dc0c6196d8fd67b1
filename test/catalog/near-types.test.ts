import { expect } from 'vitest'
import { bodies } from '../../src/catalog/answers.ts'
import { billableOperation } from '../../src/catalog/index.ts'
import type { AnswerFacts, Result } from '../../src/model/result.ts'
import { testTable } from '../support/test-table.ts'
import { aResult, facts } from './results.ts'

const context = { fetchedAt: Date.parse('2026-03-31T12:00:00Z'), language: 'en', country: 'us' }

testTable<[string, unknown, Partial<Result>]>([
  ['a position as text', { position: '4' }, { position: 4 }],
  ['a position of zero', { position: 0 }, { position: 0 }],
  ['half a position', { position: 4.5 }, {}],
  ['a position beyond exact numbers', { position: 2 ** 53 }, {}],
  ['a position that is no number', { position: 'first' }, {}],
  ['an empty position', { position: ' ' }, {}],
  ['a position in a list', { position: [4] }, {}],
  ['a position that is written with a point', { position: '4.0' }, { position: 4 }],
  ['half a position as text', { position: '4.5' }, {}],
  ['a position in other digits', { position: '0x4' }, {}],
  ['a position with an exponent', { position: '1e1' }, {}],
  ['a position that is true', { position: true }, {}],
  ['a title that is a number', { title: 2026 }, { title: '2026' }],
  ['an empty title', { title: '' }, {}],
  ['a title that is null', { title: null }, {}],
  ['a title in a list', { title: ['T'] }, { title: 'T' }],
  ['two titles', { title: ['T', 'U'] }, {}],
  ['a title of spaces', { title: ' ' }, { title: ' ' }],
  ['tags and entities', { title: '<b>A&amp;B</b>' }, { title: '<b>A&amp;B</b>' }],
  ['control characters', { title: 'A\u0000\u001b[31mB' }, { title: 'A\u0000\u001b[31mB' }],
  ['half a character', { title: 'A\ud800' }, { title: 'A\ud800' }],
  ['a title in an object', { title: { text: 'T' } }, {}],
  ['a link that is no URL', { link: 'javascript:void 0' }, { link: 'javascript:void 0' }],
  ['a link of spaces', { link: ' \n' }, {}],
  ['an empty link', { link: '' }, {}],
  ['a link between spaces', { link: ' https://a.com/\n' }, { link: ' https://a.com/\n' }],
  ['a link that is relative', { link: '/url?q=x' }, { link: '/url?q=x' }],
  ['a link without a scheme', { link: 'www.a.com/x' }, { link: 'www.a.com/x' }],
  ['a link that is true', { link: true }, {}],
  ['matches that are null', { snippet_matched: null }, {}],
  ['matches that are one text', { snippet_matched: 'S' }, { snippetMatched: ['S'] }],
  ['matches that are an empty text', { snippet_matched: '' }, {}],
  ['matches that are an object', { snippet_matched: { 1: 't', 0: 'S' } }, { snippetMatched: ['S', 't'] }],
  ['matches that are something else', { snippet_matched: { S: 't' } }, {}],
  [
    'matches with other things among them',
    { snippet_matched: ['S', 1, null, '', {}, 't'] },
    { snippetMatched: ['S', '1', 't'] },
  ],
  ['fields that nobody knows', { title: 'T', rank: 1, url: 'https://a.com' }, { title: 'T' }],
  ['no fields', {}, {}],
])('an item with %s is kept with what can be told', (_, sent, told) => {
  const { results, malformed } = bodies.normalise(
    billableOperation('alpha.search'),
    { organic_results: [sent] },
    context,
  )
  expect([results, malformed]).toEqual([[aResult('organic', told)], []])
})

testTable<[string, object, Partial<AnswerFacts>]>([
  [
    'numbers as text',
    { pagination: { next: '3', current: '2', has_next_page: true } },
    { nextPage: 3, currentPage: 2, hasNextPage: true },
  ],
  ['a boolean as text', { pagination: { has_next_page: 'true' } }, { hasNextPage: true }],
  ['another boolean as text', { pagination: { has_next_page: ' False' } }, { hasNextPage: false }],
  ['a boolean as a number', { pagination: { has_next_page: 0 } }, { hasNextPage: false }],
  ['a boolean as digits', { pagination: { has_next_page: '1' } }, { hasNextPage: true }],
  ['a boolean in words', { pagination: { has_next_page: 'maybe' } }, {}],
  ['a boolean that is 2', { pagination: { has_next_page: 2 } }, {}],
  ['a pagination that is null', { pagination: null }, {}],
  ['other pages as an object', { pagination: { current: 1, other_pages: { 2: '/x' } } }, { currentPage: 1 }],
  ['an error that is false', { error: false, search_information: { error: false } }, {}],
  ['an error that is null', { error: null, search_information: null }, {}],
  ['an error that is 0', { error: 0 }, {}],
  ['an error that is a number', { error: 7 }, { notice: '7' }],
  [
    'a missing next page',
    { pagination: { current: 1, has_next_page: false } },
    { currentPage: 1, hasNextPage: false },
  ],
  ['a pagination that is a list', { pagination: [1, 2] }, {}],
  ['a total that is null', { search_information: { total_results: null, time_taken_displayed: null } }, {}],
  [
    'a total as text',
    { search_information: { total_results: '12', time_taken_displayed: '0.5' } },
    { totalResults: 12, timeTaken: 0.5 },
  ],
  [
    'a total and a time as a page shows them',
    { search_information: { total_results: 'About 1,200 results', time_taken_displayed: '0,42' } },
    { totalResults: 1200, timeTaken: 0.42 },
  ],
  ['a total in other words', { search_information: { total_results: 'very many' } }, {}],
  ['a notice beside the results', { error: 'Some were removed' }, { notice: 'Some were removed' }],
  ['two notices', { error: 'outer', search_information: { error: 'inner' } }, { notice: 'inner' }],
  ['an empty notice', { search_information: { error: '' } }, {}],
])('an answer with %s says what can be told', (_, body, said) => {
  const understood = bodies.normalise(
    billableOperation('alpha.search'),
    { organic_results: [], ...body },
    context,
  )
  expect(understood).toEqual({ results: [], malformed: [], facts: facts(said) })
})
