import type { BillableOperation, FreeOperation } from '../catalog/operation.ts'
import type { Style } from '../catalog/param.ts'

/** A request, ready to be sent; the key is added where it is sent. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST'
  readonly origin: string
  /** Path and query string. */
  readonly path: string
  /** JSON body of the `post` style. */
  readonly body: string | null
}

/** One page of a query, as a job sees it: `page` counts pages from 1 in both styles. */
export interface PageCall {
  readonly text: string
  readonly params: Readonly<Record<string, string | number>>
  readonly page: number
  readonly style: Style
  readonly async: boolean
}

/** The request for one page. The older style counts results, the newer one pages: `page` is translated here. */
export function pageRequest(baseUrl: string, operation: BillableOperation, call: PageCall): ApiRequest {
  const style = operation.styles.includes(call.style) ? call.style : 'get'
  const fields = { query: call.text, ...call.params, ...pageField(operation, call, style) }
  const { origin } = new URL(baseUrl)
  if (style === 'post' && operation.postPath !== undefined)
    return { method: 'POST', origin, path: operation.postPath, body: JSON.stringify(fields) }
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

function pageField(operation: BillableOperation, { page, params }: PageCall, style: Style) {
  const { paging } = operation
  if (paging === null) return {}
  if (page === 1 && !paging.firstPageSent?.includes(style)) return {}
  if (style === 'get') return { page }
  const size = typeof params.num === 'number' ? params.num : (paging.pageSize ?? 10)
  return { page: (page - 1) * size }
}

function get(baseUrl: string, path: string, fields: Readonly<Record<string, string | number>>): ApiRequest {
  const { origin, pathname } = new URL(baseUrl)
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) search.append(name, String(value))
  const query = search.size === 0 ? '' : `?${search}`
  return { method: 'GET', origin, path: `${pathname.replace(/\/+$/, '')}${path}${query}`, body: null }
}
