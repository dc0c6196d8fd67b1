import type { Words } from '../en/index.ts'
import { minus } from '../formats.ts'
import { counted, formats } from './formats.ts'

const { decimal, longDay, mediumDay, number, percent } = formats

export const email: Words['email'] = {
  heading: (client) => `Ranking-Bericht für ${client}`,
  subject: (client, sentence) => (sentence === '' ? client : `${client}: ${sentence}`),
  inShort: 'Auf einen Blick',
  figures: 'Kennzahlen',
  figuresOf: (site) => `Kennzahlen von ${site}`,
  labels: {
    top_3: 'In den Top 3',
    top_10: 'In den Top 10',
  },
  ofChecked: (value, checked) => `${number(value)} von ${number(checked)}`,
  points: (value) => `${decimal(value)} Prozentpunkte`,
  up: (size) => `${size} mehr`,
  down: (size) => `${size} weniger`,
  better: (size) => `${size} besser`,
  worse: (size) => `${size} schlechter`,
  unchanged: 'unverändert',
  trend: 'Sichtbarkeit Tag für Tag',
  trendText: (site, from, first, until, last) =>
    `${site}: ${percent(first)} am ${mediumDay(from)}, ${percent(last)} am ${mediumDay(until)}`,
  trendRange: (least, most) => `niedrigster Wert ${percent(least)}, höchster ${percent(most)}`,
  sites: 'Sie und Ihre Wettbewerber',
  sitesNote: 'Sichtbarkeit und ihre Veränderung',
  you: 'Sie',
  winners: 'Gewinner',
  losers: 'Verlierer',
  movers: {
    gain: (value) => {
      const size = Math.round(Math.abs(value))
      return `${size === 0 ? '' : value < 0 ? minus : '+'}${counted(size, 'Klick', 'Klicks')}`
    },
    noWinners: 'Kein Suchbegriff ist gestiegen.',
    noLosers: 'Kein Suchbegriff ist gefallen.',
    more: (value) => `und ${number(value)} weitere`,
    estimated: 'Die Klicks sind aus Suchvolumen und Position geschätzt.',
  },
  fromTo: (before, now) => `${before} → ${now}`,
  nextClicks: (value) => `Es geht um ${counted(Math.round(value), 'Klick', 'Klicks')} im Monat`,
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
