import { describe, expect, test } from 'vitest'
import { billableOperation, billableOperations } from '../../src/catalog/index.ts'
import { understand } from '../../src/catalog/understand.ts'

const context = { fetchedAt: Date.parse('2026-03-31T12:00:00Z'), language: 'en', country: 'us' }
const search = billableOperation('alpha.search')

const read = (body: string | Buffer, operation = search) =>
  understand(operation, Buffer.from(body as string), context)

test.each<[string, string, string]>([
  ['nothing', '', 'the answer is no JSON (it is empty)'],
  ['HTML', '<html>\n<h1>502</h1>', 'the answer is no JSON (it begins: <html> <h1>502</h1>)'],
  ['half an answer', '{"organic_results":[{', 'the answer is no JSON (it begins: {"organic_results":[{)'],
  ['control signs', '\u0000\u001b[31m!', 'the answer is no JSON (it begins: [31m!)'],
  ['an array', '[1,2]', 'the answer is no JSON object (it begins: [1,2])'],
  ['a text', '"none"', 'the answer is no JSON object (it begins: "none")'],
  ['a null', 'null', 'the answer is no JSON object (it begins: null)'],
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
  ['a list that is an object', '{"organic_results":{}}', "'organic_results' of the answer is no list"],
  [
    'a list that is text',
    '{"organic_results":"[]","pagination":{}}',
    "'organic_results' of the answer is no list",
  ],
  ['a list that is false', '{"organic_results":false}', "'organic_results' of the answer is no list"],
  ['a list that is 0', '{"organic_results":0}', "'organic_results' of the answer is no list"],
])('%s is no answer, and the reason is said', (_, body, reason) => {
  expect(read(body)).toEqual({ reason })
})

test('of a long body only the beginning is quoted', () => {
  const understood = read('x'.repeat(10_000))
  expect(understood).toEqual({ reason: `the answer is no JSON (it begins: ${'x'.repeat(80)})` })
})

test('bytes that are no text are no answer', () => {
  expect(understand(search, Buffer.from([0xff, 0xfe, 0x00]), context)).toHaveProperty('reason')
})

test.each([
  ['an empty list', '{"organic_results":[]}'],
  ['no list beside a pagination', '{"pagination":{"current":1}}'],
  ['no list beside an echo', '{"search_parameters":{"q":"a"}}'],
  ['a list that is null beside an echo', '{"organic_results":null,"search_parameters":{}}'],
])('%s is an answer without results', (_, body) => {
  expect(read(body)).toMatchObject({ results: [], malformed: [] })
})

test('items that are none are kept apart, and the others are results', () => {
  expect(read('{"organic_results":[null,{"title":"T"},[],"x",7]}')).toMatchObject({
    results: [{ kind: 'organic', title: 'T' }],
    malformed: [null, [], 'x', 7],
  })
})

test('dates are told by the instant that the answer came', () => {
  const body = '{"organic_results":[{"date":"1 day ago"}]}'
  const news = (at: string) =>
    understand(billableOperation('alpha.news'), Buffer.from(body), { ...context, fetchedAt: Date.parse(at) })
  expect(news('2026-03-01T00:00:00Z')).toMatchObject({
    results: [{ news: { publishedAt: '2026-02-28T00:00:00.000Z' } }],
  })
  expect(news('2028-03-01T00:00:00Z')).toMatchObject({
    results: [{ news: { publishedAt: '2028-02-29T00:00:00.000Z' } }],
  })
})

describe.each(billableOperations.map((operation) => [operation.name, operation] as const))(
  '%s',
  (_, operation) => {
    const list = operation.response.items ?? ''

    test('has an answer without results in an empty list', () => {
      expect(read(JSON.stringify({ [list]: [] }), operation)).toMatchObject({ results: [], malformed: [] })
    })

    test.each(['', '[]', '<html>', '{}', '{"error":"Internal Error"}'])('has no answer in %o', (body) => {
      expect(read(body, operation)).toHaveProperty('reason')
    })

    test.each([{}, 'x', 1, true])('has no answer in a list that is %o', (wrong) => {
      expect(read(JSON.stringify({ [list]: wrong, search_parameters: {} }), operation)).toEqual({
        reason: `'${list}' of the answer is no list`,
      })
    })
  },
)
