import { UsageError } from './errors.ts'
import { normalText } from './spelling.ts'
import { closestMatch, parseDuration } from './text.ts'
import { parseUrl } from './url.ts'

/** What is wrong with a value, and what to write instead. */
export interface InvalidValue {
  readonly message: string
  readonly fix: string
}

/** A value, or what is wrong with the text; the message is a predicate such as `cannot be 'x'`. */
export type ReadResult<T> = { readonly value: T } | InvalidValue

export type AnswerReader<T> = (text: string) => ReadResult<T>

/** A flag's text as a whole number; undefined where it is not given. Throws where it is not one. */
export function numberFlag(
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

/** The text of a mistake in quotes, short and on one line. */
export function quoted(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  const line = text.replace(/[\u0000-\u001f\u007f-\u009f]/g, '\ufffd')
  const letters = Array.from(line.slice(0, 200))
  return letters.length > 60 ? `'${letters.slice(0, 60).join('')}…'` : `'${line}'`
}

/** Reads a whole number from `from` to `most`, both included. */
export function wholeNumber(from: number, most = Number.MAX_SAFE_INTEGER) {
  const range = most === Number.MAX_SAFE_INTEGER ? ` from ${from} up` : ` from ${from} to ${most}`
  const words = `a whole number${from === Number.MIN_SAFE_INTEGER ? '' : range}`
  return (text: string): ReadResult<number> => {
    const value = Number(text)
    if (/^[+-]?\d+$/.test(text) && Number.isSafeInteger(value) && value >= from && value <= most)
      return { value }
    return { message: `cannot be ${quoted(text)}`, fix: `write ${words}` }
  }
}

/** Reads one of a few words. */
export function choice<const T extends string>(values: readonly T[]) {
  return (text: string): ReadResult<T> => {
    const value = values.find((candidate) => candidate === text)
    if (value !== undefined) return { value }
    const near = closestMatch(text, values)
    const fix = near === null ? `write one of ${values.join(', ')}` : `write '${near}'`
    return { message: `cannot be ${quoted(text)}`, fix }
  }
}

/** Reads `true` or `false`. */
export function yesNo(text: string): ReadResult<boolean> {
  const read = choice(['true', 'false'])(text)
  return 'value' in read ? { value: read.value === 'true' } : read
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const control = /[\u0000-\u001f\u007f]/
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controlInText = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/
const broken = /[\ufffd\p{Surrogate}]/u

/** Whether every character of the text can be stored and sent; `lines` lets tabs and line breaks pass. */
export function badCharacters(text: string, lines: boolean): InvalidValue | null {
  if ((lines ? controlInText : control).test(text))
    return { message: `${quoted(text)} contains a control character or a line break`, fix: 'remove it' }
  if (broken.test(text))
    return {
      message: `${quoted(text)} contains a character that is not UTF-8`,
      fix: 'save the file as UTF-8',
    }
  return null
}

/** Reads a text of one line, trimmed at both ends; the words in it stay as they are. */
export function plainText(text: string): ReadResult<string> {
  const value = text.trim()
  if (value === '') return { message: 'is empty', fix: 'give it a value or leave it out' }
  return badCharacters(value, false) ?? { value }
}

/** Reads the text of a query into its one spelling. */
export function queryText(text: string): ReadResult<string> {
  const value = normalText(text)
  if (value === '') return { message: 'is empty', fix: 'write the text to search for' }
  return badCharacters(text.trim(), false) ?? { value }
}

/** Reads the name of a job: it becomes part of file names. */
export function jobName(text: string): ReadResult<string> {
  const read = plainText(text)
  if ('value' in read && /[/\\]/.test(read.value))
    return { message: `cannot be ${quoted(text)}`, fix: 'write a name without slashes' }
  return read
}

/** Reads a span such as `30m`, `12h`, `7d` or `2w` as milliseconds. */
export function timeSpan(text: string): ReadResult<number> {
  const value = parseDuration(text, 'mhdw')
  if (value !== null && value > 0) return { value }
  return { message: `cannot be ${quoted(text)}`, fix: 'write a time span such as 30m, 12h, 7d or 2w' }
}

/** Reads the name of an IANA time zone. */
export function timezone(text: string): ReadResult<string> {
  if (text === 'UTC' || (/^[a-z]/i.test(text) && knownZone(text))) return { value: text }
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')]
  const city = `/${text.trim().replaceAll(' ', '_').toLowerCase()}`
  const near = zones.find((zone) => zone.toLowerCase().endsWith(city)) ?? closestMatch(text, zones)
  return { message: `cannot be ${quoted(text)}`, fix: `write ${near ?? 'a zone such as America/New_York'}` }
}

function knownZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== null
  } catch {
    return false
  }
}

/** Reads the absolute address of a page. */
export function pageUrl(text: string): ReadResult<string> {
  const read = plainText(text)
  if (!('value' in read)) return read
  const url = parseUrl(read.value)
  if (url !== null && /^https?:\/\//i.test(read.value) && !/\s/.test(read.value)) return read
  return {
    message: `cannot be ${quoted(text)}`,
    fix: 'write a full address such as https://acme.com/desks',
  }
}
