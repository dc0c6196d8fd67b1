import type { Database } from 'better-sqlite3'
import { and, desc, eq, lte, sql } from 'drizzle-orm'
import { kindCodes } from '../../../model/result.ts'
import { type Suspicion, suspicions } from '../../../model/run.ts'
import { groupedBy } from '../../../model/text.ts'
import { inOrderOfRuns } from '../../../model/time.ts'
import { drizzle, once, raw } from '../connection/statements.ts'
import {
  answers,
  countedRuns,
  items,
  links,
  rankCounts as n,
  observations as o,
  queries,
  results,
  runQueries as rq,
  runTargets as rt,
  runs,
  tasks,
} from '../schema.ts'
import { rechecks } from '../unattended/schema.ts'

/** Queries by their numbers, both ends included. */
const allQueries = { from: 0, to: Number.MAX_SAFE_INTEGER }

const fill = (pairs: string): string =>
  raw`INSERT OR IGNORE INTO ${o} (${o.runId}, ${o.queryId}, ${o.targetId}, ${o.observedAt}, ${o.state}, ${o.depth})
    SELECT rq.${rq.runId}, rq.${rq.queryId}, rt.${rt.targetId}, @at, 'unknown', 0
    FROM ${pairs} AND rq.${rq.queryId} BETWEEN @from AND @to AND rq.${rq.planNumber} > 0`

const fillOfJob = fill(raw`${rt} rt CROSS JOIN ${rq} rq ON rq.${rq.runId} = rt.${rt.runId}
    WHERE rt.${rt.runId} = @run AND rt.${rt.everywhere} = 1`)

const fillOfQueries =
  fill(raw`${rq} rq CROSS JOIN ${rt} rt ON rt.${rt.runId} = rq.${rq.runId} AND rt.${rt.everywhere} = 0
      AND rt.${rt.targetId} IN (SELECT value FROM json_each(rq.${rq.targets}))
    WHERE rq.${rq.runId} = @run AND rq.${rq.targets} <> '[]'`)

/**
 * Marks targets without an observation as unknown. Inside a transaction. Targets of the whole job and of single queries have
 * separate statements, because a run may have as many targets as queries.
 */
export function recordUnknown(db: Database, run: number, at: number, queries = allQueries): void {
  for (const statement of [fillOfJob, fillOfQueries]) db.prepare(statement).run({ run, at, ...queries })
}

/**
 * Queries of a run that have answers but lack the observation of one of their targets: at most `most`, in the order of their
 * numbers.
 */
export function unobserved(
  db: Database,
  run: number,
  queries = allQueries,
  most = Number.MAX_SAFE_INTEGER,
): readonly number[] {
  // A run without targets: this saves reading a million queries.
  const orm = drizzle(db)
  if (orm.select({ id: rt.targetId }).from(rt).where(eq(rt.runId, run)).get() === undefined) return []
  // The `+` keeps SQLite from searching all tasks that are done for the one query.
  const found = orm.all<{ id: number }>(sql`WITH everywhere AS MATERIALIZED (
        SELECT ${rt.targetId} AS target FROM ${rt} WHERE ${rt.runId} = ${run} AND ${rt.everywhere} = 1)
      SELECT ${rq.queryId} AS id FROM ${rq}
      WHERE ${rq.runId} = ${run} AND ${rq.queryId} BETWEEN ${queries.from} AND ${queries.to} AND ${rq.planNumber} > 0
        AND EXISTS (SELECT 1 FROM (
          SELECT target FROM everywhere
          UNION ALL SELECT ${rt.targetId} FROM ${rt} WHERE ${rt.runId} = ${run} AND ${rt.everywhere} = 0
            AND ${rt.targetId} IN (SELECT value FROM json_each(${rq.targets}))) watched
          WHERE NOT EXISTS (SELECT 1 FROM ${o} WHERE ${o.runId} = ${run} AND ${o.queryId} = ${rq.queryId}
            AND ${o.targetId} = watched.target AND (${o.state} <> 'unknown' OR ${o.depth} > 0)))
        AND EXISTS (SELECT 1 FROM ${tasks}
          WHERE ${tasks.runId} = ${run} AND ${tasks.queryId} = ${rq.queryId} AND +${tasks.state} = 'done')
      ORDER BY ${rq.queryId} LIMIT ${most}`)
  return found.map(({ id }) => id)
}

/*
 * Rank totals: how many queries have the same state and rank for a target. They follow from `observations` and are stored for
 * finished runs, so that years need not be read query by query. A change to observations of such a run drops its totals in the
 * same transaction (by a trigger if the run continues). Until they are counted again, the views read the observations.
 */

/** Observations of some runs (rows `r` with an `id`), counted. */
export function countedObservations(ofRuns: string): string {
  return raw`SELECT o.${o.runId}, o.${o.targetId}, o.${o.state}, coalesce(o.${o.exactness} = 'estimated', 0) AS ${n.estimated},
      CASE o.${o.state} WHEN 'ranked' THEN o.${o.rank} WHEN 'absent' THEN o.${o.depth} ELSE 0 END AS ${n.place},
      count(*) AS ${n.queries}, sum(CAST(rq.${rq.volume} AS INTEGER)) AS ${n.volume}
    FROM ${ofRuns} r JOIN ${o} o ON o.${o.runId} = r.${runs.id}
      JOIN ${rq} rq ON rq.${rq.runId} = o.${o.runId} AND rq.${rq.queryId} = o.${o.queryId}
    GROUP BY 1, 2, 3, 4, 5`
}

/** Runs without further observations. A closed run may still wait for answers; one that has not completed may continue. */
const isOver = sql`(${runs.finishReason} IN ('completed', 'completed_with_failures') OR ${runs.closedAt} IS NOT NULL)
  AND NOT EXISTS (SELECT 1 FROM ${countedRuns} WHERE ${countedRuns.runId} = ${runs.id})
  AND NOT EXISTS (SELECT 1 FROM ${tasks} WHERE ${tasks.runId} = ${runs.id}
    AND (${tasks.state} = 'accepted' OR ${tasks.state} = 'answered'))`

const addCounts = raw`INSERT INTO ${n} (${n.runId}, ${n.targetId}, ${n.state}, ${n.estimated}, ${n.place}, ${n.queries}, ${n.volume})
    ${countedObservations('(SELECT ? AS id)')}`

/** The rank totals of a database. Changes stand inside a transaction. */
export function rankTotals(db: Database) {
  const orm = drizzle(db)
  return {
    /** Runs that are over and not counted, the newest first. */
    uncountedRuns: (): readonly number[] =>
      orm
        .select({ id: runs.id })
        .from(runs)
        .where(isOver)
        .orderBy(desc(runs.id))
        .all()
        .map(({ id }) => id),
    /** Counts a run, if it is over and not counted. */
    count: (run: number): void => {
      const found = orm
        .select({ id: runs.id })
        .from(runs)
        .where(and(eq(runs.id, run), isOver))
        .get()
      if (found === undefined) return
      orm.delete(n).where(eq(n.runId, run)).run()
      db.prepare(addCounts).run(run)
      orm.insert(countedRuns).values({ runId: run }).run()
    },
    /** Drops the totals of a run. */
    drop: (run: number): void => void orm.delete(countedRuns).where(eq(countedRuns.runId, run)).run(),
    /** Drops the totals of a job's runs, or of all. */
    dropOfJob: (job: string | null): void =>
      void orm
        .delete(countedRuns)
        .where(
          job === null
            ? undefined
            : sql`${countedRuns.runId} IN (SELECT ${runs.id} FROM ${runs} WHERE ${runs.job} = ${job})`,
        )
        .run(),
  }
}

const [now, past] = [sql.identifier('now'), sql.identifier('past')]
const id = (name: { readonly name: string }) => sql.identifier(name.name)

/** Where an absence does not reach the rank before, it says nothing of it. */
const reach = sql`(SELECT CASE WHEN ${now}.${id(o.unbrokenPages)} >= ${rq.pages}
    THEN coalesce(${rq.depth}, ${rq.pages} * ${rq.pageSize}, 1e9)
    ELSE coalesce(${now}.${id(o.unbrokenDepth)}, ${now}.${id(o.depth)}) END
  FROM ${rq} WHERE ${rq.runId} = ${now}.${id(o.runId)} AND ${rq.queryId} = ${now}.${id(o.queryId)})`

/** Runs of its job before a run that a wrong clock has dated: nothing is compared with them. */
export function wronglyDatedBefore(db: Database, run: number): readonly number[] {
  const newestFirst = drizzle(db)
    .select({ id: runs.id, date: runs.date })
    .from(runs)
    .where(
      and(
        sql`${runs.job} = (SELECT of.${id(runs.job)} FROM ${runs} of WHERE of.${id(runs.id)} = ${run})`,
        lte(runs.id, run),
      ),
    )
    .orderBy(desc(runs.id))
    .all()
  const agreeing = new Set(inOrderOfRuns(newestFirst).map((one) => one.id))
  return newestFirst.flatMap((one) => (one.id === run || agreeing.has(one.id) ? [] : [one.id]))
}

/** Each observation beside the last answered one of its query and target: one look into the index. */
const compared = (run: number, leftOut: readonly number[]) =>
  sql<{ ranked: number; gone: number }>`SELECT count(*) AS ranked,
      coalesce(sum(${now}.${id(o.state)} = 'absent'), 0) AS gone
    FROM ${runs} CROSS JOIN ${o} now ON ${now}.${id(o.runId)} = ${runs.id} CROSS JOIN ${o} past
      ON ${past}.${id(o.queryId)} = ${now}.${id(o.queryId)} AND ${past}.${id(o.targetId)} = ${now}.${id(o.targetId)}
        AND ${past}.${id(o.runId)} = (SELECT earlier.${id(o.runId)} FROM ${o} earlier
          CROSS JOIN ${runs} of ON of.${id(runs.id)} = earlier.${id(o.runId)} AND of.${id(runs.job)} = ${runs.job}
          WHERE earlier.${id(o.queryId)} = ${now}.${id(o.queryId)}
            AND earlier.${id(o.targetId)} = ${now}.${id(o.targetId)} AND earlier.${id(o.runId)} < ${runs.id}
            AND earlier.${id(o.state)} <> 'unknown' AND earlier.${id(o.suspect)} = 0
            AND earlier.${id(o.runId)} NOT IN (SELECT value FROM json_each(${JSON.stringify(leftOut)}))
          ORDER BY earlier.${id(o.runId)} DESC LIMIT 1)
    WHERE ${runs.id} = ${run} AND ${now}.${id(o.state)} <> 'unknown' AND ${past}.${id(o.state)} = 'ranked'
      AND (${now}.${id(o.state)} = 'ranked' OR ${past}.${id(o.rank)} <= ${reach})`

/** The number of a link that all links of its page share. */
const page = sql<number>`coalesce(${links.sameAs}, ${links.id})`

/** Why a run as a whole is suspect, or the run that it looked again at; null where it is not. */
export function runSuspicion(db: Database, run: number): Suspicion | null {
  const orm = drizzle(db)
  const again = orm.select({ of: rechecks.ofRun }).from(rechecks).where(eq(rechecks.runId, run)).get()
  const of = again?.of ?? run
  const { ranked, gone } = orm.get<{ ranked: number; gone: number }>(compared(of, wronglyDatedBefore(db, of)))
  return suspicions.of({ ranked, gone, alike: mostAlike(db, of) })
}

/**
 * The most different queries whose first pages are one list, or fewer than are suspect. Of each kind on a page only the first result is looked
 * up, and whole lists are read only where enough pages begin alike: SQLite counts them, for a run may have a million.
 */
function mostAlike(db: Database, run: number): number {
  const alikeAtFirst = drizzle(db).all<{ answer: number; text: string; kind: number; page: number }>(
    sql`WITH first AS MATERIALIZED (
        SELECT ${answers.id} AS answer, ${tasks.queryId} AS query, CAST(list.key AS INTEGER) AS kind, ${page} AS page
        FROM ${tasks} CROSS JOIN ${answers} ON ${answers.id} = ${tasks.answerId} CROSS JOIN json_each(${answers.items}) list
        CROSS JOIN ${items} ON ${items.id} = json_extract(list.value, '$[0]') CROSS JOIN ${links} ON ${links.id} = ${items.linkId}
        WHERE ${tasks.runId} = ${run} AND ${tasks.page} = 1 AND ${tasks.state} = 'done'
          AND list.key <> '${sql.raw(String(kindCodes.related))}'
      ), often AS (SELECT kind, page FROM first GROUP BY kind, page HAVING count(*) >= ${suspicions.fewest})
      SELECT answer, ${queries.text} AS text, kind, page
      FROM first JOIN often USING (kind, page) JOIN ${queries} ON ${queries.id} = query`,
  )
  const pagesOf = once(() =>
    db
      .prepare<[answer: number, kind: number], string | null>(
        raw`SELECT group_concat(page) FROM (SELECT coalesce(l.${links.sameAs}, l.${links.id}) AS page
          FROM results r JOIN ${links} l ON l.${links.id} = r.${results.linkId}
          WHERE r.${results.answerId} = ? AND r.${results.kind} = ? ORDER BY r.${results.place})`,
      )
      .pluck(),
  )
  const beginnings = groupedBy(alikeAtFirst, ({ kind, page }) => `${kind} ${page}`)
  let most = 0
  for (const all of beginnings.values()) {
    if (textsIn(all) <= most) continue
    const lists = groupedBy(all, ({ answer, kind }) => pagesOf().get(answer, kind) ?? '')
    most = Math.max(most, ...[...lists.values()].map(textsIn))
  }
  return most
}

function textsIn(all: readonly { readonly text: string }[]): number {
  return new Set(all.map(({ text }) => text.toLowerCase())).size
}
