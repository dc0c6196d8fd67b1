import type { BillableOperation } from '../../catalog/operation.ts'
import type { Asked } from '../validate.ts'

/** Fields of the echo that do not follow from having gl, hl and pages. */
const fieldsOf: Readonly<Record<string, readonly string[]>> = {
  'alpha.search': ['q', 'gl', 'hl', 'num', 'page', 'uule', 'location'],
  'alpha.news': ['q', 'gl', 'hl', 'num', 'page', 'uule', 'location'],
  'alpha.videos': ['q', 'gl', 'hl', 'num', 'page', 'uule', 'location'],
  'beta.search': ['q', 'cc', 'page'],
  'gamma.images': ['q', 'gl', 'hl', 'page', 'safe', 'safesearch'],
}

const makers: Readonly<Record<string, (asked: Asked) => unknown>> = {
  q: ({ query }) => query,
  gl: countryOf,
  cc: countryOf,
  hl: languageOf,
  num: ({ params }) => params.num ?? 10,
  page: ({ page, style }) => page ?? (style === 'post' ? 0 : 1),
  safe: ({ params }) => params.safe ?? 'moderate',
  safesearch: ({ params }) => (params.safe === 'active' ? 'strict' : (params.safe ?? 'moderate')),
}

/** The `search_parameters` of an answer: what was asked, with the service's defaults filled in. */
export function echoOf(operation: BillableOperation, asked: Asked): Record<string, unknown> {
  const echo: Record<string, unknown> = {}
  for (const field of fieldsOf[operation.name] ?? usualFields(operation))
    echo[field] = makers[field]?.(asked) ?? asked.params[field] ?? null
  // The third engine counts its pages from 0, and its web search says so.
  if (operation.name === 'gamma.search') echo.page = (asked.page ?? 1) - 1
  echo.engine = operation.echoEngine
  return echo
}

/** Two letters, lower case: the country asked for, or us. */
export function countryOf({ params }: Asked): string {
  const market = typeof params.mkt === 'string' ? params.mkt.split('-')[1] : undefined
  return String(params.gl ?? params.cc ?? market ?? 'us').toLowerCase()
}

/** The language asked for, or en. */
export function languageOf({ params }: Asked): string {
  return String(params.hl ?? 'en')
}

function usualFields({ params, paging }: BillableOperation): readonly string[] {
  return ['q', ...['gl', 'hl'].filter((name) => name in params), ...(paging === null ? [] : ['page'])]
}
