import type { Database } from 'better-sqlite3'
import {
  and,
  between,
  count,
  desc,
  eq,
  gt,
  gte,
  isNotNull,
  isNull,
  lt,
  lte,
  or,
  type Placeholder,
  type SQL,
  sql,
} from 'drizzle-orm'
import { type SharedSum, splitSums } from '../../../ledger/shares.ts'
import type { Charge, LedgerSum, UsageCount } from '../../../model/call.ts'
import type { TimeSpan } from '../../../model/time.ts'
import type {
  BuyerGroup,
  JobSpending,
  LedgerFilter,
  LedgerMark,
  LedgerStore,
  RecentLedger,
  RequesterGroup,
  UsageReading,
} from '../../ledger.ts'
import type { GroupCommit } from '../connection/group-commit.ts'
import { orm, prepared, type Values } from '../connection/statements.ts'
import { asyncJobs, calls, keys, runQueries, runs, tasks, usageReadings as u } from '../schema.ts'
import { type ClockSteps, clockSteps, leastStepMs } from './calls.ts'

/** A job that was not polled for so long has been billed by now, if ever. */
const longestJobMs = 3_600_000
/** No call is waited for longer than a user may say. */
const longestCallMs = 3_600_000

const { billed, credits, finishedAt, id, keyId, operation, outcome, runId, sentAt } = calls

const unsettled = and(isNull(billed), isNotNull(outcome))

const sumOf = (what: SQL | undefined) => sql<number>`coalesce(sum(${what}), 0)`

const ambiguous = prepared(($: Values<{ since: number }>) =>
  orm
    .select({ credits, endedAt: sql<number>`${finishedAt}` })
    .from(calls)
    .where(
      and(
        sql`${sentAt} >= ${$.since} - ${longestCallMs}`,
        gte(finishedAt, $.since),
        unsettled,
        gt(credits, 0),
      ),
    ),
)

const openJobs = prepared(($: Values<{ except: string }>) =>
  orm
    .select({ calls: count(), credits: sumOf(sql`${credits}`) })
    .from(asyncJobs)
    .innerJoin(calls, eq(id, asyncJobs.callId))
    .where(sql`${runId} NOT IN (SELECT value FROM json_each(${$.except}))`),
)

const creditsOf = prepared(($: Values<{ runs: string }>) =>
  orm
    .select({
      spent: sumOf(sql`CASE WHEN ${billed} = 1 THEN ${credits} ELSE 0 END`),
      ambiguous: sumOf(sql`CASE WHEN ${unsettled} THEN ${credits} ELSE 0 END`),
    })
    .from(calls)
    .where(sql`${runId} IN (SELECT value FROM json_each(${$.runs}))`),
)

/** Calls that were sent in a time and cost, or may yet: lost ones, those in flight, and jobs that are not known to have ended. */
const chargedIn = ($: Values<TimeSpan>) =>
  sql`${sentAt} >= ${$.from} AND ${sentAt} < ${$.until} AND ${credits} > 0
    AND (${billed} IS NOT 0 OR ${outcome} = 'accepted' AND ${calls.jobEndedAt} IS NULL)`

const sentByJob = prepared(
  (
    $: Values<TimeSpan>,
  ) => sql<JobSpending>`SELECT ${runs.job} AS job, sum(spent) AS spent, sum(ambiguous) AS ambiguous
    FROM (SELECT ${runId} AS run, sum(CASE WHEN ${billed} = 1 THEN ${credits} ELSE 0 END) AS spent,
        sum(CASE WHEN ${billed} = 1 THEN 0 ELSE ${credits} END) AS ambiguous
      FROM ${calls} WHERE ${chargedIn($)} GROUP BY ${runId})
    JOIN ${runs} ON ${runs.id} = run GROUP BY ${runs.job} ORDER BY ${runs.job}`,
)

const sentByTag = prepared(
  ($: Values<TimeSpan & { jobs: string; tags: string }>) => sql<{ tag: string; credits: number }>`
    SELECT wanted.value AS tag, sum(${credits}) AS credits
    FROM ${calls} JOIN ${runs} ON ${runs.id} = ${runId}
      LEFT JOIN ${tasks} ON ${tasks.id} = ${calls.taskId}
      LEFT JOIN ${runQueries} ON ${runQueries.runId} = ${tasks.runId} AND ${runQueries.queryId} = ${tasks.queryId}
      JOIN json_each(${$.tags}) wanted
    WHERE ${chargedIn($)} AND ${runs.job} IN (SELECT value FROM json_each(${$.jobs}))
      AND (${runQueries.runId} IS NULL OR wanted.value IN (SELECT value FROM json_each(${runQueries.tags})))
    GROUP BY 1`,
)

const keepReading = prepared(($: Values<UsageReading>) =>
  orm.insert(u).values({
    runId: $.runId,
    keyHash: $.keyHash,
    askedAt: $.askedAt,
    readAt: $.readAt,
    remaining: $.remaining,
    totalUsed: $.totalUsed,
    record: $.record,
  }),
)

const lastReading = prepared(($: Values<{ keyHash: string; before: number }>) =>
  orm
    .select({
      runId: u.runId,
      keyHash: u.keyHash,
      askedAt: sql<number>`coalesce(${u.askedAt}, ${u.readAt})`,
      readAt: u.readAt,
      remaining: u.remaining,
      totalUsed: u.totalUsed,
      record: u.record,
    })
    .from(u)
    .where(and(eq(u.keyHash, $.keyHash), lt(u.readAt, $.before)))
    .orderBy(desc(u.id))
    .limit(1),
)

const newestReading = prepared(() =>
  orm.select({ keyHash: u.keyHash, readAt: u.readAt }).from(u).orderBy(desc(u.id)).limit(1),
)

/** The newest reading with whatever key. */
export function lastUsageOfAll(db: Database): UsageReading | null {
  const newest = newestReading.get(db)
  if (newest === undefined) return null
  return lastReading.get(db, { keyHash: newest.keyHash, before: Number.MAX_SAFE_INTEGER }) ?? null
}

const keysRead = prepared(() =>
  orm.select({ hash: u.keyHash }).from(u).groupBy(u.keyHash).orderBy(sql`min(${u.id})`),
)

const newest = prepared(
  () =>
    sql<LedgerMark>`SELECT (SELECT coalesce(max(${u.id}), 0) FROM ${u}) AS reading,
      (SELECT coalesce(max(${id}), 0) FROM ${calls}) AS call`,
)

const newestBefore = prepared(
  ($: Values<{ instant: number }>) =>
    sql<LedgerMark>`SELECT (SELECT coalesce(max(${u.id}), 0) FROM ${u} WHERE ${u.readAt} < ${$.instant}) AS reading,
      coalesce((SELECT ${id} FROM ${calls} WHERE ${sentAt} < ${$.instant} ORDER BY ${sentAt} DESC LIMIT 1), 0) AS call`,
)

/** Where the ledger ended at an instant. */
export function markAt(db: Database, instant: number): LedgerMark {
  return newestBefore.one(db, { instant })
}

/** What the ledger tells, in SQLite. */
export function ledgerStore(db: Database, writer: GroupCommit): LedgerStore {
  const charged = chargeCounter(db)
  return {
    callsSince: async (instant, now) => callsSince(db, instant, now),
    ambiguousSince: async (since) => ambiguous.all(db, { since }),
    openJobsOfOthers: async (runIds) => openJobs.one(db, { except: JSON.stringify(runIds) }),
    creditsOf: async (runIds) => creditsOf.one(db, { runs: JSON.stringify(runIds) }),
    creditsSent: async (span) => sentByJob.all(db, span),
    creditsSentByTag: async (span, jobs, tags) =>
      new Map(
        sentByTag
          .all(db, { ...span, jobs: JSON.stringify(jobs), tags: JSON.stringify(tags) })
          .map(({ tag, credits }) => [tag, credits]),
      ),
    chargedCalls: async (keyHash, span) => charged(keyHash, span),
    saveUsage: (reading) => writer.write(() => void keepReading.run(db, reading)),
    lastUsage: async (keyHash, before = Number.MAX_SAFE_INTEGER) =>
      lastReading.get(db, { keyHash, before }) ?? null,
    keysRead: async () => keysRead.all(db).map(({ hash }) => hash),
    readings: (keyHash) => readings(db, keyHash, clockSteps(db)),
    charges: (keyHash) => charges(db, keyHash, clockSteps(db)),
    mark: async () => newest.one(db),
    ledgerSince: async (keyHash, mark) => ledgerSince(db, keyHash, mark),
    sums: async (by, filter) => sums(db, by, filter),
    shares: async (by, filter) => shares(db, by, filter),
  }
}

const sentSince = prepared(($: Values<{ since: number }>) =>
  orm.select({ id, sentAt, endedAt: finishedAt }).from(calls).where(gte(sentAt, $.since)).orderBy(sentAt),
)

const lastBefore = prepared(($: Values<{ instant: number }>) =>
  orm
    .select({ id: sql<number>`coalesce(max(${id}), 0)` })
    .from(calls)
    .where(lt(sentAt, $.instant)),
)

function callsSince(db: Database, instant: number, now: number) {
  const sent = sentSince.all(db, { since: instant })
  const last = (sent.at(-1)?.sentAt ?? now) <= now ? 0 : lastBefore.one(db, { instant }).id
  return sent.filter((call) => call.sentAt <= now || call.id > last).map(({ id: _, ...call }) => call)
}

/** What a call of a key was, or may have been, charged for. */
const isCharged = (keyHash: Placeholder) =>
  and(sql`${keyId} = ${keyOf(keyHash)}`, gt(credits, 0), or(eq(billed, 1), unsettled))

const keyOf = (keyHash: Placeholder) => sql`(SELECT ${keys.id} FROM ${keys} WHERE ${keys.hash} = ${keyHash})`

const settledCalls = prepared(($: Values<{ keyHash: string; last: number } & TimeSpan>) =>
  orm
    .select({ calls: count() })
    .from(calls)
    .where(and(gte(sentAt, $.from), lt(sentAt, $.until), sql`+${id} <= ${$.last}`, isCharged($.keyHash))),
)

const laterCalls = prepared(($: Values<{ keyHash: string; counted: number; last: number } & TimeSpan>) =>
  orm
    .select({ settled: sumOf(lte(id, $.last)), open: sumOf(gt(id, $.last)) })
    .from(calls)
    .where(
      and(gt(id, $.counted), sql`+${sentAt} >= ${$.from} AND +${sentAt} < ${$.until}`, isCharged($.keyHash)),
    ),
)

/** The end of an asynchronous job changes the call that submitted it. */
const lastSettled = prepared(
  () =>
    sql<{ id: number }>`SELECT min(id) - 1 AS id FROM (SELECT coalesce(max(${id}), 0) + 1 AS id FROM ${calls}
      UNION ALL SELECT min(${id}) FROM ${calls} INDEXED BY calls_open WHERE ${outcome} IS NULL
      UNION ALL SELECT min(${asyncJobs.callId}) FROM ${asyncJobs})`,
)

/**
 * Counts the calls with a key in a time. Of those before the first call that may still change, only the number is
 * kept for the next time: a key may have a quota of all calls that were ever made.
 */
function chargeCounter(db: Database): (keyHash: string, span: TimeSpan) => number {
  const known = new Map<string, { readonly counted: number; readonly calls: number }>()
  return (keyHash, { from, until }) => {
    const period = `${keyHash} ${from} ${until}`
    const asked = { keyHash, from, until, last: lastSettled.one(db).id }
    const past = known.get(period) ?? { counted: asked.last, ...settledCalls.one(db, asked) }
    const { settled, open } = laterCalls.one(db, { ...asked, counted: past.counted })
    known.set(period, { counted: Math.max(past.counted, asked.last), calls: past.calls + settled })
    return past.calls + settled + open
  }
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

function ledgerSince(db: Database, keyHash: string, { reading, call }: LedgerMark): RecentLedger {
  const after = call - earlierCalls
  const steps = clockSteps(db, after)
  const read = (numbers: Numbers) => [...readings(db, keyHash, steps, numbers)]
  return {
    earlier: read({ after: reading - earlierReadings, until: reading }),
    readings: read({ ...everything, after: reading }),
    charges: () => charges(db, keyHash, steps, after),
  }
}

const ofKey = ($: Values<{ keyHash: string; after: number; until: number }>) =>
  and(eq(u.keyHash, $.keyHash), isNotNull(u.askedAt), gt(u.id, $.after), lte(u.id, $.until))

const reading = {
  askedAt: sql<number>`${u.askedAt}`,
  readAt: u.readAt,
  remaining: u.remaining,
  totalUsed: u.totalUsed,
}

const readingsByTime = prepared(($: Values<{ keyHash: string; after: number; until: number }>) =>
  orm.select(reading).from(u).where(ofKey($)).orderBy(u.readAt, u.id),
)

/** With the call that each was asked with; null where that is not known. */
const readingsWithCalls = prepared(($: Values<{ keyHash: string; after: number; until: number }>) => {
  const call = orm
    .select({ id })
    .from(calls)
    .where(and(between(sentAt, u.askedAt, u.readAt), eq(finishedAt, u.readAt), eq(operation, 'usage')))
    .orderBy(id)
    .limit(1)
  return orm
    .select({ ...reading, callId: sql<number | null>`${call}` })
    .from(u)
    .where(ofKey($))
    .orderBy(u.id)
})

/** Leaves out readings from before calls named the key that paid: beside them, our own calls would look like those of others. */
function readings(
  db: Database,
  keyHash: string,
  steps: ClockSteps,
  numbers: Numbers = everything,
): Iterable<UsageCount> {
  if (steps.none) return readingsByTime.each(db, { keyHash, ...numbers })
  let last = { at: Number.NEGATIVE_INFINITY, stretch: 0 }
  const inOrder: UsageCount[] = []
  for (const { callId, ...reading } of readingsWithCalls.each(db, { keyHash, ...numbers })) {
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

/** How much longer it may take until a call is billed: `openMs`. */
const chargesIn = (number: SQL, ...order: SQL[]) =>
  prepared(($: Values<{ keyHash: string; after: number }>) => {
    const { callId, taskId, acceptedAt } = asyncJobs
    return orm
      .select({
        id,
        from: sentAt,
        credits,
        certain: sql<0 | 1>`${billed} IS 1`,
        latencyMs: calls.latencyMs,
        until: sql<
          number | null
        >`CASE WHEN ${callId} IS NULL THEN coalesce(${calls.jobEndedAt}, ${finishedAt})
          ELSE ${acceptedAt} END`,
        openMs: sql<number>`CASE WHEN ${callId} IS NULL THEN 0 ELSE ${longestJobMs} END`,
      })
      .from(calls)
      .leftJoin(asyncJobs, and(eq(taskId, calls.taskId), eq(callId, id)))
      .where(
        and(
          ...[sql`${keyId} = ${keyOf($.keyHash)}`, gt(credits, 0), sql`${number} > ${$.after}`],
          or(isNull(billed), eq(billed, 1), isNotNull(callId)),
        ),
      )
      .orderBy(...order)
  })

const chargesByTime = chargesIn(sql`+${id}`, sql`${sentAt}`, sql`${id}`)
const lateCharges = chargesIn(sql`${id}`, sql`+${sentAt}`, sql`${id}`)
const chargesByNumber = chargesIn(sql`${id}`, sql`${id}`)

/**
 * Asynchronous jobs are billed some time between their acceptance and the poll that found their end.
 *
 * @param after number of the call after which they begin
 */
function* charges(db: Database, keyHash: string, steps: ClockSteps, after = 0): Iterable<Charge> {
  // The index of times would lead through all calls that were ever made; from a number on there are few to sort.
  const query = !steps.none ? chargesByNumber : after > 0 ? lateCharges : chargesByTime
  for (const charge of query.each(db, { keyHash, after })) {
    const { id: call, from, until, latencyMs, openMs, certain, credits: price } = charge
    const stretch = steps.of(call)
    const sent = steps.at(stretch, from)
    // The clock may have been set back while it was in the air.
    const least = sent + Math.max(0, (latencyMs ?? 0) - leastStepMs)
    const ended = until === null ? null : steps.notBefore(stretch, least, until).at
    yield {
      from: sent,
      until: ended === null ? null : ended + openMs,
      credits: price,
      certain: certain === 1,
    }
  }
}

const dayOfCall = sql<string>`date(${sentAt} / 1000, 'unixepoch')`

const buyers: Readonly<Record<BuyerGroup, SQL<string | number | null>>> = {
  run: sql<number | null>`${runId}`,
  day: dayOfCall,
  job: sql<string | null>`${runs.job}`,
}

const totals = sql`count(*) AS calls, ${sumOf(eq(billed, 1))} AS billed, ${sumOf(eq(billed, 0))} AS free,
  ${sumOf(unsettled)} AS ambiguous, ${sumOf(sql`CASE WHEN ${billed} = 1 THEN ${credits} END`)} AS credits,
  ${sumOf(sql`CASE WHEN ${unsettled} THEN ${credits} END`)} AS creditsAmbiguous`

/** Only what is asked for is a condition: so a short time is found by its index. */
function isWithin($: Values<LedgerFilter>, { from, until }: LedgerFilter): SQL {
  const conditions = [
    sql`TRUE`,
    ...(from === undefined ? [] : [sql`${sentAt} >= ${$.from}`]),
    ...(until === undefined ? [] : [sql`${sentAt} < ${$.until}`]),
  ]
  return sql.join(conditions, sql` AND `)
}

function sums(db: Database, by: BuyerGroup, filter: LedgerFilter): readonly LedgerSum[] {
  return prepared(
    ($: Values<LedgerFilter>) => sql<LedgerSum>`SELECT ${buyers[by]} AS "group", ${totals}, 0 AS shared
      FROM ${calls} LEFT JOIN ${runs} ON ${runs.id} = ${runId}
      WHERE ${isWithin($, filter)} ${filter.job === undefined ? sql`` : sql`AND ${runs.job} = ${$.job}`}
      GROUP BY 1 ORDER BY 1`,
  ).all(db, filter)
}

const askers: Readonly<Record<RequesterGroup, SQL<string | null>>> = {
  day: dayOfCall,
  job: sql<string | null>`asker.job`,
  tag: sql<string | null>`tag.value`,
  client: sql<string | null>`coalesce(
    (SELECT value FROM json_each(asked.labels) WHERE lower(key) = 'client' AND value <> '' LIMIT 1), named.client)`,
}

/**
 * Who asked for each of the calls: the runs of its command whose tasks have the answer of its task, and its own run where there is none. A
 * command of one run shares with none.
 */
const sharesOf = (
  some: SQL,
) => sql`called AS (SELECT ${id} AS id, ${runId} AS run, ${calls.taskId} AS task FROM ${calls} WHERE ${some}),
  several AS (SELECT ${runs.groupId} AS id FROM ${runs} GROUP BY 1 HAVING count(*) > 1),
  shared AS (
    SELECT called.id AS call, t.run_id AS run, t.query_id AS query
    FROM called JOIN ${runs} r ON r.id = called.run AND r.group_id IN (SELECT id FROM several)
      JOIN ${tasks} own ON own.id = called.task
      JOIN ${tasks} t ON t.answer_id = own.answer_id
      JOIN ${runs} s ON s.id = t.run_id AND s.group_id = r.group_id),
  shares AS (
    SELECT call, run, query, count(*) OVER (PARTITION BY call) AS runs FROM shared
    UNION ALL
    SELECT called.id, called.run, own.query_id, 1 FROM called LEFT JOIN ${tasks} own ON own.id = called.task
    WHERE called.id NOT IN (SELECT call FROM shared))`

/** What the newest run of each job says of its client. */
const clients = sql`named AS (
    SELECT ${runs.job} AS job, ${runs.settings} ->> '$.report.client' AS client
    FROM ${runs} WHERE ${runs.id} IN (SELECT max(${runs.id}) FROM ${runs} GROUP BY ${runs.job}))`

function shares(db: Database, by: RequesterGroup, filter: LedgerFilter): readonly LedgerSum[] {
  const ofTags = by === 'tag'
  const statement = prepared(
    ($: Values<LedgerFilter>) => sql<SharedSum>`WITH ${sharesOf(isWithin($, filter))}, ${clients}
      SELECT ${askers[by]} AS "group",
        shares.runs${ofTags ? sql` * max(1, coalesce(json_array_length(asked.tags), 0))` : sql``} AS parts, ${totals}
      FROM shares JOIN ${calls} ON ${id} = shares.call
        LEFT JOIN ${runs} asker ON asker.id = shares.run
        LEFT JOIN ${runQueries} asked ON asked.run_id = shares.run AND asked.query_id = shares.query
        LEFT JOIN named ON named.job = asker.job ${ofTags ? sql`LEFT JOIN json_each(asked.tags) tag` : sql``}
      ${filter.job === undefined ? sql`` : sql`WHERE asker.job = ${$.job}`}
      GROUP BY 1, 2 ORDER BY 1`,
  )
  return splitSums(statement.all(db, filter))
}
