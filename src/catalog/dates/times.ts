import { memoized } from '../../model/maps.ts'
import { fold, localesOf } from './languages.ts'

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

const formsOf = memoized(build)

/** A folded text without the time of day at its end or beginning; null if it has none. */
export function withoutTime(text: string, language: string): string | null {
  const forms = formsOf(language)
  const { date } = (text.match(forms.atEnd) ?? text.match(forms.atStart))?.groups ?? {}
  return date ?? null
}

function build(language: string) {
  const own = wordsOf(language)
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
function wordsOf(language: string) {
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
