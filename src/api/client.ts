import { billableOperation, billableOperations, jobsPoll, usage } from '../catalog/index.ts'
import type { BillableOperation, FreeOperation, Style } from '../catalog/operation.ts'
import { type NewCall, type Outcome, type Settlement, tooLongStatuses } from '../model/call.ts'
import { tooLong } from '../model/run.ts'
import { count, memoized } from '../model/text.ts'
import { type Clock, sleep } from '../model/time.ts'
import { parseUrl } from '../model/url.ts'
import {
  type ApiRequest,
  type FailureReason,
  type HttpClient,
  type HttpFailure,
  type HttpResponse,
  speaksHttps,
} from './http.ts'
import { billedAfter, classify, isPassing, type ResponseClass, serviceMessage } from './outcomes.ts'
import type { Permit, RateLimiter } from './rate-limiter.ts'
import { retryAfterMs } from './retry.ts'

/** A call that ended, and the body that came. It is in the ledger, but not yet settled there. */
export interface FinishedCall {
  readonly callId: number
  /** By the ledger, epoch ms. */
  readonly sentAt: number
  readonly settlement: Settlement
  readonly body: Buffer
  readonly headers: ResponseHeaders
  /** The delay that the service named, cut to what is waited for. */
  readonly namedMs?: number | null
  /** Only another setting helps: waiting does not. */
  readonly wrongSetting?: boolean
}

/** A call that is to be sent now, with this service's key. */
type PlannedCall = Omit<NewCall, 'sentAt' | 'keyHash'>

type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>

/** Thrown where a call may no longer leave when the rate allows it. */
export class CallHeldBack extends Error {
  override readonly name = 'CallHeldBack'
}

/** How long delays that the service names are waited for; then it is called again. */
export interface ServiceDelays {
  /** With a rate-limit response. */
  readonly throttledMs: number
  /** With a 503, 408 or 425. */
  readonly unavailableMs: number
}

/** The service for the rest of the program: every call passes the rate limiter and is in the ledger. */
export type ApiClient = ReturnType<typeof apiClient>

/** Joins connections, rate limiter and ledger. */
export function apiClient(options: {
  readonly baseUrl: string
  readonly http: Pick<HttpClient, 'exchange'>
  readonly rateLimiter: RateLimiter
  /** Where calls are recorded: before they are sent, and when their outcome is known. */
  readonly store: {
    beginCall(call: NewCall): Promise<number>
    settleCall(callId: number, settlement: Settlement, requeue: null): Promise<void>
  }
  readonly clock: Clock
  /** Names the key without giving it away. */
  readonly keyHash: string
  readonly serviceDelays: ServiceDelays
  /** Asked right before a request leaves, when its call was written: what allowed it may have ended while it waited for its turn. */
  readonly mayStillLeave?: (() => boolean) | undefined
}) {
  const { baseUrl, http, rateLimiter, store, clock, keyHash, serviceDelays, mayStillLeave } = options
  /** Delays that the service named with a passing error, by engine or free lookup. They stay until it answers again. */
  const delays = new Map<string, { readonly since: number; readonly until: number }>()

  /**
   * Sends once. The call is in the ledger before; the caller settles it. Rejected only when `signal` is aborted, or `mayLeave`
   * forbids it, before it is sent: the response to a paid call is awaited in every case, that to a free one is not.
   *
   * @param mayLeave asked when the rate allows the call: what was true before may have changed while it waited
   */
  const send = async (
    request: ApiRequest,
    call: PlannedCall,
    signal?: AbortSignal,
    mayLeave?: () => boolean,
  ): Promise<FinishedCall> => {
    const isFree = call.credits === 0
    const part = isFree ? call.operation : billableOperation(call.operation).engine
    const delayMs = (delays.get(part)?.until ?? 0) - clock.monotonic()
    if (delayMs > 0) await sleep(clock, delayMs, signal)
    const permit = await rateLimiter.acquire({ signal, urgent: isFree && call.operation !== jobsPoll.name })
    if (mayLeave?.() === false) {
      permit.cancel()
      throw new CallHeldBack()
    }
    const sentAt = clock.wall()
    const { runId, taskId, operation, credits } = call
    const begun = store.beginCall({ runId, taskId, operation, credits, keyHash, sentAt })
    const callId = await orCancelled(permit, begun)
    await orCancelled(permit, permit.departure?.())
    const started = clock.monotonic()
    const response =
      mayStillLeave?.() === false
        ? neverSent
        : await http.exchange(request, permit.sent, isFree ? { signal } : {})
    const latencyMs = Math.round(clock.monotonic() - started)
    const meaning = responseClass(response)
    const throttled = meaning === 'throttled' || meaning === 'unauthorised'
    const namedMs = throttled ? throttleDelay(response) : engineDelay(part, response)
    permit.finish(throttled, namedMs)
    if (meaning === 'answered') delays.delete(part)
    const outcome = meaning === 'unauthorised' ? await classify401(call, signal) : meaning
    const settlement = {
      outcome,
      httpStatus: response.status,
      error: errorOf(response, outcome, request, call.operation),
      billed: isFree ? 0 : billedAfter[outcome],
      finishedAt: clock.wall(),
      latencyMs,
    } as const
    const wrongSetting = isWrongSetting(response, outcome, request)
    if ('failure' in response) return { callId, sentAt, settlement, body: noBody, headers: {}, wrongSetting }
    return {
      callId,
      sentAt,
      settlement,
      namedMs,
      wrongSetting,
      body: response.body,
      headers: response.headers,
    }
  }

  /** The delay that a rate-limit response names, cut to what is waited for. */
  const throttleDelay = (response: HttpResponse): number | null => {
    const ms = 'failure' in response ? null : retryAfterMs(response.headers, clock.wall())
    return ms === null ? null : Math.min(ms, serviceDelays.throttledMs)
  }

  /** The delay that a 503, 408 or 425 names. Delays in a row may last `unavailableMs` together. */
  const engineDelay = (part: string, response: HttpResponse): number | null => {
    if ('failure' in response || !isPassing(response.status)) return null
    const ms = retryAfterMs(response.headers, clock.wall())
    const now = clock.monotonic()
    const since = delays.get(part)?.since ?? now
    const left = since + serviceDelays.unavailableMs - now
    if (ms === null || left <= 0) return null
    const delayMs = Math.min(ms, left)
    delays.set(part, { since, until: now + delayMs })
    return delayMs
  }

  /** A 401 may mean the key or the rate. Where its body does not say, the free usage record does: a good key gets it. */
  const classify401 = async (call: PlannedCall, signal?: AbortSignal): Promise<Outcome> => {
    if (call.operation === usage.name) return 'refused'
    try {
      const { settlement } = await lookup(usage, {}, { runId: call.runId, signal })
      return settlement.outcome === 'refused' ? 'refused' : 'throttled'
    } catch (error) {
      // The run stops, and the call was free in both cases.
      if (signal?.aborted) return 'throttled'
      throw error
    }
  }

  /** A free lookup, settled. */
  const lookup = async (
    operation: FreeOperation,
    params: Readonly<Record<string, string>>,
    {
      runId,
      taskId,
      signal,
    }: {
      readonly runId?: number | null
      readonly taskId?: number | null
      readonly signal?: AbortSignal | undefined
    } = {},
  ): Promise<FinishedCall> => {
    const request = lookupRequest(baseUrl, operation, params)
    const call = { runId: runId ?? null, taskId: taskId ?? null, operation: operation.name, credits: 0 }
    const sent = await send(request, call, signal)
    await store.settleCall(sent.callId, sent.settlement, null)
    return sent
  }

  return { send, lookup, baseUrl, rateLimiter }
}

/** Cancels the permit where the work before the request fails. */
async function orCancelled<T>(permit: Permit, work: Promise<T> | T): Promise<T> {
  try {
    return await work
  } catch (error) {
    permit.cancel()
    throw error
  }
}

const neverSent: HttpResponse = {
  failure: 'unreachable',
  status: null,
  error: 'it was not sent: when its turn came, the work on it had been given to another process',
}

function responseClass(response: HttpResponse): ResponseClass | HttpFailure {
  return 'failure' in response ? response.failure : classify(response.status, response.body)
}

const noBody = Buffer.alloc(0)

function isWrongSetting(response: HttpResponse, outcome: Outcome, request: ApiRequest): boolean {
  if ('failure' in response) return response.wrongSetting === true
  const { status, headers } = response
  if (outcome === 'rejected') return wantsHttps(serviceMessage(response.body) ?? '')
  return outcome === 'redirected' && explainRedirect(status, headers.location, request).wrongSetting
}

/** Why a call brought no answer: in the service's words or ours; null where it brought one. */
function errorOf(
  response: HttpResponse,
  outcome: Outcome,
  request: ApiRequest,
  operation: string,
): string | null {
  if ('failure' in response) return response.error
  const { status, body, lostBody, headers } = response
  if (tooLongStatuses.includes(status)) return explainTooLong(status, request, operation)
  if (outcome === 'redirected') return explainRedirect(status, headers.location, request).reason
  if (outcome === 'answered' || outcome === 'accepted') return null
  const said = serviceMessage(body)
  if (said !== null && wantsHttps(said)) return `${speaksHttps} (${said})`
  return said ?? (lostBody === undefined ? `HTTP ${status}` : `HTTP ${status} without its body: ${lostBody}`)
}

/** Whether an error says, as nginx, Apache and Go do, that the request was not encrypted and should have been. */
export function wantsHttps(message: string): boolean {
  return /plain HTTP (?:request was sent )?to (?:an? )?(?:HTTPS|SSL)|HTTP request to an HTTPS server/i.test(
    message,
  )
}

/**
 * What a redirect says: where to, and which base URL that would be where the same path stands at its end. User names, query
 * strings and fragments of the address are left out.
 */
export function explainRedirect(
  status: number,
  location: string | string[] | undefined,
  { origin, path }: Pick<ApiRequest, 'origin' | 'path'>,
): FailureReason {
  const to = typeof location === 'string' ? parseUrl(location, `${origin}${path}`) : null
  if (to === null || !/^https?:$/.test(to.protocol))
    return { reason: `HTTP ${status}, a redirect that names no web address`, wrongSetting: false }
  const shown = `${to.origin}${to.pathname}`
  const meant = baseUrlIn(to, path)
  const message = `HTTP ${status}, a redirect to ${shown}`
  if (meant !== null && meant === baseUrlIn(new URL(path, origin), path))
    return { reason: `${message}, on the same server. Ask the service why`, wrongSetting: false }
  return meant === null
    ? {
        reason: `${message}, which is another page: a login or a portal of the network, perhaps`,
        wrongSetting: false,
      }
    : { reason: `${message}: if you trust that address, set RANKLINE_BASE_URL=${meant}`, wrongSetting: true }
}

/** The base URL of an address that ends with the path of the operation; null for any other address. */
function baseUrlIn({ origin, pathname }: URL, path: string): string | null {
  const operation = path.replace(/\?.*/s, '').match(/\/(?:api\/)?v1\/.*|\/jobs\/.*/)?.[0]
  const bare = pathname.replace(/\/+$/, '')
  if (operation === undefined || !bare.endsWith(operation)) return null
  return `${origin}${bare.slice(0, -operation.length)}`
}

const quotedCharacters = 40

/** Which field is too long, and what to do about it. */
function explainTooLong(status: number, { method, path, body }: ApiRequest, operation: string): string {
  const fields: Readonly<Record<string, unknown>> =
    body === null ? Object.fromEntries(new URLSearchParams(path.replace(/^[^?]*\??/, ''))) : JSON.parse(body)
  const [name, value] = Object.entries(fields)
    .map(([field, sent]) => [field, String(sent)] as const)
    .reduce((longest, one) => (one[1].length > longest[1].length ? one : longest), ['query', ''])
  const hasBody = billableOperations.some((one) => one.name === operation && one.postPath !== undefined)
  const style = method === 'GET' && status !== 413 && hasBody ? 'set style: post, or ' : ''
  const start = value.slice(0, quotedCharacters).toWellFormed()
  return `${tooLong} (HTTP ${status}): ${style}shorten its ${name} (it begins: ${start}…, ${count(value.length, 'character')})`
}

/**
 * The request for one page of a query, as a job sees it: `page` counts pages from 1 in both styles. The older style counts results, the
 * newer one pages: it is translated here.
 */
export function pageRequest(
  baseUrl: string,
  operation: BillableOperation,
  call: {
    readonly text: string
    readonly params: Readonly<Record<string, string | number>>
    readonly page: number
    readonly style: Style
    readonly async: boolean
  },
): ApiRequest {
  const style = operation.styles.includes(call.style) ? call.style : 'get'
  const fields = { query: call.text, ...call.params, ...pageField(operation, call, style) }
  if (style === 'post' && operation.postPath !== undefined)
    return {
      method: 'POST',
      origin: addressOf(baseUrl).origin,
      path: operation.postPath,
      body: JSON.stringify(fields),
    }
  const asked = call.async && operation.asyncParam !== undefined ? { [operation.asyncParam]: 'true' } : {}
  return get(baseUrl, operation.path, { ...fields, ...asked })
}

/** The request of a free lookup. */
export function lookupRequest(
  baseUrl: string,
  operation: FreeOperation,
  params: Readonly<Record<string, string>>,
): ApiRequest {
  const left = { ...params }
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = encodeURIComponent((left[name] ?? '').toWellFormed())
    delete left[name]
    return value
  })
  return get(baseUrl, path, left)
}

function pageField(
  operation: BillableOperation,
  { page, params }: Parameters<typeof pageRequest>[2],
  style: Style,
) {
  const { paging } = operation
  if (paging === null) return {}
  if (page === 1 && !paging.firstPageSent?.includes(style)) return {}
  if (style === 'get') return { page }
  const size = typeof params.num === 'number' ? params.num : (paging.pageSize ?? 10)
  return { page: (page - 1) * size }
}

function get(baseUrl: string, path: string, fields: Readonly<Record<string, string | number>>): ApiRequest {
  const { origin, path: before } = addressOf(baseUrl)
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) search.append(name, String(value))
  const query = search.size === 0 ? '' : `?${search}`
  return { method: 'GET', origin, path: `${before}${path}${query}`, body: null }
}

/** The parts of a base URL, which is the same for every call. */
const addressOf = memoized((baseUrl) => {
  const { origin, pathname } = new URL(baseUrl)
  return { origin, path: pathname.replace(/\/+$/, '') }
})
