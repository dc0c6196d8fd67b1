import { setTimeout as sleep } from 'node:timers/promises'
import { JournalUnreachable } from '../shared/journal.ts'

const firstPauseMs = 50
const longestPauseMs = 2_000

/**
 * Does work again while the database cannot be reached, with growing pauses. Work must bear to be done twice: what a lost connection
 * had committed is not known. Rejected with the reason of an aborted signal.
 */
export async function patiently<T>(
  work: () => Promise<T>,
  signal?: AbortSignal,
  onWait?: () => void,
): Promise<T> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof JournalUnreachable)) throw error
      signal?.throwIfAborted()
      onWait?.()
      await sleep(pauseMs, undefined, { signal }).catch(() => {
        throw signal?.reason
      })
    }
  }
}
