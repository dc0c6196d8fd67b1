import { setTimeout as sleep } from 'node:timers/promises'
import { JournalUnreachable, type SharedJournal } from './journal.ts'

const firstPauseMs = 50
const longestPauseMs = 2_000

/** How work waits for a database that cannot be reached. */
export interface Patience {
  /** Ends the wait: the work is rejected with its reason. */
  readonly signal?: AbortSignal | undefined
  /** After so long the work is rejected with `JournalUnreachable`. */
  readonly mostMs?: number | undefined
  /** Called before each pause, with what stands in the way. */
  readonly onWait?: ((error: JournalUnreachable) => void) | undefined
  /** Called when work is done after a pause. */
  readonly onBack?: (() => void) | undefined
}

/**
 * Does work again while the database cannot be reached, with growing pauses. Work must bear to be done twice: what a lost connection
 * had committed is not known.
 */
export async function patiently<T>(
  work: () => Promise<T>,
  { signal, mostMs = Number.POSITIVE_INFINITY, onWait, onBack }: Patience = {},
): Promise<T> {
  const until = performance.now() + mostMs
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      const result = await work()
      if (pauseMs > firstPauseMs) onBack?.()
      return result
    } catch (error) {
      if (!(error instanceof JournalUnreachable)) throw error
      signal?.throwIfAborted()
      if (performance.now() > until) throw error
      onWait?.(error)
      await sleep(pauseMs, undefined, { signal }).catch(() => {
        throw signal?.reason
      })
    }
  }
}

/** The same journal, whose questions and changes wait for the database. Its ledger does so in any case; a plan is read without patience. */
export function patientJournal(journal: SharedJournal, patience: Patience): SharedJournal {
  const { plans, chunks, calls, rates, spending, changes, operations } = journal
  const patient = <Port extends object>(port: Port): Port => withPatience(port, patience)
  return {
    plans: patient(plans),
    chunks: patient(chunks),
    calls: { ...calls, saveUsage: patient({ saveUsage: calls.saveUsage }).saveUsage },
    rates: patient(rates),
    spending: patient(spending),
    changes: { ...patient(changes), plan: changes.plan },
    operations: patient(operations),
    [Symbol.asyncDispose]: () => journal[Symbol.asyncDispose](),
  }
}

/** All methods of a port answer with a promise, and bear to be called twice with the same arguments. */
function withPatience<Port extends object>(port: Port, patience: Patience): Port {
  const methods = Object.entries(port) as [string, (...given: unknown[]) => Promise<unknown>][]
  return Object.fromEntries(
    methods.map(([name, method]) => [
      name,
      (...given: unknown[]) => patiently(() => method(...given), patience),
    ]),
  ) as Port
}
