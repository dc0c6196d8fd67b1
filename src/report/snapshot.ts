import type { ResultRecord, SerpAt, SerpRecord } from '../store/rows.ts'
import { type AskedDay, isBetterBaseline } from './baseline.ts'
import type { Serp, SerpResult } from './serp-diff.ts'
import { type LookedPage, lookedPages, missedPages } from './why.ts'

/** What one run saw of a query, ready for comparing. */
export interface Snapshot extends Serp, SerpAt {
  /** When its last page came, ISO 8601 in UTC. */
  readonly fetchedAt: string | null
  /** Distinct results that were looked at. */
  readonly depth: number
  /** Pages looked at without a gap; infinite where the results ended there. */
  readonly unbrokenPages: number
  /** What became of the pages that were not looked at. */
  readonly missed: readonly string[]
}

/** What a run left of a query, as a snapshot of the results. */
export function snapshotOf(record: SerpRecord): Snapshot {
  const pages = lookedPages(record)
  const gap = pages.findIndex(({ state }) => state !== 'done')
  const whole = gap < 0 ? pages : pages.slice(0, gap)
  const resultsEnded =
    record.end?.kind === 'ended' && pages.slice(whole.length).every(({ state }) => state === 'skipped')
  const results = keyed(resultsOf(pages))
  const fetched = pages.flatMap(({ fetchedAt }) => fetchedAt ?? [])
  return {
    run: record.run,
    date: record.date,
    results,
    fetchedAt: fetched.sort().at(-1) ?? null,
    depth: new Set(results.map(({ rank }) => rank)).size,
    // Without a gap a rank is the number of results down to it.
    unbrokenDepth: Math.max(0, ...resultsOf(whole).map(({ rank }) => rank)),
    unbrokenPages: resultsEnded ? Number.POSITIVE_INFINITY : whole.length,
    resultsEnded,
    missed: missedPages(record, pages),
  }
}

function resultsOf(pages: readonly LookedPage[]): readonly ResultRecord[] {
  return pages.flatMap(({ results }) => results)
}

/** Equal links are the same result; without a link it is told by its text, the second of the same text by its number. */
function keyed(results: readonly ResultRecord[]): readonly SerpResult[] {
  const times = new Map<string, number>()
  return results.map(({ rank, title, link, sameAs, snippet }) => {
    if (sameAs !== null) return { rank, title, link, snippet, key: sameAs }
    const text = title ?? ''
    const time = times.get(text) ?? 0
    times.set(text, time + 1)
    return { rank, title, link, snippet, key: `${time} ${text}` }
  })
}

/** The days to be compared, each as the runs of the day; null where there is none. */
export interface ComparedDays {
  readonly from: readonly SerpAt[] | null
  readonly to: readonly SerpAt[] | null
}

/**
 * The latest day with results, and an earlier one: the nearest before it, or the one that is nearest to the day that was
 * asked for.
 */
export function comparedDays(looks: readonly SerpAt[], asked: AskedDay | null): ComparedDays {
  const days = [...new Set(looks.map(({ date }) => date))].map((date) => ({ date, state: 'ranked' as const }))
  const latest = days.pop()
  if (latest === undefined) return { from: null, to: null }
  const from = days.reduce<(typeof days)[number] | null>(
    (kept, day) => (isBetterBaseline(day, kept, asked) ? day : kept),
    null,
  )
  const of = (day: string) => looks.filter(({ date }) => date === day)
  return { from: from === null ? null : of(from.date), to: of(latest.date) }
}

/** Of several runs of a day the one that looked deepest without a gap; of those the last. */
export function speaksForDay(snapshots: readonly Snapshot[]): Snapshot | null {
  return snapshots.reduce<Snapshot | null>(
    (kept, one) => (kept === null || one.unbrokenPages >= kept.unbrokenPages ? one : kept),
    null,
  )
}
