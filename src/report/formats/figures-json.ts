import { asStream } from '../../output/formats/format.ts'
import { reportPageData } from '../build-data.ts'
import type { PageData } from '../data.ts'
import type { ComparedFigure } from '../headline.ts'
import { hasClicks, historyOfParts, type Part, partKey, partOf } from '../history/filter-history.ts'
import { keywordStatuses } from '../history/keyword-status.ts'
import type { Keyword } from '../history/rank-history.ts'
import { definitionOf, type MetricName, metrics } from '../metrics/definitions.ts'
import type { Figure } from '../metrics/figure.ts'
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
    const { suspect } = data.history
    const document = {
      ...summaryDocument(summary, data),
      suspect_observations: ranked.report().rows.filter((row) => row.suspect === 1).length,
      /** Why the newest run is suspect as a whole; left out where it is not. */
      suspect_run: suspect && { gone: suspect.gone, ranked: suspect.ranked, alike: suspect.alike },
    }
    return asStream(`${JSON.stringify(document, null, 2)}\n`)
  },
  measured: true,
  dayBefore: true,
}

/** Keywords and sites in a list at most. */
const mostListed = 20

/**
 * A summary for programs: every metric with its definition, its numerator and denominator, and its coverage. Figures are of
 * the headline kind of results, by engine; other kinds follow in a list of their own.
 */
export function summaryDocument(summary: Summary, data: PageData) {
  const { curve, parts, otherParts } = summary
  const { history, period } = data
  const source = figuresSource(summary, data)
  const changes = history.keywords.flatMap(({ since }) => since ?? [])
  return {
    job: summary.job,
    date: summary.date,
    period: period && { from: period.from, until: period.until },
    compared_with: summary.compared,
    ctr_curve: { name: curve.name, version: curve.version, source: curve.source },
    keywords: {
      asked: summary.keywords,
      added: summary.added,
      removed: summary.removed,
      /** How many keywords are asked otherwise than before, by the day of the change; left out where all were always asked so. */
      asked_otherwise:
        changes.length === 0
          ? undefined
          : [...new Set(changes)]
              .sort()
              .map((since) => ({ since, keywords: changes.filter((day) => day === since).length })),
    },
    kind: source.kind,
    targets: summary.targets.map((one) => targetDocument(one, source)),
    first_ten: [...parts, ...otherParts].map((part) => firstTenDocument(part, source)),
  }
}

function figuresSource(summary: Summary, data: PageData) {
  return {
    summary,
    data,
    /** The headline kind of results, and its keywords. */
    kind: summary.parts[0]?.kind ?? null,
    history: historyOfParts(data.history, summary.parts),
    byTarget: statusesByTarget(keywordStatuses(data.history, data.compare)),
    /** For each link of the first results the number of its page. */
    pages: pagesOf(data.links),
    /** The definition of a metric. */
    about: (metric: MetricName) => {
      const { label, unit, better, definition, formula, denominator: by } = definitionOf(metric, summary)
      return { metric, label, unit, better, definition, formula, divided_by: by }
    },
  }
}

type FiguresSource = ReturnType<typeof figuresSource>

function targetDocument(one: TargetSummary, source: FiguresSource) {
  const { about } = source
  const place = source.data.history.targets.indexOf(one.target)
  const isHeadline = ({ kind }: Part): boolean => kind === source.kind
  return {
    target: one.target.label,
    site: one.target.site,
    own: one.target.own,
    figures: one.parts.filter(isHeadline).flatMap((part) => partFigures(part, place, source)),
    ...countsDocument(one),
    movers: {
      ...about('gain'),
      winners: one.winners.map(moverDocument),
      losers: one.losers.map(moverDocument),
    },
    best_rank: { ...about('best_rank'), ...bestOf(place, source) },
    landing_page: landingDocument(place, source),
    cannibalisation: urlSwapsDocument(place, source),
    head_to_head: one.competitors.map(({ other, ...counts }) => ({
      against: other.label,
      ...about('head_to_head'),
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

/** Every figure of one kind of results of one engine. AI references have no figures by clicks. */
function partFigures(part: PartSummary, target: number, source: FiguresSource) {
  const { kind, engine, figures } = part
  const { data, summary } = source
  const about = (metric: MetricName) => ({ ...source.about(metric), kind, engine })
  const history = historyOfParts(data.history, [part])
  const shown = data.serps.filter(({ day }) => day === data.history.days.length - 1)
  const own = (source.byTarget.get(target) ?? []).filter(
    ({ keyword }) => partKey(partOf(keyword)) === partKey(part),
  )
  const firstTen = ownership(own, target, shown)[0]?.firstTen
  const voice = serpShareOfVoice(shown, target, { history, curve: summary.curve })
  return [
    ...headlineMetrics
      .filter(({ byClicks }) => !byClicks || hasClicks(kind))
      .map(({ name }) => ({ ...about(name), ...comparedNumbers(figures[name]) })),
    ...(hasClicks(kind)
      ? [{ ...about('serp_share_of_voice'), ...numbers(voice), weighed_by: voice.weight }]
      : []),
    ...(firstTen === undefined ? [] : [{ ...about('first_ten_share'), ...numbers(firstTen) }]),
  ]
}

function numbers({ value, numerator, denominator, coverage, uncounted }: Figure) {
  return { value, numerator, denominator, ...coverage, uncounted }
}

function comparedNumbers({ cohort, ...figure }: ComparedFigure) {
  const same = cohort && { now: numbers(cohort.now), before: numbers(cohort.before), delta: cohort.delta }
  return { ...numbers(figure), same_keywords: same }
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

function moverDocument({ status: { keyword, current, baseline, change }, gain }: Mover) {
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
  const own = (source.byTarget.get(target) ?? []).filter(({ keyword }) => keyword.kind === source.kind)
  const counts = countLanding(landingPages(own, source.data.history))
  return {
    ...source.about('landing_page'),
    right: counts.right,
    wrong_page: counts['wrong page'],
    not_ranked: counts['not ranked'],
    none_intended: counts['none intended'],
    unknown: counts.unknown,
  }
}

function urlSwapsDocument(target: number, { history, about }: FiguresSource) {
  const all = urlSwaps(history).filter((one) => one.target === target)
  return {
    ...about('cannibalisation'),
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
function citationDocuments(target: number, { data, about }: FiguresSource) {
  const { history, citations } = data
  const isAsked = (keyword: number): boolean => history.keywords[keyword]?.kind === 'reference'
  const asked = new Set(history.series.map(({ keyword }) => keyword).filter(isAsked))
  const now = citations.filter(({ day }) => day === history.days.length - 1)
  const share = citationShare(now, target, asked.size)
  return [
    { ...about('cited_answers'), ...numbers(share.answers) },
    { ...about('citation_share'), ...numbers(share.citations) },
    { ...about('citation_index'), value: share.averageIndex, first: share.averageFirstIndex },
  ]
}

/** The first ten results of one kind and engine, over all sites. */
function firstTenDocument(part: Part, { data, summary, pages, about }: FiguresSource) {
  const history = historyOfParts(data.history, [part])
  const pairs = serpPairs(history, data.serps, data.compare)
  const found = discoverCompetitors(pairs, { history, curve: summary.curve })
  const sites = hasClicks(part.kind) ? found.sites : []
  return {
    kind: part.kind,
    engine: part.engine,
    turnover: { ...about('turnover'), ...volatility(pairs, (link) => pages[link]) },
    site_share: {
      ...about('site_share'),
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
