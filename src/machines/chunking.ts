import type { Run } from '../model/run.ts'
import type { TargetHistory } from '../rank/paging.ts'
import type { HistoryStore } from '../store/results.ts'
import type { PlannedReads, PlannedRow } from '../store/runs.ts'
import type { ChunkQuery, NewChunk, PlanPart } from '../store/shared/plans.ts'

/**
 * Queries of a chunk: enough that one row serves many calls, and that a worker sees within its first chunk whether answers can be used; few
 * enough that several workers have something to do.
 */
const smallest = 30
const largest = 100
/** As many chunks as keep some workers busy, before chunks get larger. */
const wantedChunks = 40
const rowsAtOnce = 500

/** How many queries a chunk has, by how many queries of the run lack answers. */
export function chunkSize(queries: number): number {
  return Math.min(largest, Math.max(smallest, Math.ceil(queries / wantedChunks)))
}

export interface ChunkingOptions {
  readonly store: PlannedReads & Pick<HistoryStore, 'storedQuery'>
  readonly run: Run
  /** Tags that have a limit in the job: the queries of a chunk agree in them. */
  readonly limitedTags: readonly string[]
  /** Keys in hexadecimal digits of queries that another chunk has; those that are given out are added. */
  readonly taken: Set<string>
  /** Queries of the run that lack a page. */
  readonly openQueries: number
}

/** The open queries of a run in chunks, the most urgent first. */
export async function* chunksOf(options: ChunkingOptions): AsyncIterable<NewChunk> {
  const { store, run, limitedTags, taken } = options
  const size = chunkSize(options.openQueries)
  const byTags = new Map<string, { readonly tags: readonly string[]; rows: PlannedRow[] }>()
  const chunk = (tags: readonly string[], rows: readonly PlannedRow[]): NewChunk =>
    newChunk(options, tags, rows)
  let priority: number | null = null
  for (let after: PlannedRow | null = null; ; ) {
    const rows: readonly PlannedRow[] = await store.openQueries(run.id, after, rowsAtOnce)
    for (const row of rows) {
      const { query } = row
      const key = query.key.toString('hex')
      if (taken.has(key)) continue
      taken.add(key)
      // A chunk has one priority, so that what is urgent does not wait for its neighbours.
      if (priority !== query.priority) {
        for (const { tags, rows: left } of byTags.values()) if (left.length > 0) yield chunk(tags, left)
        byTags.clear()
      }
      priority = query.priority
      const tags = limitedTags.filter((tag) => query.tags.includes(tag))
      const group = byTags.get(tags.join('\n')) ?? { tags, rows: [] }
      byTags.set(tags.join('\n'), group)
      group.rows.push(row)
      if (group.rows.length < size) continue
      yield chunk(tags, group.rows)
      group.rows = []
    }
    after = rows.at(-1) ?? null
    if (after === null || rows.length < rowsAtOnce) break
  }
  for (const { tags, rows } of byTags.values()) if (rows.length > 0) yield chunk(tags, rows)
}

function newChunk(
  { store, run }: ChunkingOptions,
  tags: readonly string[],
  rows: readonly PlannedRow[],
): NewChunk {
  const prices = rows.map(({ query }) => query.credits)
  return {
    priority: rows[0]?.query.priority ?? 0,
    tags,
    queries: rows.map((row) => withHistory(store, run, row)),
    mostCredits: rows.reduce(
      (sum, { query, settledPages }) => sum + query.credits * Math.max(1, query.pages - settledPages),
      0,
    ),
    leastCredits: Math.min(...prices),
  }
}

/** Only the smart policy asks what earlier runs saw. */
function withHistory(
  store: ChunkingOptions['store'],
  { id, settings }: Run,
  { query, queryId }: PlannedRow,
): ChunkQuery {
  if (settings.paging !== 'smart') return { ...query, history: [] }
  const stored = store.storedQuery(id, queryId)
  const histories: ReadonlyMap<number, TargetHistory> = stored.history()
  const history = stored.targets.flatMap(({ id: target, site, match, also }) => {
    const seen = histories.get(target)
    return seen === undefined ? [] : [{ ...seen, target: { site, match, also } }]
  })
  return { ...query, history }
}

/** The whole plan of a run, in the order of its file. */
export async function* planParts(store: PlannedReads, run: Run): AsyncIterable<PlanPart> {
  const leftOut = await store.leftOutKeys(run.id)
  if (leftOut.length > 0) yield { queries: [], leftOut }
  for (let after = 0; ; ) {
    const rows = await store.plannedQueries(run.id, after, rowsAtOnce)
    const last = rows.at(-1)
    if (last === undefined) return
    yield { queries: rows.map(({ query }) => query), leftOut: [] }
    after = last.taskId
  }
}
