import type { CellKind } from '../../xlsx/sheet.ts'
import type { Sheet } from '../../xlsx/workbook.ts'
import { standingsOf, valueOn } from '../cohort.ts'
import { reportColumns } from '../columns.ts'
import type { DayValue } from '../day-cell.ts'
import { metrics } from '../metrics/index.ts'
import { rankingLinks } from '../metrics/ranking-link.ts'
import { type Mover, winnersAndLosers } from '../metrics/winners.ts'
import type { Keyword, RankHistory, TrackedTarget } from '../rank-history.ts'
import type { Row } from '../rank-rows.ts'
import { standingsByTarget } from '../summary.ts'
import type { WholeReport } from '../whole-report.ts'
import { keywordFields } from './keywords.ts'
import { field, type SheetField, sheet } from './sheets.ts'

/** What is no text in the rows of a report. */
const kinds: Readonly<Partial<Record<string, CellKind>>> = {
  date: 'date',
  observed_at: 'datetime',
  rank: 'number',
  depth: 'number',
  run_id: 'number',
  previous_date: 'date',
  previous_rank: 'number',
  change: 'number',
  best_rank: 'number',
  best_date: 'date',
  suspect: 'number',
  volume: 'number',
}

const textWidths: Readonly<Partial<Record<string, number>>> = {
  query: 36,
  operation: 14,
  gl: 6,
  hl: 6,
  state: 10,
  exactness: 11,
  movement: 11,
  url: 50,
  title: 40,
  intended_url: 50,
}

/** The rows of the report, as CSV and JSON have them, then what the job says of each query. */
export function rankingsSheet({ report }: WholeReport): Sheet {
  const names = [...reportColumns, 'volume', 'intended_url', 'params']
  const fields = names.map((name) =>
    field<Row>(name, kinds[name] ?? 'text', (row) => row[name] ?? null, textWidths[name]),
  )
  return sheet('Rankings', fields, report.rows)
}

interface Moved extends Mover {
  readonly target: string
}

/** Everything that was won or lost, of every kind of results, in the order of what it is worth. */
export function movementSheet({ history, compare, measure }: WholeReport): Sheet {
  const byTarget = standingsByTarget(standingsOf(history, compare))
  const moved = history.targets.flatMap(({ label }, target) => {
    const { winners, losers } = winnersAndLosers(byTarget.get(target) ?? [], measure.curve)
    return [...winners, ...losers].map((mover): Moved => ({ ...mover, target: label }))
  })
  return sheet<Moved>(
    'Movement',
    [
      field('target', 'text', ({ target }) => target),
      field('movement', 'text', ({ standing }) => standing.change.movement, 12),
      ...keywordFields<Moved>(({ standing }) => standing.keyword),
      field('volume', 'number', ({ standing }) => standing.keyword.volume),
      field('previous_rank', 'number', ({ standing }) => standing.baseline?.value.rank ?? null),
      field('rank', 'number', ({ standing }) => standing.current.rank),
      field('change', 'number', ({ standing }) => standing.change.change),
      field(`${metrics.gain.label}, ${metrics.gain.unit}`, 'decimal', ({ gain }) => gain),
    ],
    moved,
  )
}

interface Observation {
  readonly date: string
  readonly keyword: Keyword
  readonly target: TrackedTarget
  readonly value: DayValue
  readonly url: string | null
}

/** A row for each day, keyword and target of which anything was observed: what a pivot table is made of. */
export function historySheet(history: RankHistory): Sheet {
  const fields: readonly SheetField<Observation>[] = [
    field('date', 'date', ({ date }) => date),
    ...keywordFields<Observation>(({ keyword }) => keyword),
    field('tags', 'text', ({ keyword }) => (keyword.tags.length === 0 ? null : keyword.tags.join(';')), 16),
    field('volume', 'number', ({ keyword }) => keyword.volume),
    field('target', 'text', ({ target }) => target.label),
    field('own', 'number', ({ target }) => (target.own ? 1 : 0), 6),
    field('state', 'text', ({ value }) => value.state, 10),
    field('rank', 'number', ({ value }) => value.rank),
    field('exactness', 'text', ({ value }) => value.exactness, 11),
    field('depth', 'number', ({ value }) => value.depth),
    field('url', 'text', ({ url }) => url, 50),
  ]
  // Excel keeps the name History for itself.
  return sheet('Rank history', fields, observations(history))
}

function* observations({ days, keywords, targets, series, links }: RankHistory): Generator<Observation> {
  for (const one of series) {
    const ranking = rankingLinks(one)
    const keyword = keywords[one.keyword] as Keyword
    const target = targets[one.target] as TrackedTarget
    for (const day of one.cells.keys()) {
      const value = valueOn(one, day)
      if (value === null) continue
      const link = ranking[day] ?? null
      yield {
        date: days[day] as string,
        keyword,
        target,
        value,
        url: link === null ? null : (links[link] ?? null),
      }
    }
  }
}
