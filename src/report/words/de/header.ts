import type { Words } from '../en/index.ts'
import { counted, formats } from './formats.ts'

const keywords = (value: number): string => counted(value, 'Suchbegriff', 'Suchbegriffe')

export const header: Words['header'] = {
  sections: {
    overview: 'Überblick',
    breakdown: 'Aufschlüsselung',
    keywords: 'Suchbegriffe',
    competitors: 'Wettbewerber',
    features: 'SERP-Features',
    pages: 'Seiten',
    answers: 'KI-Antworten',
    runs: 'Läufe',
    definitions: 'Erklärungen',
  },
  nav: 'Teile des Berichts',
  skipToFigures: 'Zu den Zahlen springen',
  skipToKeywords: 'Zu den Suchbegriffen springen',
  print: 'Drucken',
  copyLink: 'Link kopieren',
  linkCopied: 'Link kopiert',
  linkToCopy: 'Link zum Kopieren',
  light: 'Hell',
  dark: 'Dunkel',
  useLight: 'Hell: helle Farben verwenden',
  useDark: 'Dunkel: dunkle Farben verwenden',
  noDays: 'Noch kein Tag',
  lastChecked: (day) => `zuletzt geprüft am ${day}`,
  shown: 'Gezeigt',
  selected: (part, all) =>
    part === all
      ? keywords(all)
      : `${formats.number(part)} von ${counted(all, 'Suchbegriff', 'Suchbegriffen')}`,
  listed: (part) => `${formats.number(part)} aufgeführt`,
  notRun: 'Der Job ist noch nicht gelaufen.',
  noTarget: 'Der Job beobachtet keine Website, deshalb gibt es keine Positionen.',
  onlyGroup: (part, all, group) =>
    part === 0
      ? `Keiner von ${counted(all, 'Suchbegriff', 'Suchbegriffen')}: ${group}.`
      : `Nur ${formats.number(part)} von ${formats.number(all)}: ${group}.`,
  rankOn: (day, compared) => `Die Position jedes Suchbegriffs am ${day}, ${compared}.`,
  notShown: (queries) =>
    `Nicht gezeigt: ${keywords(queries)}, ${queries === 1 ? 'der nicht mehr abgefragt wird' : 'die nicht mehr abgefragt werden'}.`,
  selectKeyword: 'Wählen Sie einen Suchbegriff, um seinen Verlauf zu sehen.',
}

export const period: Words['period'] = {
  range: (from, until) => `${from} bis ${until}`,
  compared: (days) => `verglichen mit dem ${days}`,
  notCompared: 'kein Vergleichstag',
  nearest: 'oder dem nächsten geprüften Tag',
  askedFor: (day, tolerance) => `gewünscht: ${day}, ±${tolerance}`,
}
