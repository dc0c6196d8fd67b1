export { count } from '../../../model/text.ts'

const minus = '\u2212'
const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const months = 'January February March April May June July August September October November December'.split(
  ' ',
)

/** `1,234`. */
export function number(value: number): string {
  return whole.format(value).replace('-', minus)
}

/** `12.3`, one decimal at most. */
export function decimal(value: number, digits = 1): string {
  return value.toFixed(digits).replace('-', minus)
}

/** A share between 0 and 1 as `12.3%`. */
export function percent(value: number, digits = 1): string {
  return `${decimal(value * 100, digits)}%`
}

/** `20 November 2026`. */
export function longDay(day: string): string {
  return `${Number(day.slice(8))} ${monthOf(day)} ${day.slice(0, 4)}`
}

/** `20 Nov`. */
export function shortDay(day: string): string {
  return `${Number(day.slice(8))} ${monthOf(day).slice(0, 3)}`
}

/** `20 Nov 2026`. */
export function mediumDay(day: string): string {
  return `${shortDay(day)} ${day.slice(0, 4)}`
}

/** `Nov 2026`. */
export function month(day: string): string {
  return `${monthOf(day).slice(0, 3)} ${day.slice(0, 4)}`
}

function monthOf(day: string): string {
  return months[Number(day.slice(5, 7)) - 1] ?? ''
}

/** A link without its scheme, `www.` and last slash. */
export function shortLink(link: string): string {
  return readable(link.replace(/^https?:\/\/(www\.)?/i, '').replace(/\/$/, ''))
}

/**
 * A link for display, with letters instead of percent codes. ASCII stays encoded, because it may separate or end parts of the
 * link. Controls, spaces, direction marks and ignorable characters stay encoded, because they are invisible or change how the
 * rest looks.
 */
export function readable(link: string): string {
  return link.replace(/(?:%[0-9a-f]{2})+/gi, (codes) => {
    try {
      return [...decodeURIComponent(codes)].map((sign) => (isShown(sign) ? sign : encoded(sign))).join('')
    } catch {
      return codes
    }
  })
}

function isShown(sign: string): boolean {
  return (
    sign > '\u007f' &&
    /[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(sign) &&
    !/\p{Default_Ignorable_Code_Point}/u.test(sign)
  )
}

function encoded(sign: string): string {
  const code = sign.charCodeAt(0)
  return code > 0x7f ? encodeURIComponent(sign) : `%${code.toString(16).toUpperCase().padStart(2, '0')}`
}

/** The path of a link, with its query string. */
export function pathOf(link: string): string {
  const path = shortLink(link).replace(/^[^/?#]*/, '')
  return path === '' ? '/' : path
}

export function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
