const minus = '\u2212'
const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const dayLong = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })
const dayShort = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
const monthYear = new Intl.DateTimeFormat('en-GB', { month: 'short', year: 'numeric', timeZone: 'UTC' })

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

/** `+3`, `−3` with a real minus sign, `0`. */
export function signed(text: string, value: number): string {
  return value > 0 ? `+${text}` : text
}

/** `20 November 2026`. */
export function longDay(day: string): string {
  return dayLong.format(Date.parse(day))
}

/** `20 Nov`. */
export function shortDay(day: string): string {
  return dayShort.format(Date.parse(day))
}

/** `20 Nov 2026`. */
export function mediumDay(day: string): string {
  return `${shortDay(day)} ${day.slice(0, 4)}`
}

/** `Nov 2026`. */
export function month(day: string): string {
  return monthYear.format(Date.parse(day))
}

/** `1 keyword`, `1,200 keywords`. */
export function count(value: number, noun: string, plural = `${noun}s`): string {
  return `${number(value)} ${value === 1 ? noun : plural}`
}

/** A link as short as it can be told from others of its site: host and path. */
export function shortLink(link: string): string {
  return link.replace(/^https?:\/\/(www\.)?/i, '').replace(/\/$/, '')
}

/** The path of a link, where its host says nothing new. */
export function pathOf(link: string): string {
  const path = shortLink(link).replace(/^[^/?#]*/, '')
  return path === '' ? '/' : path
}
