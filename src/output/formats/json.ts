import { type Cells, type TextOptions, textChunks } from './format.ts'

/** Rows as one JSON list of objects. */
export function writeJson(rows: Iterable<Cells>, { columns }: TextOptions): AsyncGenerator<string> {
  return textChunks(list(rows, columns))
}

/** Rows as JSON objects, one on each line. */
export function writeJsonLines(rows: Iterable<Cells>, { columns }: TextOptions): AsyncGenerator<string> {
  return textChunks(lines(rows, columns))
}

function* list(rows: Iterable<Cells>, columns: TextOptions['columns']): Generator<string> {
  const object = objectWriter(columns)
  let before = '[\n'
  for (const row of rows) {
    yield `${before}  ${object(row)}`
    before = ',\n'
  }
  yield before === '[\n' ? '[]\n' : '\n]\n'
}

function* lines(rows: Iterable<Cells>, columns: TextOptions['columns']): Generator<string> {
  const object = objectWriter(columns)
  for (const row of rows) yield `${object(row)}\n`
}

/** Writes rows as JSON objects; names are encoded only once. */
function objectWriter(columns: TextOptions['columns']): (cells: Cells) => string {
  const fields = columns.map(({ name, type }, index) => ({
    key: `${index === 0 ? '' : ','}${JSON.stringify(name)}:`,
    write: type === 'json' ? jsonText : JSON.stringify,
  }))
  return (cells) => {
    let text = '{'
    for (const [index, { key, write }] of fields.entries()) text += key + write(cells[index] ?? null)
    return `${text}}`
  }
}

/** The value that a JSON text says, in one line; text that is no JSON stays text. */
function jsonText(cell: Cells[number]): string {
  if (typeof cell !== 'string') return JSON.stringify(cell)
  try {
    return JSON.stringify(JSON.parse(cell))
  } catch {
    return JSON.stringify(cell)
  }
}
