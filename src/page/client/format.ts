import { say } from './language.ts'

export { capitalised, pathOf, readable, shortLink } from '../../report/cells.ts'

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
