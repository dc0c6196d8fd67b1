/** Readers of single fields of an answer: what is not of the expected type, or near it, is null and never an exception. */

export type Fields = Readonly<Record<string, unknown>>

/** The value as an object, or null. */
export function asFields(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null
}

/** Text as sent; numbers become their text; anything else is null. Empty text is null, for it says nothing. */
export function text(value: unknown): string | null {
  if (typeof value === 'string') return value === '' ? null : value
  return typeof value === 'number' ? String(value) : null
}

/** A number, or text that is one; anything else is null. */
export function number(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'string' || value.trim() === '') return null
  const read = Number(value)
  return Number.isFinite(read) ? read : null
}

/** A whole number within the exact range of numbers, or null. */
export function integer(value: unknown): number | null {
  const read = number(value)
  return read !== null && Number.isSafeInteger(read) ? read : null
}

export function boolean(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null
}

/** The strings of a list, or null where there is no list. */
export function strings(value: unknown): readonly string[] | null {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : null
}
