import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type HttpClient, type HttpResponse, openHttpClient } from '../../src/api/http.ts'
import { testTable } from '../support/test-table.ts'
import { http, type RawServer, rawServer } from './raw-server.ts'

type Origin = Pick<RawServer, 'origin'>

function wireTo({ origin }: Origin): HttpClient {
  const wire = openHttpClient({
    ...{ origin, apiKey: 'canary-key-0123456789', connections: 8, timeoutMs: 10_000 },
    userAgent: 'rankline/test',
  })
  onTestFinished(() => wire.close())
  return wire
}

function call(wire: HttpClient, { origin }: Origin): Promise<HttpResponse> {
  return wire.exchange({ method: 'GET', origin, path: '/v1/usage', body: null }, () => {})
}

/** A service that answers in its next turn, so that calls are under way side by side. */
async function aService(greet?: Parameters<typeof rawServer>[1]) {
  return await rawServer((socket) => setImmediate(() => socket.write(http(200, 'ok', {}))), greet)
}

async function openAhead(wire: HttpClient, { sockets }: RawServer, count: number): Promise<void> {
  const before = sockets.length
  await wire.openAhead?.(count)
  await vi.waitFor(() => expect(sockets).toHaveLength(before + count))
  // The server has them a moment before the client knows it.
  await new Promise((resolve) => setImmediate(resolve))
  await new Promise((resolve) => setImmediate(resolve))
}

/** Fulfilled when the first connection of the service is closed. */
function firstClosed({ sockets }: RawServer): Promise<unknown> {
  return once(sockets[0] as RawServer['sockets'][number], 'close')
}

describe('Connections that were opened ahead', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('are used by the first calls, one each', async () => {
    await using server = await aService()
    const wire = wireTo(server)
    await openAhead(wire, server, 3)
    expect(server.requests()).toEqual([])
    const answers = await Promise.all([call(wire, server), call(wire, server), call(wire, server)])
    expect(answers).toMatchObject([{ status: 200 }, { status: 200 }, { status: 200 }])
    expect(server.sockets).toHaveLength(3)
    expect(server.received.filter((bytes) => bytes !== '')).toHaveLength(3)
  })

  test('are as many as were asked for, however often', async () => {
    await using server = await aService()
    const wire = wireTo(server)
    await openAhead(wire, server, 2)
    await wire.openAhead?.(2)
    await call(wire, server)
    expect(server.sockets).toHaveLength(2)
  })

  test('are closed after two seconds when no call needed them', async () => {
    await using server = await aService()
    const wire = wireTo(server)
    await openAhead(wire, server, 1)
    vi.advanceTimersByTime(1_999)
    expect(server.sockets[0]?.readyState).toBe('open')
    const closed = firstClosed(server)
    vi.advanceTimersByTime(1)
    await closed
    expect(await call(wire, server)).toMatchObject({ status: 200 })
    expect(server.sockets).toHaveLength(2)
  })

  test('are not used where the service has closed them', async () => {
    await using server = await aService()
    const wire = wireTo(server)
    await openAhead(wire, server, 1)
    const closed = firstClosed(server)
    server.sockets[0]?.end()
    await closed
    await new Promise((resolve) => setImmediate(resolve))
    expect(await call(wire, server)).toMatchObject({ status: 200 })
    expect(server.sockets).toHaveLength(2)
  })

  test('end with the client', async () => {
    await using server = await aService()
    const wire = wireTo(server)
    await openAhead(wire, server, 1)
    const closed = firstClosed(server)
    await wire.close()
    await closed
  })
})

test('A connection that is still being opened ends with the client', async () => {
  const silent = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void silent.close())
  await once(silent, 'listening')
  const connected = once(silent, 'connection')
  const wire = wireTo({ origin: `https://127.0.0.1:${(silent.address() as AddressInfo).port}` })
  await wire.openAhead?.(1)
  const [socket] = (await connected) as [Socket]
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.on('error', () => {}).resume()
  await wire.close()
  await closed
})

test('A connection that cannot be opened ahead is left to the call that needs it', async () => {
  const server = await aService()
  const { origin } = server
  await server[Symbol.asyncDispose]()
  const wire = wireTo({ origin })
  await wire.openAhead?.(2)
  expect(await call(wire, { origin })).toMatchObject({
    failure: 'unreachable',
    error: 'the connection was refused',
  })
})

test('Through a proxy none are opened ahead', () => {
  const wire = openHttpClient({
    ...{ origin: 'http://localhost:1', apiKey: 'canary', connections: 1, timeoutMs: 1_000 },
    ...{ userAgent: 'test', proxy: { origin: 'http://localhost:2', authorization: null } },
  })
  onTestFinished(() => wire.close())
  expect(wire.openAhead).toBeNull()
})

testTable<[string, (wire: HttpClient, server: RawServer) => Promise<unknown>]>([
  ['a call', (wire, server) => call(wire, server)],
  ['connections opened ahead', (wire, server) => openAhead(wire, server, 2)],
])('How long the quickest connection took to be made is known after %s', async (_, connect) => {
  await using server = await aService()
  const wire = wireTo(server)
  expect(wire.quickestConnectMs()).toBe(Number.POSITIVE_INFINITY)
  const began = performance.now()
  await connect(wire, server)
  expect(wire.quickestConnectMs()).toBeGreaterThan(0)
  expect(wire.quickestConnectMs()).toBeLessThanOrEqual(performance.now() - began)
})
