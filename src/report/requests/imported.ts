import { nearestImportedPage } from '../../arrive/clusters/clusters.ts'
import type { Target } from '../../model/job.ts'
import { siteOf } from '../../model/public-suffix.ts'
import { markets } from '../../model/query.ts'
import { groupedBy, textInLowerCase } from '../../model/text.ts'
import { dayText } from '../../model/time.ts'
import { parseLink } from '../../model/url.ts'
import { matcherOf } from '../../rank/match.ts'
import type { ImportedSeries } from '../../store/sqlite/imports/reads.ts'
import type { Store } from '../../store/sqlite/open.ts'
import type { DayCell, RankHistory } from '../history/rank-history.ts'

/** Points of a line at most. */
const mostPoints = 300

/**
 * The imported ranks of the keywords and targets of a history, from before its first day, in one line each, however many files they came
 * from. Long spans have a point for some days each.
 */
export function importedHistory(
  { keywords, targets }: Pick<RankHistory, 'keywords' | 'targets'>,
  all: readonly ImportedSeries[],
  pointsOf: Store['importedPoints'],
): NonNullable<RankHistory['imported']> | null {
  const byText = groupedBy(all, ({ query }) => textInLowerCase(query))
  const chosen = keywords.flatMap((keyword, place) => {
    if (keyword.kind !== 'organic') return []
    const fitting = (byText.get(textInLowerCase(keyword.query)) ?? []).filter(
      (one) => markets.includes(one, keyword.params) && isOfEngine(one.engine, keyword.operation),
    )
    return targets.flatMap((target, index) => {
      const drawn = drawnOf(fitting.filter((one) => isTargetOf(target, one)))
      return drawn.length === 0 ? [] : [{ keyword: place, target: index, drawn }]
    })
  })
  const drawn = chosen.flatMap((one) => one.drawn)
  if (drawn.length === 0) return null
  const start = drawn.reduce((least, { from }) => Math.min(least, from), Number.POSITIVE_INFINITY)
  const last = drawn.reduce((most, { until }) => Math.max(most, until), 0)
  const step = Math.ceil((last - start + 1) / mostPoints)
  const points = Math.floor((last - start) / step) + 1
  return {
    sources: [...new Set(drawn.map(({ series }) => series.source))].sort(),
    countsAll: drawn.some(({ series }) => series.ruler === 'all'),
    days: Array.from({ length: points }, (_, point) => dayText(start + point * step)),
    lines: chosen.map(({ keyword, target, drawn: own }) => {
      const cells: DayCell[] = Array(points).fill(null)
      const days = new Int32Array(points)
      // The last day of a point stays; of one day that which was imported first.
      for (const { series, from, until } of own)
        for (const { point, day, rank, depth } of pointsOf(series.id, { from, until, start, step }))
          if (day > (days[point] as number)) {
            days[point] = day
            cells[point] = rank ?? -1 - (depth ?? 0)
          }
      return { keyword, target, cells }
    }),
  }
}

/**
 * What is drawn of series that were followed in one way or in several: what is nearest to a measured rank (organic ranks first, not on mobile,
 * in its own market), with the days of all imports that followed it so. Other ways that count alike on the same devices go on with it before its
 * first day and after its last one. Each with the days of it that are drawn.
 */
function drawnOf(all: readonly ImportedSeries[]) {
  const nearestFirst = all.toSorted((a, b) => distance(a) - distance(b))
  const ways = groupedBy(nearestFirst, ({ ruler, device, gl, hl, location }) =>
    JSON.stringify([ruler, device, gl, hl, location]),
  )
  const [nearest = [], ...others] = ways.values()
  const drawn = nearest.map((series) => ({ series, from: series.first, until: series.last }))
  for (const other of others) {
    if (!countsAlike(nearest[0], other[0])) continue
    const first = Math.min(...drawn.map(({ from }) => from))
    const last = Math.max(...drawn.map(({ until }) => until))
    for (const series of other) {
      if (series.first < first)
        drawn.push({ series, from: series.first, until: Math.min(series.last, first - 1) })
      if (series.last > last)
        drawn.push({ series, from: Math.max(series.first, last + 1), until: series.last })
    }
  }
  return drawn
}

function countsAlike(one: ImportedSeries | undefined, other: ImportedSeries | undefined): boolean {
  return one?.ruler === other?.ruler && (one?.device === 'mobile') === (other?.device === 'mobile')
}

function isTargetOf({ site }: Target, { target }: ImportedSeries): boolean {
  return (
    site
      .toLowerCase()
      .replace(/^(?:https?:\/\/)?(?:www\.)?/, '')
      .replace(/\/$/, '') === target
  )
}

function distance(one: ImportedSeries): number {
  return (one.ruler === 'organic' ? 0 : 4) + markets.distance(one)
}

/** Engines that rank trackers name beside the usual one, also by company or host. Short words count only as a whole. */
const otherEngines =
  /(?<![a-z])(?:bing|yahoo|yandex|baidu|duckduckgo|naver|seznam|ecosia|youtube|amazon|app store|(?:brave|ask|aol|apple)(?![a-z]))/i

/** Whether what was imported can be of the engine of an operation: `alpha` is the usual one. A file that names none is of any. */
function isOfEngine(engine: string | null, operation: string): boolean {
  return engine === null || otherEngines.test(engine) !== operation.startsWith('alpha.')
}

/** Results that count, and sites that are named. */
const [firstResults, mostSites] = [10, 3]

/** Sites of others that stand most often among the first results that were imported of the keywords, by the newest page of each. */
export function importedSites(
  store: Pick<Store, 'importedSearches' | 'newestImportedPage' | 'importedLinks'>,
  { job, keywords, targets }: Pick<RankHistory, 'job' | 'keywords' | 'targets'>,
) {
  const searches = groupedBy(store.importedSearches(job), ({ text }) => textInLowerCase(text))
  const own = targets.filter((target) => target.own).map(matcherOf)
  const counts = new Map<string, number>()
  let asked = 0
  for (const { query, params, kind } of keywords) {
    const fitting = (searches.get(textInLowerCase(query)) ?? []).filter((one) =>
      markets.includes(one, params),
    )
    const page = kind === 'organic' ? nearestImportedPage(store, fitting) : null
    if (page === null) continue
    asked += 1
    const others = store
      .importedLinks(page)
      .slice(0, firstResults)
      .filter((link) => !own.some((isOwn) => isOwn(link)))
      .flatMap((link) => parseLink(link)?.host || [])
    for (const site of new Set(others.map((host) => siteOf(host) ?? host)))
      counts.set(site, (counts.get(site) ?? 0) + 1)
  }
  const sites = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, mostSites)
  return { asked, sites: sites.map(([site, keywords]) => ({ site, keywords })) }
}
