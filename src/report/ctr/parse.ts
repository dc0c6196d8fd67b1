import { UsageError } from '../../errors.ts'
import type { CtrCurve } from './curve.ts'

const facts = ['name', 'version', 'source'] as const
const maxRanks = 1000

interface Line {
  readonly number: number
  readonly text: string
}

interface Rate {
  readonly line: number
  readonly value: number
  readonly percent: boolean
}

/** What a rate may be. */
const rateForms = 'write a percentage such as 28.5 or 28.5%, or a fraction such as 0.285'

/**
 * Reads a curve of one's own: lines `# name:`, `# version:` and `# source:`, a header `rank,ctr`, then one line for each
 * rank from 1 on. Rates are percentages where they end in `%` or one of them is over 1, else fractions. Commas,
 * semicolons and tabs separate.
 *
 * @param file what mistakes call it
 * @throws UsageError with a line for each mistake
 */
export function parseCtr(text: string, file: string): CtrCurve {
  const lines = text
    .replace(/^\ufeff/, '')
    .split(/\r\n|\r|\n/)
    .map((line, index) => ({ number: index + 1, text: line.trim() }))
    .filter((line) => line.text.replace(/[,;\s]/g, '') !== '')
  const mistakes: string[] = []
  const tell = (line: number, sentence: string) => mistakes.push(`${file}:${line}: ${sentence}`)
  const said = readFacts(lines.filter(isComment), tell)
  const rates = readRates(
    lines.filter((line) => !isComment(line)),
    tell,
  )
  if (mistakes.length > 0) throw new UsageError(mistakes.join('\n'))
  return { name: said.name ?? '', version: said.version ?? '', source: said.source ?? '', rates }
}

type Tell = (line: number, sentence: string) => void

function isComment({ text }: Line): boolean {
  return unquoted(text).startsWith('#')
}

function readFacts(comments: readonly Line[], tell: Tell): Partial<Record<(typeof facts)[number], string>> {
  const said: Partial<Record<(typeof facts)[number], string>> = {}
  for (const { number, text } of comments) {
    // A spreadsheet ends every line with as many separators as there are columns.
    const [, key = '', value = ''] =
      unquoted(text.replace(/[,;\s]+$/, '')).match(/^#\s*([a-z]+)\s*:\s*(.*)$/i) ?? []
    const fact = facts.find((one) => one === key.toLowerCase())
    if (fact === undefined || value === '') continue
    if (said[fact] !== undefined) tell(number, `${fact} is said twice; keep one line '# ${fact}: …'`)
    said[fact] = value
  }
  for (const fact of facts)
    if (said[fact] === undefined)
      tell(1, `the curve says no ${fact}; add a line '# ${fact}: …' above the header`)
  return said
}

function readRates([header, ...rows]: readonly Line[], tell: Tell): readonly number[] {
  if (header === undefined || cellsOf(header).join().toLowerCase() !== 'rank,ctr') {
    tell(header?.number ?? 1, "no header 'rank,ctr'; write it above the ranks")
    return []
  }
  if (rows.length === 0) tell(header.number, 'no rank follows the header; add lines such as 1,28.5%')
  if (rows.length > maxRanks)
    tell(header.number, `${rows.length} ranks follow the header; ${maxRanks} at most are read`)
  const rates = rows.slice(0, maxRanks).flatMap((row, index) => {
    const rate = readRow(row, index + 1, tell)
    return rate === null ? [] : [rate]
  })
  return asFractions(rates, tell)
}

function readRow(row: Line, rank: number, tell: Tell): Rate | null {
  const cells = cellsOf(row)
  const [written = '', rate = ''] = cells
  if (cells.length !== 2) {
    tell(row.number, `the row has ${cells.length} cells, not 2; write a rank and its rate`)
    return null
  }
  if (written !== String(rank)) {
    tell(row.number, `rank ${rank} is expected, not ${shown(written)}; list ranks from 1 on, each once`)
    return null
  }
  const [, number] = rate.match(/^(\d+(?:\.\d+)?|\.\d+)\s*%?$/) ?? []
  if (number === undefined) {
    tell(row.number, `${shown(rate)} is no rate; ${rateForms}`)
    return null
  }
  return { line: row.number, value: Number(number), percent: rate.endsWith('%') }
}

/** Rates as shares; all are percentages, or none. */
function asFractions(rates: readonly Rate[], tell: Tell): readonly number[] {
  const marked = rates.some(({ percent }) => percent)
  const unmarked = rates.find(({ percent }) => !percent)
  if (marked && unmarked !== undefined)
    tell(unmarked.line, 'this rate has no % but others have; write all of them in one way')
  const percent = marked || rates.some(({ value }) => value > 1)
  for (const { line, value } of rates)
    if (value > (percent ? 100 : 1)) tell(line, `${value} is more than all clicks; ${rateForms}`)
  const [first] = rates
  if (first?.value === 0) tell(first.line, 'rank 1 gets no clicks, so nothing can be measured by it')
  // To twelve digits: 15.7 / 100 is not 0.157.
  return rates.map(({ value }) => (percent ? Number((value / 100).toPrecision(12)) : value))
}

function cellsOf({ text }: Line): readonly string[] {
  const separator = text.includes(';') ? ';' : text.includes('\t') ? '\t' : ','
  return text.split(separator).map((cell) => unquoted(cell.trim()))
}

function unquoted(text: string): string {
  return text.replace(/^"(.*)"$/, '$1').trim()
}

function shown(text: string): string {
  return `'${text.replace(/\p{C}/gu, '\ufffd').slice(0, 40)}'`
}
