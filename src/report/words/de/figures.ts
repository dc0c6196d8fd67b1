import type { Words } from '../en/index.ts'
import { formatsOf } from '../formats.ts'

export const formats = formatsOf('de-DE', 'Punkte')

/** `1 Keyword`, `1.200 Keywords`. */
export function counted(value: number, noun: string, plural: string): string {
  return `${formats.number(value)} ${value === 1 ? noun : plural}`
}

export const counts: Words['counts'] = {
  keywords: (value) => counted(value, 'Keyword', 'Keywords'),
  targets: (value) => counted(value, 'Website', 'Websites'),
  days: (value) => counted(value, 'Tag', 'Tage'),
}

export const kinds: Words['kinds'] = {
  organic: 'Webergebnisse',
  news: 'Nachrichten',
  video: 'Videos',
  image: 'Bilder',
  reference: 'KI-Quellen',
  suggestion: 'Vorschläge',
  related: 'verwandte Suchanfragen',
}

export function clicks(value: number): string {
  return counted(Number(formats.figure(value, 'clicks a month').replaceAll('.', '')), 'Klick', 'Klicks')
}
