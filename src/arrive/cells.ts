import { type DecimalMark, readVolume } from '../model/values.ts'

/** The sign before decimals in a table: where commas part its cells, they are not in its numbers. */
export function decimalMarkOf(separator: number): DecimalMark {
  return separator === semicolon ? ',' : '.'
}

const semicolon = 59

/** A whole number from 0 on, with or without signs between its thousands; -1 for anything else, and for what can be read as two numbers. */
export function wholeOf(text: string, decimal: DecimalMark): number {
  // Units, as in 1.5K, stand for numbers that were rounded.
  const read = /[a-z]/i.test(text) ? null : readVolume(text.trim(), decimal)
  return read !== null && 'value' in read ? read.value : -1
}
