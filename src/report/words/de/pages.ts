import type { Words } from '../en/index.ts'
import { counted, formats } from './formats.ts'

export const pages: Words['pages'] = {
  title: 'Seiten',
  lead: ['Welche Seiten von ', ' platziert sind.'],
  target: 'Zielseiten',
  states: {
    right: (value) =>
      ` ${value === 1 ? 'Suchbegriff mit seiner' : 'Suchbegriffe mit ihrer'} Zielseite platziert`,
    'wrong page': () => ' mit einer anderen Seite platziert',
    'not ranked': () => ' nicht platziert',
    'none intended': () => ' ohne festgelegte Zielseite',
    unknown: () => ' nicht bekannt',
  },
  noTargetPage: 'Keine Zielseite festgelegt. Die Job-Datei kann mit „url“ je Suchbegriff eine nennen.',
  noTargetPageHere: 'Für die gewählten Suchbegriffe ist keine Zielseite festgelegt.',
  wrongLabel: 'Suchbegriffe, bei denen eine andere Seite platziert ist',
  wrong: 'Andere Seite platziert bei',
  page: 'Seite',
  noLink: 'ohne Adresse',
  rank: 'Position',
  rival: 'Suchbegriffe mit mehreren Seiten',
  rivalCount: (value) => ` von ${counted(value, 'Suchbegriff', 'Suchbegriffen')} mit mehreren Seiten`,
  rivalLabel: 'Suchbegriffe mit mehreren Seiten',
  noRival: 'Kein Suchbegriff hat mehr als eine Seite.',
  keyword: 'Suchbegriff',
  pages: 'Seiten',
  swaps: 'Wechsel',
  together: 'Tage mit mehreren',
  most: 'Platzierte Seiten',
  noneRanks: 'Keine Seite ist platziert.',
  notKnown: 'Welche Seiten platziert sind, ist nicht bekannt: Ihre Adressen liegen nicht vor.',
  keywords: 'Suchbegriffe',
  best: 'Beste Position',
  volume: 'Suchvolumen',
  noVolume: 'kein Suchvolumen angegeben',
  firstOf: (shown, all) => `Die ersten ${formats.number(shown)} von ${formats.number(all)}.`,
}
