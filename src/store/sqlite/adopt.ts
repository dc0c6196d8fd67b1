import type { Database } from 'better-sqlite3'
import type { Target } from '../../model/target.ts'
import type { Weigh } from '../history.ts'
import { follower } from './follower.ts'
import { queryReader } from './query-reader.ts'
import { namedTargets, targetIds } from './targets.ts'
import { fillUnknown, unobserved } from './unknown.ts'

/** Targets of single queries of the run `n` that the same queries of the run `rq` do not have. */
const fewer = `EXISTS (SELECT value FROM json_each(n.targets) EXCEPT SELECT value FROM json_each(rq.targets))`

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
        OR r.id < @newest AND EXISTS (SELECT 1 FROM run_queries n JOIN run_queries rq ON rq.query_id = n.query_id
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

/** Watches targets in a run that is there already, and looks for them in what it stored. Inside a transaction. */
export function adopter(
  db: Database,
): (run: number, targets: readonly Target[], newest: number | null, weigh: Weigh) => number {
  const idOf = targetIds(db)
  const readQuery = queryReader(db)
  const follow = follower(db)
  const everywhere = db.prepare(
    `INSERT INTO run_targets (run_id, target_id, label, own, everywhere) VALUES (@run, @target, @label, @own, 1)
    ON CONFLICT DO UPDATE SET everywhere = 1 WHERE everywhere = 0`,
  )
  const ofQueries = db.prepare(
    `INSERT INTO run_targets (run_id, target_id, label, own, everywhere)
    SELECT @run, target_id, label, own, 0 FROM run_targets WHERE run_id = @newest AND everywhere = 0
    ON CONFLICT DO NOTHING`,
  )
  const toQueries = db.prepare(
    `UPDATE run_queries AS rq SET targets = (SELECT json_group_array(value) FROM (
      SELECT value FROM json_each(rq.targets) UNION SELECT value FROM json_each(n.targets)))
    FROM run_queries n WHERE n.run_id = @newest AND n.query_id = rq.query_id AND rq.run_id = @run AND ${fewer}`,
  )
  const finished = db.prepare<[number], { at: number | null }>(
    'SELECT finished_at AS at FROM runs_ WHERE id = ?',
  )

  return (run, targets, newest, weigh) => {
    for (const target of targets)
      everywhere.run({ run, target: idOf(target), label: target.label, own: target.own ? 1 : 0 })
    if (newest !== null && run < newest) {
      ofQueries.run({ run, newest })
      toQueries.run({ run, newest })
    }
    const queries = unobserved(db, [run])
    for (const { queryId } of queries)
      follow(run, queryId, { ...weigh(readQuery(run, queryId)), paging: null })
    const at = finished.get(run)?.at ?? null
    if (at !== null) fillUnknown(db, run, at)
    return queries.length
  }
}
