import { counted, formats } from './figures.ts'

const { longDay, mediumDay, number, percent } = formats

/** The report as a message. */
const email = {
  heading: (client: string) => `Search rankings of ${client}`,
  inShort: 'In short',
  figures: 'Figures',
  figuresOf: (site: string) => `Figures of ${site}`,
  trendText: (site: string, first: string, from: string, last: string, until: string) =>
    `${site}: ${first} on ${mediumDay(from)}, ${last} on ${mediumDay(until)}`,
  more: (value: number) => `and ${number(value)} more`,
  byClicks: 'by clicks a month',
  estimated: 'Clicks are estimated from search volume and position.',
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
  },
  partsOf: (part: string) => `Figures of ${part}.`,
}

/** The page of all clients. */
const portfolio = {
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
  problems: 'Problems',
  find: 'Find a client',
  found: 'found',
  columns: {
    client: 'Client',
    stake: 'Clicks at stake',
    clicks: 'Clicks a month',
    visibility: 'Visibility',
    topTen: 'Top 10',
    trend: 'Visibility, day by day',
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
    logo: 'Logo',
    ranks: 'Not visible',
  } as Readonly<Record<string, string>>,
  keywords: (value: number) => counted(value, 'keyword'),
  trendText: (first: number, last: number) => `from ${percent(first)} to ${percent(last)}`,
  never: 'never',
  noRanks: 'No ranks',
  estimated:
    'Changes are over the period of each client. Clicks are estimated from search volume and position. A name opens the report of the client.',
}

/** The report as Markdown. */
const markdown = {
  title: (job: string) => `Ranks of ${job}`,
  nothing: 'There are no ranks to report.',
  asked: (keywords: number, targets: number, added: number, removed: number) =>
    `${counted(keywords, 'keyword')}, ${counted(targets, 'target')}; ${counted(added, 'keyword')} added, ${number(removed)} removed.`,
  bothDays: (both: number) => `▲ ▼: of ${counted(both, 'keyword')} known on both days.`,
  own: '**Bold**: own.',
  otherKinds: 'Other kinds of results',
  byTag: 'By tag',
  signs: 'Rank >n: not among the first n results; ~: estimated; ?: not known.',
  columns: {
    figure: 'figure',
    value: 'value',
    change: 'change',
    of: 'of',
    keyword: 'keyword',
    before: 'before',
    now: 'now',
    clicks: 'clicks a month',
    rival: 'competitor',
    step: 'what',
    why: 'why',
    page: 'page',
    site: 'target',
    engine: 'engine',
    results: 'results',
    ranked: 'ranked',
    unknown: 'not known',
    topTen: 'top 10',
    tag: 'tag',
    keywords: 'keywords',
    locale: 'locale',
    rank: 'rank',
    trend: 'trend',
    best: 'best',
    estimatedClicks: 'estimated clicks',
    countedClicks: 'counted clicks',
    countedImpressions: 'counted impressions',
    is: 'is',
    formula: 'formula',
    from: 'from',
  },
  /** How the last runs ended. */
  runs: {
    title: 'Runs',
    columns: {
      day: 'Day',
      ended: 'Ended',
      done: 'Tasks done',
      failed: 'Failed',
      credits: 'Credits',
      ambiguous: 'Possibly billed',
    },
    running: 'running',
    ends: {
      completed: 'completed',
      completed_with_failures: 'some tasks failed',
      budget: 'stopped: budget',
      balance: 'stopped: balance',
      quota: 'stopped: quota',
      auth: 'stopped: key refused',
      unavailable: 'stopped: service down',
      interrupted: 'interrupted',
      crashed: 'crashed',
    },
    done: (done: number, planned: number) => `${number(done)} of ${number(planned)}`,
  },
  definitions: {
    title: 'Definitions',
    /** Where a curve comes from. That of the default curve is translated; that of a curve of one's own stays as it is. */
    curveSource: (text: string) => text,
    rates: 'Click-through rates (CTR)',
    byRank: (rates: readonly number[]) =>
      `By rank: ${rates.map((rate, place) => `${place + 1}: ${formats.percent(rate)}`).join(', ')}.`,
  },
}

/** Names of sheets and heads of columns of a workbook, where these are not those of programs. English has the names as they are. */
const workbook = {
  sheets: {} as Readonly<Record<string, string>>,
  heads: {} as Readonly<Record<string, string>>,
}

/** What the script of the page never says: other forms of a report do, or the report itself, whose script it is. */
const unscripted = {
  /** Title of the window and of the file. */
  title: (name: string) => `${name} · Rank report`,
  needsScript: 'This report needs JavaScript. Allow its script to run; it loads nothing from the network.',
  /** What the signs of a trend mean. */
  trendLegend:
    'trend: the last days with a run, from █ rank 1, ▇ to 3, ▆ to 6, ▅ to 10, ▄ to 20, ▃ to 30, ▂ to 50, to ▁ deeper; ·: not found, ?: not known, blank: not asked.',
  /** The mark of that day in charts. */
  askedOtherwiseFrom: (changed: number) =>
    `From here on ${counted(changed, 'keyword')} ${changed === 1 ? 'is' : 'are'} asked otherwise: not compared with before`,
  /** What clients read in place of the name of a service's engine. */
  engineOfKind: (kind: string, letter: string) => `${kind}, engine ${letter}`,
}

/** The words of documents: messages, Markdown, workbooks, the portfolio. No page has them. */
export const documents = {
  email,
  markdown,
  portfolio,
  unscripted,
  workbook,
}
