import type { Settlement } from '../../model/call.ts'
import type { UsageReading } from '../../store/journal.ts'
import type { NewSharedCall, SharedCall, StoredAnswer, TaskEnded } from '../../store/sync.ts'
import { type ChunkLease, JournalAbandoned, LeaseLost } from '../journal.ts'
import { whenReachable } from '../waiting.ts'
import type { Postgres, Statements } from './connection.ts'
import { sql } from './rows.ts'

/** What became of a call, what it brought, or how a task ended: written together. */
type Entry =
  | { readonly settled: SettledCall; readonly answer?: StoredAnswer }
  | { readonly lease: ChunkLease; readonly ended: TaskEnded }

interface SettledCall {
  readonly call: NewSharedCall
  /** Null where only the asynchronous job of a call ended. */
  readonly settlement: Settlement | null
  readonly jobId: string | null
  readonly job: { readonly billed: 0 | 1 | null; readonly at: number } | null
}

/**
 * The shared ledger of one worker. Changes that come in one turn of the event loop, or while others are written, are one transaction; each is
 * durable when its promise is fulfilled. Intents and all other entries are two groups, each written by one statement at a time: what comes
 * while that is under way waits for the next. How tasks ended goes with answers that come a little later. An
 * answer that may wait a moment is written with others: a statement costs the server more than what it writes.
 */
export function sharedCalls(postgres: Postgres) {
  const intents = groupWriter(postgres, writeIntents)
  const entries = groupWriter(postgres, writeEntries)
  const settle = async (settled: SettledCall): Promise<void> => {
    await entries.write({ settled })
  }
  const byLease = async (chunk: string, written: Promise<boolean>): Promise<void> => {
    if (!(await written)) throw new LeaseLost(`chunk ${chunk} was given to another worker`)
  }

  return {
    /** Writes a call before it is sent. Rejected with `LeaseLost` where the chunk is not this worker's any more. */
    begin: (lease: ChunkLease, call: NewSharedCall) => byLease(lease.chunk, intents.write({ lease, call })),
    /** Settles a call that brought no answer; a free lookup is written with its settlement. Not refused when the lease was lost. */
    settle: (call: NewSharedCall, settlement: Settlement) =>
      settle({ call, settlement, jobId: null, job: null }),
    /**
     * Stores an answer and settles its call as billed. Not refused when the lease was lost: it was paid for.
     *
     * @param others where more are to come, it waits to be written with them, for less time where they come soon
     */
    answer: async (
      call: NewSharedCall,
      settlement: Settlement | null,
      answer: StoredAnswer,
      others?: 'coming' | 'soon',
    ): Promise<void> => {
      const job = settlement === null ? { billed: 1 as const, at: answer.fetchedAt } : null
      const entry = { settled: { call, settlement, jobId: null, job }, answer }
      await (others === undefined ? entries.write(entry) : entries.writeLater(entry, withOthersMs[others]))
    },
    /** Notes that the service took a call as an asynchronous job. */
    acceptJob: (call: NewSharedCall, settlement: Settlement, jobId: string) =>
      settle({ call, settlement, jobId, job: null }),
    /** Ends a job without an answer: not billed (0), or not known (null). */
    endJob: (call: NewSharedCall, billed: 0 | null, at: number) =>
      settle({ call, settlement: null, jobId: null, job: { billed, at } }),
    /** Records how a task ended, unless its end is recorded already. Rejected with `LeaseLost`, as `begin`. It waits for others that are to come, too. */
    endTask: (lease: ChunkLease, ended: TaskEnded, others?: 'coming') =>
      byLease(
        lease.chunk,
        entries.writeLater({ lease, ended }, others === 'coming' ? endsWithOthersMs : laterMs),
      ),
    /** Stores a reading of the account. */
    saveUsage: async (
      reading: Omit<UsageReading, 'runId'> & { readonly run: string | null },
    ): Promise<void> => {
      const { run, keyHash, askedAt, readAt, remaining, totalUsed, record } = reading
      await postgres.query(insertReading, [keyHash, run, askedAt, readAt, remaining, totalUsed, record])
    },
    /** Fulfilled when all that was begun is written. */
    flush: async (): Promise<void> => {
      await Promise.all([intents.idle(), entries.idle()])
    },
    /** Rejects what still waits for the database, with `JournalAbandoned`: the process ends. */
    abandon: (): void => {
      intents.abandon()
      entries.abandon()
    },
  }
}

/** A reading that a lost connection has written twice is one reading. */
const insertReading = `
INSERT INTO rankline.readings (key_hash, run_id, asked_at, read_at, remaining, total_used, record)
SELECT $1, $2, $3, $4, $5, $6, $7
WHERE NOT EXISTS (SELECT 1 FROM rankline.readings WHERE key_hash = $1 AND asked_at = $3 AND read_at = $4)`

/**
 * The lock on the chunk's row (FOR SHARE) excludes the takeover, which changes that row: an intent is there before the takeover looks for
 * open ones, or it is refused. An intent that stands already was written by the same worker, whose connection was lost meanwhile; if the
 * lease was lost meanwhile, too, it has been made ambiguous, and its call must not be sent.
 */
export const beginCalls = sql.plannedOnce(
  'begin_calls',
  'jsonb, bigint[]',
  'id uuid',
  `
WITH given AS (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS g(id uuid, chunk bigint, fence integer, run uuid, query text, page integer,
    operation text, credits bigint, sent_at bigint, key_hash text)
), leased AS (
  SELECT c.id, c.fence, c.worker FROM rankline.chunks c
  WHERE c.id = ANY ($2::bigint[]) AND c.state = 'leased' ORDER BY c.id FOR SHARE OF c
), allowed AS (
  SELECT g.*, l.worker FROM given g JOIN leased l ON l.id = g.chunk AND l.fence = g.fence
), written AS (
  INSERT INTO rankline.calls (id, run_id, query, page, attempt, chunk_id, fence, worker, key_hash, operation, credits, sent_at)
  SELECT g.id, g.run, decode(g.query, 'hex'), g.page,
    1 + (SELECT count(*) FROM rankline.calls b WHERE b.run_id = g.run AND b.query = decode(g.query, 'hex') AND b.page = g.page
      AND b.attempt IS NOT NULL),
    g.chunk, g.fence, g.worker, g.key_hash, g.operation, g.credits, g.sent_at
  FROM allowed g ON CONFLICT (id) DO NOTHING
)
SELECT id FROM allowed`,
)

/**
 * Calls of which the queue lost the intent when its server failed over, and that came to an end all the same: they stand as if they were in
 * flight, in the newest chunk that has their query, until their end is written. Where the queue lost that chunk, too, a cancelled one
 * without queries keeps their credits.
 */
const insertLostIntents = `
INSERT INTO rankline.calls (id, run_id, query, page, chunk_id, key_hash, operation, credits, sent_at)
SELECT g.id, g.run, decode(g.query, 'hex'), g.page,
  coalesce(
    (SELECT c.id FROM rankline.chunks c WHERE c.run_id = g.run AND decode(g.query, 'hex') = ANY (c.queries) ORDER BY c.id DESC LIMIT 1),
    (SELECT c.id FROM rankline.chunks c WHERE c.added_with = g.run AND c.place = 0)),
  g.key_hash, g.operation, g.credits, g.sent_at
FROM jsonb_to_recordset($1::jsonb) AS g(id uuid, run uuid, query text, page integer, operation text, credits bigint, sent_at bigint,
  key_hash text)
ON CONFLICT DO NOTHING`

/** At most one for a run: it counts as added with the run itself. */
const insertChunksOfLostIntents = `
INSERT INTO rankline.chunks (run_id, key_hash, added_with, place, priority, tags, state, encoding, body, queries, most_credits, least_credits)
SELECT DISTINCT g.run, g.key_hash, g.run, 0, 0, ARRAY[]::text[], 'cancelled', '', ''::bytea, ARRAY[]::bytea[], 0, 0
FROM jsonb_to_recordset($1::jsonb) AS g(run uuid, query text, key_hash text)
WHERE g.run IS NOT NULL AND NOT EXISTS
  (SELECT 1 FROM rankline.chunks c WHERE c.run_id = g.run AND decode(g.query, 'hex') = ANY (c.queries))
ON CONFLICT DO NOTHING`

async function writeLostIntents(statements: Statements, calls: readonly NewSharedCall[]): Promise<void> {
  const given = calls.map((call) => ({
    ...taskFields(call),
    id: call.id,
    operation: call.operation,
    credits: call.credits,
    sent_at: call.sentAt,
    key_hash: call.keyHash,
  }))
  await statements.query(insertChunksOfLostIntents, [JSON.stringify(given)])
  await statements.query(insertLostIntents, [JSON.stringify(given)])
}

/**
 * Writes what a reader has read before the server failed over. What the journal has is left as it is, or settled.
 *
 * @param lost what a reader has and the journal may have lost
 */
export async function putBack(
  statements: Statements,
  lost: {
    readonly calls: readonly SharedCall[]
    readonly answers: readonly { readonly run: string; readonly answer: StoredAnswer }[]
    readonly readings: readonly {
      readonly reading: Omit<UsageReading, 'runId'>
      readonly run: string | null
    }[]
    readonly ends: readonly TaskEnded[]
  },
): Promise<void> {
  await writeLostIntents(
    statements,
    lost.calls.filter(({ credits }) => credits > 0),
  )
  const answers = new Map(lost.answers.map(({ answer }) => [answer.call, answer]))
  const entries = lost.calls.map((call): Entry => {
    const settled = settledAgain(call)
    const answer = answers.get(call.id)
    return answer === undefined ? { settled } : { settled, answer }
  })
  await writeEntries(statements, entries)
  const ends = lost.ends.map((ended, number) => endFields({ lease: noLease, ended }, number))
  await statements.query(insertLostEnds, [JSON.stringify(ends)])
  for (const { reading, run } of lost.readings) {
    const { keyHash, askedAt, readAt, remaining, totalUsed, record } = reading
    await statements.query(insertReading, [keyHash, run, askedAt, readAt, remaining, totalUsed, record])
  }
}

/** Readers get asynchronous jobs when they are over. */
function settledAgain(call: SharedCall): SettledCall {
  const settlement = call.settlement as Settlement
  const isJob = settlement.outcome === 'accepted'
  return {
    call,
    settlement,
    jobId: null,
    job: isJob ? { billed: settlement.billed, at: settlement.finishedAt } : null,
  }
}

const noLease: ChunkLease = { chunk: '0', run: '', fence: 0 }

const insertLostEnds = `
INSERT INTO rankline.task_ends (run_id, query, page, call_id, reused, cause, paging)
SELECT e.run, decode(e.query, 'hex'), e.page, e.call, e.reused, e.cause, e.paging
FROM jsonb_to_recordset($1::jsonb) AS e(number integer, run uuid, query text, page integer, call uuid, reused boolean, cause text, paging text)
ORDER BY e.number ON CONFLICT DO NOTHING`

const uniqueViolation = '23505'

/** Writes calls before they are sent; false for those whose lease was lost, which must not be sent. */
async function writeIntents(
  statements: Statements,
  batch: readonly { readonly lease: ChunkLease; readonly call: NewSharedCall }[],
): Promise<readonly boolean[]> {
  const given = batch.map(({ lease, call }) => ({
    id: call.id,
    chunk: lease.chunk,
    fence: lease.fence,
    ...taskFields(call),
    operation: call.operation,
    credits: call.credits,
    sent_at: call.sentAt,
    key_hash: call.keyHash,
  }))
  const insert = () =>
    statements.query<{ id: string }>('SELECT id FROM rankline.begin_calls($1, $2)', [
      JSON.stringify(given),
      [...new Set(batch.map(({ lease }) => lease.chunk))],
    ])
  const rows = await insert().catch((error: unknown) => {
    if ((error as { readonly code?: string }).code !== uniqueViolation) throw error
    // What a broken connection had asked for was still being written; now it stands.
    return insert()
  })
  const written = new Set(rows.map(({ id }) => id))
  return batch.map(({ call }) => written.has(call.id))
}

/**
 * What a call counts for in the budget. In flight, and while its asynchronous job is not over, it is within what is reserved for its
 * chunk; then it was billed, free, or that is not known.
 */
const counts = (call: string): string => `CASE
  WHEN ${call}.outcome IS NULL OR (${call}.outcome = 'accepted' AND ${call}.job_over IS NOT TRUE) THEN 'reserved'
  WHEN ${call}.billed = 1 THEN 'spent' WHEN ${call}.billed = 0 THEN 'free' ELSE 'in_doubt' END`

/**
 * Settlements change only calls that are in flight, or ambiguous because their lease was lost. Credits are added up in the same
 * transaction, by what each call counted for before and after. Rows of chunks are locked before those of their calls, in the order of
 * their numbers, as everywhere: so none of those who change them ever wait for each other. Days and months go by the key that the job
 * has, which is not always the one that paid.
 */
export const recordCalls = sql.plannedOnce(
  'record_calls',
  'jsonb, uuid[], jsonb, jsonb, bytea',
  'id bigint, fence integer, known integer, unanswered integer[]',
  `
WITH given AS (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS g(id uuid, outcome text, http_status integer, billed smallint, finished_at bigint,
    latency_ms integer, error text, job_id text, job_over boolean, job_billed smallint, job_at bigint)
), ends AS (
  SELECT * FROM jsonb_to_recordset($3::jsonb) AS e(number integer, chunk bigint, fence integer, run uuid, query text, page integer,
    call uuid, reused boolean, cause text, paging text)
), locked AS (
  SELECT c.id, c.fence, c.state, c.key_hash FROM rankline.chunks c
  WHERE c.id = ANY (ARRAY(SELECT chunk FROM ends UNION ALL SELECT b.chunk_id FROM rankline.calls b WHERE b.id = ANY ($2::uuid[])))
  ORDER BY c.id FOR NO KEY UPDATE OF c
), before AS (
  SELECT c.id, ${counts('c')} AS counted FROM rankline.calls c
  WHERE c.id = ANY ($2::uuid[]) AND (SELECT count(*) FROM locked) >= 0 ORDER BY c.id FOR UPDATE OF c
), changed AS (
  UPDATE rankline.calls c SET
    outcome = coalesce(g.outcome, c.outcome),
    http_status = coalesce(g.http_status, c.http_status),
    billed = CASE WHEN g.job_over THEN g.job_billed ELSE g.billed END,
    finished_at = coalesce(g.job_at, g.finished_at),
    latency_ms = coalesce(g.latency_ms, c.latency_ms),
    error = coalesce(g.error, CASE WHEN g.outcome IS NULL THEN c.error END),
    job_id = coalesce(g.job_id, c.job_id),
    job_over = CASE WHEN g.job_over THEN true WHEN g.job_id IS NOT NULL THEN false ELSE c.job_over END,
    settled_at = clock_timestamp(), changed = pg_current_xact_id()
  FROM given g JOIN before b ON b.id = g.id
  WHERE c.id = ANY ($2::uuid[]) AND c.id = g.id
    AND (c.outcome IS NULL OR c.outcome = 'ambiguous' OR (g.job_over AND (c.job_over IS NOT TRUE OR c.billed IS NULL)))
  RETURNING c.chunk_id, c.run_id, c.sent_at, c.credits, b.counted AS counted_before, ${counts('c')} AS counts_now
), stored AS (
  INSERT INTO rankline.answers (call_id, run_id, query, page, fetched_at, encoding, body)
  SELECT a.call, a.run, decode(a.query, 'hex'), a.page, a.fetched_at, a.encoding, substr($5::bytea, a.start, a.length)
  FROM jsonb_to_recordset($4::jsonb) AS a(call uuid, run uuid, query text, page integer, fetched_at bigint, encoding text,
    start integer, length integer)
  -- Not before its call: readers would find nothing that it answers.
  WHERE EXISTS (SELECT 1 FROM before b WHERE b.id = a.call)
  ON CONFLICT DO NOTHING
), leased AS (
  SELECT id, fence FROM locked WHERE state = 'leased'
), unanswered AS (
  -- A failover has lost the answer: the task is open again.
  SELECT e.number FROM ends e WHERE e.cause IS NULL AND NOT EXISTS (SELECT 1 FROM rankline.answers a WHERE a.call_id = e.call)
    AND NOT EXISTS (SELECT 1 FROM jsonb_to_recordset($4::jsonb) AS a(call uuid) WHERE a.call = e.call)
), ended AS (
  INSERT INTO rankline.task_ends (run_id, query, page, call_id, reused, cause, paging)
  SELECT e.run, decode(e.query, 'hex'), e.page, e.call, e.reused, e.cause, e.paging
  FROM ends e JOIN leased l ON l.id = e.chunk AND l.fence = e.fence
  WHERE e.number NOT IN (SELECT number FROM unanswered) ORDER BY e.number
  ON CONFLICT DO NOTHING
), money AS (
  SELECT chunk_id, run_id, locked.key_hash, sent_at / 900000 AS quarter,
    sum(credits * ((counts_now = 'spent')::int - (counted_before = 'spent')::int)) AS spent,
    sum(credits * ((counts_now = 'in_doubt')::int - (counted_before = 'in_doubt')::int)) AS in_doubt
  FROM changed JOIN locked ON locked.id = chunk_id WHERE credits > 0 GROUP BY 1, 2, 3, 4
), by_quarter AS (
  INSERT INTO rankline.spending (chunk_id, quarter, key_hash, run_id, spent, in_doubt)
  SELECT chunk_id, quarter, key_hash, run_id, spent, in_doubt FROM money WHERE spent <> 0 OR in_doubt <> 0
  ON CONFLICT (chunk_id, quarter) DO UPDATE SET spent = spending.spent + excluded.spent, in_doubt = spending.in_doubt + excluded.in_doubt
), of_chunk AS (
  UPDATE rankline.chunks c SET spent = c.spent + m.spent, in_doubt = c.in_doubt + m.in_doubt
  FROM (SELECT chunk_id, sum(spent) AS spent, sum(in_doubt) AS in_doubt FROM money GROUP BY 1) m WHERE c.id = m.chunk_id
)
SELECT l.id, l.fence, k.known, ARRAY(SELECT number FROM unanswered) AS unanswered
FROM (SELECT count(*)::int AS known FROM before) k LEFT JOIN leased l ON true`,
)

/** Free lookups come with their settlement. */
const insertLookups = `
INSERT INTO rankline.calls (id, run_id, query, page, key_hash, operation, credits, sent_at, finished_at, http_status, outcome, billed,
  latency_ms, error, settled_at)
SELECT g.id, g.run, decode(g.query, 'hex'), g.page, g.key_hash, g.operation, 0, g.sent_at, g.finished_at, g.http_status, g.outcome,
  g.billed, g.latency_ms, g.error, clock_timestamp()
FROM jsonb_to_recordset($1::jsonb) AS g(id uuid, run uuid, query text, page integer, operation text, sent_at bigint, key_hash text,
  outcome text, http_status integer, billed smallint, finished_at bigint, latency_ms integer, error text)
ON CONFLICT DO NOTHING`

async function writeEntries(statements: Statements, batch: readonly Entry[]): Promise<readonly boolean[]> {
  const settled = batch.flatMap((entry) => ('settled' in entry ? [entry.settled] : []))
  const lookups = settled.filter(isLookup)
  if (lookups.length > 0) await statements.query(insertLookups, [JSON.stringify(lookups.map(lookupFields))])
  const records = settled.filter((one) => !isLookup(one))
  const answers = batch.flatMap((entry) =>
    'settled' in entry && entry.answer !== undefined ? [{ ...entry.answer, call: entry.settled.call }] : [],
  )
  const ends = batch.flatMap((entry, number) => ('ended' in entry ? [endFields(entry, number)] : []))
  if (records.length + answers.length + ends.length === 0) return batch.map(() => true)
  const write = () =>
    statements.query<{
      /** A chunk that is leased, and the fence of its lease; null where none of them is. */
      readonly id: number | null
      readonly fence: number | null
      /** How many of the calls the queue had. */
      readonly known: number
      /** Ends of tasks, by their number, that name an answer which the queue lacks. */
      readonly unanswered: readonly number[]
    }>('SELECT * FROM rankline.record_calls($1, $2, $3, $4, $5)', [
      JSON.stringify(records.map(recordFields)),
      records.map(({ call }) => call.id),
      JSON.stringify(ends),
      JSON.stringify(answerFields(answers)),
      // One value is sent as its bytes, a list of them as a text twice as long.
      Buffer.concat(answers.map(({ body }) => body)),
    ])
  let rows = await write()
  const calls = new Map(records.map(({ call }) => [call.id, call]))
  if ((rows[0]?.known ?? 0) < calls.size) {
    await writeLostIntents(statements, [...calls.values()])
    rows = await write()
  }
  const leased = new Set(rows.map(({ id, fence }) => `${id}:${fence}`))
  const unanswered = new Set(rows[0]?.unanswered)
  return batch.map(
    (entry, number) =>
      'settled' in entry ||
      (leased.has(`${entry.lease.chunk}:${entry.lease.fence}`) && !unanswered.has(number)),
  )
}

type Lookup = SettledCall & { readonly settlement: Settlement }

function isLookup(one: SettledCall): one is Lookup {
  return one.call.credits === 0 && one.settlement !== null
}

/** Postgres takes neither a zero byte in a text nor half of a character, and one such text would keep all others of its group out. */
function storable(text: string | null): string | null {
  return text?.replaceAll('\0', '\ufffd').toWellFormed() ?? null
}

function taskFields({ task }: NewSharedCall) {
  return task === null ? {} : { run: task.run, query: task.query.toString('hex'), page: task.page }
}

function settlementFields(settlement: Settlement) {
  return {
    outcome: settlement.outcome,
    http_status: settlement.httpStatus,
    billed: settlement.billed,
    finished_at: settlement.finishedAt,
    latency_ms: settlement.latencyMs,
    error: storable(settlement.error),
  }
}

function lookupFields({ call, settlement }: Lookup) {
  return {
    ...taskFields(call),
    id: call.id,
    operation: call.operation,
    sent_at: call.sentAt,
    key_hash: call.keyHash,
    ...settlementFields(settlement),
  }
}

/** Fields that are not named are null. */
function recordFields({ call, settlement, jobId, job }: SettledCall) {
  return {
    id: call.id,
    ...(settlement === null ? {} : settlementFields(settlement)),
    ...(jobId === null ? {} : { job_id: jobId }),
    ...(job === null ? {} : { job_over: true, job_billed: job.billed, job_at: job.at }),
  }
}

/** With the place of each body among all of them; bytes of Postgres are counted from 1. */
function answerFields(answers: readonly (Omit<StoredAnswer, 'call'> & { readonly call: NewSharedCall })[]) {
  let start = 1
  return answers.map(({ call, query, page, fetchedAt, encoding, body }) => {
    const place = { start, length: body.length }
    start += body.length
    return {
      call: call.id,
      run: call.task?.run,
      query: query.toString('hex'),
      page,
      fetched_at: fetchedAt,
      encoding,
      ...place,
    }
  })
}

function endFields({ lease, ended }: Extract<Entry, { ended: TaskEnded }>, number: number) {
  const { task, end, paging } = ended
  return {
    number,
    chunk: lease.chunk,
    fence: lease.fence,
    run: task.run,
    query: task.query.toString('hex'),
    page: task.page,
    ...('cause' in end
      ? { call: end.call, reused: false, cause: storable(end.cause) }
      : { call: end.call, reused: end.reused }),
    paging: paging === null ? null : JSON.stringify(paging),
  }
}

/**
 * Entries of one statement at most, so that none grows beyond what the database takes. A statement that fails is tried again with half of
 * them: a smaller one may be within the limits of the server, and an entry that cannot be written keeps no other one out.
 */
const mostInGroup = 256
const laterMs = 100
/** How long an answer waits for others: calls that were let through together leave within 120 ms, and their answers come so. */
const withOthersMs = { coming: 120, soon: 60 }
/** How long the end of a task does, which costs nothing to find out again: with half of it a call at 40 a second costs Postgres a sixth more. */
const endsWithOthersMs = 1_000

/** Writes entries in groups: one statement at a time, and in the next one all that came meanwhile. */
export function groupWriter<Entry, Result>(
  postgres: Postgres,
  writeGroup: (statements: Statements, group: readonly Entry[]) => Promise<readonly Result[]>,
) {
  let waiting: {
    readonly entry: Entry
    readonly resolve: (result: Result) => void
    readonly reject: (error: unknown) => void
  }[] = []
  let most = mostInGroup
  let writing: Promise<void> | null = null
  /** Whether any of what waits is to be written at once. */
  let isUrgent = false
  let timer: NodeJS.Timeout | undefined
  let dueAt = Number.POSITIVE_INFINITY
  const abandoned = new AbortController()

  const writeAll = async (): Promise<void> => {
    // What else comes in this turn of the event loop belongs to the same group.
    await new Promise((resolve) => setImmediate(resolve))
    // What was urgent may have been in the group before.
    while (isUrgent && waiting.length > 0) {
      let group: typeof waiting = []
      const writeNext = (): Promise<readonly Result[]> => {
        group = waiting.slice(0, most)
        isUrgent = waiting.length > group.length
        const entries = group.map(({ entry }) => entry)
        return writeGroup(postgres, entries)
      }
      const halve = (): void => {
        most = Math.max(1, group.length >> 1)
      }
      try {
        const results = await whenReachable(writeNext, { signal: abandoned.signal, onWait: halve })
        waiting = waiting.slice(group.length)
        most = Math.min(mostInGroup, most * 2)
        group.forEach(({ resolve }, index) => {
          resolve(results[index] as Result)
        })
      } catch (error) {
        if (group.length > 1 && !abandoned.signal.aborted) {
          halve()
          isUrgent = true
          continue
        }
        waiting = waiting.slice(group.length)
        for (const { reject } of group) reject(error)
      }
    }
    writing = null
  }
  const writeNow = (): void => {
    clearTimeout(timer)
    dueAt = Number.POSITIVE_INFINITY
    isUrgent = waiting.length > 0
    if (isUrgent) writing ??= writeAll()
  }
  const add = (entry: Entry): Promise<Result> =>
    new Promise((resolve, reject) => {
      if (abandoned.signal.aborted) return reject(abandoned.signal.reason)
      waiting.push({ entry, resolve, reject })
    })

  return {
    /** Fulfilled when the entry is durable. Waits while the database cannot be reached. */
    write: (entry: Entry): Promise<Result> => {
      const written = add(entry)
      writeNow()
      return written
    },
    /** The same, for an entry that has so much time: it goes with the next group, or makes one of its own a little later. */
    writeLater: (entry: Entry, withinMs = laterMs): Promise<Result> => {
      const written = add(entry)
      const at = performance.now() + withinMs
      if (at < dueAt) {
        clearTimeout(timer)
        dueAt = at
        timer = setTimeout(writeNow, withinMs)
      }
      return written
    },
    /** Fulfilled when nothing waits. */
    idle: async (): Promise<void> => {
      writeNow()
      while (writing !== null) await writing
    },
    /** Rejects what waits: the process ends. */
    abandon: (): void => {
      abandoned.abort(new JournalAbandoned())
      for (const { reject } of waiting) reject(abandoned.signal.reason)
      waiting = []
    },
  }
}
