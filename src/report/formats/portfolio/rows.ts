import type { Cell } from '../../../model/result.ts'
import type { PortfolioRow } from './row.ts'

export const portfolioColumns = [
  'job',
  'client',
  'level',
  'problems',
  'site',
  'keywords',
  'checked',
  'from',
  'date',
  'compared_date',
  'visibility',
  'visibility_change',
  'average_position',
  'average_position_change',
  'top_10',
  'top_10_change',
  'clicks',
  'clicks_change',
  'last_good_run',
  'spent_this_month',
  'open_alerts',
] as const

/**
 * A row for programs. Shares are from 0 to 1, changes are now minus before; null is not known.
 *
 * @param json whether problems are a list, as JSON text
 */
export function portfolioCells(
  row: PortfolioRow,
  json: boolean,
): Readonly<Record<(typeof portfolioColumns)[number], Cell>> {
  const { ranks } = row
  const problems = row.problems.map(({ text }) => text)
  return {
    job: row.job,
    client: row.name,
    level: row.level,
    problems: json ? JSON.stringify(problems) : problems.join('; ') || null,
    site: ranks?.site ?? null,
    keywords: ranks?.keywords ?? null,
    checked: ranks?.checked ?? null,
    from: ranks?.from ?? null,
    date: ranks?.until ?? null,
    compared_date: ranks?.compared ?? null,
    visibility: ranks?.visibility.value ?? null,
    visibility_change: ranks?.visibility.change ?? null,
    average_position: ranks?.averagePosition.value ?? null,
    average_position_change: ranks?.averagePosition.change ?? null,
    top_10: ranks?.topTen.value ?? null,
    top_10_change: ranks?.topTen.change ?? null,
    clicks: ranks?.clicks.value ?? null,
    clicks_change: ranks?.clicks.change ?? null,
    last_good_run: row.lastGood === null ? null : new Date(row.lastGood).toISOString(),
    spent_this_month: row.spentThisMonth,
    open_alerts: row.openAlerts,
  }
}
