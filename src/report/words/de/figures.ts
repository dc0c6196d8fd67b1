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

/** `3 von 12 Keywords`. */
export function ofKeywords(some: number, all: number): string {
  return `${formats.number(some)} von ${counts.keywords(all)}`
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

const { figure, number } = formats

export function clicks(value: number): string {
  return counted(Number(figure(value, 'clicks a month').replaceAll('.', '')), 'Klick', 'Klicks')
}

export function quoted(text: string): string {
  return `„${text}“`
}

export const runs: Words['runs'] = {
  spent: (all, credits, ambiguous) =>
    `${counted(all, 'Lauf', 'Läufe')}: ${counted(credits, 'Credit', 'Credits')} verbraucht${ambiguous === 0 ? '' : `, möglicherweise ${number(ambiguous)} weitere berechnet`}.`,
  failed: (failed, planned) =>
    `${number(failed)} von ${counted(planned, 'Aufgabe', 'Aufgaben')} ${failed === 1 ? 'schlug' : 'schlugen'} fehl.`,
  mismatched: (answers) =>
    answers === 1
      ? '1 Antwort nennt eine andere Anfrage als die gesendete. Ihre Positionen können falsch sein.'
      : `${number(answers)} Antworten nennen eine andere Anfrage als die gesendete. Ihre Positionen können falsch sein.`,
}

export const definitions: Words['definitions'] = {
  lead: 'Keywords, die nicht geprüft werden konnten, gehen in keine Kennzahl ein.',
  signs: [
    [
      '7',
      'Position',
      'Die Anzahl der verschiedenen Treffer davor, plus eins, über alle geprüften Ergebnisseiten.',
    ],
    [
      '~7',
      'Geschätzte Position',
      'Eine Ergebnisseite davor wurde nicht geprüft und zählt mit der üblichen Zahl an Treffern.',
    ],
    [
      '>30',
      'Nicht in den Top 30',
      'Unter den ersten 30 Treffern war die Website nicht. Sie kann weiter hinten stehen.',
    ],
    ['?', 'Nicht bekannt', 'Eine Ergebnisseite konnte nicht abgerufen werden oder wurde nicht abgerufen.'],
    [
      '▲ ▼',
      'Besser, schlechter',
      'Grau: nicht mehr als die übliche Schwankung von Tag zu Tag, oder diese ist nicht bekannt. Zwei Tage werden nur so weit verglichen, wie beide geprüft wurden; sonst ist die Veränderung nicht bekannt.',
    ],
  ],
}
