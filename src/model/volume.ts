import { grouped } from './text.ts'
import { type InvalidValue, quoted, type ReadResult, wholeNumber } from './values.ts'

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

interface NumberPattern {
  /** The sign that parts thousands; any space or apostrophe is `' '`, and none is empty. */
  readonly mark: '.' | ',' | ' ' | ''
  readonly pattern: RegExp
}

const grouping: readonly NumberPattern[] = [
  { mark: ',', pattern: /^[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/ },
  // As in India.
  { mark: ',', pattern: /^[1-9]\d?(,\d{2})+,\d{3}(\.\d+)?$/ },
  { mark: '.', pattern: /^[1-9]\d{0,2}(\.\d{3})+(,\d+)?$/ },
  { mark: ' ', pattern: /^[1-9]\d{0,2}([\s'\u2019]\d{3})+([.,]\d+)?$/ },
]

const plain: readonly NumberPattern[] = [{ mark: '', pattern: /^\d+([.,]\d+)?$/ }]

function numberOf(digits: string, mark: NumberPattern['mark']): number {
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
