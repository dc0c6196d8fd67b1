import { counted, formats } from './formats.ts'

const { decimal, number, percent } = formats

/** The page of all clients. */
export const portfolio = {
  title: 'Portfolio',
  clients: (value: number) => counted(value, 'client'),
  withErrors: (value: number) => `${number(value)} with errors`,
  withWarnings: (value: number) => `${number(value)} with warnings`,
  fine: 'No problems',
  /** An instant in words. */
  asOf: (instant: string) => `As of ${instant}`,
  spent: (credits: number) => `${counted(credits, 'credit')} this month`,
  balance: (credits: number) => `${counted(credits, 'credit')} left`,
  enoughFor: (days: number) => `enough for ${counted(days, 'day')}`,
  enoughForYears: 'enough for more than two years',
  problems: 'Problems of the whole account',
  columns: {
    client: 'Client',
    visibility: 'Visibility',
    averagePosition: 'Average position',
    topTen: 'Top 10',
    clicks: 'Clicks a month',
    trend: 'Visibility, day by day',
    compared: 'Compared with',
    lastGood: 'Last good run',
    spent: 'Credits this month',
  },
  sortBy: (column: string) => `Sort by ${column}`,
  levels: { error: 'Error', warning: 'Warning', ok: 'Fine', retired: 'No longer run' },
  /** What a problem is about, as a word or two before its sentence. */
  kinds: {
    'job-file': 'Job file',
    stale: 'Out of date',
    run: 'Last run',
    slot: 'Schedule',
    alerts: 'Alert',
    balance: 'Balance',
    unexplained: 'Credits',
    messages: 'Messages',
    database: 'Database',
    disk: 'Disk',
    report: 'Report',
  } as Readonly<Record<string, string>>,
  ofChecked: (value: number, checked: number) => `${number(value)} of ${number(checked)}`,
  keywords: (value: number) => counted(value, 'keyword'),
  up: (size: string) => `▲ ${size}`,
  down: (size: string) => `▼ ${size}`,
  same: '=',
  better: (size: string) => `${size} better`,
  worse: (size: string) => `${size} worse`,
  unchanged: 'no change',
  points: (value: number) => `${decimal(value)} points`,
  trendText: (first: number, last: number) => `from ${percent(first)} to ${percent(last)}`,
  never: 'never',
  noRanks: 'No ranks',
  none: 'nothing yet',
  estimated:
    'Changes are over the period of each client. Clicks are estimated from search volume and position. A name opens the report of the client.',
}
