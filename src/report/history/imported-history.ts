import { groupedBy } from '../../model/maps.ts'
import { isInMarket, marketDistance } from '../../model/query.ts'
import { addDays } from '../../model/time.ts'
import type { Store } from '../../store/sqlite/open.ts'
import type { DayCell, ImportedHistory, RankHistory, TrackedTarget } from './rank-history.ts'

type RankRead = ReturnType<Store['importedRanks']>[number]

/** Points of a line at most. */
const mostPoints = 300

/**
 * The imported ranks of the keywords and targets of a history, from before its first day. Of several series for one of them the one that
 * is nearest to what is measured: organic ranks first, not on mobile, in its own market. Long spans have a point for some days each.
 */
export function importedHistory(
  { keywords, targets }: Pick<RankHistory, 'keywords' | 'targets'>,
  ranks: readonly RankRead[],
): ImportedHistory | null {
  const byText = groupedBy(ranks, ({ query }) => query)
  const chosen = keywords.flatMap((keyword, place) => {
    if (keyword.kind !== 'organic') return []
    const fitting = (byText.get(keyword.query) ?? []).filter((one) => isInMarket(one, keyword.params))
    return targets.flatMap((target, index) => {
      const all = groupedBy(
        fitting.filter((one) => isTargetOf(target, one)),
        ({ series }) => series,
      )
      const [best] = [...all.values()].toSorted((a, b) => distance(a) - distance(b))
      return best === undefined ? [] : [{ keyword: place, target: index, ranks: best }]
    })
  })
  const all = chosen.flatMap((one) => one.ranks)
  if (all.length === 0) return null
  const first = all.reduce((least, { day }) => Math.min(least, day), Number.POSITIVE_INFINITY)
  const last = all.reduce((most, { day }) => Math.max(most, day), 0)
  const step = Math.ceil((last - first + 1) / mostPoints)
  const points = Math.floor((last - first) / step) + 1
  return {
    sources: [...new Set(all.map(({ source }) => source))].sort(),
    countsAll: all.some(({ ruler }) => ruler === 'all'),
    days: Array.from({ length: points }, (_, point) => addDays('1970-01-01', first + point * step)),
    lines: chosen.map(({ keyword, target, ranks: own }) => {
      const cells: DayCell[] = Array(points).fill(null)
      // In the order of their days: the last one of a point stays.
      for (const { day, rank, depth } of own)
        cells[Math.floor((day - first) / step)] = rank ?? -1 - (depth ?? 0)
      return { keyword, target, cells }
    }),
  }
}

function isTargetOf({ site }: TrackedTarget, { target }: RankRead): boolean {
  return (
    site
      .toLowerCase()
      .replace(/^(?:https?:\/\/)?(?:www\.)?/, '')
      .replace(/\/$/, '') === target
  )
}

function distance([one]: readonly RankRead[]): number {
  if (one === undefined) return Number.POSITIVE_INFINITY
  return (one.ruler === 'organic' ? 0 : 4) + marketDistance(one)
}
