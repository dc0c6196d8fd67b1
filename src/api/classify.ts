import type { Outcome } from '../model/call.ts'

/** What an HTTP answer means. `unauthorised` is a 401 whose body does not say whether the key or the rate is meant. */
export type Meaning = Exclude<Outcome, 'unreachable' | 'ambiguous' | 'unreadable'> | 'unauthorised'

const byStatus: Readonly<Record<number, Meaning>> = {
  202: 'accepted',
  402: 'out-of-credit',
  404: 'not-found',
  429: 'throttled',
}

/** Reads the meaning from the status and, for a 401, from the service's own words. */
export function classify(status: number, body: Buffer): Meaning {
  const known = byStatus[status]
  if (known !== undefined) return known
  if (status === 401) return meaningOf401(body)
  if (status < 300) return 'answered'
  if (status < 400) return 'redirected'
  return status < 500 ? 'rejected' : 'server-error'
}

function meaningOf401(body: Buffer): Meaning {
  const words = serviceWords(body)
  if (words === null) return 'unauthorised'
  if (/\brates?\b|limit|quota|too many/i.test(words)) return 'throttled'
  return /\bkey\b|token|expired|inactive|invalid/i.test(words) ? 'refused' : 'unauthorised'
}

const longest = 300

/** The service's own message in an error body: its `error`, or whatever text can be made out; null where there is none. */
export function serviceWords(body: Buffer): string | null {
  const text = body.toString('utf8', 0, 65_536)
  const words = errorField(text) ?? (/^\s*</.test(text) ? htmlTitle(text) : text)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  const clean = words.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').trim()
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
