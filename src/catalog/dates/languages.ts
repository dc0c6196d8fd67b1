import type { Precision } from '../../model/result.ts'
import { memoized } from '../../model/text.ts'

/** The words for dates that Intl does not know. */
type WordField =
  /** Locales whose words the language uses; by default the language itself. */
  | 'locales'
  /** Words that make the number of an age inexact and keep its unit. */
  | 'about'
  /** Words for the one in `an hour ago`. */
  | 'ones'
  /** A number one is left out, as in `час назад`. The field has no words. */
  | 'bare one'
  | 'now'
  /** Further phrases for an age; `#` stands for the number, which is one if `#` is missing. */
  | Unit
  /** Variants of phrases, as `pattern > replacement`. They apply to folded phrases, which have no space next to `#`. */
  | 'variants'
  /** Words without a meaning in calendar dates, such as `de` or `den`, that Intl does not write. */
  | 'fillers'

const units = ['second', 'minute', 'hour', 'day', 'week', 'month', 'year'] as const
type Unit = (typeof units)[number]

const rows = `
af | ones: 'n, een
ar | locales: ar, ar-LB, ar-MA, ar-DZ; about: حوالي, نحو, تقريبا; now: للتو; variants: ^قبل > منذ
be | about: каля, прыкладна, прыблізна; ones: адну, адзін; bare one; now: толькі што
bg | about: около, приблизително; ones: един, една; bare one; now: току-що; fillers: година
bn | about: প্রায়, আনুমানিক; ones: এক, একটি; now: এইমাত্র; variants: পূর্বে$ > আগে, আগে$ > পূর্বে, ঘণ্টা > ঘন্টা, ঘন্টা > ঘণ্টা
ca | about: aproximadament, uns, unes; ones: un, una; now: ara mateix; fillers: el, de, del
cs | about: asi, přibližně, zhruba, cca; bare one; now: právě teď; hour: před # hod; fillers: dne
da | about: omkring, cirka, ca, omtrent, ungefær; ones: en, et; now: lige nu; variants: ^for# > #; fillers: d
de | locales: de, de-AT; about: etwa, ca, circa, zirka, ungefähr, rund; ones: einer, einem; now: gerade eben, soeben;
    fillers: am, den, der
el | about: περίπου; ones: μία, ένα, έναν; now: μόλις τώρα; day: πριν από # μέρες, πριν από # μέρα;
    year: πριν από # χρόνια, πριν από # χρόνο; variants: ^πριν απο# > πριν#; fillers: του, στις
en | locales: en-US, en-GB; about: about, around, approximately, approx, roughly; ones: a, an, one; now: just now, now;
    second: # secs ago, # s ago; minute: # mins ago, # m ago; hour: # hrs ago; day: # d ago; week: # wks ago; month: # mos ago;
    year: # yrs ago; fillers: on, of, the, st, nd, rd, th
es | locales: es, es-MX; about: unos, unas, aproximadamente, cerca de, alrededor de; ones: un, una;
    now: ahora mismo, justo ahora; hour: hace # hs; variants: ^hace(#.*)$ > $1 atras; fillers: el, del, º
et | about: umbes, ligikaudu; now: just nüüd; second: # sekundit tagasi, # sekund tagasi;
    minute: # minutit tagasi, # minut tagasi; hour: # tundi tagasi, # tund tagasi; day: # päeva tagasi, # päev tagasi;
    week: # nädalat tagasi, # nädal tagasi; month: # kuud tagasi, # kuu tagasi; year: # aastat tagasi, # aasta tagasi
fa | about: حدود, حدودا, تقریبا; ones: یک; now: همین حالا, هم اکنون; variants: پیش$ > قبل
fi | about: noin; ones: yksi; bare one; now: juuri nyt
fil | ones: isang; now: ngayon lang; variants: ^(.*?) ?ang nakalipas$ > $1 na ang nakalipas, ang nakalipas$ > nakalipas;
    fillers: noong, ika
fr | locales: fr, fr-CA; about: environ, à peu près; ones: un, une; now: à l'instant, à l’instant même; fillers: le, er
he | about: בערך, כ-; now: ממש עכשיו, זה עתה
hi | about: लगभग, करीब; ones: एक; now: अभी-अभी; second: # सेकेंड पहले, # सेकण्ड पहले;
    hour: # घंटा पहले, # घण्टे पहले, # घण्टा पहले; week: # हफ़्ते पहले, # हफ़्ता पहले, # हफ्ते पहले, # हफ्ता पहले;
    month: # महीने पहले, # महीना पहले; year: # साल पहले
hr | about: oko, otprilike; bare one; now: upravo sada
hu | about: körülbelül, kb, nagyjából; ones: egy; now: épp most; second: # másodperce; minute: # perce; hour: # órája;
    day: # napja; week: # hete; month: # hónapja; year: # éve; fillers: an, en
id | about: sekitar, kira-kira; now: baru saja; minute: semenit yang lalu, semenit lalu; hour: sejam yang lalu, sejam lalu;
    day: sehari yang lalu, sehari lalu; week: seminggu yang lalu, seminggu lalu; month: sebulan yang lalu, sebulan lalu;
    year: setahun yang lalu, setahun lalu; variants: yang lalu$ > lalu, yang lalu$ > yg lalu
is | about: um það bil, um; ones: einni, einum, einu; now: rétt í þessu; fillers: hinn
it | about: circa; ones: un', un, una, uno; now: proprio ora; fillers: il, º
ja | about: 約, およそ; now: たった今, たったいま; variants: か月前$ > ヶ月前, か月前$ > カ月前, か月前$ > ヵ月前, か月前$ > ケ月前
ko | about: 약; now: 방금, 방금 전; hour: 한 시간 전; day: 하루 전; week: # 주일 전; month: # 달 전, 한 달 전
lt | about: maždaug, apie; bare one; now: ką tik
lv | about: apmēram, aptuveni; bare one; now: tikko
mr | about: सुमारे; now: आत्ताच
ms | about: kira-kira, sekitar; now: baru sahaja; variants: lalu$ > yang lalu
nb | locales: nb, nn; about: omtrent, cirka, ca, omkring, rundt; ones: en, én, ett, et, ei; now: akkurat nå;
    day: for # dager siden, for # dag siden, # dager siden, # dag siden; month: for # mnd siden, # mnd siden;
    variants: ^for# > #; fillers: den
nl | about: ongeveer, circa, ca, zo'n; ones: een, één; now: zojuist; hour: # u geleden, # uren geleden; fillers: op, e
pl | about: około, ok; ones: jedną, jeden; bare one; now: właśnie teraz; hour: # h temu; day: dnia temu; week: tygodnia temu;
    month: miesiąca temu; year: roku temu; fillers: dnia, r, roku
pt | locales: pt-BR, pt-PT; about: cerca de, aproximadamente, uns, umas; ones: um, uma; now: agora mesmo;
    variants: ^ha(#.*)$ > $1 atras, ^ha(#.*)$ > ha$1 atras; fillers: em, º
ro | about: circa, aproximativ; ones: un, o; now: chiar acum; variants: ^acum# > in urma cu#; fillers: pe
ru | about: около, примерно, приблизительно; ones: один, одну; bare one; now: только что; hour: # час. назад; day: # д назад;
    fillers: год, года
sk | about: asi, približne, zhruba, cca; bare one; now: práve teraz; hour: pred # hod
sl | about: približno, okoli, okrog; ones: eno, enim; bare one; now: pravkar; fillers: dne
sr | locales: sr, sr-Latn; about: око, oko, отприлике, otprilike; bare one; now: управо сада, upravo sada
sv | about: cirka, ca, ungefär, omkring; ones: en, ett; now: just nu; hour: för # tim sen; variants: ^for# > #; fillers: den
sw |
ta |
te |
th | about: ประมาณ; now: เมื่อสักครู่, เมื่อสักครู่นี้, เมื่อครู่;
    variants: ที่ผ่านมา$ > ที่แล้ว, ที่ผ่านมา$ > ก่อน, ที่แล้ว$ > ที่ผ่านมา, ที่แล้ว$ > ก่อน; fillers: ที่, คศ, พศ
tr | about: yaklaşık; ones: bir; now: şu anda
uk | about: близько, приблизно; ones: один, одну; bare one; now: щойно; variants: тому$ > назад; fillers: рік, року
vi | about: khoảng; ones: một; now: vừa xong
zh | locales: zh-Hans, zh-Hant; about: 大约, 大約, 大概, 约, 約; now: 刚刚, 剛剛, 刚才, 剛才; minute: # 分前; hour: # 個小時前, # 个小时前, # 个钟头前;
    day: # 日前; week: # 个星期前, # 個星期前, # 星期前, # 週前, # 周前; variants: 前$ > 以前, 前$ > 之前
`

let table: ReadonlyMap<string, ReturnType<typeof readRow>[1]> | undefined

/** Read for the first date: most commands read none. */
function wordsByLanguage() {
  table ??= new Map(
    rows
      .trim()
      .split(/\n(?! )/)
      .map(readRow),
  )
  return table
}

function readRow(row: string): [language: string, fields: Partial<Record<string, readonly string[]>>] {
  const [language = '', written = ''] = row.replaceAll(/\n +/g, ' ').split(' |')
  const fields = written.split(';').map((field) => field.trim().split(/: ?/))
  return [
    language,
    Object.fromEntries(fields.map(([name, words = '']) => [name, words === '' ? [] : words.split(', ')])),
  ]
}

/** The codes of all languages of the table. */
export function languages(): readonly string[] {
  return [...wordsByLanguage().keys()]
}

/** The words of a language in the table; undefined if it has none of the kind. */
function wordsOf(language: string, field: WordField): readonly string[] | undefined {
  return wordsByLanguage().get(language)?.[field]
}

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
    language: wordsByLanguage().has(known) && isBuiltIn(known) ? known : null,
    region: /^[a-z]{2}$/.test(region) ? region.toUpperCase() : null,
  }
}

/** The locales of a language, with the Gregorian calendar and Latin digits. */
function localesOf(language: string): readonly string[] {
  return (wordsOf(language, 'locales') ?? [language]).map((locale) => `${locale}-u-ca-gregory-nu-latn`)
}

/** The languages that a text may be in, judged by its letters. */
function languagesOf(text: string): readonly string[] {
  return languages().filter((language) =>
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
function ageOf(text: string, language: string): Age | null {
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

const phrasesOf = memoized(agePhrases)

function keyOf(phrase: string): string {
  return phrase.replace(idleSpace, (found) => (found.includes('#') ? '#' : ''))
}

/** All phrases of a language, without those that have another meaning as well or may be the future. */
function agePhrases(language: string): Phrases {
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

/** Words before a time that Intl does not write, folded, of all languages. The rest of the text must be a whole day. */
const before: readonly string[] = (
  'at|@|um|a|a las|a la|a les|alle|alle ore|ore|as|om|kl|klockan|klo|o|godz|o godz|v|ve|в|о|об|у|saat|στις|la|ora|la ora|' +
  'pukul|jam|luc'
).split('|')

/** Words after a time, and time zones: the zone does not change the written day. */
const after: readonly string[] =
  'uhr|uur|u|h|hs|hrs|ч|น|wib|z|utc|gmt|est|edt|cst|cdt|mst|mdt|pst|pdt|bst|cet|cest|eet|eest|msk|ist|jst|kst|aest|aedt'.split(
    '|',
  )

const halves: readonly string[] = 'am|pm|a m|p m|上午|下午|凌晨|早上|中午|晚上|午前|午後|오전|오후'.split('|')

const hour = '(?:[01]?\\d|2[0-3])'
/** `8時00分` and `8시 00분`. */
const marked = `${hour} ?(?:[時时点點]|시)(?: ?[0-5]?\\d ?[分분])?`

const formsOf = memoized(timeForms)

/** A folded text without the time of day at its end or beginning; null if it has none. */
function withoutTime(text: string, language: string): string | null {
  const forms = formsOf(language)
  const { date } = (text.match(forms.atEnd) ?? text.match(forms.atStart))?.groups ?? {}
  return date ?? null
}

function timeForms(language: string) {
  const own = intlWordsOf(language)
  const half = anyOf([...halves, ...own.halves])
  const tail = anyOf([...after, ...own.after])
  const leads = anyOf([...before, ...own.before])
  const sign = `[:${own.separators}]`
  const minutes = `[0-5]\\d(?:${sign}[0-5]\\d(?:\\.\\d{1,9})?)?`
  const digits = `${hour}(?:${sign}| ?h ?)${minutes}|${hour} ?h(?: ?[0-5]\\d ?min(?: ?[0-5]\\d ?s)?)?`
  const time = `(?:(?:${half}) ?)?(?:${digits}|${marked})(?: ?(?:${half}))?|${hour} ?(?:${half})`
  const whole = `(?:${time})(?: ?(?:${tail}))?`
  const lead = `(?:(?:, ?| )(?:(?:${leads}) )?|(?<=\\d)t(?=\\d)|(?<=[日일號号]))`
  return {
    atEnd: new RegExp(`^(?<date>.*\\d.*?)${lead}${whole}$`, 'u'),
    atStart: new RegExp(`^(?:(?:${leads}) )?${whole},? (?<date>.*\\d.*)$`, 'u'),
  }
}

/** The words of Intl around a time next to a date. */
function intlWordsOf(language: string) {
  const befores = new Set<string>()
  const afters = new Set<string>()
  const own = new Set<string>()
  const separators = new Set<string>()
  for (const locale of localesOf(language))
    for (const dateStyle of ['medium', 'long', 'full'] as const) {
      const format = new Intl.DateTimeFormat(locale, { dateStyle, timeStyle: 'short', timeZone: 'UTC' })
      for (let hours = 0; hours < 24; hours++) {
        const parts = format.formatToParts(Date.UTC(2025, 0, 5, hours))
        const at = parts.findIndex(({ type }) => type === 'hour' || type === 'dayPeriod')
        befores.add(wordOf(parts[at - 1]?.value))
        afters.add(wordOf(parts.at(-1)?.type === 'literal' ? parts.at(-1)?.value : ''))
        for (const { type, value } of parts) if (type === 'dayPeriod') own.add(fold(value))
        const between = parts[parts.findIndex(({ type }) => type === 'minute') - 1]?.value ?? ':'
        if (/^[:.]$/.test(between)) separators.add(between)
      }
    }
  return { before: [...befores], after: [...afters], halves: [...own], separators: [...separators].join('') }
}

function wordOf(literal = ''): string {
  return fold(literal)
    .replace(/^[.,،、 ]+|[,،、]$/g, '')
    .trim()
}

function anyOf(words: readonly string[]): string {
  const known = [...new Set(words)].filter((word) => word !== '').sort((a, b) => b.length - a.length)
  return known.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')
}

/** What is known of the languages that dates are written in. */
export const dateLanguages = {
  of: languagesOf,
  locales: localesOf,
  age: ageOf,
  words: wordsOf,
  withoutTime,
}
