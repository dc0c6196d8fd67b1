import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type HttpClient, openHttpClient } from '../../src/api/http.ts'
import { http, type RawServer, rawServer } from './raw-server.ts'

function wireTo({ origin }: RawServer): HttpClient {
  const wire = openHttpClient({
    origin,
    apiKey: 'canary-key-0123456789',
    connections: 1,
    timeoutMs: 10_000,
    userAgent: 'rankline/test',
  })
  onTestFinished(() => wire.close())
  return wire
}

async function call(wire: HttpClient, { origin }: RawServer): Promise<void> {
  const exchange = await wire.exchange({ method: 'GET', origin, path: '/v1/usage', body: null }, () => {})
  expect(exchange).toMatchObject({ status: 200 })
  // The time of an idle connection begins a turn of the event loop after its answer.
  await nextTurn()
}

const answerWith =
  (headers: Record<string, string>) =>
  (socket: Socket): void => {
    socket.write(http(200, 'ok', headers))
  }

describe('an idle connection is used again', () => {
  // The sockets keep their own time; only what waits for idle connections is made to believe that time went by.
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test.each<[string, Record<string, string>, number]>([
    ['for 0.3 s where the service says nothing', {}, 300],
    ['for 0.3 s where it says how often, but not for how long', { 'keep-alive': 'max=100' }, 300],
    ['for 1 s where it would wait for 3 s', { 'keep-alive': 'timeout=3' }, 1_000],
    ['for 3 s where it would wait for 5 s', { 'keep-alive': 'timeout=5, max=100' }, 3_000],
    ['for 25 s where it would wait for 75 s', { 'keep-alive': 'timeout=75' }, 25_000],
  ])('%s', async (_, headers, limit) => {
    await using server = await rawServer(answerWith(headers))
    const wire = wireTo(server)
    await call(wire, server)
    vi.advanceTimersByTime(limit - 1)
    await call(wire, server)
    expect(server.sockets).toHaveLength(1)
    vi.advanceTimersByTime(limit)
    await call(wire, server)
    expect(server.sockets).toHaveLength(2)
    expect(server.requests()).toHaveLength(3)
  })

  test('as its last answer said, not as an earlier one did', async () => {
    const hints = ['timeout=5', 'timeout=3', 'timeout=3']
    await using server = await rawServer((socket) =>
      answerWith({ 'keep-alive': hints.shift() ?? '' })(socket),
    )
    const wire = wireTo(server)
    await call(wire, server)
    vi.advanceTimersByTime(2_000)
    await call(wire, server)
    expect(server.sockets).toHaveLength(1)
    vi.advanceTimersByTime(2_000)
    await call(wire, server)
    expect(server.sockets).toHaveLength(2)
  })
})

test.each([0, 1, 2])('a connection that the service keeps for %i s is not used again', async (seconds) => {
  await using server = await rawServer(answerWith({ 'keep-alive': `timeout=${seconds}` }))
  const wire = wireTo(server)
  for (let turn = 1; turn <= 3; turn++) {
    await call(wire, server)
    expect(server.sockets).toHaveLength(turn)
  }
})

test('a connection that is given up is closed without waiting for the next call', async () => {
  await using server = await rawServer(answerWith({}))
  const wire = wireTo(server)
  await call(wire, server)
  const since = performance.now()
  await once(server.sockets[0] as Socket, 'close')
  expect(performance.now() - since).toBeGreaterThan(250)
  await call(wire, server)
  expect(server.sockets).toHaveLength(2)
})
