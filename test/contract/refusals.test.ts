import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import type { SandboxOptions } from '../../src/sandbox/state.ts'
import { get, type Params, post } from '../sandbox/ask.ts'
import { testTable } from '../support/test-table.ts'
import { type DocumentedCall, documented, documentedCalls, exampleOf } from './interface.ts'
import { expectRefused, type messages, rateMessage, send } from './sending.ts'

type Status = keyof typeof messages

/** Nothing that is sent to it is ever charged. */
let shared: Sandbox
beforeAll(async () => {
  shared = await startSandbox()
})
afterAll(() => shared.close())

const expired = '2001-01-01T00:00:00Z'
const refusals: readonly (readonly [string, SandboxOptions, Status])[] = [
  ['an inactive key', { account: { keyActive: false } }, 401],
  ['an expired key', { account: { keyExpires: expired } }, 401],
  ['no balance', { account: { subscription: { total: 0 } } }, 402],
  ['an internal error', { rules: [{ do: { status: 500 } }] }, 500],
  ['a service that is not there', { rules: [{ do: { status: 503 } }] }, 503],
]

testTable(refusals)('with %s every call is refused, free of charge', async (_, options, status) => {
  await using sandbox = await startSandbox(options)
  for (const call of documentedCalls) expectRefused(await send(sandbox, call, exampleOf(call)), status)
  expect(sandbox.ledger.charged).toBe(0)
})

test('with a balance below its price every call is refused, free of charge', async () => {
  for (const cost of new Set(documentedCalls.map((call) => call.cost))) {
    await using sandbox = await startSandbox({ account: { subscription: { total: cost - 1 } } })
    for (const call of documentedCalls.filter((one) => one.cost === cost))
      expectRefused(await send(sandbox, call, exampleOf(call)), 402)
    expect(sandbox.usage().remaining).toBe(cost - 1)
  }
})

test('beyond a limit every call is refused, free of charge, and the connection stays open', async () => {
  await using sandbox = await startSandbox()
  for (const [index, call] of documentedCalls.entries()) {
    sandbox.control({ account: { quotas: { total: index + 1 } } })
    const before = sandbox.ledger.charged
    const first = await send(sandbox, call, exampleOf(call))
    const second = await send(sandbox, call, exampleOf(call))
    expect([call.name, first.status, second.status]).toEqual([call.name, 200, 401])
    expect(second.body).toEqual({ error: rateMessage })
    expect(second.headers.get('connection')).not.toBe('close')
    expect(sandbox.ledger.charged).toBe(before + call.cost)
  }
})

testTable<[string, (sandbox: Sandbox) => Record<string, string>]>([
  ['no key', () => ({})],
  ['another key', () => ({ 'x-api-key': 'other' })],
  ['the key in another header', ({ key }) => ({ authorization: `Bearer ${key}` })],
])('with %s every call is refused, free of charge', async (_, headersOf) => {
  for (const call of documentedCalls) {
    const response = await fetch(new URL(call.path, shared.url), {
      method: call.style.toUpperCase(),
      headers: { 'content-type': 'application/json', ...headersOf(shared) },
      body: call.style === 'post' ? JSON.stringify(exampleOf(call)) : null,
    })
    expect([call.name, response.status, await response.json()]).toEqual([
      call.name,
      401,
      { error: 'Invalid API Key' },
    ])
  }
  expect(shared.ledger.charged).toBe(0)
})

describe.each(documentedCalls.map((call) => [call.name, call.style, call] as const))(
  '%s by %s',
  (_name, _style, call) => {
    testTable(invalid(call))('with %s is invalid, free of charge', async (_, params) => {
      expectRefused(await send(shared, call, params), 400)
      expect(shared.ledger.charged).toBe(0)
    })
  },
)

test.each<[string, SandboxOptions['account']]>([
  ['second', { perSecond: 2 }],
  ['minute', { perMinute: 2 }],
  ['day', { quotas: { daily: 2 } }],
  ['week', { quotas: { weekly: 2 } }],
  ['month', { quotas: { monthly: 2 } }],
  ['life of the key', { quotas: { total: 2 } }],
])('a limit of two calls in a %s lets two calls through, whatever is asked', async (_, account) => {
  await using sandbox = await startSandbox({ account: account ?? {}, now: () => Date.UTC(2026, 2, 4, 12) })
  const answers = []
  for (const call of documentedCalls.slice(0, 4)) answers.push(await send(sandbox, call, exampleOf(call)))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 401, 401])
  expect(answers.slice(2).map(({ body }) => body)).toEqual([{ error: rateMessage }, { error: rateMessage }])
})

/** Params of the wrong number, name or type, by what is wrong with them. */
function invalid(call: DocumentedCall): readonly (readonly [string, Params])[] {
  const { params, exclusive, style } = call
  const good = exampleOf(call)
  const without = (name: string) =>
    Object.fromEntries(Object.entries(good).filter(([other]) => other !== name))
  const required = Object.keys(params).filter((name) => params[name]?.required)
  const numbers = Object.keys(params).filter(
    (name) => !['string', 'boolean'].includes(params[name]?.type ?? ''),
  )
  const texts = Object.keys(params).filter((name) => params[name]?.type === 'string')
  const foreign = Object.values(documented)
    .flatMap(({ get, post }) => Object.keys({ ...get.params, ...post?.params }))
    .filter((name, index, all) => !(name in params) && all.indexOf(name) === index)
  return [
    ['no params', {}],
    ...required.map((name) => [`no ${name}`, without(name)] as const),
    ...numbers.map((name) => [`${name} in words`, { ...good, [name]: 'two' }] as const),
    ...(style === 'post' ? numbers : []).map(
      (name) => [`${name} as text`, { ...good, [name]: '2' }] as const,
    ),
    ...(style === 'post' ? texts : []).map(
      (name) => [`${name} as a number`, { ...good, [name]: 2 }] as const,
    ),
    ...Object.entries(params)
      .filter(([, { values, type }]) => values !== undefined || type === 'boolean')
      .map(([name]) => [`another ${name}`, { ...good, [name]: 'other' }] as const),
    ...foreign.map((name) => [`${name}, which it has not`, { ...good, [name]: 1 }] as const),
    // Which status this has is not documented; that it cannot be is.
    ...(exclusive === undefined || !exclusive.every((name) => name in params)
      ? []
      : [[exclusive.join(' and '), exampleOf(call, exclusive)] as const]),
  ]
}

const posts = documentedCalls.filter(({ style }) => style === 'post')

test('a call by POST has a limit for its body', async () => {
  for (const { path } of posts) expectRefused(await post(shared, path, { query: 'a'.repeat(2_000_000) }), 413)
  expect(shared.ledger.charged).toBe(0)
})

test('a call by POST wants a JSON object', async () => {
  for (const { path } of posts)
    for (const body of ['', '{', '[]', '"desk"', 'null']) expectRefused(await post(shared, path, body), 400)
  expect(shared.ledger.charged).toBe(0)
})

test('a path that is not documented is not found', async () => {
  const paths = '/ /v1 /v1/alpha /v1/alpha/searches /v2/alpha/search /v1/beta/news /jobs'
  for (const path of paths.split(' ')) expectRefused(await get(shared, path, { query: 'desk' }), 404)
})

test('every path is found by its documented method only', async () => {
  for (const { get: newer, post: older } of Object.values(documented)) {
    expectRefused(await post(shared, newer.path, { query: 'desk' }), 404)
    if (older !== undefined) expectRefused(await get(shared, older.path, { query: 'desk' }), 404)
  }
})

test('below a base path only the newer style is found; the older one is at the root of the host', async () => {
  await using sandbox = await startSandbox({ basePath: '/service' })
  const origin = { ...sandbox, url: new URL(sandbox.url).origin }
  for (const call of documentedCalls) {
    expect((await send(sandbox, call, exampleOf(call))).status).toBe(200)
    const elsewhere = call.style === 'post' ? { ...call, path: `/service${call.path}` } : call
    expectRefused(await send(origin, elsewhere, exampleOf(call)), 404)
  }
})
