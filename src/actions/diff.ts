import { databasePath, type SettingFlags } from '../config.ts'
import { UsageError } from '../errors.ts'
import type { Target } from '../model/target.ts'
import { asciiSigns } from '../report/ascii.ts'
import type { AskedDay } from '../report/baseline.ts'
import { addDays, inOrderOfRuns } from '../report/days.ts'
import { type DiffDocument, diffDocument } from '../report/diff-document.ts'
import { byChange, diffSummary, diffTable } from '../report/diff-table.ts'
import { diffText } from '../report/diff-text.ts'
import { comparedDays, snapshotOf, speaksForDay } from '../report/snapshot.ts'
import type { SerpAt, SerpQuery } from '../store/rows.ts'
import { openReader } from '../store/sqlite/open.ts'
import type { Store } from '../store/store.ts'
import { harmless, type Terminal } from '../terminal.ts'
import { day, isJsonAsked, namedJob, operationName } from './choices.ts'
import { whyNothing } from './explain.ts'
import { deliver, fileColumns, refuseOntoInput, refuseOntoJobFiles, whole } from './output.ts'
import {
  askedDay,
  type CompareFlags,
  comparisonOf,
  newestRun,
  notYetRun,
  reportedTargets,
} from './rank-report.ts'
import { wholeNumber } from './whole-number.ts'

export interface DiffFlags extends SettingFlags, CompareFlags {
  readonly job: string
  readonly query?: string
  readonly operation?: string
  readonly param?: readonly string[]
  readonly depth?: string
  readonly json?: boolean
  readonly out?: string
}

/** `rankline diff`: what became of the results of a query, or of every query of a job, between two days. */
export async function diff(flags: DiffFlags, terminal: Terminal): Promise<number> {
  refuseOntoInput(flags.out, [flags.job])
  const json = isJsonAsked(flags)
  const comparison = comparisonOf(flags)
  const date = day('--date', flags.date)
  const depth = wholeNumber('--depth', flags.depth, { min: 1 })
  const fits = chosenQueries(flags)
  await using store = await openReader(databasePath(flags))
  await refuseOntoJobFiles(store, flags)
  const named = await namedJob(store, flags, terminal)
  if (named === null) return 2
  const { name: job, settings } = named
  // One query is read after the other; what is collected meanwhile is in none of them.
  using _ = store.snapshot()
  const run = await newestRun(store, job, date)
  if (run === null) {
    terminal.say(notYetRun(job, date))
    if (json) await deliver(whole('[]\n'), flags.out, terminal)
    return 0
  }
  const compare = comparison === null ? null : askedDay(comparison, run.date)
  const queries = await askedQueries(store, { job, date, text: flags.query, fits })
  const targets = reportedTargets(settings?.targets, run, date)
  const look = comparer(store, { job, date, depth, targets, compare })
  const table = {
    width: flags.out === undefined ? terminal.columns : fileColumns,
    color: terminal.color && flags.out === undefined,
  }
  const drawn = (text: string) =>
    flags.out === undefined && terminal.ascii === true ? asciiSigns(text) : text
  const order = flags.query === undefined ? ordered(queries, look) : null
  const pieces = json
    ? documents(order?.map(({ query }) => query) ?? queries, look)
    : whole(
        drawn(
          order === null
            ? queries.map((query) => diffText(look(query), table)).join('\n')
            : diffTable(
                order.map(({ summary }) => summary),
                { ...table, compare },
              ),
        ),
      )
  await deliver(pieces, flags.out, terminal, !json)
  return 0
}

type Look = (query: SerpQuery) => DiffDocument

interface LookOptions {
  readonly job: string
  readonly date: string | undefined
  readonly depth: number | undefined
  readonly targets: readonly Target[]
  readonly compare: AskedDay | null
}

function comparer(store: Store, { job, date, depth, targets, compare }: LookOptions): Look {
  const until = date === undefined ? {} : { until: addDays(date, 1) }
  return (query) => {
    const { queryId } = query
    const days = comparedDays(inOrder(store.serpLooks({ job, ...until }, queryId)), compare)
    const read = (looks: readonly SerpAt[] | null) =>
      speaksForDay((looks ?? []).map(({ run }) => snapshotOf(store.serpRecord(run, queryId))))
    const [from, to] = [read(days.from), read(days.to)]
    const ofQuery = to === null ? [] : store.queryTargets(to.run, queryId)
    return diffDocument(query, { from, to }, { job, depth, targets: [...targets, ...ofQuery] })
  }
}

/** Day by day, and run by run of a day. */
function inOrder(looks: readonly SerpAt[]): readonly SerpAt[] {
  const newestFirst = looks.toSorted((a, b) => b.run - a.run)
  return inOrderOfRuns(newestFirst).toSorted((a, b) =>
    a.date === b.date ? a.run - b.run : a.date < b.date ? -1 : 1,
  )
}

/** What changed most first. */
function ordered(queries: readonly SerpQuery[], look: Look) {
  return queries
    .map((query) => ({ query, summary: diffSummary(look(query)) }))
    .sort((a, b) => byChange(a.summary, b.summary))
}

/** Documents as a JSON list, one in memory at a time. */
async function* documents(queries: readonly SerpQuery[], look: Look): AsyncGenerator<string> {
  let before = '[\n'
  for (const query of queries) {
    yield `${before}${JSON.stringify(look(query), null, 2)}`
    before = ',\n'
  }
  yield before === '[\n' ? '[]\n' : '\n]\n'
}

type Fits = (query: SerpQuery) => boolean

/** Reads the flags that say which of the queries are meant. */
function chosenQueries(flags: DiffFlags): Fits {
  const operation = operationName(flags.operation)
  const params = (flags.param ?? []).map((text) => {
    const [, name, value] = text.match(/^([^=]+)=(.+)$/s) ?? []
    if (name === undefined || value === undefined)
      throw new UsageError(`-p cannot be '${text}'; write name=value, for instance -p gl=us`)
    return { name, value }
  })
  return (query) =>
    (operation === undefined || query.operation === operation) &&
    params.every(({ name, value }) => Object.hasOwn(query.params, name) && `${query.params[name]}` === value)
}

/** The queries that are meant; throws a sentence where there are none. */
async function askedQueries(
  store: Store,
  { job, date, text, fits }: { job: string; date: string | undefined; text: string | undefined; fits: Fits },
): Promise<readonly SerpQuery[]> {
  const until = date === undefined ? {} : { until: addDays(date, 1) }
  const asked = store.serpQueries({ job, text: text ?? null, ...until })
  if (asked.length === 0 && text !== undefined)
    throw new UsageError(await whyNothing(store, { job, text, date }))
  const meant = asked.filter(fits)
  if (meant.length > 0 || asked.length === 0) return meant
  const which = text === undefined ? 'nothing such, but' : `'${harmless(text)}' otherwise`
  throw new UsageError(`The job ${job} asks for ${which}: ${waysOf(asked)}`)
}

/** The operations and params that were asked with. */
function waysOf(asked: readonly SerpQuery[]): string {
  const ways = asked.map(({ operation, params }) =>
    [operation, ...Object.entries(params).map(([name, value]) => `${name}=${value}`)].join(' '),
  )
  return harmless([...new Set(ways)].join(', '))
}
