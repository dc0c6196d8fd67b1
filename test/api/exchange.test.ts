import diagnostics from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  type ApiRequest,
  type HttpClient,
  type HttpClientOptions,
  type HttpResponse,
  openHttpClient,
} from '../../src/api/http.ts'
import { closedPort, http, rawServer } from './raw-server.ts'

const key = 'canary-key-0123456789'

function wireTo(origin: string, options: Partial<HttpClientOptions> = {}): HttpClient {
  const wire = openHttpClient({
    origin,
    apiKey: key,
    connections: 4,
    timeoutMs: 10_000,
    userAgent: 'rankline/test',
    ...options,
  })
  onTestFinished(() => wire.close())
  return wire
}

function aGet(origin: string, path = '/v1/usage'): ApiRequest {
  return { method: 'GET', origin, path, body: null }
}

interface Sent {
  readonly exchange: HttpResponse
  readonly sent: number
}

async function send(wire: HttpClient, request: ApiRequest): Promise<Sent> {
  let sent = 0
  const exchange = await wire.exchange(request, () => {
    sent += 1
  })
  return { exchange, sent }
}

/** What one exchange with a server comes to that answers every request so. */
async function exchangeWith(
  answer: (socket: Socket, request: string) => void,
  options: Partial<HttpClientOptions> = {},
) {
  await using server = await rawServer(answer)
  const wire = wireTo(server.origin, options)
  const { exchange, sent } = await send(wire, aGet(server.origin))
  return { exchange, sent, requests: server.requests().length }
}

const bodyOf = (exchange: HttpResponse): string =>
  'body' in exchange ? exchange.body.toString() : `no body: ${exchange.error}`

describe('a whole answer is handed over as it came', () => {
  const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n'

  test.each<[string, Buffer | string, number, string]>([
    ['200', http(200, '{"remaining":5}'), 200, '{"remaining":5}'],
    ['200 with an empty body', http(200, ''), 200, ''],
    ['204', 'HTTP/1.1 204 No Content\r\n\r\n', 204, ''],
    ['a chunked body', chunked, 200, 'abcdefg'],
    [
      'a body that ends with its connection',
      'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nto the end',
      200,
      'to the end',
    ],
    [
      'an answer after early hints',
      `HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${http(200, 'ok')}`,
      200,
      'ok',
    ],
    ['400', http(400, '{"error":"Bad Request"}'), 400, '{"error":"Bad Request"}'],
    ['401', http(401, '{"error":"Invalid API Key"}'), 401, '{"error":"Invalid API Key"}'],
    ['500', http(500, '<html>'), 500, '<html>'],
    ['503 that asks for patience', http(503, '', { 'retry-after': '1' }), 503, ''],
  ])('%s', async (_, answer, status, body) => {
    const { exchange, sent, requests } = await exchangeWith((socket) => {
      socket.write(answer)
      if (answer.includes('connection: close')) socket.end()
    })
    expect(exchange).toMatchObject({ status })
    expect(bodyOf(exchange)).toBe(body)
    expect({ sent, requests }).toEqual({ sent: 1, requests: 1 })
  })

  test('and leaves nothing behind that would keep the process alive', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = timers()
    await exchangeWith((socket) => socket.write(http(200, 'ok')), { timeoutMs: 300_000 })
    // Timers of earlier tests may have ended meanwhile.
    expect(timers()).toBeLessThanOrEqual(before)
  })

  test('in pieces of one byte, each in its own packet', async () => {
    const { exchange } = await exchangeWith((socket) => {
      socket.setNoDelay(true)
      const bytes = [...http(200, '{"a":"é😀"}')]
      const next = (): void => {
        const byte = bytes.shift()
        if (byte !== undefined) socket.write(Buffer.from([byte]), next)
      }
      next()
    })
    expect(bodyOf(exchange)).toBe('{"a":"é😀"}')
  })
})

test('a request counts as sent when the connection has it, not before', async () => {
  await using server = await rawServer((socket) => socket.write(http(200, 'ok')))
  const order: string[] = []
  const written = () => order.push('written')
  diagnostics.subscribe('undici:request:bodySent', written)
  onTestFinished(() => {
    diagnostics.unsubscribe('undici:request:bodySent', written)
  })
  await wireTo(server.origin).exchange(aGet(server.origin), () => order.push('sent'))
  expect(order).toEqual(['written', 'sent'])
})

describe('what nobody knows the end of is ambiguous, and sent once', () => {
  test.each<[string, (socket: Socket) => void, number | null]>([
    ['a body cut short', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"a":'), 200],
    [
      'a chunked body cut short',
      (socket) => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab'),
      200,
    ],
    ['a head cut short', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-le'), null],
    ['a reset after the request', (socket) => socket.resetAndDestroy(), null],
    ['a connection closed without an answer', (socket) => socket.end(), null],
    ['an answer that is no HTTP', (socket) => socket.end('220 mail.example ESMTP\r\n'), null],
  ])('%s', async (_, answer, status) => {
    const { exchange, sent, requests } = await exchangeWith(answer)
    expect(exchange).toMatchObject({ failure: 'ambiguous', status, error: expect.stringMatching(/\w/) })
    expect({ sent, requests }).toEqual({ sent: 1, requests: 1 })
  })

  test.each<[string, (socket: Socket) => void, number | null]>([
    ['no answer at all', () => {}, null],
    [
      'an answer that stops coming',
      (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab'),
      200,
    ],
    ['a head that stops coming', (socket) => socket.write('HTTP/1.1 200 OK\r\n'), null],
  ])('%s ends the exchange after its time', async (_, answer, status) => {
    const { exchange, sent, requests } = await exchangeWith(answer, { timeoutMs: 600 })
    expect(exchange).toEqual({ failure: 'ambiguous', status, error: 'no whole answer within 0.6 s' })
    expect({ sent, requests }).toEqual({ sent: 1, requests: 1 })
  })

  test('an exchange that failed leaves the next one alone', async () => {
    let refusals = 1
    await using server = await rawServer((socket) => {
      if (refusals-- > 0) socket.resetAndDestroy()
      else socket.write(http(200, 'ok'))
    })
    const wire = wireTo(server.origin, { connections: 1 })
    expect((await send(wire, aGet(server.origin))).exchange).toMatchObject({ failure: 'ambiguous' })
    expect(bodyOf((await send(wire, aGet(server.origin))).exchange)).toBe('ok')
  })
})

describe('what never left is unreachable', () => {
  test('a refused connection: nothing counts as sent', async () => {
    const origin = await closedPort()
    const { exchange, sent } = await send(wireTo(origin), aGet(origin))
    expect(exchange).toEqual({
      failure: 'unreachable',
      status: null,
      error: 'the connection was refused',
    })
    expect(sent).toBe(0)
  })

  test('a server that speaks no TLS where TLS is asked for', async () => {
    await using server = await rawServer(
      () => {},
      (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
    )
    const origin = server.origin.replace('http:', 'https:')
    const { exchange, sent } = await send(wireTo(origin), aGet(origin))
    expect(exchange).toEqual({
      failure: 'unreachable',
      status: null,
      error: 'the port speaks http, not https: write http://, or the port that speaks https',
      wrongSetting: true,
    })
    expect(sent).toBe(0)
    expect(server.received.join('')).not.toContain(key)
  })
})

test('a server that answers with an alert of TLS speaks https', async () => {
  const alert = Buffer.from([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46])
  const { exchange } = await exchangeWith((socket) => socket.end(alert))
  expect(exchange).toMatchObject({
    failure: 'ambiguous',
    error: 'the port speaks https, not http: write https://',
    wrongSetting: true,
  })
})

describe('an answer that is too large', () => {
  test('is not read, and the process goes on', async () => {
    let large = true
    await using server = await rawServer((socket) => {
      socket.write(large ? http(200, Buffer.alloc(21_000_000, ' ')) : http(200, 'small'))
      large = false
    })
    const wire = wireTo(server.origin, { connections: 1 })
    const { exchange } = await send(wire, aGet(server.origin))
    expect(exchange).toEqual({
      failure: 'unreadable',
      status: 200,
      error: 'the answer is larger than 20 MB',
    })
    expect(bodyOf((await send(wire, aGet(server.origin))).exchange)).toBe('small')
  })

  test('starts above 20 MB', async () => {
    const { exchange } = await exchangeWith((socket) =>
      socket.write(http(200, Buffer.alloc(20_000_000, ' '))),
    )
    expect('body' in exchange && exchange.body.length).toBe(20_000_000)
  })

  test('that is small as long as it is compressed stays so', async () => {
    const bomb = gzipSync(Buffer.alloc(21_000_000))
    const { exchange } = await exchangeWith((socket) =>
      socket.write(http(200, bomb, { 'content-encoding': 'gzip' })),
    )
    expect(exchange).toMatchObject({ status: 200, body: bomb })
  })
})

describe('a compressed answer', () => {
  test.each<[string, (body: Buffer) => Buffer]>([
    ['gzip', gzipSync],
    ['GZIP', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['identity', (body) => body],
  ])('as %s is unpacked', async (encoding, compress) => {
    const body = compress(Buffer.from('{"naïve":true}'))
    const { exchange } = await exchangeWith((socket) =>
      socket.write(http(200, body, { 'content-encoding': encoding })),
    )
    expect(bodyOf(exchange)).toBe('{"naïve":true}')
  })

  test('that is damaged is kept as it came', async () => {
    const { exchange } = await exchangeWith((socket) =>
      socket.write(http(200, 'no gzip', { 'content-encoding': 'gzip' })),
    )
    expect(exchange).toMatchObject({ status: 200, body: Buffer.from('no gzip') })
  })
})

test.each([301, 302, 303, 307, 308])(
  'a %i is not followed: the other server sees nothing',
  async (status) => {
    await using other = await rawServer((socket) => socket.write(http(200, 'lured')))
    const location = `${other.origin}/v1/usage`
    const { exchange, requests } = await exchangeWith((socket) =>
      socket.write(http(status, '', { location })),
    )
    expect(exchange).toMatchObject({ status, headers: { location } })
    expect(requests).toBe(1)
    expect(other.sockets).toHaveLength(0)
  },
)

describe('on the wire', () => {
  test('the key stands in the header x-api-key and nowhere else', async () => {
    await using server = await rawServer((socket) => socket.write(http(200, 'ok')))
    const wire = wireTo(server.origin)
    await send(wire, aGet(server.origin, '/v1/alpha/search?query=a+b'))
    const request = server.received.join('')
    expect(request.split('\r\n').filter((line) => line.includes(key))).toEqual([`x-api-key: ${key}`])
    expect(request.split(key)).toHaveLength(2)
    expect(request).toMatch(/^GET \/v1\/alpha\/search\?query=a\+b HTTP\/1\.1\r\n/)
    expect(request).toContain('\r\nuser-agent: rankline/test\r\n')
    expect(request.toLowerCase()).not.toContain('accept-encoding')
  })

  test('a POST carries its JSON whole, in UTF-8', async () => {
    await using server = await rawServer((socket) => socket.write(http(200, 'ok')))
    const body = JSON.stringify({ query: 'naïve 😀' })
    await send(wireTo(server.origin), {
      method: 'POST',
      origin: server.origin,
      path: '/api/v1/alpha/search',
      body,
    })
    const [head, sent] = (server.received[0] ?? '').split('\r\n\r\n')
    expect(head).toMatch(/^POST \/api\/v1\/alpha\/search HTTP\/1\.1\r\n/)
    expect(head).toContain('\r\ncontent-type: application/json')
    expect(Buffer.from(sent ?? '', 'latin1').toString()).toBe(body)
  })

  test('each exchange is one request, however many there are at once and however they end', async () => {
    let arrived = 0
    await using server = await rawServer((socket) => {
      arrived += 1
      if (arrived % 5 === 0) socket.resetAndDestroy()
      else if (arrived % 7 === 0) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab')
      else if (arrived % 11 === 0) socket.end(http(500, ''))
      else socket.write(http(200, 'ok'))
    })
    const wire = wireTo(server.origin)
    const paths = Array.from({ length: 60 }, (_, index) => `/v1/${index}`)
    const ends = await Promise.all(paths.map((path) => send(wire, aGet(server.origin, path))))
    expect(ends.map(({ sent }) => sent)).toEqual(paths.map(() => 1))
    expect([...server.requests()].sort()).toEqual(paths.map((path) => `GET ${path} HTTP/1.1`).sort())
  })

  test('a connection is kept and used again', async () => {
    await using server = await rawServer((socket) => socket.write(http(200, 'ok')))
    const wire = wireTo(server.origin, { connections: 1 })
    for (let turn = 0; turn < 5; turn++)
      expect(bodyOf((await send(wire, aGet(server.origin))).exchange)).toBe('ok')
    expect(server.requests()).toHaveLength(5)
    expect(server.sockets).toHaveLength(1)
  })

  test('a connection that the service closed in between costs nothing: the next exchange makes a new one', async () => {
    await using server = await rawServer((socket) => socket.end(http(200, 'ok')))
    const wire = wireTo(server.origin, { connections: 1 })
    for (let turn = 1; turn <= 3; turn++) {
      expect(bodyOf((await send(wire, aGet(server.origin))).exchange)).toBe('ok')
      const socket = server.sockets[turn - 1] as Socket
      if (!socket.closed) await once(socket, 'close')
      expect(server.sockets).toHaveLength(turn)
    }
    expect(server.requests()).toHaveLength(3)
  })

  test('there are never more connections than allowed', async () => {
    const waiting: Socket[] = []
    await using server = await rawServer((socket) => {
      waiting.push(socket)
      if (waiting.length === 3) for (const one of waiting.splice(0)) one.write(http(200, 'ok'))
    })
    const wire = wireTo(server.origin, { connections: 3 })
    const ends = await Promise.all(Array.from({ length: 9 }, () => send(wire, aGet(server.origin))))
    expect(ends.map(({ exchange }) => bodyOf(exchange))).toEqual(Array(9).fill('ok'))
    expect(server.sockets).toHaveLength(3)
  })
})

test('a redirect that names the key is handed over without it', async () => {
  const { exchange } = await exchangeWith((socket) =>
    socket.write(http(302, '', { location: `https://elsewhere.example/?x_api_key=${key}` })),
  )
  expect(JSON.stringify(exchange)).not.toContain(key)
})
