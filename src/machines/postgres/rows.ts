import type { JobSettings } from '../../model/job.ts'
import type { PagingDecision } from '../../rank/paging.ts'
import { type CompressedBody, compress, decompress } from '../../store/compression.ts'
import type { SharedRun, StoredAnswer, TaskEnded } from '../../store/sync.ts'
import type { ChunkState } from '../journal.ts'

function runFromRow({
  id,
  group_id,
  key_hash,
  job,
  date,
  settings,
  started_at,
}: {
  readonly id: string
  readonly group_id: string
  readonly key_hash: string
  readonly job: string
  readonly date: string
  readonly settings: string
  readonly started_at: number
}): SharedRun {
  return {
    id,
    groupId: group_id,
    keyHash: key_hash,
    job,
    date,
    startedAt: started_at,
    settings: JSON.parse(settings) as JobSettings,
  }
}

function answerFromRow({
  call_id,
  query,
  page,
  fetched_at,
  encoding,
  body,
}: {
  readonly call_id: string
  readonly query: Buffer
  readonly page: number
  readonly fetched_at: number
  readonly encoding: string
  readonly body: Buffer
}): StoredAnswer {
  return { call: call_id, query, page, fetchedAt: fetched_at, encoding, body }
}

function endFromRow({
  run_id,
  query,
  page,
  call_id,
  reused,
  cause,
  paging,
}: {
  readonly run_id: string
  readonly query: Buffer
  readonly page: number
  readonly call_id: string | null
  readonly reused: boolean
  readonly cause: string | null
  readonly paging: string | null
}): TaskEnded {
  return {
    task: { run: run_id, query, page },
    end: cause === null ? { call: call_id as string, reused } : { call: call_id, cause },
    paging: paging === null ? null : (JSON.parse(paging) as PagingDecision),
  }
}

/** An instant of the database as epoch milliseconds with fractions, numeric. */
function epochMs(instant: string): string {
  return `(extract(epoch FROM ${instant}) * 1000)`
}

/**
 * Credits that are reserved for a chunk and not spent.
 *
 * @param chunk the name of its row in the statement
 */
function reservedOf(chunk: string): string {
  return `CASE WHEN ${chunk}.state IN ('released', 'leased') THEN greatest(0, ${chunk}.granted - ${chunk}.spent - ${chunk}.in_doubt) ELSE 0 END`
}

/**
 * The timeline of a server that takes changes, an integer: the first digits of the name of the file that its log is written to. It is known from
 * the first change after a failover on, and to everybody.
 */
const timeline = `('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer`

/** Notes a timeline when it is first seen; without locks where it is known. */
const noteTimeline = `
INSERT INTO rankline.timelines (timeline) SELECT t.timeline FROM (SELECT ${timeline} AS timeline) t
WHERE NOT EXISTS (SELECT 1 FROM rankline.timelines k WHERE k.timeline = t.timeline) ON CONFLICT DO NOTHING`

/** How many chunks are in each state, also in those that no row names. */
export function chunksByState(
  rows: readonly { readonly state: ChunkState; readonly chunks: number }[],
): Readonly<Record<ChunkState, number>> {
  const none = { planned: 0, released: 0, leased: 0, done: 0, cancelled: 0, dead: 0 }
  return { ...none, ...Object.fromEntries(rows.map(({ state, chunks }) => [state, chunks])) }
}

/** Packs data that holds keys of queries as JSON. */
export async function pack(data: unknown): Promise<CompressedBody> {
  const text = JSON.stringify(data, (_, value: unknown) =>
    isBytes(value) ? { $hex: Buffer.from(value.data).toString('hex') } : value,
  )
  return await compress(Buffer.from(text))
}

/** What was packed. */
export function unpack<T>(packed: CompressedBody): T {
  return JSON.parse(decompress(packed).toString(), (_, value: unknown) =>
    isHex(value) ? Buffer.from(value.$hex, 'hex') : value,
  )
}

/** A Buffer as JSON.stringify hands it over. */
function isBytes(value: unknown): value is { readonly data: readonly number[] } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'type' in value &&
    value.type === 'Buffer' &&
    'data' in value
  )
}

function isHex(value: unknown): value is { readonly $hex: string } {
  return typeof value === 'object' && value !== null && '$hex' in value
}

/**
 * Whether people have paused a run: its job, its key, or the whole queue.
 *
 * @param run the name of its row in the statement
 */
function isPaused(run: string): string {
  return `EXISTS (SELECT 1 FROM rankline.pauses p
  WHERE p.worker = '' AND p.key_hash IN ('', ${run}.key_hash) AND p.job IN ('', ${run}.job))`
}

/**
 * Whether people have paused a worker: by its name, or by its host.
 *
 * @param name its name in the statement
 */
function isWorkerPaused(name: string): string {
  return `EXISTS (SELECT 1 FROM rankline.pauses p WHERE p.worker <> '' AND p.worker IN (${name}, split_part(${name}, ', ', 1)))`
}

/**
 * A statement as a function of the journal. The server plans it once for a connection, whoever shares that through a pooler, and as if its tables
 * were large: rows are looked up one by one by their index, however few there are when it is planned.
 *
 * @param given the types of what it is given, in their order
 * @param columns names and types of the columns that it answers with
 */
function plannedOnce(name: string, given: string, columns: string, statement: string): string {
  const kinds = ['seqscan', 'hashjoin', 'mergejoin', 'material'].map((kind) => `SET enable_${kind} = off`)
  return `CREATE OR REPLACE FUNCTION rankline.${name}(${given}) RETURNS TABLE (${columns}) LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan ${kinds.join(' ')} AS $function$
#variable_conflict use_column
BEGIN RETURN QUERY ${statement.trim()}; END $function$;
`
}

/** Parts that several statements share. */
export const sql = {
  epochMs,
  reservedOf,
  timeline,
  noteTimeline,
  isPaused,
  isWorkerPaused,
  plannedOnce,
}

/** What rows of the journal say. */
export const fromRow = {
  run: runFromRow,
  answer: answerFromRow,
  end: endFromRow,
}
