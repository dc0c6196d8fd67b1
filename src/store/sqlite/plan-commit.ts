import type { Database } from 'better-sqlite3'
import type { Target } from '../../model/target.ts'
import type { PlannedJob } from '../store.ts'
import { finalKinds } from './ends.ts'
import { takeInAgain } from './fit.ts'
import { numberQueries } from './plan-numbers.ts'
import type { Staged } from './plan-staged.ts'
import { targetIds } from './targets.ts'

/** Turns the staged queries of these jobs into runs with tasks; answers the ids of the runs. Inside a transaction. */
export function commitPlan(
  db: Database,
  staged: (job: string) => Staged,
  jobs: readonly PlannedJob[],
  now: number,
): readonly number[] {
  const groupId = groupOf(db, jobs)
  return jobs.map((job) => {
    const queries = staged(job.settings.name)
    numberQueries(db, queries)
    const runId =
      job.continues === null ? addRun(db, job, groupId, now) : planAgain(db, job, groupId, queries)
    plan(db, job, runId, queries)
    return runId
  })
}

/** Jobs that go on stay in their group, with those of it that are finished; others begin one of their own. */
function groupOf(db: Database, jobs: readonly PlannedJob[]): number {
  const continued = jobs.find(({ continues }) => continues !== null)?.continues ?? null
  const group = db
    .prepare<[number | null], { id: number }>('SELECT group_id AS id FROM runs_ WHERE id = ?')
    .get(continued)
  if (group !== undefined) return group.id
  const newest = db.prepare<[], { id: number }>('SELECT coalesce(max(group_id), 0) AS id FROM runs_').get()
  return (newest?.id ?? 0) + 1
}

function addRun(db: Database, { settings, date }: PlannedJob, groupId: number, now: number): number {
  const run = db
    .prepare(
      `INSERT INTO runs_ (job, group_id, settings, date, started_at, plan_number, planned_min, planned_max)
      VALUES (?, ?, ?, ?, ?, 1, 0, 0)`,
    )
    .run(settings.name, groupId, JSON.stringify(settings), date, now)
  return Number(run.lastInsertRowid)
}

function planAgain(
  db: Database,
  { settings, continues }: PlannedJob,
  groupId: number,
  { table }: Staged,
): number {
  db.prepare(
    `UPDATE runs_ SET group_id = ?, settings = ?, plan_number = plan_number + 1, finished_at = NULL,
      finish_reason = NULL, duration_ms = NULL WHERE id = ?`,
  ).run(groupId, JSON.stringify(settings), continues)
  takeInAgain(db, continues as number)
  // Of all its pages: one that follows takes the priority of the page before it.
  db.prepare(
    `UPDATE tasks_ SET priority = s.priority FROM ${table} s JOIN draft.asked a ON a.id = s.id
    WHERE tasks_.run_id = ? AND tasks_.query_id = a.query_id AND tasks_.priority <> s.priority`,
  ).run(continues)
  return continues as number
}

function plan(db: Database, { settings, continues }: PlannedJob, run: number, staged: Staged): void {
  const { table, lists } = staged
  noteTargets(db, settings.targets, run, lists)
  // In the order of the file: calls of neighbours then change the same pages of the database.
  db.prepare(
    `INSERT INTO queries (id, key, operation, text, params)
    SELECT a.query_id, s.key, s.operation, s.text, s.params FROM ${table} s JOIN draft.asked a ON a.id = s.id
    WHERE a.added = 1 ORDER BY s.id`,
  ).run()
  db.prepare(
    `INSERT INTO run_queries (run_id, query_id, depth, pages, page_size, volume, url, tags, labels, targets, plan_number)
    SELECT r.id, a.query_id, s.depth, s.pages, s.page_size, s.volume, s.url, s.tags, s.labels,
      coalesce((SELECT l.numbers FROM ${lists} l WHERE l.id = s.targets), '[]'), r.plan_number
    FROM ${table} s JOIN draft.asked a ON a.id = s.id JOIN runs_ r ON r.id = ? WHERE true ORDER BY s.id
    ON CONFLICT DO UPDATE SET depth = excluded.depth, pages = excluded.pages, page_size = excluded.page_size,
      volume = excluded.volume, url = excluded.url, tags = excluded.tags, labels = excluded.labels,
      targets = excluded.targets, planned_targets = NULL, plan_number = excluded.plan_number,
      paging_end = CASE WHEN paging_kind IN ${finalKinds} OR (excluded.pages <= pages AND coalesce(excluded.depth, 0) <= coalesce(depth, 0))
        THEN paging_end END`,
  ).run(run)
  const allPages = settings.paging === 'all'
  if (settings.paging === 'smart') dropAhead(db, run)
  addTasks(db, run, table, allPages)
  // A new run holds nothing but what it was just given.
  if (continues !== null) {
    settleTasks(db, run, allPages)
    dropUnasked(db, run)
  }
  priceRun(db, run)
}

/** Pages of which it is known that they are wanted become tasks at once; others follow when the page before them is read. */
function addTasks(db: Database, run: number, table: string, allPages: boolean): void {
  db.prepare(
    `INSERT INTO tasks_ (run_id, query_id, page, state, ready, priority, credits)
    SELECT @run, a.query_id, n.page, 'pending', n.page = 1, s.priority, s.credits
    FROM ${table} s JOIN draft.asked a ON a.id = s.id
      JOIN draft.numbers n ON n.page <= CASE WHEN @all AND s.depth IS NULL THEN s.pages ELSE 1 END
    WHERE true ORDER BY s.id, n.page
    ON CONFLICT (run_id, query_id, page) DO NOTHING`,
  ).run({ run, all: allPages ? 1 : 0 })
}

/** Brings the tasks that a run had together with those that it was given. */
function settleTasks(db: Database, run: number, allPages: boolean): void {
  // A deeper plan goes on behind the pages that a shallower one had settled.
  db.prepare(
    `INSERT INTO tasks_ (run_id, query_id, page, state, ready, priority, credits)
    SELECT t.run_id, t.query_id, max(t.page) + 1, 'pending', 1, t.priority, t.credits
    FROM tasks_ t JOIN run_queries rq ON rq.run_id = t.run_id AND rq.query_id = t.query_id
    WHERE t.run_id = ? AND rq.paging_end IS NULL
    GROUP BY t.query_id HAVING max(t.page) < rq.pages AND sum(t.state NOT IN ('done', 'failed')) = 0
      AND (NOT ? OR rq.depth IS NOT NULL)`,
  ).run(run, allPages ? 1 : 0)
  // Nor does it ask for anything where it is known that no page follows.
  db.prepare(
    `UPDATE tasks_ SET state = 'skipped', cause = ended.why
    FROM (SELECT rq.query_id, coalesce(rq.paging_end, t.cause) AS why, coalesce(t.page, 0) AS page
      FROM run_queries rq LEFT JOIN tasks_ t
        ON t.run_id = rq.run_id AND t.query_id = rq.query_id AND t.state = 'skipped'
      WHERE rq.run_id = @run AND (rq.paging_end IS NOT NULL OR t.id IS NOT NULL)) AS ended
    WHERE run_id = @run AND tasks_.query_id = ended.query_id AND tasks_.page > ended.page
      AND state = 'pending' AND ready = 0`,
  ).run({ run })
  db.prepare(
    `UPDATE tasks_ SET ready = 1 WHERE run_id = ? AND state = 'pending' AND ready = 0 AND EXISTS (
      SELECT 1 FROM tasks_ before WHERE before.run_id = tasks_.run_id AND before.query_id = tasks_.query_id
        AND before.page = tasks_.page - 1 AND before.state IN ('done', 'failed'))`,
  ).run(run)
}

/** Pages that another policy had planned ahead: which of them are worth asking for follows from those before. */
function dropAhead(db: Database, run: number): void {
  db.prepare("DELETE FROM tasks_ WHERE run_id = ? AND page > 1 AND state = 'pending' AND ready = 0").run(run)
}

/** What an edited file no longer asks is dropped, as far as it was not done. */
function dropUnasked(db: Database, run: number): void {
  const stale = `SELECT query_id FROM run_queries rq JOIN runs_ r ON r.id = rq.run_id
    WHERE r.id = @run AND rq.plan_number < r.plan_number`
  db.prepare(
    `DELETE FROM tasks_ WHERE run_id = @run AND state IN ('pending', 'leased') AND (query_id IN (${stale})
      OR page > (SELECT pages FROM run_queries rq WHERE rq.run_id = @run AND rq.query_id = tasks_.query_id))`,
  ).run({ run })
  db.prepare(
    `DELETE FROM run_queries WHERE run_id = @run AND query_id IN (${stale})
      AND NOT EXISTS (SELECT 1 FROM tasks_ t WHERE t.run_id = @run AND t.query_id = run_queries.query_id)`,
  ).run({ run })
  db.prepare(
    `DELETE FROM observations WHERE run_id = @run AND (
      NOT EXISTS (SELECT 1 FROM run_queries rq WHERE rq.run_id = @run AND rq.query_id = observations.query_id)
      OR NOT EXISTS (SELECT 1 FROM run_targets rt WHERE rt.run_id = @run AND rt.target_id = observations.target_id))`,
  ).run({ run })
}

function priceRun(db: Database, run: number): void {
  db.prepare(
    `UPDATE runs_ SET
      planned_min = (SELECT coalesce(sum(credits), 0) FROM tasks_ WHERE run_id = @run AND page = 1),
      planned_max = (SELECT coalesce(sum(t.credits * rq.pages), 0) FROM tasks_ t
        JOIN run_queries rq ON rq.run_id = t.run_id AND rq.query_id = t.query_id
        WHERE t.run_id = @run AND t.page = 1)
    WHERE id = @run`,
  ).run({ run })
}

/** Lists of targets that are looked at in one go. */
const portion = 1_000

/** Notes whom the run watches, and the numbers of the targets that only some queries have. */
function noteTargets(db: Database, targets: readonly Target[], run: number, lists: string): void {
  const idOf = targetIds(db)
  const track = db.prepare(
    `INSERT INTO run_targets (run_id, target_id, label, own, everywhere) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET label = excluded.label, own = excluded.own, everywhere = max(everywhere, excluded.everywhere)`,
  )
  const note = (target: Target, everywhere: 0 | 1): number => {
    const id = idOf(target)
    track.run(run, id, target.label, target.own ? 1 : 0, everywhere)
    return id
  }
  db.prepare('DELETE FROM run_targets WHERE run_id = ?').run(run)
  for (const target of targets) note(target, 1)
  const next = db.prepare<[number], { id: number; list: string }>(
    `SELECT id, list FROM ${lists} WHERE id > ? ORDER BY id LIMIT ${portion}`,
  )
  const replace = db.prepare(`UPDATE ${lists} SET numbers = ? WHERE id = ?`)
  for (let some = next.all(0); some.length > 0; some = next.all(some.at(-1)?.id as number))
    for (const { id, list } of some)
      replace.run(JSON.stringify((JSON.parse(list) as Target[]).map((target) => note(target, 0))), id)
}
