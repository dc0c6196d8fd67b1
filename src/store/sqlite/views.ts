import type { Column, Table } from 'drizzle-orm'
import { kindCodes, type ResultKind } from '../../model/result.ts'
import { blocks } from '../compression.ts'
import { raw } from './connection/statements.ts'
import { importedStates } from './imports/schema.ts'
import {
  answers,
  bodyBlocks,
  callDeliveries,
  calls,
  countedRuns,
  deliveries,
  rawAnswers,
  runQueries as rq,
  runs,
  tasks as t,
} from './schema.ts'

/*
 * The public views. Their columns stay, new ones come after them: programs read them with any SQLite from 3.40 on. A database
 * stores their text, and where the text differs from this one the view is made again.
 */

const select = (columns: string, from: string): string => `\n    SELECT ${columns}\n    FROM ${from}`
const iso = (column: string): string => `strftime('%Y-%m-%dT%H:%M:%fZ', ${column} / 1000.0, 'unixepoch')`
const text = (column: string): string => `(SELECT text FROM texts WHERE id = ${column})`
const link = (column: string): string => `(SELECT link FROM links WHERE id = ${column})`
const param = (name: string): string => `json_extract(q.params, '$.${name}') AS ${name}`

/** Query and target, as the first columns of `rankings`. */
const tracked = (
  label: string,
) => `r.job, q.text AS query, ${label} AS target, q.operation, ${param('gl')}, ${param('hl')},
      ${param('location')},
      (SELECT group_concat(value, ';') FROM json_each(rq.tags)) AS tags, r.date`

const observation = `${tracked('rt.label')}, ${iso('o.observed_at')} AS observed_at, o.state, o.rank, o.exactness, o.depth,
      ${link('o.link_id')} AS url, ${text('o.title_id')} AS title, o.run_id`

/** What belongs to an observation. */
const ofObservation = `JOIN queries q ON q.id = o.query_id
      JOIN targets tg ON tg.id = o.target_id
      JOIN run_targets rt ON rt.run_id = o.run_id AND rt.target_id = o.target_id
      JOIN run_queries rq ON rq.run_id = o.run_id AND rq.query_id = o.query_id`

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
const rankChanges = select(
  `${observation},
      pr.date AS previous_date, p.state AS previous_state, p.rank AS previous_rank, p.rank - o.rank AS change,
      pr.id AS previous_run_id, rt.own, tg.site AS target_site, tg.match AS target_match, q.params,
      tg.also AS target_also`,
  `runs_ r
      LEFT JOIN runs_ b ON b.id = (SELECT max(s.id) FROM runs_ s WHERE s.job = r.job AND s.id < r.id AND s.date < r.date)
      JOIN observations o ON o.run_id = r.id
      ${ofObservation}
      LEFT JOIN observations p ON p.query_id = o.query_id AND p.target_id = o.target_id AND p.run_id = ${previousRun}
      LEFT JOIN runs_ pr ON pr.id = p.run_id`,
)

/** Where counts come from, and what a row of it says. CROSS JOIN keeps the order: run by run, a few of them. */
const counted = {
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

/** Of runs that continue, or that changed since they were counted. */
const observed: typeof counted = {
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
/** Grouped by, although they follow from run and target: only so a condition on them reaches the rows of a group. */
const ofTarget = 'r.job, rt.label, r.date, rt.own, tg.site, tg.match, tg.also'
const tops = [1, 3, 10, 20, 50, 100]

/** What a run says of a target over all its queries, in one row. */
const rankingsByRun = sources.map(summary).join('\n    UNION ALL')

function summary({ state, place, estimated, queries, from }: typeof counted): string {
  const when = (condition: string) => `sum(CASE WHEN ${condition} THEN ${queries} ELSE 0 END)`
  const is = (name: string) => `${state} = '${name}'`
  // Absent from n results counts as place n + 1; without any result there is no place.
  const counts = `CASE WHEN ${is('ranked')} OR ${is('absent')} AND ${place} > 0 THEN ${queries} END`
  return select(
    `r.job, rt.label AS target, r.date, r.id AS run_id, sum(${queries}) AS queries, ${when(is('ranked'))} AS ranked,
      ${when(is('absent'))} AS absent, ${when(is('unknown'))} AS unknown, ${when(`${estimated} = 1`)} AS estimated,
      sum(CASE WHEN ${is('ranked')} THEN ${place} * ${queries} END) * 1.0
        / sum(CASE WHEN ${is('ranked')} THEN ${queries} END) AS average_rank,
      sum((${place} + (${is('absent')})) * ${counts}) * 1.0 / sum(${counts}) AS average_position,
      ${tops.map((top) => `${when(`${is('ranked')} AND ${place} <= ${top}`)} AS top_${top}`).join(', ')},
      ${target}`,
    `${from}
    GROUP BY r.id, rt.target_id, ${ofTarget}`,
  )
}

/** How many queries of a run said the same of a target. */
const rankCountsView = `${rankCounts(counted, 'c.queries', 'c.volume')}
    UNION ALL${rankCounts(observed, 'count(*)', 'sum(CAST(rq.volume AS INTEGER))')}
    GROUP BY r.id, rt.target_id, 5, 6, 7, 8, ${ofTarget}`

function rankCounts(
  { state, place, estimated, from }: typeof counted,
  queries: string,
  volume: string,
): string {
  return select(
    `r.job, rt.label AS target, r.date, r.id AS run_id, ${state} AS state,
      CASE ${state} WHEN 'ranked' THEN ${place} END AS rank,
      CASE WHEN ${state} <> 'unknown' THEN CASE WHEN ${estimated} THEN 'estimated' ELSE 'exact' END END AS exactness,
      CASE ${state} WHEN 'absent' THEN ${place} END AS depth, ${queries} AS queries, CAST(${volume} AS INTEGER) AS volume,
      ${target}`,
    from,
  )
}

/** Kinds whose text stands in a column of its own, so that it is no title. */
const titleless: readonly ResultKind[] = ['suggestion', 'related']
/** Kinds whose stored position is an index that has a column of its own. */
const positionless: readonly ResultKind[] = ['reference']

/** What dated results have beside their own columns; the precision says how exactly the date names the instant. */
const dated = `, x.displayed_link AS displayed_link, x.matched AS snippet_matched,
      d.precision AS published_precision`

/** The answer of a task. With the query, a search by query starts from its answers, which is quicker than from its tasks. */
const ofTask = 'a.id = t.answer_id AND a.query_id = t.query_id'

/** Whether a paid call of a task is in the air: one of a few. */
const inTheAir =
  'EXISTS (SELECT 1 FROM calls_ c WHERE c.outcome IS NULL AND c.task_id = t.id AND c.credits > 0)'

/** Every result of the target with its rank, as a JSON list; null where none ranks. */
const places = `CASE
      WHEN o.places IS NOT NULL THEN (
        SELECT json_group_array(json_object('rank', json_extract(p.value, '$[0]'), 'url',
          ${link("json_extract(p.value, '$[1]')")})) FROM json_each(o.places) p)
      WHEN o.rank IS NOT NULL THEN json_array(json_object('rank', o.rank, 'url',
        ${link('o.link_id')}))
      END`

/** The position of the result `n` of an answer `a`, which stores only what is not 1, 2, 3 and so on. */
const positionOf = (kind: string): string => `CASE
        WHEN a.positions IS NULL THEN n.key + 1
        ELSE CASE json_type(a.positions, '$.' || ${kind})
          WHEN 'array' THEN json_extract(a.positions, '$.' || ${kind} || '[' || n.key || ']')
          WHEN 'null' THEN NULL
          ELSE n.key + 1 END END`

/** A row per result, for statements that ask for any kind: an answer names its items in lists by kind. */
const resultRows = select(
  `a.id AS answer_id, CAST(k.key AS INTEGER) AS kind, n.key AS place, ${positionOf('k.key')} AS position,
      x.link_id, x.title, x.snippet, x.source, x.displayed_link, x.matched`,
  'answers_ a JOIN json_each(a.items) k JOIN json_each(k.value) n LEFT JOIN items x ON x.id = n.value',
)

/** The host of a property of clicks. */
const propertyHost = (
  property: string,
): string => `CASE WHEN ${property} LIKE 'sc-domain:%' THEN substr(${property}, 11)
          ELSE substr(${property}, instr(${property}, '//') + 2, instr(substr(${property}, instr(${property}, '//') + 2) || '/', '/') - 1) END`

/** Days and periods of clicks by query that count, so that nothing counts twice: the rule of `countedSpans`. */
const countedDays = `SELECT d.table_id, d.day FROM click_tables t JOIN click_days d ON d.table_id = t.id
      WHERE t.rows_of = 'query' AND NOT EXISTS (SELECT 1 FROM click_tables o CROSS JOIN click_days e ON e.table_id = o.id
        WHERE o.site = t.site AND o.rows_of = 'query' AND o.time_span = t.time_span AND e.day = d.day AND e.until_day = d.until_day
          AND CASE
            WHEN o.property = t.property THEN (o.counted_by = 'property', o.id) > (t.counted_by = 'property', t.id)
            WHEN o.property LIKE 'sc-domain:%' THEN substr('.' || ${propertyHost('t.property')}, 9 - length(o.property))
              = '.' || substr(o.property, 11)
            ELSE substr(o.property, -1) = '/' AND instr(t.property, o.property) = 1 END)`

export const views: Readonly<Record<string, string>> = {
  results: resultRows,

  runs: select(
    `r.id AS run_id, r.job, ${iso('r.started_at')} AS started_at, ${iso('r.finished_at')} AS finished_at,
      r.finish_reason,
      (SELECT count(*) FROM tasks_ t WHERE t.run_id = r.id)
        - (SELECT count(*) FROM tasks_ t WHERE t.run_id = r.id AND t.state = 'skipped') AS tasks_planned,
      (SELECT count(*) FROM tasks_ t WHERE t.run_id = r.id AND t.state = 'done') AS tasks_done,
      (SELECT count(*) FROM tasks_ t WHERE t.run_id = r.id AND t.state = 'failed') AS tasks_failed,
      (SELECT coalesce(sum(c.credits), 0) FROM calls_ c WHERE c.run_id = r.id AND c.billed = 1) AS credits_spent,
      (SELECT coalesce(sum(c.credits), 0) FROM calls_ c
        WHERE c.run_id = r.id AND c.billed IS NULL AND c.outcome IS NOT NULL) AS credits_ambiguous,
      r.date`,
    'runs_ r',
  ),

  tasks: select(
    `t.id AS task_id, t.run_id, q.text AS query, q.operation, t.page,
      CASE t.state
        WHEN 'leased' THEN CASE WHEN ${inTheAir} THEN 'sent' ELSE 'pending' END
        ELSE t.state END AS state, t.cause,
      t.priority, t.credits, t.reused, q.params`,
    'tasks_ t JOIN queries q ON q.id = t.query_id',
  ),

  calls: select(
    `c.id AS call_id, c.run_id, c.task_id, c.operation, ${iso('c.sent_at')} AS sent_at,
      ${iso('c.finished_at')} AS finished_at, c.http_status, c.outcome, c.billed, c.credits, c.latency_ms, c.error`,
    'calls_ c',
  ),

  answers: select(
    `t.run_id, r.job, q.text AS query, q.operation, t.page, ${iso('a.fetched_at')} AS fetched_at,
      a.total_results, a.time_taken, ${text('a.notice')} AS notice, a.has_next_page, a.next_page,
      ${text('a.search_parameters')} AS search_parameters, ${text('a.knowledge_graph')} AS knowledge_graph,
      ${text('a.ai_markdown')} AS ai_markdown, ${text('a.ai_blocks')} AS ai_blocks,
      q.params, a.malformed AS malformed_items, t.reused, a.id AS answer_id, a.echo_mismatch`,
    `tasks_ t JOIN runs_ r ON r.id = t.run_id JOIN queries q ON q.id = t.query_id
      JOIN answers_ a ON ${ofTask}`,
  ),

  organic_results: resultView('organic', `x.displayed_link, x.matched AS snippet_matched`),
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
    `${link('d.image_link_id')} AS image_url, ${text('d.thumbnail_id')} AS thumbnail,
      d.width AS image_width, d.height AS image_height`,
    'image_details',
  ),
  ai_references: resultView('reference', `${positionOf(`'${kindCodes.reference}'`)} AS reference_index`),
  suggestions: resultView('suggestion', `x.title AS suggestion`),
  related_searches: resultView('related', `x.title AS related_query`),

  rankings: select(
    `${observation},
      rt.own, tg.site AS target_site, tg.match AS target_match, CAST(rq.volume AS INTEGER) AS volume, rq.url AS intended_url, q.params, rq.labels,
      o.page, coalesce(o.unbroken_depth, o.depth) AS unbroken_depth, ${places} AS urls,
      tg.also AS target_also, rq.paging_kind = 'ended' AND o.unbroken_pages >= rq.pages AS results_ended,
      o.suspect`,
    `observations o
      JOIN runs_ r ON r.id = o.run_id
      ${ofObservation}`,
  ),

  rank_changes: rankChanges,
  rankings_by_run: rankingsByRun,
  rank_counts: rankCountsView,

  imported_rankings: select(
    `i.job, q.text AS query, s.target, q.gl, q.hl, q.location, q.device, q.engine,
      (SELECT group_concat(value, ';') FROM json_each(q.tags)) AS tags, CAST(q.volume AS INTEGER) AS volume,
      ${dayOf('o.day')} AS date, ${chosen('o.state', importedStates)} AS state, o.rank, s.rank_kind, o.depth, l.link AS url,
      json_extract(i.reasons, '$[' || o.reason || ']') AS reason, s.repeats AS repeats_possible,
      f.format AS source, f.path AS file, i.id AS import_id, s.id AS series_id, q.id AS query_id`,
    `imports_ i
      JOIN imported_queries q ON q.import_id = i.id
      JOIN imported_series s ON s.query_id = q.id
      JOIN imported_observations o ON o.series_id = s.id
      JOIN imported_files f ON f.id = o.file_id
      LEFT JOIN imported_links l ON l.id = o.link_id`,
  ),

  imported_answers: select(
    `i.job, q.text AS query, q.gl, q.hl, q.location, q.device, q.engine, ${dayOf('a.day')} AS date, n.key + 1 AS rank,
      l.link, json_array_length(a.links) AS results, f.format AS source, f.path AS file, i.id AS import_id, q.id AS query_id`,
    `imports_ i
      JOIN imported_queries q ON q.import_id = i.id
      JOIN imported_answers_ a ON a.query_id = q.id
      JOIN imported_files f ON f.id = a.file_id
      JOIN json_each(a.links) n
      JOIN imported_links l ON l.id = n.value`,
  ),

  clicks: select(
    `t.property, t.site, q.text AS query, p.text AS page, nullif(c.country, '') AS country, ${dayOf('d.day')} AS date,
      ${dayOf('d.until_day')} AS until_date, c.clicks, c.impressions, round(c.position_sum / c.impressions + 1, 4) AS position,
      t.counted_by, a.source, a.id AS addition_id, c.table_id, c.query_id, c.page_id`,
    `click_rows c
      JOIN click_tables t ON t.id = c.table_id
      JOIN click_days d ON d.table_id = c.table_id AND d.day = c.day
      JOIN click_additions a ON a.id = t.addition_id
      LEFT JOIN click_texts q ON q.id = c.query_id
      LEFT JOIN click_texts p ON p.id = c.page_id
    WHERE (d.table_id, d.day) IN (${countedDays})`,
  ),
}

/** A number of days since 1970-01-01, as text. */
function dayOf(column: string): string {
  return `date(${column} * 86400, 'unixepoch')`
}

/** What stands at a place of a list. */
function chosen(place: string, list: readonly string[]): string {
  return `CASE ${place} ${list.map((one, index) => `WHEN ${index} THEN '${one}'`).join(' ')} END`
}

function resultView(kind: ResultKind, further: string, details?: string, last = ''): string {
  // Related searches have no rank over pages.
  const [ranks, rankBase] =
    kind === 'related'
      ? ['NULL', '0']
      : ["CASE WHEN t.ranks IS NOT NULL THEN json_extract(t.ranks, '$[' || n.key || ']') END", 't.rank_base']
  const code = kindCodes[kind]
  const join = `
      LEFT JOIN ${details} d ON d.answer_id = a.id AND d.kind = ${code} AND d.place = n.key`
  return select(
    `t.run_id, r.job, q.text AS query, q.operation,
      substr(q.operation, 1, instr(q.operation, '.') - 1) AS engine,
      ${param('gl')}, ${param('hl')}, ${param('location')},
      t.page, ${iso('a.fetched_at')} AS fetched_at,
      coalesce(${ranks},
        ${rankBase} + n.key + 1) AS rank,
      ${positionless.includes(kind) ? 'NULL' : positionOf(`'${code}'`)} AS position,
      ${titleless.includes(kind) ? 'NULL' : 'x.title'} AS title,
      l.link, h.host AS domain, h.site, x.source AS source, x.snippet AS snippet,
      ${further}, q.params${last}, t.id AS task_id, a.id AS answer_id, n.key AS place,
      (SELECT labels FROM run_queries rq WHERE rq.run_id = t.run_id AND rq.query_id = t.query_id) AS labels`,
    `tasks_ t
      JOIN answers_ a ON ${ofTask}
      JOIN runs_ r ON r.id = t.run_id
      JOIN queries q ON q.id = t.query_id
      JOIN json_each(a.items, '$.${code}') n
      LEFT JOIN items x ON x.id = n.value
      LEFT JOIN links l ON l.id = x.link_id
      LEFT JOIN hosts h ON h.id = l.host_id${details === undefined ? '' : join}`,
  )
}

/** Whether a target is tracked for a query of a run: as one of its own, or as one of the whole job in `@named`. */
const isAsked = `(tg.id IN (SELECT value FROM json_each(coalesce(rq.planned_targets, rq.targets)))
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
const asPlanned = inFileOrder("r.settings, '$.targets'", "json(n.value -> 'also')")

/** The targets of the run @run, numbered in the order of the job file; those of the whole job as `@named` has them. */
const targetOrder = `(SELECT rt.target_id, rt.label, rt.own,
      row_number() OVER (ORDER BY ${inFileOrder('@named', "n.value ->> 'also'")}) AS place
    FROM (SELECT target_id, label, own, max(run_id) FROM run_targets
        WHERE run_id = @run OR run_id IN (SELECT last_run FROM resting_queries WHERE run_id = @run)
        GROUP BY target_id) rt
      JOIN targets tg ON tg.id = rt.target_id)`

/** What the run @run asks, and what rests while it runs: each query with the run that says most of it. */
const askedQueries = `(SELECT rq.run_id, rq.query_id
      FROM runs_ r JOIN run_queries rq ON rq.run_id = r.id AND rq.plan_number = r.plan_number WHERE r.id = @run
    UNION ALL SELECT last_run, query_id FROM resting_queries WHERE run_id = @run)`

/**
 * Everything that the run @run asks, each query with each target that @named has or that is its own, in the columns of
 * `rankings`, as if nothing were known of it. What an edited file took back while the run went on is no longer asked; nor
 * are targets that the run watches only because a later file named them.
 */
const askedByRun = `
    WITH ordered AS MATERIALIZED ${targetOrder}
    SELECT ${tracked('t.label')}, ${iso('r.started_at')} AS observed_at, 'unknown' AS state, NULL AS rank,
      NULL AS exactness, 0 AS depth, NULL AS url, NULL AS title, r.id AS run_id, t.own, tg.site AS target_site,
      tg.match AS target_match, CAST(rq.volume AS INTEGER) AS volume, rq.url AS intended_url, q.params, rq.labels, NULL AS page,
      0 AS unbroken_depth, NULL AS urls, tg.also AS target_also, NULL AS results_ended,
      0 AS suspect
    FROM runs_ r
      JOIN ${askedQueries} asked
      JOIN run_queries rq ON rq.run_id = asked.run_id AND rq.query_id = asked.query_id
      JOIN queries q ON q.id = rq.query_id
      JOIN run_targets rt ON rt.run_id = rq.run_id
      JOIN ordered t ON t.target_id = rt.target_id
      JOIN targets tg ON tg.id = rt.target_id
    WHERE r.id = @run AND ${isAsked}
    ORDER BY q.text, q.operation, q.params, t.place`

/** What a run asks, in SQL. */
export const asks = {
  queries: askedQueries,
  targets: targetOrder,
  isTracked: isAsked,
  asPlanned,
  everything: askedByRun,
}

const deliveredCall = delivered(callDeliveries, callDeliveries.callId, '= NEW.id', 'VALUES (NEW.id)')

/**
 * Triggers keep the numbers of what can be exported, and the rank totals, up to date in every change.
 *
 * An export of what is new must know what came since the last one. No number of a task, call or answer says so: an answer may
 * be parsed long after it was stored, or be used by several tasks, and results are derived again. So a task or call gets a new
 * number whenever its rows are stored or changed.
 */
export const triggers: Readonly<Record<string, string>> = {
  /** A task is done, or other pages of its query changed the ranks of its results. */
  deliver_task: raw`
    AFTER UPDATE OF ${t.state}, ${t.rankBase}, ${t.ranks} ON ${t}
    WHEN NEW.${t.state} = 'done' AND (OLD.${t.state} <> 'done' OR OLD.${t.rankBase} <> NEW.${t.rankBase} OR OLD.${t.ranks} IS NOT NEW.${t.ranks})
    BEGIN ${deliveredTask('= NEW.id', 'VALUES (NEW.id)')} END`,

  /** Results are derived again: those of every task that the answer was for. */
  deliver_answer: raw`
    AFTER UPDATE OF ${answers.normaliser} ON ${answers} WHEN OLD.${answers.normaliser} IS NOT NULL
    BEGIN ${deliveredTasks(raw` WHERE ${t.answerId} = NEW.${answers.id}`)} END`,

  /** A run continues with an edited file: exports show labels beside results. */
  deliver_labels: raw`
    AFTER UPDATE OF ${rq.labels} ON ${rq} WHEN OLD.${rq.labels} <> NEW.${rq.labels}
    BEGIN ${deliveredTasks(raw`
      WHERE ${t.runId} = NEW.${rq.runId} AND ${t.queryId} = NEW.${rq.queryId}`)} END`,

  /** A call in flight is not exported. */
  deliver_new_call: raw`
    AFTER INSERT ON ${calls} WHEN NEW.${calls.outcome} IS NOT NULL
    BEGIN ${deliveredCall} END`,

  /** A call ended, or more became known of it. */
  deliver_call: raw`
    AFTER UPDATE ON ${calls}
    BEGIN ${deliveredCall} END`,

  /** A run that continues observes more: its rank totals are outdated. */
  uncount_run: raw`
    AFTER UPDATE OF ${runs.finishedAt} ON ${runs} WHEN NEW.${runs.finishedAt} IS NULL
    BEGIN DELETE FROM ${countedRuns} WHERE ${countedRuns.runId} = NEW.${runs.id}; END`,

  /** The last body of a block has gone. */
  drop_block: raw`
    AFTER DELETE ON ${rawAnswers} WHEN OLD.${rawAnswers.blockId} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${rawAnswers} b
      WHERE b.${rawAnswers.answerId} BETWEEN OLD.${rawAnswers.blockId} AND OLD.${rawAnswers.blockId} + ${blocks.most - 1}
        AND b.${rawAnswers.blockId} = OLD.${rawAnswers.blockId})
    BEGIN DELETE FROM ${bodyBlocks} WHERE ${bodyBlocks.id} = OLD.${rawAnswers.blockId}; END`,
}

function deliveredTasks(where: string): string {
  const ids = raw`SELECT ${t.id} FROM ${t}${where} AND ${t.state} = 'done' ORDER BY ${t.id}`
  return deliveredTask(`IN (${ids})`, ids)
}

function deliveredTask(those: string, ids: string): string {
  return delivered(deliveries, deliveries.taskId, those, ids)
}

/**
 * Gives new numbers. Not by OR REPLACE, which a conflict clause of the outer statement would overrule. It cannot fail, and
 * OR IGNORE says so: otherwise SQLite would copy every page that the statement changes, for a rollback.
 */
function delivered(table: Table, column: Column, those: string, ids: string): string {
  return raw`
      DELETE FROM ${table} WHERE ${column} ${those};
      INSERT OR IGNORE INTO ${table} (${column}) ${ids};`
}
