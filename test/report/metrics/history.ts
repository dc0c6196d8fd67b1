import fc from 'fast-check'
import type { Target } from '../../../src/model/job.ts'
import { addDays } from '../../../src/model/time.ts'
import type { PageData, PageSerp } from '../../../src/report/data.ts'
import type { DayValue, Keyword, RankHistory, RankSeries } from '../../../src/report/history/rank-history.ts'
import type { CtrCurve } from '../../../src/report/metrics/figure.ts'
import { averagePosition } from '../../../src/report/metrics/positions.ts'
import { plainPresentation } from '../../../src/report/presentation/presentation.ts'

/** Half of the searches click rank 1, a fifth rank 2, a tenth rank 3. */
export const curve: CtrCurve = { name: 'test', version: '1', source: 'made up', rates: [0.5, 0.2, 0.1] }

export const march = (day: number): string => addDays('2026-03-01', day - 1)

export type ASeries = Partial<Keyword> &
  Partial<Omit<RankSeries, 'keyword' | 'target'>> & {
    /** Label of the target; acme.com is one's own, others are competitors. */
    readonly of?: string
  }

/** A history from the 1st of March on, of which only what matters is named. */
export function aHistory(all: readonly ASeries[], more: Partial<RankHistory> = {}): RankHistory {
  const keywords: Keyword[] = []
  const targets: Target[] = []
  const series = all.map((one): RankSeries => {
    const {
      cells = [],
      seen = {},
      absentDepths = [],
      links = [],
      places = {},
      of = 'acme.com',
      ...rest
    } = one
    const keyword = { ...aKeyword, ...rest }
    return {
      keyword: placeOf(keywords, keyword, ({ query, operation, params }) =>
        JSON.stringify([query, operation, params]),
      ),
      target: placeOf(targets, aTarget(of), ({ label }) => label),
      cells,
      seen,
      absentDepths,
      links,
      places,
    }
  })
  const days = Array.from({ length: series[0]?.cells.length ?? 0 }, (_, day) => march(day + 1))
  return { job: 'acme', days, keywords, targets, series, links: [], removed: [], ...more }
}

const aKeyword: Keyword = {
  query: 'standing desk',
  operation: 'alpha.search',
  kind: 'organic',
  params: {},
  tags: [],
  volume: null,
  url: null,
  labels: {},
}

function aTarget(label: string): Target {
  return { label, site: label, match: 'domain', also: [], own: label === 'acme.com' }
}

function placeOf<T>(all: T[], one: T, key: (one: T) => string): number {
  const places = known.get(all) ?? new Map<string, number>()
  known.set(all, places)
  const place = places.get(key(one)) ?? all.push(one) - 1
  places.set(key(one), place)
  return place
}

/** The places of what is in a list, by its key: samples may have thousands of keywords. */
const known = new WeakMap<object, Map<string, number>>()

/** What a page has of a history, without any results at hand. */
export function aPageOf(history: RankHistory, more: Partial<PageData> = {}): PageData {
  return {
    ...{
      history,
      period: null,
      compare: null,
      requestedPeriod: { period: null, compare: null },
      presentation: plainPresentation,
      measure: { curve },
      runs: [],
    },
    ...{ serps: [], citations: [], features: [], texts: [], sites: [], links: [] },
    ...more,
  }
}

/** The first results of a SERP, one from rank 1 on for each site; its link has the number of its site. */
export function aSerp(
  sites: readonly (number | null)[],
  {
    targets = {},
    ...more
  }: Partial<PageSerp> & { readonly targets?: Readonly<Record<number, readonly number[]>> } = {},
): PageSerp {
  const results = sites.map(
    (site, index) => [index + 1, null, site, site, site === null ? [] : (targets[site] ?? [])] as const,
  )
  return { keyword: 0, day: 0, depth: sites.length, results, ...more }
}

const rank = fc.integer({ min: 1, max: 60 })

/** Cells of every kind: unknown, ranked and absent, exact and estimated. */
export const aKnownCell = fc.oneof(
  { weight: 4, arbitrary: rank },
  rank.map((one) => one + 0.5),
  fc.nat(60).map((depth) => -(depth + 1)),
  fc.nat(60).map((depth) => -(depth + 1.5)),
)
export const aCell = fc.oneof({ weight: 6, arbitrary: aKnownCell }, fc.constant(0), fc.constant(null))

/** A history of one to five days, up to six keywords and two targets. */
export function histories(
  cell: fc.Arbitrary<number | null> = aCell,
  days: { readonly min: number; readonly max: number } = { min: 1, max: 5 },
): fc.Arbitrary<RankHistory> {
  return fc
    .record({
      days: fc.integer(days),
      keywords: fc.integer({ min: 1, max: 6 }),
      targets: fc.integer({ min: 1, max: 2 }),
    })
    .chain(({ days, keywords, targets }) => {
      const one = (place: number) =>
        fc
          .record({
            cells: fc.array(cell, { minLength: days, maxLength: days }),
            depths: fc.array(fc.option(fc.integer({ min: -1, max: 60 }), { nil: undefined }), {
              minLength: days,
              maxLength: days,
            }),
          })
          .map(({ cells, depths }): ASeries => {
            const keyword = Math.floor(place / targets)
            return {
              of: ['acme.com', 'rival.com'][place % targets] as string,
              query: `query ${keyword}`,
              tags: [['a'], ['a', 'b'], []][keyword % 3] as string[],
              volume: keyword % 2 === 0 ? keyword * 100 : null,
              cells,
              seen: seenOf(cells, depths),
            }
          })
      const series = fc.tuple(...Array.from({ length: keywords * targets }, (_, place) => one(place)))
      return series.map((all) => aHistory(all))
    })
}

/** Only absence looks as far as it looks: without a gap no farther than that, or to the end of the results. */
function seenOf(
  cells: readonly (number | null)[],
  depths: readonly (number | undefined)[],
): RankSeries['seen'] {
  return Object.fromEntries(
    cells.flatMap((cell, day) => {
      const depth = depths[day]
      if (cell === null || cell >= 0 || depth === undefined) return []
      return [[day, Math.min(depth, -Math.trunc(cell) - 1)]]
    }),
  )
}

/** The average position of days. */
export function averageOf(values: readonly DayValue[]): number | null {
  const samples = values.map((value) => ({ value, kind: 'organic' as const, ranks: [], volume: null }))
  return averagePosition.compute(samples, { curve }).value
}
