import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type HttpProxy, openHttpClient, type ProxyVariables, proxyFor } from '../../src/api/http.ts'
import { testTable } from '../support/test-table.ts'
import { closedPort, http, rawServer } from './raw-server.ts'

const none: ProxyVariables = { httpProxy: null, httpsProxy: null, noProxy: null }
const proxy = 'http://proxy.test:3128'
const plain: HttpProxy = { origin: proxy, authorization: null }

describe('the proxy of an address', () => {
  test.each<[string, string, Partial<ProxyVariables>, ReturnType<typeof proxyFor>]>([
    ['nothing set', 'https://a.test', {}, 'direct'],
    ['HTTPS_PROXY for https', 'https://a.test/base', { httpsProxy: proxy }, plain],
    ['HTTPS_PROXY for http', 'http://a.test', { httpsProxy: proxy }, 'direct'],
    ['HTTP_PROXY for http', 'http://a.test', { httpProxy: proxy }, plain],
    ['HTTP_PROXY for https, where no other is set', 'https://a.test', { httpProxy: proxy }, plain],
    ['both for https', 'https://a.test', { httpProxy: 'http://other.test', httpsProxy: proxy }, plain],
    ['a proxy without a scheme', 'https://a.test', { httpsProxy: 'proxy.test:3128' }, plain],
    [
      'a proxy with a path',
      'https://a.test',
      { httpsProxy: 'https://proxy.test/x?y' },
      { origin: 'https://proxy.test', authorization: null },
    ],
    ['a proxy of another kind', 'https://a.test', { httpsProxy: 'ftp://proxy.test' }, 'unreadable'],
    ['a proxy that is no address', 'https://a.test', { httpsProxy: 'http://' }, 'unreadable'],
    ['this machine by name', 'http://localhost:8787', { httpProxy: proxy }, 'direct'],
    ['this machine by number', 'http://127.0.0.1:8787', { httpProxy: proxy }, 'direct'],
    ['this machine by a longer number', 'http://[::1]:8787', { httpProxy: proxy }, 'direct'],
  ])('%s', (_, url, variables, chosen) => {
    expect(proxyFor(url, { ...none, ...variables })).toEqual(chosen)
  })

  testTable<[string, string, 'direct' | 'proxied']>([
    ['*', 'https://a.test', 'direct'],
    ['a.test', 'https://a.test', 'direct'],
    ['A.Test', 'https://a.test', 'direct'],
    ['test', 'https://a.test', 'direct'],
    ['.a.test', 'https://b.a.test', 'direct'],
    ['*.a.test', 'https://b.a.test', 'direct'],
    ['.a.test', 'https://a.test', 'direct'],
    ['x.test, a.test', 'https://a.test', 'direct'],
    ['x.test a.test', 'https://a.test', 'direct'],
    ['a.test:443', 'https://a.test', 'direct'],
    ['a.test:8443', 'https://a.test:8443', 'direct'],
    ['a.test:8443', 'https://a.test', 'proxied'],
    ['b.a.test', 'https://a.test', 'proxied'],
    ['a.test', 'https://xa.test', 'proxied'],
    ['', 'https://a.test', 'proxied'],
    [',', 'https://a.test', 'proxied'],
  ])('NO_PROXY=%s: %s is asked %s', (noProxy, url, how) => {
    expect(proxyFor(url, { httpProxy: null, httpsProxy: proxy, noProxy })).toEqual(
      how === 'direct' ? 'direct' : plain,
    )
  })

  test.each([
    ['user:secret', 'user:secret'],
    ['user', 'user:'],
    ['us%40er:p%3Ass', 'us@er:p:ss'],
    ['user:100%', 'user:100%'],
  ])('with %s before its host is given that, and its address does not hold it', (written, said) => {
    expect(proxyFor('https://a.test', { ...none, httpsProxy: `http://${written}@proxy.test:3128` })).toEqual({
      origin: proxy,
      authorization: `Basic ${Buffer.from(said).toString('base64')}`,
    })
  })
})

const key = 'canary-key-0123456789'

/** A proxy on this machine that leads every connection to one server, or refuses it with a status. */
async function aProxy(target: string, status = 200) {
  const asked: { readonly to: string; readonly headers: NodeJS.Dict<string | string[]> }[] = []
  const server: Server = createServer()
  server.on('connect', ({ url, headers }, socket) => {
    asked.push({ to: url ?? '', headers })
    socket.on('error', () => {})
    if (status !== 200) return socket.end(`HTTP/1.1 ${status} X\r\ncontent-length: 0\r\n\r\n`)
    const onward = connect(Number(new URL(target).port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      socket.pipe(onward).pipe(socket)
    })
    onward.on('error', () => socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { asked, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** Asks a service that only the proxy knows the way to, so many times at once. */
async function askThrough(by: HttpProxy, { times = 1, connections = 2 } = {}) {
  const origin = 'http://service.test:8080'
  const wire = openHttpClient({
    origin,
    apiKey: key,
    connections,
    timeoutMs: 10_000,
    userAgent: 'rankline/test',
    proxy: by,
  })
  onTestFinished(() => wire.close())
  let sent = 0
  const request = { method: 'GET', origin, path: '/v1/usage', body: null } as const
  const ends = await Promise.all(
    Array.from({ length: times }, () =>
      wire.exchange(request, () => {
        sent += 1
      }),
    ),
  )
  return { ends, sent }
}

describe('a request through a proxy', () => {
  test('reaches the service by CONNECT; the proxy sees its own credentials and no key', async () => {
    await using service = await rawServer((socket) => socket.write(http(200, 'ok')))
    const { asked, origin } = await aProxy(service.origin)
    const { ends, sent } = await askThrough({ origin, authorization: 'Basic dXNlcg==' })
    expect(ends).toMatchObject([{ status: 200, body: Buffer.from('ok') }])
    expect(sent).toBe(1)
    expect(asked).toMatchObject([
      { to: 'service.test:8080', headers: { 'proxy-authorization': 'Basic dXNlcg==' } },
    ])
    expect(JSON.stringify(asked)).not.toContain(key)
    const seen = service.received.join('')
    expect(seen).toMatch(/^GET \/v1\/usage HTTP\/1\.1\r\n/)
    expect(seen).toContain(`x-api-key: ${key}`)
    expect(seen.toLowerCase()).not.toContain('proxy-authorization')
  })

  test('keeps to the number of connections, and uses them again', async () => {
    await using service = await rawServer((socket) => socket.write(http(200, 'ok')))
    const { origin, asked } = await aProxy(service.origin)
    const { ends } = await askThrough({ origin, authorization: null }, { times: 12, connections: 3 })
    expect(ends.every((end) => 'body' in end)).toBe(true)
    expect(service.requests()).toHaveLength(12)
    expect(asked.length).toBeLessThanOrEqual(3)
  })

  test.each([
    [407, true, /refused the connection with HTTP 407: put user name and password/],
    [403, true, /refused the connection with HTTP 403: allow the host there, or add it to NO_PROXY/],
    [502, false, /refused the connection with HTTP 502$/],
  ])('that the proxy refuses with %i has not left', async (status, wrongSetting, words) => {
    const { origin } = await aProxy('http://127.0.0.1:1', status)
    const { ends, sent } = await askThrough({ origin, authorization: 'Basic c2VjcmV0' })
    expect(ends).toMatchObject([{ failure: 'unreachable', error: expect.stringMatching(words) }])
    expect((ends[0] as { wrongSetting?: boolean }).wrongSetting === true).toBe(wrongSetting)
    expect(JSON.stringify(ends)).not.toContain('c2VjcmV0')
    expect(sent).toBe(0)
  })

  test('names the proxy where that does not answer', async () => {
    const origin = await closedPort()
    const { ends } = await askThrough({ origin, authorization: null })
    expect(ends).toMatchObject([
      {
        failure: 'unreachable',
        error: `the connection was refused; asked through the proxy ${origin}`,
      },
    ])
  })
})
