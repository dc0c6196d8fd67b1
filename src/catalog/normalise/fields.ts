/** Readers of single fields of an answer: what is not of the expected type, or near it, is null and never an exception. */

export type Fields = Readonly<Record<string, unknown>>

/** The value as an object, or null. */
export function asFields(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null
}

/**
 * Text as sent; numbers become their text where they are exact, a list of one text is that text, anything else is null.
 * Empty text is null, for it says nothing.
 */
export function text(value: unknown): string | null {
  const one = Array.isArray(value) && value.length === 1 ? value[0] : value
  if (typeof one === 'string') return one === '' ? null : one
  return typeof one === 'number' && Math.abs(one) <= Number.MAX_SAFE_INTEGER ? String(one) : null
}

/** A link as sent. Blank ones are null: as equal texts, all of them would be the same result. */
export function link(value: unknown): string | null {
  const sent = text(value)
  return sent === null || sent.trim() === '' ? null : sent
}

const decimal = /^[-+]?\d+(?:\.\d+)?$/

/** A number, or text that is one in plain digits; anything else is null. */
export function number(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'string' || !decimal.test(value.trim())) return null
  const read = Number(value)
  return Number.isFinite(read) ? read : null
}

/** A whole number within the exact range of numbers, or null. */
export function integer(value: unknown): number | null {
  const read = number(value)
  // There is no zero below zero.
  return read !== null && Number.isSafeInteger(read) ? read + 0 : null
}

const truths: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  [true, true],
  [1, true],
  ['1', true],
  ['true', true],
  [false, false],
  [0, false],
  ['0', false],
  ['false', false],
])

export function boolean(value: unknown): boolean | null {
  return truths.get(typeof value === 'string' ? value.trim().toLowerCase() : value) ?? null
}

const listNumber = /^(?:0|[1-9]\d*)$/

/** The values of a list, also of one that comes as an object with numbers for its keys; null for anything else. */
export function list(value: unknown): readonly unknown[] | null {
  if (Array.isArray(value)) return value
  const fields = asFields(value)
  if (fields === null || !Object.keys(fields).every((key) => listNumber.test(key))) return null
  return Object.entries(fields)
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([, item]) => item)
}

/** The texts of a list, or the one that comes without it; null where there is neither. */
export function strings(value: unknown): readonly string[] | null {
  const texts = list(typeof value === 'string' && value !== '' ? [value] : value)
  return texts?.map(text).filter((one) => one !== null) ?? null
}
