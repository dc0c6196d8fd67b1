import { expect, test } from 'vitest'
import { bodies } from '../../src/catalog/answers.ts'
import { billableOperation, billableOperations } from '../../src/catalog/index.ts'
import { testTable } from '../support/test-table.ts'
import { aResult, facts } from './results.ts'

const context = { fetchedAt: Date.parse('2026-03-31T12:00:00Z'), language: 'en', country: 'us' }
const search = billableOperation('alpha.search')

const read = (body: string | Buffer, operation = search) =>
  bodies.parse(operation, Buffer.from(body as string), context)

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
  [
    'a number that is none',
    '{"search_parameters":{"q":"a NaN, \\"NaN"},"organic_results":[{"title":"NaN","position": NaN}]}',
    'the answer is not JSON, for JSON has no such value: NaN in "position", at character 89 (it begins: {"search_parameters":{"q":"a NaN, \\"NaN"},"organic_results":[{"title":"NaN","pos)',
  ],
  [
    'a number without end',
    '[-Infinity]',
    'the answer is not JSON, for JSON has no such value: -Infinity, at character 2 (it begins: [-Infinity])',
  ],
  ['control signs', '\u0000\u001b[31m!', 'the answer is not JSON (it begins: [31m!)'],
  ['an array', '[1,2]', 'the answer is not a JSON object (it begins: [1,2])'],
  ['a text', '"none"', 'the answer is not a JSON object (it begins: "none")'],
  ['a null', 'null', 'the answer is not a JSON object (it begins: null)'],
  ['an empty object', '{}', "the answer has no 'organic_results' (it begins: {})"],
  ['an error', '{"error":"x"}', "the answer has no 'organic_results': the service says 'x'"],
  [
    'an error beside an echo',
    '{"error":"Internal Error","search_parameters":{"q":"a"}}',
    "the answer has no 'organic_results': the service says 'Internal Error'",
  ],
  [
    'an error that is an object',
    '{"error":{"code":7,"message":"Oops"},"pagination":{}}',
    "the answer has no 'organic_results': the service says 'Oops'",
  ],
  [
    'an error that is true',
    '{"error":true,"search_parameters":{}}',
    "the answer has no 'organic_results': the service says that it failed",
  ],
  [
    'a status inside that is an error',
    '{"status":500,"message":"Try\\u001b[31m\\nlater","search_parameters":{}}',
    "the answer has no 'organic_results': the service says 'Try [31m later'",
  ],
  [
    'a status without words',
    '{"status":"503","organic_results":null,"pagination":{}}',
    "the answer has no 'organic_results': status 503",
  ],
  [
    'an error beside an empty list',
    '{"error":"Internal Error","organic_results":[],"search_parameters":{}}',
    "the answer has no results but an error: the service says 'Internal Error'",
  ],
  [
    'no list beside a pagination',
    '{"pagination":{"current":1}}',
    `the answer has no 'organic_results' (it begins: {"pagination":{"current":1}})`,
  ],
  [
    'a list that is null beside an echo',
    '{"organic_results":null,"search_parameters":{}}',
    `the answer has no 'organic_results' (it begins: {"organic_results":null,"search_parameters":{}})`,
  ],
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
  expect(bodies.parse(search, Buffer.from([0xff, 0xfe, 0x00]), context)).toHaveProperty('reason')
})

testTable([
  ['an empty list', '{"organic_results":[]}'],
  [
    'an empty list with a notice',
    '{"organic_results":[],"search_information":{"error":"removed","total_results":0}}',
  ],
  ['an empty list with fields that say that nothing failed', '{"organic_results":[],"error":0,"status":200}'],
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
    bodies.parse(billableOperation('alpha.news'), Buffer.from(body), {
      ...context,
      fetchedAt: Date.parse(at),
    })
  expect(news('2026-03-01T00:00:00Z')).toMatchObject({
    results: [{ news: { publishedAt: '2026-02-28T00:00:00.000Z' } }],
  })
  expect(news('2028-03-01T00:00:00Z')).toMatchObject({
    results: [{ news: { publishedAt: '2028-02-29T00:00:00.000Z' } }],
  })
})

test('an error beside results is a notice', () => {
  for (const said of ['"error":"partial"', '"search_information":{"error":"partial"}'])
    expect(read(`{"organic_results":[{"link":"l"}],${said},"status":500}`)).toMatchObject({
      results: [{ link: 'l' }],
      facts: { notice: 'partial' },
    })
})

test('the list of an AI answer is that of its references: without it, its text says nothing of who is cited', () => {
  const ai = billableOperation('alpha.ai')
  const text = '"text_blocks":[{"type":"paragraph","snippet":"P"}],"reconstructed_markdown":"P"'
  expect(read(`{${text},"search_parameters":{}}`, ai)).toEqual({
    reason: expect.stringMatching(/^the answer has no 'references'/),
  })
  expect(read(`{${text},"references":[],"error":"partial"}`, ai)).toMatchObject({ results: [] })
  expect(read('{"text_blocks":[],"references":[],"error":"Internal Error"}', ai)).toHaveProperty('reason')
})

const more = 'the page is empty, but the service says that more pages follow'
const counted = 'the page is empty, but its total_results is above 0'

testTable<[string, number, object, string | null]>([
  ['empty', 1, {}, null],
  ['empty and last', 2, { pagination: { has_next_page: false, next: 3 } }, null],
  ['empty with one after it', 2, { pagination: { has_next_page: true } }, more],
  ['empty and first with one after it', 1, { pagination: { has_next_page: true, next: 2 } }, more],
  ['empty and names a later one', 2, { pagination: { next: 3 } }, more],
  ['empty and names itself', 2, { pagination: { next: 2 } }, null],
  ['first and empty of a million', 1, { search_information: { total_results: 1_000_000 } }, counted],
  [
    'first and empty of a million, and last',
    1,
    { pagination: { has_next_page: false }, search_information: { total_results: '1000000' } },
    counted,
  ],
  ['first and empty of none', 1, { search_information: { total_results: 0 } }, null],
  ['second and empty of a million', 2, { search_information: { total_results: 1_000_000 } }, null],
  [
    'not empty',
    1,
    { organic_results: [{}], pagination: { has_next_page: true }, search_information: { total_results: 9 } },
    null,
  ],
  [
    'empty but for related searches',
    2,
    { related_searches: [{ query: 'a' }], pagination: { has_next_page: true } },
    more,
  ],
])('a page that is %s (page %i, %j) contradicts itself: %j', (_, page, body, reason) => {
  const parsed = read(JSON.stringify({ organic_results: [], ...body }))
  if ('reason' in parsed) throw new Error(parsed.reason)
  expect(bodies.contradiction(search, page, parsed)).toBe(reason)
})

testTable(billableOperations.map((operation) => [operation.name, operation] as const))(
  '%s has an answer in its list alone',
  (_, operation) => {
    const list = operation.response.items
    expect(read(JSON.stringify({ [list]: [] }), operation)).toMatchObject({ results: [], malformed: [] })
    for (const body of ['', '[]', '<html>', '{}', '{"error":"Internal Error"}'])
      expect(read(body, operation)).toHaveProperty('reason')
    for (const none of [{}, { [list]: null }, { error: 'Internal Error' }, { error: true }, { status: 500 }])
      expect(read(JSON.stringify({ ...none, search_parameters: { q: 'a' } }), operation)).toEqual({
        reason: expect.stringContaining(`the answer has no '${list}'`),
      })
    for (const wrong of [{ count: 1 }, { 0: {}, x: {} }, 'x', 1, true])
      expect(read(JSON.stringify({ [list]: wrong, search_parameters: {} }), operation)).toEqual({
        reason: `'${list}' of the answer is not a list`,
      })
  },
)
