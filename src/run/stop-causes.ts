import { type Account, type Obstacle, obstacleTo } from '../api/account.ts'
import { RanklineError } from '../errors.ts'
import type { Settlement } from '../model/call.ts'
import { count, duration, grouped } from '../words.ts'
import type { StopCause } from './stop.ts'
import type { UnusableAnswers } from './unusable.ts'

/** How long refusals of the rate are waited out before the run stops, unless the user says otherwise. */
export const defaultThrottlingMs = 600_000

/** The stop after the service refused everything for too long. */
export function stalled(words: string, maxThrottlingMs: number): StopCause {
  return {
    reason: 'quota',
    message: `The service has refused every call for ${duration(maxThrottlingMs / 1000)} (${words}). The same command goes on where this one stopped.`,
  }
}

const obstacles: Readonly<Record<Obstacle, (account: Account) => StopCause>> = {
  'key-inactive': () => ({
    reason: 'auth',
    message:
      'The service says that the API key is inactive. Activate it at the service, or set RANKLINE_API_KEY to another one.',
  }),
  'key-expired': ({ keyExpires }) => ({
    reason: 'auth',
    message: `The API key expired on ${keyExpires}. Renew it at the service, or set RANKLINE_API_KEY to another one.`,
  }),
  'no-calls-per-second': () => noCalls('second'),
  'no-calls-per-minute': () => noCalls('minute'),
}

function noCalls(window: string): StopCause {
  return {
    reason: 'quota',
    message: `The service allows this account 0 calls per ${window}, so nothing can be bought. Ask the service to raise the limit, then run the same command again.`,
  }
}

/** The stop before anything is bought, where the account's own record says that no call can pass; null where one can. */
export function accountStop(account: Account, now: number): StopCause | null {
  const obstacle = obstacleTo(account, now)
  return obstacle === null ? null : obstacles[obstacle](account)
}

/** The stop at a quota of the key, `quota` in words. */
export function quotaUsedUp(quota: string, words: string): StopCause {
  return {
    reason: 'quota',
    message: `The key's ${quota} is used up (${words}). The same command goes on when it begins anew or is raised.`,
  }
}

/** An engine or operation that was given up, with the answers of it that were paid for and cannot be used. */
export interface GivenUp {
  readonly name: string
  readonly unusable: UnusableAnswers
}

/** The stop after engines or operations were down for too long. */
export function givenUp(all: readonly GivenUp[]): StopCause {
  const failing = all.filter(({ unusable }) => unusable.problem === null).map(({ name }) => name)
  const wasted = all.filter(({ unusable }) => unusable.problem !== null)
  const sentences = [
    ...(failing.length === 0 ? [] : [`The service fails on ${failing.join(' and ')}.`]),
    ...wasted.map(
      ({ name, unusable: { calls, of, problem } }) =>
        `${name} answers with something that is not search results: ${problem}. So did ${grouped(calls)} of ${count(of, 'answer')}; they were billed, and are stored.`,
    ),
    wasted.length === 0
      ? 'The same command goes on where this one stopped.'
      : 'Find out from the service what is wrong before you go on. The same command goes on where this one stopped, and tries one call first where nothing else came last.',
  ]
  return { reason: 'unavailable', message: sentences.join(' ') }
}

/** The stop where an answer could hardly be kept. */
export const diskFull: StopCause = {
  reason: 'unavailable',
  message:
    'The disk that holds the database is full. Nothing more is sent, and what was paid for is stored. Make room, then run the same command again.',
}

/** The stop after nothing was heard of the service for too long. */
export function unreachable(words: string, baseUrl: string): StopCause {
  return {
    reason: 'unavailable',
    message: `The service at ${baseUrl} cannot be reached (${words}). Check RANKLINE_BASE_URL and the network; the same command goes on where this one stopped.`,
  }
}

/** The stop after something was thrown: what was foreseen has its sentence, and the run can go on when it has passed. */
export function thrownCause(error: unknown): StopCause {
  return error instanceof RanklineError
    ? { reason: 'unavailable', message: error.message }
    : { reason: 'crashed', message: 'rankline met an error of its own.' }
}

/** The stop after a call that ended so, for the outcomes after which nothing more is sent. */
export function stopCause({ outcome, error }: Settlement, baseUrl: string): StopCause {
  if (outcome === 'refused')
    return { reason: 'auth', message: `The service refused the key (${error}). Check RANKLINE_API_KEY.` }
  if (outcome === 'out-of-credit')
    return {
      reason: 'balance',
      message: `The service has no balance left (${error}). Top up, then run the same command again.`,
    }
  return {
    reason: 'unavailable',
    message: `The service at ${baseUrl} answers with a redirect, which is not followed (${error}).`,
  }
}
