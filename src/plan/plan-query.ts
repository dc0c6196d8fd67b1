import { billableOperation } from '../catalog/index.ts'
import type { BillableOperation } from '../catalog/operation.ts'
import { canonicalParams, type JobQuery, type PlannedQuery, queryKey } from '../model/query.ts'

/** A planned query: with its key, its price and the pages that it may need. */
export function planQuery(query: JobQuery): PlannedQuery {
  const operation = billableOperation(query.operation)
  const range = pageRange(operation, query)
  return {
    key: queryKey(query),
    operation: query.operation,
    text: query.text,
    params: JSON.stringify(Object.fromEntries(canonicalParams(query.params))),
    credits: operation.cost,
    pages: range.max,
    pageSize: range.pageSize,
    depth: range.depth,
    priority: query.priority,
    volume: query.volume,
    url: query.url,
    tags: query.tags,
    labels: query.labels,
    targets: query.targets,
    source: query.source,
  }
}

/** Without a documented page size, pages are bought until the depth is reached, but never more than pages of this size would need. */
const fewestResultsPerPage = 5

/** The pages of a query: `depth` divided by the size of a page, or `pages`, or one. */
export function pageRange(
  operation: BillableOperation,
  { depth, pages, params }: Pick<JobQuery, 'depth' | 'pages' | 'params'>,
): {
  /** Pages at most. */
  readonly max: number
  /** Results per page, documented or requested with `num`; null if not known. */
  readonly pageSize: number | null
  /** Results after which to stop if no page size is documented; null if `max` is the limit. */
  readonly depth: number | null
} {
  if (operation.paging === null) return { max: 1, pageSize: null, depth: null }
  const pageSize = typeof params.num === 'number' ? params.num : operation.paging.pageSize
  if (depth === null) return { max: pages ?? 1, pageSize, depth: null }
  if (pageSize !== null) return { max: Math.ceil(depth / pageSize), pageSize, depth: null }
  return { max: Math.ceil(depth / fewestResultsPerPage), pageSize, depth }
}
