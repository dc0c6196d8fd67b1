import type { Words } from '../en/index.ts'
import { formats } from './formats.ts'

export const answers: Words['answers'] = {
  title: 'KI-Antworten und Arten von Ergebnissen',
  titleWithoutAnswers: 'Arten von Ergebnissen',
  cited: 'In KI-Antworten zitiert',
  byKind: 'Die ersten zehn Ergebnisse nach Art',
  byKindLabel: 'Anteil der gewählten Website an jeder Art von Ergebnissen',
  kind: 'Art',
  ranked: 'Platziert',
  topTen: 'In den Top 10',
  share: 'Anteil an Ergebnissen',
  of: (part, whole) => `${formats.number(part)} von ${formats.number(whole)}`,
  notAsked: 'Für die gewählten Suchbegriffe werden keine KI-Antworten abgefragt.',
  notChecked: 'Am letzten gewählten Tag wurde keine KI-Antwort geprüft.',
  citedLabel: 'Zitate nach Website',
  site: 'Website',
  answers: 'Antworten',
  answerShare: 'Anteil',
  ofReferences: 'Anteil an den Quellen',
  firstPlace: 'Erste Nennung',
  note: (part, day) =>
    `${part} Antworten am ${day} geprüft; Änderungen von denen, die an beiden Tagen geprüft wurden. Erste Nennung: der durchschnittliche Platz der ersten Quelle einer Website, ab 1 gezählt.`,
  chart: 'Anteil der KI-Antworten, die eine Website zitieren.',
  noAnswer: 'keine Antwort',
  leftOut: (part, whole) => `ausgelassen, ${part} von ${whole} Antworten`,
}
