import type { ChunkState } from '../../store/shared/plans.ts'

/** An instant of the database as epoch milliseconds with fractions, numeric. */
export function epochMs(instant: string): string {
  return `(extract(epoch FROM ${instant}) * 1000)`
}

/**
 * Credits that are reserved for a chunk and not spent.
 *
 * @param chunk the name of its row in the statement
 */
export function reservedOf(chunk: string): string {
  return `CASE WHEN ${chunk}.state IN ('released', 'leased') THEN greatest(0, ${chunk}.granted - ${chunk}.spent - ${chunk}.in_doubt) ELSE 0 END`
}

/**
 * The timeline of a server that takes changes, an integer: the first digits of the name of the file that its log is written to. It is known from
 * the first change after a failover on, and to everybody.
 */
export const timeline = `('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer`

/** Notes a timeline when it is first seen; without locks where it is known. */
export const noteTimeline = `
INSERT INTO rankline.timelines (timeline) SELECT t.timeline FROM (SELECT ${timeline} AS timeline) t
WHERE NOT EXISTS (SELECT 1 FROM rankline.timelines k WHERE k.timeline = t.timeline) ON CONFLICT DO NOTHING`

/** How many chunks are in each state, also in those that no row names. */
export function chunksByState(
  rows: readonly { readonly state: ChunkState; readonly chunks: number }[],
): Readonly<Record<ChunkState, number>> {
  const none = { planned: 0, released: 0, leased: 0, done: 0, cancelled: 0, dead: 0 }
  return { ...none, ...Object.fromEntries(rows.map(({ state, chunks }) => [state, chunks])) }
}
