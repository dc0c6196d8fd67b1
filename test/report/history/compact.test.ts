import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compact } from '../../../src/report/history/build-history.ts'
import { filterHistory } from '../../../src/report/history/filter-history.ts'
import type { RankHistory } from '../../../src/report/history/rank-history.ts'
import { histories } from '../metrics/history.ts'

/** Series with names in place of numbers. */
function named({ series, keywords, targets, links }: RankHistory) {
  return series.map((one) => ({
    ...one,
    keyword: keywords[one.keyword],
    target: targets[one.target],
    links: one.links.map(([day, link]) => [day, link === null ? null : links[link]]),
    places: Object.entries(one.places).map(([day, all]) => [
      day,
      all.map(([rank, link]) => [rank, links[link]]),
    ]),
  }))
}

const linked = histories().map(
  (history): RankHistory => ({
    ...history,
    links: history.series.flatMap((_, place) => [`https://a.example/${place}`, `https://b.example/${place}`]),
    series: history.series.map((one, place) => ({
      ...one,
      links: [
        [0, 2 * place],
        [1, null],
      ],
      places: { 0: [[3, 2 * place + 1]] },
    })),
  }),
)

test('a filtered history says the same of what is left, and holds nothing else', () => {
  fc.assert(
    fc.property(linked, fc.nat(), (history, choice) => {
      const target = history.targets[choice % history.targets.length]
      const filtered = filterHistory(history, { targets: target === undefined ? [] : [target.label] })
      const queryIds = history.keywords.map((_, place) => 100 + place)
      const left = compact({ history: filtered, queryIds, removedTargets: 0 })
      expect(named(left.history)).toEqual(named(filtered))
      expect(left.queryIds.map((id) => history.keywords[id - 100])).toEqual(left.history.keywords)
      const used = new Set(left.history.series.map(({ keyword }) => left.history.keywords[keyword]))
      expect(used.size).toBe(left.history.keywords.length)
      expect(left.history.targets.length).toBeLessThanOrEqual(1)
      expect(left.history.links).toHaveLength(2 * left.history.series.length)
    }),
  )
})
