import { plain } from './dates/fold.ts'
import { askedOf } from './dates/languages.ts'

/** Words for results as they follow their number; small ones may stand between. */
const resultWords: readonly string[] = [
  'results?',
  'search results',
  'ergebnis(?:se)?',
  'r[ée]sultats?',
  'resultad[oa]s?',
  'risultat[io]',
  'resultaten',
  'resultaat',
  'resultat(?:er)?',
  'resultats?',
  'tulosta',
  'wynik(?:i|ów)?',
  'výsledk[ůy]|výsledkov',
  'találat',
  'rezultat[ei]?',
  'rezultata',
  'резултат(?:а|и)?',
  'результат(?:а|ов|и|ів)?',
  'αποτελέσματα',
  'sonuç',
  'hasil',
  'kết quả',
  'รายการ',
  'نتيجة|نتائج|نتيجه',
  'תוצאות',
  'परिणाम',
  '件',
  '[条條项項]',
  '[個个](?!月)',
  '개(?!월)',
]

const counted = new RegExp(`^ ?(?:de |d'|di )?(?:${resultWords.join('|')})`, 'u')
/** The end of what a number is only the rest of, or that makes it less than nothing. */
const cutOff = /(?:^|[ .,'])-$|[.,']$|\d $/

const grouped = /^[1-9]\d{0,2}(?:([.,'])\d{3})(?:\1\d{3})*$|^[1-9]\d?(?:,\d{2})+,\d{3}$/

/** A longer text is no line with a total. */
const longest = 200

/** A number of results: a number, or the text of a line such as `About 1,230 results (0.42 seconds)`; null where unsure. */
export function readTotal(value: unknown, language: string | null): number | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value + 0 : null
  if (typeof value !== 'string' || value.length > longest) return null
  const marks = marksOf(language)
  const text = groupsJoined(value, marks)
    .toLowerCase()
    .replace(/\([^)]*\)/g, ' ')
  const totals = new Set<number | null>()
  for (const { 0: number, index } of text.matchAll(/\d(?:[\d.,']*\d)?/g)) {
    const before = text.slice(0, index)
    const after = text.slice(index + number.length)
    const isAlone = before.trim() === '' && after.trim() === ''
    if (isAlone || counted.test(after)) totals.add(cutOff.test(before) ? null : wholeNumber(number, marks))
  }
  const [total = null] = totals
  return totals.size === 1 ? total : null
}

/** Seconds that a search took: a number, or the text of one with either decimal mark. */
export function readSeconds(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? value : null
  if (typeof value !== 'string') return null
  const text = plain(value)
  // `1,200` may be twelve hundred.
  return /^\d{1,9}(?:\.\d{1,9}|,\d{1,2})?$/.test(text) ? Number(text.replace(',', '.')) : null
}

interface Marks {
  readonly group: string
  readonly decimal: string
}

function marksOf(code: string | null): Marks {
  const { language, region } = askedOf(code, null)
  if (language === null) return { group: '', decimal: '' }
  const locale = region === null ? language : `${language}-${region}`
  const parts = new Intl.NumberFormat(`${locale}-u-nu-latn`).formatToParts(1_234_567.5)
  const mark = (wanted: string): string => parts.find(({ type }) => type === wanted)?.value ?? ''
  return { group: plain(`0${mark('group')}0`).slice(1, -1), decimal: mark('decimal') }
}

/** The text with apostrophes for the spaces inside its numbers; a plain space joins only where the language has it so. */
function groupsJoined(value: string, { group }: Marks): string {
  const hard = value.replace(/(?<=\p{Nd})[\u00a0\u202f\u2007\u2009’](?=\p{Nd})/gu, "'").replace(/٬/g, ',')
  const text = plain(hard)
  return group === ' ' ? text.replace(/(?<=\d) (?=\d{3}(?!\d))/g, "'") : text
}

/** The whole number that digits with group marks stand for. One mark alone must not be a decimal one. */
function wholeNumber(text: string, { group, decimal }: Marks): number | null {
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
