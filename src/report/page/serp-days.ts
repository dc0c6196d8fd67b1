import { addDays } from '../../model/time.ts'
import { baselineOrder } from '../history/keyword-status.ts'
import type { ComparisonDay } from '../history/movement.ts'
import { type AskedPeriod, reportPeriod } from '../history/period.ts'
import { offeredComparisons, offeredPeriods } from './offered.ts'

/** What the page offers to choose, usual comparisons first. */
const offered: readonly AskedPeriod[] = [null, ...offeredComparisons].flatMap((compare) =>
  offeredPeriods.map((period) => ({ period, compare })),
)

/** SERPs of days that are only offered, at most: a page of very many keywords has those of the compared day alone. */
const mostOffered = 12_000

/** A day, or the best known one of several. */
type WantedDays = readonly number[]

export interface SerpDays {
  /** Of every keyword: the last day, the compared one, and the days that were asked for. */
  readonly wanted: readonly WantedDays[]
  /** Those that the page needs for the periods that it offers. */
  readonly offered: readonly WantedDays[]
}

export interface SerpChoice {
  /** Days before the last one, beside the compared day. */
  readonly serpDays?: number
  /** Whether the periods that a page offers need theirs. */
  readonly isPage?: boolean
}

/** The days whose SERPs a report has. */
export function serpDays(
  days: readonly string[],
  compare: ComparisonDay | null,
  keywords: number,
  { serpDays: recent = 0, isPage = false }: SerpChoice,
): SerpDays {
  const latest = days.at(-1)
  if (latest === undefined) return { wanted: [], offered: [] }
  const since = addDays(latest, -recent)
  const wanted = [
    [days.length - 1],
    baselineOrder(days, compare),
    ...days.flatMap((date, day) => (date > since ? [[day]] : [])),
  ]
  if (!isPage) return { wanted, offered: [] }
  const known = new Set(wanted.map(([first]) => first))
  const further: WantedDays[] = []
  for (const one of offered.flatMap((asked) => daysOf(days, asked))) {
    const [first] = one
    if (first === undefined || known.has(first)) continue
    known.add(first)
    further.push(one)
  }
  return { wanted, offered: further.slice(0, Math.floor(mostOffered / Math.max(1, keywords))) }
}

/** The last day of a period, and those that it may be compared with. */
function daysOf(days: readonly string[], asked: AskedPeriod): readonly WantedDays[] {
  const period = reportPeriod(days, asked)
  if (period === null) return []
  const until = days.filter((day) => day <= period.until)
  return [baselineOrder(until, period.compare), [until.length - 1]].filter(([first = -1]) => first >= 0)
}

/** The days of one keyword, ascending; those that are only offered are marked. */
export function* serpDaysOf(
  { wanted, offered: further }: SerpDays,
  isKnown: (day: number) => boolean,
): Generator<{ readonly day: number; readonly isOffered: boolean }> {
  const daysIn = (all: readonly WantedDays[]) => all.flatMap((one) => one.find(isKnown) ?? [])
  const always = new Set(daysIn(wanted))
  for (const day of [...new Set([...always, ...daysIn(further)])].sort((a, b) => a - b))
    yield { day, isOffered: !always.has(day) }
}
