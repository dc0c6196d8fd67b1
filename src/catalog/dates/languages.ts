import { languages, wordsOf } from './words.ts'

/** Old codes, and codes of languages that are read as another one. */
const otherNames: Readonly<Record<string, string>> = { in: 'id', iw: 'he', nn: 'nb', no: 'nb', tl: 'fil' }

const scripts: Readonly<Record<string, RegExp>> = {
  Arab: /\p{Script=Arabic}/u,
  Beng: /\p{Script=Bengali}/u,
  Cyrl: /\p{Script=Cyrillic}/u,
  Deva: /\p{Script=Devanagari}/u,
  Grek: /\p{Script=Greek}/u,
  Hans: /\p{Script=Han}/u,
  Hant: /\p{Script=Han}/u,
  Hebr: /\p{Script=Hebrew}/u,
  Jpan: /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u,
  Kore: /\p{Script=Hangul}/u,
  Latn: /\p{Script=Latin}/u,
  Taml: /\p{Script=Tamil}/u,
  Telu: /\p{Script=Telugu}/u,
  Thai: /\p{Script=Thai}/u,
}

/**
 * The language and region of a code such as `de`, `pt-BR` or `zh-TW`; null for a language that is not in the table, and for an
 * unknown region. A region in the code takes precedence over the country.
 */
export function textLocaleOf(code: string | null, country: string | null) {
  const [name = '', ...rest] = (code ?? '').toLowerCase().split(/[-_]/)
  const known = otherNames[name] ?? name
  const own = rest.find((part) => /^[a-z]{2}$/.test(part))
  const region = own ?? country?.toLowerCase() ?? ''
  return {
    language: languages.includes(known) && isBuiltIn(known) ? known : null,
    region: /^[a-z]{2}$/.test(region) ? region.toUpperCase() : null,
  }
}

/** The locales of a language, with the Gregorian calendar and Latin digits. */
export function localesOf(language: string): readonly string[] {
  return (wordsOf(language, 'locales') ?? [language]).map((locale) => `${locale}-u-ca-gregory-nu-latn`)
}

/** The languages that a text may be in, judged by its letters. */
export function languagesOf(text: string): readonly string[] {
  return languages.filter((language) =>
    localesOf(language).some((locale) =>
      scripts[new Intl.Locale(locale).maximize().script ?? '']?.test(text),
    ),
  )
}

/** A build of Node that lacks a language uses English for it. */
function isBuiltIn(language: string): boolean {
  return Intl.DateTimeFormat.supportedLocalesOf([language]).length === 1
}

/** The zeros of other scripts; the nine other digits follow each zero. */
const zeros = [...'٠۰०০੦૦୦௦౦೦൦๐໐༠၀០᠐０'].map((zero) => zero.charCodeAt(0))

/** Signs with the same meaning; Arabic and Persian, for instance, write two letters differently. */
const equivalents: readonly (readonly [sign: RegExp, same: string])[] = [
  [/[‐‑−]/g, '-'],
  [/['’ʼ׳`´]/g, "'"],
  [/ı/g, 'i'],
  [/[يى]/g, 'ی'],
  [/ك/g, 'ک'],
]

/** Accents, and the vowel signs of Arabic and Hebrew; the marks of Indic and Thai letters are not accents. */
const accents = /[\u0300-\u036f\u064b-\u0655\u0591-\u05c7]/g

/** Text with ASCII digits, single spaces and narrow signs, without invisible characters. */
export function plain(text: string): string {
  return text
    .replace(/\p{Nd}/gu, latin)
    .replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replace(/\p{Cf}/gu, '')
    .replace(/[\s\p{Zs}]+/gu, ' ')
    .trim()
}

/** Text for comparison: without case, accents and dots of abbreviations. */
export function fold(text: string): string {
  const bare = plain(text).toLowerCase().normalize('NFD').replace(accents, '').normalize('NFC')
  return equivalents
    .reduce((rest, [sign, same]) => rest.replace(sign, same), bare)
    .replace(/(?<=[\p{L}\p{M}])[.॰]/gu, '')
}

function latin(digit: string): string {
  const code = digit.charCodeAt(0)
  const zero = zeros.find((start) => code >= start && code < start + 10)
  return zero === undefined ? digit : String(code - zero)
}
