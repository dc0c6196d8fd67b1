import { expect, test } from 'vitest'
import { bodies } from '../../src/catalog/answers.ts'
import { billableOperation } from '../../src/catalog/index.ts'
import { testTable } from '../support/test-table.ts'
import { aResult, facts } from './results.ts'

const context = { fetchedAt: Date.parse('2026-03-31T12:00:00Z'), language: 'en', country: 'us' }

testTable<[string, unknown, string | null]>([
  ['a text', 'desk', 'desk'],
  ['an empty text', '', null],
  ['a number', 2026, '2026'],
  ['its documented name', { suggestion: 'desk', query: 'd', relevance: 7 }, 'desk'],
  ['a value', { value: 'desk' }, 'desk'],
  ['a text in an object', { text: 'desk', type: 'QUERY' }, 'desk'],
  ['a query', { query: 'desk' }, 'desk'],
  ['a phrase', { phrase: 'desk' }, 'desk'],
  ['two names for one text', { value: 'desk', text: 'desk' }, 'desk'],
])('a suggestion is read from %s', (_, item, title) => {
  const { results, malformed } = bodies.normalise(
    billableOperation('alpha.autocomplete'),
    { suggestions: ['first', item] },
    context,
  )
  expect(results).toEqual([aResult('suggestion', { title: 'first' }), aResult('suggestion', { title })])
  expect(malformed).toEqual([])
})

testTable([
  [{ value: 'desk', text: 'lamp' }],
  [{ label: 'desk' }],
  [{ value: '' }],
  [{}],
  [['desk']],
  [null],
  [true],
])('no suggestion is read from %j', (item) => {
  const body = { suggestions: [item, 'last'] }
  expect(bodies.normalise(billableOperation('alpha.autocomplete'), body, context)).toMatchObject({
    results: [{ title: 'last' }],
    malformed: [item],
  })
})

test.each<[string, unknown, readonly (string | null)[], readonly unknown[]]>([
  ['texts', ['a', { query: 'b' }], ['a', 'b'], []],
  ['other names', [{ text: 'a' }, { query: 'b', text: 'c' }], ['a', 'b'], []],
  ['an object', { 1: { query: 'b' }, 0: { query: 'a' } }, ['a', 'b'], []],
  ['nothing', null, [], []],
  ['things that say nothing', [{}, null, { link: '/x' }], [], [{}, null, { link: '/x' }]],
  ['no list at all', false, [], [false]],
])('related searches are read from %s', (_, sent, titles, malformed) => {
  const body = { organic_results: [{ title: 'T' }], related_searches: sent }
  const understood = bodies.normalise(billableOperation('alpha.search'), body, context)
  expect(understood).toMatchObject({
    results: [{ title: 'T' }, ...titles.map((title) => ({ kind: 'related', title }))],
    malformed,
  })
})

test('an image without its page is one without a link', () => {
  const sent = { url: 'https://i.com/p.jpg', image_width: '640', image_height: 480.0, position: '1' }
  const { results } = bodies.normalise(billableOperation('alpha.images'), { images: [sent] }, context)
  const image = { imageUrl: 'https://i.com/p.jpg', thumbnail: null, width: 640, height: 480 }
  expect(results).toEqual([aResult('image', { position: 1, image })])
})

test('an AI answer keeps blocks that nobody knows, and references that lack nearly everything', () => {
  const unknown = {
    0: { type: 'carousel', items: [{ x: 1 }] },
    1: { type: 'paragraph', snippet: 'P', tone: 'dry' },
  }
  const body = { references: [{ title: 'T' }, { index: '3', link: '/x' }, 'x'], text_blocks: unknown }
  expect(bodies.normalise(billableOperation('alpha.ai'), body, context)).toEqual({
    results: [aResult('reference', { title: 'T' }), aResult('reference', { position: 3, link: '/x' })],
    malformed: ['x'],
    facts: facts({ aiBlocks: unknown }),
  })
})
