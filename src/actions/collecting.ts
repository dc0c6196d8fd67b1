import { RanklineError, UsageError } from '../errors.ts'
import { unexplained } from '../ledger/verify.ts'
import type { Run } from '../model/run.ts'
import { type Collected, type CollectParts, collect } from '../run/collect.ts'
import { exitCodeOf, exitCodes, finishRuns, gravestReason } from '../run/finish.ts'
import type { StopCause } from '../run/stop.ts'
import { defaultThrottlingMs, thrownCause } from '../run/stop-causes.ts'
import { type BalanceChange, type RunDocument, runDocument } from '../run/summary.ts'
import type { LeftOut } from '../store/calls.ts'
import { openStore } from '../store/sqlite/open.ts'
import type { Store } from '../store/store.ts'
import { isScreen, note, type Terminal } from '../terminal.ts'
import { span } from '../words.ts'
import { deskHere, type OpenDesk } from './desk.ts'
import { listenForInterrupts } from './interrupts.ts'
import { tellAnyhow } from './output.ts'
import { progressDisplay } from './progress.ts'
import { nextCommands, summaryLines } from './summary-lines.ts'
import { wholeNumber } from './whole-number.ts'
import { type Connection, mostConnections } from './wire.ts'

export interface CollectFlags {
  readonly concurrency?: string
  readonly 'max-outage'?: string
  readonly 'fit-balance'?: boolean
  readonly json?: boolean
}

/** A run to be collected, or one that is only shown again. */
export interface Listed {
  readonly run: Run
  readonly show: 'collect' | 'as-stored'
}

/** Collects runs, shows the progress, ends them and prints what came of all that are listed; answers the exit code. */
export async function collectRuns(
  connection: Connection,
  listed: readonly Listed[],
  flags: CollectFlags,
  terminal: Terminal,
  openDesk: OpenDesk,
): Promise<number> {
  const settings = readCollectFlags(flags)
  const display = progressDisplay(terminal, connection.clock)
  using interrupts = listenForInterrupts(terminal)
  const collection = {
    ...settings,
    stop: interrupts.stop,
    onProgress: display.show,
    notice: (words: string) => terminal.say(words),
  }
  const collected = await collectAndFinish(connection, listed, collection, openDesk)
  display.end()
  const cause = interrupts.stop.cause()
  const documents = await documentsOf(connection, listed, collected, cause)
  if (cause !== null && cause.reason !== 'interrupted') terminal.say(cause.message)
  const shownAgain = new Set(listed.flatMap(({ run, show }) => (show === 'as-stored' ? [run.id] : [])))
  const reason = gravestReason(documents.map(({ finish_reason }) => finish_reason ?? 'completed'))
  const text = async (): Promise<string> =>
    flags.json === true
      ? `${JSON.stringify(documents.length === 1 ? documents[0] : documents, null, 2)}\n`
      : (await summaryLines(connection.store, documents, shownAgain)).join('\n').concat('\n')
  if (flags.json === true || terminal.quiet !== true || reason !== 'completed')
    await tellAnyhow(await text(), terminal)
  if (flags.json !== true && isScreen(terminal)) {
    const tracked = (run: Run): boolean => run.settings.targets.length > 0
    const finished = listed.map(({ run }, index) => ({
      document: documents[index] as RunDocument,
      tracked: tracked(run),
    }))
    for (const line of nextCommands(finished)) note(terminal, line)
  }
  if (reason === 'interrupted') return interrupts.exitCode()
  return cause?.reason === reason ? exitCodeOf(cause) : exitCodes[reason]
}

const defaultOutageMs = 60_000

/** How the user wants to collect. To be asked before anything is planned, for it may be refused. */
export function readCollectFlags(
  flags: CollectFlags,
): Pick<Collection, 'concurrency' | 'maxOutageMs' | 'maxThrottlingMs' | 'fitBalance'> {
  const outage = flags['max-outage']
  const maxOutageMs = outage === undefined ? defaultOutageMs : span(outage, 'smhd')
  if (maxOutageMs === null)
    throw new UsageError(`--max-outage cannot be '${outage}'; write a time such as 90s, 30m or 2h`)
  return {
    concurrency: wholeNumber('--concurrency', flags.concurrency, { min: 1, max: mostConnections }) ?? null,
    maxOutageMs,
    maxThrottlingMs: outage === undefined ? defaultThrottlingMs : maxOutageMs,
    fitBalance: flags['fit-balance'] === true,
  }
}

/** How runs are collected. */
export type Collection = Pick<
  CollectParts,
  'stop' | 'concurrency' | 'maxOutageMs' | 'maxThrottlingMs' | 'fitBalance' | 'onProgress' | 'notice'
>

/** A collection for which nobody said anything. */
export const plainCollection = {
  concurrency: null,
  maxOutageMs: defaultOutageMs,
  maxThrottlingMs: defaultThrottlingMs,
  fitBalance: false,
  onProgress: () => {},
  notice: () => {},
} as const

/** What came of a collection, beside what the store says of its runs. */
export interface CollectionEnd extends BalanceChange {
  readonly leftOut: readonly LeftOut[]
}

/**
 * Puts right what a dead process left, collects, and ends each run with its reason. What closed runs of the listed jobs
 * still wait for is polled, also where a job's own newest run is only shown.
 */
export async function collectAndFinish(
  connection: Connection,
  listed: readonly Listed[],
  collection: Collection,
  openDesk: OpenDesk = deskHere,
): Promise<CollectionEnd> {
  const { store, keyHash, clock } = connection
  const { stop } = collection
  const runs = listed.filter(({ show }) => show === 'collect').map(({ run }) => run)
  const ids = runs.map(({ id }) => id)
  const began = { wall: clock.wall(), monotonic: clock.monotonic() }
  // The clock on the wall may be set meanwhile; only what was before this process is measured with it.
  const durationOf = ({ startedAt }: Run): number =>
    Math.round(Math.max(0, began.wall - startedAt) + clock.monotonic() - began.monotonic)
  let limits: Collected['limits'] = new Map()
  const finishIn = async (books: Store): Promise<void> => {
    const reason = stop.cause()?.reason
    // The end of some calls may not have been stored.
    if (reason === 'unavailable' || reason === 'crashed') await books.recover(ids, clock.wall())
    await finishRuns(books, runs, { stop: stop.cause(), limits }, clock.wall(), durationOf)
  }
  const finish = async (): Promise<void> => {
    try {
      await finishIn(store)
    } catch (error) {
      if (!(error instanceof RanklineError)) throw error
      stop.request({ reason: 'unavailable', message: error.message })
      await finishAnew(connection.database, finishIn)
    }
  }
  const collectAtDesk = async () => {
    const mark = await store.mark()
    await store.recover(ids, clock.wall())
    const leftovers = await store.leftovers([...new Set(listed.map(({ run }) => run.job))])
    await using desk = await openDesk(connection, [...runs, ...leftovers])
    const { maxOutageMs: unavailableMs, maxThrottlingMs: throttledMs } = collection
    const service = connection.serviceOn(desk.store, { unavailableMs, throttledMs })
    const parts = { ...collection, ...desk, service, clock, random: Math.random, keyHash }
    return { ...(await collect(parts, runs, leftovers)), mark }
  }
  const { mark, ...collected } = await collectAtDesk().catch(async (error: unknown) => {
    stop.request(thrownCause(error))
    // Where its end cannot be stored either, the error before says why.
    await finish().catch(() => {})
    throw error
  })
  limits = collected.limits
  await finish()
  const { earlier, readings, charges } = await store.booksSince(keyHash, mark)
  return {
    before: collected.balanceBefore,
    after: collected.balanceAfter,
    unexplained: unexplained(earlier, readings, charges),
    leftOut: collected.leftOut,
  }
}

/** Tries once more with a connection of its own: one whose disk has failed is not written again. */
async function finishAnew(database: string, finishIn: (books: Store) => Promise<void>): Promise<void> {
  try {
    await using books = await openStore(database)
    await finishIn(books)
  } catch (error) {
    // The next process settles what is open; the document of this one says it all the same.
    if (!(error instanceof RanklineError)) throw error
  }
}

async function documentsOf(
  { store, clock }: Pick<Connection, 'store' | 'clock'>,
  listed: readonly Listed[],
  end: CollectionEnd,
  cause: StopCause | null,
): Promise<readonly RunDocument[]> {
  const documents = listed.map(async ({ run, show }) => {
    const stored = (await store.run(run.id)) as Run
    if (show === 'as-stored') return runDocument(stored, await store.tally(run.id), null)
    // Nothing is in the air any more: a call without an end is lost.
    const tally = await store.tally(run.id, 'lost')
    const ended =
      stored.finishReason === null && cause !== null
        ? { ...stored, finishReason: cause.reason, finishedAt: clock.wall() }
        : stored
    const leftOut = end.leftOut.find(({ runId }) => runId === run.id)
    return runDocument(ended, tally, end, leftOut)
  })
  return await Promise.all(documents)
}
