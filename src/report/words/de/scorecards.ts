import type { Words } from '../en/index.ts'
import { counts } from './counts.ts'

export const scorecards: Words['scorecards'] = {
  title: 'Aufschlüsselung',
  lead: (day, compared) => `Die Werte vom ${day}${compared === '' ? '' : `, verglichen mit ${compared}`}.`,
  hint: 'Wählen Sie eine Zeile, um nur ihre Suchbegriffe zu sehen, und noch einmal für alle.',
  by: { tag: 'Nach Schlagwort', locale: 'Nach Land und Sprache', engine: 'Nach Suchmaschine' },
  group: { tag: 'Schlagwort', locale: 'Land und Sprache', engine: 'Suchmaschine' },
  none: { tag: 'ohne Schlagwort', locale: 'nicht angegeben' },
  keywords: 'Suchbegriffe',
  visibility: 'Sichtbarkeit',
  change: 'Änderung',
  changeInPoints: 'Änderung (Punkte)',
  trend: 'Verlauf',
  shareOfVoice: 'Share of Voice',
  average: 'Durchschnitt',
  topTen: 'Top 10',
  clicks: 'Klicks im Monat',
  unchecked: (unchecked) => `${counts.keywords(unchecked)} nicht geprüft`,
}
