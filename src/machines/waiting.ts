import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../model/time.ts'
import { JournalAbandoned, JournalUnreachable } from './journal.ts'

const firstPauseMs = 50

const longestPauseMs = 2_000

/**
 * Does work again while the database cannot be reached, with growing pauses. Work must bear to be done twice: what a lost connection
 * had committed is not known.
 */
export async function whenReachable<T>(
  work: () => Promise<T>,
  {
    signal,
    mostMs = Number.POSITIVE_INFINITY,
    onWait,
    onBack,
  }: {
    /** Ends the wait: the work is rejected with its reason. */
    readonly signal?: AbortSignal | undefined
    /** After so long the work is rejected with `JournalUnreachable`. */
    readonly mostMs?: number | undefined
    /** Called before each pause, with what stands in the way. */
    readonly onWait?: ((error: JournalUnreachable) => void) | undefined
    /** Called when work is done after a pause. */
    readonly onBack?: (() => void) | undefined
  } = {},
): Promise<T> {
  const until = performance.now() + mostMs
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      const result = await work()
      if (pauseMs > firstPauseMs) onBack?.()
      return result
    } catch (error) {
      if (!(error instanceof JournalUnreachable) || error instanceof JournalAbandoned) throw error
      signal?.throwIfAborted()
      if (performance.now() > until) throw error
      onWait?.(error)
      await sleep(pauseMs, undefined, { signal }).catch(() => {
        throw signal?.reason
      })
    }
  }
}

/** How long a process that is told to stop waits for a journal of which it hears nothing. */
const farewellMs = 30_000

const pollEveryMs = 1_000

/** Once a process is told to stop, abandons a journal for which there was no reason to wait for 30 seconds. */
export function abandonWhenSilent({
  journal,
  signal,
  clock,
  lastSign,
}: {
  readonly journal: { abandon(): void }
  /** Aborted when the process is told to stop. */
  readonly signal: AbortSignal | undefined
  readonly clock: Pick<Clock, 'monotonic' | 'after'>
  /** The monotonic instant until which there was reason to wait for the journal. */
  readonly lastSign: () => number
}) {
  let isOver = false
  let cancelTimer = (): void => {}
  const begin = (): void => {
    const toldAt = clock.monotonic()
    const look = (): void => {
      isOver = clock.monotonic() >= Math.max(toldAt, lastSign()) + farewellMs
      if (isOver) journal.abandon()
      else cancelTimer = clock.after(pollEveryMs, look)
    }
    look()
  }
  if (signal?.aborted === true) begin()
  else signal?.addEventListener('abort', begin, { once: true })
  return {
    /** Whether the journal was abandoned. */
    isOver: () => isOver,
    [Symbol.dispose]: () => {
      signal?.removeEventListener('abort', begin)
      cancelTimer()
    },
  }
}
