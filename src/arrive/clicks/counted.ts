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
 * - A domain property has everything of its domain, and an address what lies below it: where they have a day, those of their parts do not
 *   count. Parts of which no whole has the day are added up.
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
  return spans.filter((one) => !spans.some(({ property }) => holds(property, one.property)))
}

/**
 * Whether everything of a property is in another one: a domain holds its hosts and the domains below it, an address those that begin with it.
 * The view `clicks` says the same.
 */
function holds(property: string, part: string): boolean {
  if (property === part) return false
  if (!property.startsWith(wholeDomain)) return property.endsWith('/') && part.startsWith(property)
  const host = part.startsWith(wholeDomain) ? part.slice(wholeDomain.length) : (part.split('/')[2] ?? '')
  return `.${host}`.endsWith(`.${property.slice(wholeDomain.length)}`)
}

const wholeDomain = 'sc-domain:'
