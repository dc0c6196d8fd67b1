import type { IncomingMessage } from 'node:http'

/** Bodies above this many bytes are refused with 413. */
const largestBody = 1_000_000
const largestDrained = 16_000_000

/** The target of a request: the path, and the params of the query string; a name that is given twice has a list. */
export interface RequestTarget {
  readonly path: string
  readonly params: Readonly<Record<string, string | readonly string[]>>
  /** The key in the query string; it is not among the params. */
  readonly key: string | null
}

export function readTarget(url: string): RequestTarget {
  const mark = url.indexOf('?')
  if (mark < 0) return { path: url, params: {}, key: null }
  const params: Record<string, string | string[]> = Object.create(null)
  let key: string | null = null
  for (const [name, value] of new URLSearchParams(url.slice(mark + 1))) {
    if (name === 'x_api_key') key = value
    else if (name in params) params[name] = [params[name] ?? '', value].flat()
    else params[name] = value
  }
  return { path: url.slice(0, mark), params, key }
}

/** Whether the request has a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Reads the whole body; null if it is too large, undefined if the client left before its end. */
export async function readBody(request: IncomingMessage): Promise<Buffer | null | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length
      // Reading goes on for some time, so that the client can finish sending and see the answer.
      if (size > largestDrained) return null
      if (size <= largestBody) chunks.push(chunk)
    }
  } catch {
    return undefined
  }
  return size > largestBody ? null : Buffer.concat(chunks)
}

/** The body as a JSON object; undefined if it is anything else. */
export function jsonObject(body: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

/** Status and JSON of an answer. */
export interface Reply {
  readonly status: number
  readonly body: unknown
}

const messages: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Invalid API Key',
  402: 'Payment required',
  403: 'Forbidden',
  404: 'Not Found',
  413: 'Payload Too Large',
  500: 'Internal Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
}

/** The message of the service for every limit. */
export const rateMessage = 'Rate limit exceeded for the API key: quota monthly'

/** The documented error body of a status. */
export function errorReply(status: number, message = messages[status] ?? 'Error'): Reply {
  return { status, body: { error: message } }
}

/** 400 with the reason after the documented message. */
export function badRequest(reason: string): Reply {
  return errorReply(400, `Bad Request: ${reason}`)
}
