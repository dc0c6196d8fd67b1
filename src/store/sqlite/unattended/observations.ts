import type { Database } from 'better-sqlite3'
import { eq, sql } from 'drizzle-orm'
import type { AlertStore, ObservationRow, ResultList } from '../../alerts.ts'
import { orm, prepared, type Values } from '../connection/statements.ts'
import { rankOf } from '../rankings/serps.ts'
import { wronglyDatedBefore } from '../rankings/suspicion.ts'
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

/** What alert rules are told of observations and results. */

/** Observations of a query's target that are read: three that count, the one before, and some that count with no rule. */
const mostObservations = 8

const queriesOf = prepared(($: Values<{ run: number }>) =>
  orm
    .select({
      id: queries.id,
      key: sql<string>`lower(hex(${queries.key}))`,
      operation: queries.operation,
      text: queries.text,
      params: queries.params,
      tags: rq.tags,
      volume: rq.volume,
    })
    .from(rq)
    .innerJoin(queries, eq(queries.id, rq.queryId))
    .where(eq(rq.runId, $.run))
    .orderBy(queries.text, queries.operation, queries.params),
)

const targetsOf = prepared(($: Values<{ run: number }>) =>
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
    .where(eq(runTargets.runId, $.run))
    .orderBy(targets.id),
)

/** Where all planned pages were checked, the planned depth counts: a page with one result less is no shallower observation. */
const depth = sql`coalesce((SELECT coalesce(${rq.depth}, ${rq.pages} * ${rq.pageSize}) FROM ${rq}
  WHERE ${rq.runId} = past.${sql.identifier(o.runId.name)} AND ${rq.queryId} = past.${sql.identifier(o.queryId.name)}
    AND past.${sql.identifier(o.unbrokenPages.name)} >= ${rq.pages}),
  past.${sql.identifier(o.unbrokenDepth.name)}, past.${sql.identifier(o.depth.name)})`

const past = (column: { readonly name: string }) => sql`past.${sql.identifier(column.name)}`

/** Each step back is one search in the index of a query's observations. */
const observationsOf = prepared(
  ($: Values<{ run: number; job: string; targets: string; leftOut: string }>) =>
    sql<{
      query: number
      target: number
      observations: string
    }>`SELECT ${o.queryId} AS query, ${o.targetId} AS target,
      (SELECT json_group_array(json_array(seen.rank, seen.depth, seen.pages, seen.link)) FROM (
        SELECT ${past(o.rank)} AS rank, ${depth} AS depth, ${past(o.unbrokenPages)} AS pages,
          (SELECT coalesce(${links.sameAs}, ${links.id}) FROM ${links} WHERE ${links.id} = ${past(o.linkId)}) AS link
        FROM ${o} past CROSS JOIN ${runs} ON ${runs.id} = ${past(o.runId)} AND ${runs.job} = ${$.job}
        WHERE ${past(o.queryId)} = ${o.queryId} AND ${past(o.targetId)} = ${o.targetId}
          AND ${past(o.runId)} <= ${o.runId} AND ${past(o.runId)} NOT IN (SELECT value FROM json_each(${$.leftOut})) AND ${past(o.state)} <> 'unknown' AND ${past(o.suspect)} = 0
        ORDER BY ${past(o.runId)} DESC LIMIT ${sql.raw(String(mostObservations))}) seen) AS observations
    FROM ${o} WHERE ${o.runId} = ${$.run} AND ${o.state} <> 'unknown' AND ${o.suspect} = 0
      AND ${o.targetId} IN (SELECT value FROM json_each(${$.targets}))`,
)

/** Those from the beginning of an alert about a whole run until the run that ended it. */
const suspectRuns = prepared(($: Values<{ run: number; job: string }>) =>
  orm
    .selectDistinct({ id: runs.id })
    .from(alerts)
    .innerJoin(runs, eq(runs.job, alerts.job))
    .where(
      sql`${alerts.job} = ${$.job} AND ${alerts.when} = 'suspect' AND json_extract(${alerts.identity}, '$[2]') = 'run'
        AND ${runs.id} >= ${alerts.openedRun} AND ${runs.id} < min(coalesce(${alerts.overRun}, ${$.run}), ${$.run})`,
    ),
)

function notComparedWith(db: Database, { id: run, job }: { readonly id: number; readonly job: string }) {
  return [...suspectRuns.all(db, { run, job }).map(({ id }) => id), ...wronglyDatedBefore(db, run)]
}

const runsOf = prepared(($: Values<{ run: number; job: string; query: number; most: number }>) =>
  orm
    .select({ id: runs.id })
    .from(runs)
    .crossJoin(tasks)
    .where(
      sql`${runs.job} = ${$.job} AND ${runs.id} <= ${$.run} AND ${tasks.runId} = ${runs.id}
        AND ${tasks.queryId} = ${$.query} AND ${tasks.page} = 1 AND ${tasks.state} = 'done'
        AND NOT EXISTS (SELECT 1 FROM ${answers} WHERE ${answers.id} = ${tasks.answerId} AND ${answers.echoMismatch} IS NOT NULL)`,
    )
    .orderBy(sql`${runs.id} DESC`)
    .limit($.most),
)

/** As one text, which takes half the time to read; sorted by SQLite, it would take longer again. */
const resultsOf = prepared(
  ($: Values<{ run: number; query: number; kind: number; top: number }>) =>
    sql<{
      rows: string
    }>`SELECT json_group_array(json_array(${tasks.page}, ${results.place}, ${rankOf}, ${links.link},
        coalesce(${hosts.site}, ${hosts.host}))) AS rows
      FROM ${tasks} CROSS JOIN ${results} ON ${results.answerId} = ${tasks.answerId} AND ${results.kind} = ${$.kind}
      CROSS JOIN ${links} ON ${links.id} = ${results.linkId} CROSS JOIN ${hosts} ON ${hosts.id} = ${links.hostId}
      WHERE ${tasks.runId} = ${$.run} AND ${tasks.queryId} = ${$.query} AND ${tasks.state} = 'done'
        AND ${tasks.rankBase} < ${$.top}`,
)

type RankedResultRow = readonly [page: number, place: number, rank: number, link: string, site: string]

function foundResults(
  db: Database,
  wanted: { readonly run: number; readonly query: number; readonly kind: number; readonly top: number },
) {
  const rows = JSON.parse(resultsOf.one(db, wanted).rows) as RankedResultRow[]
  rows.sort((a, b) => a[0] - b[0] || a[1] - b[1])
  return rows.map(([page, , rank, link, site]) => ({ page, rank, link, site }))
}

/** The first page that was not answered, and whether nothing can follow the pages before it. */
const gapOf = prepared(
  ($: Values<{ run: number; query: number }>) =>
    sql<{
      gap: number
      ended: number
    }>`SELECT gap, gap > ${rq.pages} OR ${rq.pagingKind} IS 'ended' AS ended FROM ${rq},
      (SELECT coalesce(min(${tasks.page}) FILTER (WHERE ${tasks.state} <> 'done'), max(${tasks.page}) + 1) AS gap
        FROM ${tasks} WHERE ${tasks.runId} = ${$.run} AND ${tasks.queryId} = ${$.query})
      WHERE ${rq.runId} = ${$.run} AND ${rq.queryId} = ${$.query}`,
)

function resultList(
  db: Database,
  wanted: { readonly run: number; readonly query: number; readonly kind: number; readonly top: number },
): ResultList {
  const found = foundResults(db, wanted)
  const reached = unbrokenDepth(found)
  return {
    results: found.filter(({ rank }) => rank <= wanted.top),
    depth: reached >= wanted.top ? reached : depthOf(),
  }

  function depthOf(): number {
    const { gap, ended } = gapOf.one(db, { run: wanted.run, query: wanted.query })
    const unbroken = found.flatMap(({ page, rank }) => (page < gap ? [rank] : []))
    return ended === 1 ? Number.POSITIVE_INFINITY : Math.max(0, ...unbroken)
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

type ObservationReads = Pick<
  AlertStore,
  'queriesOfRun' | 'targetsOfRun' | 'lastObservations' | 'notComparedWith' | 'runsWithResults' | 'resultList'
>

export function observationReads(db: Database): ObservationReads {
  return {
    queriesOfRun: (run) => queriesOf.all(db, { run }),
    targetsOfRun: (run) => targetsOf.all(db, { run }),
    *lastObservations({ id, job }, wanted) {
      const leftOut = JSON.stringify(notComparedWith(db, { id, job }))
      const asked = { run: id, job, targets: JSON.stringify(wanted), leftOut }
      for (const { observations, ...pair } of observationsOf.each(db, asked))
        yield { ...pair, observations: JSON.parse(observations) as ObservationRow[] }
    },
    notComparedWith: (run) => notComparedWith(db, run),
    runsWithResults: ({ id, job }, query, before) =>
      runsOf.all(db, { run: id, job, query, most: before + 1 }).map((run) => run.id),
    resultList: (wanted) => resultList(db, wanted),
  }
}
