import type { Words } from '../en/index.ts'
import { counts } from './counts.ts'
import { counted, formats } from './formats.ts'

export const tables: Words['tables'] = {
  tools: (label) => `Kopieren oder speichern: ${label}`,
  copy: 'Kopieren',
  copyHint: 'Alle Zeilen für eine Tabellenkalkulation kopieren',
  csv: 'CSV',
  csvHint: 'Alle Zeilen als CSV-Datei speichern',
  copied: (rows) => `${counted(rows, 'Zeile', 'Zeilen')} kopiert`,
  notCopied: 'Der Browser erlaubt das Kopieren hier nicht',
  saved: (file) => `Gespeichert als ${file}`,
  more: (next, all) => `${formats.number(next)} weitere von ${formats.number(all)} zeigen`,
  printed: (first, all) => `Die ersten ${formats.number(first)} von ${counted(all, 'Zeile', 'Zeilen')}.`,
  mostChanged: (shown, all, { moved, hasVolume }) => {
    const others = hasVolume ? 'mit den meisten Suchen' : 'mit den besten Positionen'
    const keywords = (value: number): string => counted(value, 'Suchbegriff', 'Suchbegriffe')
    const which =
      moved === shown
        ? `${keywords(shown)} mit der größten Änderung der Klicks`
        : moved === 0
          ? `${keywords(shown)} ${others}`
          : `${keywords(moved)} mit geänderten Klicks und ${formats.number(shown - moved)} weitere ${others}`
    return `${which}, von ${formats.number(all)}.`
  },
}

export const keywords: Words['keywords'] = {
  label: 'Suchbegriffe',
  keyword: 'Suchbegriff',
  locale: 'Land und Sprache',
  operation: 'Suchmaschine',
  tags: 'Gruppen',
  rank: 'Position',
  change: 'Änderung',
  before: 'Vorher',
  on: (day) => `Am ${day}`,
  comparedDay: 'Vergleichstag',
  notCompared: 'kein Vergleich möglich',
  trend: 'Verlauf',
  best: 'Bestwert',
  bestDay: 'Bestwert am',
  neverRanked: 'nie platziert',
  volume: 'Volumen',
  noVolume: 'kein Suchvolumen angegeben',
  clicks: 'Klicks',
  noClicks: 'nicht geschätzt',
  page: 'Seite',
  noPage: 'keine Seite platziert',
}

export const scorecards: Words['scorecards'] = {
  lead: (day, compared) => `Die Werte vom ${day}, ${compared}.`,
  hint: 'Wählen Sie eine Zeile, um nur ihre Suchbegriffe zu sehen. Ein zweiter Klick zeigt wieder alle.',
  by: { tag: 'Nach Gruppe', locale: 'Nach Land und Sprache', engine: 'Nach Suchmaschine' },
  group: { tag: 'Gruppe', locale: 'Land und Sprache', engine: 'Suchmaschine' },
  noTag: 'ohne Gruppe',
  noLocale: 'nicht angegeben',
  keywords: 'Begriffe',
  visibility: 'Sichtbarkeit',
  change: 'Änderung',
  trend: 'Verlauf',
  shareOfVoice: 'Share of Voice',
  average: 'Ø Position',
  topTen: 'Top 10',
  clicks: 'Klicks im Monat',
  unchecked: (unchecked) => `${counts.keywords(unchecked)} nicht geprüft`,
}
