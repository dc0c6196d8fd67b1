import type { Database } from 'better-sqlite3'
import { kindCodes } from '../../model/result.ts'
import type { RunQuality } from '../../model/run.ts'
import type { Variant } from '../../model/target.ts'
import type {
  AskedKeyword,
  AskedTarget,
  FirstResult,
  ObservedRow,
  QueryText,
  TrackingStore,
} from '../tracking.ts'
import { mismatchedIn } from './tally.ts'
import { namedTargets } from './targets.ts'
import { isAsked, targetOrder } from './views.ts'

/** Reads what runs asked and observed, by numbers: nothing is joined that is not needed row by row. */
export function trackingStore(db: Database): TrackingStore {
  const link = db.prepare<[number], string>('SELECT link FROM links WHERE id = ?').pluck()
  const query = db.prepare<[number], QueryRow>(
    'SELECT id, text AS query, operation, params FROM queries WHERE id = ?',
  )
  const observed = db.prepare<[number], string>(observedInRun).pluck()
  const unbroken = db
    .prepare<[number, number], number | null>(
      `SELECT max(CASE WHEN ${ended('o')} THEN 1e999 ELSE coalesce(o.unbroken_depth, o.depth) END)
      FROM observations o WHERE o.run_id = ? AND o.query_id = ?`,
    )
    .pluck()
  return {
    askedIn: askedReader(db),
    observedIn: (run) => JSON.parse(observed.get(run) as string) as ObservedRow[],
    queries: (ids) => ids.map((id) => queryText(query.get(id) as QueryRow)),
    links: (ids) => ids.map((id) => link.get(id) as string),
    firstResults: resultReader(db),
    unbrokenDepth: (run, id) => unbroken.get(run, id) ?? 0,
    runQuality: qualityReader(db),
  }
}

/** How each run went. */
export function qualityReader(db: Database): TrackingStore['runQuality'] {
  const quality = db.prepare<[number], QualityRow>(
    `SELECT run_id AS run, date, finish_reason AS finishReason, tasks_planned AS planned, tasks_done AS done,
      tasks_failed AS failed, credits_spent AS spent, credits_ambiguous AS ambiguous FROM runs WHERE run_id = ?`,
  )
  const mismatched = mismatchedIn(db)
  return (run) => {
    const { planned, done, failed, ...about } = quality.get(run) as QualityRow
    const others = mismatched(run)
    return { ...about, tasks: { planned, done, failed }, ...(others === 0 ? {} : { mismatched: others }) }
  }
}

/** Whether the results ended where the pages of an observation did, so that none is behind them. */
function ended(observation: string): string {
  return `(SELECT rq.paging_kind = 'ended' AND ${observation}.unbroken_pages >= rq.pages FROM run_queries rq
        WHERE rq.run_id = ${observation}.run_id AND rq.query_id = ${observation}.query_id)`
}

/** Whether the paging policy left its targets alone below the first results, which says as little of them as a gap. */
const dormant = `(SELECT rq.paging_kind IS 'dormant' AND o.unbroken_pages < rq.pages FROM run_queries rq
        WHERE rq.run_id = o.run_id AND rq.query_id = o.query_id)`

/**
 * The depth that absence counts with: what was asked for, where it was looked at, the results ended before, or the paging
 * policy passed over a part of it; else what was looked at, as where all that was waited for was found before.
 */
const absentDepth = `(SELECT max(o.depth,
          CASE WHEN o.exactness = 'estimated' OR rq.paging_kind IS 'dormant' OR o.unbroken_pages >= rq.pages
            THEN coalesce(rq.depth, rq.pages * rq.page_size, 0) ELSE 0 END)
        FROM run_queries rq WHERE rq.run_id = o.run_id AND rq.query_id = o.query_id)`

/**
 * How far a target was looked for matters only where it was not found. All rows of a run come as one text, which is
 * read in half the time that as many rows take.
 */
const observedInRun = `
    SELECT json_group_array(CASE o.state
      WHEN 'ranked' THEN json_array(o.query_id, o.target_id, o.rank, o.exactness = 'estimated', o.link_id, o.places)
      ELSE json_array(o.query_id, o.target_id, NULL,
        CASE o.state WHEN 'absent' THEN o.exactness = 'estimated' OR ${dormant} END, o.depth,
        CASE ${ended('o')} WHEN 1 THEN -1 ELSE coalesce(o.unbroken_depth, o.depth) END, ${absentDepth})
      END)
    FROM observations o WHERE o.run_id = ?`

interface QueryRow extends Omit<QueryText, 'params'> {
  readonly params: string
}

interface QualityRow extends Omit<RunQuality, 'tasks' | 'mismatched'> {
  readonly planned: number
  readonly done: number
  readonly failed: number
}

interface KeywordRow extends QueryRow, Pick<AskedKeyword, 'volume' | 'url'> {
  readonly tags: string
  readonly labels: string
}

interface TargetRow extends Omit<AskedTarget, 'own' | 'also'> {
  readonly own: number
  readonly also: string
}

function queryText({ params, ...text }: QueryRow): QueryText {
  return { ...text, params: JSON.parse(params) as QueryText['params'] }
}

function askedReader(db: Database): TrackingStore['askedIn'] {
  const queries = db.prepare<[number], KeywordRow>(
    `SELECT q.id, q.text AS query, q.operation, q.params, rq.tags, rq.volume, rq.url, rq.labels
    FROM runs_ r JOIN run_queries rq ON rq.run_id = r.id AND rq.plan_number = r.plan_number
      JOIN queries q ON q.id = rq.query_id
    WHERE r.id = ? ORDER BY q.text, q.operation, q.params`,
  )
  const targets = db.prepare<unknown[], TargetRow>(
    `SELECT tg.id, tg.site, tg.match, tg.also, rt.label, rt.own
    FROM ${targetOrder} t JOIN run_targets rt ON rt.run_id = @run AND rt.target_id = t.target_id
      JOIN targets tg ON tg.id = t.target_id ORDER BY t.place`,
  )
  const pairs = db
    .prepare<unknown[], [number, number]>(
      `WITH ordered AS MATERIALIZED ${targetOrder}
      SELECT rq.query_id, rt.target_id
      FROM runs_ r JOIN run_queries rq ON rq.run_id = r.id AND rq.plan_number = r.plan_number
        JOIN queries q ON q.id = rq.query_id
        JOIN run_targets rt ON rt.run_id = r.id JOIN targets tg ON tg.id = rt.target_id
        JOIN ordered t ON t.target_id = rt.target_id
      WHERE r.id = @run AND ${isAsked} ORDER BY q.text, q.operation, q.params, t.place`,
    )
    .raw()
  return (run, targetsOfJob) => {
    const named = namedTargets(targetsOfJob)
    const asked = pairs.all({ run, named })
    const watched = new Set(asked.map(([, target]) => target))
    return {
      queries: queries.all(run).map(({ params, tags, labels, ...keyword }) => ({
        ...keyword,
        params: JSON.parse(params) as AskedKeyword['params'],
        tags: JSON.parse(tags) as string[],
        labels: JSON.parse(labels) as AskedKeyword['labels'],
      })),
      targets: targets
        .all({ run, named })
        .filter(({ id }) => watched.has(id))
        .map(({ own, also, ...target }) => ({
          ...target,
          own: own === 1,
          also: JSON.parse(also) as Variant[],
        })),
      pairs: asked,
    }
  }
}

function resultReader(db: Database): TrackingStore['firstResults'] {
  // A result that repeats an earlier one has its rank, and is not a further one.
  const results = db.prepare<unknown[], FirstResult>(
    `SELECT coalesce(json_extract(t.ranks, '$[' || x.place || ']'), t.rank_base + x.place + 1) AS rank,
      x.position, (SELECT text FROM texts WHERE id = x.title_id) AS title, l.link, coalesce(h.site, h.host) AS site
    FROM tasks_ t JOIN results x ON x.answer_id = t.answer_id AND x.kind = @kind
      LEFT JOIN links l ON l.id = x.link_id LEFT JOIN hosts h ON h.id = l.host_id
    WHERE t.run_id = @run AND t.query_id = @query AND t.state = 'done'
    ORDER BY t.page, x.place`,
  )
  return ({ run, query, kind, top }) => {
    const first = new Map<number, FirstResult>()
    for (const one of results.iterate({ run, query, kind: kindCodes[kind] })) {
      // Ranks rise from result to result, but for repeats, which have that of the first one.
      if (one.rank > top) break
      if (!first.has(one.rank)) first.set(one.rank, one)
    }
    return [...first.values()]
  }
}
