import type { Language } from '../../../model/settings/presentation.ts'
import type { ReportSource } from '../../report.ts'
import { ownFigures, type TrendDay } from '../own-figures.ts'

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
export const portfolioLevels = ['error', 'warning', 'ok'] as const
export type PortfolioLevel = (typeof portfolioLevels)[number]

export interface PortfolioProblem {
  readonly level: Exclude<PortfolioLevel, 'ok'>
  /** What it is about, as `status --json` names it. */
  readonly kind: string
  /** What happened, and what to do. */
  readonly text: string
}

export interface PortfolioRanks {
  readonly site: string
  readonly keywords: number
  /** How many of them were checked on the last day. */
  readonly checked: number
  /** First and last day of the period, and the day that is compared with, YYYY-MM-DD. */
  readonly from: string
  readonly until: string
  readonly compared: string | null
  readonly visibility: PortfolioFigure
  readonly averagePosition: PortfolioFigure
  readonly clicks: PortfolioFigure
  readonly topTen: PortfolioFigure
  readonly trend: readonly TrendDay[]
}

/** Null where it is not known. */
export interface PortfolioFigure {
  readonly value: number | null
  readonly change: number | null
}

/** The figures of a job in one row. */
export function portfolioRanks(source: ReportSource): PortfolioRanks | null {
  const figures = ownFigures(source)
  if (figures === null) return null
  const { own, topTen, summary, from, until, compared, trend } = figures
  const of = (name: 'visibility' | 'average_position' | 'clicks'): PortfolioFigure => {
    const { value, cohort } = own.figures[name]
    return { value, change: cohort?.delta ?? null }
  }
  return {
    site: own.target.label,
    keywords: summary.keywords,
    checked: topTen.observed,
    from,
    until,
    compared,
    trend,
    visibility: of('visibility'),
    averagePosition: of('average_position'),
    clicks: of('clicks'),
    topTen: { value: topTen.now, change: topTen.change },
  }
}

/** Rows with problems first, the worst of them at the top, jobs that are no longer run at the end; by name among equals. */
export function inOrder(rows: readonly PortfolioRow[]): readonly PortfolioRow[] {
  const place = ({ level }: PortfolioRow): number =>
    level === null ? portfolioLevels.length : portfolioLevels.indexOf(level)
  const key = ({ name, job }: PortfolioRow): readonly string[] => [name.toLowerCase(), job]
  return [...rows].sort((a, b) => place(a) - place(b) || compareKeys(key(a), key(b)))
}

/** The language of the page: that of the reports, where they have only one. */
export function commonLanguage(rows: readonly Pick<PortfolioRow, 'language'>[]): Language {
  const [first, ...others] = new Set(rows.flatMap(({ language }) => language ?? []))
  return first === undefined || others.length > 0 ? 'en' : first
}

/** By code units: the same order on every machine. */
function compareKeys(a: readonly string[], b: readonly string[]): number {
  const place = a.findIndex((text, index) => text !== b[index])
  return place === -1 ? 0 : (a[place] as string) < (b[place] as string) ? -1 : 1
}
