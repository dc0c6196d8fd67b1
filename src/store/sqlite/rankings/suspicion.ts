import type { Database } from 'better-sqlite3'
import { and, desc, eq, lte, sql } from 'drizzle-orm'
import { groupedBy } from '../../../model/maps.ts'
import { kindCodes } from '../../../model/result.ts'
import { type Suspicion, suspicionOf } from '../../../model/run.ts'
import { inOrderOfRuns } from '../../../model/trusted-time.ts'
import { drizzle, once, raw } from '../connection/statements.ts'
import {
  answers,
  items,
  links,
  observations as o,
  queries,
  results,
  runQueries as rq,
  runs,
  tasks,
} from '../schema.ts'
import { rechecks } from '../unattended/schema.ts'

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
  return suspicionOf({ ranked, gone, alike: mostAlike(db, of) })
}

/** The most different queries whose first pages are one list. Lists are read only of pages that begin alike. */
function mostAlike(db: Database, run: number): number {
  // Of each kind on a page only the first one is looked up.
  const firstResults = drizzle(db).all<{ answer: number; text: string; kind: number; page: number }>(
    sql`SELECT ${answers.id} AS answer, ${queries.text} AS text,
        CAST(list.key AS INTEGER) AS kind, ${page} AS page
      FROM ${tasks} CROSS JOIN ${answers} ON ${answers.id} = ${tasks.answerId} CROSS JOIN json_each(${answers.items}) list
      CROSS JOIN ${items} ON ${items.id} = json_extract(list.value, '$[0]') CROSS JOIN ${links} ON ${links.id} = ${items.linkId}
      CROSS JOIN ${queries} ON ${queries.id} = ${tasks.queryId}
      WHERE ${tasks.runId} = ${run} AND ${tasks.page} = 1 AND ${tasks.state} = 'done'
        AND list.key <> '${sql.raw(String(kindCodes.related))}'`,
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
  const beginnings = groupedBy(firstResults, ({ kind, page }) => `${kind} ${page}`)
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
