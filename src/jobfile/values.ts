import { cronMistake } from '../model/cron.ts'
import { parseUrl } from '../model/url.ts'
import { nearest, span } from '../words.ts'
import { type Mistake, quoted, type Read } from './problem.ts'

/** Reads a whole number that is at least `from`. */
export function wholeNumber(from: number) {
  const words = from === Number.MIN_SAFE_INTEGER ? 'a whole number' : `a whole number from ${from} up`
  return (text: string): Read<number> => {
    const value = Number(text)
    if (/^[+-]?\d+$/.test(text) && Number.isSafeInteger(value) && value >= from) return { value }
    return { what: `cannot be ${quoted(text)}`, instead: `write ${words}` }
  }
}

/** Reads one of a few words. */
export function choice<const T extends string>(values: readonly T[]) {
  return (text: string): Read<T> => {
    const value = values.find((candidate) => candidate === text)
    if (value !== undefined) return { value }
    const near = nearest(text, values)
    const instead = near === null ? `write one of ${values.join(', ')}` : `write '${near}'`
    return { what: `cannot be ${quoted(text)}`, instead }
  }
}

/** Reads `true` or `false`. */
export function yesNo(text: string): Read<boolean> {
  const read = choice(['true', 'false'])(text)
  return 'value' in read ? { value: read.value === 'true' } : read
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const control = /[\u0000-\u001f\u007f]/
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controlInText = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/
const broken = /[\ufffd\p{Surrogate}]/u

/** Whether every character of the text can be stored and sent; `lines` lets tabs and line breaks pass. */
export function unclean(text: string, lines: boolean): Mistake | null {
  if ((lines ? controlInText : control).test(text))
    return { what: `${quoted(text)} holds a control character or a line break`, instead: 'remove it' }
  if (broken.test(text))
    return { what: `${quoted(text)} holds a character that is no UTF-8`, instead: 'save the file as UTF-8' }
  return null
}

/** Reads a text of one line, trimmed at both ends; the words in it stay as they are. */
export function plainText(text: string): Read<string> {
  const value = text.trim()
  if (value === '') return { what: 'is empty', instead: 'give it a value or leave it out' }
  return unclean(value, false) ?? { value }
}

/** Reads the text of a query, trimmed at both ends; everything else stays as it was written. */
export function queryText(text: string): Read<string> {
  const value = text.trim()
  if (value === '') return { what: 'is empty', instead: 'write the text to search for' }
  return unclean(value, false) ?? { value }
}

/** Reads the name of a job: it becomes part of file names. */
export function jobName(text: string): Read<string> {
  const read = plainText(text)
  if ('value' in read && /[/\\]/.test(read.value))
    return { what: `cannot be ${quoted(text)}`, instead: 'write a name without slashes' }
  return read
}

/** Reads a span such as `30m`, `12h`, `7d` or `2w` as milliseconds. */
export function timeSpan(text: string): Read<number> {
  const value = span(text, 'mhdw')
  if (value !== null && value > 0) return { value }
  return { what: `cannot be ${quoted(text)}`, instead: 'write a span such as 30m, 12h, 7d or 2w' }
}

/** Reads the name of an IANA time zone. */
export function timezone(text: string): Read<string> {
  if (/^[a-z]/i.test(text) && knownZone(text)) return { value: text }
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')]
  const city = `/${text.trim().replaceAll(' ', '_').toLowerCase()}`
  const near = zones.find((zone) => zone.toLowerCase().endsWith(city)) ?? nearest(text, zones)
  return { what: `cannot be ${quoted(text)}`, instead: `write ${near ?? 'a zone such as America/New_York'}` }
}

function knownZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== null
  } catch {
    return false
  }
}

/** Reads a cron pattern, as whoever runs it later will read it; fields are parted by single spaces. */
export function schedule(text: string): Read<string> {
  const mistake = cronMistake(text)
  if (mistake === null) return { value: text.trim().split(/\s+/).join(' ') }
  const why = mistake.why === null ? '' : `: ${mistake.why}`
  return { what: `cannot be ${quoted(text)}${why}`, instead: mistake.instead }
}

/** Reads the absolute address of a page. */
export function pageUrl(text: string): Read<string> {
  const read = plainText(text)
  if (!('value' in read)) return read
  const url = parseUrl(read.value)
  if (url !== null && /^https?:\/\//i.test(read.value) && !/\s/.test(read.value)) return read
  return {
    what: `cannot be ${quoted(text)}`,
    instead: 'write a whole address such as https://acme.com/desks',
  }
}
