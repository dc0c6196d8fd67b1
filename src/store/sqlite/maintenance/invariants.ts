import { type Column, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { removedJob } from '../../../model/job.ts'
import { countedObservations } from '../rankings/observations.ts'
import {
  answers as a,
  rawAnswers as b,
  bodyBlocks as bb,
  calls as c,
  callDeliveries as cd,
  deliveries as d,
  datedDetails as dd,
  hashed,
  hosts,
  imageDetails as id,
  itemHashes,
  items,
  asyncJobs as j,
  countedRuns as k,
  linkHashes,
  links,
  rankCounts as n,
  observations as o,
  queries as q,
  runs as r,
  runQueries as rq,
  runTargets as rt,
  tasks as t,
  texts,
  targets as tg,
  results as x,
} from '../schema.ts'

/** A rule that holds in every database of rankline at any moment, also while it collects. */
export interface Invariant {
  /** The rows that break it, in words. */
  readonly broken: string
  /** What the ids of these rows name. */
  readonly of: string
  /** The rows that break it, each with its `id`. */
  readonly rows: SQL
}

/** Rows by their numbers: rows(t.id)`${t} WHERE ...`. */
const rows =
  (id: Column | SQL) =>
  (from: TemplateStringsArray, ...parts: readonly unknown[]): SQL =>
    sql`SELECT ${id} AS id FROM ${sql(from, ...parts)}`
const union = (...all: readonly SQL[]): SQL => sql.join([...all], sql` UNION ALL `)

/** Whether a row names a text, link or host that is not stored. */
function lacks(table: typeof texts | typeof links | typeof hosts, ...columns: readonly Column[]): SQL {
  const w = alias(table, 'w')
  const missing = columns.map(
    (column) =>
      sql`(${column} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${table} ${w} WHERE ${w.id} = ${column}))`,
  )
  return sql.join(missing, sql` OR `)
}

/** Whether a row is none of the newest and has no hash. */
function lost(
  name: string,
  table: typeof items | typeof links,
  hashes: typeof itemHashes | typeof linkHashes,
): SQL {
  return sql`${table.id} <= (SELECT ${hashed.upTo} FROM ${hashed} WHERE ${hashed.name} = ${sql.raw(`'${name}'`)})
    AND NOT EXISTS (SELECT 1 FROM ${hashes} WHERE ${hashes.hash} = ${table.hash} AND ${hashes.id} = ${table.id})`
}

const own = alias(c, 'own')
const resultOf = (details: typeof dd | typeof id): SQL =>
  sql`${x} WHERE ${x.answerId} = ${details.answerId} AND ${x.kind} = ${details.kind} AND ${x.place} = ${details.place}`
const observedCounts = sql.raw(countedObservations('(SELECT run_id AS id FROM counted_runs)'))

export const invariants: readonly Invariant[] = [
  {
    broken: 'Done or answered tasks without a stored answer to their page',
    of: 'task',
    rows: rows(t.id)`${t} JOIN ${q} ON ${q.id} = ${t.queryId}
      LEFT JOIN ${a} ON ${a.id} = ${t.answerId} AND ${a.queryId} = coalesce(${q.sameAs}, ${q.id}) AND ${a.page} = ${t.page}
      WHERE ${t.state} IN ('done', 'answered') AND ${a.id} IS NULL`,
  },
  {
    broken: 'Done tasks whose answer was never parsed',
    of: 'task',
    rows: rows(t.id)`${t} JOIN ${a} ON ${a.id} = ${t.answerId}
      WHERE ${t.state} = 'done' AND ${a.normaliser} IS NULL`,
  },
  {
    broken: 'Tasks whose answer is not parsed yet and has lost its body',
    of: 'task',
    rows: rows(t.id)`${t}
      WHERE ${t.state} = 'answered' AND NOT EXISTS (SELECT 1 FROM ${b} WHERE ${b.answerId} = ${t.answerId})`,
  },
  {
    // Several billed calls are not a sign of it: an answer that cannot be parsed is billed, and retry buys it again.
    broken: 'Tasks that were sent again although their answer was stored',
    of: 'task',
    rows: rows(
      t.id,
    )`(SELECT ${c.taskId} AS task, max(${c.id}) AS last FROM ${c} WHERE ${c.credits} > 0 GROUP BY ${c.taskId}) sent
      JOIN ${t} ON ${t.id} = sent.task JOIN ${a} ON ${a.id} = ${t.answerId}
      JOIN ${c} ${own} ON ${own.id} = ${a.callId} AND ${own.taskId} = ${t.id}
      WHERE ${t.state} IN ('done', 'answered') AND ${t.reused} = 0 AND sent.last > ${own.id}`,
  },
  {
    broken: 'Tasks whose run or query is not stored',
    of: 'task',
    rows: rows(t.id)`${t} LEFT JOIN ${r} ON ${r.id} = ${t.runId} LEFT JOIN ${q} ON ${q.id} = ${t.queryId}
      LEFT JOIN ${rq} ON ${rq.runId} = ${t.runId} AND ${rq.queryId} = ${t.queryId}
      WHERE ${r.id} IS NULL OR ${q.id} IS NULL OR ${rq.runId} IS NULL`,
  },
  {
    broken: 'Completed runs with tasks that are not done',
    of: 'run',
    rows: rows(r.id)`${r} WHERE ${r.finishReason} IN ('completed', 'completed_with_failures')
      AND EXISTS (SELECT 1 FROM ${t} WHERE ${t.runId} = ${r.id} AND ${t.state} NOT IN ('done', 'skipped')
        AND NOT (${t.state} = 'failed' AND ${r.finishReason} = 'completed_with_failures'))`,
  },
  {
    broken: 'Tasks that wait for an asynchronous job that is not stored',
    of: 'task',
    rows: rows(t.id)`${t}
      WHERE ${t.state} = 'accepted' AND NOT EXISTS (SELECT 1 FROM ${j} WHERE ${j.taskId} = ${t.id})`,
  },
  {
    broken: 'Asynchronous jobs that no task waits for',
    of: 'task',
    rows: rows(j.taskId)`${j}
      WHERE NOT EXISTS (SELECT 1 FROM ${t} WHERE ${t.id} = ${j.taskId} AND ${t.state} = 'accepted')`,
  },
  {
    broken: 'Asynchronous jobs without the call that submitted them',
    of: 'task',
    rows: rows(j.taskId)`${j} WHERE NOT EXISTS (SELECT 1 FROM ${c}
      WHERE ${c.id} = ${j.callId} AND ${c.taskId} = ${j.taskId} AND ${c.outcome} = 'accepted')`,
  },
  {
    broken: 'Answers without the call that was billed for them',
    of: 'answer',
    rows: rows(a.id)`${a} LEFT JOIN ${c} ON ${c.id} = ${a.callId}
      WHERE ${c.billed} IS NOT 1 OR ${c.runId} IS NOT ${a.runId} OR ${c.outcome} NOT IN ('answered', 'accepted')`,
  },
  {
    broken: 'Answers that share their call with another answer',
    of: 'answer',
    rows: rows(sql`max(${a.id})`)`${a} GROUP BY ${a.callId} HAVING count(*) > 1`,
  },
  {
    broken: 'Billed calls whose answer is not stored',
    of: 'call',
    rows: rows(
      c.id,
    )`${c} WHERE ${c.billed} = 1 AND ${c.credits} > 0 AND ${c.outcome} IN ('answered', 'accepted')
      AND ${c.id} NOT IN (SELECT ${a.callId} FROM ${a})
      AND NOT EXISTS (SELECT 1 FROM ${r} WHERE ${r.id} = ${c.runId} AND ${r.job} = ${sql.raw(`'${removedJob}'`)})`,
  },
  {
    broken: 'Calls without an end whose run is not stored',
    of: 'call',
    rows: rows(c.id)`${c} LEFT JOIN ${r} ON ${r.id} = ${c.runId}
      WHERE ${c.outcome} IS NULL AND ${c.credits} > 0 AND ${r.id} IS NULL`,
  },
  {
    broken: 'Results without a parsed answer',
    of: 'answer',
    rows: rows(a.id)`${a} WHERE ${a.items} IS NOT NULL AND ${a.normaliser} IS NULL`,
  },
  {
    broken: 'Details without their result',
    of: 'answer',
    rows: union(
      rows(dd.answerId)`${dd} WHERE NOT EXISTS (SELECT 1 FROM ${resultOf(dd)})`,
      rows(id.answerId)`${id} WHERE NOT EXISTS (SELECT 1 FROM ${resultOf(id)})`,
    ),
  },
  {
    broken: 'Stored bodies without an answer',
    of: 'answer',
    rows: rows(b.answerId)`${b} WHERE NOT EXISTS (SELECT 1 FROM ${a} WHERE ${a.id} = ${b.answerId})`,
  },
  {
    broken: 'Blocks of bodies that no answer has',
    of: 'answer',
    rows: rows(
      bb.id,
    )`${bb} WHERE NOT EXISTS (SELECT 1 FROM ${b} WHERE ${b.blockId} = ${bb.id} AND ${b.answerId} >= ${bb.id}
      AND ${b.answerId} < ${bb.id} + ${bb.bodies})`,
  },
  {
    broken: 'Results and answers whose title, link or text is not stored',
    of: 'answer',
    rows: union(
      rows(x.answerId)`${x} WHERE ${lacks(links, x.linkId)}`,
      rows(a.id)`${a}, json_each(${a.items}) of, json_each(of.value) named
        WHERE NOT EXISTS (SELECT 1 FROM ${items} WHERE ${items.id} = named.value)`,
      rows(dd.answerId)`${dd} WHERE ${lacks(texts, dd.dateId, dd.channelId, dd.durationId)}`,
      rows(id.answerId)`${id} WHERE ${lacks(links, id.imageLinkId)} OR ${lacks(texts, id.thumbnailId)}`,
      rows(
        a.id,
      )`${a} WHERE ${lacks(texts, a.notice, a.searchParameters, a.knowledgeGraph, a.aiMarkdown, a.aiBlocks)}`,
    ),
  },
  {
    broken: 'Results and links that are not found by their hash',
    of: 'row',
    rows: union(
      rows(items.id)`${items} WHERE ${lost('items', items, itemHashes)}`,
      rows(links.id)`${links} WHERE ${lost('links', links, linkHashes)}`,
    ),
  },
  {
    broken: 'Links whose host or equal link is not stored',
    of: 'link',
    rows: rows(links.id)`${links} WHERE ${lacks(hosts, links.hostId)} OR ${lacks(links, links.sameAs)}`,
  },
  {
    broken: 'Observations whose query, target, link or title is not stored',
    of: 'run',
    rows: union(
      rows(o.runId)`${o}
        LEFT JOIN ${rq} ON ${rq.runId} = ${o.runId} AND ${rq.queryId} = ${o.queryId}
        LEFT JOIN ${rt} ON ${rt.runId} = ${o.runId} AND ${rt.targetId} = ${o.targetId}
        LEFT JOIN ${tg} ON ${tg.id} = ${o.targetId}
        WHERE ${rq.runId} IS NULL OR ${rt.runId} IS NULL OR ${tg.id} IS NULL`,
      rows(o.runId)`${o} WHERE ${lacks(links, o.linkId)} OR ${lacks(texts, o.titleId)}`,
    ),
  },
  {
    broken: 'Observations whose rank does not fit their state',
    of: 'run',
    rows: rows(o.runId)`${o} WHERE (${o.state} = 'ranked') <> (${o.rank} IS NOT NULL)`,
  },
  {
    broken: 'Runs whose rank totals differ from their observations (rankline renormalise adds them up again)',
    of: 'run',
    // Sums of fractions may differ in their last digits from one SQLite to another.
    rows: sql`${rows(sql`a.run_id`)`(${observedCounts}) a
        LEFT JOIN ${n} ON ${n.runId} = a.run_id AND ${n.targetId} = a.target_id AND ${n.state} = a.state
          AND ${n.estimated} = a.estimated AND ${n.place} = a.place
        WHERE ${n.queries} IS NOT a.queries OR (${n.volume} IS NULL) <> (a.volume IS NULL)
          OR abs(${n.volume} - a.volume) > 1e-6 * abs(a.volume)`}
      UNION ${rows(
        k.runId,
      )`${k} WHERE coalesce((SELECT sum(${n.queries}) FROM ${n} WHERE ${n.runId} = ${k.runId}), 0)
        <> (SELECT count(*) FROM ${o} WHERE ${o.runId} = ${k.runId})`}`,
  },
  {
    broken: 'Unfinished runs with rank totals',
    of: 'run',
    rows: rows(k.runId)`${k} LEFT JOIN ${r} ON ${r.id} = ${k.runId} WHERE ${r.finishedAt} IS NULL`,
  },
  {
    broken: 'Done tasks that no export would find',
    of: 'task',
    rows: rows(t.id)`${t}
      WHERE ${t.state} = 'done' AND NOT EXISTS (SELECT 1 FROM ${d} WHERE ${d.taskId} = ${t.id})`,
  },
  {
    broken: 'Calls that no export would find',
    of: 'call',
    rows: rows(c.id)`${c}
      WHERE ${c.outcome} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${cd} WHERE ${cd.callId} = ${c.id})`,
  },
]
