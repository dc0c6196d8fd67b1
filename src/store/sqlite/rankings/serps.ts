import type { Database } from 'better-sqlite3'
import { and, eq, isNotNull, lt, max, ne, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { alias } from 'drizzle-orm/sqlite-core/alias'
import type { Target } from '../../../model/job.ts'
import { kindCodes, type ResultKind } from '../../../model/result.ts'
import type { Task } from '../../../model/run.ts'
import { drizzle, once } from '../connection/statements.ts'
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
import { asks } from '../views.ts'

export type SerpQuery = Pick<Task, 'queryId' | 'operation' | 'text' | 'params'>

/** A run that has results of a query, and the local day on which it started. */
export type SerpDate = ReturnType<typeof runsWithFirstPage>[number]

/** The results of a query in one run. */
export type SerpRecord = Pick<QueryRecord, 'run' | 'date' | 'end' | 'pages'>

/** One query of one run: what was asked, what came, and what it says of each target. */
export interface QueryRecord {
  readonly run: number
  readonly job: string
  /** Local day on which the run started. */
  readonly date: string
  readonly operation: string
  readonly text: string
  readonly params: Readonly<Record<string, string | number>>
  /** Pages at most. */
  readonly maxPages: number
  /** Documented size of a page, or null. */
  readonly pageSize: number | null
  /** Why no page follows any more; null while pages may follow. */
  readonly end: { readonly because: string; readonly kind: string } | null
  /** Those that were planned, in order. */
  readonly pages: readonly PageRecord[]
  readonly targets: readonly TargetRecord[]
}

export interface PageRecord {
  readonly page: number
  /** `open`: not fetched yet; `skipped`: not asked for, as its cause says; `pruned`: retention dropped its results. */
  readonly state: 'done' | 'failed' | 'open' | 'skipped' | 'pruned'
  readonly cause: string | null
  /** Its answer repeats another question than asked. */
  readonly mismatched?: true
  /** ISO 8601, UTC. */
  readonly fetchedAt: string | null
  readonly results: readonly ResultRecord[]
}

export type ResultRecord = Omit<ReturnType<ReturnType<typeof resultsOfPage>['all']>[number], 'kind'> & {
  readonly kind: ResultKind
}

/** A target of a query, with what the run observed of it. */
export type TargetRecord = ReturnType<typeof observedTargets>[number]

const [past, asked, wanted] = [alias(runs, 'past'), alias(runQueries, 'asked'), alias(queries, 'wanted')]
/** Named as in the order of `asks.asPlanned`. */
const [r, rt, tg] = [alias(runs, 'r'), alias(runTargets, 'rt'), alias(targets, 'tg')]

/** Condition on the day of a run; days are compared as texts. */
const isBefore = (date: SQLiteColumn, until: string | undefined) =>
  until === undefined ? undefined : lt(date, until)

/** The queries of a job, or those with a text, in the newest run that has one. */
function queriesAsked(db: Database, job: string, text: string | null, until: string | undefined) {
  const newest = drizzle(db)
    .select({ id: max(past.id) })
    .from(past)
    .where(
      and(
        eq(past.job, job),
        isBefore(past.date, until),
        text === null
          ? undefined
          : sql`EXISTS (SELECT 1 FROM ${queries} ${wanted} CROSS JOIN ${runQueries} ${asked}
              WHERE ${wanted.text} = ${text} AND ${asked.runId} = ${past.id} AND ${asked.queryId} = ${wanted.id}
                AND ${asked.planNumber} = ${past.planNumber})`,
      ),
    )
  return drizzle(db)
    .select({ queryId: queries.id, operation: queries.operation, text: queries.text, params: queries.params })
    .from(runs)
    .innerJoin(runQueries, and(eq(runQueries.runId, runs.id), eq(runQueries.planNumber, runs.planNumber)))
    .innerJoin(queries, eq(queries.id, runQueries.queryId))
    .where(and(eq(runs.id, newest), text === null ? undefined : eq(queries.text, text)))
    .orderBy(queries.text, queries.operation, queries.params)
    .all()
}

/** Runs of a job in which the first page of a query was answered. Several runs may share an answer. */
function runsWithFirstPage(db: Database, job: string, query: number, until: string | undefined) {
  return drizzle(db)
    .select({ run: runs.id, date: runs.date })
    .from(answers)
    .innerJoin(tasks, and(eq(tasks.answerId, answers.id), eq(tasks.state, 'done')))
    .innerJoin(runs, eq(runs.id, tasks.runId))
    .where(
      and(eq(answers.queryId, query), eq(answers.page, 1), eq(runs.job, job), isBefore(runs.date, until)),
    )
    .orderBy(runs.date, runs.id)
    .all()
}

/** The queries with this text in the newest run that observed or settled one. A run that stopped has observed `unknown`. */
function queriesLooked(db: Database, job: string, text: string, until: string | undefined) {
  const looked = sql`(SELECT max(${past.id}) FROM ${queries} ${wanted} CROSS JOIN ${runs} ${past}
      JOIN ${runQueries} ${asked} ON ${asked.runId} = ${past.id} AND ${asked.queryId} = ${wanted.id}
    WHERE ${and(eq(wanted.text, text), eq(past.job, job), isBefore(past.date, until))} AND (
      EXISTS (SELECT 1 FROM ${observations} WHERE ${observations.runId} = ${past.id} AND ${observations.queryId} = ${wanted.id})
      OR EXISTS (SELECT 1 FROM ${tasks} WHERE ${tasks.runId} = ${past.id} AND ${tasks.queryId} = ${wanted.id}
        AND ${tasks.state} IN ('done', 'failed'))))`
  return drizzle(db)
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
    .where(and(eq(runs.id, looked), eq(queries.text, text)))
    .orderBy(queries.operation, queries.params)
    .all()
}

const [theRun, theQuery] = [sql.placeholder('run'), sql.placeholder('query')]

/** How the paging of a query ended in a run. */
const endOf = (db: Database) =>
  drizzle(db)
    .select({ run: runs.id, date: runs.date, because: runQueries.pagingEnd, kind: runQueries.pagingKind })
    .from(runs)
    .leftJoin(runQueries, and(eq(runQueries.runId, runs.id), eq(runQueries.queryId, theQuery)))
    .where(eq(runs.id, theRun))
    .prepare()

/** The own targets of the query by the plan; targets that were added later are of the whole job. */
const plannedTargets = (db: Database) =>
  drizzle(db)
    .select({ site: tg.site, match: tg.match, also: tg.also, label: rt.label, own: rt.own })
    .from(runQueries)
    .innerJoin(
      rt,
      sql`${rt.runId} = ${runQueries.runId} AND ${rt.targetId} IN (
        SELECT value FROM json_each(coalesce(${runQueries.plannedTargets}, ${runQueries.targets})))`,
    )
    .innerJoin(tg, eq(tg.id, rt.targetId))
    .innerJoin(r, eq(r.id, runQueries.runId))
    .where(and(eq(runQueries.runId, theRun), eq(runQueries.queryId, theQuery)))
    .orderBy(sql.raw(asks.asPlanned))
    .prepare()

const pagesAsked = (db: Database) =>
  drizzle(db)
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
    .where(and(eq(tasks.runId, theRun), eq(tasks.queryId, theQuery)))
    .orderBy(tasks.page)
    .prepare()

/** The rank of a result over the pages of its query. Most tasks have no list of ranks, which costs nothing to find out. */
export const rankOf = sql<number>`coalesce(
  CASE WHEN ${tasks.ranks} IS NOT NULL THEN json_extract(${tasks.ranks}, '$[' || ${results.place} || ']') END,
  ${tasks.rankBase} + ${results.place} + 1)`

/** Results of a page in the order of its kinds, without related searches, which come with web results and have no rank. */
const resultsOfPage = (db: Database) =>
  drizzle(db)
    .select({
      kind: results.kind,
      rank: rankOf,
      /** As the service sent it. */
      position: results.position,
      title: results.title,
      snippet: results.snippet,
      link: links.link,
    })
    .from(tasks)
    .innerJoin(results, and(eq(results.answerId, tasks.answerId), ne(results.kind, kindCodes.related)))
    .leftJoin(links, eq(links.id, results.linkId))
    .where(
      and(
        eq(tasks.runId, theRun),
        eq(tasks.queryId, theQuery),
        eq(tasks.page, sql.placeholder('page')),
        eq(tasks.state, 'done'),
      ),
    )
    .orderBy(results.kind, results.place)
    .prepare()

function observedTargets(db: Database, run: number, query: number) {
  return drizzle(db)
    .select({
      site: tg.site,
      match: tg.match,
      label: rt.label,
      state: observations.state,
      rank: observations.rank,
      exactness: observations.exactness,
      depth: observations.depth,
      /** Page on which it ranks; null where that is not stored. */
      page: observations.page,
      unbrokenDepth: sql<number>`coalesce(${observations.unbrokenDepth}, ${observations.depth})`,
      own: rt.own,
      also: tg.also,
    })
    .from(observations)
    .innerJoin(tg, eq(tg.id, observations.targetId))
    .innerJoin(rt, and(eq(rt.runId, observations.runId), eq(rt.targetId, observations.targetId)))
    .innerJoin(r, eq(r.id, observations.runId))
    .where(and(eq(observations.runId, run), eq(observations.queryId, query)))
    .orderBy(sql.raw(asks.asPlanned))
    .all()
}

export function serpReader(db: Database) {
  const [ends, targets, pagesOf] = [once(() => endOf(db)), once(() => plannedTargets(db)), pageReader(db)]
  return {
    /**
     * Queries of the newest run of the job that asks any such query, in alphabetical order: those of a text, or all where that is null; of
     * runs from before a local day where one is named.
     */
    serpQueries: ({
      job,
      text,
      until,
    }: {
      readonly job: string
      readonly text: string | null
      readonly until?: string
    }): readonly SerpQuery[] => queriesAsked(db, job, text, until),
    /** Runs of the job that have the first page of a query, by day and run: those from before a local day where one is named. */
    serpDates: (
      { job, until }: { readonly job: string; readonly until?: string },
      query: number,
    ): readonly SerpDate[] => runsWithFirstPage(db, job, query, until),
    /** The pages of a query as a run left them. */
    storedSerp: (run: number, query: number): SerpRecord => {
      const { because, kind, ...at } = ends().get({ run, query }) as EndRow
      return { ...at, end: end(because, kind), pages: pagesOf(run, query) }
    },
    /** Targets that a query has in a run beside those of the whole job. */
    queryTargets: (run: number, query: number): readonly Target[] => targets().all({ run, query }),
    /** Queries of that text in the newest run of the job that has settled one. */
    queryRecords: async ({
      job,
      text,
      until,
    }: {
      readonly job: string
      readonly text: string
      /** Only runs from before this local day. */
      readonly until?: string
    }): Promise<readonly QueryRecord[]> =>
      queriesLooked(db, job, text, until).map(({ queryId, because, kind, ...query }) => ({
        ...query,
        end: end(because, kind),
        pages: pagesOf(query.run, queryId),
        targets: observedTargets(db, query.run, queryId),
      })),
  }
}

type EndRow = NonNullable<ReturnType<ReturnType<typeof endOf>['get']>>

function end(because: string | null, kind: string | null): QueryRecord['end'] {
  return because === null || kind === null ? null : { because, kind }
}

const kinds = new Map(Object.entries(kindCodes).map(([kind, code]) => [code as number, kind as ResultKind]))

/** Reads the stored pages of a query in a run. */
function pageReader(db: Database): (run: number, query: number) => readonly PageRecord[] {
  const [pages, results] = [once(() => pagesAsked(db)), once(() => resultsOfPage(db))]
  return (run, query) =>
    pages()
      .all({ run, query })
      .map(({ state, mismatched, pruned, ...page }) => ({
        ...page,
        ...(mismatched === 1 ? { mismatched: true as const } : {}),
        state:
          pruned === 1
            ? 'pruned'
            : state === 'done' || state === 'failed' || state === 'skipped'
              ? state
              : 'open',
        results: results()
          .all({ run, query, page: page.page })
          .map(({ kind, ...result }) => ({ ...result, kind: kinds.get(kind) as ResultKind })),
      }))
}
