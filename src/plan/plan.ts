import { billableOperation } from '../catalog/index.ts'
import type { JobQuery } from '../model/job.ts'
import type { PlannedQuery } from '../model/plan.ts'
import { pageRange } from './pages.ts'
import { canonicalParams, queryKey } from './query-key.ts'

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
