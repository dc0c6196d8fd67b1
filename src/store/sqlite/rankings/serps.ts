import type { Database } from 'better-sqlite3'
import { and, eq, isNotNull, ne, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core/alias'
import { kindCodes, type ResultKind } from '../../../model/result.ts'
import type { PageRecord, QueryFilter, QueryRecord, ReportStore } from '../../reports.ts'
import { orm, prepared, type Values } from '../connection/statements.ts'
import {
  answers,
  links,
  observations,
  queries,
  results,
  runQueries,
  runs,
  runTargets,
  targets,
  tasks,
} from '../schema.ts'
import { asPlanned } from '../views.ts'

const [past, asked, wanted] = [alias(runs, 'past'), alias(runQueries, 'asked'), alias(queries, 'wanted')]
/** Named as in the order of `asPlanned`. */
const [r, rt, tg] = [alias(runs, 'r'), alias(runTargets, 'rt'), alias(targets, 'tg')]

/** The queries with this text in the newest run of the job that has one. */
const queriesAsked = prepared(($: Values<{ job: string; text: string | null; until: string | null }>) => {
  const newest = sql`(SELECT max(${past.id}) FROM ${runs} ${past}
    WHERE ${past.job} = ${$.job} AND (${$.until} IS NULL OR ${past.date} < ${$.until})
      AND (${$.text} IS NULL OR EXISTS (SELECT 1 FROM ${queries} ${wanted} CROSS JOIN ${runQueries} ${asked}
        WHERE ${wanted.text} = ${$.text} AND ${asked.runId} = ${past.id} AND ${asked.queryId} = ${wanted.id}
          AND ${asked.planNumber} = ${past.planNumber})))`
  return orm
    .select({ queryId: queries.id, operation: queries.operation, text: queries.text, params: queries.params })
    .from(runs)
    .innerJoin(runQueries, and(eq(runQueries.runId, runs.id), eq(runQueries.planNumber, runs.planNumber)))
    .innerJoin(queries, eq(queries.id, runQueries.queryId))
    .where(and(eq(runs.id, newest), sql`(${$.text} IS NULL OR ${queries.text} = ${$.text})`))
    .orderBy(queries.text, queries.operation, queries.params)
})

/** Several runs may share an answer. */
const runsWithFirstPage = prepared(($: Values<{ job: string; query: number; until: string | null }>) =>
  orm
    .select({ run: runs.id, date: runs.date })
    .from(answers)
    .innerJoin(tasks, and(eq(tasks.answerId, answers.id), eq(tasks.state, 'done')))
    .innerJoin(runs, eq(runs.id, tasks.runId))
    .where(
      sql`${answers.queryId} = ${$.query} AND ${answers.page} = 1 AND ${runs.job} = ${$.job}
        AND (${$.until} IS NULL OR ${runs.date} < ${$.until})`,
    )
    .orderBy(runs.date, runs.id),
)

const endOf = prepared(($: Values<{ run: number; query: number }>) =>
  orm
    .select({ run: runs.id, date: runs.date, because: runQueries.pagingEnd, kind: runQueries.pagingKind })
    .from(runs)
    .leftJoin(runQueries, and(eq(runQueries.runId, runs.id), eq(runQueries.queryId, $.query)))
    .where(eq(runs.id, $.run)),
)

/** The own targets of the query by the plan; targets that were added later are of the whole job. */
const plannedTargets = prepared(($: Values<{ run: number; query: number }>) =>
  orm
    .select({ site: tg.site, match: tg.match, also: tg.also, label: rt.label, own: rt.own })
    .from(runQueries)
    .innerJoin(
      rt,
      sql`${rt.runId} = ${runQueries.runId} AND ${rt.targetId} IN (
        SELECT value FROM json_each(coalesce(${runQueries.plannedTargets}, ${runQueries.targets})))`,
    )
    .innerJoin(tg, eq(tg.id, rt.targetId))
    .innerJoin(r, eq(r.id, runQueries.runId))
    .where(and(eq(runQueries.runId, $.run), eq(runQueries.queryId, $.query)))
    .orderBy(sql.raw(asPlanned)),
)

/** The queries with this text in the newest run that observed or settled one. A run that stopped has observed `unknown`. */
const queriesLooked = prepared(($: Values<{ job: string; text: string; until: string | null }>) => {
  const looked = sql`(SELECT max(${past.id}) FROM ${queries} ${wanted} CROSS JOIN ${runs} ${past}
      JOIN ${runQueries} ${asked} ON ${asked.runId} = ${past.id} AND ${asked.queryId} = ${wanted.id}
    WHERE ${wanted.text} = ${$.text} AND ${past.job} = ${$.job} AND (${$.until} IS NULL OR ${past.date} < ${$.until}) AND (
      EXISTS (SELECT 1 FROM ${observations} WHERE ${observations.runId} = ${past.id} AND ${observations.queryId} = ${wanted.id})
      OR EXISTS (SELECT 1 FROM ${tasks} WHERE ${tasks.runId} = ${past.id} AND ${tasks.queryId} = ${wanted.id}
        AND ${tasks.state} IN ('done', 'failed'))))`
  return orm
    .select({
      run: runs.id,
      job: runs.job,
      date: runs.date,
      queryId: queries.id,
      operation: queries.operation,
      text: queries.text,
      maxPages: runQueries.pages,
      pageSize: runQueries.pageSize,
      params: queries.params,
      because: runQueries.pagingEnd,
      kind: runQueries.pagingKind,
    })
    .from(runs)
    .innerJoin(runQueries, eq(runQueries.runId, runs.id))
    .innerJoin(queries, eq(queries.id, runQueries.queryId))
    .where(and(eq(runs.id, looked), eq(queries.text, $.text)))
    .orderBy(queries.operation, queries.params)
})

const pages = prepared(($: Values<{ run: number; query: number }>) =>
  orm
    .select({
      page: tasks.page,
      state: tasks.state,
      cause: tasks.cause,
      fetchedAt: sql<
        string | null
      >`strftime('%Y-%m-%dT%H:%M:%fZ', ${answers.fetchedAt} / 1000.0, 'unixepoch')`,
      mismatched: sql<0 | 1>`${isNotNull(answers.echoMismatch)}`,
      pruned: sql<0 | 1>`${isNotNull(answers.prunedAt)}`,
    })
    .from(tasks)
    .leftJoin(answers, eq(answers.id, tasks.answerId))
    .where(and(eq(tasks.runId, $.run), eq(tasks.queryId, $.query)))
    .orderBy(tasks.page),
)

/** The rank of a result over the pages of its query. Most tasks have no list of ranks, which costs nothing to find out. */
export const rankOf = sql<number>`coalesce(
  CASE WHEN ${tasks.ranks} IS NOT NULL THEN json_extract(${tasks.ranks}, '$[' || ${results.place} || ']') END,
  ${tasks.rankBase} + ${results.place} + 1)`

/** Without related searches, which come with web results and have no rank. */
const resultsOfPage = prepared(($: Values<{ run: number; query: number; page: number }>) =>
  orm
    .select({
      kind: results.kind,
      rank: rankOf,
      position: results.position,
      title: results.title,
      snippet: results.snippet,
      link: links.link,
    })
    .from(tasks)
    .innerJoin(results, and(eq(results.answerId, tasks.answerId), ne(results.kind, kindCodes.related)))
    .leftJoin(links, eq(links.id, results.linkId))
    .where(
      sql`${tasks.runId} = ${$.run} AND ${tasks.queryId} = ${$.query} AND ${tasks.page} = ${$.page}
        AND ${tasks.state} = 'done'`,
    )
    .orderBy(results.kind, results.place),
)

const observedTargets = prepared(($: Values<{ run: number; query: number }>) =>
  orm
    .select({
      site: tg.site,
      match: tg.match,
      label: rt.label,
      state: observations.state,
      rank: observations.rank,
      exactness: observations.exactness,
      depth: observations.depth,
      page: observations.page,
      unbrokenDepth: sql<number>`coalesce(${observations.unbrokenDepth}, ${observations.depth})`,
      own: rt.own,
      also: tg.also,
    })
    .from(observations)
    .innerJoin(tg, eq(tg.id, observations.targetId))
    .innerJoin(rt, and(eq(rt.runId, observations.runId), eq(rt.targetId, observations.targetId)))
    .innerJoin(r, eq(r.id, observations.runId))
    .where(and(eq(observations.runId, $.run), eq(observations.queryId, $.query)))
    .orderBy(sql.raw(asPlanned)),
)

export function serpReader(
  db: Database,
): Pick<ReportStore, 'serpQueries' | 'serpDates' | 'storedSerp' | 'queryTargets'> {
  return {
    serpQueries: ({ job, text, until = null }) => queriesAsked.all(db, { job, text, until }),
    serpDates: ({ job, until = null }, query) => runsWithFirstPage.all(db, { job, until, query }),
    storedSerp: (run, query) => {
      const { because, kind, ...at } = endOf.one(db, { run, query })
      return { ...at, end: end(because, kind), pages: pagesOf(db, run, query) }
    },
    queryTargets: (run, query) => plannedTargets.all(db, { run, query }),
  }
}

/** Reads the stored state of the queries with one text. */
export function queryRecords(db: Database, { job, text, until }: QueryFilter): readonly QueryRecord[] {
  return queriesLooked
    .all(db, { job, text, until: until ?? null })
    .map(({ queryId, because, kind, ...query }) => ({
      ...query,
      end: end(because, kind),
      pages: pagesOf(db, query.run, queryId),
      targets: observedTargets.all(db, { run: query.run, query: queryId }),
    }))
}

function end(because: string | null, kind: string | null): QueryRecord['end'] {
  return because === null || kind === null ? null : { because, kind }
}

const kinds = new Map(Object.entries(kindCodes).map(([kind, code]) => [code as number, kind as ResultKind]))

/** The stored pages of a query in a run. */
function pagesOf(db: Database, run: number, query: number): readonly PageRecord[] {
  return pages.all(db, { run, query }).map(({ state, mismatched, pruned, ...page }) => ({
    ...page,
    ...(mismatched === 1 ? { mismatched: true as const } : {}),
    state:
      pruned === 1
        ? 'pruned'
        : state === 'done' || state === 'failed' || state === 'skipped'
          ? state
          : 'open',
    results: resultsOfPage
      .all(db, { run, query, page: page.page })
      .map(({ kind, ...result }) => ({ ...result, kind: kinds.get(kind) as ResultKind })),
  }))
}
