import { groupedBy } from '../model/maps.ts'
import { queryKey } from '../store/sqlite/clicks/draft.ts'
import { cellText, csvParser, separatorOf } from './csv.ts'

/** What a row of a job's list says, by column: `query` in each. */
export type ListRow = Readonly<Record<string, string>> & { readonly query: string }

/**
 * A list of queries with more rows at its end, and with more in the rows that it has: a volume and a page where they have none, and tags beside
 * their own. Columns that are missing are put behind the others; all else stays as it is written. Null where no column of its first line is
 * called `query`, or `keyword`.
 */
export function withRows(
  csv: string,
  added: readonly ListRow[],
  known: readonly ListRow[] = [],
): string | null {
  const feed = csv.includes('\r\n') ? '\r\n' : '\n'
  const text = csv === '' || csv.endsWith('\n') ? csv : csv + feed
  const separator = separatorOf(text.split('\n', 1)[0] ?? '')
  const sign = String.fromCharCode(separator)
  const written = (cell: string): string =>
    cell.includes(sign) || /[";\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
  const start = text.startsWith('\ufeff') ? 3 : 0
  const bytes = Buffer.from(text)
  const body = bytes.subarray(start)

  let names: string[] = []
  let missing: string[] = []
  let query = -1
  const parts: Buffer[] = [bytes.subarray(0, start)]
  let kept = 0
  const put = (from: number, to: number, cell: string): void => {
    parts.push(body.subarray(kept, from), Buffer.from(cell))
    kept = to
  }
  const byText = groupedBy(known, (row) => queryKey(row.query))
  const parser = csvParser('', separator, (record) => {
    const cells = Array.from({ length: record.cells }, (_, place) => cellText(record, place).trim())
    const isQuoted = (place: number): boolean => body[(record.starts[place] as number) - 1] === 34
    const end = (record.ends[record.cells - 1] as number) + (isQuoted(record.cells - 1) ? 1 : 0)
    if (query === -1) {
      names = cells.map((name) => name.toLowerCase())
      query = names.findIndex((name) => name === 'query' || name === 'keyword')
      if (query === -1) return false
      names[query] = 'query'
      const wanted = [...added.flatMap(filled), ...known.flatMap(filled).filter((name) => !isMarket(name))]
      missing = [...new Set(wanted)].filter((name) => !names.includes(name))
      names.push(...missing)
      put(end, end, missing.map((name) => sign + name).join(''))
      return true
    }
    const row = byText.get(queryKey(cells[query] ?? ''))?.find((one) => isOfMarket(one, names, cells))
    for (const [place, name] of names.slice(0, record.cells).entries()) {
      const [own = '', more = ''] = [cells[place], row?.[name]]
      const cell = name === 'tags' ? joinedTags(own, more) : own === '' && !isMarket(name) ? more : own
      const quotes = isQuoted(place) ? 1 : 0
      if (cell !== own)
        put((record.starts[place] as number) - quotes, (record.ends[place] as number) + quotes, written(cell))
    }
    put(end, end, missing.map((name) => sign + (isMarket(name) ? '' : written(row?.[name] ?? ''))).join(''))
    return true
  })
  parser.push(body)
  if (query === -1) return null
  parts.push(body.subarray(kept))
  const lines = added.map((row) => names.map((name) => written(row[name] ?? '')).join(sign) + feed)
  return Buffer.concat(parts).toString() + lines.join('')
}

/** The columns in which a row says something. */
function filled(row: ListRow): readonly string[] {
  return Object.keys(row).filter((name) => row[name] !== '')
}

const isMarket = (name: string): boolean => name === 'gl' || name === 'hl'

/** Whether a row of the list asks in the market of another one; a market that one of them does not name is any. */
function isOfMarket(row: ListRow, names: readonly string[], cells: readonly string[]): boolean {
  return ['gl', 'hl'].every((name) => {
    const [own = '', other = ''] = [cells[names.indexOf(name)], row[name]]
    return own === '' || other === '' || own.toLowerCase() === other.toLowerCase()
  })
}

/** Tags with those of another list that they lack. */
function joinedTags(own: string, more: string): string {
  const tags = own.split(';').map((tag) => tag.trim())
  const others = more.split(';').filter((tag) => tag !== '' && !tags.includes(tag))
  return others.length === 0 ? own : [...(own === '' ? [] : [own]), ...others].join(';')
}
