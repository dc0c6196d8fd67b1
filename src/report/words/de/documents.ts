import type { Words } from '../en/index.ts'
import { counted, formats } from './figures.ts'

const { decimal, longDay, mediumDay, number, percent } = formats

export const email: Words['email'] = {
  heading: (client) => `Ranking-Bericht für ${client}`,
  subject: (client, sentence) => (sentence === '' ? client : `${client}: ${sentence}`),
  inShort: 'Auf einen Blick',
  figures: 'Kennzahlen',
  figuresOf: (site) => `Kennzahlen von ${site}`,
  trendText: (site, first, from, last, until) =>
    `${site}: ${first} am ${mediumDay(from)}, ${last} am ${mediumDay(until)}`,
  more: (value) => `und ${number(value)} weitere`,
  byClicks: 'nach Klicks im Monat',
  estimated: 'Die Klicks sind aus Suchvolumen und Position geschätzt.',
  fromTo: (before, now) => `${before} → ${now}`,
  comment: 'Kommentar',
  keywords: (value) => counted(value, 'Suchbegriff', 'Suchbegriffe'),
  asOf: (keywords, day) => `${keywords}, Stand ${longDay(day)}.`,
  madeBy: (agency) => `Bericht von ${agency}`,
  week: {
    title: 'Die Woche',
    runs: 'Läufe',
    incomplete: (runs) => `${number(runs)} davon unvollständig`,
    coverage: 'Abdeckung',
    covered: (share, done, planned) =>
      `${percent(share)} (${number(done)} von ${counted(planned, 'Aufgabe', 'Aufgaben')})`,
    spent: 'Ausgegeben',
    credits: (value) => counted(value, 'Credit', 'Credits'),
    weekBefore: (credits) => `${number(credits)} in der Woche davor`,
    openAlerts: 'Offene Warnungen',
    none: 'keine',
    alert: 'Warnung',
    moreAlerts: (value) => `und ${number(value)} weitere`,
  },
}

export const brand: Words['brand'] = {
  kind: 'Ranking-Bericht',
  title: (name) => `${name} · Ranking-Bericht`,
  for: (client) => `für ${client}`,
  by: (agency) => `von ${agency}`,
  comment: 'Kommentar',
  needsScript:
    'Dieser Bericht braucht JavaScript. Bitte erlauben Sie das Skript; es lädt nichts aus dem Netz.',
}

export const portfolio: Words['portfolio'] = {
  title: 'Portfolio',
  clients: (value) => counted(value, 'Kunde', 'Kunden'),
  withErrors: (value) => `${number(value)} mit Fehlern`,
  withWarnings: (value) => `${number(value)} mit Warnungen`,
  fine: 'Keine Probleme',
  asOf: (instant) => `Stand ${instant}`,
  spent: (credits) => `${counted(credits, 'Credit', 'Credits')} in diesem Monat`,
  balance: (credits) => `${counted(credits, 'Credit', 'Credits')} übrig`,
  enoughFor: (days) => `reicht für ${counted(days, 'Tag', 'Tage')}`,
  enoughForYears: 'reicht für mehr als zwei Jahre',
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
  points: (value) => `${decimal(value)} Prozentpunkte`,
  trendText: (first, last) => `von ${percent(first)} auf ${percent(last)}`,
  never: 'nie',
  noRanks: 'Keine Positionen',
  none: 'noch nichts',
  estimated:
    'Veränderungen gelten für den Zeitraum jedes Kunden. Klicks sind aus Suchvolumen und Position geschätzt. Ein Name öffnet den Bericht des Kunden.',
}
