import type { Database } from 'better-sqlite3'
import { and, asc, desc, eq, gt, inArray, lte, ne, or, sql } from 'drizzle-orm'
import type { Workspace } from '../../../model/settings.ts'
import type { GroupCommit } from '../connection/group-commit.ts'
import { drizzle } from '../connection/statements.ts'
import { type MessageContent, type MessageState, outbox, workspaces } from './schema.ts'

/** A message to one channel. */
export type NewMessage = MessageContent & {
  /** The same message is put in once per channel, for instance `alerts:run 12:mail`. */
  readonly identity: string
  /** Name of the channel in the workspace file. */
  readonly channel: string
  readonly job: string
  readonly runId: number | null
}

/** A message of the outbox. Instants are epoch milliseconds. */
export type OutboxMessage = NewMessage & {
  readonly id: number
  readonly createdAt: number
  readonly state: MessageState
  /** How often a process has begun to send it. */
  readonly attempts: number
  /** Not tried again before this instant. */
  readonly nextTryAt: number
  /** Why it was not sent the last time; null where it was not tried, or was sent. */
  readonly lastError: string | null
  readonly sentAt: number | null
}

/** How a try ended. */
type TryResult =
  | { readonly state: 'sent'; readonly at: number }
  | { readonly state: 'waiting'; readonly nextTryAt: number; readonly error: string }
  | { readonly state: 'dead'; readonly error: string }

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

export function outboxStore(db: Database, writer: GroupCommit) {
  const orm = drizzle(db)
  const lastChannels = (folder: string) =>
    orm.select({ channels: workspaces.channels }).from(workspaces).where(eq(workspaces.folder, folder)).get()
      ?.channels ?? null
  /** The number of the try stands for the claim: the process that counts it up has the message, and only that one settles it. */
  const isClaimed = (id: number, attempts: number) =>
    and(eq(outbox.id, id), eq(outbox.state, 'waiting'), eq(outbox.attempts, attempts))
  return {
    /** Remembers what `rankline.yaml` of a folder says of its channels, for the time when it has mistakes. */
    rememberChannels: async (folder: string, channels: Workspace['channels']): Promise<void> => {
      if (JSON.stringify(lastChannels(folder)) === JSON.stringify(channels)) return
      await writer.write(() => {
        orm
          .insert(workspaces)
          .values({ folder, channels })
          .onConflictDoUpdate({ target: workspaces.folder, set: { channels } })
          .run()
      })
    },
    /** What it last said; null where that is not known. */
    lastChannels: async (folder: string): Promise<Workspace['channels'] | null> => lastChannels(folder),
    /** Puts messages in, all in one change; those whose identity is there already are left out. Answers how many were new. */
    putMessages: (messages: readonly NewMessage[], now: number): Promise<number> =>
      writer.write(() => {
        let added = 0
        for (const message of messages) added += putMessage(db, message, now)
        return added
      }),
    /** Which of these identities the outbox has, in whatever state. */
    knownIdentities: async (identities: readonly string[]): Promise<ReadonlySet<string>> => {
      const known = orm
        .select({ identity: outbox.identity })
        .from(outbox)
        .where(inArray(outbox.identity, [...identities]))
        .all()
      return new Set(known.map(({ identity }) => identity))
    },
    /** Messages that wait and may be tried by now, the oldest first. */
    dueMessages: async (now: number): Promise<readonly OutboxMessage[]> =>
      orm
        .select()
        .from(outbox)
        .where(and(eq(outbox.state, 'waiting'), isTime(now)))
        .orderBy(asc(outbox.id))
        .all() as OutboxMessage[],
    /**
     * Takes a message for this process to send; false where another process has it, or has settled it. Other processes leave it
     * alone until the instant given: should this one die before then, they try it again.
     */
    claimMessage: ({ id, attempts }: OutboxMessage, now: number, until: number): Promise<boolean> =>
      writer.write(() => {
        const { changes } = orm
          .update(outbox)
          .set({ attempts: attempts + 1, nextTryAt: until })
          .where(and(isClaimed(id, attempts), isTime(now)))
          .run()
        return changes === 1
      }),
    /** Notes how the try ended that began with the claim of this message; changes nothing where another process has it by now. */
    settleMessage: ({ id, attempts }: OutboxMessage, result: TryResult): Promise<void> =>
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
    /** Lets messages that wait be tried at once, and those that were given up anew: of a job, or of all. Answers how many there are. */
    retryMessages: (job: string | null, now: number): Promise<number> =>
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
    /** Messages of a job or of all, in one state or in any, the newest first. */
    messages: async ({
      job,
      state,
      limit = -1,
    }: {
      readonly job?: string
      readonly state?: MessageState
      readonly limit?: number
    }): Promise<readonly OutboxMessage[]> =>
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
