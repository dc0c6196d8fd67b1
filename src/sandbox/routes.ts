import { operations } from '../catalog/index.ts'
import type { Operation } from '../catalog/operation.ts'
import type { Style } from '../catalog/param.ts'

/** Where a request leads: an operation, the style it is asked in, and values that stand in the path. */
export interface Route {
  readonly operation: Operation
  readonly style: Style
  readonly inPath: Readonly<Record<string, string>>
  /** The older form of a lookup may carry its params in a JSON body. */
  readonly older?: true
}

/** Finds the route of a method and a path, or undefined. */
export type Router = (method: string, path: string) => Route | undefined

/** The routes of the whole catalog: GET paths below `basePath`, everything under `/api` at the host's root. */
export function createRouter(basePath: string): Router {
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
  return Object.fromEntries(Object.entries(inPath).map(([name, text]) => [name, safelyDecoded(text)]))
}

function safelyDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
