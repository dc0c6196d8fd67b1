import { say } from './language.ts'

export { count } from '../../../model/text.ts'

/** `1,234`. */
export const number = (value: number): string => say.number(value)
/** `12.3`, one decimal by default. */
export const decimal = (value: number, digits?: number): string => say.decimal(value, digits)
/** A share between 0 and 1 as `12.3%`. */
export const percent = (value: number, digits?: number): string => say.percent(value, digits)
/** `20 November 2026`. */
export const longDay = (day: string): string => say.longDay(day)
/** `20 Nov`. */
export const shortDay = (day: string): string => say.shortDay(day)
/** `20 Nov 2026`. */
export const mediumDay = (day: string): string => say.mediumDay(day)
/** `Nov 2026`. */
export const month = (day: string): string => say.month(day)

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
