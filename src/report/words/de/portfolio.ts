import type { Words } from '../en/index.ts'
import { counted, formats } from './formats.ts'

const { decimal, number, percent } = formats

export const portfolio: Words['portfolio'] = {
  title: 'Portfolio',
  clients: (value) => counted(value, 'Kunde', 'Kunden'),
  withErrors: (value) => `${number(value)} mit Fehlern`,
  withWarnings: (value) => `${number(value)} mit Warnungen`,
  fine: 'Keine Probleme',
  asOf: (instant) => `Stand ${instant}`,
  spent: (credits) => `${counted(credits, 'Credit', 'Credits')} in diesem Monat`,
  balance: (credits, days) =>
    `${counted(credits, 'Credit', 'Credits')} übrig${days === null ? '' : `, reicht für ${counted(days, 'Tag', 'Tage')}`}`,
  problems: 'Probleme des ganzen Kontos',
  columns: {
    client: 'Kunde',
    visibility: 'Sichtbarkeit',
    averagePosition: 'Durchschnittsposition',
    topTen: 'Top 10',
    clicks: 'Klicks im Monat',
    trend: 'Sichtbarkeit Tag für Tag',
    compared: 'Verglichen mit',
    lastGood: 'Letzter guter Lauf',
    spent: 'Credits im Monat',
  },
  sortBy: (column) => `Nach ${column} sortieren`,
  levels: { error: 'Fehler', warning: 'Warnung', ok: 'In Ordnung', retired: 'Läuft nicht mehr' },
  kinds: {
    'job-file': 'Job-Datei',
    stale: 'Nicht aktuell',
    run: 'Letzter Lauf',
    slot: 'Zeitplan',
    alerts: 'Alarm',
    balance: 'Guthaben',
    unexplained: 'Credits',
    messages: 'Nachrichten',
    database: 'Datenbank',
    disk: 'Speicherplatz',
    report: 'Bericht',
  },
  ofChecked: (value, checked) => `${number(value)} von ${number(checked)}`,
  keywords: (value) => counted(value, 'Suchbegriff', 'Suchbegriffe'),
  up: (size) => `▲ ${size}`,
  down: (size) => `▼ ${size}`,
  same: '=',
  better: (size) => `${size} besser`,
  worse: (size) => `${size} schlechter`,
  unchanged: 'unverändert',
  points: (value) => `${decimal(value)} Punkte`,
  trendText: (first, last) => `von ${percent(first)} auf ${percent(last)}`,
  never: 'nie',
  noRanks: 'Keine Positionen',
  none: 'noch nichts',
  estimated:
    'Veränderungen gelten für den Zeitraum jedes Kunden. Klicks sind aus Suchvolumen und Position geschätzt. Ein Name öffnet den Bericht des Kunden.',
}
