import type { IncomingMessage } from 'node:http'
import { operations } from '../catalog/index.ts'
import { checkParam, type Operation, type Param, type ParamValue, type Style } from '../catalog/operation.ts'
import { percentDecoded } from '../model/url.ts'

/** Bodies above this many bytes are refused with 413. */
const largestBody = 1_000_000
const largestDrained = 16_000_000

export type RequestTarget = ReturnType<typeof readTarget>

/**
 * The target of a request: the path, and the params of the query string; a name that is given twice has a list. The key in the query string is
 * not among them.
 */
function readTarget(url: string) {
  const [path = '', ...search] = url.split('?')
  const params: Record<string, string | string[]> = Object.create(null)
  let key: string | null = null
  for (const [name, value] of new URLSearchParams(search.join('?'))) {
    if (name === 'x_api_key') key = value
    else if (name in params) params[name] = [params[name] ?? '', value].flat()
    else params[name] = value
  }
  return { path, params, key }
}

/** Reads the whole body; null if it is too large, undefined if the client left before its end. */
async function readBody(request: IncomingMessage): Promise<Buffer | null | undefined> {
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

/** The documented error body of a status. */
export function errorReply(status: number, message = messages[status] ?? 'Error'): Reply {
  return { status, body: { error: message } }
}

/** The operation of a request, its style, and the values in its path. */
export interface Route {
  readonly operation: Operation
  readonly style: Style
  readonly inPath: Readonly<Record<string, string>>
  /** The older form of a lookup, which may have its params in a JSON body. */
  readonly older?: true
}

/** Finds the route of a method and a path, or undefined. */
type Router = (method: string, path: string) => Route | undefined

/** The routes of the whole catalog: GET paths below `basePath`, paths under `/api` at the root of the host. */
function createRouter(basePath: string): Router {
  const fixed = new Map<string, Route>()
  const templates: { readonly pattern: RegExp; readonly operation: Operation }[] = []
  for (const operation of operations) {
    const { path } = operation
    if (path.includes('{')) templates.push({ pattern: patternOf(basePath + path), operation })
    else fixed.set(`GET ${basePath}${path}`, { operation, style: 'get', inPath: {} })
    if (operation.billable && operation.postPath !== undefined)
      fixed.set(`POST ${operation.postPath}`, { operation, style: 'post', inPath: {} })
    if (path.startsWith('/v1/finder/'))
      fixed.set(`GET /api${path}`, { operation, style: 'get', inPath: {}, older: true })
  }
  return (method, path) => {
    const route = fixed.get(`${method} ${path}`)
    if (route !== undefined || method !== 'GET') return route
    for (const { pattern, operation } of templates) {
      const inPath = path.match(pattern)?.groups
      if (inPath !== undefined) return { operation, style: 'get', inPath: decoded(inPath) }
    }
    return undefined
  }
}

function patternOf(path: string): RegExp {
  const escaped = path.replace(/[.*+?^$()|[\]\\]/g, '\\$&')
  return new RegExp(`^${escaped.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
}

function decoded(inPath: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(inPath).map(([name, text]) => [name, percentDecoded(text)]))
}

/** A checked call of an operation. */
export type CheckedRequest = ReturnType<typeof asked>

const query: Param = { type: 'string', meaning: 'search text', required: true }

/**
 * Checks the params of a request against the catalog: texts of a query string, or values of a JSON body. A `problem` is refused with
 * 400.
 */
function validate(
  operation: Operation,
  style: Style,
  sent: Readonly<Record<string, unknown>>,
): CheckedRequest | { readonly problem: string } {
  const known = paramsOf(operation, style)
  const values: Record<string, ParamValue> = {}
  for (const [name, value] of Object.entries(sent)) {
    const param = known[name]
    if (param === undefined) return { problem: `unknown parameter ${name}` }
    const checked = checkValue(param, value, style)
    if (typeof checked === 'string') return { problem: `${name} ${checked}` }
    values[name] = checked.value
  }
  const problem = missing(known, values) ?? clash(operation, values)
  return problem === null ? asked(operation, style, values) : { problem }
}

function paramsOf(operation: Operation, style: Style): Record<string, Param> {
  const own = Object.entries(operation.params).filter(([, { styles }]) => styles?.includes(style) ?? true)
  if (!operation.billable) return Object.fromEntries(own)
  const { paging, asyncParam } = operation
  const known: Record<string, Param> = { query, ...Object.fromEntries(own) }
  if (paging !== null) known.page = pageParam(style, paging.firstPageSent?.includes(style) === true)
  if (asyncParam !== undefined)
    known[asyncParam] = { type: 'string', meaning: 'as a job', values: ['true', 'false'] }
  return known
}

function pageParam(style: Style, required: boolean): Param {
  const page: Param = { type: 'integer', meaning: 'page', min: style === 'post' ? 0 : 1 }
  return required ? { ...page, required } : page
}

/** The value, or the problem with it. */
function checkValue(param: Param, value: unknown, style: Style): { value: ParamValue } | string {
  if (style === 'get' && typeof value !== 'string') return 'is given twice'
  const type = param.type === 'string' ? 'string' : 'number'
  if (style === 'post' && typeof value !== type) return `must be a ${type}`
  const read = checkParam(param, String(value))
  return 'value' in read ? read : `${read.message}; ${read.fix}`
}

function missing(known: Record<string, Param>, values: Record<string, ParamValue>): string | null {
  const names = Object.keys(known).filter((name) => known[name]?.required && !(name in values))
  return names.length === 0 ? null : `${names[0]} is required`
}

function clash(operation: Operation, values: Record<string, ParamValue>): string | null {
  const group = operation.exclusive?.find((names) => names.filter((name) => name in values).length > 1)
  return group === undefined ? null : `${group.join(' and ')} cannot be combined`
}

function asked(
  operation: Operation,
  style: Style,
  values: Record<string, ParamValue>,
): {
  readonly style: Style
  /** Empty for operations without a query. */
  readonly query: string
  /** Without query, page and async. */
  readonly params: Readonly<Record<string, ParamValue>>
  /** As sent: a page number in GET, the number of results to skip in POST. */
  readonly page: number | null
  readonly isAsync: boolean
} {
  if (!operation.billable)
    return { style, query: String(values.query ?? ''), params: values, page: null, isAsync: false }
  const { query, page, ...params } = values
  const { asyncParam } = operation
  const isAsync = asyncParam !== undefined && params[asyncParam] === 'true'
  if (asyncParam !== undefined) delete params[asyncParam]
  return { style, query: String(query), params, page: typeof page === 'number' ? page : null, isAsync }
}

/** Requests that come to the sandbox. */
export const requests = {
  readTarget,
  readBody,
  validate,
  router: createRouter,
}
