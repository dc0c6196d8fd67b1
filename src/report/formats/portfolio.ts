import type { Language } from '../../model/settings.ts'
import { groupedBy } from '../../model/text.ts'
import { formatTable } from '../../output/table.ts'
import { sanitize } from '../../output/terminal.ts'
import { daily } from '../daily.ts'
import { historyOfParts, partsOf } from '../history/filter-history.ts'
import { keywordStatuses } from '../history/keyword-status.ts'
import type { HeadlineName } from '../metrics/index.ts'
import type { ReportSource, TextLayout } from '../report.ts'
import { story } from '../story/story.ts'
import { summarise, topRanksOf } from '../summary.ts'
import { type Words, wordsOf } from '../words/words.ts'

/** One job of a portfolio: how its first own target ranks, and how the job itself is doing. Plain JSON, and small. */
export interface PortfolioRow {
  readonly job: string
  /** The client, else the title of the report, else the job. */
  readonly name: string
  /** The language of its report; null where that is not known. */
  readonly language: Language | null
  /** How bad its problems are; null for a job that is no longer run. */
  readonly level: PortfolioLevel | null
  readonly problems: readonly PortfolioProblem[]
  /** Null where nothing is ranked. */
  readonly ranks: PortfolioRanks | null
  /** When its last good run ended, epoch ms; null where no run was good. */
  readonly lastGood: number | null
  /** In credits. */
  readonly spentThisMonth: number
  readonly openAlerts: number
  /** Name of the file with its own report, beside the page; null where there is none. */
  readonly file: string | null
}

/** The worst first. */
const portfolioLevels = ['error', 'warning', 'ok'] as const
type PortfolioLevel = (typeof portfolioLevels)[number]

export interface PortfolioProblem {
  readonly level: Exclude<PortfolioLevel, 'ok'>
  /** What it is about, as `status --json` names it. */
  readonly kind: string
  /** What happened, and what to do. */
  readonly text: string
}

/**
 * What short reports tell: the figures of the first own target, for the headline kind of results of one engine. Null where
 * nothing is ranked.
 */
export function portfolioRanks({ measure, ranked }: ReportSource) {
  const { compare, period } = ranked
  // Counts of several engines beside a figure of one would say another thing than it.
  const history = historyOfParts(ranked.history, partsOf(ranked.history, measure.kind).slice(0, 1))
  const { targets, date, ...summary } = summarise(history, { ...measure, compare, movers: 0 })
  const own = targets.find(({ target }) => target.own) ?? targets[0]
  if (own === undefined || date === null) return null
  const place = history.targets.indexOf(own.target)
  const statuses = keywordStatuses(history, compare).filter(({ series }) => series.target === place)
  const topTen = topRanksOf(statuses, 10)
  const from = period?.from ?? date
  const compared = summary.compared.at(-1) ?? null
  const drawn = compared === null || compared > from ? from : compared
  // Results would only say who took a place.
  const data = { history: ranked.history, measure, compare, citations: [], serps: [], sites: [] }
  const { cards, steps } = story(data, { target: place, say: wordsOf('en') })
  // Whether a figure changed by no more than it usually swings, as its report says.
  const isUsual = (name: HeadlineName | 'top_ten'): boolean =>
    cards.find(({ metric }) => metric === name)?.change?.way === 'same'
  // A value and a change are null where they are not known.
  const of = (name: HeadlineName) => {
    const { value, cohort } = own.figures[name]
    // What it was, of the keywords that are compared; null where changes are not told in percent.
    const before = name === 'clicks' ? (cohort?.before.value ?? null) : null
    return { value, change: cohort?.delta ?? null, before, isUsual: isUsual(name) }
  }
  const clicks = of('clicks')
  // A chance puts nothing at stake.
  const stakes = steps.flatMap(({ clicks, verb }) => (verb === 'push' ? [] : (clicks ?? [])))
  return {
    site: own.target.label,
    keywords: summary.keywords,
    /** How many of them were checked on the last day. */
    checked: topTen.observed,
    /** First and last day of the period, YYYY-MM-DD. */
    from,
    until: date,
    /** The last of the days that keywords are compared with; null where there is none. */
    compared,
    /**
     * Visibility of each day from the compared day on, or of the period where nothing is compared: from 0 to 1; null for a
     * day that is not complete.
     */
    trend: daily(history, place, measure)
      .filter(({ day }) => day >= drawn)
      .map(({ day, isPartial, figures }) => ({ day, value: isPartial ? null : figures.visibility.value })),
    /** Clicks a month that the next steps of its report are about; null where they are not known. */
    stake: clicks.value === null ? null : stakes.reduce((sum, one) => sum + one, 0),
    visibility: of('visibility'),
    averagePosition: of('average_position'),
    clicks,
    topTen: { value: topTen.now, change: topTen.change, before: null, isUsual: isUsual('top_ten') },
  }
}

export type PortfolioRanks = NonNullable<ReturnType<typeof portfolioRanks>>

/** The most clicks at stake first, then the least visible; jobs that are no longer run at the end. By name among equals. */
export function inOrder(rows: readonly PortfolioRow[]): readonly PortfolioRow[] {
  // By code units: the same order on every machine.
  const key = ({ name, job }: PortfolioRow): string => `${name.toLowerCase()}\0${job}`
  const stake = ({ ranks }: PortfolioRow): number => ranks?.stake ?? -1
  const seen = ({ ranks }: PortfolioRow): number => ranks?.visibility.value ?? Number.MAX_VALUE
  return rows.toSorted(
    (a, b) =>
      Number(a.level === null) - Number(b.level === null) ||
      stake(b) - stake(a) ||
      seen(a) - seen(b) ||
      (key(a) < key(b) ? -1 : Number(key(a) > key(b))),
  )
}

/** The same problem of several clients, told once: errors first, then what most clients have. */
export function groupedProblems(rows: readonly PortfolioRow[]) {
  const all = rows.flatMap(({ name, problems }) => problems.map((problem) => ({ ...problem, name })))
  const groups = Array.from(groupedBy(all, ({ level, kind }) => `${level} ${kind}`).values(), (clients) => {
    const { level, kind } = clients[0] as PortfolioProblem
    return { level, kind, clients }
  })
  return groups.sort(
    (a, b) =>
      portfolioLevels.indexOf(a.level) - portfolioLevels.indexOf(b.level) ||
      b.clients.length - a.clients.length,
  )
}

/** As many clients are named; the others are counted. */
export const mostNamedClients = 6

const heights = '▁▂▃▄▅▆▇█'

/** Days that are shown at most. */
const most = 28

/** Values as one sign each, between the least and the greatest of them; a blank for a day that is not known. */
export function sparkSigns(values: readonly (number | null)[]): string {
  const shown = values.slice(-most)
  const known = shown.filter((value) => value !== null)
  const [least, greatest] = [Math.min(...known), Math.max(...known)]
  // All the same is in the middle, nothing at all at the bottom.
  const flat = greatest === 0 ? 0 : 0.5
  return shown
    .map((value) => {
      if (value === null) return ' '
      const place = greatest === least ? flat : (value - least) / (greatest - least)
      return heights[Math.round(place * (heights.length - 1))] as string
    })
    .join('')
}

const columns = [
  { title: 'client', shrinks: true, least: 12 },
  { title: 'state' },
  { title: 'at stake', align: 'right' },
  { title: 'clicks', align: 'right' },
  { title: '', align: 'left' },
  { title: 'visibility', align: 'right' },
  { title: '', align: 'left' },
  { title: 'top 10', align: 'right', dropped: true },
  { title: '', align: 'left', dropped: true },
  { title: 'trend', dropped: true },
  { title: 'last good run', dropped: true },
  { title: 'spent this month', align: 'right', dropped: true },
] as const

/** The rows for the terminal, in English. */
export function portfolioTable(rows: readonly PortfolioRow[], { width }: Pick<TextLayout, 'width'>): string {
  const say = wordsOf('en')
  const names = rows.map(({ name }) => name)
  const isShared = (name: string): boolean => names.indexOf(name) !== names.lastIndexOf(name)
  return formatTable(
    columns,
    rows.map((row) => {
      const { ranks, level, lastGood, spentThisMonth } = row
      const { stake, clicks, visibility, topTen } = figureTexts(ranks, say)
      return [
        sanitize(isShared(row.name) ? `${row.name} (${row.job})` : row.name),
        level ?? 'retired',
        stake,
        ...[clicks, visibility, topTen].flatMap(({ value, change }) => [value, change?.text ?? '']),
        ranks === null ? '' : sparkSigns(ranks.trend.map(({ value }) => value)),
        lastGood === null
          ? say.portfolio.never
          : new Date(lastGood).toISOString().slice(0, 16).replace('T', ' '),
        say.number(spentThisMonth),
      ]
    }),
    width,
  )
}

/** The figures of a row as every form of a portfolio writes them: as the reports of the clients do. */
export function figureTexts(ranks: PortfolioRanks | null, say: Words) {
  const none = { value: '-', change: null }
  const figure = (
    { value, change, before, isUsual }: PortfolioRanks['visibility'],
    unit: 'share' | 'clicks a month' | 'keywords',
    text = (value: number): string => say.figure(value, unit),
  ) =>
    value === null
      ? none
      : {
          value: text(value),
          change: change === null ? null : say.changeOf(change, unit, { before, isUsual }),
        }
  if (ranks === null) return { stake: '-', clicks: none, visibility: none, topTen: none }
  const { checked, topTen } = ranks
  return {
    stake: say.figure(ranks.stake, 'clicks a month'),
    clicks: figure(ranks.clicks, 'clicks a month'),
    visibility: figure(ranks.visibility, 'share'),
    topTen:
      checked === 0 ? none : figure(topTen, 'keywords', (value) => say.overview.ofChecked(value, checked)),
  }
}
