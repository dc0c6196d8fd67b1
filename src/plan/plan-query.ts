import { billableOperation } from '../catalog/index.ts'
import type { BillableOperation } from '../catalog/operation.ts'
import { canonicalParams, type JobQuery, type PlannedQuery, queryKey } from '../model/query.ts'

/** A query of a job file as it is planned: keyed, priced, with the pages that it may need. */
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
  }
}

/** How many pages of a query may be bought. */
export interface PageRange {
  /** Pages at most. */
  readonly max: number
  /** Results per page as far as documented or asked for with `num`; null where it is not known. */
  readonly pageSize: number | null
  /** Results after which to stop, where no page size is documented; null where `max` says all. */
  readonly depth: number | null
}

/** Where no page size is documented, pages are bought until the depth is reached, but never more than this few results a page would need. */
const fewestResultsPerPage = 5

/** The pages that a query asks for: `depth` divided by the size of a page, or `pages` as they are, or one. */
export function pageRange(
  operation: BillableOperation,
  { depth, pages, params }: Pick<JobQuery, 'depth' | 'pages' | 'params'>,
): PageRange {
  if (operation.paging === null) return { max: 1, pageSize: null, depth: null }
  const pageSize = typeof params.num === 'number' ? params.num : operation.paging.pageSize
  if (depth === null) return { max: pages ?? 1, pageSize, depth: null }
  if (pageSize !== null) return { max: Math.ceil(depth / pageSize), pageSize, depth: null }
  return { max: Math.ceil(depth / fewestResultsPerPage), pageSize, depth }
}
