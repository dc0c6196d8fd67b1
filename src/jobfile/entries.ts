import { billableOperation } from '../catalog/index.ts'
import type { BillableOperation } from '../catalog/operation.ts'
import type { Target } from '../model/target.ts'
import type { Row } from './expand.ts'
import { readMap, readValue } from './issues.ts'
import type { Report } from './problem.ts'
import { fileSchema, operationName, querySchema, textSchema, type WrittenQuery } from './schema.ts'
import { type JobPlan, twice } from './settings.ts'
import { inFile, readTargets } from './targets.ts'
import { isMap, type Path, type Source, type Tree } from './tree.ts'

const noLabels: Row['labels'] = Object.freeze(Object.create(null))

/** The entries below `queries:`; empty where there is no such list. */
export function entriesOf({ tree }: Source): readonly Tree[] {
  return Array.isArray(tree.queries) ? tree.queries : []
}

/** The operations that entries name themselves; names that are wrong are left out. */
export function operationsOfEntries(source: Source): readonly BillableOperation[] {
  const names = new Set<string>()
  for (const entry of entriesOf(source))
    if (isMap(entry) && entry.operation != null)
      for (const name of [entry.operation].flat()) names.add(String(name))
  return [...names].filter((name) => 'value' in operationName(name)).map(billableOperation)
}

/** What an entry is: a query, or the name of a CSV file. */
export type Entry = { readonly row: Row } | { readonly file: string }

/** Reads one entry below `queries:`; null where it holds nothing to look at. Every mistake is reported. */
export function readEntry(plan: JobPlan, source: Source, index: number, report: Report): Entry | null {
  const path: Path = ['queries', index]
  const entry = entriesOf(source)[index]
  if (!isMap(entry)) {
    const query = readValue(textSchema, source, path, report)
    return query === undefined ? null : { row: rowOf({ query }, plan, source, path, report) }
  }
  if ('file' in entry && !('query' in entry)) {
    const { data } = readMap(fileSchema, source, path, report)
    return data.file === undefined ? null : { file: data.file }
  }
  const { data, failed } = readMap(querySchema, source, path, report)
  if (data.depth !== undefined && data.pages !== undefined)
    report({ ...source.at([...path, 'pages'], 'key'), ...twice })
  const row = rowOf(data, plan, source, path, report)
  // Without its operation nothing can be said about its params.
  return { row: failed.has('operation') ? { ...row, operations: [] } : row }
}

function rowOf(data: Partial<WrittenQuery>, plan: JobPlan, source: Source, path: Path, report: Report): Row {
  const { where, line } = source.at(path)
  const counted = data.depth !== undefined || data.pages !== undefined
  const operations = data.operation === undefined ? null : [...new Set([data.operation].flat())]
  return {
    text: data.query ?? '',
    operations: operations?.map(billableOperation) ?? plan.operations,
    depth: counted ? (data.depth ?? null) : plan.depth,
    pages: counted ? (data.pages ?? null) : plan.pages,
    tags: [...new Set(data.tags)].filter((tag) => tag !== ''),
    targets: targetsOf(data.target, plan, source, [...path, 'target'], report),
    priority: data.priority ?? 0,
    volume: data.volume ?? null,
    url: data.url ?? null,
    labels: noLabels,
    own: Object.entries(data.params ?? {}),
    at: (name, part) => source.at([...path, 'params', name], part),
    source: { file: where, line: line ?? 1 },
  }
}

function targetsOf(
  written: WrittenQuery['target'],
  plan: JobPlan,
  source: Source,
  path: Path,
  report: Report,
): readonly Target[] {
  if (written === undefined) return []
  const list = [written].flat()
  const at = (index: number) => source.at(Array.isArray(written) ? [...path, index] : path)
  return readTargets([{ written: list, own: true, at, hints: inFile }], plan.match, report)
}
