import type { Outcome } from '../model/call.ts'

/** The meaning of an HTTP answer. `unauthorised` is a 401 that does not say whether it is about the key or about the rate. */
export type ResponseClass = Exclude<Outcome, 'unreachable' | 'ambiguous' | 'unreadable'> | 'unauthorised'

const byStatus: Readonly<Record<number, ResponseClass>> = {
  202: 'accepted',
  402: 'out-of-credit',
  404: 'not-found',
  408: 'server-error',
  425: 'server-error',
  429: 'throttled',
}

/** Free errors that pass by themselves: the service may name how long it wants not to be called. */
export function isPassing(status: number): boolean {
  return status === 503 || status === 408 || status === 425
}

/** Reads the meaning from the status and, for a 401, from the message of the service. */
export function classify(status: number, body: Buffer): ResponseClass {
  const known = byStatus[status]
  if (known !== undefined) return known
  if (status === 401) return meaningOf401(body)
  if (status < 300) return 'answered'
  if (status < 400) return 'redirected'
  return status < 500 ? 'rejected' : 'server-error'
}

function meaningOf401(body: Buffer): ResponseClass {
  const message = serviceMessage(body)
  if (message === null) return 'unauthorised'
  if (/\brates?\b|limit|quota|too many/i.test(message)) return 'throttled'
  return /\bkey\b|token|expired|inactive|invalid/i.test(message) ? 'refused' : 'unauthorised'
}

const longest = 300

/** The message of the service in an error body: its `error`, or any other text in it; null if there is none. */
export function serviceMessage(body: Buffer): string | null {
  const text = body.toString('utf8', 0, 65_536)
  const message = errorField(text) ?? (/^\s*</.test(text) ? htmlTitle(text) : text)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  const clean = message.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').trim()
  if (clean === '') return null
  return clean.length > longest ? `${clean.slice(0, longest).toWellFormed()}…` : clean
}

function errorField(text: string): string | null {
  try {
    const { error, message } = JSON.parse(text) as { error?: unknown; message?: unknown }
    return [error, message].find((field): field is string => typeof field === 'string') ?? null
  } catch {
    return null
  }
}

function htmlTitle(html: string): string {
  return html.match(/<(?:title|h1)[^>]*>([^<]+)</i)?.[1] ?? 'an HTML page'
}

/** What happens to a task, or to the run, after a call. */
export type NextStep =
  /** The task has its answer. */
  | 'keep'
  /** The task waits for its asynchronous job. */
  | 'poll'
  /** All tasks wait; no try is used up. */
  | 'wait'
  /** The task is tried again, a few times. */
  | 'retry'
  /** The task is tried again once: the call may have been billed. */
  | 'retry-once'
  /** The task fails; the others continue. */
  | 'fail-task'
  /** Nothing more is sent. */
  | 'stop-run'

/** What follows from each outcome. */
export const nextStepAfter = {
  answered: 'keep',
  accepted: 'poll',
  throttled: 'wait',
  refused: 'stop-run',
  'out-of-credit': 'stop-run',
  rejected: 'fail-task',
  'not-found': 'fail-task',
  'server-error': 'retry',
  unreachable: 'retry',
  ambiguous: 'retry-once',
  redirected: 'stop-run',
  unreadable: 'fail-task',
} as const satisfies Record<Outcome, NextStep>

/** Whether a call with this outcome was billed: 1 yes, 0 no, null not known. These are the billing rules of the service. */
export const billedAfter = {
  answered: 1,
  accepted: 0,
  throttled: 0,
  refused: 0,
  'out-of-credit': 0,
  rejected: 0,
  'not-found': null,
  'server-error': 0,
  unreachable: 0,
  ambiguous: null,
  redirected: 0,
  unreadable: 1,
} as const satisfies Record<Outcome, 0 | 1 | null>
