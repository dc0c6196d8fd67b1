import { formatsOf } from '../formats.ts'

export const formats = formatsOf('de-DE')

/** `1 Suchbegriff`, `1.200 Suchbegriffe`. */
export function counted(value: number, noun: string, plural: string): string {
  return `${formats.number(value)} ${value === 1 ? noun : plural}`
}
