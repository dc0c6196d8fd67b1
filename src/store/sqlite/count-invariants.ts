import type { Invariant } from './invariant.ts'
import { countedObservations } from './rank-counts.ts'

/** What runs came to is what was observed. */
export const countInvariants: readonly Invariant[] = [
  {
    broken:
      'Runs whose ranks are not added up as they were observed (rankline renormalise adds them up again)',
    of: 'run',
    // Sums of fractions may differ in their last digits from one SQLite to another.
    sql: `SELECT a.run_id AS id FROM (${countedObservations('(SELECT run_id AS id FROM counted_runs)')}) a
        LEFT JOIN rank_counts_ c ON c.run_id = a.run_id AND c.target_id = a.target_id AND c.state = a.state
          AND c.estimated = a.estimated AND c.place = a.place
      WHERE c.queries IS NOT a.queries OR (c.volume IS NULL) <> (a.volume IS NULL)
        OR abs(c.volume - a.volume) > 1e-6 * abs(a.volume)
      UNION SELECT k.run_id FROM counted_runs k
      WHERE coalesce((SELECT sum(c.queries) FROM rank_counts_ c WHERE c.run_id = k.run_id), 0)
        <> (SELECT count(*) FROM observations o WHERE o.run_id = k.run_id)`,
  },
  {
    broken: 'Ranks of runs that are added up and go on',
    of: 'run',
    sql: `SELECT k.run_id AS id FROM counted_runs k LEFT JOIN runs_ r ON r.id = k.run_id WHERE r.finished_at IS NULL`,
  },
]
