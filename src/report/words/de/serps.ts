import type { Words } from '../en/index.ts'
import { formats } from './formats.ts'

export const serps: Words['serps'] = {
  firstTen: 'Die ersten zehn Ergebnisse',
  compareWith: 'Vergleichen mit',
  compared: (day) => `${day} (Vergleich)`,
  noEarlier: 'Es gibt keinen früheren Tag zum Vergleich.',
  notChecked: (day) => `Am ${day} wurden die Top 10 nicht geprüft.`,
  notIncluded: (day) => `Die Ergebnisse vom ${day} sind nicht in diesem Bericht.`,
  included: (days) => `Enthalten sind ${days}.`,
  moreDays: 'Weitere Tage kommen mit --serps hinzu, zum Beispiel --serps 30d.',
  brokenDepth: (depth) => `Nur die ersten ${depth} wurden lückenlos geprüft.`,
  noTitle: 'Ohne Titel',
  target: 'gewählt',
  own: 'eigene',
  competitor: 'Wettbewerber',
  linkOf: (rank) => `, Adresse von Ergebnis ${rank}`,
  features: {
    title: 'Auf der Ergebnisseite',
    lead: 'Was neben den Ergebnissen auf den Ergebnisseiten steht, soweit der Dienst es mitteilt.',
    overTime: 'Auf der Ergebnisseite',
    chart: 'Was Tag für Tag auf der Ergebnisseite stand.',
    howOften: 'Suchbegriffe mit jedem Element',
    feature: 'Element',
    present: 'Suchbegriffe',
    change: 'Änderung',
    trend: 'Verlauf',
    there: 'vorhanden',
    notThere: 'nicht vorhanden',
    unknown: 'nicht bekannt',
    of: (part, whole) => `${formats.number(part)} von ${formats.number(whole)}`,
    key: 'Gefüllt: vorhanden. Leer: nicht vorhanden. Ohne Zeichen: nicht bekannt.',
    none: 'Keine Antwort zu den gewählten Suchbegriffen sagt, was neben den Ergebnissen steht.',
    basis: (day) =>
      `Von den Suchbegriffen, für die es am ${day} bekannt ist; Änderungen von denen, die an beiden Tagen bekannt sind.`,
    asked:
      'KI-Antworten, Nachrichten und Videos sind nur bei Suchbegriffen bekannt, für die der Job sie abfragt.',
    names: {
      knowledge: 'Infobox',
      ai: 'KI-Antwort',
      related: 'Verwandte Suchanfragen',
      news: 'Nachrichten',
      videos: 'Videos',
    },
    meanings: {
      knowledge: 'Neben den Webergebnissen steht eine Infobox zum Thema.',
      ai: 'Zur Suche gibt es eine KI-Antwort.',
      related: 'Die Webergebnisse enden mit verwandten Suchanfragen.',
      news: 'Die Nachrichtensuche hat Ergebnisse.',
      videos: 'Die Videosuche hat Ergebnisse.',
    },
  },
}
