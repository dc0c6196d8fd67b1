import { addDays } from '../../model/time.ts'
import type { MetricDefinition } from '../metrics/figure.ts'

type MetricUnit = MetricDefinition['unit']

/** A change as people read it, and whether it is good. `same`: none, or no more than the figure usually swings; it is grey everywhere. */
export interface FigureChange {
  /** `▲ 1.3`, `▼ 0.4 points` or `=`. */
  readonly text: string
  readonly way: 'better' | 'worse' | 'same'
}

/** How numbers and days are written in a language. */
export type Formats = ReturnType<typeof formatsOf>

/** The size of an estimate: more digits would claim more than is known. */
export function threeDigits(size: number): number {
  return Math.round(Number(Math.abs(size).toPrecision(3)))
}

/** Changes to more than so many times the amount before say less in percent. */
const mostRelative = 2

/** The day that most keywords are compared with, and the last one. */
export interface ComparedSpan {
  readonly day: string
  readonly until: string
  readonly days: number
}

/**
 * What is compared in words: with the day before, one whole month or a month so far, or with a day.
 *
 * @param dayOf the day whose month is named
 */
export function spanWords(
  { dayBefore, monthName }: Pick<Formats, 'dayBefore' | 'monthName'>,
  [yesterday, month, date]: readonly [yesterday: string, month: string, date: string],
  dayOf: (span: ComparedSpan) => string,
) {
  return (span: ComparedSpan): string => {
    if (span.days === 1) return yesterday
    const first = addDays(span.day, 1)
    const isMonth = first.endsWith('-01') && first.slice(0, 7) === span.until.slice(0, 7)
    return isMonth ? `${month} ${monthName(dayOf(span))}` : `${date} ${dayBefore(span.day, span.until)}`
  }
}

/** The sign of numbers below zero. */
const minus = '\u2212'

/**
 * @param locale a BCP 47 tag such as en-GB
 * @param points what percentage points are called
 */
export function formatsOf(locale: string, points: string) {
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
  const [dayAndMonth, longDay] = [
    day({ day: 'numeric', month: 'long' }),
    day({ day: 'numeric', month: 'long', year: 'numeric' }),
  ]
  /** A share of an amount that changed: `7%`; null where it says less than the amount itself. */
  const relative = (delta: number, before: number): string | null =>
    before <= 0 || Math.abs(delta) > before * mostRelative || Math.abs(delta) * 200 < before
      ? null
      : format(Math.abs(delta) / before, 'percent', 0)
  const size = (value: number, unit: MetricUnit): string => {
    if (unit === 'clicks a month') return format(threeDigits(value), 'decimal', 0)
    const digits = unit === 'keywords' || unit === 'pages' ? 0 : 1
    return format(unit === 'share' ? value * 100 : value, 'decimal', digits)
  }
  return {
    /** A figure as its unit is written: `18.7%`, `11.4`, `53`; estimated clicks with three significant digits. A dash for none. */
    figure: (value: number | null, unit: MetricUnit) =>
      value === null ? '-' : unit === 'share' ? format(value, 'percent', 1) : size(value, unit),
    /** How a figure changed: shares in percentage points, clicks in percent where it is known what they were before. */
    changeOf: (
      delta: number,
      unit: MetricUnit,
      {
        better = 'higher',
        before = null,
        isUsual = false,
        isShort = false,
      }: {
        readonly better?: 'higher' | 'lower' | null
        readonly before?: number | null
        readonly isUsual?: boolean
        /** Without the unit, in a table where each figure has its change beside it. */
        readonly isShort?: boolean
      } = {},
    ): FigureChange => {
      const text = (before === null ? null : relative(delta, before)) ?? size(Math.abs(delta), unit)
      if (!/[1-9]/.test(text)) return { text: '=', way: 'same' }
      const isBetter = delta > 0 === (better === 'higher')
      return {
        text: `${isBetter ? '▲' : '▼'} ${text}${unit === 'share' && !isShort ? ` ${points}` : ''}`,
        way: isUsual || better === null ? 'same' : isBetter ? 'better' : 'worse',
      }
    },
    /** Clicks a month more or fewer, with the sign: `+1,630`, `−4,400`. */
    gain: (clicks: number) => {
      const text = size(clicks, 'clicks a month')
      return text === '0' ? text : `${clicks < 0 ? minus : '+'}${text}`
    },
    relative,
    /** `28 October`, with the year if it is not that of another day. */
    dayBefore: (text: string, until: string) =>
      text.slice(0, 4) === until.slice(0, 4) ? dayAndMonth(text) : longDay(text),
    /** `November`. */
    monthName: day({ month: 'long' }),
    /** `1,234`. */
    number: (value: number) => format(value, 'decimal', 0),
    /** `12.3`: one decimal, unless another number of decimals is asked for. */
    decimal: (value: number, digits = 1) => format(value, 'decimal', digits),
    /** A share between 0 and 1 as `12.3%`. */
    percent: (value: number, digits = 1) => format(value, 'percent', digits),
    /** `20 November 2026`. */
    longDay,
    /** `20 Nov 2026`. */
    mediumDay: day({ day: 'numeric', month: 'short', year: 'numeric' }),
    /** `20 Nov`. */
    shortDay: day({ day: 'numeric', month: 'short' }),
    /** `Nov 2026`. */
    month: day({ month: 'short', year: 'numeric' }),
    /** `a, b and c`. */
    list: (all: readonly string[]) => {
      lists ??= new Intl.ListFormat(locale, { type: 'conjunction' })
      return lists.format(all)
    },
  }
}
