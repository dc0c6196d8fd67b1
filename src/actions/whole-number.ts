import { UsageError } from '../errors.ts'

/** A flag's text as a whole number; undefined where it is not given. Throws a sentence where it is none. */
export function wholeNumber(
  flag: string,
  text: string | undefined,
  { min = 0, max = Number.MAX_SAFE_INTEGER }: { readonly min?: number; readonly max?: number } = {},
): number | undefined {
  if (text === undefined) return undefined
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (number >= min && number <= max) return number
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min} up` : `from ${min} to ${max}`
  throw new UsageError(`${flag} cannot be '${text}'; write a whole number ${range}`)
}
