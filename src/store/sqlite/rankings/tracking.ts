import type { Database } from 'better-sqlite3'
import { eq, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Target } from '../../../model/job.ts'
import type { JobQuery } from '../../../model/query.ts'
import { featureBits, kindCodes, type ResultKind, type SerpFeature } from '../../../model/result.ts'
import type { Suspicion } from '../../../model/run.ts'
import { memoized } from '../../../model/text.ts'
import { storedTargets, type TargetRow } from '../cache.ts'
import { drizzle, once, raw } from '../connection/statements.ts'
import {
  answers as a,
  answers,
  continuations,
  hosts,
  items,
  links,
  observations as o,
  queries,
  runQueries as rq,
  runs,
  tasks as t,
  tasks,
  texts,
} from '../schema.ts'
import { restingQueries as resting } from '../unattended/schema.ts'
import { asks } from '../views.ts'
import { runSuspicion } from './observations.ts'

/** The features of first pages as bits, see `model/result`, place by place. */
type FoundFeatures = Readonly<Record<'queries' | 'features', readonly number[]>>

type QueryText = Pick<typeof queries.$inferSelect, 'id' | 'operation' | 'params'> & { readonly query: string }

type RunKeyword = QueryText & Pick<JobQuery, 'tags' | 'volume' | 'url' | 'labels'>

/** What a run observed. Ranks of single results are nearly all of it: a row for each would take twice as long to read. */
export interface ObservedRun {
  readonly ranked: RankColumns
  readonly others: readonly ObservedRow[]
}

/** Observations of one result each, place by place. */
type RankColumns = Readonly<Record<'queries' | 'targets', readonly number[]>> & {
  /** Twice the rank, and one more if it is estimated. */
  readonly ranks: readonly number[]
  /** 0 for none. */
  readonly links: readonly number[]
}

/** One observation, as short as it can be said. */
export type ObservedRow = RankedRow | UnrankedRow

/** Link and places as in the table `observations`; the latter is JSON. */
type RankedRow = readonly [
  query: number,
  target: number,
  rank: number,
  estimated: 0 | 1,
  link: number | null,
  places: string | null,
]

/**
 * `unknown` where `estimated` is null; the unbroken depth is -1 where the results ended. The depth that absence counts with
 * is the planned one, or the checked one where paging ended for another reason than the results.
 */
type UnrankedRow = readonly [...Unranked, absentDepth: number]

type Unranked = [
  query: number,
  target: number,
  rank: null,
  estimated: 0 | 1 | null,
  depth: number,
  unbrokenDepth: number,
]

/** The same as it is stored, with the pages that were checked without a gap in the place of the last depth. */
type StoredAbsence = [...Unranked, unbrokenPages: number | null]

/** The results of a query in a run. */
interface ResultsRequest {
  readonly run: number
  readonly query: number
  readonly kind: ResultKind
  /** The deepest rank that is read. */
  readonly top: number
}

/** One of the first results of a query. */
export type FirstResult = ReturnType<typeof firstResults>[number]['results'][number]

const unbrokenDepth = sql`coalesce(${o.unbrokenDepth}, ${o.depth})`

const hasOneResult = sql`${o.state} = 'ranked' AND ${o.places} IS NULL`
const isEstimated = sql`${o.exactness} = 'estimated'`

/** A column of those that rank with one result. */
function rankColumn(value: SQL | SQLiteColumn) {
  return sql`json_group_array(${value}) FILTER (WHERE ${hasOneResult})`
}

/** All observations of a run as five texts, which takes a third of the time of rows. A ranked row needs no depth; of others the last value is the unbroken pages. */
const observedInRun = (run: number) =>
  sql<Record<keyof RankColumns | 'others', string>>`SELECT ${rankColumn(o.queryId)} AS queries,
      ${rankColumn(o.targetId)} AS targets, ${rankColumn(sql`2 * ${o.rank} + (${isEstimated})`)} AS ranks,
      ${rankColumn(sql`coalesce(${o.linkId}, 0)`)} AS links,
      json_group_array(CASE ${o.state}
        WHEN 'ranked' THEN json_array(${o.queryId}, ${o.targetId}, ${o.rank}, ${isEstimated}, ${o.linkId}, ${o.places})
        ELSE json_array(${o.queryId}, ${o.targetId}, NULL, CASE ${o.state} WHEN 'absent' THEN ${isEstimated} END,
          ${o.depth}, ${unbrokenDepth}, ${o.unbrokenPages}) END) FILTER (WHERE NOT (${hasOneResult})) AS others
    FROM ${o} WHERE ${o.runId} = ${run}`

/** How paging ended for each query of a run, and the depth that was planned; as columns, like the observations. */
const pagingInRun = (run: number) =>
  sql<Record<keyof PagingColumns, string>>`SELECT json_group_array(${rq.queryId}) AS queries,
      json_group_array(coalesce(${rq.pagingKind} = 'ended', 0)) AS ended,
      json_group_array(coalesce(${rq.pagingKind} = 'dormant', 0)) AS dormant, json_group_array(${rq.pages}) AS pages,
      json_group_array(coalesce(${rq.depth}, ${rq.pages} * ${rq.pageSize}, 0)) AS depths
    FROM ${rq} WHERE ${rq.runId} = ${run}`

type PagingColumns = Readonly<Record<'queries' | 'ended' | 'dormant' | 'pages' | 'depths', readonly number[]>>

/** What is asked of several queries, as rows; the limit keeps SQLite from reading its JSON again for every page. */
function requestsIn(requests: string) {
  return sql`(SELECT key, value ->> 0 AS run, value ->> 1 AS query, value ->> 2 AS top
    FROM json_each(${requests}) LIMIT -1) request`
}

const ofRequest = sql`FROM ${o} WHERE ${o.runId} = request.run AND ${o.queryId} = request.query`

/** How many results of each query were checked without a gap; more than any number where the results ended. */
const deepest = (requests: string) =>
  sql<{ depths: string }>`SELECT json_group_array(
        CASE WHEN ${rq.pagingKind} = 'ended' AND (SELECT max(${o.unbrokenPages}) ${ofRequest}) >= ${rq.pages} THEN 1e999
          ELSE coalesce((SELECT max(${unbrokenDepth}) ${ofRequest}), 0) END ORDER BY request.key) AS depths
      FROM ${requestsIn(requests)}
      LEFT JOIN ${rq} ON ${rq.runId} = request.run AND ${rq.queryId} = request.query`

/**
 * The keywords of a run, with what rests while it asks a part of its job. Cross joins keep their order: SQLite would read all
 * queries of the database first.
 */
const keywordsOf = raw`SELECT q.${queries.id}, q.${queries.text} AS query, q.${queries.operation}, q.${queries.params},
    rq.${rq.volume}, rq.${rq.url}, rq.${rq.tags}, rq.${rq.labels}
  FROM (SELECT mine.${rq.runId}, mine.${rq.queryId} FROM ${runs} r JOIN ${rq} mine ON mine.${rq.runId} = r.${runs.id}
      AND mine.${rq.planNumber} = r.${runs.planNumber} WHERE r.${runs.id} = @run
    UNION ALL SELECT ${resting.lastRun}, ${resting.queryId} FROM ${resting} WHERE ${resting.runId} = @run) asked
  CROSS JOIN ${rq} rq CROSS JOIN ${queries} q
  WHERE rq.${rq.runId} = asked.run_id AND rq.${rq.queryId} = asked.query_id AND q.${queries.id} = asked.query_id
  ORDER BY q.${queries.text}, q.${queries.operation}, q.${queries.params}`

const queryOf = raw`SELECT ${queries.id}, ${queries.text} AS query, ${queries.operation}, ${queries.params}
  FROM ${queries} WHERE ${queries.id} = ?`

/** A row whose columns hold JSON. */
type AsStored<Row, Columns extends keyof Row> = Omit<Row, Columns> & Readonly<Record<Columns, string>>

const targetsAsked = `SELECT tg.id, tg.site, tg.match, tg.also, t.label, t.own
  FROM ${asks.targets} t JOIN targets tg ON tg.id = t.target_id ORDER BY t.place`

const pairsAsked = `WITH ordered AS MATERIALIZED ${asks.targets}
  SELECT rq.query_id, rt.target_id
  FROM ${asks.queries} asked JOIN run_queries rq ON rq.run_id = asked.run_id AND rq.query_id = asked.query_id
    JOIN queries q ON q.id = rq.query_id
    JOIN run_targets rt ON rt.run_id = rq.run_id JOIN targets tg ON tg.id = rt.target_id
    JOIN ordered t ON t.target_id = rt.target_id
  WHERE ${asks.isTracked} ORDER BY q.text, q.operation, q.params, t.place`

/** The answers of each query, page by page, with the lists of those that may have results so far up. */
const pagesOf = (requests: string) =>
  sql<StoredPage>`SELECT request.key AS request, ${tasks.rankBase} AS rankBase, ${tasks.ranks} AS ranks,
        CASE WHEN ${tasks.state} = 'done' AND ${tasks.rankBase} < request.top THEN ${answers.items} END AS items,
        ${answers.positions} AS positions, ${answers.prunedAt} IS NOT NULL AS pruned
      FROM ${requestsIn(requests)}
      CROSS JOIN ${tasks} ON ${tasks.runId} = request.run AND ${tasks.queryId} = request.query
      CROSS JOIN ${answers} ON ${answers.id} = ${tasks.answerId}
      ORDER BY request.key, ${tasks.page}`

interface StoredPage {
  readonly request: number
  readonly rankBase: number
  readonly ranks: string | null
  readonly items: string | null
  readonly positions: string | null
  readonly pruned: 0 | 1
}

/** What items say, each with its place in the list, as four texts: rows take twice as long to read. */
const saidBy = (ids: string) =>
  sql<Record<'places' | keyof Said, string>>`SELECT json_group_array(listed.key) AS places,
      json_group_array(${items.title}) AS title, json_group_array(${links.link}) AS link,
      json_group_array(coalesce(${hosts.site}, ${hosts.host})) AS site
    FROM json_each(${ids}) listed LEFT JOIN ${items} ON ${items.id} = listed.value
    LEFT JOIN ${links} ON ${links.id} = ${items.linkId} LEFT JOIN ${hosts} ON ${hosts.id} = ${links.hostId}`

/** Reads the queries and observations of runs, by numbers; texts are read separately. */
export function trackingStore(db: Database) {
  // Prepared when they are asked: most commands read no contents of runs.
  const statements = once(() => ({
    targets: db.prepare<unknown[], TargetRow>(targetsAsked),
    pairs: db.prepare<unknown[], [number, number]>(pairsAsked).raw(),
    keywords: db.prepare<unknown[], AsStored<RunKeyword, 'params' | 'tags' | 'labels'>>(keywordsOf),
  }))
  const query = once(() => db.prepare<unknown[], AsStored<QueryText, 'params'>>(queryOf))
  const orm = drizzle(db)
  return {
    /**
     * What a run asks for, with what rests while it asks a part of its job: its queries by text, operation and params, and those of these targets of the whole job that it
     * has, with those of single queries. Own targets come first, each group in the order of `targets`, then as the job file
     * names them.
     */
    contentsOf: (run: number, targetsOfJob: readonly Target[]) => {
      const { targets, pairs, keywords } = statements()
      // Most queries say the same.
      const read = memoized((json): unknown => JSON.parse(json))
      const named = storedTargets.named(targetsOfJob)
      const asked = pairs.all({ run, named })
      const watched = new Set(asked.map(([, target]) => target))
      return {
        queries: keywords.all({ run }).map((row) => ({
          id: row.id,
          query: row.query,
          operation: row.operation,
          volume: row.volume,
          url: row.url,
          params: read(row.params) as QueryText['params'],
          tags: read(row.tags) as readonly string[],
          labels: read(row.labels) as Readonly<Record<string, string>>,
        })),
        targets: targets
          .all({ run, named })
          .filter(({ id }) => watched.has(id))
          .map(storedTargets.fromRow),
        /** Query and target of each observation that the run is to make, in the order of the two lists. */
        pairs: asked as readonly (readonly [query: number, target: number])[],
      }
    },
    /** Queries of a job that go on with the history of another one, each with the first run that asked it. */
    continuations: (job: string) =>
      orm
        .select({ run: continuations.runId, query: continuations.queryId, former: continuations.formerId })
        .from(continuations)
        .innerJoin(runs, eq(runs.id, continuations.runId))
        .where(eq(runs.job, job))
        .all(),
    /** Runs of a job that asked a part of it: what they left out stays as it was. */
    partialRuns: (job: string): ReadonlySet<number> =>
      new Set(
        orm
          .selectDistinct({ run: resting.runId })
          .from(runs)
          .innerJoin(resting, eq(resting.runId, runs.id))
          .where(eq(runs.job, job))
          .all()
          .map(({ run }) => run),
      ),
    /** Everything that a run observed, in any order; what a query observed mostly stands together. */
    observedIn: (run: number): ObservedRun => observedIn(db, run),
    /** Texts of queries that some run asked. */
    queries: (ids: readonly number[]): readonly QueryText[] =>
      ids.map((id) => {
        const { params, ...row } = query().get(id) as AsStored<QueryText, 'params'>
        return { ...row, params: JSON.parse(params) as QueryText['params'] }
      }),
    links: (ids: readonly number[]): readonly string[] =>
      orm
        .all<{ link: string }>(sql`SELECT ${links.link} AS link FROM json_each(${JSON.stringify(ids)}) ids
          CROSS JOIN ${links} ON ${links.id} = ids.value ORDER BY ids.key`)
        .map(({ link }) => link),
    /** The distinct results of each query down to its rank. All are read at once. */
    firstResults: (requests: readonly ResultsRequest[]) => firstResults(db, requests),
    /** What the first pages of a run had beside their results; without pages that have no answer. */
    featuresIn: (run: number): FoundFeatures => featuresIn(db, run),
    /** Why a run as a whole is suspect, or the run that it looked again at; null where it is not. */
    suspicionOf: (run: number): Suspicion | null => runSuspicion(db, run),
  }
}

/** Texts that hold columns of numbers. */
function columnsIn<Column extends string>(texts: Readonly<Record<Column, string>>) {
  const all = Object.entries<string>(texts).map(([name, text]) => [name, JSON.parse(text)])
  return Object.fromEntries(all) as Readonly<Record<Column, readonly number[]>>
}

/** What was planned of a query is read once for all its observations: to look it up for each takes longer than to read them. */
function observedIn(db: Database, run: number): ObservedRun {
  const { others, ...ranked } = drizzle(db).get<Record<keyof RankColumns | 'others', string>>(
    observedInRun(run),
  )
  const rows = JSON.parse(others) as (RankedRow | StoredAbsence)[]
  const pagingOf = once(() =>
    columnsIn(drizzle(db).get<Record<keyof PagingColumns, string>>(pagingInRun(run))),
  )
  let place = 0
  for (const row of rows) {
    if (row[2] !== null) continue
    const [query, , , estimated, depth, , unbrokenPages] = row
    const paging = pagingOf()
    // Both lists are mostly in the same order.
    const next = paging.queries.indexOf(query, place)
    place = next < 0 ? paging.queries.indexOf(query) : next
    const pages = paging.pages[place] ?? 0
    const isWhole = unbrokenPages !== null && unbrokenPages >= pages
    const isDormant = paging.dormant[place] === 1
    if (isWhole && paging.ended[place] === 1) row[5] = -1
    row[6] = estimated === 1 || isDormant || isWhole ? Math.max(depth, paging.depths[place] ?? 0) : depth
    // The paging policy skipped the deeper pages, which is like a gap.
    if (estimated !== null && isDormant && !isWhole) row[3] = 1
  }
  return { ranked: columnsIn(ranked), others: rows as readonly ObservedRow[] }
}

function firstResults(db: Database, requests: readonly ResultsRequest[]) {
  const asked = JSON.stringify(requests.map(({ run, query, top }) => [run, query, top]))
  const depths = JSON.parse(drizzle(db).get<{ depths: string }>(deepest(asked)).depths) as number[]
  const places = new Map<number, number>()
  const found = requests.map((): PlacedItem[] => [])
  for (const page of drizzle(db).all<StoredPage>(pagesOf(asked))) {
    const { request, items } = page
    // A part of the results is not shown as all of them.
    if (page.pruned === 1) depths[request] = 0
    if (items === null || depths[request] === 0) continue
    const { kind, top } = requests[request] as ResultsRequest
    const ofRequest = found[request] as PlacedItem[]
    for (const one of placedItems(page, items, kindCodes[kind])) {
      // Ranks rise from result to result, except those of repeats.
      if (one.rank > top || one.rank <= (ofRequest.at(-1)?.rank ?? 0)) continue
      if (!places.has(one.item)) places.set(one.item, places.size)
      ofRequest.push(one)
    }
  }
  const said = saidOf(db, [...places.keys()])
  for (const results of found)
    for (const one of results) one.says = said[places.get(one.item) as number] as Said
  return found.map((results, request) => {
    const depth = depths[request] as number
    return {
      /** How many distinct results were checked without a gap; infinite where the results ended, 0 where nothing is known. */
      depth,
      /** The best first; none where nothing is known. */
      results: (depth === 0 ? [] : results) as readonly Readonly<PlacedItem>[],
    }
  })
}

/** What items say, one by one. */
function saidOf(db: Database, ids: readonly number[]): readonly Said[] {
  const { places, title, link, site } = drizzle(db).get<Record<'places' | keyof Said, string>>(
    saidBy(JSON.stringify(ids)),
  )
  const [titles, links, sites] = [title, link, site].map(
    (texts) => JSON.parse(texts) as readonly (string | null)[],
  )
  const said: Said[] = []
  const listed = JSON.parse(places) as readonly number[]
  for (let at = 0; at < listed.length; at++)
    said[listed[at] as number] = {
      title: titles?.[at] ?? null,
      link: links?.[at] ?? null,
      site: sites?.[at] ?? null,
    }
  return said
}

const nothingSaid: Said = { title: null, link: null, site: null }

/** What a result says; of its link the registrable domain, or the host where it has none. */
type Said = Readonly<Record<'title' | 'link' | 'site', string | null>>

type PlacedItem = ReturnType<typeof placedItems>[number]

/** The results of one kind on a page. One that repeats an earlier result has its rank. */
function placedItems(
  { ranks: storedRanks, rankBase, positions: stored }: StoredPage,
  items: string,
  code: number,
) {
  const list = (JSON.parse(items) as Record<number, readonly number[]>)[code] ?? []
  const ranks = storedRanks === null ? [] : (JSON.parse(storedRanks) as readonly (number | null)[])
  const positions =
    stored === null
      ? undefined
      : (JSON.parse(stored) as Record<number, readonly (number | null)[] | null>)[code]
  return list.map((item, place) => ({
    rank: ranks[place] ?? rankBase + place + 1,
    /** As the service sent it; for AI references their index. */
    position: positions === undefined ? place + 1 : (positions?.[place] ?? null),
    item,
    /** One object for results that say the same, of all that are read at once. */
    says: nothingSaid,
  }))
}

/** The service may send an empty object in place of no panel. */
const hasPanel = sql`(${a.knowledgeGraph} IS NOT NULL AND EXISTS (SELECT 1 FROM ${texts}
  WHERE ${texts.id} = ${a.knowledgeGraph} AND ${texts.text} NOT IN ('', '{}', '[]')))`

/** The keys of the lists are their only texts: to look for one is quicker than to read the JSON. */
const hasRelated = sql`(coalesce(instr(${a.items}, ${sql.raw(`'"${kindCodes.related}":'`)}), 0) > 0)`

function bitIf(feature: SerpFeature, condition: SQL) {
  return sql`(${condition}) * ${sql.raw(String(featureBits([feature])))}`
}

/** Of all answers to first pages. What retention dropped is not known any more. */
function featuresIn(db: Database, run: number): FoundFeatures {
  return columnsIn(
    drizzle(db).get<Record<keyof FoundFeatures, string>>(sql`
    SELECT json_group_array(${t.queryId}) AS queries,
      json_group_array(${bitIf('knowledge', hasPanel)} + ${bitIf('related', hasRelated)}) AS features
    FROM ${t} CROSS JOIN ${a} WHERE ${t.runId} = ${run} AND ${t.page} = 1 AND ${t.state} = 'done'
      AND ${a.id} = ${t.answerId} AND ${a.prunedAt} IS NULL`),
  )
}
