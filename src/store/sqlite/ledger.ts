import type { Database } from 'better-sqlite3'
import type { Charge, LedgerGroup, LedgerSum, Reading } from '../../model/ledger.ts'
import type { LedgerFilter, LedgerMark, LedgerStore, RecentBooks, UsageReading } from '../ledger.ts'
import { type ClockSteps, clockSteps, leastStepMs } from './clock-steps.ts'
import type { Writer } from './writer.ts'

/** A job that nobody asked after for so long has been billed by now, if ever. */
const longestJobMs = 3_600_000
/** No call is waited for longer than a user may say. */
const longestCallMs = 3_600_000

/** What the ledger tells, in SQLite. */
export function ledgerStore(db: Database, writer: Writer): LedgerStore {
  const ambiguous = db.prepare<[{ since: number }], { credits: number; endedAt: number }>(
    `SELECT credits, finished_at AS endedAt FROM calls_
    WHERE sent_at >= @since - ${longestCallMs} AND finished_at >= @since AND billed IS NULL AND outcome IS NOT NULL AND credits > 0`,
  )
  const charged = chargeCounter(db)
  const openJobs = db.prepare<[string], { calls: number; credits: number }>(
    `SELECT count(*) AS calls, coalesce(sum(c.credits), 0) AS credits
    FROM async_jobs j JOIN calls_ c ON c.id = j.call_id
    WHERE c.run_id NOT IN (SELECT value FROM json_each(?))`,
  )
  const keepReading = db.prepare(
    `INSERT INTO usage_readings (run_id, key_hash, asked_at, read_at, remaining, total_used, record)
    VALUES (@runId, @keyHash, @askedAt, @readAt, @remaining, @totalUsed, @record)`,
  )
  const lastReading = db.prepare<[string, number], UsageReading>(
    `SELECT run_id AS runId, key_hash AS keyHash, coalesce(asked_at, read_at) AS askedAt, read_at AS readAt,
      remaining, total_used AS totalUsed, record
    FROM usage_readings WHERE key_hash = ? AND read_at < ? ORDER BY id DESC LIMIT 1`,
  )

  return {
    callsSince: async (instant, now) => callsSince(db, instant, now),
    ambiguousSince: async (instant) => ambiguous.all({ since: instant }),
    openJobsBeside: async (runIds) => openJobs.get(JSON.stringify(runIds)) ?? { calls: 0, credits: 0 },
    creditsOf: async (runIds) => creditsOf(db, runIds),
    chargedCalls: async (keyHash, instant) => charged(keyHash, instant),
    keepUsage: (reading) =>
      writer.write(() => {
        keepReading.run(reading)
      }),
    lastUsage: async (keyHash, before = Number.MAX_SAFE_INTEGER) => lastReading.get(keyHash, before) ?? null,
    keysRead: async () =>
      db
        .prepare<[], { hash: string }>(
          'SELECT key_hash AS hash FROM usage_readings GROUP BY key_hash ORDER BY min(id)',
        )
        .all()
        .map(({ hash }) => hash),
    readings: (keyHash) => readings(db, keyHash, clockSteps(db)),
    charges: (keyHash) => charges(db, keyHash, clockSteps(db)),
    mark: async () =>
      db
        .prepare<[], LedgerMark>(
          `SELECT (SELECT coalesce(max(id), 0) FROM usage_readings) AS reading,
            (SELECT coalesce(max(id), 0) FROM calls_) AS call`,
        )
        .get() as LedgerMark,
    booksSince: async (keyHash, mark) => booksSince(db, keyHash, mark),
    sums: async (by, filter) => sums(db, by, filter),
  }
}

interface SentCall {
  readonly id: number
  readonly sentAt: number
  readonly endedAt: number | null
}

function callsSince(db: Database, instant: number, now: number): readonly Omit<SentCall, 'id'>[] {
  const calls = db
    .prepare<[number], SentCall>(
      'SELECT id, sent_at AS sentAt, finished_at AS endedAt FROM calls_ WHERE sent_at >= ? ORDER BY sent_at',
    )
    .all(instant)
  const last = (calls.at(-1)?.sentAt ?? now) <= now ? 0 : lastBefore(db, instant)
  return calls
    .filter(({ id, sentAt }) => sentAt <= now || id > last)
    .map(({ sentAt, endedAt }) => ({ sentAt, endedAt }))
}

/** Number of the last call of before an instant; 0 where there is none. */
function lastBefore(db: Database, instant: number): number {
  return db
    .prepare<[number], number>('SELECT coalesce(max(id), 0) FROM calls_ WHERE sent_at < ?')
    .pluck()
    .get(instant) as number
}

/** What a call of a key was, or may have been, charged for. */
const isCharged = `c.key_id = (SELECT id FROM keys WHERE hash = @keyHash) AND c.credits > 0
  AND (c.billed = 1 OR (c.billed IS NULL AND c.outcome IS NOT NULL))`

/**
 * Counts the calls with a key since an instant. Of those before the first call that may still change, only the number is
 * kept for the next time: a key may have a quota of all calls that were ever made.
 */
function chargeCounter(db: Database): (keyHash: string, since: number) => number {
  const settledCalls = db
    .prepare<unknown[], number>(
      `SELECT count(*) FROM calls_ c WHERE c.sent_at >= @since AND +c.id <= @until AND ${isCharged}`,
    )
    .pluck()
  const later = db.prepare<unknown[], { settled: number; open: number }>(
    `SELECT coalesce(sum(c.id <= @until), 0) AS settled, coalesce(sum(c.id > @until), 0) AS open
    FROM calls_ c WHERE c.id > @counted AND +c.sent_at >= @since AND ${isCharged}`,
  )
  // The end of an asynchronous job changes the call that submitted it.
  const lastSettled = db
    .prepare<[], number>(
      `SELECT min(id) - 1 FROM (SELECT coalesce(max(id), 0) + 1 AS id FROM calls_
        UNION ALL SELECT min(id) FROM calls_ INDEXED BY calls_open WHERE outcome IS NULL UNION ALL SELECT min(call_id) FROM async_jobs)`,
    )
    .pluck()
  const known = new Map<string, { readonly counted: number; readonly calls: number }>()
  return (keyHash, since) => {
    const period = `${keyHash} ${since}`
    const until = lastSettled.get() as number
    const { counted, calls } = known.get(period) ?? {
      counted: until,
      calls: settledCalls.get({ keyHash, since, until }) as number,
    }
    const { settled, open } = later.get({ keyHash, since, counted, until }) as {
      settled: number
      open: number
    }
    known.set(period, { counted: Math.max(counted, until), calls: calls + settled })
    return calls + settled + open
  }
}

function creditsOf(db: Database, runIds: readonly number[]): { spent: number; ambiguous: number } {
  return db
    .prepare<[string], { spent: number; ambiguous: number }>(
      `SELECT coalesce(sum(CASE WHEN billed = 1 THEN credits ELSE 0 END), 0) AS spent,
        coalesce(sum(CASE WHEN billed IS NULL AND outcome IS NOT NULL THEN credits ELSE 0 END), 0) AS ambiguous
      FROM calls_ WHERE run_id IN (SELECT value FROM json_each(?))`,
    )
    .get(JSON.stringify(runIds)) as { spent: number; ambiguous: number }
}

/** Rows with numbers above one, up to another. */
interface Numbers {
  readonly after: number
  readonly until: number
}

const everything: Numbers = { after: 0, until: Number.MAX_SAFE_INTEGER }
/** What came before may be counted late: as many rows as come in some minutes, and no more, however many there are. */
const earlierReadings = 20
const earlierCalls = 10_000

function booksSince(db: Database, keyHash: string, { reading, call }: LedgerMark): RecentBooks {
  const after = call - earlierCalls
  const steps = clockSteps(db, after)
  const read = (numbers: Numbers) => [...readings(db, keyHash, steps, numbers)]
  return {
    earlier: read({ after: reading - earlierReadings, until: reading }),
    readings: read({ ...everything, after: reading }),
    charges: () => charges(db, keyHash, steps, after),
  }
}

interface ReadingRow extends Reading {
  /** The call that it was asked with; null where that is not known. */
  readonly callId: number | null
}

/** Not those of before calls named the key that paid: beside them, our own calls would look like those of others. */
function readings(
  db: Database,
  keyHash: string,
  steps: ClockSteps,
  { after, until }: Numbers = everything,
): Iterable<Reading> {
  const columns = 'u.asked_at AS askedAt, u.read_at AS readAt, u.remaining, u.total_used AS totalUsed'
  const from =
    'FROM usage_readings u WHERE u.key_hash = ? AND u.asked_at IS NOT NULL AND u.id > ? AND u.id <= ?'
  if (steps.none)
    return db
      .prepare<[string, number, number], Reading>(`SELECT ${columns} ${from} ORDER BY u.read_at, u.id`)
      .iterate(keyHash, after, until)
  const rows = db.prepare<[string, number, number], ReadingRow>(
    `SELECT ${columns}, (SELECT c.id FROM calls_ c WHERE c.sent_at BETWEEN u.asked_at AND u.read_at
      AND c.finished_at = u.read_at AND c.operation = 'usage' ORDER BY c.id LIMIT 1) AS callId
    ${from} ORDER BY u.id`,
  )
  let last = { at: Number.NEGATIVE_INFINITY, stretch: 0 }
  const inOrder: Reading[] = []
  for (const { callId, ...reading } of rows.iterate(keyHash, after, until)) {
    const stretch = callId === null ? last.stretch : steps.of(callId)
    // One that was asked for before the clock was set back, and came after it, has no call that fits.
    last =
      callId === null
        ? steps.notBefore(stretch, last.at, reading.readAt)
        : { at: steps.at(stretch, reading.readAt), stretch }
    const askedAt = Math.min(last.at, steps.at(stretch, reading.askedAt))
    inOrder.push({ ...reading, askedAt, readAt: last.at, shownAt: reading.readAt })
  }
  return inOrder.sort((a, b) => a.readAt - b.readAt)
}

interface ChargeRow extends Omit<Charge, 'certain'> {
  readonly id: number
  readonly certain: number
  readonly latencyMs: number | null
  /** How much longer it may take until it is billed. */
  readonly openMs: number
}

/**
 * Asynchronous jobs are billed some time between their acceptance and the poll that found their end.
 *
 * @param after number of the call after which they begin
 */
function* charges(db: Database, keyHash: string, steps: ClockSteps, after = 0): Iterable<Charge> {
  // The index of times would lead through all calls that were ever made; from a number on there are few to sort.
  const [since, sentAt] = after > 0 ? [`AND c.id > ${after}`, '+c.sent_at'] : ['', 'c.sent_at']
  const rows = db
    .prepare<[number, string], ChargeRow>(
      `SELECT c.id, c.sent_at AS "from", c.credits, c.billed IS 1 AS certain, c.latency_ms AS latencyMs,
        CASE WHEN j.call_id IS NULL THEN coalesce(c.job_ended_at, c.finished_at) ELSE j.accepted_at END AS "until",
        CASE WHEN j.call_id IS NULL THEN 0 ELSE ? END AS openMs
      FROM calls_ c LEFT JOIN async_jobs j ON j.task_id = c.task_id AND j.call_id = c.id
      WHERE c.key_id = (SELECT id FROM keys WHERE hash = ?) AND c.credits > 0
        AND (c.billed IS NULL OR c.billed = 1 OR j.call_id IS NOT NULL) ${since}
      ORDER BY ${steps.none ? `${sentAt}, c.id` : 'c.id'}`,
    )
    .iterate(longestJobMs, keyHash)
  for (const { id, from, until, latencyMs, openMs, certain, credits } of rows) {
    const stretch = steps.of(id)
    const sent = steps.at(stretch, from)
    // The clock may have been set back while it was in the air.
    const least = sent + Math.max(0, (latencyMs ?? 0) - leastStepMs)
    const ended = until === null ? null : steps.notBefore(stretch, least, until).at
    yield {
      from: sent,
      until: ended === null ? null : ended + openMs,
      credits,
      certain: certain === 1,
    }
  }
}

const runOf = 'LEFT JOIN runs_ r ON r.id = c.run_id'

const groupings: Readonly<Record<LedgerGroup, { readonly group: string; readonly from: string }>> = {
  run: { group: 'c.run_id', from: runOf },
  day: { group: "date(c.sent_at / 1000, 'unixepoch')", from: runOf },
  job: { group: 'r.job', from: runOf },
  // A call counts for each tag of its query.
  tag: {
    group: 'tag.value',
    from: `${runOf} LEFT JOIN tasks_ t ON t.id = c.task_id
      LEFT JOIN run_queries rq ON rq.run_id = t.run_id AND rq.query_id = t.query_id
      LEFT JOIN json_each(rq.tags) tag`,
  },
}

function sums(db: Database, by: LedgerGroup, filter: LedgerFilter): readonly LedgerSum[] {
  const { group, from: tables } = groupings[by]
  // Only what is asked for is a condition: so a short time is found by its index.
  const conditions = Object.entries({
    job: 'r.job = @job',
    from: 'c.sent_at >= @from',
    until: 'c.sent_at < @until',
  })
    .filter(([name]) => filter[name as keyof LedgerFilter] !== undefined)
    .map(([, condition]) => condition)
  return db
    .prepare<unknown[], LedgerSum>(
      `SELECT ${group} AS "group", count(*) AS calls, coalesce(sum(c.billed = 1), 0) AS billed,
        coalesce(sum(c.billed = 0), 0) AS free, coalesce(sum(c.billed IS NULL AND c.outcome IS NOT NULL), 0) AS ambiguous,
        coalesce(sum(CASE WHEN c.billed = 1 THEN c.credits END), 0) AS credits,
        coalesce(sum(CASE WHEN c.billed IS NULL AND c.outcome IS NOT NULL THEN c.credits END), 0) AS creditsAmbiguous
      FROM calls_ c ${tables} WHERE ${['TRUE', ...conditions].join(' AND ')} GROUP BY 1 ORDER BY 1`,
    )
    .all(filter)
}
