import type { Sheet } from '../../xlsx/workbook.ts'
import { discoverCompetitors, type SiteShare } from '../metrics/discovery.ts'
import { serpPairs } from '../metrics/serps.ts'
import type { Serp, SerpResult } from '../page-data.ts'
import { hasClicks, historyOfParts, kindWords, type Part, partsOf } from '../parts.ts'
import type { Keyword, RankHistory } from '../rank-history.ts'
import type { ReportWithSerps } from '../whole-report.ts'
import { keywordFields } from './keywords.ts'
import { field, sheet } from './sheets.ts'

interface Result {
  readonly serp: Serp
  readonly keyword: Keyword
  readonly result: SerpResult
}

/** The first ten results of every keyword, of the latest day and of the one that it is compared with. */
export function serpsSheet({ history, serps: { serps, texts, links, sites } }: ReportWithSerps): Sheet {
  const named = (place: number | null, names: readonly string[]) =>
    place === null ? null : (names[place] ?? null)
  const all = serps.flatMap((serp) =>
    serp.results.map(
      (result): Result => ({ serp, result, keyword: history.keywords[serp.keyword] as Keyword }),
    ),
  )
  return sheet<Result>(
    'SERPs',
    [
      field('date', 'date', ({ serp }) => history.days[serp.day] ?? null),
      ...keywordFields<Result>(({ keyword }) => keyword),
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

/** Every site among the first ten results of each kind and engine, with what it gained: who else competes. */
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
      field('results', 'text', ({ kind }) => kindWords[kind], 14),
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

/** Targets by name, as tags are written. */
function labelsOf(targets: readonly number[], history: RankHistory): string | null {
  return targets.length === 0 ? null : targets.map((one) => history.targets[one]?.label ?? '').join(';')
}
