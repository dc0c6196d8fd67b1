import type { Database } from 'better-sqlite3'
import { and, desc, eq, gte, lt, lte, sql } from 'drizzle-orm'
import type { Run } from '../../../model/run.ts'
import { volumeFinder } from '../clicks/volumes.ts'
import { drizzle, each, once } from '../connection/statements.ts'
import { wronglyDatedBefore } from '../rankings/observations.ts'
import { rankOf } from '../rankings/serps.ts'
import {
  answers,
  hosts,
  links,
  observations as o,
  queries,
  results,
  runQueries as rq,
  runs,
  runTargets,
  targets,
  tasks,
} from '../schema.ts'
import { alerts } from './schema.ts'

/** An answered observation of a target, as short as it can be said. Link: a number, mostly the same for the same page. */
type ObservationRow = readonly [rank: number | null, depth: number, pages: number | null, link: number | null]

/** Observations of a query's target that are read: three that count, the one before, and some that count with no rule. */
const mostObservations = 8

/** Where all planned pages were checked, the planned depth counts: a page with one result less is no shallower observation. */
const depth = sql`coalesce((SELECT coalesce(${rq.depth}, ${rq.pages} * ${rq.pageSize}) FROM ${rq}
  WHERE ${rq.runId} = past.${sql.identifier(o.runId.name)} AND ${rq.queryId} = past.${sql.identifier(o.queryId.name)}
    AND past.${sql.identifier(o.unbrokenPages.name)} >= ${rq.pages}),
  past.${sql.identifier(o.unbrokenDepth.name)}, past.${sql.identifier(o.depth.name)})`

const past = (column: { readonly name: string }) => sql`past.${sql.identifier(column.name)}`

/** Each step back is one search in the index of a query's observations. */
const lastObservations = (run: number, job: string, wanted: readonly number[], leftOut: readonly number[]) =>
  sql<{
    query: number
    target: number
    observations: string
  }>`SELECT ${o.queryId} AS query, ${o.targetId} AS target,
      (SELECT json_group_array(json_array(seen.rank, seen.depth, seen.pages, seen.link)) FROM (
        SELECT ${past(o.rank)} AS rank, ${depth} AS depth, ${past(o.unbrokenPages)} AS pages,
          (SELECT coalesce(${links.sameAs}, ${links.id}) FROM ${links} WHERE ${links.id} = ${past(o.linkId)}) AS link
        FROM ${o} past CROSS JOIN ${runs} ON ${runs.id} = ${past(o.runId)} AND ${runs.job} = ${job}
        WHERE ${past(o.queryId)} = ${o.queryId} AND ${past(o.targetId)} = ${o.targetId}
          AND ${past(o.runId)} <= ${o.runId} AND ${past(o.runId)} NOT IN (SELECT value FROM json_each(${JSON.stringify(leftOut)})) AND ${past(o.state)} <> 'unknown' AND ${past(o.suspect)} = 0
        ORDER BY ${past(o.runId)} DESC LIMIT ${mostObservations}) seen) AS observations
    FROM ${o} WHERE ${o.runId} = ${run} AND ${o.state} <> 'unknown' AND ${o.suspect} = 0
      AND ${o.targetId} IN (SELECT value FROM json_each(${JSON.stringify(wanted)}))`

/** Runs of a job until a run that were suspect as a whole: from the beginning of an alert about that until the run that ended it. */
function notComparedWith(db: Database, { id: run, job }: { readonly id: number; readonly job: string }) {
  const suspect = drizzle(db)
    .selectDistinct({ id: runs.id })
    .from(alerts)
    .innerJoin(runs, eq(runs.job, alerts.job))
    .where(
      and(
        eq(alerts.job, job),
        eq(alerts.when, 'suspect'),
        sql`json_extract(${alerts.identity}, '$[2]') = 'run'`,
        gte(runs.id, alerts.openedRun),
        sql`${runs.id} < min(coalesce(${alerts.overRun}, ${run}), ${run})`,
      ),
    )
    .all()
  return [...suspect.map(({ id }) => id), ...wronglyDatedBefore(db, run)]
}

/** Runs of a job up to a run whose first page of a query was answered, the newest first. Asked for many queries. */
const runsWithResults = (db: Database) =>
  drizzle(db)
    .select({ id: runs.id })
    .from(runs)
    .crossJoin(tasks)
    .where(
      and(
        eq(runs.job, sql.placeholder('job')),
        lte(runs.id, sql.placeholder('run')),
        eq(tasks.runId, runs.id),
        eq(tasks.queryId, sql.placeholder('query')),
        eq(tasks.page, 1),
        eq(tasks.state, 'done'),
        sql`NOT EXISTS (SELECT 1 FROM ${answers} WHERE ${answers.id} = ${tasks.answerId} AND ${answers.echoMismatch} IS NOT NULL)`,
      ),
    )
    .orderBy(desc(runs.id))
    .limit(sql.placeholder('most'))
    .prepare()

/** As one text, which takes half the time to read; sorted by SQLite, it would take longer again. Asked for many queries. */
const resultsOf = (db: Database) =>
  drizzle(db)
    .select({
      rows: sql<string>`json_group_array(json_array(${tasks.page}, ${results.place}, ${rankOf}, ${links.link},
        coalesce(${hosts.site}, ${hosts.host})))`,
    })
    .from(tasks)
    .crossJoin(results)
    .crossJoin(links)
    .crossJoin(hosts)
    .where(
      and(
        eq(tasks.runId, sql.placeholder('run')),
        eq(tasks.queryId, sql.placeholder('query')),
        eq(tasks.state, 'done'),
        lt(tasks.rankBase, sql.placeholder('top')),
        eq(results.answerId, tasks.answerId),
        eq(results.kind, sql.placeholder('kind')),
        eq(links.id, results.linkId),
        eq(hosts.id, links.hostId),
      ),
    )
    .prepare()

type RankedResultRow = readonly [page: number, place: number, rank: number, link: string, site: string]

/** The first page that was not answered, and whether nothing can follow the pages before it. */
const gapOf = (db: Database) =>
  db.prepare<{ run: number; query: number }, { gap: number; ended: number }>(
    `SELECT gap, gap > pages OR paging_kind IS 'ended' AS ended FROM run_queries,
      (SELECT coalesce(min(page) FILTER (WHERE state <> 'done'), max(page) + 1) AS gap
        FROM tasks_ WHERE run_id = @run AND query_id = @query)
    WHERE run_id = @run AND query_id = @query`,
  )

function resultReader(db: Database): (wanted: {
  readonly run: number
  readonly query: number
  readonly kind: number
  readonly top: number
}) => {
  readonly results: readonly { readonly rank: number; readonly site: string; readonly link: string }[]
  /** Distinct results checked without a gap; infinite where there are no more. */
  readonly depth: number
} {
  const [rowsOf, gap] = [once(() => resultsOf(db)), once(() => gapOf(db))]
  return ({ run, query, kind, top }) => {
    const rows = JSON.parse(rowsOf().get({ run, query, kind, top })?.rows ?? '[]') as RankedResultRow[]
    rows.sort((a, b) => a[0] - b[0] || a[1] - b[1])
    const found = rows.map(([page, , rank, link, site]) => ({ page, rank, link, site }))
    const depthOf = (): number => {
      const found = gap().get({ run, query }) as { readonly gap: number; readonly ended: number }
      const unbroken = rows.flatMap(([page, , rank]) => (page < found.gap ? [rank] : []))
      return found.ended === 1 ? Number.POSITIVE_INFINITY : Math.max(0, ...unbroken)
    }
    const reached = unbrokenDepth(found)
    return {
      results: found.filter(({ rank }) => rank <= top),
      depth: reached >= top ? reached : depthOf(),
    }
  }
}

/** The deepest rank on the pages from the first on that follow each other. */
function unbrokenDepth(found: readonly { readonly page: number; readonly rank: number }[]): number {
  let [last, depth] = [0, 0]
  for (const { page, rank } of found) {
    if (page > last + 1) break
    last = page
    depth = Math.max(depth, rank)
  }
  return depth
}

export type QueryOfRun = ReturnType<ReturnType<typeof observationReads>['queriesOfRun']>[number]

/** What alert rules are told of observations and results. */
export function observationReads(db: Database) {
  const orm = drizzle(db)
  const runsOf = once(() => runsWithResults(db))
  return {
    /** Queries that a run asked, in alphabetical order. */
    queriesOfRun: (run: number) => {
      const { volumeOf } = volumeFinder(db)
      return orm
        .select({
          id: queries.id,
          /** Hexadecimal. */
          key: sql<string>`lower(hex(${queries.key}))`,
          operation: queries.operation,
          text: queries.text,
          params: queries.params,
          tags: rq.tags,
          labels: rq.labels,
          volume: rq.volume,
          url: rq.url,
        })
        .from(rq)
        .innerJoin(queries, eq(queries.id, rq.queryId))
        .where(eq(rq.runId, run))
        .orderBy(queries.text, queries.operation, queries.params)
        .all()
        .map((one) => ({ ...one, volume: volumeOf(one.volume, one.text, one.params) }))
    },
    targetsOfRun: (
      run: number,
    ): readonly {
      readonly id: number
      readonly site: string
      readonly match: string
      readonly label: string
      readonly own: boolean
    }[] =>
      orm
        .select({
          id: targets.id,
          site: targets.site,
          match: targets.match,
          label: runTargets.label,
          own: runTargets.own,
        })
        .from(runTargets)
        .innerJoin(targets, eq(targets.id, runTargets.targetId))
        .where(eq(runTargets.runId, run))
        .orderBy(targets.id)
        .all(),
    /**
     * The last answered observations of the run's job up to that run, of each query and each of these targets that the run has one
     * for. Those that rest on an answer to another question, and those of runs that it is not compared with, count as not answered.
     */
    *lastObservations(
      { id, job }: Run,
      wanted: readonly number[],
    ): Iterable<{
      readonly query: number
      readonly target: number
      /** The newest first; the first one is of the run itself. */
      readonly observations: readonly ObservationRow[]
    }> {
      const leftOut = notComparedWith(db, { id, job })
      for (const { observations, ...pair } of each(db, lastObservations(id, job, wanted, leftOut)))
        yield { ...pair, observations: JSON.parse(observations) as ObservationRow[] }
    },
    /** Runs before a run that were suspect as a whole, as the alerts of its job tell, and those that a wrong clock has dated. */
    notComparedWith: (run: Run): readonly number[] => notComparedWith(db, run),
    /** The run, and up to `before` runs of its job before it that have results of the query, and not of another one: the newest first. */
    runsWithResults: ({ id, job }: Run, query: number, before: number): readonly number[] =>
      runsOf()
        .all({ run: id, job, query, most: before + 1 })
        .map((run) => run.id),
    /** Results of a kind down to a rank. */
    resultList: resultReader(db),
  }
}
