import type { Words } from '../en/index.ts'
import { counts } from './counts.ts'
import { counted, formats } from './formats.ts'

const ofKeywords = (part: number, whole: number) => `${formats.number(part)} von ${formats.number(whole)}`

export const competitors: Words['competitors'] = {
  title: 'Wettbewerber',
  lead: 'Alle beobachteten Websites bei denselben Suchbegriffen, und die Websites mit dem größten Anteil an den Klicks auf die Top 10.',
  figures: 'Websites im Vergleich',
  figuresLabel: 'Zahlen aller beobachteten Websites',
  site: 'Website',
  competitor: 'Wettbewerber',
  own: 'eigene',
  topTenShare: 'Top-10-Anteil',
  top: (rank) => `Top ${rank}`,
  checked: 'Geprüft',
  checkedAll: (part) => `${part} Suchbegriffen geprüft.`,
  ofKeywords,
  beatsYou: 'Vor Ihnen bei',
  beats: (name) => `Vor ${name} bei`,
  itself: 'die gewählte Website selbst',
  beatsNote: (tied, neither, undecided) =>
    `${tied} mit demselben Ergebnis, ${neither} ohne Platzierung beider, ${undecided} nicht bekannt`,
  sites: 'Websites mit dem größten Anteil an den Klicks auf die Top 10',
  gaining: 'Weitere aufsteigende Websites',
  share: 'Anteil',
  trendOf: (days) => `Verlauf (${counts.days(days)})`,
  inTopTen: 'In den Top 10',
  noSerps: 'Nicht bekannt: Die ersten zehn Ergebnisse des letzten Tages liegen nicht vor.',
  sameWeight: 'alle Suchbegriffe zählen gleich',
  byVolume: 'nach Suchvolumen gewichtet',
  basis: (keywords, weight) =>
    `Von ${counted(keywords, 'Suchbegriff', 'Suchbegriffen')} mit bekannten Top 10, ${weight}.`,
  basisBoth: (keywords, weight) =>
    `Von ${counted(keywords, 'Suchbegriff', 'Suchbegriffen')}, deren Top 10 an beiden Tagen bekannt sind, ${weight}.`,
  wholeSites: 'Eine Website ist hier eine ganze Domain mit allen ihren Ergebnissen.',
  turnover: (share, part, whole) =>
    `${share} der Seiten in den Top 10 waren am Vergleichstag nicht dort (${ofKeywords(part, whole)}).`,
  add: 'In die Job-Datei',
  track: 'Beobachten',
  added: 'Unten ergänzt',
  jobLine: 'Zeile für die Job-Datei',
  jobLineNote: 'Nennt die Job-Datei schon Wettbewerber, gehört der Name in diese Liste.',
  copied: 'Kopiert.',
  copyAgain: 'Zeile kopieren',
  notCopied: 'Der Browser erlaubt das Kopieren nicht: Bitte die Zeile markieren und kopieren.',
}
