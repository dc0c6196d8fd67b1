import { memoized } from '../../model/memo.ts'
import type { Precision } from '../../model/result.ts'
import { fold, localesOf } from './languages.ts'
import { units, wordsOf } from './words.ts'

/** So many units ago. */
interface Age {
  readonly unit: Precision
  readonly amount: number
}

/** The meaning of a phrase; the amount is null where the text has a number in place of `#`. */
interface Meaning {
  readonly unit: Precision
  readonly amount: number | null
}

type Phrases = ReadonlyMap<string, Meaning>

const styles = ['long', 'short', 'narrow'] as const

/** Letters that are written without spaces between words, so that a space among them says nothing. */
const unspaced = '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}]'
const idleSpace = new RegExp(` ?# ?|(?<=${unspaced}) | (?=${unspaced})`, 'gu')

/** A lone `m` is minutes to some and months or years to others; so is `h`, which Indonesian has for days. */
const loneLetter = /(?<![\p{L}\p{M}])([mмμh])(?![\p{L}\p{M}])/u

/** The age that a folded text says in a language, or null. */
export function ageOf(text: string, language: string): Age | null {
  return exactAge(text, language) ?? aboutAge(text, language)
}

/** The age in a text that says it is about so much: the unit says how exact that is. */
function aboutAge(text: string, language: string): Age | null {
  for (const word of aboutWords(language)) {
    if (!word.test(text)) continue
    const rest = text.replace(word, '').replace(/ {2,}/g, ' ').trim()
    const age = exactAge(rest, language)
    if (age !== null) return age
    // After such a word the one that is left out stands in another case: `около часа назад`.
    if (wordsOf(language, 'bare one') && !/\d/.test(rest)) return exactAge(`1 ${rest}`, language)
  }
  return null
}

const aboutWords = memoized((language) => wordsOf(language, 'about')?.map((word) => aWord(fold(word))) ?? [])

/** The word by itself; a word of an unspaced script, or with a hyphen at its end, may touch the number. */
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

function fixed(meaning: Meaning | undefined): Age | null {
  return meaning === undefined || meaning.amount === null
    ? null
    : { unit: meaning.unit, amount: meaning.amount }
}

/** The age in a text that spells its one out, such as `an hour ago`. */
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

/** All phrases of a language. One that may also mean something else, or the future, is not among them. */
function build(language: string): Phrases {
  const phrases = new Map<string, Meaning | 'ambiguous'>()
  const add = (text: string, age: Meaning | 'ambiguous'): void => {
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
  return new Map([...phrases].filter((entry): entry is [string, Meaning] => entry[1] !== 'ambiguous'))
}

type Add = (text: string, age: Meaning | 'ambiguous') => void

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
    if (isClear(fold(phrase), unit)) add(phrase, { unit, amount: hasNumber(past) ? null : amount })
    // Hebrew says two as a word of its own, and the number only in brackets.
    if (phrase.includes(' (#)')) add(phrase.replace(' (#)', ''), { unit, amount })
    add(templateOf(format.formatToParts(amount, unit)), 'ambiguous')
  }
}

/** Amounts that bring out every plural, and the words that languages have for one and two of something. */
function amountsOf(locale: string): readonly number[] {
  const rules = new Intl.PluralRules(locale)
  const samples = new Map(
    Array.from({ length: 101 }, (_, index) => [rules.select(index + 1), index + 1] as const),
  )
  return [...new Set([1, 2, 3, ...samples.values()])]
}

function hasNumber(parts: readonly Intl.RelativeTimeFormatPart[]): boolean {
  return parts.some(({ type }) => type === 'integer')
}

function templateOf(parts: readonly Intl.RelativeTimeFormatPart[]): string {
  return parts.map(({ type, value }) => (type === 'integer' ? '#' : value)).join('')
}

function bare(parts: readonly Intl.RelativeTimeFormatPart[]): string {
  return parts.map(({ type, value }) => (type === 'integer' ? '' : value)).join('')
}

/** Whether a phrase of Intl says its unit and that it is past; `-3 h` alone does not. */
function isClear(phrase: string, unit: Precision): boolean {
  const letter = phrase.match(loneLetter)?.[1]
  return !phrase.startsWith('-') && (letter === undefined || (letter === 'h' && unit === 'hour'))
}

function isSame(one: Meaning, other: Meaning): boolean {
  return one.unit === other.unit && one.amount === other.amount
}
