import { UsageError } from '../../model/errors.ts'

/** A row of a table, with the line that it begins on. */
export interface DelimitedRow {
  readonly line: number
  readonly cells: string[]
}

const longestRow = 4 * 1024 * 1024

/**
 * Parses a table given in pieces: cells in quotes may hold separators, line ends and doubled quotes. Lines without quotes, which
 * are nearly all, are split at once. Empty lines are left out.
 *
 * @param path the file, for messages
 */
export function parserOf(path: string, separator: string) {
  let rest = ''
  let line = 0
  const rows: DelimitedRow[] = []

  /** Takes the rows that are whole; answers what is left. */
  const take = (text: string): string => {
    let from = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      const quote = text.indexOf('"', from)
      if (quote < 0 || quote > end) {
        line += 1
        const last = text.charCodeAt(end - 1) === 13 && end > from ? end - 1 : end
        if (last > from) rows.push({ line, cells: text.slice(from, last).split(separator) })
        from = end + 1
        continue
      }
      const next = quotedRow(text, from)
      if (next < 0) break
      from = next
    }
    return text.slice(from)
  }

  /** Takes one row with quotes; answers where the next one begins, or -1 where its end has not come yet. */
  const quotedRow = (text: string, start: number): number => {
    const cells: string[] = []
    let at = start
    let lines = 1
    for (;;) {
      let cell: string
      if (text.charCodeAt(at) === 34) {
        let close = text.indexOf('"', at + 1)
        while (close >= 0 && text.charCodeAt(close + 1) === 34) close = text.indexOf('"', close + 2)
        // A quote at the very end may be the first of two.
        if (close < 0 || close + 1 >= text.length) return -1
        cell = text.slice(at + 1, close)
        for (let nl = cell.indexOf('\n'); nl >= 0; nl = cell.indexOf('\n', nl + 1)) lines += 1
        if (cell.includes('""')) cell = cell.replaceAll('""', '"')
        at = close + 1
      } else cell = ''
      // What stands behind a closing quote, or a cell without quotes.
      const stop = endOfCell(text, at)
      if (stop < 0) return -1
      cell += text.slice(at, stop)
      at = stop
      const isLast = text[at] === '\n'
      cells.push(isLast && cell.endsWith('\r') ? cell.slice(0, -1) : cell)
      at += 1
      if (isLast) break
    }
    rows.push({ line: line + 1, cells })
    line += lines
    return at
  }
  const endOfCell = (text: string, from: number): number => {
    const sign = text.indexOf(separator, from)
    const end = text.indexOf('\n', from)
    if (end < 0) return -1
    return sign >= 0 && sign < end ? sign : end
  }

  const taken = (): readonly DelimitedRow[] => rows.splice(0)
  return {
    /** The rows that are whole with this piece. */
    push: (piece: string): readonly DelimitedRow[] => {
      rest = take(rest + (line === 0 && rest === '' ? piece.replace(/^\ufeff/, '') : piece))
      if (rest.length > longestRow)
        throw new UsageError(
          `${path} has no end of a row within 4 MB of line ${line + 1}: a quote is missing, or it is no table`,
        )
      return taken()
    },
    /** The last row, which need not have an end. */
    end: (): readonly DelimitedRow[] => {
      rest = take(`${rest}\n`)
      if (rest.trim() !== '')
        throw new UsageError(
          `${path} ends within a cell that begins with a quote in line ${line + 1}: it is cut off. Export it again`,
        )
      return taken()
    },
  }
}

/** The rows of a table, some at a time. */
export async function* tableRows(
  path: string,
  text: AsyncIterable<string>,
  separator: string,
): AsyncGenerator<readonly DelimitedRow[]> {
  const parse = parserOf(path, separator)
  for await (const piece of text) yield parse.push(piece)
  yield parse.end()
}
