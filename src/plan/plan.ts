import { billableOperation } from '../catalog/index.ts'
import type { JobQuery } from '../model/job.ts'
import type { PlannedQuery } from '../model/plan.ts'
import type { Target } from '../model/target.ts'
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

/** Two rows that ask for the same query are one: the deeper and the more urgent wins, tags, labels and targets join. */
export function mergeQueries(a: PlannedQuery, b: PlannedQuery): PlannedQuery {
  return {
    ...a,
    pages: Math.max(a.pages, b.pages),
    depth: a.pages >= b.pages ? a.depth : b.depth,
    priority: Math.max(a.priority, b.priority),
    volume: a.volume ?? b.volume,
    url: a.url ?? b.url,
    tags: [...new Set([...a.tags, ...b.tags])],
    labels: mergeLabels(a.labels, b.labels),
    targets: [
      ...a.targets,
      ...b.targets.filter((target) => !a.targets.some((other) => isSame(target, other))),
    ],
  }
}

function isSame(a: Target, b: Target): boolean {
  return a.site === b.site && a.match === b.match && a.also.join() === b.also.join()
}

function mergeLabels(a: PlannedQuery['labels'], b: PlannedQuery['labels']): PlannedQuery['labels'] {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])]
  return Object.fromEntries(
    names.map((name) => {
      // Any column can be a label, `constructor` too.
      const values = [a, b].flatMap((labels) => (Object.hasOwn(labels, name) ? (labels[name] ?? '') : []))
      const said = values.filter((value) => value !== '')
      return [name, [...new Set(said.flatMap((value) => value.split('; ')))].join('; ')]
    }),
  )
}
