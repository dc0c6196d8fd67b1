import { hash } from 'node:crypto'
import type { Continues, Target } from './job.ts'
import { normalParam, normalText } from './text.ts'

/** Params in their one spelling. */
function normalParams(
  params: Readonly<Record<string, string | number>>,
): Readonly<Record<string, string | number>> {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      name,
      typeof value === 'string' ? normalParam(name, value) : value,
    ]),
  )
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

/** All that two rows say of a label, in one text. */
export function mergeLabels(a: PlannedQuery['labels'], b: PlannedQuery['labels']): PlannedQuery['labels'] {
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

/** The same 16 bytes for the same operation, text and params, whatever the order in which params were written. */
export function queryKey({
  operation,
  text,
  params,
}: Pick<JobQuery, 'operation' | 'text' | 'params'>): Buffer {
  const canonical = JSON.stringify([operation, text, canonicalParams(params)])
  // By way of a text: a hash as a buffer takes twice as long.
  return Buffer.from(hash('sha256', canonical, 'hex').slice(0, 32), 'hex')
}

/** The one spelling of a query that was planned, with its key; params are JSON. */
export function inOneSpelling({
  operation,
  text,
  params,
}: Pick<PlannedQuery, 'operation' | 'text' | 'params'>) {
  const query = { operation, text: normalText(text), params: normalParams(JSON.parse(params)) }
  return {
    key: queryKey(query),
    text: query.text,
    params: JSON.stringify(Object.fromEntries(canonicalParams(query.params))),
  }
}

/** The query that another one goes on with; null where that is itself. */
export function continuedQuery(
  { operation, text, params }: Pick<JobQuery, 'operation' | 'text' | 'params'>,
  { params: were, operation: was, texts }: Continues,
): Pick<JobQuery, 'operation' | 'text' | 'params'> | null {
  const before = Object.entries({ ...params, ...were }).filter(
    (one): one is [string, string | number] => one[1] !== null,
  )
  const query = {
    operation: was ?? operation,
    text: Object.hasOwn(texts, text) ? (texts[text] ?? text) : text,
    params: Object.fromEntries(before),
  }
  return queryKey(query).equals(queryKey({ operation, text, params })) ? null : query
}

/** Params as a list of pairs in the order of their names. */
export function canonicalParams(params: JobQuery['params']): readonly (readonly [string, string | number])[] {
  return Object.entries(params).sort(([a], [b]) => (a < b ? -1 : 1))
}

/** One query that a job asks for: checked, with one operation and all its params. */
export interface JobQuery {
  readonly operation: string
  readonly text: string
  /** Checked against the operation; keys in alphabetical order. */
  readonly params: Readonly<Record<string, string | number>>
  /** Look at this many results; null where `pages` says it. */
  readonly depth: number | null
  readonly pages: number | null
  readonly tags: readonly string[]
  /** Higher is bought first. */
  readonly priority: number
  /** Searches per month, or null. */
  readonly volume: number | null
  /** The page that is meant to rank, or null. */
  readonly url: string | null
  /** How often it is due, where it says so itself. */
  readonly every: string | null
  /** Other columns of the row, given back in exports. */
  readonly labels: Readonly<Record<string, string>>
  /** Targets that only this query has. */
  readonly targets: readonly Target[]
  /** Whether its text was written with invisible marks, which are left out. */
  readonly marksLeftOut: boolean
  /** The line of a file that asks it. */
  readonly source: { readonly file: string; readonly line: number }
}

/** One query of a run: its text and params, price and paging. */
export interface PlannedQuery {
  /** 16 bytes that name operation, text and params. */
  readonly key: Buffer
  readonly operation: string
  readonly text: string
  /** JSON object, keys in alphabetical order. */
  readonly params: string
  /** Credits per page. */
  readonly credits: number
  /** Pages at most. */
  readonly pages: number
  readonly pageSize: number | null
  /** Results after which to stop where no page size is documented; null where `pages` says all. */
  readonly depth: number | null
  readonly priority: number
  readonly volume: number | null
  readonly url: string | null
  readonly tags: readonly string[]
  readonly labels: Readonly<Record<string, string>>
  readonly targets: readonly Target[]
  /** Where it stands; missing where it was not planned from a file. */
  readonly source?: JobQuery['source']
}

/** What became of a query in the runs of its job. Instants are epoch milliseconds. */
export interface QueryHistory {
  /** When its last answer came; null where none is known. */
  readonly answeredAt: number | null
  /** Runs in which it failed after that, in any order. */
  readonly failures: readonly {
    readonly at: number
    /** The service said that it cannot answer it: 400 or 404. */
    readonly isFinal: boolean
  }[]
}

/** The paging of the query that a task belongs to. */
export interface QueryPaging {
  readonly maxPages: number
  readonly pageSize: number | null
  readonly depth: number | null
}

/** The country that a query is asked in, as params say it: two letters, or empty. */
function countryOfParams({ gl, cc, mkt }: Readonly<Record<string, string | number>>): string {
  return String(gl ?? cc ?? /-([a-z]{2})$/i.exec(String(mkt ?? ''))?.[1] ?? '').toLowerCase()
}

/** Whether what was imported is of the market of a query. What a file does not say is null, and no other market. */
function isInMarket(
  { gl, hl, location }: Readonly<Record<'gl' | 'hl' | 'location', string | null>>,
  params: Readonly<Record<string, unknown>>,
): boolean {
  return (
    (gl === null || gl === params.gl) &&
    (hl === null || params.hl === undefined || hl === params.hl) &&
    (location === null || location === params.location)
  )
}

/** How far what was imported is from a query of its market: not on mobile first, and where its country is said. */
function marketDistance({ device, gl }: Readonly<Record<'device' | 'gl', string | null>>): number {
  return (device === 'mobile' ? 2 : 0) + (gl === null ? 1 : 0)
}

/** Markets of queries, and of what was imported. */
export const markets = {
  country: countryOfParams,
  includes: isInMarket,
  distance: marketDistance,
}
