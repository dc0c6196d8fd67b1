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
    title: 'SERP-Features',
    lead: 'Was Seiten mit Webergebnissen neben den Ergebnissen zeigen, soweit bekannt.',
    overTime: 'SERP-Features',
    chart: 'Was Tag für Tag auf der Ergebnisseite stand.',
    howOften: 'Suchbegriffe je Feature',
    feature: 'Feature',
    present: 'Suchbegriffe',
    change: 'Änderung',
    trend: 'Verlauf',
    there: 'vorhanden',
    notThere: 'nicht vorhanden',
    unknown: 'nicht bekannt',
    of: (part, whole) => `${formats.number(part)} von ${formats.number(whole)}`,
    key: 'Gefüllt: vorhanden. Leer: nicht vorhanden. Ohne Zeichen: nicht bekannt.',
    none: 'Für die gewählten Suchbegriffe ist nicht bekannt, was neben den Ergebnissen steht.',
    basis: (day, isCompared) =>
      `Von den Suchbegriffen, für die es am ${day} bekannt ist${isCompared ? '; Änderungen von denen, die an beiden Tagen bekannt sind' : ''}.`,
    names: {
      knowledge: 'Knowledge Panel',
      related: 'Verwandte Suchanfragen',
    },
    meanings: {
      knowledge: 'Neben den Webergebnissen steht ein Knowledge Panel zum Thema.',
      related: 'Die Webergebnisse enden mit verwandten Suchanfragen.',
    },
  },
}
