import type { Target } from '../../model/job.ts'
import type { ResultKind } from '../../model/result.ts'
import type { Run } from '../../model/run.ts'
import { groupedBy } from '../../model/text.ts'
import type { Store } from '../../store/sqlite/open.ts'
import type { ObservedRow } from '../../store/sqlite/rankings/tracking.ts'
import { type ComparedObservation, replacesForDay } from './movement.ts'
import {
  absentCell,
  type DayCell,
  type DayValue,
  dayValue,
  type RankHistory,
  type RankSeries,
  rankedCell,
  unknownCell,
} from './rank-history.ts'

/** A history with the numbers that its queries and links have in the store. */
export type BuiltHistory = Readonly<ReturnType<typeof buildHistory>>

/** Puts together what the runs of a job observed of what its newest run asks. */
export function buildHistory({
  job,
  runs,
  partialRuns = new Set(),
  targets,
  store,
  kindOf,
  lookedAtOnly = false,
}: {
  readonly job: string
  /** Runs of the job, in any order; what the newest of them asks is reported. */
  readonly runs: readonly RunOfDay[]
  /** Those that asked a part of the job: on a day with no other, what was not asked stays as it was. None where it is not given. */
  readonly partialRuns?: ReadonlySet<number>
  /** Targets of the whole job that are reported. */
  readonly targets: readonly Target[]
  readonly store: Pick<Store, 'contentsOf' | 'continuations' | 'observedIn' | 'queries' | 'links'>
  /** Kind of the results that an operation ranks. */
  readonly kindOf: (operation: string) => ResultKind
  /** Whether absence counts with what was looked at, however deep was asked. */
  readonly lookedAtOnly?: boolean
}) {
  const inOrder = [...runs].sort((a, b) => compareTexts(a.date, b.date) || a.id - b.id)
  const days = [...new Set(inOrder.map(({ date }) => date))]
  const newest = runs.reduce((newest, { id }) => Math.max(newest, id), 0)
  const asked = store.contentsOf(newest, targets)
  const { place: linkPlace, all: linkIds } = places<number>()
  const changes = changesOfQueries(store.continuations(job), inOrder)
  const observed = dayColumns({ series: asked.pairs.length, days: days.length, linkPlace })
  const others = gather(inOrder, { asked, days, store, observed, changes })
  // Days on which only parts of the job were asked.
  const whole = new Set(inOrder.flatMap(({ id, date }) => (partialRuns.has(id) ? [] : [date])))
  const partialDays = days.flatMap((day, place) => (whole.has(day) ? [] : [place]))
  const removed = store
    .queries([...others.queries.keys()])
    .map(({ id, ...text }) => ({ ...text, last: days[others.queries.get(id) as number] as string }))
    .sort((a, b) => compareTexts(a.query, b.query) || compareTexts(a.operation, b.operation))
  const keywordOf = new Map(asked.queries.map(({ id }, place) => [id, place]))
  const targetOf = new Map(asked.targets.map(({ id }, place) => [id, place]))
  const series = asked.pairs.map(([query, target], place): RankSeries => {
    const { cells, seen, absentDepths, links, places } = observed.read(place, { lookedAtOnly, partialDays })
    const [keyword, targetPlace] = [keywordOf.get(query) as number, targetOf.get(target) as number]
    return { keyword, target: targetPlace, cells, seen, absentDepths, links, places }
  })
  const history: RankHistory = {
    job,
    days,
    keywords: asked.queries.map(({ id, ...keyword }) => {
      const since = changes.findLast(({ query }) => query === id)?.since
      const kind = kindOf(keyword.operation)
      return since === undefined ? { ...keyword, kind } : { ...keyword, kind, since }
    }),
    targets: asked.targets.map(({ id: _, ...target }) => target),
    series,
    links: store.links(linkIds),
    removed,
  }
  const queryIds: readonly number[] = asked.queries.map(({ id }) => id)
  return {
    history,
    /** Numbers of the queries that stand in `keywords`, place by place. */
    queryIds,
    /** Targets that are no longer asked of queries that still are. */
    removedTargets: others.targets.size,
  }
}

type RunOfDay = Pick<Run, 'id' | 'date'>

/** Where a query took the place of another one on a day, in the order of these days. */
function changesOfQueries(all: ReturnType<Store['continuations']>, runs: readonly RunOfDay[]) {
  const dates = new Map(runs.map(({ id, date }) => [id, date]))
  return all
    .flatMap(({ run, ...change }) => {
      const since = dates.get(run)
      return since === undefined ? [] : { ...change, since }
    })
    .toSorted((a, b) => compareTexts(a.since, b.since))
}

/**
 * The query that goes on with what another one observed on a day, from change to change. What both observed on the day of a change
 * is not mixed: that day is of the new query.
 */
function heirOf(changes: ReturnType<typeof changesOfQueries>): (query: number, date: string) => number {
  const byFormer = groupedBy(changes, ({ former }) => former)
  return (query, date) => {
    let heir = query
    for (let day = date; ; ) {
      const next = byFormer.get(heir)?.find(({ since }) => since > day)
      if (next === undefined) return heir
      heir = next.query
      day = next.since
    }
  }
}

/** Reads what was observed of what is asked; and tells of what else was, which queries on which day last, which targets. */
function gather(
  runs: readonly RunOfDay[],
  {
    asked,
    days,
    store,
    observed,
    changes,
  }: {
    readonly asked: ReturnType<Store['contentsOf']>
    readonly days: readonly string[]
    readonly store: Pick<Store, 'observedIn'>
    readonly observed: ReturnType<typeof dayColumns>
    readonly changes: ReturnType<typeof changesOfQueries>
  },
) {
  const heir = heirOf(changes)
  // Of a query whose place was taken on this very day nothing is told: the day is of the other one.
  const replaced = new Set(changes.map(({ former, since }) => `${former} ${since}`))
  const byQuery = new Map(asked.queries.map(({ id }) => [id, new Map<number, number>()]))
  for (const [series, [query, target]] of asked.pairs.entries()) byQuery.get(query)?.set(target, series)
  const others = { queries: new Map<number, number>(), targets: new Set<number>() }
  for (const { id, date } of runs) {
    const day = days.indexOf(date)
    let [lastId, query] = [0, 0]
    let ofQuery: ReadonlyMap<number, number> | undefined
    const seriesOf = (id: number, target: number): number | undefined => {
      if (id !== lastId) {
        lastId = id
        query = changes.length === 0 || byQuery.has(id) ? id : heir(id, date)
        ofQuery = byQuery.get(query)
      }
      if (ofQuery === undefined && query === id && replaced.has(`${id} ${date}`)) return undefined
      const series = ofQuery?.get(target)
      if (series !== undefined) return series
      if (ofQuery !== undefined) others.targets.add(target)
      else others.queries.set(query, day)
      return undefined
    }
    const { ranked, others: rows } = store.observedIn(id)
    for (let row = 0; row < ranked.queries.length; row++) {
      const series = seriesOf(ranked.queries[row] as number, ranked.targets[row] as number)
      if (series !== undefined)
        observed.addRank(series, day, ranked.ranks[row] as number, ranked.links[row] as number)
    }
    for (const row of rows) {
      const series = seriesOf(row[0], row[1])
      if (series !== undefined) observed.add(series, day, row)
    }
  }
  return others
}

/** Numbers or texts, each once, in the order in which their places were first asked for. */
export function places<One>() {
  const known = new Map<One, number>()
  const all: One[] = []
  const place = (one: One): number => {
    const before = known.get(one)
    if (before !== undefined) return before
    known.set(one, all.length)
    return all.push(one) - 1
  }
  return { place, all }
}

/** The same order on every machine. */
function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

type RankPlaces = RankSeries['places'][number]

/** What most series have no days of. */
const nothing = {}

/** In a column: nothing was observed. */
const none = -(2 ** 31)

/**
 * What was observed of series, in columns of whole numbers: an entry for each day and series, those of a day side by side, as they are
 * read. Cells are doubled, for they may be halves.
 */
export function dayColumns({
  series: count,
  days,
  linkPlace,
}: {
  readonly series: number
  readonly days: number
  /** Place of a link among those of the history. */
  readonly linkPlace: (id: number) => number
}) {
  const column = () => new Int32Array(count * days).fill(none)
  const [cells, seen, absentDepths] = [column(), column(), column()]
  /** Numbers of links; 0 for none. */
  const links = new Uint32Array(count * days)
  const places = new Map<number, RankPlaces>()
  // Most days say the same as the day before, and need not be kept twice.
  const lastPlaces: { readonly json: string; readonly all: RankPlaces }[] = []

  const placesIn = (series: number, json: string): RankPlaces => {
    const last = lastPlaces[series]
    if (last?.json === json) return last.all
    const all = (JSON.parse(json) as RankPlaces).map(([rank, id]) => [rank, linkPlace(id)] as const)
    lastPlaces[series] = { json, all }
    return all
  }

  return {
    /** Takes the rank of a single result, doubled, and one more if it is estimated. */
    addRank(series: number, day: number, rank: number, link: number): void {
      const at = day * count + series
      if (cells[at] === none) {
        cells[at] = rank
        links[at] = link
      } else this.add(series, day, [0, 0, rank >> 1, (rank & 1) as 0 | 1, link, null])
    },
    /** Takes an observation; those of one day in the order of their runs, of which the last that knows more speaks. */
    add(series: number, day: number, row: ObservedRow): void {
      const at = day * count + series
      const cell = cells[at] as number
      if (cell !== none) {
        if (!replacesForDay(observedIn(row), dayValue(cell / 2, entry(seen, at)) as DayValue)) return
        seen[at] = none
        absentDepths[at] = none
        places.delete(at)
      }
      cells[at] = cellOf(row) * 2
      links[at] = row[2] === null ? 0 : (row[4] ?? 0)
      if (row[2] !== null) {
        if (row[5] !== null) places.set(at, placesIn(series, row[5]))
      } else if (row[3] !== null) {
        if (row[5] !== row[4]) seen[at] = row[5]
        absentDepths[at] = row[6]
      }
    },
    /** The days of a series. */
    read(
      series: number,
      {
        lookedAtOnly,
        partialDays = [],
      }: {
        /** Whether absence counts with what was looked at, however deep was asked. */
        readonly lookedAtOnly: boolean
        /** Days on which only a part of the job was asked: one on which nothing was observed is as the day before. */
        readonly partialDays?: readonly number[]
      },
    ): Omit<RankSeries, 'keyword' | 'target'> {
      for (const day of partialDays)
        if (day > 0 && cells[day * count + series] === none) stayOn(day * count + series)
      const ofDays = Array<DayCell>(days).fill(null)
      let depthsSeen: Record<number, number> | undefined
      let placesOf: Record<number, RankPlaces> | undefined
      const depthChanges: (readonly [day: number, depth: number])[] = []
      const linkChanges: (readonly [day: number, link: number | null])[] = []
      let [depth, link] = [none, 0]
      for (let day = 0, at = series; day < days; day++, at += count) {
        const cell = cells[at] as number
        if (cell === none) {
          if (link !== 0) linkChanges.push([day, null])
          link = 0
          continue
        }
        // A half is rare, and a whole number takes less room where it is known to be one.
        ofDays[day] = (cell & 1) === 0 ? cell >> 1 : cell / 2
        const [depthOfDay, linkOfDay] = [entry(absentDepths, at), links[at] as number]
        if (depthOfDay !== undefined && depthOfDay !== depth) {
          depth = depthOfDay
          if (!lookedAtOnly) depthChanges.push([day, depth])
        }
        if (linkOfDay !== link) {
          link = linkOfDay
          linkChanges.push([day, link === 0 ? null : linkPlace(link)])
        }
        const depthSeen = entry(seen, at)
        if (depthSeen !== undefined) {
          depthsSeen ??= {}
          depthsSeen[day] = depthSeen
        }
        const several = places.get(at)
        if (several !== undefined) {
          placesOf ??= {}
          placesOf[day] = several
        }
      }
      return {
        cells: ofDays,
        seen: depthsSeen ?? nothing,
        absentDepths: depthChanges,
        links: linkChanges,
        places: placesOf ?? nothing,
      }
    },
  }

  function stayOn(at: number): void {
    for (const column of [cells, links, seen, absentDepths]) column[at] = column[at - count] as number
    const several = places.get(at - count)
    if (several !== undefined) places.set(at, several)
  }
}

function entry(column: Int32Array, at: number): number | undefined {
  const value = column[at]
  return value === none ? undefined : value
}

function cellOf(row: ObservedRow): number {
  if (row[2] !== null) return rankedCell(row[2], row[3] === 1)
  return row[3] === null ? unknownCell : absentCell(row[4], row[3] === 1)
}

function observedIn(row: ObservedRow): ComparedObservation {
  if (row[2] !== null) return { state: 'ranked', rank: row[2], unbrokenDepth: Number.POSITIVE_INFINITY }
  const [, , rank, estimated, , depth] = row
  const unbrokenDepth = depth === -1 ? Number.POSITIVE_INFINITY : depth
  return { state: estimated === null ? 'unknown' : 'absent', rank, unbrokenDepth }
}

/**
 * A filtered history without what no series names any more: keywords, targets and links that are left are numbered anew.
 * So a report on one client's keywords, which goes to that client, carries no word of others.
 */
export function compact({ history, queryIds, ...more }: BuiltHistory): BuiltHistory {
  const { series } = history
  const keywords = renumbering(series.map(({ keyword }) => keyword))
  const targets = renumbering(series.map(({ target }) => target))
  const links = renumbering(series.flatMap(linksIn))
  return {
    ...more,
    queryIds: keywords.kept(queryIds),
    history: {
      ...history,
      keywords: keywords.kept(history.keywords),
      targets: targets.kept(history.targets),
      links: links.kept(history.links),
      series: series.map((one) => ({
        ...one,
        keyword: keywords.of(one.keyword),
        target: targets.of(one.target),
        links: one.links.map(([day, link]) => [day, link === null ? null : links.of(link)]),
        places: Object.fromEntries(
          Object.entries(one.places).map(([day, all]) => [
            day,
            all.map(([rank, link]) => [rank, links.of(link)]),
          ]),
        ),
      })),
    },
  }
}

function linksIn({ links, places }: RankSeries): readonly number[] {
  return [
    ...links.flatMap(([, link]) => link ?? []),
    ...Object.values(places).flatMap((all) => all.map(([, link]) => link)),
  ]
}

/** New places for those that are used, in their old order. */
function renumbering(used: readonly number[]) {
  const places = [...new Set(used)].sort((a, b) => a - b)
  const now = new Map(places.map((place, index) => [place, index]))
  return {
    of: (place: number): number => now.get(place) as number,
    kept: <T>(all: readonly T[]): readonly T[] => places.map((place) => all[place] as T),
  }
}
