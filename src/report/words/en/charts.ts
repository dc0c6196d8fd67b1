import { counted, formats } from './formats.ts'

const { number } = formats

/** Charts, and what stands beside them. */
export const charts = {
  chart: 'chart',
  arrowKeys: 'The arrow keys go from day to day.',
  /** In the meaning of a figure that is made by a click-through curve. */
  byCurve: (curve: string) => `Click-through curve: ${curve}.`,
  clicksAreEstimates: 'Real clicks differ: they depend on all that stands on the result page.',
  choose: 'Figure of the chart',
  figures: {
    visibility: 'Visibility',
    share_of_voice: 'Share of voice',
    average_position: 'Average position',
    top_3: 'Top 3',
    top_10: 'Top 10',
    clicks: 'Clicks',
  },
  topTitle: (rank: number) => `Keywords in the top ${rank}`,
  ofEachTarget: (figure: string) => `${figure} of each target over time.`,
  lines: 'Lines of the chart',
  noLine: 'No line is shown. Press a name to show its line.',
  nothingChecked: 'Nothing was checked on these days.',
  notChecked: 'not checked',
  leftOut: (checked: number, asked: number) =>
    `left out, ${number(checked)} of ${number(asked)} keywords checked`,
  withCount: (value: string, count: number, checked: number) =>
    `${value} (${number(count)} of ${number(checked)})`,
  ofChecked: (value: string, checked: number, asked: number) =>
    `${value} (${number(checked)} of ${number(asked)} keywords checked)`,
  striped: (days: number) =>
    days === 1
      ? 'Striped: a day on which fewer than half of the keywords were checked. It is left out of the lines.'
      : `Striped: ${counted(days, 'day')} on which fewer than half of the keywords were checked. They are left out of the lines.`,
  sharesOfChecked: 'Share of the keywords that were checked on the day.',
  clicksOfChecked: (curve: string) =>
    `An estimate by the click-through curve ${curve}, of checked keywords with a volume. It is lower on days on which fewer were checked.`,
  comparedDay: 'compared day',
  comparedBefore: (day: string) => `The compared day, ${day}, is before these days.`,
  notes: 'Notes in the chart',
  note: (number: number, text: string) => `Note ${number}: ${text}`,
  ranksOverTime: 'Keywords by rank over time.',
  ranges: { over: 'over 100', absent: 'not found', unknown: 'not known' },
  history: (target: string, query: string, days: number) =>
    `Rank of ${target} for ${query} on ${counted(days, 'day')}.`,
  best: (rank: number) => `best ${number(rank)}`,
  notFound: 'not found',
  notKnown: 'not known',
  historyKey:
    'A gap is a day without a rank. ×: not found in the checked results. ?: not known. Hollow circle: estimated.',
}
