import { UsageError } from './errors.ts'
import { closestMatch, grouped, normalText, parseDuration } from './text.ts'

/** What is wrong with a value, and what to write instead. */
export interface InvalidValue {
  readonly message: string
  readonly fix: string
}

/** A value, or what is wrong with the text; the message is a predicate such as `cannot be 'x'`. */
export type ReadResult<T> = { readonly value: T } | InvalidValue

export type AnswerReader<T> = (text: string) => ReadResult<T>

/** An option's text as a whole number; undefined where it is not given. Throws where it is not one. */
export function numberOption(
  option: string,
  text: string | undefined,
  { min = 0, max = Number.MAX_SAFE_INTEGER }: { readonly min?: number; readonly max?: number } = {},
): number | undefined {
  if (text === undefined) return undefined
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (number >= min && number <= max) return number
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min} up` : `from ${min} to ${max}`
  throw new UsageError(`${option} cannot be '${text}'; write a whole number ${range}`)
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

/** What is wrong with a text that has characters which cannot be stored or sent; else null. With `lines`, tabs and line breaks may stand in it. */
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
  if (/^[a-z]/i.test(text) && knownZone(text)) return { value: text }
  const zones = [...zoneNames()]
  const city = `/${text.trim().replaceAll(' ', '_').toLowerCase()}`
  const near = zones.find((zone) => zone.toLowerCase().endsWith(city)) ?? closestMatch(text, zones)
  return { message: `cannot be ${quoted(text)}`, fix: `write ${near ?? 'a zone such as America/New_York'}` }
}

function knownZone(name: string): boolean {
  // Where no other is set, no list of hundreds is made.
  if (name === 'UTC' || zoneNames().has(name)) return true
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== null
  } catch {
    return false
  }
}

let listed: ReadonlySet<string> | null = null

/** One name of each zone: a formatter knows the others, too, but the first one takes ten times longer to make than this list. */
function zoneNames(): ReadonlySet<string> {
  listed ??= new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])
  return listed
}

/** The sign before the decimals of a number. */
export type DecimalMark = '.' | ','

const exact = wholeNumber(0)

/**
 * Reads searches per month as tools and spreadsheets write them: `2400`, `2400.0`, `1,300`, `1 300`, `1.2K`. A number that
 * can mean two is a mistake, and so is a range.
 *
 * @param decimal the decimal mark where the number was written; the other one may part its thousands
 */
export function readVolume(text: string, decimal: DecimalMark): ReadResult<number> {
  const simple = exact(text)
  if ('value' in simple) return simple
  const meant = meanings(text, decimal)
  const [first, second] = meant
  if (first === undefined) return rangeMistake(text, decimal) ?? simple
  if (second !== undefined)
    return {
      message: `cannot be ${quoted(text)}, which can mean ${meant.map(shown).join(' or ')}`,
      fix: `write ${meant.map((number) => String(Math.round(number))).join(' or ')}`,
    }
  if (Number.isSafeInteger(first)) return { value: first }
  const whole = Math.round(first)
  if (!Number.isSafeInteger(whole)) return simple
  return { message: `cannot be ${quoted(text)}, which is no whole number`, fix: `write ${whole}` }
}

function rangeMistake(text: string, decimal: DecimalMark): InvalidValue | null {
  const ends = text.match(/^(.*\S)\s*(?:[-\u2010-\u2015\u2212\u2026~]|\.\.+|\bto\b|\bbis\b)\s*(\S.*)$/i)
  const [low, high] = (ends?.slice(1) ?? []).map((end) => meanings(end, decimal)[0])
  if (low === undefined || high === undefined) return null
  return {
    message: `cannot be ${quoted(text)}, a range from ${shown(low)} to ${shown(high)}`,
    fix: `write one number, such as ${Math.round(low)} or ${Math.round(high)}, or leave it empty`,
  }
}

function shown(number: number): string {
  return Number.isInteger(number) ? grouped(number) : String(number)
}

const unitFactors: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  tsd: 1e3,
  m: 1e6,
  mio: 1e6,
  b: 1e9,
  bn: 1e9,
  mrd: 1e9,
}

/** What the text can mean, the greatest first; nothing where it is no number. */
function meanings(text: string, decimal: DecimalMark): readonly number[] {
  const scientific = text.match(/^\+?(\d)(?:[.,](\d+))?e\+?(\d{1,2})$/i)
  if (scientific !== null) {
    const [, ones, decimals = '0', exponent] = scientific
    return [Number(`${ones}.${decimals}e${exponent}`)]
  }
  const [, digits = '', unit = ''] = text.match(/^\+?(\d[\d.,'\u2019\s]*?)\s*([a-z]*)\.?$/i) ?? []
  const factor = Object.hasOwn(unitFactors, unit.toLowerCase()) ? unitFactors[unit.toLowerCase()] : undefined
  if (digits === '' || factor === undefined) return []
  const thousands = grouping.filter(({ pattern }) => pattern.test(digits))
  // Who writes decimals after a point parts thousands by commas, and the other way round.
  const usual = thousands.find(({ mark }) => mark !== decimal && mark !== '' && factor === 1)
  const readings =
    usual === undefined ? [...thousands, ...plain.filter(({ pattern }) => pattern.test(digits))] : [usual]
  const numbers = readings.map(({ mark }) => scaled(numberOf(digits, mark), factor))
  return [...new Set(numbers)].sort((a, b) => b - a)
}

const grouping: readonly {
  /** The sign that parts thousands; any space or apostrophe is `' '`, and none is empty. */
  readonly mark: '.' | ',' | ' ' | ''
  readonly pattern: RegExp
}[] = [
  { mark: ',', pattern: /^[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/ },
  // As in India.
  { mark: ',', pattern: /^[1-9]\d?(,\d{2})+,\d{3}(\.\d+)?$/ },
  { mark: '.', pattern: /^[1-9]\d{0,2}(\.\d{3})+(,\d+)?$/ },
  { mark: ' ', pattern: /^[1-9]\d{0,2}([\s'\u2019]\d{3})+([.,]\d+)?$/ },
]

const plain: typeof grouping = [{ mark: '', pattern: /^\d+([.,]\d+)?$/ }]

function numberOf(digits: string, mark: (typeof grouping)[number]['mark']): number {
  const joined =
    mark === ' ' ? digits.replace(/[\s'\u2019]/g, '') : mark === '' ? digits : digits.replaceAll(mark, '')
  return Number(joined.replace(',', '.'))
}

/** Without the dust of binary fractions: 1.005 thousands are 1005. */
function scaled(number: number, factor: number): number {
  const product = number * factor
  const whole = Math.round(product)
  return Math.abs(product - whole) < 1e-6 ? whole : product
}

/** An option of a command, by the name as it is typed behind `--`: it takes a text, a text each time that it is given, or none. */
export interface OptionSpec {
  readonly kind: 'text' | 'list' | 'switch'
  readonly help: string
  /** One letter. */
  readonly alias?: string
  /** What can be written, where that is a short list. */
  readonly values?: readonly string[]
}

/** The text given for an option; numbers are parsed where they are used. */
export type OptionValue<F extends OptionSpec> = F extends { kind: 'switch' }
  ? boolean
  : F extends { kind: 'list' }
    ? readonly string[]
    : string

export function textOption(help: string) {
  return { kind: 'text', help } as const
}

/** An option that may be given several times. */
export function listOption(help: string) {
  return { kind: 'list', help } as const
}

export function switchOption(help: string) {
  return { kind: 'switch', help } as const
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>

/** `max-outage` as a property: `maxOutage`. */
type PropertyOf<Name> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<PropertyOf<Rest>>}`
  : Name

/** What was given for these options. */
export type OptionsOf<F extends OptionSpecs> = {
  readonly [Name in keyof F as PropertyOf<Name>]?: OptionValue<F[Name]> | undefined
}

export function propertyOf<Name extends string>(name: Name): PropertyOf<Name> {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()) as PropertyOf<Name>
}
