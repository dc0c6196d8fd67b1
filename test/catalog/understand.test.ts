import { expect, test } from 'vitest'
import { parseAnswer } from '../../src/catalog/answers.ts'
import { billableOperation, billableOperations } from '../../src/catalog/index.ts'
import { testTable } from '../support/test-table.ts'
import { aResult, facts } from './results.ts'

const context = { fetchedAt: Date.parse('2026-03-31T12:00:00Z'), language: 'en', country: 'us' }
const search = billableOperation('alpha.search')

const read = (body: string | Buffer, operation = search) =>
  parseAnswer(operation, Buffer.from(body as string), context)

testTable<[string, string, string]>([
  ['nothing', '', 'the answer is not JSON (it is empty)'],
  ['HTML', '<html>\n<h1>502</h1>', "the answer is not JSON (an HTML page '502')"],
  [
    'a login',
    '\n<!DOCTYPE html><html lang="en"><head><title>\u0007Log\n in </title></head>',
    "the answer is not JSON (an HTML page 'Log in')",
  ],
  ['HTML that names itself nowhere', '<html><p>busy', 'the answer is not JSON (an HTML page)'],
  ['half an answer', '{"organic_results":[{', 'the answer is not JSON (it begins: {"organic_results":[{)'],
  ['control signs', '\u0000\u001b[31m!', 'the answer is not JSON (it begins: [31m!)'],
  ['an array', '[1,2]', 'the answer is not a JSON object (it begins: [1,2])'],
  ['a text', '"none"', 'the answer is not a JSON object (it begins: "none")'],
  ['a null', 'null', 'the answer is not a JSON object (it begins: null)'],
  ['an empty object', '{}', "the answer has no 'organic_results' (it begins: {})"],
  ['an error', '{"error":"x"}', `the answer has no 'organic_results' (it begins: {"error":"x"})`],
  [
    'only optional fields',
    '{"related_searches":[]}',
    `the answer has no 'organic_results' (it begins: {"related_searches":[]})`,
  ],
  [
    'nulls only',
    '{"organic_results":null,"pagination":null}',
    `the answer has no 'organic_results' (it begins: {"organic_results":null,"pagination":null})`,
  ],
  [
    'an empty object alone',
    '{"organic_results":{}}',
    `the answer has no 'organic_results' (it begins: {"organic_results":{}})`,
  ],
  [
    'an object that is neither list nor result',
    '{"organic_results":{"0":{},"count":1}}',
    "'organic_results' of the answer is not a list",
  ],
  [
    'an object without a link',
    '{"organic_results":{"title":"No results"}}',
    "'organic_results' of the answer is not a list",
  ],
  [
    'a list that is text',
    '{"organic_results":"[]","pagination":{}}',
    "'organic_results' of the answer is not a list",
  ],
  ['a list that is false', '{"organic_results":false}', "'organic_results' of the answer is not a list"],
  ['a list that is 0', '{"organic_results":0}', "'organic_results' of the answer is not a list"],
])('%s is no answer, and the reason is said', (_, body, reason) => {
  expect(read(body)).toEqual({ reason })
})

test('of a long body only the beginning is quoted', () => {
  const understood = read('x'.repeat(10_000))
  expect(understood).toEqual({ reason: `the answer is not JSON (it begins: ${'x'.repeat(80)})` })
})

test('bytes that are no text are no answer', () => {
  expect(parseAnswer(search, Buffer.from([0xff, 0xfe, 0x00]), context)).toHaveProperty('reason')
})

testTable([
  ['an empty list', '{"organic_results":[]}'],
  ['no list beside a pagination', '{"pagination":{"current":1}}'],
  ['no list beside an echo', '{"search_parameters":{"q":"a"}}'],
  ['a list that is null beside an echo', '{"organic_results":null,"search_parameters":{}}'],
  ['an empty object beside an echo', '{"organic_results":{},"search_parameters":{}}'],
])('%s is an answer without results', (_, body) => {
  expect(read(body)).toMatchObject({ results: [], malformed: [] })
})

test('items that are none are kept apart, and the others are results', () => {
  expect(read('{"organic_results":[null,{"title":"T"},[],"x",7]}')).toMatchObject({
    results: [{ kind: 'organic', title: 'T' }],
    malformed: [null, [], 'x', 7],
  })
})

test('a list that comes as an object is read by its numbers', () => {
  expect(
    read('{"organic_results":{"10":{"title":"c"},"2":{"title":"b"},"1":7,"0":{"title":"a"}}}'),
  ).toMatchObject({ results: [{ title: 'a' }, { title: 'b' }, { title: 'c' }], malformed: [7] })
})

test.each([
  ['alpha.search', 'organic_results', { link: 'https://a.com/' }],
  ['alpha.ai', 'references', { link: 'https://a.com/' }],
  ['gamma.images', 'images', { url: 'https://a.com/p.jpg' }],
])('one item of %s that comes without its list is the only one', (name, list, item) => {
  const understood = read(JSON.stringify({ [list]: item }), billableOperation(name))
  expect(understood).toMatchObject({ results: [{ kind: billableOperation(name).kind }], malformed: [] })
})

test.each<[string, string, object]>([
  ['a byte order mark', '\ufeff{"organic_results":[{"title":"T"}]}', { title: 'T' }],
  ['a field twice', '{"organic_results":[{"title":"S","title":"T"}]}', { title: 'T' }],
  [
    'a number that is too large',
    '{"organic_results":[{"title":1e400,"position":1e400}]}',
    aResult('organic'),
  ],
  ['a number that is not exact', '{"organic_results":[{"title":12345678901234567890}]}', aResult('organic')],
  ['a zero below zero', '{"organic_results":[{"title":-0,"position":-0}]}', { title: '0', position: 0 }],
  [
    'names that objects have',
    '{"__proto__":{"error":"x"},"toString":1,"organic_results":[{"__proto__":{"title":"x"},"constructor":1,"link":"l"}]}',
    aResult('organic', { link: 'l' }),
  ],
])('%s does no harm', (_, body, result) => {
  const understood = read(body)
  expect(understood).toMatchObject({ results: [result], malformed: [], facts: facts() })
})

test('what is nested beyond measure is kept as far as it can be read again', () => {
  const deep = (levels: number) => `${'{"a":['.repeat(levels / 2)}1${']}'.repeat(levels / 2)}`
  const parts = [deep(10_000), `{"title":${deep(10_000)},"link":"l"}`, `[${deep(10_000)}]`, `"x"`]
  const understood = read(
    `{"organic_results":[${parts}],"search_parameters":${deep(10_000)},"knowledge_graph":${deep(200)}}`,
  )
  if ('reason' in understood) throw new Error(understood.reason)
  const { results, malformed, facts: said } = understood
  expect(results).toEqual([aResult('organic'), aResult('organic', { link: 'l' })])
  expect(malformed).toHaveLength(2)
  for (const kept of [malformed, said.searchParameters])
    expect(JSON.stringify(kept)).toContain('… (nested deeper than 200 levels)')
  expect(said.knowledgeGraph).toEqual(JSON.parse(deep(200)))
})

test('dates are told by the instant that the answer came', () => {
  const body = '{"organic_results":[{"date":"1 day ago"}]}'
  const news = (at: string) =>
    parseAnswer(billableOperation('alpha.news'), Buffer.from(body), { ...context, fetchedAt: Date.parse(at) })
  expect(news('2026-03-01T00:00:00Z')).toMatchObject({
    results: [{ news: { publishedAt: '2026-02-28T00:00:00.000Z' } }],
  })
  expect(news('2028-03-01T00:00:00Z')).toMatchObject({
    results: [{ news: { publishedAt: '2028-02-29T00:00:00.000Z' } }],
  })
})

testTable(billableOperations.map((operation) => [operation.name, operation] as const))(
  '%s has an answer in its list alone',
  (_, operation) => {
    const list = operation.response.items
    expect(read(JSON.stringify({ [list]: [] }), operation)).toMatchObject({ results: [], malformed: [] })
    for (const body of ['', '[]', '<html>', '{}', '{"error":"Internal Error"}'])
      expect(read(body, operation)).toHaveProperty('reason')
    for (const wrong of [{ count: 1 }, { 0: {}, x: {} }, 'x', 1, true])
      expect(read(JSON.stringify({ [list]: wrong, search_parameters: {} }), operation)).toEqual({
        reason: `'${list}' of the answer is not a list`,
      })
  },
)
