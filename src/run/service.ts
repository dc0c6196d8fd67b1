import { classify, type Meaning, serviceWords } from '../api/classify.ts'
import type { Exchange, ExchangeFailure, Wire } from '../api/exchange.ts'
import { speaksHttps, wantsHttps } from '../api/failures.ts'
import type { Gate, Token } from '../api/gate.ts'
import { billing } from '../api/outcome.ts'
import { explainRedirect } from '../api/redirect.ts'
import { type ApiRequest, lookupRequest } from '../api/request.ts'
import { retryAfterMs } from '../api/retry.ts'
import { billableOperation } from '../catalog/index.ts'
import type { FreeOperation } from '../catalog/operation.ts'
import { jobsPoll } from '../catalog/operations/jobs-poll.ts'
import { usage } from '../catalog/operations/usage.ts'
import type { Outcome, Settlement } from '../model/call.ts'
import type { Clock } from '../model/clock.ts'
import type { CallStore, NewCall } from '../store/calls.ts'
import { sleep } from './stop.ts'

/** A call that is over: how it ended, and the body that came. It is in the ledger, but not yet settled there. */
export interface SentCall {
  readonly callId: number
  readonly settlement: Settlement
  readonly body: Buffer
  readonly headers: Headers
  /** Milliseconds for which the service asked to be left alone, as far as they are waited for. */
  readonly namedMs?: number | null
  /** Only another setting mends what happened: waiting does not. */
  readonly wrongSetting?: boolean
}

/** A call that is to be sent now, with this service's key. */
type PlannedCall = Omit<NewCall, 'sentAt' | 'keyHash'>

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** The service as the rest of the program sees it: every call passes the gate and stands in the ledger. */
export interface Service {
  /**
   * Sends once. Written into the ledger before; to be settled by the caller. Rejected only when `signal` is aborted before:
   * what is in the air then is awaited all the same, unless it is free.
   */
  send(request: ApiRequest, call: PlannedCall, signal?: AbortSignal): Promise<SentCall>
  /** A free lookup, settled. */
  lookup(
    operation: FreeOperation,
    params: Readonly<Record<string, string>>,
    options?: LookupOptions,
  ): Promise<SentCall>
  readonly baseUrl: string
  readonly gate: Gate
}

export interface LookupOptions {
  readonly runId?: number | null
  readonly taskId?: number | null
  readonly signal?: AbortSignal | undefined
}

export interface ServiceParts {
  readonly baseUrl: string
  readonly wire: Wire
  readonly gate: Gate
  readonly store: CallStore
  readonly clock: Clock
  /** Names the key without giving it away. */
  readonly keyHash: string
  readonly patience: Patience
}

/** How long delays that the service names are waited for; then it is asked again. */
export interface Patience {
  /** With a refusal for the rate. */
  readonly throttledMs: number
  /** With a 503. */
  readonly unavailableMs: number
}

/** Joins wire, gate and ledger. */
export function openService({ baseUrl, wire, gate, store, clock, keyHash, patience }: ServiceParts): Service {
  /** Engines, and free lookups, that asked to be left alone and were not well since. */
  const leftAlone = new Map<string, { readonly since: number; readonly until: number }>()

  const send: Service['send'] = async (request, call, signal) => {
    const part = partOf(call)
    const alone = (leftAlone.get(part)?.until ?? 0) - clock.monotonic()
    if (alone > 0) await sleep(clock, alone, signal)
    const token = await gate.acquire({
      signal,
      first: call.credits === 0 && call.operation !== jobsPoll.name,
      kind: call.operation,
    })
    const callId = await begin(token, { ...call, keyHash, sentAt: clock.wall() })
    const started = clock.monotonic()
    const given = call.credits === 0 ? { signal } : {}
    const exchange = await wire.exchange(request, token.sent, given)
    const latencyMs = Math.round(clock.monotonic() - started)
    const meaning = meaningOf(exchange)
    const namedMs = meaning === 'server-error' ? leaveAlone(part, exchange) : named(exchange, meaning)
    token.over(meaning === 'throttled' || meaning === 'unauthorised', namedMs)
    if (meaning === 'answered') leftAlone.delete(part)
    const outcome = meaning === 'unauthorised' ? await askWhy(call, signal) : meaning
    const settlement = {
      ...settle(exchange, outcome, request),
      billed: call.credits === 0 ? 0 : billing[outcome],
      finishedAt: clock.wall(),
      latencyMs,
    } as const
    const wrongSetting = isWrongSetting(exchange, outcome, request)
    if ('failure' in exchange) return { callId, settlement, body: noBody, headers: {}, wrongSetting }
    return { callId, settlement, body: exchange.body, headers: exchange.headers, namedMs, wrongSetting }
  }

  /** The delay that a refusal names, cut to what is waited for. */
  const named = (exchange: Exchange, meaning: Meaning | ExchangeFailure): number | null => {
    if ('failure' in exchange || (meaning !== 'throttled' && meaning !== 'unauthorised')) return null
    const ms = retryAfterMs(exchange.headers, clock.wall())
    return ms === null ? null : Math.min(ms, patience.throttledMs)
  }

  /** The delay that a 503 names, cut so that an engine which names one after the other is not waited for any longer. */
  const leaveAlone = (part: string, exchange: Exchange): number | null => {
    if ('failure' in exchange || exchange.status !== 503) return null
    const ms = retryAfterMs(exchange.headers, clock.wall())
    const now = clock.monotonic()
    const since = leftAlone.get(part)?.since ?? now
    const left = since + patience.unavailableMs - now
    if (ms === null || left <= 0) return null
    const waited = Math.min(ms, left)
    leftAlone.set(part, { since, until: now + waited })
    return waited
  }

  const begin = async (token: Token, call: NewCall): Promise<number> => {
    try {
      return await store.beginCall(call)
    } catch (error) {
      token.released()
      throw error
    }
  }

  /** Where a 401 does not say whether the key or the rate is meant, the free usage record does: a good key gets it. */
  const askWhy = async (call: PlannedCall, signal?: AbortSignal): Promise<Outcome> => {
    if (call.operation === usage.name) return 'refused'
    try {
      const { settlement } = await lookup(usage, {}, { runId: call.runId, signal })
      return settlement.outcome === 'refused' ? 'refused' : 'throttled'
    } catch (error) {
      // The run stops; whichever of the two it was, the call was free.
      if (signal?.aborted) return 'throttled'
      throw error
    }
  }

  const lookup: Service['lookup'] = async (
    operation,
    params,
    { runId = null, taskId = null, signal } = {},
  ) => {
    const request = lookupRequest(baseUrl, operation, params)
    const call = { runId, taskId, operation: operation.name, credits: 0 }
    const sent = await send(request, call, signal)
    await store.settleCall(sent.callId, sent.settlement, null)
    return sent
  }

  return { send, lookup, baseUrl, gate }
}

/** One engine may be down while others are not. */
function partOf({ operation, credits }: PlannedCall): string {
  return credits === 0 ? operation : billableOperation(operation).engine
}

function meaningOf(exchange: Exchange): Meaning | ExchangeFailure {
  return 'failure' in exchange ? exchange.failure : classify(exchange.status, exchange.body)
}

const noBody = Buffer.alloc(0)

function isWrongSetting(exchange: Exchange, outcome: Outcome, request: ApiRequest): boolean {
  if ('failure' in exchange) return exchange.wrongSetting === true
  const { status, headers } = exchange
  if (outcome === 'rejected') return wantsHttps(serviceWords(exchange.body) ?? '')
  return outcome === 'redirected' && explainRedirect(status, headers.location, request).wrongSetting
}

function settle(exchange: Exchange, outcome: Outcome, request: ApiRequest) {
  if ('failure' in exchange) return { outcome, httpStatus: exchange.status, error: exchange.error }
  const { status, body, lostBody, headers } = exchange
  if (outcome === 'redirected')
    return { outcome, httpStatus: status, error: explainRedirect(status, headers.location, request).words }
  if (outcome === 'answered' || outcome === 'accepted') return { outcome, httpStatus: status, error: null }
  const said = serviceWords(body)
  if (said !== null && wantsHttps(said))
    return { outcome, httpStatus: status, error: `${speaksHttps} (${said})` }
  const bare = lostBody === undefined ? `HTTP ${status}` : `HTTP ${status} without its body: ${lostBody}`
  return { outcome, httpStatus: status, error: said ?? bare }
}
