import { billableOperation } from '../catalog/index.ts'
import type { BillableOperation } from '../catalog/operation.ts'
import type { Target } from '../model/job.ts'
import { closestMatch, editDistance, hasMarks, memoized, shellQuoted, withFormula } from '../model/text.ts'
import {
  badCharacters,
  type DecimalMark,
  type InvalidValue,
  queryText,
  quoted,
  type ReadResult,
  readVolume,
} from '../model/values.ts'
import type { HeaderScore, TableHead } from './csv.ts'
import { paramReaders, type RowToExpand } from './params.ts'
import { columnNames, operationName, ownColumns, querySettings } from './schema.ts'
import type { FilePosition, Report } from './source.ts'
import { inFile, site, target } from './targets.ts'

type OwnColumn = (typeof ownColumns)[number]

/** Which header stands for a name of ours, such as `Top queries` for `query`. */
export type ColumnMap = Readonly<Record<string, string>>

type NamedColumn = readonly [name: string, index: number]

/** Judges rows by the names that are known or mapped. */
function headerLook(map: ColumnMap): (cells: readonly string[]) => HeaderScore {
  const mapped = new Set(Object.values(map).map(folded))
  const query = folded(map.query ?? 'query')
  return (cells) => {
    const names = cells.map(folded)
    const known = names.filter((name) => mapped.has(name) || columnNames.has(name)).length
    const texts = names.some((name) => textNames.has(name))
    return { isHeader: names.includes(query), weight: known + (texts ? cells.length : 0) }
  }
}

/** The same text for every way to write a name. */
function folded(name: string): string {
  return name.trim().replace(/\s+/g, ' ').toLowerCase()
}

/** What the columns of a table mean. */
type ColumnMeanings = NonNullable<ReturnType<typeof readColumns>>

/** How a header is read. */
interface HeaderReading {
  readonly map: ColumnMap
  readonly operations: readonly BillableOperation[]
  /** Whether a YAML job names the file: what can be written in it is proposed there. */
  readonly inYaml: boolean
  readonly report: (mistake: InvalidValue) => void
  /** Takes what is no mistake, but good to know. */
  readonly notice: (message: string, inRuns: boolean) => void
}

/** Reads a header row. Every mistake is reported; null means that no row can be read. */
function readColumns(head: TableHead, reading: HeaderReading) {
  const written = head.cells.map((cell) => cell.trim())
  const names = written.slice(0, written.findLastIndex((name) => name !== '') + 1)
  const isExport = exportNames.every((name) => names.includes(name))
  if (head.titleRows.length > 0) reading.notice(linesAbove(head), true)
  const { roles, missing } = rolesOf(names, reading, isExport)
  const own: Partial<Record<OwnColumn, number>> = {}
  const params: NamedColumn[] = []
  const labels: NamedColumn[] = []
  for (const [index, role] of roles.entries()) {
    if (role === null) continue
    if ('label' in role) labels.push([role.label, index])
    else if (isOwn(role.known)) own[role.known] = index
    else params.push([role.known, index])
  }
  if (own.query === undefined) {
    // What is misspelt or not there was reported already.
    if (!missing && !names.some((name) => misspelt(name) === 'query'))
      reading.report(noQuery(names, own.volume === undefined, reading.inYaml))
    return null
  }
  const known = [...Object.keys(own), ...params.map(([name]) => name)]
  if (isExport) reading.notice(`an export of rankline: ${takenOver(known, names)}`, true)
  if (labels.length > 0) reading.notice(keptLabels(labels, known, reading), false)
  const decimal: DecimalMark = head.separator === ';' ? ',' : '.'
  return {
    names,
    /** How many nameless columns stand behind them, as spreadsheets leave them. */
    nameless: written.length - names.length,
    /** Index of each column that rankline knows; the others are missing. */
    own,
    params,
    labels,
    /** In an export of rankline: the column with all parameters as JSON, -1 where it has none; null in other files. */
    ofExport: isExport ? { params: names.indexOf('params') } : null,
    decimal,
    /** Whether rows may end early: tools leave out tabs behind their last cell, and no text can hold one by mistake. */
    maySkipEnd: head.separator === '\t',
  }
}

function isOwn(name: string): name is OwnColumn {
  return (ownColumns as readonly string[]).includes(name)
}

function rolesOf(names: readonly string[], reading: HeaderReading, isExport: boolean) {
  const { map, report, notice } = reading
  const mapped = new Map<number, string>()
  let missing = false
  for (const [known, header] of Object.entries(map)) {
    const exact = names.indexOf(header.trim())
    const index = exact === -1 ? names.findIndex((name) => folded(name) === folded(header)) : exact
    if (index === -1) report(noColumn(header, names))
    else if (mapped.has(index))
      report({
        message: `column ${quoted(header)} is to be ${mapped.get(index)} and ${known}`,
        fix: 'keep one of them',
      })
    else mapped.set(index, known)
    missing ||= index === -1 && known === 'query'
  }
  const seen = new Set<string>(Object.keys(map))
  const roles = names.map((name, index): ReturnType<typeof roleInExport> => {
    const own = mapped.get(index)
    if (own !== undefined) return { known: own }
    if (isExport) return roleInExport(name)
    const known = columnNames.has(name.toLowerCase()) ? name.toLowerCase() : null
    if (known !== null && map[known] !== undefined) {
      notice(`column ${quoted(name)} is left out, because ${quoted(map[known])} is the ${known}`, true)
      return null
    }
    if (index === 0 && name === '' && names.length > 1) {
      notice('the first column has no name and is left out', true)
      return null
    }
    const mistake = wrongName(name, known, index, seen)
    seen.add(known ?? name)
    if (mistake !== null) report(mistake)
    return mistake !== null ? null : known === null ? { label: name } : { known }
  })
  const ranked = names.find((name) => rankName.test(name))
  const url = roles.findIndex(
    (role, index) => role !== null && 'known' in role && role.known === 'url' && !mapped.has(index),
  )
  if (isExport || url === -1 || ranked === undefined) return { roles, missing }
  notice(
    `column ${quoted(names[url] ?? '')} is left out: beside ${quoted(ranked)} it is the page that ranks. If it is the one that is meant to, ${instead([['url', names[url] ?? '']], reading.inYaml)}`,
    true,
  )
  return { roles: roles.with(url, null), missing }
}

/** Names of columns that hold a rank: a `url` beside one is where that rank is. */
const rankName =
  /^((google|bing|yahoo|current|last|latest|best|organic|serp)[ _-]?)?(base[ _-]?)?(rank|ranking|position|pos)$/i

/** What an export of rankline has in every row. */
const exportNames = ['query', 'operation', 'run_id']

/**
 * What a column of an export of rankline is; null where it is left out. What was asked stands in it again; all else is what came of
 * that.
 */
function roleInExport(name: string): { readonly known: string } | { readonly label: string } | null {
  if (name.startsWith('label_')) return { label: name.slice('label_'.length) }
  if (name === 'intended_url') return { known: 'url' }
  return paramReaders.names.has(name) || ['query', 'operation', 'tags', 'volume'].includes(name)
    ? { known: name }
    : null
}

function takenOver(known: readonly string[], names: readonly string[]): string {
  const asked = names.includes('params') ? [...known.filter(isOwn), 'params'] : known
  return `${asked.join(', ')} and labels are taken over, what came of the queries is not`
}

function linesAbove({ line, titleRows }: TableHead): string {
  const texts = titleRows.map((cells) => quoted(cells.filter((cell) => cell.trim() !== '').join(' ')))
  return `the header is on line ${line}; what stands above it is read over: ${texts.join(', ')}`
}

function wrongName(
  name: string,
  known: string | null,
  index: number,
  seen: ReadonlySet<string>,
): InvalidValue | null {
  if (name === '') return { message: `column ${index + 1} has no name`, fix: 'name it or remove it' }
  if (seen.has(known ?? name))
    return { message: `column ${quoted(name)} is given twice`, fix: 'keep one of them' }
  const dirty = badCharacters(name, true)
  if (dirty !== null) return { message: `column ${dirty.message}`, fix: dirty.fix }
  const near = known === null ? misspelt(name) : null
  if (near === null) return null
  return {
    message: `column ${quoted(name)} looks like a misspelt '${near}'`,
    fix: `write '${near}', or choose another name`,
  }
}

/** The known name that differs in spaces, `_` and `-` alone, or, of those with four letters or more, in one letter. */
function misspelt(name: string): string | null {
  const letters = folded(name)
  if (columnNames.has(letters)) return null
  for (const known of columnNames)
    if (bare(letters) === bare(known) || (known.length >= 4 && editDistance(letters, known) <= 1))
      return known
  return null
}

function bare(name: string): string {
  return name.replace(/[\s_-]/g, '')
}

function noColumn(header: string, names: readonly string[]): InvalidValue {
  const near = closestMatch(header, names)
  return {
    message: `there is no column ${quoted(header)} among ${listed(names)}`,
    fix: near === null ? 'name one of them' : `name ${quoted(near)}`,
  }
}

function listed(names: readonly string[]): string {
  return `${names.slice(0, 10).map(quoted).join(', ')}${names.length > 10 ? ' …' : ''}`
}

/** What other tools call the column of the texts. */
const textNames: ReadonlySet<string> = new Set([
  'keyword',
  'keywords',
  'key phrase',
  'keyphrase',
  'phrase',
  'queries',
  'top queries',
  'term',
  'terms',
  'search term',
  'search terms',
  'search query',
  'search queries',
  'search keyword',
  'suchbegriff',
  'suchbegriffe',
  'suchanfrage',
  'suchanfragen',
  'mot-clé',
  'mots-clés',
  'palabra clave',
  'parola chiave',
])

/** What other tools call what rankline knows, whatever the case. */
const alike: readonly { readonly form: RegExp; readonly meant: readonly string[] }[] = [
  { form: /^(country|country code|land|pays|país)$/, meant: ['gl', 'cc'] },
  { form: /^(language|language code|lang|sprache|langue|idioma)$/, meant: ['hl'] },
  { form: /^(market|locale)$/, meant: ['mkt', 'gl'] },
  { form: /^(locations|place|city|region|state|geo)$/, meant: ['location'] },
  { form: /^latitude$/, meant: ['lat'] },
  { form: /^(lng|long|longitude)$/, meant: ['lon'] },
  {
    form: /^(search volume|avg\. monthly searches|monthly searches|regional monthly searches|searches|suchvolumen)$/,
    meant: ['volume'],
  },
  { form: /^(labels|groups?|keyword group)$/, meant: ['tags'] },
  { form: /^(landing[ _]page|target[ _]url|intended[ _]url|zielseite|ziel-url)$/, meant: ['url'] },
]

/** The name of ours that a header may mean, for these operations. */
function meantBy(header: string, operations: readonly BillableOperation[] | null): string | null {
  const meant = alike.find(({ form }) => form.test(folded(header)))?.meant ?? []
  const isAsked = (name: string): boolean =>
    isOwn(name) || operations === null || operations.some(({ params }) => Object.hasOwn(params, name))
  return meant.find(isAsked) ?? null
}

function noQuery(names: readonly string[], volumeOpen: boolean, inYaml: boolean): InvalidValue {
  const message = `there is no column 'query' among ${listed(names)}`
  const text = names.find((name) => textNames.has(folded(name)))
  const volume = volumeOpen ? names.find((name) => meantBy(name, null) === 'volume') : undefined
  const pairs: [string, string][] = [['query', text ?? names.find((name) => name !== '') ?? '']]
  if (volume !== undefined) pairs.push(['volume', volume])
  const written = instead(pairs, inYaml)
  if (text !== undefined) return { message, fix: written }
  return names.length === 1
    ? {
        message,
        fix: `${written} if it is a header; if it is a text to search for, write 'query' in a line above it`,
      }
    : { message, fix: `${written}, or name the one that holds the texts` }
}

/** How an option, or the job file, says which header stands for which name. */
function instead(pairs: readonly (readonly [known: string, header: string])[], inYaml: boolean): string {
  if (inYaml) {
    const map = pairs.map(
      ([known, header]) =>
        `${known}: ${/^[\p{L}\p{N}_. -]+$/u.test(header) ? header : JSON.stringify(header)}`,
    )
    return `write columns: { ${map.join(', ')} } beside 'file:'`
  }
  const [first] = pairs
  const [known = '', header = ''] = first ?? []
  if (pairs.length > 1)
    return `add --column ${shellQuoted(pairs.map(([name, one]) => `${name}=${one}`).join(','))}`
  return `add --column ${known}=${/^[\p{L}\p{N}_.-]+$/u.test(header) ? header : shellQuoted(header)}`
}

function keptLabels(
  labels: readonly NamedColumn[],
  known: readonly string[],
  { operations, inYaml }: HeaderReading,
): string {
  const names = labels.map(([name]) => name)
  const open = new Map<string, string>()
  for (const name of names) {
    const meant = meantBy(name, operations)
    if (meant !== null && !known.includes(meant) && !open.has(meant)) open.set(meant, name)
  }
  const alikes = [...open].map(
    ([meant, name]) => `. ${quoted(name)} may be ${meant}: ${instead([[meant, name]], inYaml)}`,
  )
  return `kept as labels: ${names.map((name) => name.replace(/\s+/g, ' ')).join(', ')}${alikes.join('')}`
}

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
function rowReader(
  columns: ColumnMeanings,
  plan: Pick<RowToExpand, 'operations' | 'depth' | 'pages'>,
  where: string,
): ReadRow {
  // Rows that say the same share what was read.
  const readOperation = memoized((name) => {
    const read = operationName(name)
    return 'value' in read ? { value: [billableOperation(read.value)] } : read
  })
  const readTargets = memoized(readSites)
  return (written, line, report) => {
    const bare =
      written.length > columns.names.length ? withoutEmptyEnd(written, columns.names.length) : written
    // Where we put a guard against formulas before a text, we take it off again.
    const cells = columns.ofExport === null ? bare : bare.map(withFormula)
    if (cells.every((cell) => cell === '' || cell.trim() === '')) return null
    const place: FilePosition = { where, line, column: null }
    let good = true
    const complain = ({ message, fix }: InvalidValue) => {
      good = false
      report({ ...place, message, fix })
    }
    if (cells.length > columns.names.length || (cells.length < columns.names.length && !columns.maySkipEnd)) {
      complain(wrongWidth(cells, columns))
      return null
    }
    if (repeatsHeader(cells, columns)) {
      complain({ message: 'the row repeats the header', fix: 'remove it' })
      return null
    }
    for (const cell of cells) {
      const dirty = dirtyCell(cell)
      if (dirty !== null) complain(dirty)
    }
    if (!good) return null

    const textOf = (name: OwnColumn): string => trimmedCell(cells, columns.own[name])
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

/** Empty where there is no such column. A list that is asked for a place below 0 takes ten times as long. */
function trimmedCell(cells: readonly string[], place: number | undefined): string {
  return place === undefined ? '' : (cells[place]?.trim() ?? '')
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

function wrongWidth(cells: readonly string[], { names, nameless }: ColumnMeanings): InvalidValue {
  const { length } = cells
  const width = names.length
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

/** As in two tables put together. A single word may be a query: a table of one column is not asked. */
function repeatsHeader(cells: readonly string[], { names, own: { query = 0 } }: ColumnMeanings): boolean {
  const isName = (index: number): boolean => cells[index]?.trim() === names[index]
  return cells.length > 1 && isName(query) && cells.every((_, index) => isName(index))
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
  const all = trimmedCell(cells, ofExport?.params)
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

/** How columns of tables are read. */
export const columnReaders = {
  look: headerLook,
  read: readColumns,
  rows: rowReader,
}
