import { minus } from '../formats.ts'
import { counted, formats } from './formats.ts'

const { decimal, longDay, mediumDay, number, percent } = formats

/** The report as a message. */
export const email = {
  heading: (client: string) => `Search rankings of ${client}`,
  subject: (client: string, sentence: string) => (sentence === '' ? client : `${client}: ${sentence}`),
  inShort: 'In short',
  figures: 'Figures',
  figuresOf: (site: string) => `Figures of ${site}`,
  labels: {
    top_3: 'In the top 3',
    top_10: 'In the top 10',
  },
  ofChecked: (value: number, checked: number) => `${number(value)} of ${number(checked)}`,
  points: (value: number) => `${decimal(value)} points`,
  up: (size: string) => `up ${size}`,
  down: (size: string) => `down ${size}`,
  better: (size: string) => `${size} better`,
  worse: (size: string) => `${size} worse`,
  unchanged: 'no change',
  trend: 'Visibility day by day',
  trendText: (site: string, from: string, first: number, until: string, last: number) =>
    `${site}: ${percent(first)} on ${mediumDay(from)}, ${percent(last)} on ${mediumDay(until)}`,
  trendRange: (least: number, most: number) => `lowest ${percent(least)}, highest ${percent(most)}`,
  sites: 'You and your competitors',
  sitesNote: 'Visibility, and its change',
  you: 'you',
  winners: 'Winners',
  losers: 'Losers',
  movers: {
    gain: (value: number) => {
      const size = Math.round(Math.abs(value))
      return `${size === 0 ? '' : value < 0 ? minus : '+'}${counted(size, 'click')}`
    },
    noWinners: 'No keyword rose.',
    noLosers: 'No keyword fell.',
    more: (value: number) => `and ${number(value)} more`,
    estimated: 'Clicks are estimated from search volume and position.',
  },
  fromTo: (before: string, now: string) => `${before} → ${now}`,
  nextClicks: (value: number) => `${counted(Math.round(value), 'click')} a month at stake`,
  comment: 'From your analyst',
  keywords: (value: number) => counted(value, 'keyword'),
  asOf: (keywords: string, day: string) => `${keywords}, as of ${longDay(day)}.`,
  madeBy: (agency: string) => `Report by ${agency}`,
  week: {
    title: 'The week',
    runs: 'Runs',
    incomplete: (runs: number) => `${number(runs)} not complete`,
    coverage: 'Coverage',
    covered: (share: number, done: number, planned: number) =>
      `${percent(share)} (${number(done)} of ${counted(planned, 'task')})`,
    spent: 'Spent',
    credits: (value: number) => counted(value, 'credit'),
    weekBefore: (credits: number) => `${number(credits)} the week before`,
    openAlerts: 'Open alerts',
    none: 'none',
    alert: 'Alert',
    moreAlerts: (value: number) => `and ${number(value)} more`,
  },
}
