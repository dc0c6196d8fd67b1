import type { PlannedQuery } from '../model/plan.ts'
import type { Target } from '../model/target.ts'

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
