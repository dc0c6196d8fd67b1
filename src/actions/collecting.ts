import type { Run, Tally } from '../model/run.ts'
import { collect, type Progress } from '../run/collect.ts'
import { exitCodes, finishRuns, gravestReason } from '../run/finish.ts'
import type { Stop } from '../run/stop.ts'
import { type BalanceChange, type RunDocument, runDocument } from '../run/summary.ts'
import type { Store } from '../store/store.ts'
import type { Terminal } from '../terminal.ts'
import { listenForInterrupts } from './interrupts.ts'
import { progressDisplay } from './progress.ts'
import { summaryLines } from './summary-lines.ts'
import { type Connection, mostConnections, wholeNumber } from './wire.ts'

export interface CollectFlags {
  readonly concurrency?: string
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
): Promise<number> {
  const concurrency = readConcurrency(flags)
  const runs = listed.filter(({ show }) => show === 'collect').map(({ run }) => run)
  const display = progressDisplay(terminal, connection.clock)
  using interrupts = listenForInterrupts(terminal)
  const collected = await collectAndFinish(connection, runs, {
    stop: interrupts.stop,
    concurrency,
    onProgress: display.show,
  })
  display.end()
  const documents = await documentsOf(connection.store, listed, collected)
  const cause = interrupts.stop.cause()
  if (cause !== null && cause.reason !== 'interrupted') terminal.say(cause.message)
  const shownAgain = new Set(listed.flatMap(({ run, show }) => (show === 'as-stored' ? [run.id] : [])))
  await terminal.out(
    flags.json === true
      ? `${JSON.stringify(documents.length === 1 ? documents[0] : documents, null, 2)}\n`
      : (await summaryLines(connection.store, documents, shownAgain)).join('\n').concat('\n'),
  )
  const reason = gravestReason(documents.map(({ finish_reason }) => finish_reason ?? 'completed'))
  return reason === 'interrupted' ? interrupts.exitCode() : exitCodes[reason]
}

/** Calls in the air at once that the user asked for, null where the rate limit decides. To be asked before anything is planned. */
export function readConcurrency({ concurrency }: CollectFlags): number | null {
  return wholeNumber('--concurrency', concurrency, { min: 1, max: mostConnections }) ?? null
}

export interface Collection {
  readonly stop: Stop
  readonly concurrency: number | null
  readonly onProgress: (progress: Progress) => void
}

/** Puts right what a dead process left, collects, and ends each run with its reason. */
export async function collectAndFinish(
  { store, service, keyHash, clock }: Connection,
  runs: readonly Run[],
  { stop, concurrency, onProgress }: Collection,
): Promise<BalanceChange> {
  const ids = runs.map(({ id }) => id)
  await store.recover(ids, clock.wall())
  const earlier = await store.creditsOf(ids)
  const parts = { store, service, clock, random: Math.random, keyHash, stop, concurrency, onProgress }
  let overBudget: ReadonlySet<number> = new Set()
  const finish = () => finishRuns(store, runs, { stop: stop.cause(), overBudget }, clock.wall())
  const leftovers = await store.leftovers([...new Set(runs.map(({ job }) => job))])
  const collected = await collect(parts, runs, leftovers).catch(async (error: unknown) => {
    await finish()
    throw error
  })
  overBudget = collected.overBudget
  await finish()
  const now = await store.creditsOf(ids)
  return {
    before: collected.balanceBefore,
    after: collected.balanceAfter,
    spent: now.spent - earlier.spent,
    ambiguous: now.ambiguous - earlier.ambiguous,
  }
}

async function documentsOf(
  store: Store,
  listed: readonly Listed[],
  around: BalanceChange,
): Promise<readonly RunDocument[]> {
  const documents = listed.map(async ({ run, show }) => {
    const stored = (await store.run(run.id)) as Run
    const tally: Tally = await store.tally(run.id)
    return runDocument(stored, tally, show === 'collect' ? around : null)
  })
  return await Promise.all(documents)
}
