/** Language -> the locales whose words it may use. */
const locales: Readonly<Record<string, readonly string[]>> = {
  af: ['af'],
  ar: ['ar', 'ar-LB', 'ar-MA', 'ar-DZ'],
  be: ['be'],
  bg: ['bg'],
  bn: ['bn'],
  ca: ['ca'],
  cs: ['cs'],
  da: ['da'],
  de: ['de', 'de-AT'],
  el: ['el'],
  en: ['en-US', 'en-GB'],
  es: ['es', 'es-MX'],
  et: ['et'],
  fa: ['fa'],
  fi: ['fi'],
  fil: ['fil'],
  fr: ['fr', 'fr-CA'],
  he: ['he'],
  hi: ['hi'],
  hr: ['hr'],
  hu: ['hu'],
  id: ['id'],
  is: ['is'],
  it: ['it'],
  ja: ['ja'],
  ko: ['ko'],
  lt: ['lt'],
  lv: ['lv'],
  mr: ['mr'],
  ms: ['ms'],
  nb: ['nb', 'nn'],
  nl: ['nl'],
  pl: ['pl'],
  pt: ['pt-BR', 'pt-PT'],
  ro: ['ro'],
  ru: ['ru'],
  sk: ['sk'],
  sl: ['sl'],
  sr: ['sr', 'sr-Latn'],
  sv: ['sv'],
  sw: ['sw'],
  ta: ['ta'],
  te: ['te'],
  th: ['th'],
  tr: ['tr'],
  uk: ['uk'],
  vi: ['vi'],
  zh: ['zh-Hans', 'zh-Hant'],
}

export const languages: readonly string[] = Object.keys(locales)

/** Codes of old, and those of languages that are read with another one. */
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

/** A language of ours, and the region where dates are written as in the text, as far as they are known. */
export interface Asked {
  readonly language: string | null
  readonly region: string | null
}

/** What a code such as `de`, `pt-BR` or `zh-TW` stands for. Its own region goes before the country of the search. */
export function askedOf(code: string | null, country: string | null): Asked {
  const [name = '', ...rest] = (code ?? '').toLowerCase().split(/[-_]/)
  const known = otherNames[name] ?? name
  const own = rest.find((part) => /^[a-z]{2}$/.test(part))
  const region = own ?? country?.toLowerCase() ?? ''
  return {
    language: Object.hasOwn(locales, known) && isBuiltIn(known) ? known : null,
    region: /^[a-z]{2}$/.test(region) ? region.toUpperCase() : null,
  }
}

/** The locales of a language, with the calendar and the digits that everything is compared in. */
export function localesOf(language: string): readonly string[] {
  return (locales[language] ?? []).map((locale) => `${locale}-u-ca-gregory-nu-latn`)
}

/** Languages that a text may be in by its letters. */
export function languagesOf(text: string): readonly string[] {
  return languages.filter((language) =>
    (locales[language] ?? []).some((locale) =>
      scripts[new Intl.Locale(locale).maximize().script ?? '']?.test(text),
    ),
  )
}

/** A build of Node without all languages answers in English for those that it lacks. */
function isBuiltIn(language: string): boolean {
  return Intl.DateTimeFormat.supportedLocalesOf([language]).length === 1
}
