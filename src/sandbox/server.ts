import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { billableOperations, countryCodes } from '../catalog/index.ts'
import type { BillableOperation, FreeOperation, Operation } from '../catalog/operation.ts'
import { UsageError } from '../model/errors.ts'
import {
  type CheckedRequest,
  errorReply,
  type Reply,
  type RequestTarget,
  type Route,
  requests,
} from './http.ts'
import {
  type ControlChange,
  createState,
  type Fault,
  type SandboxOptions,
  type SandboxState,
} from './state.ts'

/** A ledger entry while its request is served. */
type ServedEntry = ReturnType<SandboxState['log']['open']>

/** The running service on this machine. */
export type Sandbox = Awaited<ReturnType<typeof startSandbox>>

/** Starts the service on 127.0.0.1; throws a UsageError if the port is taken. */
export async function startSandbox(options: SandboxOptions = {}) {
  const state = createState(options)
  const server = createServer((request, response) => {
    const served = request.url?.startsWith(controlPrefix) ? serveControl : serve
    // An unexpected error ends the connection, not the process.
    served(state, request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  if (options.keepAliveTimeoutMs !== undefined) server.keepAliveTimeout = options.keepAliveTimeoutMs
  const port = await listen(server, options.port ?? 0)
  const close = () => stop(server, state)
  return {
    /** Base URL, with the base path. */
    url: `http://127.0.0.1:${port}${options.basePath ?? ''}`,
    key: state.key,
    /** Requests and charges. */
    ledger: state.log.ledger,
    /** Changes the sandbox while it runs. */
    control: (change: ControlChange): void => applyChange(state, change),
    /** The current usage record. */
    usage() {
      state.jobs.settle()
      return state.account.usage(state.worldClock.now())
    },
    /** Ends every connection and every delayed answer; may be called again. */
    close,
    [Symbol.asyncDispose]: close,
  }
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      reject(new UsageError(listenMistake(port, error), { cause: error }))
    })
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

function listenMistake(port: number, { code }: NodeJS.ErrnoException): string {
  return code === 'EADDRINUSE'
    ? `Port ${port} is in use, perhaps by another sandbox. Choose a port: rankline sandbox --port ${port + 1}; then set RANKLINE_BASE_URL to the address that it prints`
    : `The sandbox cannot listen on port ${port} (${code}). Choose another with --port`
}

function stop(server: Server, state: SandboxState): Promise<void> {
  state.clearTimers()
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

/**
 * Serves one request. The checks have a fixed order: key, rate and quota, path, body, params, balance. The answer and its
 * charge come after all of them.
 */
async function serve(state: SandboxState, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { dateHeader } = state.settings
  response.sendDate = false
  if (dateHeader !== null)
    response.setHeader('date', dateHeader === 'now' ? new Date(Date.now()).toUTCString() : dateHeader)
  state.jobs.settle()
  const target = requests.readTarget(request.url ?? '/')
  const method = request.method ?? 'GET'
  const route = state.router(method, target.path)
  const entry = state.log.open(state.clock(), method, target, route)
  const refusal = admit(state, entry, request.headers['x-api-key'] ?? target.key, route?.operation)
  const body = hasBody(request) ? await requests.readBody(request) : Buffer.alloc(0)
  if (body === undefined) return
  const call = refusal ?? check(entry, route, target, body, request.headers['content-type'] ?? '')
  if ('status' in call) send(response, entry, call)
  else begin(state, response, entry, call)
}

function admit(
  state: SandboxState,
  entry: ServedEntry,
  key: string | readonly string[] | null,
  operation: Operation | undefined,
): Reply | null {
  const { settings } = state.account
  const now = state.worldClock.now()
  const expired = settings.keyExpires !== null && Date.parse(settings.keyExpires) <= now
  if (key !== state.key || !settings.keyActive || expired) return errorReply(401)
  const overQuota = operation?.billable === true && state.account.isOverQuota(now)
  entry.accepted = !overQuota && state.windows.admit(entry.at, settings)
  if (entry.accepted) return null
  state.log.refuse(entry)
  return errorReply(401, rateMessage)
}

/** The checked request, or the error of a check. */
function check(
  entry: ServedEntry,
  route: Route | undefined,
  target: RequestTarget,
  body: Buffer | null,
  contentType: string,
): { readonly operation: Operation; readonly asked: CheckedRequest } | Reply {
  if (route === undefined) return errorReply(404)
  if (body === null) return errorReply(413)
  const sent = paramsSent(route, target, body, contentType)
  if (typeof sent === 'string') return badRequest(sent)
  entry.params = sent
  entry.page = sent.page ?? null
  const asked = requests.validate(route.operation, route.style, sent)
  return 'problem' in asked ? badRequest(asked.problem) : { operation: route.operation, asked }
}

/** The params, or the problem with them. */
function paramsSent(
  { style, inPath, older }: Route,
  { params }: RequestTarget,
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

function begin(
  state: SandboxState,
  response: ServerResponse,
  entry: ServedEntry,
  { operation, asked }: Exclude<ReturnType<typeof check>, Reply>,
): void {
  const { cost } = operation
  if (operation.billable && !state.account.reserve(cost)) {
    send(response, entry, errorReply(402))
    return
  }
  const { delayMs, fault } = state.faults.next(operation, asked.query)
  const settle = () =>
    operation.billable
      ? billableReply(state, entry, operation, asked, fault)
      : freeReply(state, operation, asked)
  const call = { state, response, entry, settle, release: () => state.account.release(cost) }
  state.later(delayMs + (operation.billable ? state.nextLatency() : 0), () => respond(call, fault))
}

/** The answer of a billable call: charged now, or queued as a job that is charged when it completes. */
function billableReply(
  state: SandboxState,
  entry: ServedEntry,
  operation: BillableOperation,
  asked: CheckedRequest,
  fault: Fault | null,
): Reply {
  const { pages, positions, asyncMs } = state.settings
  const answered = fault !== null && 'answerAs' in fault ? otherQuestion(asked, fault.answerAs) : asked
  const body = state.world(operation, answered, { now: state.worldClock.now(), pages, positions })
  if (!asked.isAsync) {
    state.charge(entry, operation.cost)
    return { status: 200, body }
  }
  const id = state.jobs.accept({
    endsAt: state.clock() + asyncMs,
    end: fault !== null && 'job' in fault ? fault.job : 'complete',
    result: body,
    onEnd: (end) => {
      if (end === 'complete') state.charge(entry, operation.cost)
      else state.account.release(operation.cost)
    },
  })
  return { status: 202, body: { job_id: id, status: 'accepted' } }
}

/** The query that is answered instead. */
function otherQuestion(
  { query, page, params, ...asked }: CheckedRequest,
  { q = query, page: otherPage, ...others }: Readonly<Record<string, string | number>>,
): CheckedRequest {
  return {
    ...asked,
    query: String(q),
    page: otherPage === undefined ? page : Number(otherPage),
    params: { ...params, ...others },
  }
}

/** The answer of a free lookup; 404 for an operation that this table lacks. */
function freeReply(state: SandboxState, operation: FreeOperation, asked: CheckedRequest): Reply {
  return lookups[operation.name]?.(state, asked) ?? errorReply(404)
}

const lookups: Readonly<Record<string, (state: SandboxState, asked: CheckedRequest) => Reply>> = {
  usage: (state) => ({ status: 200, body: state.account.usage(state.worldClock.now()) }),
  stats: (state, { params }) =>
    state.account.settings.statsEnabled ? statsReply(params, state.settings.stats) : errorReply(403),
  'finder.countries': (_, { query }) => ({ status: 200, body: findCountries(query) }),
  'finder.languages': (_, { query }) => ({ status: 200, body: findLanguages(query) }),
  'jobs.poll': pollReply,
}

function pollReply(state: SandboxState, { params }: CheckedRequest): Reply {
  const job = state.jobs.poll(String(params.job_id))
  if (job === undefined) return errorReply(404)
  return { status: job.status === 'failed' ? state.failedJobStatus : 200, body: job }
}

const engines = new Set<string>(billableOperations.map(({ engine }) => engine))
const paths = new Set(billableOperations.map(({ path }) => path))

/** The answer of `/v1/stats`: the snapshot, or the documented error. */
function statsReply(
  asked: Readonly<Record<string, unknown>>,
  stats: SandboxState['settings']['stats'],
): Reply {
  const path = typeof asked.path === 'string' ? asked.path : null
  const inPath = path?.match(/^\/v1\/([a-z0-9_-]+)\/[a-z0-9_/-]+$/)?.[1] ?? null
  const engine = typeof asked.engine === 'string' ? asked.engine : inPath
  if (path !== null && inPath === null) return badRequest('path must look like /v1/<engine>/<operation>')
  if (engine === null) return badRequest('engine or path is required')
  if (!engines.has(engine)) return errorReply(404)
  if (inPath !== null && inPath !== engine) return badRequest('path does not belong to the engine')
  if (path !== null && !paths.has(path)) return badRequest('unknown path')
  return { status: 200, body: snapshot(engine, path, stats[engine] ?? {}) }
}

function snapshot(
  engine: string,
  path: string | null,
  stats: SandboxState['settings']['stats'][string],
): object {
  const { successRate = 99.2, avgResponseTimeMs = 1150 } = stats
  return {
    engine,
    path,
    health: healthOf(successRate),
    success_rate: successRate,
    avg_response_time_ms: avgResponseTimeMs,
    window: '1h',
  }
}

/** Language codes, by the number of people who use them, largest first. */
const languageCodes = `
  en zh hi es fr ar bn pt ru ur id de ja mr te tr ta vi ko it ha th gu pl fa sw jv kn ml pa my uk uz su am ro
  nl or ps sd ne si az km kk el hu cs sv be bg he ca da fi sk no hr sr lt sl lv et sq hy ka mk bs is mn lo af
  zu xh ms ga cy eu gl eo
`
  .trim()
  .split(/\s+/)

const findCountries = finder('region', countryCodes, (code, name) => ({
  country_code: code.toLowerCase(),
  country_name: name,
}))

const findLanguages = finder('language', languageCodes, (code, name) => ({
  language_code: code,
  language_name: name,
}))

/** Finds the entries whose English name contains a text, in upper or lower case, in the order of the codes. */
function finder(
  type: 'region' | 'language',
  codes: readonly string[],
  entryOf: (code: string, name: string) => object,
) {
  const names = new Intl.DisplayNames('en', { type })
  const all = codes.map((code) => ({ code, name: names.of(code) ?? code }))
  return (text: string): readonly object[] =>
    all
      .filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()))
      .map(({ code, name }) => entryOf(code, name))
}

/** The health of an engine by its success rate (percent) of the last hour. */
function healthOf(successRate: number): 'operational' | 'degraded' | 'down' {
  if (successRate >= 90) return 'operational'
  return successRate >= 50 ? 'degraded' : 'down'
}

/** A call that passed every check and has no answer yet. */
interface Call {
  readonly state: SandboxState
  readonly response: ServerResponse
  readonly entry: ServedEntry
  /** Charges the call, once, and gives its answer. */
  readonly settle: () => Reply
  readonly release: () => void
}

const json = 'application/json; charset=utf-8'

function send(response: ServerResponse, entry: ServedEntry | null, { status, body }: Reply): void {
  sendText(response, entry, status, JSON.stringify(body), { 'content-type': json })
}

/** Answers a call, with its fault if it has one. */
function respond(call: Call, fault: Fault | null): void {
  const { response, entry } = call
  entry.fault = fault === null ? null : kindOf(fault)
  if (fault === null || 'latency' in fault || 'job' in fault || 'answerAs' in fault)
    send(response, entry, call.settle())
  else if ('status' in fault) fail(call, fault)
  else if ('refuse' in fault) refuse(call, fault.refuse)
  else if ('redirect' in fault) redirect(call, fault.redirect)
  else if ('hangUp' in fault || 'stall' in fault) hang(call, fault)
  else if ('garble' in fault) sendGarbled(call)
  else if ('cut' in fault) sendHalf(call)
  else if ('oversize' in fault) sendOversized(call, fault.oversize)
  else send(response, entry, { ...call.settle(), body: fault.body })
}

// A fault with a status may have a body as well; the first name in this order is its kind.
const kinds = 'status refuse redirect hangUp stall garble cut oversize job latency answerAs body'.split(' ')

/** The name of a kind of fault; null for anything else. */
function kindOf(fault: object): string | null {
  return kinds.find((kind) => kind in fault) ?? null
}

function fail(
  { state, response, entry, settle, release }: Call,
  fault: Extract<Fault, { status: number }>,
): void {
  if (fault.status === 404 && state.account.settings.chargeFor404) settle()
  else release()
  const { status, headers } = fault
  const html = fault.html ? `<html><body><h1>${status}</h1></body></html>` : undefined
  const text = fault.empty ? '' : (fault.body ?? html ?? JSON.stringify(errorReply(status).body))
  sendText(response, entry, status, text, { 'content-type': fault.html ? 'text/html' : json, ...headers })
}

function refuse({ state, response, entry, release }: Call, why: 'rate' | 'key'): void {
  release()
  if (why === 'rate') {
    state.windows.withdraw(entry.at)
    state.log.refuse(entry)
  }
  send(response, entry, errorReply(401, why === 'rate' ? rateMessage : undefined))
}

function redirect({ response, entry, release }: Call, location: string): void {
  release()
  sendText(response, entry, 302, '', { location })
}

function hang({ response, settle, release }: Call, fault: { hangUp: string } | { stall: string }): void {
  const when = 'hangUp' in fault ? fault.hangUp : fault.stall
  if (when === 'after') settle()
  else release()
  if ('hangUp' in fault) response.socket?.destroy()
}

function sendGarbled({ response, entry, settle }: Call): void {
  const { status, body } = settle()
  const text = JSON.stringify(body)
  sendText(response, entry, status, `${text.slice(0, text.length / 2)}<!-- garbled`, { 'content-type': json })
}

function sendHalf({ response, entry, settle }: Call): void {
  const { status, body } = settle()
  const bytes = Buffer.from(JSON.stringify(body))
  entry.status = status
  response.writeHead(status, { 'content-type': json, 'content-length': bytes.length })
  response.write(bytes.subarray(0, bytes.length / 2), () => response.socket?.destroy())
}

function sendOversized({ response, entry, settle }: Call, size: number): void {
  const { status } = settle()
  entry.status = status
  response.writeHead(status, { 'content-type': json })
  pipeline(Readable.from(filler(size)), response).catch(() => response.destroy())
}

function* filler(size: number): Generator<Buffer> {
  const [head, tail] = [Buffer.from('{"padding":"'), Buffer.from('"}')]
  yield head
  const chunk = Buffer.alloc(65_536, 'x')
  for (let rest = size - head.length - tail.length; rest > 0; rest -= chunk.length)
    yield chunk.subarray(0, Math.min(rest, chunk.length))
  yield tail
}

function sendText(
  response: ServerResponse,
  entry: ServedEntry | null,
  status: number,
  text: string,
  headers: Record<string, string>,
): void {
  if (entry !== null) entry.status = status
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) }).end(text)
}

/** Other processes control the sandbox and read its ledger here: without a key, a charge or a ledger entry. */
const controlPrefix = '/_sandbox/'

/** Answers a request below the control prefix. */
async function serveControl(
  state: SandboxState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await requests.readBody(request)
  if (body === undefined) return
  const { path, params } = requests.readTarget(request.url ?? '')
  const route = `${request.method} ${path.slice(controlPrefix.length)}`
  if (route === 'POST control')
    return send(response, null, body === null ? errorReply(413) : changed(state, body))
  if (route === 'GET ledger')
    return send(response, null, { status: 200, body: ledgerOf(state, 'summary' in params) })
  send(response, null, errorReply(404))
}

function changed(state: SandboxState, body: Buffer): Reply {
  const change = jsonObject(body)
  if (change === undefined) return badRequest('the body is no JSON object')
  try {
    applyChange(state, change)
  } catch (error) {
    if (error instanceof UsageError) return badRequest(error.message)
    throw error
  }
  return { status: 200, body: { now: new Date(state.worldClock.now()).toISOString() } }
}

function ledgerOf(state: SandboxState, summaryOnly: boolean): object {
  const { ledger } = state.log
  const summary = ledger.summary()
  return summaryOnly ? summary : { ...summary, requests: ledger.requests }
}

type ValueCheck = (value: unknown) => boolean

const isNumber: ValueCheck = (value) => typeof value === 'number' && Number.isFinite(value)
const isObject: ValueCheck = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
const isOneOf =
  (...values: readonly unknown[]): ValueCheck =>
  (value) =>
    values.includes(value)

const checks: Readonly<Record<keyof ControlChange, ValueCheck>> = {
  date: (value) => typeof value === 'string' && noonOf(value) !== null,
  now: (value) => value === null || isNumber(value),
  dateHeader: (value) => value === null || typeof value === 'string',
  advanceDays: isNumber,
  rules: areRules,
  addRules: areRules,
  topUp: isObject,
  account: isObject,
  latencyMs: (value) =>
    Array.isArray(value) ? value.length === 2 && value.every(isNumber) : isNumber(value),
  asyncMs: isNumber,
  pages: isOneOf('even', 'short', 'overlap'),
  positions: isOneOf('restart', 'continue'),
  stats: (value) => isObject(value) && Object.values(value as object).every(isObject),
}

const ruleKeys = ['operation', 'query', 'after', 'times', 'probability', 'do']

/** Changes a running sandbox, all or nothing; throws a UsageError that names a wrong field. */
function applyChange(state: SandboxState, change: ControlChange): void {
  for (const [name, value] of Object.entries(change)) {
    const check = checks[name as keyof ControlChange]
    if (check === undefined)
      throw new UsageError(`sandbox: nothing is called '${name}'; use ${Object.keys(checks).join(', ')}`)
    if (!check(value)) throw new UsageError(`sandbox: '${name}' cannot be ${JSON.stringify(value)}`)
  }
  applyTime(state, change)
  if (change.rules !== undefined) state.faults.replace(change.rules)
  if (change.addRules !== undefined) state.faults.add(change.addRules)
  if (change.topUp !== undefined) state.account.topUp(change.topUp, state.worldClock.now())
  if (change.account !== undefined) state.account.change(change.account)
  const { settings } = state
  settings.latencyMs = change.latencyMs ?? settings.latencyMs
  settings.asyncMs = change.asyncMs ?? settings.asyncMs
  settings.pages = change.pages ?? settings.pages
  settings.positions = change.positions ?? settings.positions
  if (change.dateHeader !== undefined) settings.dateHeader = change.dateHeader
  settings.stats = { ...settings.stats, ...change.stats }
}

function applyTime({ worldClock }: SandboxState, { date, now, advanceDays }: ControlChange): void {
  if (date !== undefined) worldClock.stopAt(noonOf(date))
  if (now !== undefined) worldClock.stopAt(now)
  if (advanceDays !== undefined) worldClock.advance(advanceDays)
}

function noonOf(date: string): number | null {
  const noon = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(`${date}T12:00:00Z`) : Number.NaN
  return Number.isNaN(noon) ? null : noon
}

function areRules(value: unknown): boolean {
  return Array.isArray(value) && value.every(isRule)
}

function isRule(value: unknown): boolean {
  if (!isObject(value)) return false
  const rule = value as Record<string, unknown>
  const known = Object.keys(rule).every((name) => ruleKeys.includes(name))
  return known && isObject(rule.do) && kindOf(rule.do as object) !== null
}

/** Whether the request has a body. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** The body as a JSON object; undefined if it is anything else. */
function jsonObject(body: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

/** The message of the service for every limit. */
const rateMessage = 'Rate limit exceeded for the API key: quota monthly'

/** 400 with the reason after the documented message. */
function badRequest(reason: string): Reply {
  return errorReply(400, `Bad Request: ${reason}`)
}
