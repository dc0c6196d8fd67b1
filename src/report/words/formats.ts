/** How numbers and days are written in a language. */
export interface Formats {
  /** `1,234`. */
  readonly number: (value: number) => string
  /** `12.3`: one decimal, unless another number of decimals is asked for. */
  readonly decimal: (value: number, digits?: number) => string
  /** A share between 0 and 1 as `12.3%`. */
  readonly percent: (value: number, digits?: number) => string
  /** `20 November 2026`. */
  readonly longDay: (day: string) => string
  /** `20 Nov 2026`. */
  readonly mediumDay: (day: string) => string
  /** `20 Nov`. */
  readonly shortDay: (day: string) => string
  /** `Nov 2026`. */
  readonly month: (day: string) => string
  /** `a, b and c`. */
  readonly list: (all: readonly string[]) => string
}

/** The sign of numbers below zero. */
export const minus = '\u2212'

/** @param locale a BCP 47 tag such as en-GB */
export function formatsOf(locale: string): Formats {
  const numbers = new Map<string, Intl.NumberFormat>()
  const format = (value: number, style: 'decimal' | 'percent', digits: number): string => {
    const key = `${style}${digits}`
    let known = numbers.get(key)
    if (known === undefined) {
      known = new Intl.NumberFormat(locale, {
        style,
        minimumFractionDigits: digits,
        maximumFractionDigits: digits,
      })
      numbers.set(key, known)
    }
    return known.format(value).replace('-', minus)
  }
  const day = (options: Intl.DateTimeFormatOptions) => {
    // Made when it is needed: the browser takes milliseconds for each.
    let dates: Intl.DateTimeFormat | undefined
    return (text: string): string => {
      if (text === '') return ''
      dates ??= new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' })
      return dates.format(Date.parse(text))
    }
  }
  let lists: Intl.ListFormat | undefined
  return {
    number: (value) => format(value, 'decimal', 0),
    decimal: (value, digits = 1) => format(value, 'decimal', digits),
    percent: (value, digits = 1) => format(value, 'percent', digits),
    longDay: day({ day: 'numeric', month: 'long', year: 'numeric' }),
    mediumDay: day({ day: 'numeric', month: 'short', year: 'numeric' }),
    shortDay: day({ day: 'numeric', month: 'short' }),
    month: day({ month: 'short', year: 'numeric' }),
    list: (all) => {
      lists ??= new Intl.ListFormat(locale, { type: 'conjunction' })
      return lists.format(all)
    },
  }
}
