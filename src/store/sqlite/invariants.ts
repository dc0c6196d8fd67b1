import { countInvariants } from './count-invariants.ts'
import type { Invariant } from './invariant.ts'

const tasks: readonly Invariant[] = [
  {
    broken: 'Tasks that are done or answered, and have no answer to their page',
    of: 'task',
    sql: `SELECT t.id FROM tasks_ t
      LEFT JOIN answers_ a ON a.id = t.answer_id AND a.query_id = t.query_id AND a.page = t.page
      WHERE t.state IN ('done', 'answered') AND a.id IS NULL`,
  },
  {
    broken: 'Tasks that are done with an answer that was never read',
    of: 'task',
    sql: `SELECT t.id FROM tasks_ t JOIN answers_ a ON a.id = t.answer_id
      WHERE t.state = 'done' AND a.normaliser IS NULL`,
  },
  {
    broken: 'Tasks whose answer is still to be read, and has no body any more',
    of: 'task',
    sql: `SELECT t.id FROM tasks_ t
      WHERE t.state = 'answered' AND NOT EXISTS (SELECT 1 FROM raw_answers b WHERE b.answer_id = t.answer_id)`,
  },
  {
    // More than one billed call is no sign of it: an answer that cannot be read is paid for, and bought again by retry.
    broken: 'Tasks that were sent again when they had their answer',
    of: 'task',
    sql: `SELECT t.id FROM (SELECT task_id, max(id) AS last FROM calls_ WHERE credits > 0 GROUP BY task_id) c
      JOIN tasks_ t ON t.id = c.task_id JOIN answers_ a ON a.id = t.answer_id
      JOIN calls_ own ON own.id = a.call_id AND own.task_id = t.id
      WHERE t.state IN ('done', 'answered') AND t.reused = 0 AND c.last > own.id`,
  },
  {
    broken: 'Tasks whose run or query is not stored',
    of: 'task',
    sql: `SELECT t.id FROM tasks_ t LEFT JOIN runs_ r ON r.id = t.run_id LEFT JOIN queries q ON q.id = t.query_id
      LEFT JOIN run_queries rq ON rq.run_id = t.run_id AND rq.query_id = t.query_id
      WHERE r.id IS NULL OR q.id IS NULL OR rq.run_id IS NULL`,
  },
  {
    broken: 'Runs that ended as completed, and have tasks that are not done',
    of: 'run',
    sql: `SELECT r.id FROM runs_ r WHERE r.finish_reason IN ('completed', 'completed_with_failures')
      AND EXISTS (SELECT 1 FROM tasks_ t WHERE t.run_id = r.id AND t.state NOT IN ('done', 'skipped')
        AND NOT (t.state = 'failed' AND r.finish_reason = 'completed_with_failures'))`,
  },
]

const jobs: readonly Invariant[] = [
  {
    broken: 'Tasks that wait for an asynchronous job that is not stored',
    of: 'task',
    sql: `SELECT t.id FROM tasks_ t
      WHERE t.state = 'accepted' AND NOT EXISTS (SELECT 1 FROM async_jobs j WHERE j.task_id = t.id)`,
  },
  {
    broken: 'Asynchronous jobs that no task waits for',
    of: 'task',
    sql: `SELECT j.task_id AS id FROM async_jobs j
      WHERE NOT EXISTS (SELECT 1 FROM tasks_ t WHERE t.id = j.task_id AND t.state = 'accepted')`,
  },
  {
    broken: 'Asynchronous jobs that no call has submitted',
    of: 'task',
    sql: `SELECT j.task_id AS id FROM async_jobs j WHERE NOT EXISTS (SELECT 1 FROM calls_ c
      WHERE c.id = j.call_id AND c.task_id = j.task_id AND c.outcome = 'accepted')`,
  },
]

const ledger: readonly Invariant[] = [
  {
    broken: 'Answers without the call that was billed for them',
    of: 'answer',
    sql: `SELECT a.id FROM answers_ a LEFT JOIN calls_ c ON c.id = a.call_id
      WHERE c.billed IS NOT 1 OR c.run_id IS NOT a.run_id OR c.outcome NOT IN ('answered', 'accepted')`,
  },
  {
    broken: 'Answers that share their call with another',
    of: 'answer',
    sql: 'SELECT max(a.id) AS id FROM answers_ a GROUP BY a.call_id HAVING count(*) > 1',
  },
  {
    broken: 'Calls that were billed for an answer that is not stored',
    of: 'call',
    sql: `SELECT c.id FROM calls_ c WHERE c.billed = 1 AND c.credits > 0 AND c.outcome IN ('answered', 'accepted')
      AND c.id NOT IN (SELECT call_id FROM answers_)`,
  },
  {
    broken: 'Calls without an end whose run is not stored',
    of: 'call',
    sql: `SELECT c.id FROM calls_ c LEFT JOIN runs_ r ON r.id = c.run_id
      WHERE c.outcome IS NULL AND c.credits > 0 AND r.id IS NULL`,
  },
]

type Dictionary = 'texts' | 'links' | 'hosts'

/** Rows that name a word that is not in the dictionary. */
function nameless(table: string, id: string, names: Readonly<Record<string, Dictionary>>): string {
  const missing = Object.entries(names).map(
    ([column, words]) =>
      `(x.${column} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${words} w WHERE w.id = x.${column}))`,
  )
  return `SELECT x.${id} AS id FROM ${table} x WHERE ${missing.join(' OR ')}`
}

const results: readonly Invariant[] = [
  {
    broken: 'Results without an answer that was read',
    of: 'answer',
    sql: `SELECT x.answer_id AS id FROM results x LEFT JOIN answers_ a ON a.id = x.answer_id
      WHERE a.normaliser IS NULL`,
  },
  {
    broken: 'Details without the result that they belong to',
    of: 'answer',
    sql: `SELECT d.answer_id AS id FROM (SELECT answer_id, kind, place FROM dated_details
        UNION ALL SELECT answer_id, kind, place FROM image_details) d
      WHERE NOT EXISTS (SELECT 1 FROM results x
        WHERE x.answer_id = d.answer_id AND x.kind = d.kind AND x.place = d.place)`,
  },
  {
    broken: 'Stored bodies without an answer',
    of: 'answer',
    sql: `SELECT b.answer_id AS id FROM raw_answers b
      WHERE NOT EXISTS (SELECT 1 FROM answers_ a WHERE a.id = b.answer_id)`,
  },
  {
    broken: 'Results and answers with a title, link or text that is not stored',
    of: 'answer',
    sql: [
      nameless('results', 'answer_id', {
        link_id: 'links',
        title_id: 'texts',
        snippet_id: 'texts',
        source_id: 'texts',
        displayed_link_id: 'texts',
        matched_id: 'texts',
      }),
      nameless('dated_details', 'answer_id', { date_id: 'texts', channel_id: 'texts', duration_id: 'texts' }),
      nameless('image_details', 'answer_id', { image_link_id: 'links', thumbnail_id: 'texts' }),
      nameless('answers_', 'id', {
        notice: 'texts',
        search_parameters: 'texts',
        knowledge_graph: 'texts',
        ai_markdown: 'texts',
        ai_blocks: 'texts',
      }),
    ].join(' UNION ALL '),
  },
  {
    broken: 'Links whose host, or whose equal, is not stored',
    of: 'link',
    sql: nameless('links', 'id', { host_id: 'hosts', same_as: 'links' }),
  },
]

const observations: readonly Invariant[] = [
  {
    broken: 'Observations whose query, target, link or title is not stored',
    of: 'run',
    sql: `SELECT o.run_id AS id FROM observations o
        LEFT JOIN run_queries rq ON rq.run_id = o.run_id AND rq.query_id = o.query_id
        LEFT JOIN run_targets rt ON rt.run_id = o.run_id AND rt.target_id = o.target_id
        LEFT JOIN targets tg ON tg.id = o.target_id
      WHERE rq.run_id IS NULL OR rt.run_id IS NULL OR tg.id IS NULL
      UNION ALL ${nameless('observations', 'run_id', { link_id: 'links', title_id: 'texts' })}`,
  },
  {
    broken: 'Observations with a rank that are not ranked, or without one that are',
    of: 'run',
    sql: "SELECT o.run_id AS id FROM observations o WHERE (o.state = 'ranked') <> (o.rank IS NOT NULL)",
  },
]

/** Without a number, they would be missing from every export. */
const deliveries: readonly Invariant[] = [
  {
    broken: 'Tasks that are done, and that no export would find',
    of: 'task',
    sql: `SELECT t.id FROM tasks_ t
      WHERE t.state = 'done' AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.task_id = t.id)`,
  },
  {
    broken: 'Calls that no export would find',
    of: 'call',
    sql: 'SELECT c.id FROM calls_ c WHERE c.outcome IS NOT NULL AND NOT EXISTS (SELECT 1 FROM call_deliveries d WHERE d.call_id = c.id)',
  },
]

export const invariants: readonly Invariant[] = [
  ...tasks,
  ...jobs,
  ...ledger,
  ...results,
  ...observations,
  ...countInvariants,
  ...deliveries,
]
