import { iso, text, tracked } from './view-columns.ts'

/**
 * The newest earlier day on which anything was known of a query and target. Mostly the run before knows it, which is
 * found without a look into the history of each query.
 */
const previousRun = `CASE WHEN (SELECT k.state FROM observations k
          WHERE k.run_id = b.id AND k.query_id = o.query_id AND k.target_id = o.target_id) <> 'unknown' THEN b.id
        ELSE (SELECT e.run_id FROM observations e JOIN runs_ s ON s.id = e.run_id
          WHERE e.query_id = o.query_id AND e.target_id = o.target_id AND e.run_id < b.id AND e.state <> 'unknown'
            AND s.job = r.job AND s.date < r.date ORDER BY e.run_id DESC LIMIT 1) END`

/** Each observation beside the one before. */
export const rankChanges = `
    SELECT ${tracked()}, ${iso('o.observed_at')} AS observed_at, o.state, o.rank, o.exactness, o.depth,
      (SELECT link FROM links WHERE id = o.link_id) AS url, ${text('o.title_id')} AS title, o.run_id,
      pr.date AS previous_date, p.state AS previous_state, p.rank AS previous_rank, p.rank - o.rank AS change,
      pr.id AS previous_run_id, rt.own, tg.site AS target_site, tg.match AS target_match, q.params,
      tg.also AS target_also
    FROM runs_ r
      LEFT JOIN runs_ b ON b.id = (SELECT max(s.id) FROM runs_ s WHERE s.job = r.job AND s.id < r.id AND s.date < r.date)
      JOIN observations o ON o.run_id = r.id
      JOIN queries q ON q.id = o.query_id
      JOIN targets tg ON tg.id = o.target_id
      JOIN run_targets rt ON rt.run_id = o.run_id AND rt.target_id = o.target_id
      JOIN run_queries rq ON rq.run_id = o.run_id AND rq.query_id = o.query_id
      LEFT JOIN observations p ON p.query_id = o.query_id AND p.target_id = o.target_id AND p.run_id = ${previousRun}
      LEFT JOIN runs_ pr ON pr.id = p.run_id`

/** Where counts come from, and what a row of it says. CROSS JOIN keeps the order: run by run, a few of them. */
interface Source {
  readonly state: string
  readonly place: string
  readonly estimated: string
  readonly queries: string
  readonly from: string
}

const counted: Source = {
  state: 'c.state',
  place: 'c.place',
  estimated: 'c.estimated',
  queries: 'c.queries',
  from: `runs_ r
      CROSS JOIN counted_runs k ON k.run_id = r.id
      CROSS JOIN run_targets rt ON rt.run_id = r.id
      CROSS JOIN targets tg ON tg.id = rt.target_id
      CROSS JOIN rank_counts_ c ON c.run_id = r.id AND c.target_id = rt.target_id`,
}

/** Of runs that go on, or that changed since they were counted. */
const observed: Source = {
  state: 'o.state',
  place: "CASE o.state WHEN 'ranked' THEN o.rank WHEN 'absent' THEN o.depth END",
  estimated: "o.exactness = 'estimated'",
  queries: '1',
  from: `runs_ r
      CROSS JOIN observations o ON o.run_id = r.id
      CROSS JOIN run_targets rt ON rt.run_id = o.run_id AND rt.target_id = o.target_id
      CROSS JOIN targets tg ON tg.id = o.target_id
      CROSS JOIN run_queries rq ON rq.run_id = o.run_id AND rq.query_id = o.query_id
    WHERE NOT EXISTS (SELECT 1 FROM counted_runs k WHERE k.run_id = r.id)`,
}

const sources = [counted, observed]
const target = 'rt.own, tg.site AS target_site, tg.match AS target_match, tg.also AS target_also'
/** To group by, though they follow from run and target: what is asked of a group reaches its rows only so. */
const ofTarget = 'r.job, rt.label, r.date, rt.own, tg.site, tg.match, tg.also'
const tops = [1, 3, 10, 20, 50, 100]

/** What a run says of a target over all its queries, in one row. */
export const rankingsByRun = sources.map(summary).join('\n    UNION ALL')

function summary({ state, place, estimated, queries, from }: Source): string {
  const when = (condition: string) => `sum(CASE WHEN ${condition} THEN ${queries} ELSE 0 END)`
  const is = (name: string) => `${state} = '${name}'`
  // Absent from n results counts as place n + 1; without any result there is no place.
  const counts = `CASE WHEN ${is('ranked')} OR ${is('absent')} AND ${place} > 0 THEN ${queries} END`
  return `
    SELECT r.job, rt.label AS target, r.date, r.id AS run_id, sum(${queries}) AS queries, ${when(is('ranked'))} AS ranked,
      ${when(is('absent'))} AS absent, ${when(is('unknown'))} AS unknown, ${when(`${estimated} = 1`)} AS estimated,
      sum(CASE WHEN ${is('ranked')} THEN ${place} * ${queries} END) * 1.0
        / sum(CASE WHEN ${is('ranked')} THEN ${queries} END) AS average_rank,
      sum((${place} + (${is('absent')})) * ${counts}) * 1.0 / sum(${counts}) AS average_position,
      ${tops.map((top) => `${when(`${is('ranked')} AND ${place} <= ${top}`)} AS top_${top}`).join(', ')},
      ${target}
    FROM ${from}
    GROUP BY r.id, rt.target_id, ${ofTarget}`
}

/** How many queries of a run said the same of a target. */
export const rankCountsView = [
  rows(counted, { queries: 'c.queries', volume: 'c.volume' }),
  `${rows(observed, { queries: 'count(*)', volume: 'sum(rq.volume)' })}
    GROUP BY r.id, rt.target_id, 5, 6, 7, 8, ${ofTarget}`,
].join('\n    UNION ALL')

function rows({ state, place, estimated, from }: Source, { queries, volume }: Sums): string {
  return `
    SELECT r.job, rt.label AS target, r.date, r.id AS run_id, ${state} AS state,
      CASE ${state} WHEN 'ranked' THEN ${place} END AS rank,
      CASE WHEN ${state} <> 'unknown' THEN CASE WHEN ${estimated} THEN 'estimated' ELSE 'exact' END END AS exactness,
      CASE ${state} WHEN 'absent' THEN ${place} END AS depth, ${queries} AS queries, ${volume} AS volume, ${target}
    FROM ${from}`
}

interface Sums {
  readonly queries: string
  readonly volume: string
}
