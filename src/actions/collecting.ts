import type { Run, Tally } from '../model/run.ts'
import { collect, type Progress } from '../run/collect.ts'
import { exitCodes, finishRuns, gravestReason } from '../run/finish.ts'
import { newStop, type Stop } from '../run/stop.ts'
import { type RunDocument, runDocument } from '../run/summary.ts'
import type { Store } from '../store/store.ts'
import type { Terminal } from '../terminal.ts'
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
  const concurrency =
    wholeNumber('--concurrency', flags.concurrency, { min: 1, max: mostConnections }) ?? null
  const runs = listed.filter(({ show }) => show === 'collect').map(({ run }) => run)
  const display = progressDisplay(terminal, connection.clock)
  await using interrupts = listenForInterrupts(terminal)
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

export interface Collection {
  readonly stop: Stop
  readonly concurrency: number | null
  readonly onProgress: (progress: Progress) => void
}

/** What the balance did while these runs were collected. */
interface Around {
  readonly before: number | null
  readonly after: number | null
  readonly spent: number
  readonly ambiguous: number
}

/** Puts right what a dead process left, collects, and ends each run with its reason. */
export async function collectAndFinish(
  { store, service, keyHash, clock }: Connection,
  runs: readonly Run[],
  { stop, concurrency, onProgress }: Collection,
): Promise<Around> {
  const ids = runs.map(({ id }) => id)
  await store.recover(ids, clock.wall())
  const earlier = await store.creditsOf(ids)
  const parts = { store, service, clock, random: Math.random, keyHash, stop, concurrency, onProgress }
  let overBudget: ReadonlySet<number> = new Set()
  const finish = () => finishRuns(store, runs, { stop: stop.cause(), overBudget }, clock.wall())
  const collected = await collect(parts, runs).catch(async (error: unknown) => {
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
  around: Around,
): Promise<readonly RunDocument[]> {
  const documents = listed.map(async ({ run, show }) => {
    const stored = (await store.run(run.id)) as Run
    const tally: Tally = await store.tally(run.id)
    return runDocument(stored, tally, show === 'collect' ? around : null)
  })
  return await Promise.all(documents)
}

/** The first Ctrl-C (or SIGTERM, SIGHUP) stops cleanly; the second ends the process at once. */
function listenForInterrupts(terminal: Terminal) {
  const stop = newStop()
  const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const
  let code: number = exitCodes.interrupted
  const heard = (signal: NodeJS.Signals): void => {
    code = codes[signal as keyof typeof codes]
    if (stop.cause()?.reason === 'interrupted') process.exit(code)
    terminal.say(
      'Stopping: calls in the air are awaited and stored. A second Ctrl-C (or signal) ends at once, and then nobody knows what they were billed.',
    )
    stop.request({ reason: 'interrupted', message: 'Interrupted.' })
  }
  for (const signal of Object.keys(codes)) process.on(signal, heard)
  return {
    stop,
    exitCode: () => code,
    [Symbol.asyncDispose]: async () => {
      for (const signal of Object.keys(codes)) process.off(signal, heard)
    },
  }
}
