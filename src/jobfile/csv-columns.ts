import { nearest, slipsBetween } from '../words.ts'
import { paramNames } from './params.ts'
import { type Mistake, quoted } from './problem.ts'
import { unclean } from './values.ts'

const own = ['query', 'operation', 'depth', 'tags', 'target', 'priority', 'volume', 'url'] as const

type Own = (typeof own)[number]

/** What the columns of a CSV file mean. */
export interface Columns {
  readonly width: number
  /** How many nameless columns stand behind them, as spreadsheets leave them. */
  readonly nameless: number
  /** Index of each column that rankline knows; the others are missing. */
  readonly own: Readonly<Partial<Record<Own, number>>>
  readonly params: readonly (readonly [name: string, index: number])[]
  readonly labels: readonly (readonly [name: string, index: number])[]
}

/** Reads a header row; every mistake is told, and null means that no row can be read. */
export function readColumns(header: readonly string[], tell: (mistake: Mistake) => void): Columns | null {
  const written = header.map((cell) => cell.trim())
  const names = written.slice(0, written.findLastIndex((name) => name !== '') + 1)
  const columns = {
    width: names.length,
    nameless: written.length - names.length,
    own: {} as Partial<Record<Own, number>>,
    params: [],
    labels: [],
  } as {
    width: number
    nameless: number
    own: Partial<Record<Own, number>>
    params: [string, number][]
    labels: [string, number][]
  }
  const seen = new Set<string>()
  for (const [index, name] of names.entries()) {
    const mistake = wrongName(name, index, seen)
    seen.add(name)
    if (mistake !== null) tell(mistake)
    else if (isOwn(name)) columns.own[name] = index
    else if (paramNames.has(name)) columns.params.push([name, index])
    else columns.labels.push([name, index])
  }
  if (columns.own.query !== undefined) return columns
  // A misspelt header was told already.
  if (!names.some((name) => slipOf(name) === 'query')) tell(noQuery(names))
  return null
}

function isOwn(name: string): name is Own {
  return (own as readonly string[]).includes(name)
}

function wrongName(name: string, index: number, seen: ReadonlySet<string>): Mistake | null {
  if (name === '') return { what: `column ${index + 1} has no name`, instead: 'name it or remove it' }
  if (seen.has(name)) return { what: `column ${quoted(name)} stands twice`, instead: 'keep one of them' }
  const dirty = unclean(name, true)
  if (dirty !== null) return { what: `column ${dirty.what}`, instead: dirty.instead }
  const near = isOwn(name) || paramNames.has(name) ? null : slipOf(name)
  if (near === null) return null
  return {
    what: `column ${quoted(name)} is one slip away from '${near}'`,
    instead: `write '${near}', or another name`,
  }
}

/** The known name of four letters or more that is meant by a name one slip away. */
function slipOf(name: string): string | null {
  const letters = name.toLowerCase()
  for (const known of [...own, ...paramNames])
    if (known.length >= 4 && slipsBetween(letters, known) <= 1) return known
  return null
}

function noQuery(names: readonly string[]): Mistake {
  const near = names.length === 1 ? names[0] : nearest('query', names)
  const list = names.slice(0, 10).map(quoted).join(', ')
  const what = `there is no column 'query' among ${list}${names.length > 10 ? ' …' : ''}`
  const instead =
    near == null ? "call the column of the texts 'query'" : `write 'query' in place of ${quoted(near)}`
  return { what, instead: names.length === 1 ? "write 'query' in the first line, above the texts" : instead }
}
