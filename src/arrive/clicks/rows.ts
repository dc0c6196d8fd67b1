import { UsageError } from '../../model/errors.ts'
import { memoized } from '../../model/maps.ts'
import { siteOf } from '../../model/public-suffix.ts'
import { dayNumber } from '../../model/time.ts'
import { parseLink } from '../../model/url.ts'
import type { ClickDraft } from '../../store/sqlite/clicks/draft.ts'
import { countryCode } from '../../store/sqlite/clicks/draft.ts'
import { emptyRow } from '../../store/sqlite/clicks/sums.ts'
import { twoLetters } from '../countries.ts'
import type { ClickField, ClickLayout } from './layout.ts'

/** One row at a time, whatever kind of file it comes from. */
export interface RowReader {
  /** The number of a text in the draft; 0 for none. */
  readonly text: (place: number, kind: 'query' | 'page') => number
  /** A short text that many rows share. */
  readonly word: (place: number) => string
  /** A number from 0 on; -1 for anything else. */
  readonly number: (place: number) => number
  /** Where the row stands: `file.csv:12`. */
  readonly where: () => string
}

/** What an addition is told by options. */
export interface AddOptions {
  /** The property, where the files do not say it. */
  readonly property: string | null
  /** The period of files without days. */
  readonly period: { readonly from: number; readonly until: number } | null
}

/** The number of a day that is written `2026-08-01`, also as the start of an instant; -1 where it is none. */
export function readDay(text: string): number {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})(?:$|[T ])/.exec(text) ?? []
  return day === undefined ? -1 : (dayNumber(Number(year), Number(month), Number(day)) ?? -1)
}

/** The registrable domain of a property; null where it names none. */
export function siteOfProperty(property: string): string | null {
  const host = property.startsWith('sc-domain:')
    ? property.slice('sc-domain:'.length)
    : (parseLink(property.includes('://') ? property : `https://${property}`)?.host ?? '')
  return siteOf(host.toLowerCase()) ?? (host === '' ? null : host.toLowerCase())
}

/** Reads rows by what their columns say. Rows of other searches than of the web are left out: images, videos, news, Discover. */
export function rowSink(draft: ClickDraft, layout: ClickLayout, { property: named, period }: AddOptions) {
  const has = (field: ClickField): boolean => layout[field] !== -1
  const rowsOf = has('query') ? 'query' : has('page') ? 'page' : 'total'
  const timeSpan = has('date') ? 'day' : 'period'
  const counts = { rows: 0, otherSearches: 0 }
  const row = emptyRow()
  const dayOf = memoized(readDay)
  const isWeb = memoized((word) => word.toLowerCase() === 'web')
  const codeOf = memoized((word) => countryCode(twoLetters(word)))
  const isTrue = memoized((word) => /^(true|1|t)$/i.test(word))
  const tableOf = memoized((property) => {
    const site = siteOfProperty(property)
    if (site === null) return -1
    return draft.table({
      property,
      site,
      countedBy: has('page') ? 'page' : 'property',
      rowsOf,
      timeSpan,
      hasCountries: has('country'),
      period: timeSpan === 'period' ? period : null,
    })
  })
  const ownSite = memoized((page) => {
    const site = siteOfProperty(page)
    return site === null ? -1 : tableOf(`sc-domain:${site}`)
  })

  const propertyTable = (reader: RowReader): number => {
    if (named !== null) return tableOf(named)
    if (has('property')) return tableOf(reader.word(layout.property))
    return ownSite(reader.word(layout.page).match(/^https?:\/\/[^/?#]+/i)?.[0] ?? '')
  }
  const wrong = (reader: RowReader, field: ClickField, instead: string): never => {
    const found = reader.word(layout[field]).slice(0, 40)
    throw new UsageError(
      `${reader.where()}: ${found === '' ? `the row has no ${field}` : `'${found}' is no ${field}`}; ${instead}. Nothing was stored`,
    )
  }

  return {
    counts,
    take(reader: RowReader): void {
      counts.rows++
      if (layout.searchType !== -1 && !isWeb(reader.word(layout.searchType))) {
        counts.otherSearches++
        return
      }
      row.table = propertyTable(reader)
      if (row.table === -1)
        wrong(reader, has('property') ? 'property' : 'page', 'write an address with its site')
      row.day = layout.date === -1 ? (period?.from ?? 0) : dayOf(reader.word(layout.date))
      if (row.day === -1) wrong(reader, 'date', 'write days such as 2026-08-01')
      row.clicks = reader.number(layout.clicks)
      row.impressions = reader.number(layout.impressions)
      if (row.clicks < 0) wrong(reader, 'clicks', 'the file may be cut, or its columns mixed up')
      if (row.impressions < 0) wrong(reader, 'impressions', 'the file may be cut, or its columns mixed up')
      if (layout.positionSum === -1) {
        const position = reader.number(layout.position)
        if (position < 0) wrong(reader, 'position', 'the file may be cut, or its columns mixed up')
        row.positionSum = Math.max(0, position - 1) * row.impressions
      } else {
        row.positionSum = reader.number(layout.positionSum)
        if (row.positionSum < 0) wrong(reader, 'positionSum', 'the file may be cut, or its columns mixed up')
      }
      row.country = layout.country === -1 ? 0 : codeOf(reader.word(layout.country))
      row.page = layout.page === -1 ? 0 : reader.text(layout.page, 'page')
      const isAnonymous = layout.anonymous !== -1 && isTrue(reader.word(layout.anonymous))
      row.query = layout.query === -1 || isAnonymous ? 0 : reader.text(layout.query, 'query')
      draft.add(row)
    },
  }
}
