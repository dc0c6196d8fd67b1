import { UsageError } from '../../../model/errors.ts'
import { closestMatch } from '../../../model/text.ts'
import { countryNamed } from '../../countries.ts'
import type { ForeignFormat, ImportOptions } from '../format.ts'
import type { ForeignFile } from '../source.ts'
import { type ForeignRow, tableIn } from '../table.ts'
import { readDay, readLink, readRank, siteOf, tagReader, volumeIn } from '../values.ts'

/** What a column can hold, with the names that tools give it. */
const aliases = {
  query: ['query', 'keyword', 'keywords', 'search term', 'keyphrase'],
  date: ['date', 'day', 'serp date', 'timestamp', 'start date'],
  rank: [
    'rank',
    'position',
    'pos',
    'current position',
    'end position',
    'google',
    'google rank',
    'serp position',
  ],
  url: ['url', 'ranking url', 'url found', 'found url', 'landing page', 'landing_page'],
  target: ['target', 'domain', 'site', 'website'],
  volume: ['volume', 'search volume', 'monthly searches'],
  tags: ['tags', 'labels', 'groups'],
  device: ['device'],
  location: ['location', 'region', 'market'],
  country: ['country', 'gl'],
  language: ['language', 'hl'],
  engine: ['engine', 'search engine'],
} as const

type ColumnKind = keyof typeof aliases
export const columnKinds = Object.keys(aliases) as readonly ColumnKind[]

/** Any table with a column of texts, one of days and one of ranks. */
export const tableFormat: ForeignFormat = {
  name: 'table',
  tool: 'table',
  title: 'Table with a column of keywords, one of days and one of ranks',
  sameDay: 'last',
  recognise: (file) => {
    const named = (names: ReadonlySet<string>, kind: ColumnKind) =>
      aliases[kind].some((name) => names.has(name))
    return tableIn(file, (names) => named(names, 'query') && named(names, 'rank')) !== null
  },
  read: async (file, into, options) => {
    const columnNames = (kind: ColumnKind): readonly string[] => {
      const given = options.columns.get(kind)
      return given === undefined ? aliases[kind] : [given.toLowerCase()]
    }
    const table = tableIn(file, (names) =>
      (['query', 'rank'] as const).every((kind) => columnNames(kind).some((name) => names.has(name))),
    )
    if (table === null) throw withoutColumns(file, options)
    const at = Object.fromEntries(
      columnKinds.map((kind) => [kind, table.column(...columnNames(kind))]),
    ) as Record<ColumnKind, number>
    for (const [kind, name] of options.columns)
      if (at[kind as ColumnKind] < 0) {
        const near = closestMatch(name, table.header)
        throw new UsageError(
          `${file.name} has no column '${name}'. ${near === null ? `Its columns are ${table.header.join(', ')}` : `Did you mean '${near}'?`}`,
        )
      }
    if (at.date < 0 && options.day === null)
      throw new UsageError(
        `${file.name} has no column of days. Name it with --column date=NAME, or the day of the whole file with --day 2026-03-01`,
      )
    if (at.target < 0 && options.target === null)
      throw new UsageError(
        `${file.name} does not say whose ranks it has. Name the site with --target acme.com, or its column with --column target=NAME`,
      )
    const tagsOf = tagReader(/[,;|]/)
    await table.eachRow((row) => {
      const text = row.needed(at.query)
      const rank = readRank(row.needed(at.rank))
      const day = at.date < 0 ? (options.day as number) : dayIn(row, row.needed(at.date), options)
      if (text === '') {
        into.dropped('rows without a keyword')
        return
      }
      const country = row.cell(at.country)
      const query = into.query({
        text,
        gl: country === '' ? null : (countryNamed(country) ?? country.toLowerCase()),
        hl: row.cell(at.language) || null,
        location: row.cell(at.location) || null,
        device: row.cell(at.device).toLowerCase() || null,
        engine: row.cell(at.engine).toLowerCase() || null,
        volume: volumeIn(row.cell(at.volume)),
        tags: tagsOf(row.cell(at.tags)),
      })
      const site = siteOf(options.target ?? row.cell(at.target))
      const series = into.series(query, site, 'organic')
      if ('rank' in rank) into.ranked(series, day, rank.rank, readLink(row.cell(at.url)))
      else if ('absentFrom' in rank) into.absent(series, day, rank.absentFrom)
      else into.unknown(series, day, rank.unknown)
    })
  },
}

function withoutColumns(file: ForeignFile, { columns }: ImportOptions): UsageError {
  const first = file.headRows[0]?.cells.join(', ') ?? ''
  const asked = columns.size === 0 ? '' : ' of those names'
  return new UsageError(
    `${file.name} has no columns${asked} for keywords and ranks. Name them with --column query=NAME --column rank=NAME; its first line has ${first}`,
  )
}

/** The day of a row. */
export function dayIn({ where }: ForeignRow, cell: string, { order }: Pick<ImportOptions, 'order'>): number {
  const day = readDay(cell, order)
  if (typeof day === 'number') return day
  throw new UsageError(
    day === 'ambiguous'
      ? `${where()}: '${cell}' can be read as two days. Say which comes first with --days dmy or --days mdy`
      : `${where()}: '${cell}' is no day. The file is broken, or another column has the days: --column date=NAME`,
  )
}
