import { UsageError } from '../../model/errors.ts'
import { JournalMissing, JournalUnreachable } from '../journal.ts'
import { sharedCalls } from './calls.ts'
import { sharedChanges } from './changes.ts'
import { sharedChunks } from './chunks.ts'
import { isOtherServer, openPostgres, type Postgres, placeName } from './connection.ts'
import { layout } from './layout.ts'
import { queueOperations } from './operations.ts'
import { sharedPlans } from './plans.ts'
import { sharedRates } from './rates.ts'
import { sharedSpending } from './spending.ts'

/**
 * What machines that share a key write down together: plans, calls, answers, one rate limit, one budget. Rejected with
 * `JournalUnreachable` while the database cannot be reached; what was asked may be asked again.
 */
export type SharedJournal = Awaited<ReturnType<typeof openJournal>>

/**
 * Opens the journal of many machines. To `collect` with it, it is laid out where the database is empty; to `operate` it, it must be there.
 * One that is older is never changed here: programs of before may be at work with it. Rejected with `JournalUnreachable` where waiting may help, and else with one sentence.
 *
 * @param signal ends the attempt at once
 */
export async function openJournal(url: string, use: 'collect' | 'operate' = 'collect', signal?: AbortSignal) {
  const postgres = await connected(url, (opened) => makeReady(opened, use), signal)
  const calls = sharedCalls(postgres)
  return {
    plans: sharedPlans(postgres),
    chunks: sharedChunks(postgres),
    calls,
    rates: sharedRates(postgres),
    spending: sharedSpending(postgres),
    changes: sharedChanges(postgres),
    operations: queueOperations(postgres),
    /** Ends every connection at once, because the process ends: what is under way, and what is asked later, is rejected with `JournalAbandoned`. */
    abandon: (): void => {
      calls.abandon()
      postgres.breakOff()
    },
    [Symbol.asyncDispose]: () => postgres[Symbol.asyncDispose](),
  }
}

/** Lays out the journal, or brings it up to date; its version before and now. */
export async function layOut(url: string): Promise<{ readonly before: number | null; readonly now: number }> {
  let before: number | null = null
  await using _ = await connected(url, async (postgres) => {
    before = await layout.migrate(postgres)
  })
  return { before, now: layout.version }
}

/** Opens the database and does the first thing with it. */
async function connected(
  url: string,
  first: (postgres: Postgres) => Promise<void>,
  signal?: AbortSignal,
): Promise<Postgres> {
  const postgres = await openPostgres(url)
  try {
    signal?.throwIfAborted()
    signal?.addEventListener('abort', postgres.breakOff, { once: true })
    await first(postgres)
    return postgres
  } catch (error) {
    await postgres[Symbol.asyncDispose]()
    if (signal?.aborted !== true && error instanceof JournalUnreachable && (await isOtherServer(postgres)))
      throw new UsageError(
        `What answers at ${postgres.place.server} is no Postgres server. Check host and port in the address of the queue`,
        { cause: error },
      )
    throw error
  } finally {
    signal?.removeEventListener('abort', postgres.breakOff)
  }
}

/** The oldest Postgres that can number transactions as the journal needs it. */
const oldestServer = 13

/** Sees to it that the journal can be used: to collect with it, one that is missing is laid out. Throws one sentence where it cannot be used. */
async function makeReady(postgres: Postgres, use: 'collect' | 'operate'): Promise<void> {
  const place = placeName(postgres.place)
  const [server] = await postgres.query<{ version: number; isReplica: boolean }>(
    `SELECT current_setting('server_version_num')::int / 10000 AS version, pg_is_in_recovery() AS "isReplica"`,
  )
  if (server !== undefined && server.version < oldestServer)
    throw new UsageError(
      `The queue at ${place} runs Postgres ${server.version}, and rankline needs ${oldestServer} or later. Use a newer server`,
    )
  const version = await layout.versionOf(postgres)
  const tooNew = layout.whyTooNew(version)
  if (tooNew !== null) throw new UsageError(tooNew)
  if (use === 'operate' && version === null)
    throw new JournalMissing(
      `There is no queue at ${place} yet. The first run or worker lays it out, or: rankline queue migrate`,
    )
  if (version !== null && version !== layout.version)
    throw new UsageError(
      `The queue at ${place} was laid out by an older rankline (version ${version}, this one knows ${layout.version}). Bring it up to date: rankline queue migrate`,
    )
  if (use === 'collect' && server?.isReplica === true)
    throw new UsageError(
      `${place} is a copy that takes no changes. Name the server that it copies in the address of the queue`,
    )
  if (version === null) await layout.migrate(postgres)
}
