import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import type { buildConnector, Pool } from 'undici'
import type connector from 'undici/lib/core/connect.js'
import { isLoopback, parseUrl, percentDecoded } from '../model/url.ts'

/** One HTTP exchange: what came back, or how it failed. Never rejected. */
export type HttpResponse =
  | {
      readonly status: number
      readonly headers: Headers
      readonly body: Buffer
      /** Why the body of an error response is missing. Bodies of other responses are whole. */
      readonly lostBody?: string
    }
  | {
      readonly failure: HttpFailure
      readonly status: number | null
      readonly error: string
      /** A setting is wrong: waiting does not help. */
      readonly wrongSetting?: boolean
    }

/** `unreachable`: nothing was sent. `ambiguous`: it may have arrived. `unreadable`: the response is damaged or too large. */
export type HttpFailure = 'unreachable' | 'ambiguous' | 'unreadable'

type Headers = Readonly<Record<string, string | string[] | undefined>>

export interface HttpClientOptions {
  readonly origin: string
  readonly apiKey: string
  /** Connections at most: as many as there are requests at once, because a request that waits inside the pool has no timeout. */
  readonly connections: number
  /** For a whole exchange. Long, because the service bills requests whose connection was closed. */
  readonly timeoutMs: number
  readonly userAgent: string
  /** The proxy that requests go through; null for none. */
  readonly proxy?: HttpProxy | null
  /** Limits other than the default ones, for measurements. */
  readonly keepAlive?: KeepAlive
}

/**
 * How long an idle connection is used again. If the service closed it while a request is on its way, it would not be known
 * whether the call was billed; so we close it before the service does.
 */
export type KeepAlive = Readonly<typeof defaultKeepAlive>

/** See docs/connections.md for the measurements. */
export const defaultKeepAlive = {
  /** If the service does not say how long it waits. */
  withoutHintMs: 300,
  /** If it does (`Keep-Alive: timeout=5`): this much less. At zero or below the connection is not used again. */
  beforeHintMs: 2_000,
  /** Even if the service would wait longer. */
  longestMs: 25_000,
}

/**
 * How long a connection that was opened ahead waits for its first request. Services close one that says nothing after 20 to 60 seconds by
 * default, so none is closed in the moment in which it is used.
 */
const aheadMs = 2_000

/** Answers larger than this are not read. */
const largestBody = 20_000_000
const connectTimeoutMs = 10_000
/** The body of an error is waited for no longer than this. */
const errorBodyMs = 5_000

export type HttpClient = ReturnType<typeof openHttpClient>

/** Connections to the service. The key goes into the `x-api-key` header and nowhere else. */
export function openHttpClient(options: HttpClientOptions) {
  const { apiKey, timeoutMs, userAgent, proxy = null } = options
  let quickestConnectMs = Number.POSITIVE_INFINITY
  // undici loads while the command opens its database and plans.
  const opened = openDispatcher(options, (tookMs) => {
    quickestConnectMs = Math.min(quickestConnectMs, tookMs)
  })
  const bare = { 'x-api-key': apiKey, accept: 'application/json', 'user-agent': userAgent }
  const withBody = { ...bare, 'content-type': 'application/json' }
  return {
    /** Sends once: no redirect, no retry. `onSent` is called when the request was handed to the connection; `signal` ends it at once. */
    exchange: async (
      request: ApiRequest,
      onSent: () => void,
      { signal }: { readonly signal?: AbortSignal | undefined } = {},
    ): Promise<HttpResponse> => {
      const headers = request.body === null ? bare : withBody
      const sending = { request, headers, timeoutMs, onSent, signal, proxy }
      return withoutKey(await exchange(await opened, sending), apiKey)
    },
    /**
     * Opens so many connections before calls need them, so that the first calls arrive as soon as later ones. Those that are not used are closed
     * again; one that cannot be opened is left to the call that needs it. Null through a proxy.
     */
    openAhead:
      proxy === null ? async (count: number): Promise<void> => (await opened).openAhead(count) : null,
    /** In how many milliseconds the quickest connection was made; infinite before the first one, and through a proxy. */
    quickestConnectMs: (): number => quickestConnectMs,
    /** Closes all connections; requests in flight end with them. */
    close: async (): Promise<void> => (await opened).destroy(),
  }
}

/** The pool of connections to the service or to its proxy. */
interface Dispatcher extends Pick<Pool, 'dispatch'> {
  destroy(): Promise<void>
  openAhead(count: number): void
}

async function openDispatcher(
  options: Pick<HttpClientOptions, 'origin' | 'connections' | 'proxy' | 'keepAlive'>,
  onConnected: (tookMs: number) => void = () => {},
): Promise<Dispatcher> {
  const { origin, connections, proxy, keepAlive = defaultKeepAlive } = options
  const limits = {
    connections,
    pipelining: 1,
    allowH2: false,
    // An exchange has one deadline, that of who waits for it: these would end it at the same moment, with another sentence.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: keepAlive.withoutHintMs,
    keepAliveTimeoutThreshold: keepAlive.beforeHintMs,
    keepAliveMaxTimeout: keepAlive.longestMs,
  }
  const connect = { timeout: connectTimeoutMs }
  if (proxy == null) {
    const { default: Pool } = await import('undici/lib/dispatcher/pool.js')
    const { default: connectorOf } = await import('undici/lib/core/connect.js')
    const ahead = openedAhead(origin, connectorOf({ ...connect, allowH2: false }), onConnected)
    const pool = new Pool(origin, { ...limits, connect: ahead.connect })
    return {
      dispatch: (request, handler) => pool.dispatch(request, handler),
      destroy: async () => {
        ahead.close()
        await pool.destroy()
      },
      openAhead: ahead.open,
    }
  }
  const { ProxyAgent } = await import('undici')
  const agent = new ProxyAgent({
    ...limits,
    uri: proxy.origin,
    ...(proxy.authorization === null ? {} : { token: proxy.authorization }),
    proxyTls: connect,
    requestTls: connect,
  })
  return {
    dispatch: (request, handler) => agent.dispatch(request, handler),
    destroy: () => agent.destroy(),
    openAhead: () => {},
  }
}

/** Connections that are opened before a call needs them. */
function openedAhead(
  origin: string,
  connectNow: ReturnType<typeof connector>,
  onConnected: (tookMs: number) => void,
) {
  const { protocol, host, hostname, port } = new URL(origin)
  const place = { protocol, host, hostname: hostname.replace(/^\[|\]$/g, ''), port }
  const opening = new Set<Socket>()
  /** They wait for their first request, the oldest first. */
  const waiting = new Set<Socket>()
  const connectTimed: typeof connectNow = (options, callback) => {
    const began = performance.now()
    return connectNow(options, (...result) => {
      if (result[0] === null) onConnected(performance.now() - began)
      callback(...result)
    })
  }
  const connect: buildConnector.connector = (options, callback) => {
    for (const socket of waiting) {
      waiting.delete(socket)
      // One that the service has just closed is gone in a moment.
      if (socket.readyState === 'open') return queueMicrotask(() => callback(null, socket))
    }
    connectTimed(options, callback)
  }
  const openOne = (): void => {
    const socket = connectTimed(place, (...result) => {
      if (result[0] !== null) return
      opening.delete(socket)
      waiting.add(socket)
      const timer = setTimeout(() => {
        if (waiting.delete(socket)) socket.destroy()
      }, aheadMs)
      socket.once('close', () => {
        clearTimeout(timer)
        waiting.delete(socket)
      })
    })
    opening.add(socket)
    socket.once('close', () => opening.delete(socket))
  }
  return {
    /** For the pool: hands one out, or connects where none waits. */
    connect,
    open: (count: number): void => {
      for (let left = count - opening.size - waiting.size; left > 0; left--) openOne()
    },
    close: (): void => {
      for (const socket of [...opening, ...waiting]) socket.destroy()
    },
  }
}

let isParserKept = false

/**
 * Else V8 compiles undici's parser once more at the first answer, with its best compiler: 0.1 s of processor, which pay after hundreds. Done
 * before the first call, and not earlier: of files that are loaded later, V8 refuses what the build compiled.
 */
function keepParser(): void {
  if (isParserKept) return
  setFlagsFromString('--wasm-tiering-budget=100000000')
  isParserKept = true
}

const keyMark = '[the API key]'

/** A service that echoes the key must not bring it into the ledger, the database or a message. */
function withoutKey(exchange: HttpResponse, apiKey: string): HttpResponse {
  if ('failure' in exchange) return exchange
  const { location } = exchange.headers
  const headers =
    typeof location === 'string' && location.includes(apiKey)
      ? { ...exchange.headers, location: location.replaceAll(apiKey, keyMark) }
      : exchange.headers
  if (!exchange.body.includes(apiKey))
    return headers === exchange.headers ? exchange : { ...exchange, headers }
  return {
    ...exchange,
    headers,
    body: Buffer.from(exchange.body.toString('utf8').replaceAll(apiKey, keyMark)),
  }
}

function exchange(
  pool: Dispatcher,
  sending: {
    readonly request: ApiRequest
    readonly headers: Readonly<Record<string, string>>
    readonly timeoutMs: number
    readonly onSent: () => void
    readonly signal: AbortSignal | undefined
    readonly proxy: HttpProxy | null
  },
): Promise<HttpResponse> {
  const { request, headers, timeoutMs, onSent, signal, proxy } = sending
  return new Promise((resolve) => {
    let sent = false
    let status: number | null = null
    let received: Headers = {}
    let size = 0
    let tooLarge = false
    const chunks: Buffer[] = []
    let abort: ((reason: Error) => void) | null = null
    let over = false
    const end = (reason: string, reasonBefore: string): void => {
      if (abort !== null) abort(new Error(reason))
      else finish({ failure: 'unreachable', status: null, error: reasonBefore })
    }
    // What came while this process stood still is read after the timers that are due: an answer that is here is not late.
    const endWithin = (ms: number): NodeJS.Timeout =>
      setTimeout(async () => {
        await nextTurn()
        await nextTurn()
        if (!over) end(`no whole answer within ${ms / 1000} s`, 'no connection became free in time')
      }, ms)
    const deadlines = [endWithin(timeoutMs)]
    const giveUp = (): void => end(givenUp, givenUp)
    const finish = (exchange: HttpResponse): void => {
      over = true
      for (const deadline of deadlines) clearTimeout(deadline)
      signal?.removeEventListener('abort', giveUp)
      resolve(exchange)
    }
    if (signal?.aborted) return giveUp()
    signal?.addEventListener('abort', giveUp, { once: true })
    const { method, origin, path, body } = request
    keepParser()
    pool.dispatch(
      { method, origin, path, body, headers },
      {
        onRequestStart: (controller) => {
          // The caller has its answer already, and nothing was sent.
          if (over) return controller.abort(new Error('too late'))
          abort = (reason) => controller.abort(reason)
          if (sent) return
          sent = true
          // The request is written in this turn of the event loop, after anything that delayed it.
          queueMicrotask(onSent)
        },
        onResponseStart: (_, statusCode, fields) => {
          status = statusCode
          received = fields
          if (isError(status)) deadlines.push(endWithin(errorBodyMs))
        },
        onResponseData: (controller, chunk) => {
          size += chunk.length
          if (size <= largestBody) chunks.push(chunk)
          else {
            tooLarge = true
            controller.abort(new Error('too large'))
          }
        },
        onResponseEnd: () => finish(whole(status ?? 0, received, chunks)),
        onResponseError: (_, error) => {
          const { reason, wrongSetting } = tooLarge ? tooLong : explainFailure(error, proxy)
          if (status !== null && isError(status))
            return finish({ status, headers: received, body: noBody, lostBody: reason })
          const failure = tooLarge ? 'unreadable' : sent ? 'ambiguous' : 'unreachable'
          finish({ failure, status, error: reason, ...(wrongSetting ? { wrongSetting } : {}) })
        },
      },
    )
  })
}

/** Redirects count as errors. */
const isError = (status: number): boolean => status >= 300

const noBody = Buffer.alloc(0)

function whole(status: number, headers: Headers, chunks: readonly Buffer[]): HttpResponse {
  const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
  const decode = decoders[String(headers['content-encoding'] ?? 'identity').toLowerCase()]
  if (decode === undefined) return { status, headers, body }
  try {
    return { status, headers, body: decode(body, { maxOutputLength: largestBody }) }
  } catch {
    // It is billed all the same, so it is kept as received.
    return { status, headers, body }
  }
}

/** We do not ask for compression, but some intermediaries compress. */
const decoders: Readonly<Record<string, (body: Buffer, limit: { maxOutputLength: number }) => Buffer>> = {
  gzip: (body, limit) => gunzipSync(body, limit),
  deflate: (body, limit) => inflateSync(body, limit),
  br: (body, limit) => brotliDecompressSync(body, limit),
}

const givenUp = 'its answer was not waited for any longer'

const tooLong = { reason: `the answer is larger than ${largestBody / 1_000_000} MB`, wrongSetting: false }

/** A request, ready to be sent; the key is added where it is sent. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST'
  readonly origin: string
  /** Path and query string. */
  readonly path: string
  /** JSON body of the `post` style. */
  readonly body: string | null
}

/** Why an exchange failed, and whether only another setting helps. */
export interface FailureReason {
  readonly reason: string
  readonly wrongSetting: boolean
}

const passing: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name could not be looked up',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EHOSTUNREACH: 'there is no way to the host',
  ENETUNREACH: 'there is no way to the network of the host',
  ETIMEDOUT: 'the connection was not made in time',
  EPIPE: 'the connection was closed',
  EMFILE: 'this machine allows no more open files; allow more with ulimit -n, or set a lower --concurrency',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  UND_ERR_SOCKET: 'the connection was closed before the answer was complete',
  UND_ERR_CONNECT_TIMEOUT: 'the connection was not made in time',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer was cut off',
}

export const speaksHttps = 'the port speaks https, not http: write https://'
const speaksHttp = 'the port speaks http, not https: write http://, or the port that speaks https'
const unknownIssuer =
  'its certificate comes from an issuer that this machine does not know: name a file with that certificate in NODE_EXTRA_CA_CERTS'

const wrongSettings: Readonly<Record<string, string>> = {
  ERR_SSL_WRONG_VERSION_NUMBER: speaksHttp,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: speaksHttp,
  ERR_SSL_HTTP_REQUEST: speaksHttp,
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name',
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownIssuer,
  SELF_SIGNED_CERT_IN_CHAIN: unknownIssuer,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownIssuer,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownIssuer,
}

/** Why an exchange failed. A proxy that was used is named. */
export function explainFailure(error: Error, proxy: HttpProxy | null): FailureReason {
  const { code, data } = error as { readonly code?: unknown; readonly data?: unknown }
  const name = typeof code === 'string' ? code : ''
  const proxyStatus = proxy === null ? undefined : error.message.match(/^Proxy response \((\d+)\)/)?.[1]
  if (proxy !== null && proxyStatus !== undefined) return proxyRefusal(proxy, Number(proxyStatus))
  if (isTlsAlert(data)) return { reason: speaksHttps, wrongSetting: true }
  const wrong = wrongSettings[name]
  const message = wrong ?? passing[name] ?? otherFailure(name, error.message)
  return {
    reason: proxy === null ? message : `${message}; asked through the proxy ${proxy.origin}`,
    wrongSetting: wrong !== undefined,
  }
}

/** Of the HTTP library only the codes are shown, which can be looked up; messages of the system are kept. */
function otherFailure(code: string, message: string): string {
  if (code.startsWith('HPE_')) return 'what answered does not speak HTTP'
  return code.startsWith('UND_ERR_') ? `the connection failed (${code})` : message
}

function proxyRefusal({ origin }: HttpProxy, status: number): FailureReason {
  const message = `the proxy ${origin} refused the connection with HTTP ${status}`
  if (status === 407)
    return {
      reason: `${message}: put user name and password into the address of the proxy`,
      wrongSetting: true,
    }
  if (status >= 500) return { reason: message, wrongSetting: false }
  return { reason: `${message}: allow the host there, or add it to NO_PROXY`, wrongSetting: true }
}

/** An alert of TLS in place of an answer: the request was not encrypted, and should have been. */
function isTlsAlert(data: unknown): boolean {
  const bytes = typeof data === 'string' ? Buffer.from(data, 'latin1') : data
  return Buffer.isBuffer(bytes) && bytes[0] === 0x15 && bytes[1] === 0x03
}

/** The variables with the proxies of the system; null for a variable that is not set. */
export interface ProxyVariables {
  readonly httpProxy: string | null
  readonly httpsProxy: string | null
  readonly noProxy: string | null
}

/** A proxy that requests go through, by CONNECT. */
export interface HttpProxy {
  /** Scheme, host and port, without credentials. */
  readonly origin: string
  /** The `Proxy-Authorization` header; null without a user name. */
  readonly authorization: string | null
}

/** `unreadable`: the variable is not the address of a proxy. */
type ProxyChoice = HttpProxy | 'direct' | 'unreadable'

/** The proxy for requests to this address. This machine is never asked through a proxy. */
export function proxyFor(url: string, { httpProxy, httpsProxy, noProxy }: ProxyVariables): ProxyChoice {
  const { protocol, hostname, port } = new URL(url)
  const named = protocol === 'https:' ? (httpsProxy ?? httpProxy) : httpProxy
  if (named === null || isLoopback(hostname)) return 'direct'
  const asked = { host: hostname.toLowerCase(), port: port === '' ? defaultPorts[protocol] : port }
  return (noProxy ?? '').split(/[,\s]+/).some((entry) => isExempt(entry, asked)) ? 'direct' : readProxy(named)
}

const defaultPorts: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' }

/** Whether an entry of NO_PROXY covers a host. It names a host and all below it, for one port if it has one; `*` is every host. */
function isExempt(
  entry: string,
  { host, port }: { readonly host: string; readonly port?: string | undefined },
) {
  if (entry === '*') return true
  const [, name = '', only] = entry.toLowerCase().match(/^(?:\*?\.)?(.+?)(?::(\d+))?$/) ?? []
  if (name === '' || (only !== undefined && only !== port)) return false
  return host === name || host.endsWith(`.${name}`)
}

function readProxy(named: string): HttpProxy | 'unreadable' {
  // Many people write the host and the port only.
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(named) ? named : `http://${named}`
  const url = parseUrl(text)
  if (url === null) return 'unreadable'
  const { protocol, host, username, password } = url
  if ((protocol !== 'http:' && protocol !== 'https:') || host === '') return 'unreadable'
  if (username === '' && password === '') return { origin: `${protocol}//${host}`, authorization: null }
  const credentials = Buffer.from(`${percentDecoded(username)}:${percentDecoded(password)}`).toString(
    'base64',
  )
  return { origin: `${protocol}//${host}`, authorization: `Basic ${credentials}` }
}

type PostResult =
  /** `start`: the start of the answer's body, in which known reasons are looked for. */
  | { readonly status: number; readonly retryAfterMs: number | null; readonly start: string }
  | { readonly error: string }

/**
 * Sends a message to an address of the user's once: follows no redirect and repeats nothing. It never rejects. The address is a
 * secret: no result and no error repeats any of it.
 */
export type Post = (request: {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly timeoutMs: number
}) => Promise<PostResult>

/** Why nothing is sent to an address, as a predicate of the variable that holds it; null where it may be used. */
export function addressMistake(url: string, { allowHttp }: { readonly allowHttp: boolean }): string | null {
  const parsed = parseUrl(url)
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return 'is not a web address: write https://…'
  if (parsed.protocol === 'http:' && !allowHttp && !isLoopback(parsed.hostname))
    return 'would be asked in the clear: write https://, or add --allow-http if that is meant'
  return null
}

/** How much of an answer is read. */
const readCharacters = 4_000

export function poster({
  proxies,
  userAgent,
  allowHttp,
}: {
  readonly proxies: ProxyVariables
  readonly userAgent: string
  readonly allowHttp: boolean
}): Post {
  return async (request) => {
    const mistake = addressMistake(request.url, { allowHttp })
    if (mistake !== null) return { error: `the address ${mistake}` }
    const proxy = proxyFor(request.url, proxies)
    if (proxy === 'unreadable') return { error: 'the proxy in HTTPS_PROXY (or HTTP_PROXY) is not an address' }
    const through = proxy === 'direct' ? null : proxy
    const { origin } = new URL(request.url)
    const pool = await openDispatcher({ origin, connections: 1, proxy: through })
    try {
      return await sendOnce(pool, request, userAgent)
    } catch (error) {
      return { error: explainFailure(error as Error, through).reason }
    } finally {
      await pool.destroy()
    }
  }
}

function sendOnce(
  pool: Awaited<ReturnType<typeof openDispatcher>>,
  { url, headers, body, timeoutMs }: Parameters<Post>[0],
  userAgent: string,
): Promise<PostResult> {
  const { origin, pathname, search, username, password } = new URL(url)
  const login = Buffer.from(`${percentDecoded(username)}:${percentDecoded(password)}`).toString('base64')
  const authorization = username === '' ? {} : { authorization: `Basic ${login}` }
  return new Promise((resolve, reject) => {
    let status = 0
    let retryAfterMs: number | null = null
    let start = ''
    const end = (error: Error): void => {
      clearTimeout(late)
      // A status says enough, also where the rest of its answer is missing.
      if (status === 0) reject(error)
      else resolve({ status, retryAfterMs, start })
    }
    const late = setTimeout(() => end(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs)
    keepParser()
    pool.dispatch(
      {
        method: 'POST',
        origin,
        path: `${pathname}${search}`,
        body,
        headers: { 'user-agent': userAgent, ...authorization, ...headers },
      },
      {
        onRequestStart: () => {},
        onResponseStart: (_, statusCode, fields) => {
          status = statusCode
          retryAfterMs = retryAfter(fields['retry-after'])
        },
        onResponseData: (controller, chunk) => {
          start += chunk.toString('utf8')
          if (start.length > readCharacters) controller.abort(new Error('read enough'))
        },
        onResponseEnd: () => end(new Error('no status')),
        onResponseError: (_, error) => end(error),
      },
    )
  })
}

function retryAfter(field: string | string[] | undefined): number | null {
  const seconds = typeof field === 'string' && /^\d{1,6}(\.\d+)?$/.test(field.trim()) ? Number(field) : null
  return seconds === null ? null : Math.ceil(seconds * 1000)
}
