// Imported as a namespace, so that the build drops the messages in all languages.
import * as z from 'zod'
import type { Scalar } from '../model/job.ts'
import { closestMatch } from '../model/text.ts'
import { type InvalidValue, quoted, type ReadResult } from '../model/values.ts'
import { paramReaders } from './params.ts'
import { isMap, type Path, partAt, type Report, type Source, type Tree, type TreeMap } from './source.ts'

/** A file is read once: a check that is compiled first takes longer. */
z.config({ jitless: true })

type Issue = z.core.$ZodIssue

/** One value as the user wrote it, read by the reader of a setting. */
export function scalar<T>({ read, json }: Scalar<T>) {
  return z
    .string()
    .transform((written, context) => {
      const result = read(written.trim())
      if ('value' in result) return result.value
      const { message, fix } = result
      context.issues.push({ code: 'custom', input: written, message, params: { fix } })
      return z.NEVER
    })
    .meta(json)
}

/** Reads the name of an environment variable. */
function variableName(text: string): ReadResult<string> {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(text)) return { value: text }
  // What stands here by mistake may be the secret itself, which no message repeats.
  return {
    message: 'is not the name of an environment variable',
    fix: 'put the secret into .env, and write the name of its variable here, such as SLACK_URL',
  }
}

/** The name of an environment variable that holds a secret. */
export const variable = later(() => scalar({ read: variableName, json: { type: 'string' } }))

/** A schema that is made when it is first asked for: to make all of them takes longer than to read a file. */
export function later<T extends z.ZodType>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** A map with these keys and no others. */
// zod does not say which keys it knows when it meets an unknown one: the message of that complaint lists them.
export function strict<S extends z.ZodRawShape>(shape: S, known: readonly string[] = Object.keys(shape)) {
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? known.join(' ') : undefined),
  })
}

/** The schemas of the keys of a map. */
export type KeySchemas<S extends z.ZodRawShape> = { readonly [Key in keyof S]: () => S[Key] }

/**
 * A map of whose keys a file names few: the schemas of the others are not made.
 *
 * @param required keys that every such map has
 */
export function mapSchema<S extends z.ZodRawShape>(
  parts: KeySchemas<S>,
  required: readonly (keyof S)[] = [],
) {
  const known = Object.keys(parts)
  const made = new Map<string, z.ZodObject<S>>()
  const withKeys = (keys: readonly string[]): z.ZodObject<S> => {
    const name = keys.join()
    let schema = made.get(name)
    if (schema === undefined) {
      const shape = Object.fromEntries(keys.map((key) => [key, parts[key]?.()])) as unknown as S
      schema = strict(shape, known)
      made.set(name, schema)
    }
    return schema
  }
  return {
    parts,
    /** With all keys. */
    whole: () => withKeys(known),
    /** What a map is checked by: the keys that it has, or lacks. */
    fitting: (map: TreeMap) =>
      withKeys(known.filter((key) => Object.hasOwn(map, key) || required.includes(key))),
  }
}

/** The values of the valid keys of a map, and the names of the invalid ones. */
export interface SchemaResult<T> {
  readonly data: Partial<T>
  readonly failed: ReadonlySet<string>
}

/** Reads the map at `path` of the source; each mistake is reported, and the keys without one are still read. */
export function readMap<S extends z.ZodRawShape>(
  { fitting }: ReturnType<typeof mapSchema<S>>,
  source: Source,
  path: Path,
  report: Report,
): SchemaResult<z.output<z.ZodObject<S>>> {
  const tree = partAt(source.tree, path) as TreeMap
  const schema = fitting(tree)
  const result = schema.safeParse(tree)
  if (result.success) return { data: result.data, failed: new Set() }
  const failed = new Set<string>()
  for (const issue of result.error.issues) {
    if (issue.path.length > 0) failed.add(String(issue.path[0]))
    reportIssue(issue, result.error.issues, source, path, report)
  }
  const data: Record<string, unknown> = {}
  for (const [key, part] of Object.entries(schema.shape)) {
    const bad = result.error.issues.filter((issue) => issue.path[0] === key)
    const rest = bad.length === 0 ? tree[key] : withoutBad(tree[key], bad)
    if (rest !== undefined) data[key] = (part as unknown as z.ZodType).safeParse(rest).data
  }
  return { data: data as Partial<z.output<z.ZodObject<S>>>, failed }
}

/** A map without its wrong parts, so that the others can still be checked. */
function withoutBad(tree: Tree | undefined, issues: readonly Issue[]): Tree | undefined {
  const bad = new Set(
    issues.flatMap((issue) => [issue.path[1], ...(issue.code === 'unrecognized_keys' ? issue.keys : [])]),
  )
  if (!isMap(tree) || issues.some((issue) => issue.code === 'invalid_union' && issue.path.length < 2))
    return undefined
  return Object.fromEntries(Object.entries(tree).filter(([key]) => !bad.has(key)))
}

/** Reads the single value at `path` of the source; undefined after a mistake, which is reported. */
export function readValue<T>(
  schema: z.ZodType<T>,
  source: Source,
  path: Path,
  report: Report,
): T | undefined {
  const result = schema.safeParse(partAt(source.tree, path))
  if (result.success) return result.data
  const { issues } = result.error
  for (const issue of issues) reportIssue(issue, issues, source, path, report)
  return undefined
}

function reportIssue(
  issue: Issue,
  siblings: readonly Issue[],
  source: Source,
  base: Path,
  report: Report,
): void {
  const path = [...base, ...issue.path]
  const input = partAt(source.tree, path)
  if (issue.code === 'unrecognized_keys') {
    for (const key of issue.keys)
      report({ ...source.at([...path, key], 'key'), ...unknownKey(key, issue.message.split(' '), input) })
  } else if (issue.code === 'invalid_union') {
    const branch = branchFor(issue.errors)
    if (branch === null) report({ ...source.at(path), ...wrongKind(path, input, issue.message) })
    else for (const inner of branch) reportIssue(inner, branch, source, path, report)
  } else if (!coveredByUnknownKey(issue, siblings, partAt(source.tree, path.slice(0, -1)))) {
    report({ ...source.at(path), ...mistake(issue, path, input) })
  }
}

function branchFor(branches: readonly (readonly Issue[])[]): readonly Issue[] | null {
  const fitting = branches.filter((issues) => !issues.some(isWrongKind))
  return fitting[0] ?? null
}

function isWrongKind(issue: Issue): boolean {
  return issue.path.length === 0 && (issue.code === 'invalid_type' || issue.code === 'invalid_union')
}

// A required key that is missing because it was misspelt is reported once, at the misspelt key.
function coveredByUnknownKey(issue: Issue, siblings: readonly Issue[], parent: Tree | undefined): boolean {
  const key = issue.path.at(-1)
  if (issue.code !== 'invalid_type' || typeof key !== 'string' || !isMap(parent) || key in parent)
    return false
  const at = issue.path.slice(0, -1).join(' ')
  const unknown = siblings.flatMap((other) =>
    other.code === 'unrecognized_keys' && other.path.join(' ') === at ? other.keys : [],
  )
  const only = Object.keys(parent).length === 1
  return unknown.some((name) => only || closestMatch(name, [key]) !== null)
}

function unknownKey(key: string, known: readonly string[], map: Tree | undefined): InvalidValue {
  const message = `unknown key ${quoted(key)}`
  if (key === 'recheck' && known.includes('confirm'))
    return {
      message: 'recheck is gone: no query is bought a second time for an alert',
      fix: "write 'confirm: 2', which waits for the next run",
    }
  if (known.includes('params') && paramReaders.names.has(key))
    return { message, fix: `write it below 'params:', such as params: { ${key}: … }` }
  if (key === 'columns' && known.includes('queries'))
    return {
      message,
      fix: "write it beside 'file:', such as { file: keywords.csv, columns: { query: Keyword } }",
    }
  const near = closestMatch(key, known)
  if (near !== null) return { message, fix: `write '${near}'` }
  if (known.length === 1) return { message, fix: 'remove it' }
  const value = isMap(map) && Object.keys(map).length === 1 ? map[key] : undefined
  if (known.includes('query') && typeof value === 'string')
    return { message, fix: `write "${key}: ${value}" with quotes if it is the text of a query` }
  return { message, fix: `write one of ${known.join(', ')}` }
}

function mistake(issue: Issue, path: Path, input: Tree | undefined): InvalidValue {
  const name = nameOf(path)
  if (issue.code === 'custom') return { message: `${name} ${issue.message}`, fix: String(issue.params?.fix) }
  if (issue.code === 'too_small')
    return { message: `${name} is an empty list`, fix: 'write at least one entry, or leave it out' }
  const expected = issue.code === 'invalid_type' ? issue.expected : ''
  return wrongKind(path, input, path.at(-1) === 'queries' ? listOfQueries : (kinds[expected] ?? 'one value'))
}

const listOfQueries = 'a list such as [a, b], or [{ file: keywords.csv }] for a file of them'

const kinds: Readonly<Record<string, string>> = {
  string: 'one value',
  array: 'a list such as [a, b]',
  object: 'a map such as { key: value }',
  record: 'a map such as { key: value }',
}

function wrongKind(path: Path, input: Tree | undefined, expected: string): InvalidValue {
  const name = nameOf(path)
  if (input === undefined) return { message: `${name} is missing`, fix: `add '${name}:'` }
  if (input === null) return { message: `${name} is empty`, fix: 'give it a value or leave it out' }
  const found = typeof input === 'string' ? quoted(input) : Array.isArray(input) ? 'a list' : 'a map'
  return { message: `${name} cannot be ${found}`, fix: `write ${expected}` }
}

const singular: Readonly<Record<string, string>> = {
  queries: 'query',
  targets: 'target',
  competitors: 'competitor',
  tags: 'tag',
  alerts: 'alert',
}

/** The name of the part at a path, as messages use it. */
function nameOf(path: Path): string {
  const key = String(path.findLast((step) => typeof step === 'string'))
  return typeof path.at(-1) === 'number' ? (singular[key] ?? key) : key
}
