import { addDays } from '../../../src/model/time.ts'
import { defaultCurve } from '../../../src/report/ctr.ts'
import type { PageData } from '../../../src/report/data.ts'
import type { ComparisonDay } from '../../../src/report/history/movement.ts'
import type { DayCell, Keyword } from '../../../src/report/history/rank-history.ts'
import { type ASeries, aHistory, aPageOf } from '../metrics/history.ts'

/** 29 days, so that the last one can be compared with the one four weeks before. */
export const days = 29

/** The value of every day, or of each: `turn(4, 9)` is rank 4 until the day before the last one. */
export type Cells = DayCell | readonly DayCell[]

/** Not among the first 30. */
export const out: DayCell = -31
export const unknown: DayCell = 0

/** One value until some days before the end, another one since. */
export function turn(before: DayCell, now: DayCell, since = 10, all = days): readonly DayCell[] {
  return Array.from({ length: all }, (_, day) => (day < all - since ? before : now))
}

/** Values that come again and again. */
export function waves(...values: readonly DayCell[]): readonly DayCell[] {
  return Array.from({ length: days }, (_, day) => values[day % values.length] ?? null)
}

export interface AKeyword
  extends Partial<Pick<Keyword, 'query' | 'tags' | 'volume' | 'url' | 'kind' | 'operation' | 'params'>> {
  readonly own?: Cells
  readonly rival?: Cells
  readonly other?: Cells
  /** Further competitors by name. */
  readonly rivals?: Readonly<Record<string, Cells>>
  /** Of the own target. */
  readonly links?: ASeries['links']
}

/** As many keywords that do the same. */
export function some(count: number, keyword: AKeyword): readonly AKeyword[] {
  return Array.from({ length: count }, () => keyword)
}

const names = { own: 'acme.com', rival: 'rival.com', other: 'other.com' } as const

export interface AJob {
  readonly keywords: readonly AKeyword[]
  readonly length?: number
  readonly compare?: ComparisonDay | null
  /** Label of the target that the report is about. */
  readonly target?: string
  readonly links?: readonly string[]
  /** Its first day; the 1st of March by default. */
  readonly from?: string
}

/** A job from the 1st of March on, compared with its first day. */
export function historyOf({ keywords, length = days, links = [] }: AJob) {
  const series = keywords.flatMap(
    ({ own, rival, other, links: ranked = [], rivals, ...keyword }, place): ASeries[] =>
      Object.entries({ own, rival, other, ...rivals }).flatMap(([who, cells]) => {
        if (cells === undefined) return []
        const of = names[who as keyof typeof names] ?? who
        const all = Array.isArray(cells) ? cells : Array<DayCell>(length).fill(cells as DayCell)
        return [
          { query: `keyword ${place + 1}`, ...keyword, of, cells: all, links: who === 'own' ? ranked : [] },
        ]
      }),
  )
  return aHistory(series, { links })
}

/** What a story is made of, and the place of the target that it is about. */
export interface ToldJob {
  readonly data: PageData
  readonly target: number
}

export function jobOf(job: AJob, more: Partial<PageData> = {}): ToldJob {
  const history = {
    ...historyOf(job),
    ...(job.from === undefined ? {} : { days: daysFrom(job.from, job.length ?? days) }),
  }
  const [first, last] = [history.days[0], history.days.at(-1)]
  const usual = first === undefined || first === last ? null : { day: first, tolerance: 7 }
  const compare = job.compare === undefined ? usual : job.compare
  const target = history.targets.findIndex(({ label }) => label === (job.target ?? 'acme.com'))
  return {
    data: aPageOf(history, { compare, measure: { curve: defaultCurve }, ...more }),
    target: Math.max(0, target),
  }
}

function daysFrom(first: string, length: number): readonly string[] {
  return Array.from({ length }, (_, day) => addDays(first, day))
}
