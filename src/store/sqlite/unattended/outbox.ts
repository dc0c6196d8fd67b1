import type { Database } from 'better-sqlite3'
import { and, asc, desc, eq, type SQLWrapper, sql } from 'drizzle-orm'
import type { Workspace } from '../../../model/settings/workspace.ts'
import type { MessageState, NewMessage, OutboxMessage, OutboxStore } from '../../outbox.ts'
import type { GroupCommit } from '../connection/group-commit.ts'
import { orm, prepared, type Values } from '../connection/statements.ts'
import { outbox, workspaces } from './schema.ts'

type OutboxRow = typeof outbox.$inferSelect

type NewRow = Omit<OutboxRow, 'id' | 'state' | 'attempts' | 'lastError' | 'sentAt'>

const insertion = ($: Values<NewRow>) =>
  orm.insert(outbox).values({
    identity: $.identity,
    channel: $.channel,
    kind: $.kind,
    job: $.job,
    runId: $.runId,
    message: $.message,
    createdAt: $.createdAt,
    nextTryAt: $.nextTryAt,
    state: 'waiting',
  })

const put = prepared(($: Values<NewRow>) => insertion($).onConflictDoNothing())

/** The same, in place of one that was never tried. */
const join = prepared(($: Values<NewRow>) =>
  insertion($).onConflictDoUpdate({
    target: outbox.identity,
    set: { job: sql`excluded.job`, message: sql`excluded.message` },
    setWhere: sql`${outbox.state} = 'waiting' AND ${outbox.attempts} = 0`,
  }),
)

const known = prepared(($: Values<{ identities: string }>) =>
  orm
    .select({ identity: outbox.identity })
    .from(outbox)
    .where(sql`${outbox.identity} IN (SELECT value FROM json_each(${$.identities}))`),
)

/** No try waits longer: what lies further ahead was put off while the clock was wrong. */
const longestWaitMs = 2 * 86_400_000

const isTime = (now: SQLWrapper) =>
  sql`(${outbox.nextTryAt} <= ${now} OR ${outbox.nextTryAt} > ${now} + ${sql.raw(String(longestWaitMs))})`

const due = prepared(($: Values<{ now: number }>) =>
  orm
    .select()
    .from(outbox)
    .where(and(eq(outbox.state, 'waiting'), isTime($.now)))
    .orderBy(asc(outbox.id)),
)

// The number of the try stands for the claim: the process that counts it up has the message, and only that one settles it.
const claim = prepared(($: Values<{ id: number; attempts: number; now: number; until: number }>) =>
  orm
    .update(outbox)
    .set({ attempts: sql`${outbox.attempts} + 1`, nextTryAt: sql`${$.until}` })
    .where(
      and(eq(outbox.id, $.id), eq(outbox.state, 'waiting'), eq(outbox.attempts, $.attempts), isTime($.now)),
    ),
)

const settle = prepared(
  (
    $: Values<{
      id: number
      attempts: number
      state: MessageState
      nextTryAt: number | null
      error: string | null
      sentAt: number | null
    }>,
  ) =>
    orm
      .update(outbox)
      .set({
        state: sql`${$.state}`,
        nextTryAt: sql`coalesce(${$.nextTryAt}, ${outbox.nextTryAt})`,
        lastError: sql`${$.error}`,
        sentAt: sql`${$.sentAt}`,
      })
      .where(and(eq(outbox.id, $.id), eq(outbox.state, 'waiting'), eq(outbox.attempts, $.attempts))),
)

const listed = prepared(($: Values<{ job: string | null; state: MessageState | null; limit: number }>) =>
  orm
    .select()
    .from(outbox)
    .where(
      sql`(${$.job} IS NULL OR ${outbox.job} = ${$.job}) AND (${$.state} IS NULL OR ${outbox.state} = ${$.state})`,
    )
    .orderBy(desc(outbox.id))
    .limit($.limit),
)

const channelsOf = prepared(($: Values<{ folder: string }>) =>
  orm.select({ channels: workspaces.channels }).from(workspaces).where(eq(workspaces.folder, $.folder)),
)

const remember = prepared(($: Values<{ folder: string; channels: Workspace['channels'] }>) =>
  orm
    .insert(workspaces)
    .values({ folder: $.folder, channels: $.channels })
    .onConflictDoUpdate({ target: workspaces.folder, set: { channels: sql`excluded.channels` } }),
)

const retry = prepared(($: Values<{ job: string | null; now: number }>) =>
  orm
    .update(outbox)
    .set({
      attempts: sql`CASE WHEN ${outbox.state} = 'dead' THEN 0 ELSE ${outbox.attempts} END`,
      state: 'waiting',
      nextTryAt: sql`${$.now}`,
    })
    .where(sql`${outbox.state} <> 'sent' AND (${$.job} IS NULL OR ${outbox.job} = ${$.job})`),
)

/** Puts a message in; answers 0 where its identity is there already. Inside a transaction. */
export function putMessage(db: Database, message: NewMessage, now: number): number {
  return put.run(db, rowOf(message, now)).changes
}

/** The same; one of its identity that waits untried is replaced. */
export function joinMessage(db: Database, message: NewMessage, now: number): number {
  return join.run(db, rowOf(message, now)).changes
}

function rowOf({ identity, channel, kind, job, runId, message }: NewMessage, now: number): NewRow {
  return { identity, channel, kind, job, runId, message, createdAt: now, nextTryAt: now }
}

export function outboxStore(db: Database, writer: GroupCommit): OutboxStore {
  return {
    rememberChannels: async (folder, channels) => {
      const last = channelsOf.get(db, { folder })?.channels
      if (JSON.stringify(last) === JSON.stringify(channels)) return
      await writer.write(() => void remember.run(db, { folder, channels }))
    },
    lastChannels: async (folder) => channelsOf.get(db, { folder })?.channels ?? null,
    putMessages: (messages, now) =>
      writer.write(() => {
        let added = 0
        for (const message of messages) added += putMessage(db, message, now)
        return added
      }),
    knownIdentities: async (identities) =>
      new Set(known.all(db, { identities: JSON.stringify(identities) }).map(({ identity }) => identity)),
    dueMessages: async (now) => due.all(db, { now }).map(fromRow),
    claimMessage: ({ id, attempts }, now, until) =>
      writer.write(() => claim.run(db, { id, attempts, now, until }).changes === 1),
    settleMessage: ({ id, attempts }, result) =>
      writer.write(() => {
        settle.run(db, {
          id,
          // The claim has counted this try.
          attempts: attempts + 1,
          state: result.state,
          nextTryAt: result.state === 'waiting' ? result.nextTryAt : null,
          error: result.state === 'sent' ? null : result.error,
          sentAt: result.state === 'sent' ? result.at : null,
        })
      }),
    retryMessages: (job, now) => writer.write(() => retry.run(db, { job, now }).changes),
    messages: async ({ job = null, state = null, limit = -1 }) =>
      listed.all(db, { job, state, limit }).map(fromRow),
  }
}

/** Kind and message were put in together. */
function fromRow(row: OutboxRow): OutboxMessage {
  return row as OutboxMessage
}
