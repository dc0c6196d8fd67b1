import type { Database } from 'better-sqlite3'
import { and, asc, desc, eq, gt, inArray, lte, ne, or, sql } from 'drizzle-orm'
import type { NewMessage, OutboxMessage, OutboxStore } from '../../outbox.ts'
import type { GroupCommit } from '../connection/group-commit.ts'
import { drizzle } from '../connection/statements.ts'
import { outbox, workspaces } from './schema.ts'

/** No try waits longer: what lies further ahead was put off while the clock was wrong. */
const longestWaitMs = 2 * 86_400_000

const isTime = (now: number) => or(lte(outbox.nextTryAt, now), gt(outbox.nextTryAt, now + longestWaitMs))

function insertion(db: Database, { identity, channel, kind, job, runId, message }: NewMessage, now: number) {
  return drizzle(db).insert(outbox).values({
    identity,
    channel,
    kind,
    job,
    runId,
    message,
    createdAt: now,
    nextTryAt: now,
    state: 'waiting',
  })
}

/** Puts a message in; answers 0 where its identity is there already. Inside a transaction. */
export function putMessage(db: Database, message: NewMessage, now: number): number {
  return insertion(db, message, now).onConflictDoNothing().run().changes
}

/** The same; one of its identity that waits untried is replaced. */
export function joinMessage(db: Database, message: NewMessage, now: number): number {
  return insertion(db, message, now)
    .onConflictDoUpdate({
      target: outbox.identity,
      set: { job: message.job, message: message.message },
      setWhere: sql`${outbox.state} = 'waiting' AND ${outbox.attempts} = 0`,
    })
    .run().changes
}

export function outboxStore(db: Database, writer: GroupCommit): OutboxStore {
  const orm = drizzle(db)
  const lastChannels = (folder: string) =>
    orm.select({ channels: workspaces.channels }).from(workspaces).where(eq(workspaces.folder, folder)).get()
      ?.channels ?? null
  /** The number of the try stands for the claim: the process that counts it up has the message, and only that one settles it. */
  const isClaimed = (id: number, attempts: number) =>
    and(eq(outbox.id, id), eq(outbox.state, 'waiting'), eq(outbox.attempts, attempts))
  return {
    rememberChannels: async (folder, channels) => {
      if (JSON.stringify(lastChannels(folder)) === JSON.stringify(channels)) return
      await writer.write(() => {
        orm
          .insert(workspaces)
          .values({ folder, channels })
          .onConflictDoUpdate({ target: workspaces.folder, set: { channels } })
          .run()
      })
    },
    lastChannels: async (folder) => lastChannels(folder),
    putMessages: (messages, now) =>
      writer.write(() => {
        let added = 0
        for (const message of messages) added += putMessage(db, message, now)
        return added
      }),
    knownIdentities: async (identities) => {
      const known = orm
        .select({ identity: outbox.identity })
        .from(outbox)
        .where(inArray(outbox.identity, [...identities]))
        .all()
      return new Set(known.map(({ identity }) => identity))
    },
    dueMessages: async (now) =>
      orm
        .select()
        .from(outbox)
        .where(and(eq(outbox.state, 'waiting'), isTime(now)))
        .orderBy(asc(outbox.id))
        .all() as OutboxMessage[],
    claimMessage: ({ id, attempts }, now, until) =>
      writer.write(() => {
        const { changes } = orm
          .update(outbox)
          .set({ attempts: attempts + 1, nextTryAt: until })
          .where(and(isClaimed(id, attempts), isTime(now)))
          .run()
        return changes === 1
      }),
    settleMessage: ({ id, attempts }, result) =>
      writer.write(() => {
        orm
          .update(outbox)
          .set({
            state: result.state,
            ...(result.state === 'waiting' && { nextTryAt: result.nextTryAt }),
            lastError: result.state === 'sent' ? null : result.error,
            sentAt: result.state === 'sent' ? result.at : null,
          })
          // The claim has counted this try.
          .where(isClaimed(id, attempts + 1))
          .run()
      }),
    retryMessages: (job, now) =>
      writer.write(
        () =>
          orm
            .update(outbox)
            .set({
              attempts: sql`CASE WHEN ${outbox.state} = 'dead' THEN 0 ELSE ${outbox.attempts} END`,
              state: 'waiting',
              nextTryAt: now,
            })
            .where(and(ne(outbox.state, 'sent'), job === null ? undefined : eq(outbox.job, job)))
            .run().changes,
      ),
    messages: async ({ job, state, limit = -1 }) =>
      orm
        .select()
        .from(outbox)
        .where(
          and(
            job === undefined ? undefined : eq(outbox.job, job),
            state === undefined ? undefined : eq(outbox.state, state),
          ),
        )
        .orderBy(desc(outbox.id))
        .limit(limit)
        .all() as OutboxMessage[],
  }
}
