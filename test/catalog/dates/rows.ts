import type { Precision } from '../../../src/model/result.ts'

/** Noon of a Tuesday, when all answers of the tables came. */
export const fetchedAt = Date.parse('2026-03-17T12:00:00Z')

/** Text, then the instant in UTC (the seconds may be left out) and how exactly it is said; null where there is none. */
export type Row =
  | readonly [text: string, instant: string, precision: Precision]
  | readonly [text: string, none: null]

/** Code of a language, as it is asked for -> its rows. */
export type Table = Readonly<Record<string, readonly Row[]>>
