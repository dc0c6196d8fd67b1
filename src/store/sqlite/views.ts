import { kindCodes, type ResultKind } from '../../model/result.ts'
import { rankChanges, rankCountsView, rankingsByRun } from './rank-views.ts'
import { asked, iso, text, tracked } from './view-columns.ts'

/** Kinds whose text stands in a column of its own, so that it is no title. */
const titleless: readonly ResultKind[] = ['suggestion', 'related']
/** Kinds whose stored position is an index that has a column of its own. */
const positionless: readonly ResultKind[] = ['reference']

/** What dated results have beside their own columns; the precision says how exactly the date names the instant. */
const dated = `${text('x.displayed_link_id')} AS displayed_link, ${text('x.matched_id')} AS snippet_matched,
      d.precision AS published_precision`

/** The answer of a task. Whoever asks for a query finds its answers first, which is quicker than its tasks. */
const ofTask = 'a.id = t.answer_id AND a.query_id = t.query_id'

/** Every result of the target with its rank, as a JSON list; null where none ranks. */
const places = `CASE
      WHEN o.places IS NOT NULL THEN (
        SELECT json_group_array(json_object('rank', json_extract(p.value, '$[0]'), 'url',
          (SELECT link FROM links WHERE id = json_extract(p.value, '$[1]')))) FROM json_each(o.places) p)
      WHEN o.rank IS NOT NULL THEN json_array(json_object('rank', o.rank, 'url',
        (SELECT link FROM links WHERE id = o.link_id)))
      END`

/**
 * The public views. They stay as they are: programs read them with any SQLite from 3.40 on.
 * New columns come after the old ones.
 */
export const views: Readonly<Record<string, string>> = {
  runs: `
    SELECT r.id AS run_id, r.job, ${iso('r.started_at')} AS started_at, ${iso('r.finished_at')} AS finished_at,
      r.finish_reason,
      (SELECT count(*) FROM tasks_ t WHERE t.run_id = r.id)
        - (SELECT count(*) FROM tasks_ t WHERE t.run_id = r.id AND t.state = 'skipped') AS tasks_planned,
      (SELECT count(*) FROM tasks_ t WHERE t.run_id = r.id AND t.state = 'done') AS tasks_done,
      (SELECT count(*) FROM tasks_ t WHERE t.run_id = r.id AND t.state = 'failed') AS tasks_failed,
      (SELECT coalesce(sum(c.credits), 0) FROM calls_ c WHERE c.run_id = r.id AND c.billed = 1) AS credits_spent,
      (SELECT coalesce(sum(c.credits), 0) FROM calls_ c
        WHERE c.run_id = r.id AND c.billed IS NULL AND c.outcome IS NOT NULL) AS credits_ambiguous,
      r.date
    FROM runs_ r`,

  tasks: `
    SELECT t.id AS task_id, t.run_id, q.text AS query, q.operation, t.page,
      CASE t.state WHEN 'leased' THEN 'pending' ELSE t.state END AS state, t.cause,
      t.priority, t.credits, t.reused, q.params
    FROM tasks_ t JOIN queries q ON q.id = t.query_id`,

  calls: `
    SELECT c.id AS call_id, c.run_id, c.task_id, c.operation, ${iso('c.sent_at')} AS sent_at,
      ${iso('c.finished_at')} AS finished_at, c.http_status, c.outcome, c.billed, c.credits, c.latency_ms, c.error
    FROM calls_ c`,

  answers: `
    SELECT t.run_id, r.job, q.text AS query, q.operation, t.page, ${iso('a.fetched_at')} AS fetched_at,
      a.total_results, a.time_taken, ${text('a.notice')} AS notice, a.has_next_page, a.next_page,
      ${text('a.search_parameters')} AS search_parameters, ${text('a.knowledge_graph')} AS knowledge_graph,
      ${text('a.ai_markdown')} AS ai_markdown, ${text('a.ai_blocks')} AS ai_blocks,
      q.params, a.malformed AS malformed_items, t.reused, a.id AS answer_id, a.echo_mismatch
    FROM tasks_ t JOIN runs_ r ON r.id = t.run_id JOIN queries q ON q.id = t.query_id
      JOIN answers_ a ON ${ofTask}`,

  organic_results: resultView(
    'organic',
    `${text('x.displayed_link_id')} AS displayed_link, ${text('x.matched_id')} AS snippet_matched`,
  ),
  news_results: resultView(
    'news',
    `${text('d.date_id')} AS date, ${iso('d.published_at')} AS published_at`,
    'dated_details',
    dated,
  ),
  video_results: resultView(
    'video',
    `${text('d.date_id')} AS date, ${iso('d.published_at')} AS published_at, ${text('d.channel_id')} AS channel,
      ${text('d.duration_id')} AS duration, d.duration_seconds, d.video_id`,
    'dated_details',
    dated,
  ),
  image_results: resultView(
    'image',
    `(SELECT link FROM links WHERE id = d.image_link_id) AS image_url, ${text('d.thumbnail_id')} AS thumbnail,
      d.width AS image_width, d.height AS image_height`,
    'image_details',
  ),
  ai_references: resultView('reference', 'x.position AS reference_index'),
  suggestions: resultView('suggestion', `${text('x.title_id')} AS suggestion`),
  related_searches: resultView('related', `${text('x.title_id')} AS related_query`),

  rankings: `
    SELECT ${tracked()}, ${iso('o.observed_at')} AS observed_at, o.state, o.rank, o.exactness, o.depth,
      (SELECT link FROM links WHERE id = o.link_id) AS url, ${text('o.title_id')} AS title, o.run_id,
      rt.own, tg.site AS target_site, tg.match AS target_match, rq.volume, rq.url AS intended_url, q.params, rq.labels,
      o.page, coalesce(o.unbroken_depth, o.depth) AS unbroken_depth, ${places} AS urls,
      tg.also AS target_also, rq.paging_kind = 'ended' AND o.unbroken_pages >= rq.pages AS results_ended,
      o.suspect
    FROM observations o
      JOIN runs_ r ON r.id = o.run_id
      JOIN queries q ON q.id = o.query_id
      JOIN targets tg ON tg.id = o.target_id
      JOIN run_targets rt ON rt.run_id = o.run_id AND rt.target_id = o.target_id
      JOIN run_queries rq ON rq.run_id = o.run_id AND rq.query_id = o.query_id`,

  rank_changes: rankChanges,
  rankings_by_run: rankingsByRun,
  rank_counts: rankCountsView,
}

function resultView(kind: ResultKind, further: string, details?: string, extra?: string): string {
  return `
    SELECT t.run_id, r.job, q.text AS query, q.operation,
      substr(q.operation, 1, instr(q.operation, '.') - 1) AS engine,
      ${asked('gl')} AS gl, ${asked('hl')} AS hl, ${asked('location')} AS location,
      t.page, ${iso('a.fetched_at')} AS fetched_at,
      coalesce(${kind === 'related' ? 'NULL' : "json_extract(t.ranks, '$[' || x.place || ']')"},
        ${kind === 'related' ? '0' : 't.rank_base'} + x.place + 1) AS rank,
      ${positionless.includes(kind) ? 'NULL' : 'x.position'} AS position,
      ${titleless.includes(kind) ? 'NULL' : text('x.title_id')} AS title,
      l.link, h.host AS domain, h.site, ${text('x.source_id')} AS source, ${text('x.snippet_id')} AS snippet,
      ${further}, q.params${extra === undefined ? '' : `, ${extra}`}, t.id AS task_id, a.id AS answer_id, x.place, rq.labels
    FROM tasks_ t
      JOIN answers_ a ON ${ofTask}
      JOIN results x ON x.answer_id = a.id AND x.kind = ${kindCodes[kind]}
      JOIN runs_ r ON r.id = t.run_id
      JOIN queries q ON q.id = t.query_id
      LEFT JOIN run_queries rq ON rq.run_id = t.run_id AND rq.query_id = t.query_id
      LEFT JOIN links l ON l.id = x.link_id
      LEFT JOIN hosts h ON h.id = l.host_id${
        details === undefined
          ? ''
          : `
      LEFT JOIN ${details} d ON d.answer_id = x.answer_id AND d.kind = x.kind AND d.place = x.place`
      }`
}

/** Whether a query of a run is to be looked at for a target: one of its own, or one that `@named` has for the whole job. */
export const isAsked = `(tg.id IN (SELECT value FROM json_each(coalesce(rq.planned_targets, rq.targets)))
      OR rt.everywhere = 1 AND (tg.site, tg.match, tg.also) IN (
        SELECT value ->> 'site', value ->> 'match', value ->> 'also' FROM json_each(@named)))`

/**
 * The place of the target `tg` of the run target `rt` in the order of the job file, to sort by: own ones first, each group
 * as the list has it, then those of single queries in the order in which they were first named.
 *
 * @param list targets of the whole job, as JSON
 * @param also what a target of that list has under `also`, as text
 */
function inFileOrder(list: string, also: string): string {
  return `rt.own DESC, coalesce((SELECT n.key FROM json_each(${list}) n WHERE n.value ->> 'site' = tg.site
      AND n.value ->> 'match' = tg.match AND ${also} = tg.also), 1e9), tg.id`
}

/** The same as the run `r` was planned. */
export const asPlanned = inFileOrder("r.settings, '$.targets'", "json(n.value -> 'also')")

/** The targets of the run @run, numbered in the order of the job file; those of the whole job as `@named` has them. */
export const targetOrder = `(SELECT rt.target_id,
      row_number() OVER (ORDER BY ${inFileOrder('@named', "n.value ->> 'also'")}) AS place
    FROM run_targets rt JOIN targets tg ON tg.id = rt.target_id WHERE rt.run_id = @run)`

/**
 * Everything that the run @run asks, each query with each target that @named has or that is its own, in the columns of
 * `rankings`, as if nothing were known of it. What an edited file took back while the run went on is no longer asked; nor
 * are targets that the run watches only because a later file named them.
 */
export const askedByRun = `
    WITH ordered AS MATERIALIZED ${targetOrder}
    SELECT ${tracked()}, ${iso('r.started_at')} AS observed_at, 'unknown' AS state, NULL AS rank,
      NULL AS exactness, 0 AS depth, NULL AS url, NULL AS title, r.id AS run_id, rt.own, tg.site AS target_site,
      tg.match AS target_match, rq.volume, rq.url AS intended_url, q.params, rq.labels, NULL AS page,
      0 AS unbroken_depth, NULL AS urls, tg.also AS target_also, NULL AS results_ended,
      0 AS suspect
    FROM runs_ r
      JOIN run_queries rq ON rq.run_id = r.id AND rq.plan_number = r.plan_number
      JOIN queries q ON q.id = rq.query_id
      JOIN run_targets rt ON rt.run_id = r.id
      JOIN ordered t ON t.target_id = rt.target_id
      JOIN targets tg ON tg.id = rt.target_id
    WHERE r.id = @run AND ${isAsked}
    ORDER BY q.text, q.operation, q.params, t.place`
