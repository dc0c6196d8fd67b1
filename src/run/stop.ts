import { setMaxListeners } from 'node:events'
import type { Clock } from '../model/clock.ts'
import type { FinishReason } from '../model/run.ts'

/** Why nothing more is sent; what is in the air is awaited all the same. */
export interface StopCause {
  readonly reason: Exclude<FinishReason, 'completed' | 'completed_with_failures'>
  /** One sentence for people. */
  readonly message: string
  /** Nothing ran, and nothing will with these settings: exit 2, whatever the reason is. */
  readonly wrongSetting?: boolean
}

/** A stop that everybody who waits can hear. The first cause counts. */
export interface Stop {
  readonly signal: AbortSignal
  readonly cause: () => StopCause | null
  readonly request: (cause: StopCause) => void
}

/** A stop that nobody has asked for yet. */
export function newStop(): Stop {
  const controller = new AbortController()
  // Every call that waits listens.
  setMaxListeners(0, controller.signal)
  let first: StopCause | null = null
  return {
    signal: controller.signal,
    cause: () => first,
    request: (cause) => {
      first ??= cause
      controller.abort(new Stopped())
    },
  }
}

/** A controller whose signal is aborted with that one, or before. */
export function abortedWith(signal: AbortSignal): AbortController {
  const controller = new AbortController()
  const abort = (): void => controller.abort(signal.reason)
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  return controller
}

/** Thrown out of waits when the run stops. */
export class Stopped extends Error {
  override readonly name = 'Stopped'
}

/** Waits that long, or until the stop: then it is rejected with `Stopped`. */
export function sleep(clock: Pick<Clock, 'after'>, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stopped = (): void => {
      cancel()
      reject(signal?.reason)
    }
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener('abort', stopped)
      resolve()
    })
    signal?.addEventListener('abort', stopped, { once: true })
  })
}
