import { setFlagsFromString } from 'node:v8'
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import Pool from 'undici/lib/dispatcher/pool.js'
import { explainFailure } from './failures.ts'
import type { HttpProxy } from './proxy.ts'
import type { ApiRequest } from './request.ts'

/** One HTTP exchange: what came back, or how it failed. Never rejected. */
export type Exchange =
  | {
      readonly status: number
      readonly headers: Headers
      readonly body: Buffer
      /** Why the body of an error is missing: its status says enough. Other bodies are whole. */
      readonly lostBody?: string
    }
  | {
      readonly failure: ExchangeFailure
      readonly status: number | null
      readonly error: string
      /** Nothing but another setting mends it: waiting does not. */
      readonly wrongSetting?: boolean
    }

/** `unreachable`: no byte left. `ambiguous`: it may have arrived. `unreadable`: it came and cannot be read: more than is read, or damaged. */
export type ExchangeFailure = 'unreachable' | 'ambiguous' | 'unreadable'

type Headers = Readonly<Record<string, string | string[] | undefined>>

export interface Wire {
  /** Sends once, follows nothing, repeats nothing. `onSent` is called once it has been handed to the connection. */
  exchange(request: ApiRequest, onSent: () => void, options?: ExchangeOptions): Promise<Exchange>
  /** Ends all connections; what is still in the air ends with them. */
  close(): Promise<void>
}

export interface ExchangeOptions {
  /** Gives the exchange up at once when it is aborted. */
  readonly signal?: AbortSignal | undefined
}

export interface WireOptions {
  readonly origin: string
  readonly apiKey: string
  /** Connections at most; as many as there can be requests at once, for one that waits inside the pool has no timeout. */
  readonly connections: number
  /** For a whole exchange. A closed connection is still billed, so this is long. */
  readonly timeoutMs: number
  readonly userAgent: string
  /** What requests go through, where they do. */
  readonly proxy?: HttpProxy | null
  /** Other limits than those in use, to measure them against each other. */
  readonly keepAlive?: KeepAlive
}

/**
 * How long a connection may be idle and still be used again. One that the service closes while a request is on its way
 * is a call that nobody knows the end of, so it is given up before the service does it.
 */
export interface KeepAlive {
  /** Where the service does not say how long it waits. */
  readonly withoutHintMs: number
  /** Where it does (`Keep-Alive: timeout=5`): so much less than that. At nothing or less it is not used again at all. */
  readonly beforeHintMs: number
  /** However long the service would wait. */
  readonly longestMs: number
}

/** The figures for it stand in docs/connections.md. */
export const keepAliveInUse: KeepAlive = { withoutHintMs: 300, beforeHintMs: 2_000, longestMs: 25_000 }

/** Answers larger than this are not read. */
const largestBody = 20_000_000
const connectTimeoutMs = 10_000
/** The body of an error is waited for no longer than this. */
const errorBodyMs = 5_000

/**
 * V8 in Node 20 compiles undici's parser anew, for speed, after the first answer, and a process that is done by then
 * waits a fifth of a second for it: so it is not to begin before some dozens.
 */
function compileLater(): void {
  if (Number.parseInt(process.versions.v8, 10) < 12) setFlagsFromString('--wasm-tiering-budget=100000000')
}

/** Connections to the service. The key goes into the `x-api-key` header and nowhere else. */
export function openWire(options: WireOptions): Wire {
  const {
    origin,
    apiKey,
    connections,
    timeoutMs,
    userAgent,
    proxy = null,
    keepAlive = keepAliveInUse,
  } = options
  compileLater()
  const limits = {
    connections,
    pipelining: 1,
    allowH2: false,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    keepAliveTimeout: keepAlive.withoutHintMs,
    keepAliveTimeoutThreshold: keepAlive.beforeHintMs,
    keepAliveMaxTimeout: keepAlive.longestMs,
  }
  const opened =
    proxy === null
      ? new Pool(origin, { ...limits, connect: { timeout: connectTimeoutMs } })
      : openProxied(proxy, limits)
  const headers = { 'x-api-key': apiKey, accept: 'application/json', 'user-agent': userAgent }
  return {
    exchange: async (request, onSent, { signal } = {}) =>
      withoutKey(
        await exchange(opened instanceof Promise ? await opened : opened, {
          request,
          headers,
          timeoutMs,
          onSent,
          signal,
          proxy,
        }),
        apiKey,
      ),
    close: async () => (await opened).destroy(),
  }
}

/** Where requests are handed over. */
type Dispatcher = Pick<Pool, 'dispatch' | 'destroy'>

/** Loaded only where there is a proxy, for it takes as long as the rest of a short command. */
async function openProxied(
  { origin, authorization }: HttpProxy,
  limits: ConstructorParameters<typeof Pool>[1],
): Promise<Dispatcher> {
  const { ProxyAgent } = await import('undici')
  return new ProxyAgent({
    ...limits,
    uri: origin,
    ...(authorization === null ? {} : { token: authorization }),
    proxyTls: { timeout: connectTimeoutMs },
    requestTls: { timeout: connectTimeoutMs },
  })
}

const keyMark = '[the API key]'

/** A service that echoes the key must not bring it into the ledger, the database or a message. */
function withoutKey(exchange: Exchange, apiKey: string): Exchange {
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

interface Sending {
  readonly request: ApiRequest
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly onSent: () => void
  readonly signal: AbortSignal | undefined
  readonly proxy: HttpProxy | null
}

function exchange(
  pool: Dispatcher,
  { request, headers, timeoutMs, onSent, signal, proxy }: Sending,
): Promise<Exchange> {
  return new Promise((resolve) => {
    let sent = false
    let status: number | null = null
    let received: Headers = {}
    let size = 0
    let tooLarge = false
    const chunks: Buffer[] = []
    let abort: ((reason: Error) => void) | null = null
    let over = false
    const end = (words: string, wordsBefore: string): void => {
      if (abort !== null) abort(new Error(words))
      else finish({ failure: 'unreachable', status: null, error: wordsBefore })
    }
    const endWithin = (ms: number): NodeJS.Timeout =>
      setTimeout(end, ms, `no whole answer within ${ms / 1000} s`, 'no connection became free in time')
    const deadlines = [endWithin(timeoutMs)]
    const giveUp = (): void => end(givenUp, givenUp)
    const finish = (exchange: Exchange): void => {
      over = true
      for (const deadline of deadlines) clearTimeout(deadline)
      signal?.removeEventListener('abort', giveUp)
      resolve(exchange)
    }
    if (signal?.aborted) return giveUp()
    signal?.addEventListener('abort', giveUp, { once: true })
    const { method, origin, path, body } = request
    const sending = { ...headers, ...(body === null ? {} : { 'content-type': 'application/json' }) }
    pool.dispatch(
      { method, origin, path, body, headers: sending },
      {
        onRequestStart: (controller) => {
          // Nobody waits for it any more, and nothing of it has left.
          if (over) return controller.abort(new Error('too late'))
          abort = (reason) => controller.abort(reason)
          if (sent) return
          sent = true
          // It is written in this very turn; whatever still delays that has then passed.
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
          const { words, wrongSetting } = tooLarge ? tooLong : explainFailure(error, proxy)
          if (status !== null && isError(status))
            return finish({ status, headers: received, body: noBody, lostBody: words })
          const failure = tooLarge ? 'unreadable' : sent ? 'ambiguous' : 'unreachable'
          finish({ failure, status, error: words, ...(wrongSetting ? { wrongSetting } : {}) })
        },
      },
    )
  })
}

/** Redirects counted: whatever is no success. */
function isError(status: number): boolean {
  return status >= 300
}

const noBody = Buffer.alloc(0)

function whole(status: number, headers: Headers, chunks: readonly Buffer[]): Exchange {
  const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
  const decode = decoders[String(headers['content-encoding'] ?? 'identity').toLowerCase()]
  if (decode === undefined) return { status, headers, body }
  try {
    return { status, headers, body: decode(body, { maxOutputLength: largestBody }) }
  } catch {
    // Paid for all the same, and kept as it came.
    return { status, headers, body }
  }
}

/** Not asked for, but some intermediaries compress all the same. */
const decoders: Readonly<Record<string, (body: Buffer, limit: { maxOutputLength: number }) => Buffer>> = {
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
}

const givenUp = 'its answer was not waited for any longer'

const tooLong = { words: `the answer is larger than ${largestBody / 1_000_000} MB`, wrongSetting: false }
