import type { Database } from 'better-sqlite3'
import {
  and,
  count,
  desc,
  eq,
  gt,
  gte,
  isNotNull,
  isNull,
  lt,
  lte,
  max,
  min,
  notInArray,
  or,
  type SQL,
  sql,
} from 'drizzle-orm'
import type { Charge, LedgerGroup, LedgerSum, UsageCount } from '../../../model/call.ts'
import { groupedBy } from '../../../model/text.ts'
import type { TimeSpan } from '../../../model/time.ts'
import type { JobSpending, UsageReading } from '../../journal.ts'
import type { GroupCommit } from '../connection/group-commit.ts'
import { drizzle, each } from '../connection/statements.ts'
import {
  asyncJobs,
  calls,
  keys,
  runQueries,
  runs,
  sharedCalls,
  tasks,
  usageReadings as u,
} from '../schema.ts'

/** Groups that say who bought a call. */
type BuyerGroup = Extract<LedgerGroup, 'run' | 'day' | 'job'>

/** Groups that say who asked for a call. */
type RequesterGroup = Extract<LedgerGroup, 'day' | 'job' | 'tag' | 'client'>

/** What calls to count; an absent field is no condition. Instants are epoch ms: from (inclusive), until (exclusive). */
export interface LedgerFilter {
  readonly job?: string
  readonly from?: number
  readonly until?: number
}

/** A job that was not polled for so long has been billed by now, if ever. */
const longestJobMs = 3_600_000
/** No call is waited for longer than a user may say. */
const longestCallMs = 3_600_000

const { billed, credits, finishedAt, id, keyId, operation, outcome, runId, sentAt } = calls

const unsettled = and(isNull(billed), isNotNull(outcome))

const sumOf = (what: SQL | undefined) => sql<number>`coalesce(sum(${what}), 0)`

/** Calls that were sent in a time and cost, or may yet: lost ones, those in flight, and jobs that are not known to have ended. */
const chargedIn = ({ from, until }: TimeSpan) =>
  sql`${sentAt} >= ${from} AND ${sentAt} < ${until} AND ${credits} > 0
    AND (${billed} IS NOT 0 OR ${outcome} = 'accepted' AND ${calls.jobEndedAt} IS NULL)`

/** The newest reading with a key before an instant. */
function lastReading(db: Database, keyHash: string, before = Number.MAX_SAFE_INTEGER): UsageReading | null {
  const last = drizzle(db)
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
    .where(and(eq(u.keyHash, keyHash), lt(u.readAt, before)))
    .orderBy(desc(u.id))
    .get()
  return last ?? null
}

/** The newest reading with whatever key. */
function lastUsageOfAll(db: Database): UsageReading | null {
  const newest = drizzle(db).select({ keyHash: u.keyHash }).from(u).orderBy(desc(u.id)).get()
  return newest === undefined ? null : lastReading(db, newest.keyHash)
}

/** A place in the ledger: everything after it came later. */
type LedgerMark = ReturnType<typeof markAt>

/** Where the ledger ended at an instant. */
function markAt(db: Database, instant: number) {
  return drizzle(db).get<{ readonly reading: number; readonly call: number }>(
    sql`SELECT (SELECT coalesce(max(${u.id}), 0) FROM ${u} WHERE ${u.readAt} < ${instant}) AS reading,
      coalesce((SELECT ${id} FROM ${calls} WHERE ${sentAt} < ${instant} ORDER BY ${sentAt} DESC LIMIT 1), 0) AS call`,
  )
}

/** What the ledger tells, in SQLite. */
export function ledgerStore(db: Database, writer: GroupCommit) {
  const orm = drizzle(db)
  const charged = chargeCounter(db)
  return {
    /**
     * When calls were sent since `instant`, by any process, and when they ended; null where they are in flight. After the clock was set
     * back, calls dated later than `now` are left out if they were sent before a call that is older than `instant`.
     */
    callsSince: async (
      instant: number,
      now: number,
    ): Promise<readonly { readonly sentAt: number; readonly endedAt: number | null }[]> =>
      callsSince(db, instant, now),
    /** Credits of ambiguous calls that ended since `instant`, and when they ended. */
    ambiguousSince: async (
      since: number,
    ): Promise<readonly { readonly credits: number; readonly endedAt: number }[]> =>
      orm
        .select({ credits, endedAt: sql<number>`${finishedAt}` })
        .from(calls)
        .where(and(gte(sentAt, since - longestCallMs), gte(finishedAt, since), unsettled, gt(credits, 0)))
        .all(),
    /** Asynchronous jobs of all runs but `runIds` that are not known to have ended, and may be billed any time. */
    openJobsOfOthers: async (
      runIds: readonly number[],
    ): Promise<{ readonly calls: number; readonly credits: number }> =>
      orm
        .select({ calls: count(), credits: sumOf(sql`${credits}`) })
        .from(asyncJobs)
        .innerJoin(calls, eq(id, asyncJobs.callId))
        .where(notInArray(runId, [...runIds]))
        .get() as { readonly calls: number; readonly credits: number },
    /** Credits of the runs: billed, and not known whether billed. */
    creditsOf: async (
      runIds: readonly number[],
    ): Promise<{ readonly spent: number; readonly ambiguous: number }> =>
      orm
        .select({
          spent: sumOf(sql`CASE WHEN ${billed} = 1 THEN ${credits} ELSE 0 END`),
          ambiguous: sumOf(sql`CASE WHEN ${unsettled} THEN ${credits} ELSE 0 END`),
        })
        .from(calls)
        .where(sql`${runId} IN (SELECT value FROM json_each(${JSON.stringify(runIds)}))`)
        .get() as { readonly spent: number; readonly ambiguous: number },
    /** Credits of calls that were sent within `span`, by job: billed, and possibly billed or still in flight. */
    creditsSent: async (span: TimeSpan): Promise<readonly JobSpending[]> =>
      orm.all<JobSpending>(sql`
        SELECT ${runs.job} AS job, sum(spent) AS spent, sum(ambiguous) AS ambiguous
        FROM (SELECT ${runId} AS run, sum(CASE WHEN ${billed} = 1 THEN ${credits} ELSE 0 END) AS spent,
            sum(CASE WHEN ${billed} = 1 THEN 0 ELSE ${credits} END) AS ambiguous
          FROM ${calls} WHERE ${chargedIn(span)} GROUP BY ${runId})
        JOIN ${runs} ON ${runs.id} = run GROUP BY ${runs.job} ORDER BY ${runs.job}`),
    /**
     * Credits of calls that were sent within `span` for queries with one of `tags`, by tag, in `jobs`. A call whose query a job no longer asks counts for each tag: which
     * ones it had is not known.
     */
    creditsSentByTag: async (
      span: TimeSpan,
      jobs: readonly string[],
      tags: readonly string[],
    ): Promise<ReadonlyMap<string, number>> => {
      const sent = orm.all<{ readonly tag: string; readonly credits: number }>(sql`
        SELECT wanted.value AS tag, sum(${credits}) AS credits
        FROM ${calls} JOIN ${runs} ON ${runs.id} = ${runId}
          LEFT JOIN ${tasks} ON ${tasks.id} = ${calls.taskId}
          LEFT JOIN ${runQueries} ON ${runQueries.runId} = ${tasks.runId} AND ${runQueries.queryId} = ${tasks.queryId}
          JOIN json_each(${JSON.stringify(tags)}) wanted
        WHERE ${chargedIn(span)} AND ${runs.job} IN (SELECT value FROM json_each(${JSON.stringify(jobs)}))
          AND (${runQueries.runId} IS NULL OR wanted.value IN (SELECT value FROM json_each(${runQueries.tags})))
        GROUP BY 1`)
      return new Map(sent.map((one) => [one.tag, one.credits]))
    },
    /** How many calls of the key were sent within `span` and were billed, or may have been. */
    chargedCalls: async (keyHash: string, span: TimeSpan): Promise<number> => charged(keyHash, span),
    saveUsage: (reading: UsageReading): Promise<void> =>
      writer.write(() => {
        orm.insert(u).values(reading).run()
      }),
    /** The newest reading of the key; of those before an instant where one is given. */
    lastUsage: async (keyHash: string, before?: number): Promise<UsageReading | null> =>
      lastReading(db, keyHash, before),
    /** The newest reading of the service's usage record, with whatever key. */
    newestUsage: async (): Promise<UsageReading | null> => lastUsageOfAll(db),
    /** The end of the ledger as it was at an instant: what came later is after it. */
    markAt: async (instant: number) => markAt(db, instant),
    /** Hashes of the keys whose usage was ever read. */
    keysRead: async (): Promise<readonly string[]> =>
      orm
        .select({ hash: u.keyHash })
        .from(u)
        .groupBy(u.keyHash)
        .orderBy(min(u.id))
        .all()
        .map(({ hash }) => hash),
    /** Readings of the key, in the order in which they were taken. */
    readings: (keyHash: string): Iterable<UsageCount> => readings(db, keyHash, clockSteps(db)),
    /** Calls of the key that cost credits, in the order in which they were sent. */
    charges: (keyHash: string): Iterable<Charge> => charges(db, keyHash, clockSteps(db)),
    /** Where the ledger ends now. */
    mark: async () =>
      orm.get<LedgerMark>(sql`SELECT (SELECT coalesce(max(${u.id}), 0) FROM ${u}) AS reading,
        (SELECT coalesce(max(${id}), 0) FROM ${calls}) AS call`),
    /** What was read and sent with the key since `mark`, and the last readings before it. */
    ledgerSince: async (keyHash: string, mark: LedgerMark) => ledgerSince(db, keyHash, mark),
    /** Sums by group, in the order of the groups; each call counts where it was bought. */
    sums: async (by: BuyerGroup, filter: LedgerFilter): Promise<readonly LedgerSum[]> => sums(db, by, filter),
    /**
     * Sums by group, with each call split among the jobs of one command that asked for it, and among the tags of its query. A client is the label
     * `client` of a query, else the one that the newest run of its job names.
     */
    shares: async (by: RequesterGroup, filter: LedgerFilter): Promise<readonly LedgerSum[]> =>
      shares(db, by, filter),
  }
}

function callsSince(db: Database, instant: number, now: number) {
  const orm = drizzle(db)
  const sent = orm
    .select({ id, sentAt, endedAt: finishedAt })
    .from(calls)
    .where(gte(sentAt, instant))
    .orderBy(sentAt)
    .all()
  const isClockRight = (sent.at(-1)?.sentAt ?? now) <= now
  const last = isClockRight
    ? 0
    : (orm
        .select({ id: max(id) })
        .from(calls)
        .where(lt(sentAt, instant))
        .get()?.id ?? 0)
  return sent.filter((call) => call.sentAt <= now || call.id > last).map(({ id: _, ...call }) => call)
}

/** What a call of a key was, or may have been, charged for. */
const isCharged = (keyHash: string) => and(isOfKey(keyHash), gt(credits, 0), or(eq(billed, 1), unsettled))

const isOfKey = (keyHash: string) =>
  sql`${keyId} = (SELECT ${keys.id} FROM ${keys} WHERE ${keys.hash} = ${keyHash})`

/**
 * Counts the calls with a key in a time. Of those before the first call that may still change, only the number is
 * kept for the next time: a key may have a quota of all calls that were ever made.
 */
function chargeCounter(db: Database): (keyHash: string, span: TimeSpan) => number {
  const orm = drizzle(db)
  const known = new Map<string, { readonly counted: number; readonly calls: number }>()
  return (keyHash, { from, until }) => {
    const period = `${keyHash} ${from} ${until}`
    // The end of an asynchronous job changes the call that submitted it.
    const { last } = orm.get<{ readonly last: number }>(sql`
      SELECT min(id) - 1 AS last FROM (SELECT coalesce(max(${id}), 0) + 1 AS id FROM ${calls}
        UNION ALL SELECT min(${id}) FROM ${calls} INDEXED BY calls_open WHERE ${outcome} IS NULL
        UNION ALL SELECT min(${asyncJobs.callId}) FROM ${asyncJobs})`)
    const settledUntil = () =>
      orm
        .select({ calls: count() })
        .from(calls)
        .where(and(gte(sentAt, from), lt(sentAt, until), sql`+${id} <= ${last}`, isCharged(keyHash)))
        .get()?.calls ?? 0
    const past = known.get(period) ?? { counted: last, calls: settledUntil() }
    const later = orm
      .select({ settled: sumOf(lte(id, last)), open: sumOf(gt(id, last)) })
      .from(calls)
      .where(
        and(gt(id, past.counted), sql`+${sentAt} >= ${from} AND +${sentAt} < ${until}`, isCharged(keyHash)),
      )
      .get()
    const { settled, open } = later as { readonly settled: number; readonly open: number }
    known.set(period, { counted: Math.max(past.counted, last), calls: past.calls + settled })
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

/** The end of the ledger of one key. */
function ledgerSince(db: Database, keyHash: string, { reading, call }: LedgerMark) {
  const after = call - earlierCalls
  const steps = clockSteps(db, after)
  const read = (numbers: Numbers) => [...readings(db, keyHash, steps, numbers)]
  return {
    /** The last readings before the mark. */
    earlier: read({ after: reading - earlierReadings, until: reading }),
    /** Those after it. */
    readings: read({ ...everything, after: reading }),
    charges: () => charges(db, keyHash, steps, after),
  }
}

/** Leaves out readings from before calls named the key that paid: beside them, our own calls would look like those of others. */
function readings(
  db: Database,
  keyHash: string,
  steps: ClockSteps,
  numbers: Numbers = everything,
): Iterable<UsageCount> {
  const { after, until } = numbers
  const reading = sql`${u.askedAt} AS askedAt, ${u.readAt} AS readAt, ${u.remaining} AS remaining, ${u.totalUsed} AS totalUsed`
  const ofKey = sql`${u.keyHash} = ${keyHash} AND ${u.askedAt} IS NOT NULL AND ${u.id} > ${after} AND ${u.id} <= ${until}`
  if (steps.none)
    return each(db, sql<UsageCount>`SELECT ${reading} FROM ${u} WHERE ${ofKey} ORDER BY ${u.readAt}, ${u.id}`)
  // With the call that each was asked with; null where that is not known.
  const withCalls = each(
    db,
    sql<UsageCount & { readonly callId: number | null }>`SELECT ${reading},
      (SELECT ${id} FROM ${calls} WHERE ${sentAt} BETWEEN ${u.askedAt} AND ${u.readAt} AND ${finishedAt} = ${u.readAt}
        AND ${operation} = 'usage' ORDER BY ${id} LIMIT 1) AS callId
      FROM ${u} WHERE ${ofKey} ORDER BY ${u.id}`,
  )
  let last = { at: Number.NEGATIVE_INFINITY, stretch: 0 }
  const inOrder: UsageCount[] = []
  for (const { callId, ...reading } of withCalls) {
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

/**
 * Asynchronous jobs are billed some time between their acceptance and the poll that found their end.
 *
 * @param after number of the call after which they begin
 */
function* charges(db: Database, keyHash: string, steps: ClockSteps, after = 0): Iterable<Charge> {
  // The index of times would lead through all calls that were ever made; from a number on there are few to sort.
  const [number, order] = !steps.none
    ? [sql`${id}`, sql`${id}`]
    : after > 0
      ? [sql`${id}`, sql`+${sentAt}, ${id}`]
      : [sql`+${id}`, sql`${sentAt}, ${id}`]
  const { callId, taskId, acceptedAt } = asyncJobs
  const rows = each(
    db,
    sql<{
      readonly id: number
      readonly from: number
      readonly credits: number
      readonly certain: 0 | 1
      readonly latencyMs: number | null
      readonly until: number | null
      /** How much longer it may take until it is billed. */
      readonly openMs: number
    }>`SELECT ${id} AS id, ${sentAt} AS "from", ${credits} AS credits, ${billed} IS 1 AS certain,
        ${calls.latencyMs} AS latencyMs,
        CASE WHEN ${callId} IS NULL THEN coalesce(${calls.jobEndedAt}, ${finishedAt}) ELSE ${acceptedAt} END AS until,
        CASE WHEN ${callId} IS NULL THEN 0 ELSE ${longestJobMs} END AS openMs
      FROM ${calls} LEFT JOIN ${asyncJobs} ON ${taskId} = ${calls.taskId} AND ${callId} = ${id}
      WHERE ${isOfKey(keyHash)} AND ${credits} > 0 AND ${number} > ${after}
        AND (${billed} IS NULL OR ${billed} = 1 OR ${callId} IS NOT NULL)
      ORDER BY ${order}`,
  )
  for (const charge of rows) {
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
function isWithin({ from, until }: LedgerFilter): SQL {
  return (
    and(
      from === undefined ? undefined : gte(sentAt, from),
      until === undefined ? undefined : lt(sentAt, until),
    ) ?? sql`TRUE`
  )
}

function sums(db: Database, by: BuyerGroup, filter: LedgerFilter): readonly LedgerSum[] {
  return drizzle(db).all(sql`SELECT ${buyers[by]} AS "group", ${totals}, 0 AS shared
    FROM ${calls} LEFT JOIN ${runs} ON ${runs.id} = ${runId}
    WHERE ${isWithin(filter)} ${filter.job === undefined ? sql`` : sql`AND ${runs.job} = ${filter.job}`}
    GROUP BY 1 ORDER BY 1`)
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
  const shared = drizzle(db).all<SharedSum>(sql`WITH ${sharesOf(isWithin(filter))}, ${clients}
      SELECT ${askers[by]} AS "group",
        shares.runs${ofTags ? sql` * max(1, coalesce(json_array_length(asked.tags), 0))` : sql``} AS parts, ${totals}
      FROM shares JOIN ${calls} ON ${id} = shares.call
        LEFT JOIN ${runs} asker ON asker.id = shares.run
        LEFT JOIN ${runQueries} asked ON asked.run_id = shares.run AND asked.query_id = shares.query
        LEFT JOIN named ON named.job = asker.job ${ofTags ? sql`LEFT JOIN json_each(asked.tags) tag` : sql``}
      ${filter.job === undefined ? sql`` : sql`WHERE asker.job = ${filter.job}`}
      GROUP BY 1, 2 ORDER BY 1`)
  return splitSums(shared)
}

/** Sums of the calls of a group that the same number of requesters share, counted once for each of them. */
export interface SharedSum extends Omit<LedgerSum, 'shared'> {
  readonly parts: number
}

/** Credits are shared to the hundredth. */
const hundredths = 100n

/**
 * The sums of groups, in their order, with each call's credits split equally among those who share it. What the groups have adds up to
 * what the calls cost, to the hundredth: what cannot be split further goes to those whose share was rounded most.
 */
export function splitSums(sums: readonly SharedSum[]): readonly LedgerSum[] {
  const groups = [...groupedBy(sums, ({ group }) => group)]
  const parts = groups.map(([, some]) => some)
  const credits = apportioned(parts, 'credits')
  const creditsAmbiguous = apportioned(parts, 'creditsAmbiguous')
  return groups.map(([group, some], place) => {
    const total = (of: 'calls' | 'billed' | 'free' | 'ambiguous') =>
      some.reduce((all, sum) => all + sum[of], 0)
    return {
      group,
      calls: total('calls'),
      billed: total('billed'),
      free: total('free'),
      ambiguous: total('ambiguous'),
      credits: credits[place] ?? 0,
      creditsAmbiguous: creditsAmbiguous[place] ?? 0,
      shared: some.reduce((all, sum) => all + (sum.parts > 1 ? sum.calls : 0), 0),
    }
  })
}

/** The credits of each group to the hundredth. */
function apportioned(
  groups: readonly (readonly SharedSum[])[],
  of: 'credits' | 'creditsAmbiguous',
): readonly number[] {
  const whole = groups.flat().reduce((least, { parts }) => commonMultiple(least, BigInt(parts)), 1n)
  const exact = groups.map((sums) =>
    sums.reduce((all, sum) => all + (BigInt(sum[of]) * hundredths * whole) / BigInt(sum.parts), 0n),
  )
  const floors = exact.map((share) => share / whole)
  const sumOf = (all: readonly bigint[]) => all.reduce((sum, one) => sum + one, 0n)
  // Where only some of those who share a call are among the groups, their sum may not be whole hundredths.
  const left = Number((sumOf(exact) + whole / 2n) / whole - sumOf(floors))
  const mostRounded = [...exact.keys()]
    .sort((a, b) => Number((exact[b] ?? 0n) % whole) - Number((exact[a] ?? 0n) % whole) || a - b)
    .slice(0, left)
  for (const place of mostRounded) floors[place] = (floors[place] ?? 0n) + 1n
  return floors.map((share) => Number(share) / Number(hundredths))
}

function commonMultiple(a: bigint, b: bigint): bigint {
  let [divisor, rest] = [a, b]
  while (rest > 0n) [divisor, rest] = [rest, divisor % rest]
  return (a / divisor) * b
}

/** What is to be done where others spend with the key. */
export const shareQueue = 'Hosts that share a key should share a queue: docs/many-machines.md'

/**
 * A call is numbered before it is sent, so that numbers tell the order where the clock was set back. What is less comes
 * from processes that wrote at once.
 */
const leastStepMs = 1_000

/** Calls from one on, up to the next time that the clock was set back. */
interface Stretch {
  readonly firstCall: number
  /** Added to what its clock said, so that what came later is later. */
  readonly addedMs: number
}

/** Calls of a queue are not among them: they come in the order in which they ended, and by the one clock of the queue. */
const stepsBack = (after: number) =>
  sql<{ id: number; back: number }>`SELECT id, before + coalesce(took, 0) - sent AS back
    FROM (SELECT ${calls.id} AS id, ${calls.sentAt} AS sent, lag(${calls.sentAt}) OVER (ORDER BY ${calls.id}) AS before,
        lag(${calls.latencyMs}) OVER (ORDER BY ${calls.id}) AS took FROM ${calls}
      WHERE ${calls.id} > ${after} AND NOT EXISTS (SELECT 1 FROM ${sharedCalls} WHERE ${sharedCalls.callId} = ${calls.id}))
    WHERE before - sent >= ${leastStepMs} ORDER BY id`

/** Puts instants into the order in which they were, though the clock was set back in between. */
type ClockSteps = ReturnType<typeof clockSteps>

/** @param after the call from which on it is asked */
function clockSteps(db: Database, after = 0) {
  const stretches: Stretch[] = [{ firstCall: Number.NEGATIVE_INFINITY, addedMs: 0 }]
  for (const { id, back } of each(db, stepsBack(after)))
    stretches.push({ firstCall: id, addedMs: (stretches.at(-1) as Stretch).addedMs + back + 1 })
  const at = (stretch: number, instant: number): number => instant + (stretches[stretch] as Stretch).addedMs
  return {
    /** Whether it never was: then instants are in order as they are. */
    none: stretches.length === 1,
    /** The stretch that a call was sent in. */
    of: (call: number) => {
      let [low, high] = [0, stretches.length - 1]
      while (low < high) {
        const middle = Math.ceil((low + high) / 2)
        if ((stretches[middle] as Stretch).firstCall <= call) low = middle
        else high = middle - 1
      }
      return low
    },
    /** An instant of a stretch, in an order with all others. */
    at,
    /** An instant not before that one (itself in order), by the clock of the same stretch or of a later one. */
    notBefore: (stretch: number, earliest: number, instant: number) => {
      let found = stretch
      while (found + 1 < stretches.length && at(found, instant) < earliest) found += 1
      return { at: Math.max(earliest, at(found, instant)), stretch: found }
    },
  }
}
