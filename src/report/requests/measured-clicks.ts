import {
  type ClickReads,
  type CountedSpan,
  clicksReader,
  isBrandWord,
  ownSites,
  periodFor,
  spansFor,
  sumOf,
} from '../../arrive/clicks/counted.ts'
import { fitCurve, fittedRanks, type KeywordSamples, type RankSample } from '../../arrive/clicks/fit.ts'
import { readDay } from '../../arrive/csv.ts'
import { grouped } from '../../model/text.ts'
import { dayText } from '../../model/time.ts'
import { defaultCurve } from '../ctr.ts'
import { ranksOn } from '../history/keyword-status.ts'
import { countedDays } from '../history/period.ts'
import type { RankHistory } from '../history/rank-history.ts'
import type { CtrCurve } from '../metrics/figure.ts'

/** The best own rank of each keyword on each day; days on which it is absent or not known are left out. */
function ownRanks(history: RankHistory): ReadonlyMap<number, ReadonlyMap<string, number>> {
  const ranks = new Map<number, Map<string, number>>()
  for (const series of history.series) {
    if (history.targets[series.target]?.own !== true) continue
    const ofKeyword = ranks.get(series.keyword) ?? new Map<string, number>()
    ranks.set(series.keyword, ofKeyword)
    for (const [place, day] of history.days.entries()) {
      const [rank] = ranksOn(series, place)
      if (rank !== undefined) ofKeyword.set(day, Math.min(rank, ofKeyword.get(day) ?? rank))
    }
  }
  return ranks
}

/**
 * What Search Console counted of each keyword at each rank: day by day where the files have days, else over a period in which its rank moved
 * by one place at most. Words of the brand are left out: they are clicked whatever their rank.
 */
export function clickSamples(store: ClickReads, history: RankHistory): readonly KeywordSamples[] {
  const ranks = ownRanks(history)
  const sites = ownSites(history.targets)
  const daily = clicksReader(store, history, 'day')
  const reader = daily.counted.length > 0 ? daily : clicksReader(store, history, 'period')
  const untilOf = new Map(reader.counted.map(({ from, until }) => [from, until]))
  // Of other days no rank is known.
  const [first = 0, last = 0] = [history.days[0], history.days.at(-1)].map((day) => readDay(day ?? ''))
  const rows = reader.rowsOf(reader.counted.filter(({ from, until }) => until >= first && from <= last))
  return history.keywords.flatMap(({ query, kind }, place) => {
    if (kind !== 'organic' || sites.some((site) => isBrandWord(query, site))) return []
    const ofKeyword = ranks.get(place) ?? new Map<string, number>()
    const samples: RankSample[] = []
    for (const { day, clicks, impressions } of rows[place] ?? []) {
      const rank = steadyRank(ofKeyword, day, untilOf.get(day) ?? day)
      if (rank !== null && rank <= fittedRanks) samples.push({ rank, clicks, impressions })
    }
    return samples.length === 0 ? [] : [{ keyword: query, samples }]
  })
}

/** The rank between two days, where it moved by one place at most; null where it is not known. */
function steadyRank(ranks: ReadonlyMap<string, number>, from: number, until: number): number | null {
  if (from === until) return ranks.get(dayText(from)) ?? null
  const within = [...ranks].flatMap(([day, rank]) => {
    const at = readDay(day)
    return at >= from && at <= until ? [rank] : []
  })
  within.sort((a, b) => a - b)
  const [least, most] = [within[0], within.at(-1)]
  if (least === undefined || most === undefined || most - least > 1) return null
  return within[Math.floor(within.length / 2)] ?? null
}

/** The curve of a job's own clicks; null where nothing was counted at any rank. */
export function ownCurve(store: ClickReads, history: RankHistory): CtrCurve | null {
  const samples = clickSamples(store, history).flatMap(({ samples: all }) => all)
  const fitted = fitCurve(samples, defaultCurve.rates)
  const scaled = fitted.filter(({ isDefault }) => isDefault).length
  if (scaled === fitted.length) return null
  const impressions = fitted.reduce((sum, one) => sum + one.impressions, 0)
  const rest =
    scaled === 0 ? '' : `; ${scaled} ranks with too few impressions follow the shape of ${defaultCurve.name}`
  return {
    name: `Own clicks of ${ownSites(history.targets).join(', ')}`,
    version: '1',
    source: `Search Console, ${grouped(impressions)} impressions, all devices${rest}`,
    rates: fitted.map(({ rate }) => rate),
  }
}

/** The history with what Search Console counted of its keywords in a period; as it is where nothing covers that. */
export function withCountedClicks(
  store: ClickReads,
  history: RankHistory,
  period: { readonly from: string; readonly until: string } | null,
): RankHistory {
  const lastDay = history.days.at(-1)
  if (lastDay === undefined) return history
  const days = countedDays(period ?? { from: lastDay, until: lastDay })
  const wanted = { from: readDay(days.from), until: readDay(days.until) }
  const daily = clicksReader(store, history, 'day')
  const spans = spansFor(daily.counted, wanted)
  if (spans !== null) return withCounts(history, daily, spans.now, spans.before)
  const periods = clicksReader(store, history, 'period')
  const begins = readDay(history.days[0] as string)
  const own = periodFor(periods.counted, { ...wanted, begins })
  return own === null ? history : withCounts(history, periods, [own], null)
}

function withCounts(
  history: RankHistory,
  reader: ReturnType<typeof clicksReader>,
  now: readonly CountedSpan[],
  before: readonly CountedSpan[] | null,
): RankHistory {
  const rows = reader.rowsOf(now)
  const rowsBefore = before === null ? null : reader.rowsOf(before)
  const keywords = history.keywords.map((keyword, place) => {
    const own = rows[place] ?? []
    const impressions = sumOf(own, 'impressions')
    if (keyword.kind !== 'organic' || impressions === 0) return keyword
    const counted = {
      clicks: sumOf(own, 'clicks'),
      impressions,
      position: sumOf(own, 'positionSum') / impressions + 1,
      clicksBefore: rowsBefore === null ? null : sumOf(rowsBefore[place] ?? [], 'clicks'),
    }
    return { ...keyword, counted }
  })
  const spanOf = (spans: readonly CountedSpan[]) => ({
    from: dayText((spans[0] as CountedSpan).from),
    until: dayText((spans.at(-1) as CountedSpan).until),
  })
  const countedClicks = { ...spanOf(now), before: before === null ? null : spanOf(before) }
  return { ...history, keywords, countedClicks }
}

/** Places that rank and average position may lie apart. */
const mostApart = 3

/** Keywords whose mean rank in the days of counted clicks, or else the newest one, lies more than three places from Search Console's position. */
export function rankDifferences(history: RankHistory) {
  const { countedClicks } = history
  if (countedClicks === undefined) return []
  const ranks = ownRanks(history)
  return history.keywords.flatMap(({ query, counted }, place) => {
    const all = [...(ranks.get(place) ?? [])]
    const within = all.filter(([day]) => day >= countedClicks.from && day <= countedClicks.until)
    const used = within.length > 0 ? within : all.slice(-1)
    if (counted === undefined || used.length === 0) return []
    const rank = used.reduce((sum, [, one]) => sum + one, 0) / used.length
    return Math.abs(rank - counted.position) <= mostApart
      ? []
      : [{ query, rank, position: counted.position, impressions: counted.impressions }]
  })
}
