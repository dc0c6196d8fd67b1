import { plain, textLocaleOf } from './dates/languages.ts'

/** Readers of single fields of an answer. A value of another type gives null, never an exception. */

export type AnswerFields = Readonly<Record<string, unknown>>

/** The value as an object, or null. */
export function asFields(value: unknown): AnswerFields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as AnswerFields) : null
}

/**
 * Text as sent. An exact number becomes its text, a list of one text that text. Anything else is null, and so is empty text.
 */
export function text(value: unknown): string | null {
  const one = Array.isArray(value) && value.length === 1 ? value[0] : value
  if (typeof one === 'string') return one === '' ? null : one
  return typeof one === 'number' && Math.abs(one) <= Number.MAX_SAFE_INTEGER ? String(one) : null
}

/** A link as sent. Blank ones are null: they would be equal, and all their results would count as one. */
export function link(value: unknown): string | null {
  const sent = text(value)
  return sent === null || sent.trim() === '' ? null : sent
}

const decimal = /^[-+]?\d+(?:\.\d+)?$/

/** A number, or text in plain digits; anything else is null. */
export function number(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'string' || !decimal.test(value.trim())) return null
  const read = Number(value)
  return Number.isFinite(read) ? read : null
}

/** A whole number within the exact range of numbers, or null. */
export function integer(value: unknown): number | null {
  const read = number(value)
  // `+ 0` turns -0 into 0.
  return read !== null && Number.isSafeInteger(read) ? read + 0 : null
}

export function boolean(value: unknown): boolean | null {
  const word = typeof value === 'string' ? value.trim().toLowerCase() : value
  if (word === true || word === 1 || word === '1' || word === 'true') return true
  return word === false || word === 0 || word === '0' || word === 'false' ? false : null
}

const listNumber = /^(?:0|[1-9]\d*)$/

/** The values of a list, also of a list that came as an object with numbers as keys; null for anything else. */
export function list(value: unknown): readonly unknown[] | null {
  if (Array.isArray(value)) return value
  const fields = asFields(value)
  if (fields === null || !Object.keys(fields).every((key) => listNumber.test(key))) return null
  return Object.entries(fields)
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([, item]) => item)
}

/** The texts of a list, or a single text; null for anything else. */
export function strings(value: unknown): readonly string[] | null {
  const texts = list(typeof value === 'string' && value !== '' ? [value] : value)
  return texts?.map(text).filter((one) => one !== null) ?? null
}

/** The JSON of a body, also after a byte order mark; undefined if it is not JSON. */
export function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8', startsWithMark(body) ? 3 : 0))
  } catch {
    return undefined
  }
}

/** Values that some programs write and JSON does not have, outside of texts; a text that is cut off ends the search. */
const notOfJson = /"(?:[^"\\]|\\.)*(?:"|$)|[-+]?\b(?:NaN|Infinity|undefined|None|True|False)\b/gs

/** The first value in a body that JSON does not have, with its place; null where there is none. */
export function valueOutsideJson(body: Buffer): string | null {
  const text = body.toString('utf8')
  let field: string | null = null
  for (const { 0: found, index } of text.matchAll(notOfJson)) {
    if (!found.startsWith('"')) {
      const inside = field === null ? '' : ` in ${field.slice(0, 60)}`
      return `${found}${inside}, at character ${index + 1}`
    }
    const follows = text.slice(index + found.length, index + found.length + 20)
    if (/^\s*:/.test(follows)) field = found
  }
  return null
}

/** A byte order mark, in UTF-8. */
function startsWithMark(body: Buffer): boolean {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf
}

/** Writing JSON runs out of stack at a few thousand levels, and SQLite reads no more than 1,000. */
const deepest = 200
const cutOff = `… (nested deeper than ${deepest} levels)`

/** A value as sent, cut off where it is nested too deep to be stored and read again. */
export function asSent(value: unknown): unknown {
  return reaches(value, deepest) ? cut(value, deepest) : value
}

/** Whether a value is nested deeper than this many levels. */
function reaches(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  // Of a list too, these are the items.
  for (const name in value) if (reaches((value as AnswerFields)[name], levels - 1)) return true
  return false
}

function cut(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (levels === 0) return cutOff
  if (Array.isArray(value)) return value.map((item) => cut(item, levels - 1))
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, cut(item, levels - 1)]))
}

/** Needed to read the dates and numbers of an answer. */
export interface ReadingContext {
  /** The language that was asked for, such as `de`, `pt-BR` or `en-US`; null where that was left to the service. */
  readonly language: string | null
  /** Two letters; null where that was left to the service. */
  readonly country: string | null
  /** Epoch ms; ages count back from here. */
  readonly fetchedAt: number
}

/** The locale in the parameters of a request, or in those that an answer repeats. */
export function localeOf(params: AnswerFields): Omit<ReadingContext, 'fetchedAt'> {
  const market = text(params.mkt)
  return {
    language: text(params.hl) ?? market,
    country: text(params.gl) ?? text(params.cc) ?? market?.match(/-([a-z]{2})$/i)?.[1] ?? null,
  }
}

/** A context that is completed from the parameters that the answer repeats. */
export function completed(context: ReadingContext, echo: AnswerFields | null): ReadingContext {
  const { language, country } = localeOf(echo ?? {})
  return { ...context, language: context.language ?? language, country: context.country ?? country }
}

/** Words for results, as they follow a number; small words may be between. */
const resultWords =
  'results?|search results|ergebnis(?:se)?|r[ée]sultats?|resultad[oa]s?|risultat[io]|resultaten' +
  '|resultaat|resultat(?:er)?|resultats?|tulosta|wynik(?:i|ów)?|výsledk[ůy]|výsledkov|találat' +
  '|rezultat[ei]?|rezultata|резултат(?:а|и)?|результат(?:а|ов|и|ів)?|αποτελέσματα|sonuç|hasil|kết quả' +
  '|รายการ|نتيجة|نتائج|نتيجه|תוצאות|परिणाम|件|[条條项項]|[個个](?!月)|개(?!월)'

const counted = new RegExp(`^ ?(?:de |d'|di )?(?:${resultWords})`, 'u')
/** A text that ends in the first part of a number, or in a minus sign. */
const unfinished = /(?:^|[ .,'])-$|[.,']$|\d $/

const grouped = /^[1-9]\d{0,2}(?:([.,'])\d{3})(?:\1\d{3})*$|^[1-9]\d?(?:,\d{2})+,\d{3}$/

/** Longer texts are not read. */
const longestLine = 200

/** A number of results: a number, or a line such as `About 1,230 results (0.42 seconds)`; null if it is not certain. */
export function readTotal(value: unknown, language: string | null): number | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value + 0 : null
  if (typeof value !== 'string' || value.length > longestLine) return null
  const marks = marksOf(language)
  const text = groupsJoined(value, marks)
    .toLowerCase()
    .replace(/\([^)]*\)/g, ' ')
  const totals = new Set<number | null>()
  for (const { 0: number, index } of text.matchAll(/\d(?:[\d.,']*\d)?/g)) {
    const before = text.slice(0, index)
    const after = text.slice(index + number.length)
    const isAlone = before.trim() === '' && after.trim() === ''
    if (isAlone || counted.test(after))
      totals.add(unfinished.test(before) ? null : wholeNumber(number, marks))
  }
  const [total = null] = totals
  return totals.size === 1 ? total : null
}

/** Seconds that a search took: a number, or its text with either decimal mark. */
export function readSeconds(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? value : null
  if (typeof value !== 'string') return null
  const text = plain(value)
  // `1,200` may be a thousand and two hundred, so a comma allows two decimals only.
  return /^\d{1,9}(?:\.\d{1,9}|,\d{1,2})?$/.test(text) ? Number(text.replace(',', '.')) : null
}

/** The marks that group digits and begin decimals in a language; empty where they are not known. */
function marksOf(code: string | null) {
  const { language, region } = textLocaleOf(code, null)
  if (language === null) return { group: '', decimal: '' }
  const locale = region === null ? language : `${language}-${region}`
  const parts = new Intl.NumberFormat(`${locale}-u-nu-latn`).formatToParts(1_234_567.5)
  const mark = (wanted: string): string => parts.find(({ type }) => type === wanted)?.value ?? ''
  return { group: plain(`0${mark('group')}0`).slice(1, -1), decimal: mark('decimal') }
}

/** The text with apostrophes for spaces inside numbers; a plain space counts only in languages that group digits with it. */
function groupsJoined(value: string, { group }: ReturnType<typeof marksOf>): string {
  const hard = value.replace(/(?<=\p{Nd})[\u00a0\u202f\u2007\u2009’](?=\p{Nd})/gu, "'").replace(/٬/g, ',')
  const text = plain(hard)
  return group === ' ' ? text.replace(/(?<=\d) (?=\d{3}(?!\d))/g, "'") : text
}

/** The whole number of digits with group marks. A single mark must not be a decimal mark. */
function wholeNumber(text: string, { group, decimal }: ReturnType<typeof marksOf>): number | null {
  if (/^\d+$/.test(text)) return safe(text)
  if (!grouped.test(text)) return null
  const marks = text.replace(/\d/g, '')
  const isCertain = marks.length > 1 || marks === "'" || (marks === group && marks !== decimal)
  return isCertain ? safe(text.replace(/\D/g, '')) : null
}

function safe(digits: string): number | null {
  const number = Number(digits)
  return Number.isSafeInteger(number) ? number : null
}

const clockTime = /^(?:(\d{1,6}):([0-5]?\d)|(\d{1,6})):([0-5]\d)$/
const isoDuration = /^P(?=\d|T\d)(?:(\d{1,4})D)?(?:T(?=\d)(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,8})S)?)?$/i

/** Seconds of a duration written `M:SS`, `H:MM:SS` or as ISO 8601 (`PT1H2M3S`), in any digits; null for anything else. */
export function durationSeconds(duration: string | null): number | null {
  const text = plain(duration ?? '')
  const parts = text.match(clockTime)
  if (parts !== null) {
    const [, hours = '0', minutesOfHour, minutes, seconds] = parts
    return Number(hours) * 3600 + Number(minutesOfHour ?? minutes) * 60 + Number(seconds)
  }
  const [found, days = '0', hours = '0', minutes = '0', seconds = '0'] = text.match(isoDuration) ?? []
  if (found === undefined) return null
  return ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds)
}
