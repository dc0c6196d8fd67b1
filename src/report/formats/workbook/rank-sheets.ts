import type { Row } from '../../../model/result.ts'
import type { Sheet } from '../../../output/xlsx.ts'
import type { PageSerp, SerpResult } from '../../data.ts'
import { keywordStatuses, valueOn } from '../../history/keyword-status.ts'
import { hasClicks, historyOfParts, kindLabels, type Part, partsOf } from '../../history/parts.ts'
import type { DayValue, Keyword, RankHistory, TrackedTarget } from '../../history/rank-history.ts'
import { metrics } from '../../metrics/index.ts'
import { type Mover, winnersAndLosers } from '../../metrics/movements.ts'
import { rankingLinks, serpPairs } from '../../metrics/serps.ts'
import { discoverCompetitors, type SiteShare } from '../../metrics/site-shares.ts'
import type { ReportWithSerps, WholeReport } from '../../report.ts'
import { statusesByTarget } from '../../summary.ts'
import { columnKinds, labelColumn, labelNames, rowsOf } from '../rows.ts'
import { field, keywordFields, type SheetField, sheet } from './sheet.ts'

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

/** The rows of the report as in CSV. */
export function rankingsSheet({ report, presentation }: WholeReport): Sheet {
  const labels = labelNames(report).map((name) => [labelColumn(name), 'text'] as const)
  const isShown = (name: string): boolean => presentation.audience === 'team' || name !== 'run_id'
  const fields = [...Object.entries(columnKinds), ...labels].flatMap(([name, kind]) =>
    isShown(name) ? [field<Row>(name, kind, (row) => row[name] ?? null, textWidths[name])] : [],
  )
  return sheet('Rankings', fields, rowsOf(report))
}

interface Moved extends Mover {
  readonly target: string
}

/** Every winner and loser, over all kinds of results, in the order of their worth. */
export function movementSheet({ history, compare, measure }: WholeReport): Sheet {
  const byTarget = statusesByTarget(keywordStatuses(history, compare))
  const moved = history.targets.flatMap(({ label }, target) => {
    const { winners, losers } = winnersAndLosers(byTarget.get(target) ?? [], measure.curve)
    return [...winners, ...losers].map((mover): Moved => ({ ...mover, target: label }))
  })
  return sheet<Moved>(
    'Movement',
    [
      field('target', 'text', ({ target }) => target),
      field('movement', 'text', ({ status }) => status.change.movement, 12),
      ...keywordFields<Moved>(({ status }) => status.keyword),
      field('volume', 'number', ({ status }) => status.keyword.volume),
      field('previous_rank', 'number', ({ status }) => status.baseline?.value.rank ?? null),
      field('rank', 'number', ({ status }) => status.current.rank),
      field('change', 'number', ({ status }) => status.change.change),
      field(`${metrics.gain.label}, ${metrics.gain.unit}`, 'decimal', ({ gain }) => gain),
    ],
    moved,
  )
}

interface ObservationLine {
  readonly date: string
  readonly keyword: Keyword
  readonly target: TrackedTarget
  readonly value: DayValue
  readonly url: string | null
}

/** A row for each observed day, keyword and target: the input of a pivot table. */
export function historySheet(history: RankHistory): Sheet {
  const fields: readonly SheetField<ObservationLine>[] = [
    field('date', 'date', ({ date }) => date),
    ...keywordFields<ObservationLine>(({ keyword }) => keyword),
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
  // Excel reserves the name History.
  return sheet('Rank history', fields, observations(history))
}

function* observations({ days, keywords, targets, series, links }: RankHistory): Generator<ObservationLine> {
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

interface ResultLine {
  readonly serp: PageSerp
  readonly keyword: Keyword
  readonly result: SerpResult
}

/** The first ten results of every keyword on the latest and on the compared day. */
export function serpsSheet({ history, serps: { serps, texts, links, sites } }: ReportWithSerps): Sheet {
  const named = (place: number | null, names: readonly string[]) =>
    place === null ? null : (names[place] ?? null)
  const all = serps.flatMap((serp) =>
    serp.results.map(
      (result): ResultLine => ({ serp, result, keyword: history.keywords[serp.keyword] as Keyword }),
    ),
  )
  return sheet<ResultLine>(
    'SERPs',
    [
      field('date', 'date', ({ serp }) => history.days[serp.day] ?? null),
      ...keywordFields<ResultLine>(({ keyword }) => keyword),
      field('rank', 'number', ({ result: [rank] }) => rank),
      field('title', 'text', ({ result }) => named(result[1], texts), 50),
      field('link', 'text', ({ result }) => named(result[2], links), 60),
      field('site', 'text', ({ result }) => named(result[3], sites)),
      field('target', 'text', ({ result: [, , , , targets] }) => labelsOf(targets, history)),
    ],
    all,
  )
}

interface SiteOfPart extends Part, SiteShare {}

/** Every site among the first ten results of each kind and engine, with its gain. */
export function sitesSheet({ history, compare, measure, serps: { serps, sites } }: ReportWithSerps): Sheet {
  const { curve } = measure
  const all = partsOf(history, measure.kind).flatMap((part) => {
    const some = historyOfParts(history, [part])
    if (!hasClicks(part.kind)) return []
    const found = discoverCompetitors(serpPairs(some, serps, compare), { history: some, curve })
    return found.sites.map((site): SiteOfPart => ({ ...part, ...site }))
  })
  return sheet<SiteOfPart>(
    'Sites',
    [
      field('results', 'text', ({ kind }) => kindLabels[kind], 14),
      field('engine', 'text', ({ engine }) => engine, 8),
      field('site', 'text', ({ site }) => sites[site] ?? null),
      field('target', 'text', ({ targets }) => labelsOf(targets, history)),
      field('SERPs', 'number', ({ appearances }) => appearances),
      field('SERPs before', 'number', ({ appearancesBefore }) => appearancesBefore),
      field('share', 'percent', ({ share }) => share),
      field('share before', 'percent', ({ shareBefore }) => shareBefore),
      field('change', 'percent', ({ change }) => change),
    ],
    all,
  )
}

/** The names of targets, joined by `;` as tags are. */
function labelsOf(targets: readonly number[], history: RankHistory): string | null {
  return targets.length === 0 ? null : targets.map((one) => history.targets[one]?.label ?? '').join(';')
}
