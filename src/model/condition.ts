import { UsageError } from './errors.ts'
import type { JobQuery } from './query.ts'
import { closestMatch, normalText } from './text.ts'
import { type InvalidValue, quoted, type ReadResult } from './values.ts'

/** A query as a condition reads it. What runs do not keep is missing where it is read from the store. */
export type ConditionQuery = Pick<
  JobQuery,
  'operation' | 'text' | 'params' | 'tags' | 'volume' | 'url' | 'labels'
> &
  Partial<Pick<JobQuery, 'depth' | 'pages' | 'priority' | 'every'>>

type ConditionValue = string | number | null

/** What every query has, under the names of the columns of a CSV. */
const fields: Readonly<Record<string, (query: ConditionQuery) => ConditionValue | readonly string[]>> = {
  query: ({ text }) => text,
  operation: ({ operation }) => operation,
  engine: ({ operation }) => operation.replace(/\..*/, ''),
  tag: ({ tags }) => tags,
  tags: ({ tags }) => tags,
  volume: ({ volume }) => volume,
  url: ({ url }) => url,
}

/** How a query is bought: known from its job file alone, for runs do not keep it. */
const plannedFields: typeof fields = {
  priority: ({ priority = null }) => priority,
  depth: ({ depth = null }) => depth,
  pages: ({ pages = null }) => pages,
  every: ({ every = null }) => every,
}

const comparisons = {
  '=': (a: ConditionValue, b: ConditionValue) => equal(a, b),
  '!=': (a: ConditionValue, b: ConditionValue) => !equal(a, b),
  '<': (a: ConditionValue, b: ConditionValue) => ordered(a, b) < 0,
  '<=': (a: ConditionValue, b: ConditionValue) => ordered(a, b) <= 0,
  '>': (a: ConditionValue, b: ConditionValue) => ordered(a, b) > 0,
  '>=': (a: ConditionValue, b: ConditionValue) => ordered(a, b) >= 0,
} as const

/** Numbers are compared as numbers, all else as text without regard to case. */
function equal(a: ConditionValue, b: ConditionValue): boolean {
  if (isNumber(a) && isNumber(b)) return Number(a) === Number(b)
  return a !== null && foldedText(String(a)) === foldedText(String(b))
}

/** Not a number where either is none: then no comparison is true. */
function ordered(a: ConditionValue, b: ConditionValue): number {
  return isNumber(a) && isNumber(b) ? Number(a) - Number(b) : Number.NaN
}

function isNumber(value: ConditionValue): boolean {
  return typeof value === 'number' || (typeof value === 'string' && /^\s*-?\d+(\.\d+)?\s*$/.test(value))
}

/** A text as conditions compare it. */
function foldedText(text: string): string {
  return normalText(text).toLowerCase()
}

/**
 * Reads a condition, as `--where` and `where:` say it, for instance `volume>1000 and tag=money`: comparisons with `and` between them, all
 * of which must be true.
 *
 * @param from the job file, or the store, which does not keep how a query is bought
 */
function readCondition(
  text: string,
  from: 'file' | 'store',
): ReadResult<{
  readonly isMet: (query: ConditionQuery) => boolean
  /** What is wrong with a name that none of the queries has that were looked at; null where there is none. */
  readonly unknownName: () => InvalidValue | null
}> {
  const parts: ReturnType<typeof comparisonOf>[] = []
  for (const part of partsOf(text)) {
    const read = readComparison(part, from)
    if (!('value' in read)) return read
    parts.push(read.value)
  }
  return {
    value: {
      // Each part looks at each query, to know which names there are.
      isMet: (query) => parts.map((part) => part.isMet(query)).every((is) => is),
      unknownName: () => parts.map((part) => part.unknownName()).find((mistake) => mistake !== null) ?? null,
    },
  }
}

const hasOperator = (text: string): boolean => /[<>=]/.test(text)

/** An `and` stands between two comparisons; any other belongs to a name or a value, as in `query=salt and pepper`. */
function partsOf(text: string): readonly string[] {
  const [first = '', ...others] = text.split(/(\s+and\s+)/i)
  const parts = [first]
  for (let place = 0; place < others.length; place += 2) {
    const [and = '', next = ''] = others.slice(place, place + 2)
    const last = parts.at(-1) as string
    if (hasOperator(last) && hasOperator(next)) parts.push(next)
    else parts[parts.length - 1] = last + and + next
  }
  return parts
}

/** Reads `volume>1000`: a name, a comparison, a value. */
function readComparison(text: string, from: 'file' | 'store'): ReadResult<ReturnType<typeof comparisonOf>> {
  const [, name = '', operator = '', value = ''] =
    text.match(/^\s*([^\s<>=!][^<>=!]*?)\s*(<=|>=|!=|=|<|>)\s*(.+?)\s*$/s) ?? []
  if (!(operator in comparisons))
    return {
      message: `cannot be ${quoted(text)}`,
      fix: "write a name, one of = != < <= > >= and a value, in quotes, such as 'volume>1000'",
    }
  if (/[<>]/.test(operator) && !isNumber(value))
    return {
      message: `${quoted(text)} compares with ${quoted(value)}, which is not a number`,
      fix: 'write one, or use = or !=',
    }
  if (from === 'store' && Object.hasOwn(plannedFields, name))
    return {
      message: `${quoted(text)} names ${quoted(name)}, which is how a query is bought: results are kept without it`,
      fix: 'write volume, tag, a parameter or a column of the CSV',
    }
  return { value: comparisonOf(text, name, operator as keyof typeof comparisons, value) }
}

function comparisonOf(text: string, name: string, operator: keyof typeof comparisons, value: string) {
  const isTrue = comparisons[operator]
  const names = new Set<string>()
  let isKnown = Object.hasOwn(fields, name) || Object.hasOwn(plannedFields, name)
  let isAsked = false
  return {
    isMet: (query: ConditionQuery): boolean => {
      isAsked = true
      const found = fieldOf(query, name)
      if (found === undefined) {
        if (!isKnown)
          for (const own of [...Object.keys(query.labels), ...Object.keys(query.params)]) names.add(own)
        return operator === '!='
      }
      isKnown = true
      if (found === null || typeof found !== 'object') return isTrue(found, value)
      // Of several tags one is enough; where none may be equal, none is.
      return operator === '!='
        ? found.every((one) => isTrue(one, value))
        : found.some((one) => isTrue(one, value))
    },
    unknownName: (): InvalidValue | null => {
      if (isKnown || !isAsked) return null
      const near = closestMatch(name, [...Object.keys(fields), ...Object.keys(plannedFields), ...names])
      return {
        message: `${quoted(text)}: no query has ${quoted(name)}`,
        fix:
          near === null ? 'write volume, tag, a parameter or a column of the CSV' : `write ${quoted(near)}`,
      }
    },
  }
}

/** A field, a parameter or a label; undefined where the query has none of that name. */
function fieldOf(query: ConditionQuery, name: string): ConditionValue | readonly string[] | undefined {
  for (const own of [fields, plannedFields]) if (Object.hasOwn(own, name)) return own[name]?.(query)
  for (const own of [query.params, query.labels]) if (Object.hasOwn(own, name)) return own[name]
  return undefined
}

/** The condition of an option or a rule, see {@link readCondition}; throws a sentence where it is wrong. */
function conditionOf(called: string, text: string, from: 'file' | 'store') {
  const read = readCondition(text, from)
  if ('value' in read) return read.value
  throw new UsageError(`${called} ${read.message}; ${read.fix}`)
}

/** Throws a sentence where one of the conditions of an option names what no query has. */
function refuseUnknownNames(called: string, conditions: readonly ReturnType<typeof conditionOf>[]): void {
  for (const { unknownName } of conditions) {
    const mistake = unknownName()
    if (mistake !== null) throw new UsageError(`${called} ${mistake.message}; ${mistake.fix}`)
  }
}

/** Conditions on queries. */
export const queryConditions = {
  of: conditionOf,
  read: readCondition,
  refuseUnknown: refuseUnknownNames,
  folded: foldedText,
}
