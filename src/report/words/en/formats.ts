import { formatsOf } from '../formats.ts'

export const formats = formatsOf('en-GB')

/** `1 keyword`, `1,200 keywords`. */
export function counted(value: number, noun: string, plural = `${noun}s`): string {
  return `${formats.number(value)} ${value === 1 ? noun : plural}`
}
