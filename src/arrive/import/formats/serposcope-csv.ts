import { UsageError } from '../../../model/errors.ts'
import { countryNamed } from '../../countries.ts'
import type { ForeignFormat } from '../format.ts'
import { type ForeignTable, tableIn } from '../table.ts'
import { readLink, siteOf } from '../values.ts'
import { dayIn } from './table.ts'

const names = [
  'date',
  'rank',
  'url',
  'target',
  'keyword',
  'device',
  'country',
  'datacenter',
  'local',
  'custom',
]
/** Cells behind the address, which is not escaped: each comma of it makes one cell more. */
const behind = names.length - 3

/** What stands for not found. A search that came back empty has it, too. */
export const unranked = 32_767
export const unrankedReason = '32767 stands for not found and for a search that came back empty'

/** The ranks of a target that Serposcope exports as CSV. */
export const serposcopeCsvFormat: ForeignFormat = {
  name: 'serposcope-csv',
  tool: 'serposcope',
  title: 'Serposcope, CSV of a target',
  sameDay: 'last',
  recognise: (file) => tableIn(file, isTargetCsv) !== null,
  read: async (file, into, options) => {
    const table = tableIn(file, isTargetCsv) as ForeignTable
    await table.eachRow((row) => {
      const cells = row.cells()
      if (cells.length < names.length)
        throw new UsageError(
          `${row.where()}: the row has ${cells.length} cells, and Serposcope writes ${names.length}. The file is cut off: export it again`,
        )
      const [date = '', place = ''] = cells
      const url = cells.slice(2, -behind).join(',')
      const [target = '', text = '', device = '', country = '', datacenter = '', local = '', custom = ''] =
        cells.slice(-behind)
      const day = dayIn(row, date, options)
      const query = into.query({
        text,
        gl: serposcopeCountry(country),
        location: local || null,
        device: /^m/i.test(device) ? 'mobile' : 'desktop',
        engine: [datacenter, custom].filter((part) => part !== '').join(' ') || null,
      })
      const series = into.series(query, siteOf(options.target ?? target), 'organic')
      const rank = Number(place)
      if (place === '') into.unknown(series, day, 'an empty cell: it was not checked')
      else if (rank >= 1 && rank < unranked) into.ranked(series, day, rank, readLink(url))
      else into.unknown(series, day, unrankedReason)
    })
  },
}

function isTargetCsv(header: ReadonlySet<string>): boolean {
  return names.every((name) => header.has(name))
}

/** Serposcope writes two underscores where a search has no country. */
export function serposcopeCountry(country: string): string | null {
  return country === '' || country === '__' ? null : (countryNamed(country) ?? country.toLowerCase())
}
