import { billableOperation } from '../catalog/index.ts'
import type { BillableOperation } from '../catalog/operation.ts'
import type { Target } from '../model/target.ts'
import type { Columns } from './csv-columns.ts'
import type { Row } from './expand.ts'
import { type Mistake, type Place, quoted, type Read, type Report } from './problem.ts'
import { operationName } from './schema.ts'
import type { JobPlan } from './settings.ts'
import { site, target } from './sites.ts'
import { inFile } from './targets.ts'
import * as values from './values.ts'

const none: readonly never[] = Object.freeze([])
const noLabels: Row['labels'] = Object.freeze(Object.create(null))
const maxCell = 64 * 1024

const readDepth = values.wholeNumber(1)
const readPriority = values.wholeNumber(Number.MIN_SAFE_INTEGER)
const readVolume = values.wholeNumber(0)

/** Makes a row of the cells below a header; null where they hold nothing to look at. Every mistake is reported. */
export type ReadRow = (
  cells: readonly string[],
  line: number,
  report: Report,
) => { readonly row: Row; readonly good: boolean } | null

/** The reader of the rows below a header, for a file that problems call `where`. */
export function rowReader(columns: Columns, plan: JobPlan, where: string): ReadRow {
  const readOperation = remembering(readOneOperation)
  const readTargets = remembering(readSites)
  return (written, line, report) => {
    const cells = written.length > columns.width ? withoutEmptyEnd(written, columns.width) : written
    if (cells.every((cell) => cell === '' || cell.trim() === '')) return null
    const place: Place = { where, line, column: null }
    let good = true
    const tell = ({ what, instead }: Mistake) => {
      good = false
      report({ ...place, what, instead })
    }
    if (cells.length !== columns.width) {
      tell(ragged(cells, columns))
      return null
    }
    if (!areClean(cells, tell)) return null
    const row = makeRow({ columns, cells, tell, readOperation, readTargets }, plan, place)
    return { row, good }
  }
}

interface Reading {
  readonly columns: Columns
  readonly cells: readonly string[]
  readonly tell: (mistake: Mistake) => void
  readonly readOperation: ReadText<readonly BillableOperation[]>
  readonly readTargets: ReadText<readonly Target[]>
}

type ReadText<T> = (text: string) => Read<T>

function makeRow(reading: Reading, plan: JobPlan, place: Place): Row {
  const { columns, cells, readOperation, readTargets } = reading
  const written = cellText(reading, 'operation') !== ''
  const text = values.queryText(cellText(reading, 'query'))
  if (!('value' in text)) reading.tell({ what: `query ${text.what}`, instead: text.instead })
  const operations = cellValue(reading, 'operation', readOperation)
  const depth = cellValue(reading, 'depth', readDepth)
  return {
    text: 'value' in text ? text.value : '',
    // Without its operation nothing can be said about the params of a row.
    operations: operations ?? (written ? none : plan.operations),
    depth: depth ?? plan.depth,
    pages: depth === undefined ? plan.pages : null,
    tags: cellValue(reading, 'tags', readTags) ?? none,
    targets: cellValue(reading, 'target', readTargets) ?? none,
    priority: cellValue(reading, 'priority', readPriority) ?? 0,
    volume: cellValue(reading, 'volume', readVolume) ?? null,
    url: cellValue(reading, 'url', values.pageUrl) ?? null,
    labels: labelsOf(columns, cells),
    own: ownParams(columns, cells),
    at: () => place,
    source: { file: place.where, line: place.line ?? 1 },
  }
}

function cellText({ columns, cells }: Reading, name: keyof Columns['own']): string {
  return cells[columns.own[name] ?? -1]?.trim() ?? ''
}

function cellValue<T>(
  reading: Reading,
  name: keyof Columns['own'],
  read: (text: string) => Read<T>,
): T | undefined {
  const text = cellText(reading, name)
  if (text === '') return undefined
  const result = read(text)
  if ('value' in result) return result.value
  reading.tell({ what: `${name} ${result.what}`, instead: result.instead })
  return undefined
}

/** Texts of one column that are remembered at once. */
const remembered = 1_000

/** Reads a text once: rows that say the same share what it says. */
function remembering<T>(read: ReadText<T>): ReadText<T> {
  const known = new Map<string, Read<T>>()
  return (text) => {
    const before = known.get(text)
    if (before !== undefined) return before
    const value = read(text)
    if (known.size >= remembered) known.clear()
    known.set(text, value)
    return value
  }
}

function readOneOperation(name: string): Read<readonly BillableOperation[]> {
  const checked = operationName(name)
  return 'value' in checked ? { value: [billableOperation(checked.value)] } : checked
}

/** Spreadsheets write empty cells behind the last column that holds something. */
function withoutEmptyEnd(cells: readonly string[], width: number): readonly string[] {
  const last = cells.findLastIndex((cell) => cell.trim() !== '')
  return cells.slice(0, Math.max(last + 1, width))
}

function ragged(cells: readonly string[], { width, nameless }: Columns): Mistake {
  const { length } = cells
  if (length > width && length <= width + nameless)
    return {
      what: `${quoted(cells[length - 1] ?? '')} stands in column ${length}, which has no name`,
      instead: 'name the column in the header, or empty it',
    }
  const what = `the row has ${length} ${length === 1 ? 'cell' : 'cells'}, the header has ${width}`
  return {
    what,
    instead: length > width ? 'put quotes around a cell that holds the separator' : 'add the missing cells',
  }
}

function areClean(cells: readonly string[], tell: (mistake: Mistake) => void): boolean {
  let good = true
  for (const cell of cells) {
    const dirty: Mistake | null =
      cell.length > maxCell
        ? { what: `${quoted(cell)} is longer than 64 KB`, instead: 'write one query per line' }
        : values.unclean(cell, true)
    if (dirty === null) continue
    tell(dirty)
    good = false
  }
  return good
}

function readTags(text: string): Read<readonly string[]> {
  return { value: parts(text) }
}

/** A cell with a path is a prefix; more it cannot say. */
const inCell = { ...inFile, page: 'write the query in YAML with match: url' }

function readSites(text: string): Read<readonly Target[]> {
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
  const all = text.split(';').map((part) => part.trim())
  return [...new Set(all)].filter((part) => part !== '')
}

function ownParams(columns: Columns, cells: readonly string[]): Row['own'] {
  if (columns.params.length === 0) return none
  const own: [string, string][] = []
  for (const [name, index] of columns.params) {
    const text = cells[index]?.trim() ?? ''
    if (text !== '') own.push([name, text])
  }
  return own
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
