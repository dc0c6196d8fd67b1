import { setMaxListeners } from 'node:events'
import type { Settlement } from '../model/call.ts'
import { RanklineError } from '../model/errors.ts'
import type { StopCause } from '../model/run.ts'
import { count, duration, grouped, size } from '../model/text.ts'
import type { DatabaseFile, DiskSpace } from '../store/journal.ts'
import type { WastedCalls } from './circuit-breaker.ts'

/** Stops a collection. The first cause counts. */
export type StopSignal = ReturnType<typeof stopSignal>

export function stopSignal() {
  const controller = new AbortController()
  // Every waiting call adds a listener.
  setMaxListeners(0, controller.signal)
  let first: StopCause | null = null
  return {
    signal: controller.signal,
    cause: (): StopCause | null => first,
    request: (cause: StopCause): void => {
      first ??= cause
      controller.abort(new StopRequested())
    },
    /** Replaces what is said of the cause, when more is known of it. */
    explain: (message: string): void => {
      if (first !== null) first = { ...first, message }
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
export class StopRequested extends Error {
  override readonly name = 'StopRequested'
}

/** The usage record could not be had: why, and with which reason a run that needs it stops. */
export class UsageUnavailable extends Error {
  override readonly name = 'UsageUnavailable'
  readonly stop: StopCause

  constructor(stop: StopCause) {
    super(stop.message)
    this.stop = stop
  }
}

/** How long rate-limit responses are waited out before the run stops, by default. */
export const defaultThrottlingMs = 600_000

/** The stop after the rate limit let no call pass for too long. */
export function throttledTooLong(reason: string, maxThrottlingMs: number): StopCause {
  return {
    reason: 'quota',
    message: `Stopped: the service let no call pass for ${duration(maxThrottlingMs / 1000)} (${reason}). Run the same command again later to continue.`,
  }
}

/** The stop at a quota of the key. */
export function quotaUsedUp(quota: string, reason: string): StopCause {
  return {
    reason: 'quota',
    message: `Stopped: the ${quota} of the key is used up (${reason}). Run the same command again when it starts anew or is raised.`,
  }
}

/** The stop after engines or operations were down for too long. */
export function engineExpired(
  all: readonly {
    readonly name: string
    readonly wasted: WastedCalls
  }[],
): StopCause {
  const failing = all.filter(({ wasted }) => wasted.problem === null).map(({ name }) => name)
  const wasting = all.filter(({ wasted }) => wasted.problem !== null)
  const sentences = [
    ...(failing.length === 0 ? [] : [`Stopped: the service fails on ${failing.join(' and ')}.`]),
    ...wasting.map(wasteSentence),
    wasting.length === 0
      ? 'Run the same command again later to continue.'
      : 'Ask the service what is wrong. Then run the same command again: it tries one call first where nothing else came last.',
  ]
  return {
    reason: 'unavailable',
    message: sentences.join(' '),
    ...(wasting.some(({ wasted }) => mayCost(wasted)) ? { source: 'answers' as const } : {}),
  }
}

/** Whether finding out if that has passed may be billed. */
function mayCost({ unusable, maybeBilled }: WastedCalls): boolean {
  return unusable + maybeBilled > 0
}

function wasteSentence({ name, wasted }: Parameters<typeof engineExpired>[0][number]): string {
  const { unusable, answers, useless, maybeBilled, problem } = wasted
  if (useless === 0 && answers === 1)
    return `${name} answers with something that is not search results: ${problem}. One call was tried; it was billed, and its answer is stored.`
  if (answers === 0 && useless === 1)
    return `${name} gives no search results: ${problem}. One call was tried; it ${maybeBilled === 0 ? 'was not' : 'may have been'} billed.`
  if (useless === 0)
    return `${name} answers with something that is not search results: ${problem}. So did ${grouped(unusable)} of ${count(answers, 'answer')}; they were billed, and are stored.`
  const bill = [
    ...(unusable === 0 ? [] : [`${grouped(unusable)} of them were billed`]),
    ...(maybeBilled === 0 ? [] : [`${grouped(maybeBilled)} of them may have been billed`]),
  ]
  const said = `${name} gives no search results: ${problem}. Of ${count(answers + useless, 'call')}, ${grouped(unusable + useless)} brought none`
  return `${said}; ${bill.length === 0 ? 'none of them was billed' : bill.join(', ')}.`
}

/** The stop where the next answer might not fit on the disk. */
export const diskFull: StopCause = {
  reason: 'unavailable',
  source: 'disk',
  message:
    'Stopped: the disk that holds the database is full. Every paid answer is stored. Make room, then run the same command again.',
}

/** The stop where the file of the database was taken away. */
export function databaseLost(file: Pick<DatabaseFile, 'loss'>): StopCause {
  return { reason: 'unavailable', message: file.loss() ?? '' }
}

/** The stop where the reserve does not fit: what is paid for could not be kept safe. */
export function reserveLacks({ wanted, free }: NonNullable<ReturnType<DiskSpace['lacking']>>): StopCause {
  return {
    reason: 'unavailable',
    message: `Stopped before anything was bought, as the disk that holds the database is too full: it has ${size(free)} left, and at least ${size(wanted)} are needed, so that each paid answer can be stored. Make room, or set a lower --concurrency, then run the same command again.`,
  }
}

/** The stop after the service could not be reached for too long. */
export function unreachable(reason: string, baseUrl: string): StopCause {
  return {
    reason: 'unavailable',
    message: `Stopped: the service at ${baseUrl} cannot be reached (${reason}). Check RANKLINE_BASE_URL and the network, then run the same command again.`,
  }
}

/** The stop after an error: one that was foreseen has its own message, and the run can be continued. */
export function thrownCause(error: unknown): StopCause {
  if (error instanceof UsageUnavailable) return error.stop
  return error instanceof RanklineError
    ? { reason: 'unavailable', message: error.message }
    : { reason: 'crashed', message: 'Stopped: an error in rankline itself.' }
}

/** The stop after a call with an outcome after which nothing more is sent. */
export function stopCause({ outcome, error }: Settlement, baseUrl: string): StopCause {
  if (outcome === 'refused')
    return {
      reason: 'auth',
      message: `Stopped: the service refused the key (${error}). Check RANKLINE_API_KEY.`,
    }
  if (outcome === 'out-of-credit')
    return {
      reason: 'balance',
      message: `Stopped: insufficient balance (${error}). Top up, then run the same command again.`,
    }
  return {
    reason: 'unavailable',
    message: `Stopped: the service at ${baseUrl} answers with a redirect, which is not followed (${error}).`,
  }
}
