import { billableOperation } from '../catalog/index.ts'
import { memoized } from '../model/memo.ts'
import { hasMarks } from '../model/spelling.ts'
import type { Target } from '../model/target.ts'
import { withFormula } from '../model/text.ts'
import { badCharacters, type InvalidValue, queryText, quoted, type ReadResult } from '../model/values.ts'
import { readVolume } from '../model/volume.ts'
import type { ColumnMeanings, OwnColumn } from './columns.ts'
import type { RowToExpand } from './expand.ts'
import { operationName, querySettings } from './schema.ts'
import type { JobPlan } from './settings.ts'
import type { FilePosition, Report } from './source.ts'
import { inFile, site, target } from './targets.ts'

const none: readonly never[] = Object.freeze([])
const noLabels: RowToExpand['labels'] = Object.freeze(Object.create(null))
const maxCell = 64 * 1024

/** Makes a row of the cells below a header; null where they are empty or cannot be read. Every mistake is reported. */
export type ReadRow = (
  cells: readonly string[],
  line: number,
  report: Report,
) => { readonly row: RowToExpand; readonly good: boolean } | null

/** The reader of the rows below a header, for a file that problems call `where`. */
export function rowReader(columns: ColumnMeanings, plan: JobPlan, where: string): ReadRow {
  // Rows that say the same share what was read.
  const readOperation = memoized((name) => {
    const read = operationName(name)
    return 'value' in read ? { value: [billableOperation(read.value)] } : read
  })
  const readTargets = memoized(readSites)
  return (written, line, report) => {
    const bare = written.length > columns.width ? withoutEmptyEnd(written, columns.width) : written
    // Where we put a guard against formulas before a text, we take it off again.
    const cells = columns.ofExport === null ? bare : bare.map(withFormula)
    if (cells.every((cell) => cell === '' || cell.trim() === '')) return null
    const place: FilePosition = { where, line, column: null }
    let good = true
    const complain = ({ message, fix }: InvalidValue) => {
      good = false
      report({ ...place, message, fix })
    }
    if (cells.length > columns.width || (cells.length < columns.width && !columns.maySkipEnd)) {
      complain(wrongWidth(cells, columns))
      return null
    }
    for (const cell of cells) {
      const dirty = dirtyCell(cell)
      if (dirty !== null) complain(dirty)
    }
    if (!good) return null

    const textOf = (name: OwnColumn): string => cells[columns.own[name] ?? -1]?.trim() ?? ''
    function cellValue<T>(name: OwnColumn, read: (text: string) => ReadResult<T>): T | undefined {
      const text = name === 'volume' || name === 'url' ? unlessNothing(textOf(name)) : textOf(name)
      const result = text === '' ? undefined : read(text)
      if (result === undefined || 'value' in result) return result?.value
      complain({ message: `${name} ${result.message}`, fix: result.fix })
      return undefined
    }
    const params = ownParams(columns, cells, complain)
    const text = queryText(textOf('query'))
    if (!('value' in text)) complain({ message: `query ${text.message}`, fix: text.fix })
    const operations = cellValue('operation', readOperation)
    const depth = cellValue('depth', querySettings.depth.value.read)
    const row: RowToExpand = {
      text: 'value' in text ? text.value : '',
      // Without its operation nothing can be said about the params of a row.
      operations: operations ?? (textOf('operation') === '' ? plan.operations : none),
      depth: depth ?? plan.depth,
      pages: depth === undefined ? plan.pages : null,
      tags: parts(textOf('tags')),
      targets: cellValue('target', readTargets) ?? none,
      priority: cellValue('priority', querySettings.priority.value.read) ?? 0,
      volume: cellValue('volume', (volume) => readVolume(volume, columns.decimal)) ?? null,
      url: cellValue('url', querySettings.url.value.read) ?? null,
      every: cellValue('every', querySettings.every.value.read) ?? null,
      labels: labelsOf(columns, cells),
      own: params,
      at: () => place,
      marksLeftOut: hasMarks(textOf('query')),
      source: { file: where, line },
    }
    return { row, good }
  }
}

/** Empty where a tool says that it has nothing to say. */
function unlessNothing(text: string): string {
  return /^(?:[-\u2010-\u2015\u2212]{1,2}|n\/?a|nan|null|none)$/i.test(text) ? '' : text
}

/** Spreadsheets write empty cells behind the last column that holds something. */
function withoutEmptyEnd(cells: readonly string[], width: number): readonly string[] {
  const last = cells.findLastIndex((cell) => cell.trim() !== '')
  return cells.slice(0, Math.max(last + 1, width))
}

function wrongWidth(cells: readonly string[], { width, nameless }: ColumnMeanings): InvalidValue {
  const { length } = cells
  if (length > width && length <= width + nameless)
    return {
      message: `${quoted(cells[length - 1] ?? '')} is in column ${length}, which has no name`,
      fix: 'name the column in the header, or empty it',
    }
  const message = `the row has ${length} ${length === 1 ? 'cell' : 'cells'}, the header has ${width}`
  return {
    message,
    fix: length > width ? 'put quotes around a cell that contains the separator' : 'add the missing cells',
  }
}

function dirtyCell(cell: string): InvalidValue | null {
  if (cell.length <= maxCell) return badCharacters(cell, true)
  return { message: `${quoted(cell)} is longer than 64 KB`, fix: 'write one query per line' }
}

/** A cell cannot name a match: a site with a path is compared as a prefix. */
const inCell = { ...inFile, page: 'write the query in YAML with match: url' }

function readSites(text: string): ReadResult<readonly Target[]> {
  const targets: Target[] = []
  for (const part of parts(text)) {
    const read = site(part)
    if (!('value' in read)) return read
    const made = target({ site: read.value }, true, 'domain', inCell, 'prefix')
    if (!('value' in made)) return made
    targets.push(made.value)
  }
  return { value: targets }
}

function parts(text: string): readonly string[] {
  if (text === '') return none
  const all = text.split(';').map((part) => part.trim())
  return [...new Set(all)].filter((part) => part !== '')
}

function ownParams(
  { params, ofExport }: ColumnMeanings,
  cells: readonly string[],
  complain: (mistake: InvalidValue) => void,
): RowToExpand['own'] {
  const all = cells[ofExport?.params ?? -1]?.trim() ?? ''
  if (all !== '') {
    const written = parsedJson(all)
    if (typeof written === 'object' && written !== null && !Array.isArray(written))
      return Object.entries(written).map(([name, value]) => [name, String(value)])
    complain({ message: `params cannot be ${quoted(all)}`, fix: 'write a JSON object, or empty the cell' })
  }
  if (params.length === 0) return none
  return params
    .map(([name, index]) => [name, cells[index]?.trim() ?? ''] as const)
    .filter(([, text]) => text !== '')
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function labelsOf(columns: ColumnMeanings, cells: readonly string[]): RowToExpand['labels'] {
  if (columns.labels.length === 0) return noLabels
  const labels: Record<string, string> = Object.create(null)
  for (const [name, index] of columns.labels) {
    const text = cells[index] ?? ''
    if (text.trim() !== '') labels[name] = text
  }
  return labels
}
