import type { Database } from 'better-sqlite3'
import type { PlannedQuery } from '../../model/plan.ts'
import type { Run } from '../../model/run.ts'
import type { Target } from '../../model/target.ts'
import { mergeQueries } from '../../plan/plan.ts'
import type { PlanDraft } from '../store.ts'
import { commitPlan } from './plan-commit.ts'
import { restOf, summarise } from './plan-summary.ts'
import { runById } from './runs.ts'
import type { RunTargets } from './targets.ts'
import type { Writer } from './writer.ts'

/** A staged query as a row: everything but the key as SQLite holds it. */
interface StagedRow {
  readonly key: Buffer
  readonly operation: string
  readonly text: string
  readonly params: string
  readonly credits: number
  readonly pages: number
  readonly page_size: number | null
  readonly depth: number | null
  readonly priority: number
  readonly volume: number | null
  readonly url: string | null
  readonly tags: string
  readonly labels: string
  readonly targets: string
}

/**
 * Plans are staged in temporary tables: nobody else sees them, they take no lock on the database, and a million
 * queries need no memory.
 */
export function openDraft(db: Database, writer: Writer, watched: RunTargets): PlanDraft {
  db.exec(`DROP TABLE IF EXISTS temp.staged; CREATE TEMP TABLE staged (
    id INTEGER PRIMARY KEY, job TEXT NOT NULL, key BLOB NOT NULL, operation TEXT NOT NULL, text TEXT NOT NULL,
    params TEXT NOT NULL, credits INTEGER NOT NULL, pages INTEGER NOT NULL, page_size INTEGER, depth INTEGER,
    priority INTEGER NOT NULL, volume REAL, url TEXT, tags TEXT NOT NULL, labels TEXT NOT NULL,
    targets TEXT NOT NULL, UNIQUE (job, key))`)
  const columns =
    'key, operation, text, params, credits, pages, page_size, depth, priority, volume, url, tags, labels, targets'
  const values = columns.replaceAll(/\w+/g, '@$&')
  const insert = db.prepare(
    `INSERT INTO temp.staged (job, ${columns}) VALUES (@job, ${values}) ON CONFLICT DO NOTHING`,
  )
  const find = db.prepare<[string, Buffer], StagedRow>(
    `SELECT ${columns} FROM temp.staged WHERE job = ? AND key = ?`,
  )
  const join = db.prepare(
    `UPDATE temp.staged SET pages = @pages, depth = @depth, priority = @priority, volume = @volume, url = @url,
      tags = @tags, labels = @labels, targets = @targets WHERE job = @job AND key = @key`,
  )
  const duplicates = new Map<string, number>()

  const addOne = (job: string, query: PlannedQuery): void => {
    if (insert.run({ job, ...toRow(query) }).changes > 0) return
    duplicates.set(job, (duplicates.get(job) ?? 0) + 1)
    const first = find.get(job, query.key)
    if (first !== undefined) join.run({ job, ...toRow(mergeQueries(fromRow(first), query)) })
  }
  const addAll = db.transaction((job: string, queries: readonly PlannedQuery[]) => {
    for (const query of queries) addOne(job, query)
  })

  return {
    add: async (job, queries) => addAll(job, queries),
    summary: async (job) => summarise(db, job, duplicates.get(job.settings.name) ?? 0),
    fit: async (jobs, means) => restOf(db, jobs, means),
    commit: async (jobs, now) => {
      const ids = await writer.write(() => {
        watched.forget()
        return commitPlan(db, jobs, now)
      })
      return ids.map((id) => runById(db, id) as Run)
    },
    [Symbol.asyncDispose]: async () => {
      db.exec('DROP TABLE IF EXISTS temp.staged')
    },
  }
}

function toRow(query: PlannedQuery): StagedRow {
  const { pageSize, tags, labels, targets, ...same } = query
  return {
    ...same,
    page_size: pageSize,
    tags: JSON.stringify(tags),
    labels: JSON.stringify(labels),
    targets: JSON.stringify(targets),
  }
}

function fromRow({ page_size, tags, labels, targets, ...same }: StagedRow): PlannedQuery {
  return {
    ...same,
    pageSize: page_size,
    tags: JSON.parse(tags) as string[],
    labels: JSON.parse(labels) as Record<string, string>,
    targets: JSON.parse(targets) as Target[],
  }
}
