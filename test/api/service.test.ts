import diagnostics from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { apiClient, CallHeldBack, type ServiceDelays } from '../../src/api/client.ts'
import { type ApiRequest, openHttpClient } from '../../src/api/http.ts'
import { billedAfter } from '../../src/api/outcomes.ts'
import { rateLimiter } from '../../src/api/rate-limiter.ts'
import { usage } from '../../src/catalog/index.ts'
import type { Outcome, Settlement } from '../../src/model/call.ts'
import { type Clock, systemClock } from '../../src/model/time.ts'
import { testTable } from '../support/test-table.ts'
import { fakeTime } from './fake-time.ts'
import { http, rawServer } from './raw-server.ts'

type CallStore = Parameters<typeof apiClient>[0]['store']

/** A service on a real connection, with a ledger in memory. */
function serviceAt(origin: string, timeoutMs = 10_000) {
  const http = openHttpClient({ origin, apiKey: 'canary-key', connections: 4, timeoutMs, userAgent: 'test' })
  onTestFinished(() => http.close())
  const settled: Settlement[] = []
  const store: Pick<CallStore, 'beginCall' | 'settleCall'> = {
    beginCall: async () => 1,
    settleCall: async (_, settlement) => {
      settled.push(settlement)
    },
  }
  const service = apiClient({
    baseUrl: origin,
    http,
    rateLimiter: rateLimiter({ clock: hurried }),
    store: store as CallStore,
    clock: systemClock,
    keyHash: 'k',
    serviceDelays: { throttledMs: 90_000, unavailableMs: 90_000 },
  })
  const search: ApiRequest = { method: 'GET', origin, path: '/v1/alpha/search?query=a', body: null }
  const send = (signal?: AbortSignal) =>
    service.send(search, { runId: 1, taskId: 1, operation: 'alpha.search', credits: 1 }, signal)
  return { service, settled, send }
}

/** Pauses after a refusal are not what these tests are about. */
const hurried: Pick<Clock, 'monotonic' | 'after'> = {
  monotonic: () => systemClock.monotonic() * 50,
  after: (ms, ring) => systemClock.after(ms / 50, ring),
}

const stopped = new Error('stopped')

test('a free call in the air ends as soon as the run stops, one that costs is awaited', async () => {
  const unanswered: Socket[] = []
  let arrived = (): void => {}
  await using server = await rawServer((socket) => {
    unanswered.push(socket)
    arrived()
  })
  const { service, settled, send } = serviceAt(server.origin)
  const stop = new AbortController()
  const both = new Promise<void>((resolve) => {
    arrived = () => unanswered.length === 2 && resolve()
  })
  const paid = send(stop.signal)
  const free = service.lookup(usage, {}, { signal: stop.signal })
  await both
  stop.abort(stopped)
  expect((await free).settlement).toMatchObject({ outcome: 'ambiguous', billed: 0 })
  expect(settled).toMatchObject([{ error: 'its answer was not waited for any longer' }])
  for (const socket of unanswered) socket.write(http(200, 'ok'))
  expect((await paid).settlement).toMatchObject({ outcome: 'answered', billed: 1 })
})

test('connections end with the wire, though one of them is still being made', async () => {
  await using server = await rawServer(() => {})
  const http = openHttpClient({
    origin: server.origin,
    apiKey: 'canary-key',
    connections: 1,
    timeoutMs: 60_000,
    userAgent: 'test',
  })
  const request = { method: 'GET', origin: server.origin, path: '/v1/usage', body: null } as const
  const stop = new AbortController()
  const exchange = http.exchange(request, () => {}, { signal: stop.signal })
  stop.abort(stopped)
  expect(await exchange).toMatchObject({ failure: 'unreachable' })
  await http.close()
})

/** Does something once the client has read the head of an answer. */
function whenHeadIsRead(act: () => void): void {
  const channel = 'undici:request:headers'
  const read = (): void => {
    diagnostics.unsubscribe(channel, read)
    act()
  }
  diagnostics.subscribe(channel, read)
}

const tooLong = Buffer.alloc(21_000_000, ' ')
const head = (status: number, more: string) =>
  `HTTP/1.1 ${status} X\r\nlocation: https://elsewhere.example/\r\n${more}\r\n`

/** Ways in which the body of an answer breaks. */
const breaks: Readonly<Record<string, (socket: Socket, status: number) => void>> = {
  'cut short': (socket, status) => socket.end(head(status, 'content-length: 100\r\n').concat('{"err')),
  'cut short in a chunk': (socket, status) =>
    socket.end(head(status, 'transfer-encoding: chunked\r\n').concat('9\r\n{"err')),
  'reset by the service': (socket, status) => {
    whenHeadIsRead(() => socket.resetAndDestroy())
    socket.write(head(status, 'content-length: 100\r\n'))
  },
  'never sent': (socket, status) => socket.write(head(status, 'content-length: 100\r\n')),
  'longer than is read': (socket, status) =>
    socket.write(http(status, tooLong, { location: 'https://elsewhere.example/' })),
}

/** Milliseconds that an answer is waited for: few where it never comes. */
const patience = (name: string) => (name === 'never sent' ? 300 : 10_000)

/** What a status says by itself. */
const outcomes: readonly (readonly [number, Outcome])[] = [
  [302, 'redirected'],
  [400, 'rejected'],
  [402, 'out-of-credit'],
  [403, 'rejected'],
  [404, 'not-found'],
  [429, 'throttled'],
  [500, 'server-error'],
  [503, 'server-error'],
]

testTable(
  Object.entries(breaks).flatMap(([name, broken]) => outcomes.map((one) => [name, ...one, broken] as const)),
)('an error whose body is %s says what its status %i says: %s', async (name, status, outcome, broken) => {
  await using server = await rawServer((socket) => broken(socket, status))
  const { settlement } = await serviceAt(server.origin, patience(name)).send()
  expect(settlement).toMatchObject({ outcome, httpStatus: status, billed: billedAfter[outcome] })
  expect(settlement.error).toMatch(new RegExp(`HTTP ${status}\\b.*\\w`))
  expect(server.requests()).toHaveLength(1)
})

/** What the usage record tells of a 401 that says nothing. */
const told401 = [
  ['throttled', http(200, '{"remaining":5}')],
  ['refused', http(401, '{"error":"Invalid API Key"}')],
] as const
testTable(
  Object.entries(breaks).flatMap(([name, broken]) => told401.map((one) => [name, ...one, broken] as const)),
)('a 401 whose body is %s is %s, as the usage record tells', async (name, outcome, usage, broken) => {
  await using server = await rawServer((socket, request) => {
    if (request.startsWith('GET /v1/usage')) socket.write(usage)
    else broken(socket, 401)
  })
  const { settlement } = await serviceAt(server.origin, patience(name)).send()
  expect(settlement).toMatchObject({ outcome, httpStatus: 401, billed: 0 })
  expect(server.requests()).toHaveLength(2)
})

testTable(Object.entries(breaks).filter(([name]) => name !== 'longer than is read'))(
  'a 200 whose body is %s stays ambiguous',
  async (name, broken) => {
    await using server = await rawServer((socket) => broken(socket, 200))
    const { settlement } = await serviceAt(server.origin, patience(name)).send()
    expect(settlement).toMatchObject({ outcome: 'ambiguous', httpStatus: 200, billed: null })
  },
)

test('a call that may no longer leave when the rate allows it is not sent, stands in no ledger, and takes no place', async () => {
  const time = fakeTime()
  const begun: number[] = []
  const left: number[] = []
  const service = apiClient({
    baseUrl: 'http://service.test',
    http: {
      exchange: async (_, onSent) => {
        left.push(time.now())
        onSent()
        return { status: 200, headers: {}, body: Buffer.from('{}') }
      },
    },
    rateLimiter: rateLimiter({ clock: time.clock, limits: { perSecond: 1, perMinute: null } }),
    store: { beginCall: async () => begun.push(time.now()) } as unknown as CallStore,
    clock: { ...time.clock, wall: time.now },
    keyHash: 'k',
    serviceDelays: { throttledMs: 0, unavailableMs: 0 },
  })
  let isDown = false
  const request: ApiRequest = { method: 'GET', origin: '', path: '/', body: null }
  const send = (mayLeave: () => boolean) =>
    service.send(request, { runId: 1, taskId: 1, operation: 'alpha.search', credits: 1 }, undefined, mayLeave)
  const first = send(() => !isDown)
  const second = expect(send(() => !isDown)).rejects.toThrow(CallHeldBack)
  const probe = send(() => true)
  await first
  isDown = true
  await time.settle()
  await second
  await probe
  expect([begun, left]).toEqual([
    [0, 1_050],
    [0, 1_050],
  ])
})

describe('a delay that the service names', () => {
  /** When calls leave, in time that stands still until it is moved, where the service answers them so in turn. */
  async function departures(
    answers: readonly (readonly [number, string | null])[],
    operations: readonly string[],
    serviceDelays: ServiceDelays = { throttledMs: 600_000, unavailableMs: 600_000 },
  ): Promise<readonly string[]> {
    const time = fakeTime()
    const clock = { ...time.clock, wall: () => Date.UTC(2026, 10, 22) + time.now() }
    const left: string[] = []
    const service = apiClient({
      baseUrl: 'http://service.test',
      http: {
        exchange: async ({ path }, onSent) => {
          const [status, after] = answers[left.length] ?? [200, null]
          left.push(`${path} ${time.now()}`)
          onSent()
          return { status, headers: after === null ? {} : { 'retry-after': after }, body: Buffer.from('{}') }
        },
      },
      rateLimiter: rateLimiter({ clock: time.clock }),
      store: { beginCall: async () => 1 } as unknown as CallStore,
      clock,
      keyHash: 'k',
      serviceDelays,
    })
    const all = (async () => {
      for (const operation of operations) {
        const request: ApiRequest = { method: 'GET', origin: '', path: operation, body: null }
        await service.send(request, { runId: 1, taskId: 1, operation, credits: 1 })
      }
    })()
    await time.settle()
    await all
    return left
  }
  const twice = ['alpha.search', 'alpha.search']

  testTable<[string, number, string | null, number]>([
    ['with a 503 is waited for to the millisecond', 503, '5', 5_000],
    ['with a 408 is waited for to the millisecond', 408, '5', 5_000],
    ['with a 425 is waited for to the millisecond', 425, '5', 5_000],
    ['with a 429 is waited for to the millisecond', 429, '5', 5_000],
    ['with a 429 of nothing at all leaves our own pause', 429, '0', 500],
    ['with a 429 that is none leaves our own pause', 429, 'abc', 500],
    ['with a 503 that is none holds nothing', 503, '-1', 0],
    ['with a 500 says nothing', 500, '5', 0],
    ['with a 200 says nothing', 200, '5', 0],
  ])('%s', async (_, status, after, ms) => {
    expect(await departures([[status, after]], twice)).toEqual(['alpha.search 0', `alpha.search ${ms}`])
  })

  test('with a 503 holds its engine alone, and with a 429 all of them', async () => {
    const [, other] = await departures([[503, '5']], ['alpha.search', 'beta.search'])
    const [, held] = await departures([[429, '5']], ['alpha.search', 'beta.search'])
    expect([other, held]).toEqual(['beta.search 0', 'beta.search 5000'])
  })

  test('is cut to what the user waits for, also where one follows the other', async () => {
    const serviceDelays = { throttledMs: 9_000, unavailableMs: 7_000 }
    expect(await departures([[429, '60']], twice, serviceDelays)).toEqual([
      'alpha.search 0',
      'alpha.search 9000',
    ])
    const again: [number, string] = [503, '4']
    const four = ['alpha.search', 'alpha.search', 'alpha.search', 'alpha.search']
    expect(await departures([again, again, again], four, serviceDelays)).toEqual([
      'alpha.search 0',
      'alpha.search 4000',
      'alpha.search 7000',
      'alpha.search 7000',
    ])
  })
})
