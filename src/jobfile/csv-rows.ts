import { billableOperation } from '../catalog/index.ts'
import { memoized } from '../model/memo.ts'
import { hasMarks } from '../model/spelling.ts'
import type { Target } from '../model/target.ts'
import { closestMatch, editDistance } from '../model/text.ts'
import { badCharacters, type InvalidValue, queryText, quoted, type ReadResult } from '../model/values.ts'
import type { Row } from './expand.ts'
import { paramNames } from './params.ts'
import { operationName, type QuerySetting, querySettings } from './schema.ts'
import type { JobPlan } from './settings.ts'
import type { FilePosition, Report } from './source.ts'
import { inFile, site, target } from './targets.ts'

type Own = 'query' | 'operation' | 'tags' | 'target' | Exclude<QuerySetting, 'pages'>

const own: readonly Own[] = [
  'query',
  'operation',
  'depth',
  'tags',
  'target',
  'priority',
  'volume',
  'url',
  'every',
]

type Column = readonly [name: string, index: number]

/** What the columns of a CSV file mean. */
export interface Columns {
  readonly width: number
  /** How many nameless columns stand behind them, as spreadsheets leave them. */
  readonly nameless: number
  /** Index of each column that rankline knows; the others are missing. */
  readonly own: Readonly<Partial<Record<Own, number>>>
  readonly params: readonly Column[]
  readonly labels: readonly Column[]
}

/** Reads a header row. Every mistake is reported; null means that no row can be read. */
export function readColumns(
  header: readonly string[],
  report: (mistake: InvalidValue) => void,
): Columns | null {
  const written = header.map((cell) => cell.trim())
  const names = written.slice(0, written.findLastIndex((name) => name !== '') + 1)
  const own: Partial<Record<Own, number>> = {}
  const params: Column[] = []
  const labels: Column[] = []
  const seen = new Set<string>()
  for (const [index, name] of names.entries()) {
    const mistake = wrongName(name, index, seen)
    seen.add(name)
    if (mistake !== null) report(mistake)
    else if (isOwn(name)) own[name] = index
    else (paramNames.has(name) ? params : labels).push([name, index])
  }
  if (own.query !== undefined)
    return { width: names.length, nameless: written.length - names.length, own, params, labels }
  // A misspelt header was reported already.
  if (!names.some((name) => misspelt(name) === 'query')) report(noQuery(names))
  return null
}

function isOwn(name: string): name is Own {
  return (own as readonly string[]).includes(name)
}

function wrongName(name: string, index: number, seen: ReadonlySet<string>): InvalidValue | null {
  if (name === '') return { message: `column ${index + 1} has no name`, fix: 'name it or remove it' }
  if (seen.has(name)) return { message: `column ${quoted(name)} is given twice`, fix: 'keep one of them' }
  const dirty = badCharacters(name, true)
  if (dirty !== null) return { message: `column ${dirty.message}`, fix: dirty.fix }
  const near = isOwn(name) || paramNames.has(name) ? null : misspelt(name)
  if (near === null) return null
  return {
    message: `column ${quoted(name)} looks like a misspelt '${near}'`,
    fix: `write '${near}', or choose another name`,
  }
}

/** The known name of four letters or more that differs in one letter. */
function misspelt(name: string): string | null {
  const letters = name.toLowerCase()
  for (const known of [...own, ...paramNames])
    if (known.length >= 4 && editDistance(letters, known) <= 1) return known
  return null
}

function noQuery(names: readonly string[]): InvalidValue {
  const near = names.length === 1 ? names[0] : closestMatch('query', names)
  const list = names.slice(0, 10).map(quoted).join(', ')
  const message = `there is no column 'query' among ${list}${names.length > 10 ? ' …' : ''}`
  const fix =
    near == null ? "call the column of the texts 'query'" : `write 'query' in place of ${quoted(near)}`
  return { message, fix: names.length === 1 ? "write 'query' in the first line, above the texts" : fix }
}

const none: readonly never[] = Object.freeze([])
const noLabels: Row['labels'] = Object.freeze(Object.create(null))
const maxCell = 64 * 1024

/** Makes a row of the cells below a header; null where they are empty or cannot be read. Every mistake is reported. */
export type ReadRow = (
  cells: readonly string[],
  line: number,
  report: Report,
) => { readonly row: Row; readonly good: boolean } | null

/** The reader of the rows below a header, for a file that problems call `where`. */
export function rowReader(columns: Columns, plan: JobPlan, where: string): ReadRow {
  // Rows that say the same share what was read.
  const readOperation = memoized((name) => {
    const read = operationName(name)
    return 'value' in read ? { value: [billableOperation(read.value)] } : read
  })
  const readTargets = memoized(readSites)
  return (written, line, report) => {
    const cells = written.length > columns.width ? withoutEmptyEnd(written, columns.width) : written
    if (cells.every((cell) => cell === '' || cell.trim() === '')) return null
    const place: FilePosition = { where, line, column: null }
    let good = true
    const complain = ({ message, fix }: InvalidValue) => {
      good = false
      report({ ...place, message, fix })
    }
    if (cells.length !== columns.width) {
      complain(wrongWidth(cells, columns))
      return null
    }
    for (const cell of cells) {
      const dirty = dirtyCell(cell)
      if (dirty !== null) complain(dirty)
    }
    if (!good) return null

    const textOf = (name: Own): string => cells[columns.own[name] ?? -1]?.trim() ?? ''
    function cellValue<T>(name: Own, read: (text: string) => ReadResult<T>): T | undefined {
      const text = textOf(name)
      const result = text === '' ? undefined : read(text)
      if (result === undefined || 'value' in result) return result?.value
      complain({ message: `${name} ${result.message}`, fix: result.fix })
      return undefined
    }
    const text = queryText(textOf('query'))
    if (!('value' in text)) complain({ message: `query ${text.message}`, fix: text.fix })
    const operations = cellValue('operation', readOperation)
    const depth = cellValue('depth', querySettings.depth.value.read)
    const row: Row = {
      text: 'value' in text ? text.value : '',
      // Without its operation nothing can be said about the params of a row.
      operations: operations ?? (textOf('operation') === '' ? plan.operations : none),
      depth: depth ?? plan.depth,
      pages: depth === undefined ? plan.pages : null,
      tags: parts(textOf('tags')),
      targets: cellValue('target', readTargets) ?? none,
      priority: cellValue('priority', querySettings.priority.value.read) ?? 0,
      volume: cellValue('volume', querySettings.volume.value.read) ?? null,
      url: cellValue('url', querySettings.url.value.read) ?? null,
      every: cellValue('every', querySettings.every.value.read) ?? null,
      labels: labelsOf(columns, cells),
      own: ownParams(columns, cells),
      at: () => place,
      marksLeftOut: hasMarks(textOf('query')),
      source: { file: where, line },
    }
    return { row, good }
  }
}

/** Spreadsheets write empty cells behind the last column that holds something. */
function withoutEmptyEnd(cells: readonly string[], width: number): readonly string[] {
  const last = cells.findLastIndex((cell) => cell.trim() !== '')
  return cells.slice(0, Math.max(last + 1, width))
}

function wrongWidth(cells: readonly string[], { width, nameless }: Columns): InvalidValue {
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

function ownParams({ params }: Columns, cells: readonly string[]): Row['own'] {
  if (params.length === 0) return none
  return params
    .map(([name, index]) => [name, cells[index]?.trim() ?? ''] as const)
    .filter(([, text]) => text !== '')
}

function labelsOf(columns: Columns, cells: readonly string[]): Row['labels'] {
  if (columns.labels.length === 0) return noLabels
  const labels: Record<string, string> = Object.create(null)
  for (const [name, index] of columns.labels) {
    const text = cells[index] ?? ''
    if (text.trim() !== '') labels[name] = text
  }
  return labels
}
