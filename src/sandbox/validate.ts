import type { Operation } from '../catalog/operation.ts'
import { checkParam, type Param, type ParamValue, type Style } from '../catalog/param.ts'

/** A checked call of an operation. */
export interface Asked {
  readonly style: Style
  /** Empty for operations without a query. */
  readonly query: string
  /** Without query, page and async. */
  readonly params: Readonly<Record<string, ParamValue>>
  /** As sent: a page number in GET, a number of results to skip in POST. */
  readonly page: number | null
  readonly isAsync: boolean
}

/** Why a call is refused with 400. */
export interface Invalid {
  readonly problem: string
}

const query: Param = { type: 'string', meaning: 'search text', required: true }

/** Checks what was sent, texts of a query string or values of a JSON body, against all that the catalog says. */
export function validate(
  operation: Operation,
  style: Style,
  sent: Readonly<Record<string, unknown>>,
): Asked | Invalid {
  const known = paramsOf(operation, style)
  const values: Record<string, ParamValue> = {}
  for (const [name, value] of Object.entries(sent)) {
    const param = known[name]
    if (param === undefined) return { problem: `unknown parameter ${name}` }
    const checked = checkValue(param, value, style)
    if ('problem' in checked) return { problem: `${name} ${checked.problem}` }
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

function checkValue(param: Param, value: unknown, style: Style): { value: ParamValue } | { problem: string } {
  if (style === 'get')
    return typeof value === 'string' ? checkParam(param, value) : { problem: 'is given twice' }
  const type = param.type === 'string' ? 'string' : 'number'
  if (typeof value !== type) return { problem: `must be a ${type}` }
  return checkParam(param, String(value))
}

function missing(known: Record<string, Param>, values: Record<string, ParamValue>): string | null {
  const names = Object.keys(known).filter((name) => known[name]?.required && !(name in values))
  return names.length === 0 ? null : `${names[0]} is required`
}

function clash(operation: Operation, values: Record<string, ParamValue>): string | null {
  const group = operation.exclusive?.find((names) => names.filter((name) => name in values).length > 1)
  return group === undefined ? null : `${group.join(' and ')} cannot be combined`
}

function asked(operation: Operation, style: Style, values: Record<string, ParamValue>): Asked {
  if (!operation.billable)
    return { style, query: String(values.query ?? ''), params: values, page: null, isAsync: false }
  const { query, page, ...params } = values
  const { asyncParam } = operation
  const isAsync = asyncParam !== undefined && params[asyncParam] === 'true'
  if (asyncParam !== undefined) delete params[asyncParam]
  return { style, query: String(query), params, page: typeof page === 'number' ? page : null, isAsync }
}
