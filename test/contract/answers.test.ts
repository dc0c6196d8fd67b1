import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { get, links } from '../sandbox/ask.ts'
import { testTable } from '../support/test-table.ts'
import { type DocumentedCall, documentedCalls, exampleOf } from './interface.ts'
import { send } from './sending.ts'
import { differences } from './shape.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox()
})
afterAll(() => sandbox.close())

// So many that every optional part is there and is not; nothing is found for the last one.
const queries = [...Array.from({ length: 25 }, (_, index) => `thing ${index}`), 'größe', 'zxqv']

/** Names of params that can be asked for together: each of two that exclude each other in its turn. */
function combinations({ params, exclusive }: DocumentedCall): readonly (readonly string[])[] {
  const names = Object.keys(params)
  if (exclusive === undefined) return [[], names]
  return [[], ...exclusive.map((left) => names.filter((name) => name !== left))]
}

describe.each(documentedCalls.map((call) => [call.name, call.style, call] as const))(
  '%s by %s',
  (_name, _style, call) => {
    test('answers with exactly the documented fields and types, and charges the documented credits', async () => {
      for (const [index, names] of combinations(call).entries()) {
        const asked = queries.slice(index === 0 ? 0 : -4)
        const charged = sandbox.ledger.charged
        const answers = await Promise.all(
          asked.map((query) => send(sandbox, call, { ...exampleOf(call, names), query })),
        )
        for (const { status, body, headers } of answers) {
          expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
          expect(differences(call.answer, body)).toEqual([])
        }
        expect(sandbox.ledger.charged - charged).toBe(call.cost * asked.length)
      }
    })

    test('takes every documented param alone and every documented value', async () => {
      for (const [name, { values }] of Object.entries(call.params))
        for (const value of values ?? [exampleOf(call, [name])[name] ?? '']) {
          const { status, body } = await send(sandbox, call, { ...exampleOf(call), [name]: value })
          expect([name, value, status, differences(call.answer, body)]).toEqual([name, value, 200, []])
        }
    })

    test('echoes the text and gives results', async () => {
      const { body } = await send(sandbox, call, { ...exampleOf(call), ...page(call, 1) })
      if (call.name !== 'alpha.autocomplete') expect(body.search_parameters.q).toBe('standing desk')
      const list = body[call.list]
      if (call.pageSize != null) expect(list).toHaveLength(call.pageSize)
      else expect(list.length).toBeGreaterThan(4)
    })

    test('counts positions from 1, and the references of an AI answer from 0', async () => {
      const { body } = await send(sandbox, call, { ...exampleOf(call), ...page(call, 1) })
      const numbers = body[call.list].map(
        (item: { position?: number; index?: number }) => item.position ?? item.index,
      )
      const from = call.name === 'alpha.ai' ? 0 : 1
      if (call.name === 'alpha.autocomplete') return
      expect(numbers).toEqual(numbers.map((_: unknown, index: number) => index + from))
    })
  },
)

const paged = documentedCalls.filter(({ pageSize }) => pageSize !== undefined)

testTable(paged.map((call) => [call.name, call.style, call] as const))(
  'without a page %s by %s gives its first one',
  async (_name, _style, call) => {
    if (call.params.page?.required) return
    const first = await send(sandbox, call, { ...exampleOf(call), ...page(call, 1) })
    const unsaid = await send(sandbox, call, exampleOf(call))
    expect(links(unsaid)).toEqual(links(first))
    const second = await send(sandbox, call, { ...exampleOf(call), ...page(call, 2) })
    expect(links(second)).not.toEqual(links(first))
  },
)

testTable(documentedCalls.filter(({ style }) => style === 'post').map((call) => [call.name, call] as const))(
  'the page of %s by POST is a number of results to skip',
  async (_, call) => {
    const all = await send(sandbox, call, { ...exampleOf(call), num: 20 })
    const some = await send(sandbox, call, { ...exampleOf(call), num: 5, page: 3 })
    expect(links(some)).toEqual(links(all).slice(3, 8))
  },
)

testTable(
  paged.filter(({ params }) => 'num' in params).map((call) => [call.name, call.style, call] as const),
)('num is the most results that a page of %s by %s has', async (_name, _style, call) => {
  const { body } = await send(sandbox, call, { ...exampleOf(call), num: 7, ...page(call, 1) })
  expect(body[call.list]).toHaveLength(7)
})

test.each([
  ['active', 'strict'],
  ['strict', 'strict'],
  ['moderate', 'moderate'],
  ['off', 'off'],
])('the filter %s of image search is echoed as %s', async (safe, safesearch) => {
  const { body } = await get(sandbox, '/v1/gamma/images', { query: 'desk', safe })
  expect(body.search_parameters).toMatchObject({ safe, safesearch })
})

test('the key is accepted in the query string in place of the header', async () => {
  const { status } = await get(sandbox, '/v1/gamma/search', { query: 'desk', x_api_key: sandbox.key }, {})
  expect(status).toBe(200)
})

function page({ params, style }: DocumentedCall, number: 1 | 2) {
  if (!('page' in params)) return {}
  return { page: style === 'post' ? (number - 1) * 10 : number }
}
