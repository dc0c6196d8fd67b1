import type { Match, Variant } from '../../src/model/job.ts'
import type { Row } from '../../src/model/result.ts'
import { type BuiltHistory, buildHistory } from '../../src/report/history/build-history.ts'
import type { ComparisonDay } from '../../src/report/history/movement.ts'
import { type RankReport, rankRows } from '../../src/report/rows.ts'
import type { ObservedRow, ObservedRun } from '../../src/store/sqlite/rankings/tracking.ts'
import { unknown } from './build.ts'

interface Reporting {
  /** What the newest run asks, on its day; all that was ever observed where nothing else is said. */
  readonly asked?: readonly Row[]
  readonly compare?: ComparisonDay | null
}

/** The report on rows of the `rankings` view, in the order of their days and runs. */
export function reportOn(
  rankings: readonly Row[],
  { asked, compare = null }: Reporting = {},
): RankReport & { readonly built: BuiltHistory } {
  const last =
    [...rankings, ...(asked ?? [])]
      .map(({ date }) => String(date))
      .sort()
      .at(-1) ?? '2026-03-01'
  const now = asked ?? distinct(rankings).map((row) => ({ ...row, ...unknown, date: last }))
  const built = buildHistory(source(rankings, now, last))
  const observed = rankings.filter(({ date }) => date === last)
  return {
    ...rankRows(built.history, { asked: now, observed: [observed] }, compare),
    leftOut: { queries: built.history.removed.length, targets: built.removedTargets },
    built,
  }
}

/** The last row of each query and target. */
function distinct(rows: readonly Row[]): readonly Row[] {
  return [...new Map(rows.map((row) => [`${queryOf(row)}${targetOf(row)}`, row])).values()]
}

const queryOf = ({ query, operation, params }: Row) => JSON.stringify([query, operation, params])
const targetOf = ({ target_site, target_match, target_also }: Row) =>
  JSON.stringify([target_site, target_match, target_also])

/** A store that holds these rows, each row of one day and key as a run of its own. */
function source(
  rankings: readonly Row[],
  asked: readonly Row[],
  last: string,
): Parameters<typeof buildHistory>[0] {
  const links = numbers()
  const queries = numbers()
  const targets = numbers()
  const query = (row: Row) => queries.of(queryOf(row))
  const target = (row: Row) => targets.of(targetOf(row))
  const runs = [...rankings.map(({ date }, index) => ({ id: index + 1, date: String(date) }))]
  const newest = { id: rankings.length + 1, date: last }
  const textOf = (id: number) => {
    const [text, operation, params] = JSON.parse(queries.name(id)) as [string, string, string]
    return { id, query: text, operation, params: JSON.parse(params) as Record<string, string> }
  }
  return {
    job: 'acme',
    runs: [...runs, newest],
    targets: [],
    kindOf: () => 'organic',
    store: {
      continuations: () => [],
      contentsOf: () => ({
        queries: [...new Set(asked.map(query))].map((id) => ({
          ...textOf(id),
          ...saidOf(asked.find((row) => query(row) === id)),
        })),
        targets: distinct(asked)
          .filter((row, index, all) => all.findIndex((one) => target(one) === target(row)) === index)
          .map((row) => targetFrom(row, target(row))),
        pairs: asked.map((row) => [query(row), target(row)]),
      }),
      observedIn: (run) => {
        const [row] = rankings.slice(run - 1, run)
        if (row?.state === 'ranked')
          return { ranked: rankOf(row, [query(row), target(row)], links), others: [] }
        const others = row === undefined ? [] : [rowOf(row, [query(row), target(row)])]
        return { ranked: { queries: [], targets: [], ranks: [], links: [] }, others }
      },
      queries: (ids) => ids.map(textOf),
      links: (ids) => ids.map(links.name),
    },
  }
}

/** What the job says of the query of a row. */
function saidOf({ tags, volume, intended_url: url, labels }: Row = {}) {
  return {
    tags: tags == null ? [] : String(tags).split(';'),
    volume: volume == null ? null : Number(volume),
    url: url == null ? null : String(url),
    labels: JSON.parse(String(labels ?? '{}')) as Record<string, string>,
  }
}

function targetFrom(row: Row, id: number) {
  return {
    id,
    site: String(row.target_site),
    match: row.target_match as Match,
    also: JSON.parse(String(row.target_also)) as Variant[],
    label: String(row.target),
    own: row.own === 1,
  }
}

function rankOf(row: Row, [query, target]: readonly [number, number], links: Numbers): ObservedRun['ranked'] {
  return {
    queries: [query],
    targets: [target],
    ranks: [2 * Number(row.rank) + (row.exactness === 'estimated' ? 1 : 0)],
    links: [row.url === null ? 0 : links.of(String(row.url))],
  }
}

function rowOf(row: Row, [query, target]: readonly [number, number]): ObservedRow {
  const estimated = row.exactness === 'estimated' ? 1 : 0
  const unbrokenDepth = row.results_ended === 1 ? -1 : Number(row.unbroken_depth)
  const [depth, absentDepth] = [Number(row.depth), Number(row.absent_depth ?? row.unbroken_depth)]
  return [query, target, null, row.state === 'absent' ? estimated : null, depth, unbrokenDepth, absentDepth]
}

interface Numbers {
  of(name: string): number
  name(id: number): string
}

function numbers(): Numbers {
  const names: string[] = []
  return {
    of: (name) => (names.includes(name) ? names.indexOf(name) : names.push(name) - 1) + 1,
    name: (id) => names[id - 1] as string,
  }
}
