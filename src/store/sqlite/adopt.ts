import type { Database } from 'better-sqlite3'
import type { Target } from '../../model/target.ts'
import type { Adopted, Adoption, Weigh } from '../history.ts'
import { follower } from './follower.ts'
import type { Memory } from './memory.ts'
import { queryReader } from './query-reader.ts'
import { countsForgetter } from './rank-counts.ts'
import { namedTargets, targetIds } from './targets.ts'
import { fillUnknown, unobserved } from './unknown.ts'

/** Targets of single queries of the run `n` that the same queries of the run `rq` are not watched for. */
const fewer = `EXISTS (SELECT value FROM json_each(n.targets) EXCEPT SELECT value FROM json_each(rq.targets)
  EXCEPT SELECT target_id FROM run_targets WHERE run_id = rq.run_id AND everywhere = 1)`

/** Runs of a job, the older ones too, that do not watch these targets, or not for the queries that have them now. */
export function runsToAdopt(
  db: Database,
  job: string,
  targets: readonly Target[],
  newest: number | null,
): readonly number[] {
  const named = namedTargets(targets)
  return (
    db
      .prepare<unknown[], { id: number }>(
        // A run that goes on buys pages until the targets that it was planned for are found.
        `SELECT r.id FROM runs_ r WHERE r.job = @job AND r.finished_at IS NOT NULL AND (
        EXISTS (SELECT 1 FROM json_each(@named) w WHERE NOT EXISTS (
          SELECT 1 FROM run_targets rt JOIN targets tg ON tg.id = rt.target_id
          WHERE rt.run_id = r.id AND rt.everywhere = 1 AND tg.site = w.value ->> 'site'
            AND tg.match = w.value ->> 'match' AND tg.also = w.value ->> 'also'))
        OR EXISTS (SELECT 1 FROM run_queries n JOIN run_queries rq ON rq.query_id = n.query_id
          WHERE n.run_id = @newest AND n.targets <> '[]' AND rq.run_id = r.id AND ${fewer}))
      ORDER BY r.id`,
      )
      // Most jobs have no such targets, and need not look through a million queries for them.
      .all({ job, named, newest: hasQueryTargets(db, newest) ? newest : null })
      .map(({ id }) => id)
  )
}

function hasQueryTargets(db: Database, run: number | null): boolean {
  return (
    db.prepare('SELECT 1 FROM run_targets WHERE run_id = ? AND everywhere = 0 LIMIT 1').get(run) !== undefined
  )
}

/** Queries that are given their new targets in one change, and those looked through for them: others may write in between. */
const portion = 100
const lookedThrough = 10_000

/** Targets that a query of the run is to be watched for and is not yet; what is watched for everywhere is watched here, too. */
const missing = `SELECT value FROM json_each(@named)
  UNION SELECT value FROM json_each((SELECT n.targets FROM run_queries n
    WHERE n.run_id = @newest AND n.query_id = rq.query_id))
  EXCEPT SELECT target_id FROM run_targets WHERE run_id = @run AND everywhere = 1
  EXCEPT SELECT value FROM json_each(rq.targets)`

/**
 * Watches targets in a run that is over, and looks for them in what it stored: some queries after the one given, in one
 * change. A target stands in the list of each query that is done with it, and is one of the whole run only when all are:
 * whoever comes after a crash sees what is left. Inside a transaction.
 */
export function adopter(db: Database, memory: Memory): (adoption: Adoption, weigh: Weigh) => Adopted {
  const idOf = targetIds(db)
  const readQuery = queryReader(db, memory)
  const follow = follower(db, memory.items)
  const forgetCounts = countsForgetter(db)
  const finished = db.prepare<[number], number | null>('SELECT finished_at FROM runs_ WHERE id = ?').pluck()
  const know = db.prepare(
    `INSERT INTO run_targets (run_id, target_id, label, own, everywhere) VALUES (@run, @target, @label, @own, 0)
    ON CONFLICT DO NOTHING`,
  )
  const knowOfQueries = db.prepare(
    `INSERT INTO run_targets (run_id, target_id, label, own, everywhere)
    SELECT @run, target_id, label, own, 0 FROM run_targets WHERE run_id = @newest AND everywhere = 0
    ON CONFLICT DO NOTHING`,
  )
  const windowEnd = db
    .prepare<unknown[], number | null>(
      `SELECT max(query_id) FROM (SELECT query_id FROM run_queries WHERE run_id = @run AND query_id > @after
      ORDER BY query_id LIMIT ${lookedThrough})`,
    )
    .pluck()
  const lacking = db
    .prepare<unknown[], number>(
      `SELECT rq.query_id FROM run_queries rq WHERE rq.run_id = @run AND rq.query_id > @after AND rq.query_id <= @end
      AND EXISTS (${missing}) ORDER BY rq.query_id LIMIT ${portion}`,
    )
    .pluck()
  const watch = db.prepare(
    `UPDATE run_queries AS rq SET planned_targets = coalesce(planned_targets, targets),
      targets = (SELECT json_group_array(value) FROM (SELECT value FROM json_each(rq.targets) UNION SELECT * FROM (${missing})))
    WHERE rq.run_id = @run AND rq.query_id BETWEEN @from AND @to AND EXISTS (${missing})`,
  )
  const everywhere = db.prepare(
    `UPDATE run_targets SET everywhere = 1
    WHERE run_id = @run AND target_id IN (SELECT value FROM json_each(@named))`,
  )

  return ({ run, targets, newest, after }, weigh) => {
    const at = finished.get(run) ?? null
    // Somebody goes on with it, by a plan of its own.
    if (at === null) return { looked: 0, next: null }
    const ids = targets.map((target) => {
      const id = idOf(target)
      know.run({ run, target: id, label: target.label, own: target.own ? 1 : 0 })
      return id
    })
    memory.targets.forget()
    const asked = { run, named: JSON.stringify(ids), newest }
    knowOfQueries.run(asked)
    const end = windowEnd.get({ run, after }) ?? null
    if (end === null) {
      everywhere.run(asked)
      return { looked: 0, next: null }
    }
    const queries = lacking.all({ ...asked, after, end })
    const [from, to] = [queries[0], queries.at(-1)]
    if (from === undefined || to === undefined) return { looked: 0, next: end }
    watch.run({ ...asked, from, to })
    forgetCounts(run)
    const looked = unobserved(db, run, { from, to })
    for (const queryId of looked) {
      const read = readQuery(run, queryId)
      follow(read, { ...weigh(read.query), paging: null })
    }
    fillUnknown(db, run, at, { from, to })
    return { looked: looked.length, next: queries.length < portion ? end : to }
  }
}
