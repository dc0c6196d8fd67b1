import { memoized } from '../../model/maps.ts'
import type { Precision } from '../../model/result.ts'
import { fold, localesOf, units, wordsOf } from './languages.ts'

/** A time ago, for instance 3 days. */
interface Age {
  readonly unit: Precision
  readonly amount: number
}

/** The meaning of a phrase; the amount is null if the text has a number in place of `#`. */
interface AgeMeaning {
  readonly unit: Precision
  readonly amount: number | null
}

type Phrases = ReadonlyMap<string, AgeMeaning>

const styles = ['long', 'short', 'narrow'] as const

/** Scripts without spaces between words; a space between their letters has no meaning. */
const unspaced = '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}]'
const idleSpace = new RegExp(` ?# ?|(?<=${unspaced}) | (?=${unspaced})`, 'gu')

/** A single `m` may mean minutes, months or years; `h` means days in Indonesian. */
const loneLetter = /(?<![\p{L}\p{M}])([mмμh])(?![\p{L}\p{M}])/u

/** The age in a folded text of a language, or null. */
export function ageOf(text: string, language: string): Age | null {
  return exactAge(text, language) ?? aboutAge(text, language)
}

/** The age in a text with a word such as `about`; its precision is the unit. */
function aboutAge(text: string, language: string): Age | null {
  for (const word of aboutWords(language)) {
    if (!word.test(text)) continue
    const rest = text.replace(word, '').replace(/ {2,}/g, ' ').trim()
    const age = exactAge(rest, language)
    if (age !== null) return age
    // A number one that is left out changes the case of the unit: `около часа назад`.
    if (wordsOf(language, 'bare one') && !/\d/.test(rest)) return exactAge(`1 ${rest}`, language)
  }
  return null
}

const aboutWords = memoized((language) => wordsOf(language, 'about')?.map((word) => aWord(fold(word))) ?? [])

/** Finds the word; a word of an unspaced script, or one that ends in a hyphen, may touch the number. */
function aWord(word: string): RegExp {
  const end = new RegExp(`(?:${unspaced}|-)$`, 'u').test(word) ? '' : '(?![\\p{L}\\p{M}])'
  return new RegExp(`(?<![\\p{L}\\p{M}])${word}${end}`, 'u')
}

function exactAge(text: string, language: string): Age | null {
  const phrases = phrasesOf(language)
  const amount = text.match(/\d+/)?.[0]
  if (amount === undefined) return fixed(phrases.get(keyOf(text))) ?? oneOf(text, language)
  const age = phrases.get(keyOf(text.replace(amount, '#')))
  return age?.amount === null ? { unit: age.unit, amount: Number(amount) } : null
}

function fixed(meaning: AgeMeaning | undefined): Age | null {
  return meaning === undefined || meaning.amount === null
    ? null
    : { unit: meaning.unit, amount: meaning.amount }
}

/** The age in a text with a word for one, such as `an hour ago`. */
function oneOf(text: string, language: string): Age | null {
  const words = text.replace(/(?<=\p{L}')(?=\p{L})/u, ' ').split(' ')
  const ones = wordsOf(language, 'ones')?.map(fold) ?? []
  const at = words.findIndex((word) => ones.includes(word))
  if (at < 0) return null
  const age = phrasesOf(language).get(keyOf(words.with(at, '#').join(' ')))
  return age?.amount === null ? { unit: age.unit, amount: 1 } : null
}

const phrasesOf = memoized(build)

function keyOf(phrase: string): string {
  return phrase.replace(idleSpace, (found) => (found.includes('#') ? '#' : ''))
}

/** All phrases of a language, without those that have another meaning as well or may be the future. */
function build(language: string): Phrases {
  const phrases = new Map<string, AgeMeaning | 'ambiguous'>()
  const add = (text: string, age: AgeMeaning | 'ambiguous'): void => {
    const phrase = keyOf(fold(text))
    const known = phrases.get(phrase)
    if (known === undefined) phrases.set(phrase, age)
    else if (known === 'ambiguous' || age === 'ambiguous' || !isSame(known, age))
      phrases.set(phrase, 'ambiguous')
  }
  for (const locale of localesOf(language))
    addLocale(locale, wordsOf(language, 'bare one') !== undefined, add)
  for (const unit of units)
    for (const phrase of wordsOf(language, unit) ?? [])
      add(phrase, { unit, amount: phrase.includes('#') ? null : 1 })
  for (const phrase of wordsOf(language, 'now') ?? []) add(phrase, { unit: 'minute', amount: 0 })
  const variants = (wordsOf(language, 'variants') ?? []).map((variant) => {
    const [from = '', to = ''] = variant.split(' > ')
    return [new RegExp(from), to] as const
  })
  for (const [phrase, age] of [...phrases])
    for (const [from, to] of variants) if (from.test(phrase)) add(phrase.replace(from, to), age)
  return new Map([...phrases].filter((entry): entry is [string, AgeMeaning] => entry[1] !== 'ambiguous'))
}

type Add = (text: string, age: AgeMeaning | 'ambiguous') => void

function addLocale(locale: string, bareOne: boolean, add: Add): void {
  const amounts = amountsOf(locale)
  for (const style of styles) {
    const always = new Intl.RelativeTimeFormat(locale, { style, numeric: 'always' })
    const auto = new Intl.RelativeTimeFormat(locale, { style, numeric: 'auto' })
    for (const unit of units) {
      for (const amount of amounts) addAmount(always, auto, amount, unit, add)
      if (bareOne && style === 'long') add(bare(always.formatToParts(-1, unit)), { unit, amount: 1 })
    }
    add(auto.format(0, 'day'), { unit: 'day', amount: 0 })
  }
}

function addAmount(
  always: Intl.RelativeTimeFormat,
  auto: Intl.RelativeTimeFormat,
  amount: number,
  unit: Precision,
  add: Add,
): void {
  for (const format of [always, auto]) {
    const past = format.formatToParts(-amount, unit)
    const phrase = templateOf(past)
    const hasNumber = past.some(({ type }) => type === 'integer')
    if (isClear(fold(phrase), unit)) add(phrase, { unit, amount: hasNumber ? null : amount })
    // Hebrew has a word for two and adds the number in brackets.
    if (phrase.includes(' (#)')) add(phrase.replace(' (#)', ''), { unit, amount })
    add(templateOf(format.formatToParts(amount, unit)), 'ambiguous')
  }
}

/** Amounts that produce every plural form, and the words of languages for one and two of a unit. */
function amountsOf(locale: string): readonly number[] {
  const rules = new Intl.PluralRules(locale)
  const samples = new Map(
    Array.from({ length: 101 }, (_, index) => [rules.select(index + 1), index + 1] as const),
  )
  return [...new Set([1, 2, 3, ...samples.values()])]
}

function templateOf(parts: readonly Intl.RelativeTimeFormatPart[]): string {
  return parts.map(({ type, value }) => (type === 'integer' ? '#' : value)).join('')
}

function bare(parts: readonly Intl.RelativeTimeFormatPart[]): string {
  return parts.map(({ type, value }) => (type === 'integer' ? '' : value)).join('')
}

/** Whether a phrase of Intl names its unit and the past; `-3 h` does not. */
function isClear(phrase: string, unit: Precision): boolean {
  const letter = phrase.match(loneLetter)?.[1]
  return !phrase.startsWith('-') && (letter === undefined || (letter === 'h' && unit === 'hour'))
}

function isSame(one: AgeMeaning, other: AgeMeaning): boolean {
  return one.unit === other.unit && one.amount === other.amount
}
