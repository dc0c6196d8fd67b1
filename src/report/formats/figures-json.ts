import { asStream } from '../../output/formats/format.ts'
import { reportPageData } from '../build-data.ts'
import type { PageData } from '../data.ts'
import type { ComparedFigure } from '../headline.ts'
import { hasClicks, historyOfParts, type Part, partKey, partOf } from '../history/filter-history.ts'
import { type KeywordStatus, keywordStatuses } from '../history/keyword-status.ts'
import type { Keyword, RankHistory } from '../history/rank-history.ts'
import { definitionOf, type MetricName, metrics } from '../metrics/definitions.ts'
import type { Figure, MetricOptions } from '../metrics/figure.ts'
import { headlineMetrics } from '../metrics/index.ts'
import type { Mover } from '../metrics/movements.ts'
import { countLanding, landingPages, pagesOf, urlSwaps } from '../metrics/pages.ts'
import { bestRank, top } from '../metrics/positions.ts'
import { citationShare, ownership, serpPairs, volatility } from '../metrics/serps.ts'
import { discoverCompetitors, serpShareOfVoice } from '../metrics/shares.ts'
import type { ReportFormat } from '../report.ts'
import {
  type PartSummary,
  type Summary,
  statusesByTarget,
  summarise,
  type TargetSummary,
} from '../summary.ts'

/** The figures alone, for programs. */
export const figuresJsonFormat: ReportFormat = {
  chunks: (source) => {
    const { measure, ranked } = source
    const data = reportPageData(source)
    const summary = summarise(data.history, { ...measure, compare: ranked.compare })
    const suspect = ranked.report().rows.filter((row) => row.suspect === 1).length
    const document = {
      ...summaryDocument(summary, data),
      suspect_observations: suspect,
      ...suspectRun(data.history),
    }
    return asStream(`${JSON.stringify(document, null, 2)}\n`)
  },
  measured: true,
  dayBefore: true,
}

/** Why the newest run is suspect as a whole; nothing where it is not. */
function suspectRun({ suspect }: RankHistory) {
  if (suspect === undefined) return {}
  const { gone, ranked, alike } = suspect
  return { suspect_run: { gone, ranked, alike } }
}

/** Keywords and sites in a list at most. */
const mostListed = 20

/**
 * A summary for programs: every metric with its definition, its numerator and denominator, and its coverage. Figures are of
 * the headline kind of results, by engine; other kinds follow in a list of their own.
 */
export function summaryDocument(summary: Summary, data: PageData) {
  const { curve, parts, otherParts } = summary
  const source: FiguresSource = {
    summary,
    data,
    measure: { curve, absent: summary.absent },
    history: historyOfParts(data.history, parts),
    byTarget: statusesByTarget(keywordStatuses(data.history, data.compare)),
    pages: pagesOf(data.links),
  }
  return {
    job: summary.job,
    date: summary.date,
    period: data.period === null ? null : { from: data.period.from, until: data.period.until },
    compared_with: summary.compared,
    ctr_curve: { name: curve.name, version: curve.version, source: curve.source },
    keywords: {
      asked: summary.keywords,
      added: summary.added,
      removed: summary.removed,
      ...changedKeywords(data.history),
    },
    kind: parts[0]?.kind ?? null,
    targets: summary.targets.map((one) => targetDocument(one, source)),
    first_ten: [...parts, ...otherParts].map((part) => firstTenDocument(part, source)),
  }
}

/** How many keywords are asked otherwise than before, by the day of the change; nothing where all were always asked so. */
function changedKeywords({ keywords }: RankHistory) {
  const days = keywords.flatMap(({ since }) => since ?? [])
  return days.length === 0
    ? {}
    : {
        asked_otherwise: [...new Set(days)]
          .sort()
          .map((since) => ({ since, keywords: days.filter((day) => day === since).length })),
      }
}

interface FiguresSource {
  readonly summary: Summary
  readonly data: PageData
  readonly measure: MetricOptions
  /** The keywords of the headline kind of results. */
  readonly history: RankHistory
  readonly byTarget: ReadonlyMap<number, readonly KeywordStatus[]>
  /** For each link of the first results the number of its page. */
  readonly pages: readonly number[]
}

function targetDocument(one: TargetSummary, source: FiguresSource) {
  const { summary, data } = source
  const place = data.history.targets.indexOf(one.target)
  const isHeadline = ({ kind }: Part): boolean => kind === summary.parts[0]?.kind
  return {
    target: one.target.label,
    site: one.target.site,
    own: one.target.own,
    figures: one.parts.filter(isHeadline).flatMap((part) => partFigures(part, place, source)),
    ...countsDocument(one),
    movers: {
      ...aboutOf('gain', source),
      winners: one.winners.map(moverDocument),
      losers: one.losers.map(moverDocument),
    },
    best_rank: { ...aboutOf('best_rank', source), ...bestOf(place, source) },
    landing_page: landingDocument(place, source),
    cannibalisation: urlSwapsDocument(place, source),
    head_to_head: one.competitors.map(({ other, ...counts }) => ({
      against: other.label,
      ...aboutOf('head_to_head', source),
      ...counts,
    })),
    citations: citationDocuments(place, source),
    other_kinds: one.parts
      .filter((part) => !isHeadline(part))
      .map((part) => ({
        kind: part.kind,
        engine: part.engine,
        figures: partFigures(part, place, source),
        ...countsDocument(part),
      })),
  }
}

/** The definition of a metric. */
function aboutOf(metric: MetricName, { measure }: Pick<FiguresSource, 'measure'>) {
  const { label, unit, better, definition, formula, denominator: by } = definitionOf(metric, measure)
  return { metric, label, unit, better, definition, formula, divided_by: by }
}

/** Every figure of one kind of results of one engine. AI references have no figures by clicks. */
function partFigures(part: PartSummary, target: number, source: FiguresSource) {
  const { kind, engine, figures } = part
  const { data, measure } = source
  const about = (metric: MetricName) => ({ ...aboutOf(metric, source), kind, engine })
  const history = historyOfParts(data.history, [part])
  const shown = data.serps.filter(({ day }) => day === data.history.days.length - 1)
  const own = (source.byTarget.get(target) ?? []).filter(
    ({ keyword }) => partKey(partOf(keyword)) === partKey(part),
  )
  const firstTen = ownership(own, target, shown)[0]?.firstTen
  const voice = serpShareOfVoice(shown, target, { history, curve: measure.curve })
  return [
    ...headlineMetrics
      .filter(({ byClicks }) => !byClicks || hasClicks(kind))
      .map(({ name }) => ({ ...about(name), ...numbers(figures[name]), ...sameKeywords(figures[name]) })),
    ...(hasClicks(kind)
      ? [{ ...about('serp_share_of_voice'), ...numbers(voice), weighed_by: voice.weight }]
      : []),
    ...(firstTen === undefined ? [] : [{ ...about('first_ten_share'), ...numbers(firstTen) }]),
  ]
}

function numbers({ value, numerator, denominator, coverage, uncounted }: Figure) {
  return { value, numerator, denominator, ...coverage, uncounted }
}

function sameKeywords({ cohort }: ComparedFigure) {
  if (cohort === null) return { same_keywords: null }
  const { now, before, delta } = cohort
  return { same_keywords: { now: numbers(now), before: numbers(before), delta } }
}

/** Keywords by rank and by movement. */
function countsDocument({ distribution, movements }: Pick<PartSummary, 'distribution' | 'movements'>) {
  return {
    distribution: { definition: metrics.distribution.definition, ...distribution },
    top_ranks: {
      definition: metrics.top_ranks.definition,
      top_3: top(distribution, 3),
      top_10: top(distribution, 10),
    },
    movements: { definition: metrics.movements.definition, ...movements },
  }
}

function moverDocument({ status, gain }: Mover) {
  const { keyword, current, baseline, change }: KeywordStatus = status
  return {
    ...keywordDocument(keyword),
    volume: keyword.volume,
    movement: change.movement,
    rank: current.rank,
    previous_rank: baseline?.value.rank ?? null,
    change: change.change,
    gain,
  }
}

function keywordDocument({ query, operation, params }: Keyword) {
  return { query, operation, params }
}

/** The best rank over all keywords of the headline kind, with its first day and keyword. */
function bestOf(target: number, { history }: FiguresSource) {
  const all = history.series.flatMap((one) => {
    const best = one.target === target ? bestRank(one.cells) : null
    return best === null ? [] : [{ ...best, keyword: one.keyword }]
  })
  const [first] = all.sort((a, b) => a.rank - b.rank || a.day - b.day || a.keyword - b.keyword)
  if (first === undefined) return { value: null, date: null, query: null, operation: null, params: null }
  const keyword = history.keywords[first.keyword] as Keyword
  return { value: first.rank, date: history.days[first.day], ...keywordDocument(keyword) }
}

function landingDocument(target: number, source: FiguresSource) {
  const { data, summary, byTarget } = source
  const own = (byTarget.get(target) ?? []).filter(({ keyword }) => keyword.kind === summary.parts[0]?.kind)
  const counts = countLanding(landingPages(own, data.history))
  return {
    ...aboutOf('landing_page', source),
    right: counts.right,
    wrong_page: counts['wrong page'],
    not_ranked: counts['not ranked'],
    none_intended: counts['none intended'],
    unknown: counts.unknown,
  }
}

function urlSwapsDocument(target: number, source: FiguresSource) {
  const { history } = source
  const all = urlSwaps(history).filter((one) => one.target === target)
  return {
    ...aboutOf('cannibalisation', source),
    value: all.reduce((sum, { swaps }) => sum + swaps, 0),
    keywords: all.length,
    most: all.slice(0, mostListed).map(({ keyword, swaps, together, pages }) => ({
      ...keywordDocument(history.keywords[keyword] as Keyword),
      flips: swaps,
      days_together: together.length,
      pages: pages.map(({ link, days, leading }) => ({
        url: history.links[link],
        days: days.length,
        days_first: leading,
      })),
    })),
  }
}

/** The citations of the target in the AI answers of the last day. */
function citationDocuments(target: number, source: FiguresSource) {
  const { history, citations } = source.data
  const asked = new Set(
    history.series.flatMap(({ keyword }) =>
      history.keywords[keyword]?.kind === 'reference' ? [keyword] : [],
    ),
  )
  const now = citations.filter(({ day }) => day === history.days.length - 1)
  const share = citationShare(now, target, asked.size)
  return [
    { ...aboutOf('cited_answers', source), ...numbers(share.answers) },
    { ...aboutOf('citation_share', source), ...numbers(share.citations) },
    { ...aboutOf('citation_index', source), value: share.averageIndex, first: share.averageFirstIndex },
  ]
}

/** The first ten results of one kind and engine, over all sites. */
function firstTenDocument(part: Part, source: FiguresSource) {
  const { data, measure } = source
  const history = historyOfParts(data.history, [part])
  const pairs = serpPairs(history, data.serps, data.compare)
  const { value, numerator, denominator, compared, serps } = volatility(pairs, (link) => source.pages[link])
  const found = discoverCompetitors(pairs, { history, curve: measure.curve })
  const sites = hasClicks(part.kind) ? found.sites : []
  return {
    kind: part.kind,
    engine: part.engine,
    turnover: { ...aboutOf('turnover', source), value, numerator, denominator, compared, serps },
    site_share: {
      ...aboutOf('site_share', source),
      serps: found.serps,
      uncounted: found.uncounted,
      weighed_by: found.weight,
      sites: [...sites]
        .sort((a, b) => (b.share ?? 0) - (a.share ?? 0))
        .slice(0, mostListed)
        .map(({ site, targets, appearances, appearancesBefore, share, shareBefore, change }) => ({
          site: data.sites[site],
          targets: targets.map((one) => data.history.targets[one]?.label),
          value: share,
          before: shareBefore,
          change,
          serps: appearances,
          serps_before: appearancesBefore,
        })),
    },
  }
}
