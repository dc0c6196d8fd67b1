import { groupedBy } from '../../model/maps.ts'
import type { ClickSpan } from '../../store/sqlite/clicks/clicks.ts'

/** What a day, or a period, is read from: where several tables are named, each has another part of the site. */
export interface CountedSpan {
  readonly from: number
  readonly until: number
  readonly spans: readonly ClickSpan[]
}

/**
 * Which of the stored spans count, so that nothing counts twice:
 *
 * - Of a property, the table that was added last has its days. One that counts by property wins over one that counts by page, for which an
 *   impression of two pages is two.
 * - A domain property has everything of its domain: where it has a day, those of parts of the domain do not count. Without one, the
 *   parts are added up.
 */
export function countedSpans(
  spans: readonly ClickSpan[],
  { rowsOf, timeSpan }: Pick<ClickSpan, 'rowsOf' | 'timeSpan'>,
): readonly CountedSpan[] {
  const wanted = spans.filter((one) => one.rowsOf === rowsOf && one.timeSpan === timeSpan)
  const byTime = groupedBy(wanted, ({ day, untilDay }) => `${day} ${untilDay}`)
  return [...byTime.values()]
    .map((all) => ({
      from: (all[0] as ClickSpan).day,
      until: (all[0] as ClickSpan).untilDay,
      spans: withoutParts([...newestByProperty(all).values()]),
    }))
    .sort((a, b) => a.from - b.from || a.until - b.until)
}

function newestByProperty(spans: readonly ClickSpan[]): ReadonlyMap<string, ClickSpan> {
  const newest = new Map<string, ClickSpan>()
  for (const one of spans) {
    const known = newest.get(one.property)
    if (known === undefined || isBefore(known, one)) newest.set(one.property, one)
  }
  return newest
}

function isBefore(known: ClickSpan, one: ClickSpan): boolean {
  if (known.countedBy !== one.countedBy) return one.countedBy === 'property'
  return one.table > known.table
}

function withoutParts(spans: readonly ClickSpan[]): readonly ClickSpan[] {
  const domains = spans.filter(({ property }) => property.startsWith('sc-domain:'))
  if (domains.length === 0) return spans
  // Of two domain properties the one with the shorter name holds the other one.
  return domains.toSorted((a, b) => a.property.length - b.property.length).slice(0, 1)
}
