import { UsageError } from '../model/errors.ts'
import type { CtrCurve } from './metrics/figure.ts'

/** The default curve, in the form of a file with a user's own curve. */
export const defaultCurveCsv = `# name: Sistrix 2020 (mobile)
# version: 2020-07
# source: Sistrix, Why (almost) everything you knew about Google CTR is no longer valid, July 2020: average of mobile Google searches for over 80 million keywords; it lists ranks 1 to 10, and says less than 1% for each after them
rank,ctr
1,28.5%
2,15.7%
3,11.0%
4,8.0%
5,7.2%
6,5.1%
7,4.0%
8,3.2%
9,2.8%
10,2.5%
`

const facts = ['name', 'version', 'source'] as const
const maxRanks = 1000

const rateForms = 'write a percentage such as 28.5 or 28.5%, or a fraction such as 0.285'

/**
 * Reads a user's curve: lines `# name:`, `# version:` and `# source:`, a header `rank,ctr`, then one line for each rank from
 * 1 on. Rates are percentages if they end in `%` or if one of them is over 1, else fractions. Commas, semicolons and tabs
 * separate cells.
 *
 * @param file the name of the file in messages
 * @throws UsageError with a line for each mistake
 */
export function parseCtr(text: string, file: string): CtrCurve {
  const lines = linesOf(text)
  const mistakes: string[] = []
  const addMistake = (line: number, sentence: string) => mistakes.push(`${file}:${line}: ${sentence}`)
  const given = readFacts(lines.filter(isComment), addMistake)
  const rates = readRates(
    lines.filter((line) => !isComment(line)),
    addMistake,
  )
  if (mistakes.length > 0) throw new UsageError(mistakes.join('\n'))
  return { ...given, rates }
}

type AddMistake = (line: number, sentence: string) => void

type CurveLine = ReturnType<typeof linesOf>[number]

function linesOf(text: string) {
  return text
    .replace(/^\ufeff/, '')
    .split(/\r\n|\r|\n/)
    .map((line, index) => ({ number: index + 1, text: line.trim() }))
    .filter((line) => line.text.replace(/[,;\s]/g, '') !== '')
}

function isComment({ text }: CurveLine): boolean {
  return unquoted(text).startsWith('#')
}

function readFacts(comments: readonly CurveLine[], addMistake: AddMistake) {
  const given: Partial<Record<(typeof facts)[number], string>> = {}
  for (const { number, text } of comments) {
    // A spreadsheet ends every line with as many separators as there are columns.
    const [, key = '', value = ''] =
      unquoted(text.replace(/[,;\s]+$/, '')).match(/^#\s*([a-z]+)\s*:\s*(.*)$/i) ?? []
    const fact = facts.find((one) => one === key.toLowerCase())
    if (fact === undefined || value === '') continue
    if (given[fact] !== undefined) addMistake(number, `${fact} is given twice; keep one line '# ${fact}: …'`)
    given[fact] = value
  }
  for (const fact of facts)
    if (given[fact] === undefined)
      addMistake(1, `the curve has no ${fact}; add a line '# ${fact}: …' above the header`)
  const { name = '', version = '', source = '' } = given
  return { name, version, source }
}

function readRates([header, ...rows]: readonly CurveLine[], addMistake: AddMistake): readonly number[] {
  if (header === undefined || cellsOf(header).join().toLowerCase() !== 'rank,ctr') {
    addMistake(header?.number ?? 1, "no header 'rank,ctr'; write it above the ranks")
    return []
  }
  if (rows.length === 0) addMistake(header.number, 'no rank follows the header; add lines such as 1,28.5%')
  if (rows.length > maxRanks)
    addMistake(header.number, `${rows.length} ranks follow the header; ${maxRanks} at most are read`)
  const rates = rows.slice(0, maxRanks).flatMap((row, index) => readRow(row, index + 1, addMistake) ?? [])
  return asFractions(rates, addMistake)
}

function readRow(row: CurveLine, rank: number, addMistake: AddMistake) {
  const cells = cellsOf(row)
  const [written = '', rate = ''] = cells
  if (cells.length !== 2) {
    addMistake(row.number, `the row has ${cells.length} cells, not 2; write a rank and its rate`)
    return null
  }
  if (written !== String(rank)) {
    addMistake(row.number, `rank ${rank} is expected, not ${shown(written)}; list ranks from 1 on, each once`)
    return null
  }
  const [, number] = rate.match(/^(\d+(?:\.\d+)?|\.\d+)\s*%?$/) ?? []
  if (number === undefined) {
    addMistake(row.number, `${shown(rate)} is not a rate; ${rateForms}`)
    return null
  }
  return { line: row.number, value: Number(number), percent: rate.endsWith('%') }
}

/** Rates as fractions. Either all are percentages or none. */
function asFractions(
  rates: readonly NonNullable<ReturnType<typeof readRow>>[],
  addMistake: AddMistake,
): readonly number[] {
  const marked = rates.some(({ percent }) => percent)
  const unmarked = rates.find(({ percent }) => !percent)
  if (marked && unmarked !== undefined)
    addMistake(unmarked.line, 'this rate has no % but others have; write all of them in one way')
  const percent = marked || rates.some(({ value }) => value > 1)
  for (const { line, value } of rates)
    if (value > (percent ? 100 : 1)) addMistake(line, `${value} is more than all clicks; ${rateForms}`)
  const [first] = rates
  if (first?.value === 0) addMistake(first.line, 'rank 1 gets no clicks, so nothing can be measured by it')
  // To twelve digits: 15.7 / 100 is not 0.157.
  return rates.map(({ value }) => (percent ? Number((value / 100).toPrecision(12)) : value))
}

function cellsOf({ text }: CurveLine): readonly string[] {
  const separator = text.includes(';') ? ';' : text.includes('\t') ? '\t' : ','
  return text.split(separator).map((cell) => unquoted(cell.trim()))
}

function unquoted(text: string): string {
  return text.replace(/^"(.*)"$/, '$1').trim()
}

function shown(text: string): string {
  return `'${text.replace(/\p{C}/gu, '\ufffd').slice(0, 40)}'`
}

// At the end of the file, because it is read when the module loads and uses the constants above.
export const defaultCurve = parseCtr(defaultCurveCsv, 'the default curve')
