import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Operation } from '../catalog/operation.ts'
import { hold, release } from './account.ts'
import { billableReply } from './billable.ts'
import type { Box } from './box.ts'
import { deliver, send } from './deliver.ts'
import { freeReply } from './free.ts'
import { hasBody, jsonObject, readBody, readTarget, type Target } from './incoming.ts'
import type { OpenEntry } from './ledger.ts'
import { badRequest, errorReply, type Reply, rateMessage } from './reply.ts'
import type { Route } from './routes.ts'
import { type Asked, validate } from './validate.ts'

interface Exchange {
  readonly box: Box
  readonly response: ServerResponse
  readonly entry: OpenEntry
  readonly target: Target
  readonly route: Route | undefined
}

/**
 * Takes one request of the service through its checks in their fixed order:
 * key, rate and quota, path, body, params, balance. Only then comes an answer, and its charge.
 */
export async function serve(box: Box, request: IncomingMessage, response: ServerResponse): Promise<void> {
  box.jobs.settle()
  const target = readTarget(request.url ?? '/')
  const method = request.method ?? 'GET'
  const route = box.router(method, target.path)
  const entry = open(box, method, target, route)
  const refusal = admit(box, entry, request.headers['x-api-key'] ?? target.key, route?.operation)
  const body = hasBody(request) ? await readBody(request) : Buffer.alloc(0)
  if (body === undefined) return
  const exchange = { box, response, entry, target, route }
  const reply = refusal ?? proceed(exchange, body, request.headers['content-type'] ?? '')
  if (reply !== null) send(response, entry, reply)
}

function open(box: Box, method: string, target: Target, route: Route | undefined): OpenEntry {
  const entry: OpenEntry = {
    at: box.clock(),
    method,
    path: target.path,
    operation: route?.operation.name ?? null,
    style: route?.style ?? null,
    params: target.params,
    page: target.params.page ?? null,
    status: null,
    charged: 0,
    accepted: false,
    fault: null,
  }
  box.books.enter(entry)
  return entry
}

function admit(
  box: Box,
  entry: OpenEntry,
  key: string | readonly string[] | null,
  operation: Operation | undefined,
): Reply | null {
  const { settings } = box.account
  const now = box.worldClock.now()
  const expired = settings.keyExpires !== null && Date.parse(settings.keyExpires) <= now
  if (key !== box.key || !settings.keyActive || expired) return errorReply(401)
  const overQuota = operation?.billable === true && box.quotas.isReached(settings.quotas, now)
  entry.accepted = !overQuota && box.windows.admit(entry.at, settings)
  if (entry.accepted) return null
  box.books.refuse(entry)
  return errorReply(401, rateMessage)
}

/** The error that a check found, or null where the call has begun. */
function proceed(exchange: Exchange, body: Buffer | null, contentType: string): Reply | null {
  const { entry, route, target } = exchange
  if (route === undefined) return errorReply(404)
  if (body === null) return errorReply(413)
  const sent = paramsSent(route, target, body, contentType)
  if (typeof sent === 'string') return badRequest(sent)
  entry.params = sent
  entry.page = sent.page ?? null
  const asked = validate(route.operation, route.style, sent)
  if ('problem' in asked) return badRequest(asked.problem)
  return begin(exchange, route.operation, asked)
}

/** The params, or why there are none. */
function paramsSent(
  { style, inPath, older }: Route,
  { params }: Target,
  body: Buffer,
  contentType: string,
): Readonly<Record<string, unknown>> | string {
  if (style === 'get' && older !== true) return { ...params, ...inPath }
  if (older === true && body.length === 0) return params
  if (style === 'post' && Object.keys(params).length > 0) return 'parameters belong in the body'
  if (!contentType.startsWith('application/json')) return 'the body must be application/json'
  const sent = jsonObject(body)
  return sent === undefined ? 'the body is no JSON object' : { ...params, ...sent }
}

function begin({ box, response, entry }: Exchange, operation: Operation, asked: Asked): Reply | null {
  const { cost } = operation
  if (operation.billable && !hold(box.account, cost)) return errorReply(402)
  const { delayMs, fault } = box.faults.next(operation, asked.query)
  const settle = () =>
    operation.billable ? billableReply(box, entry, operation, asked, fault) : freeReply(box, operation, asked)
  const call = { box, response, entry, settle, release: () => release(box.account, cost) }
  box.later(delayMs + (operation.billable ? box.nextLatency() : 0), () => deliver(call, fault))
  return null
}
