import { isLoopback, parseUrl, percentDecoded } from '../model/url.ts'
import { explainFailure, keepParser, openDispatcher, type ProxyVariables, proxyFor } from './http.ts'

export type PostResult =
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
      return await exchange(pool, request, userAgent)
    } catch (error) {
      return { error: explainFailure(error as Error, through).reason }
    } finally {
      await pool.destroy()
    }
  }
}

function exchange(
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
