import { columnName, maxRows, type SheetCell, type SheetColumn, sheetXml, styles } from './sheet.ts'
import { type ZipEntry, zip } from './zip.ts'

/** A sheet with its rows, of which one after the other is taken. */
export interface Sheet {
  readonly name: string
  readonly columns: readonly SheetColumn[]
  readonly rows: Iterable<readonly SheetCell[]> | AsyncIterable<readonly SheetCell[]>
}

interface SheetWritten {
  readonly name: string
  /** Its columns and rows, as a formula names them. */
  readonly area: string
}

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const packages = 'http://schemas.openxmlformats.org/package/2006'
const format = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

/**
 * An XLSX file in pieces, in flat memory; the same sheets give the same bytes. Rows that one sheet cannot hold go on
 * a next one, `name (2)`.
 *
 * @param limit rows of a sheet, its header among them
 */
export async function* workbook(sheets: Iterable<Sheet>, limit = maxRows): AsyncGenerator<Buffer> {
  yield* zip(entries(sheets, limit))
}

/** The sheets first: only when they are written is it known how many they are. */
async function* entries(sheets: Iterable<Sheet>, limit: number): AsyncGenerator<ZipEntry> {
  const written: SheetWritten[] = []
  for (const { name, columns, rows } of sheets) {
    const ahead = aheadOf(rows)
    try {
      for (let part = 1; part === 1 || !(await ahead.atEnd()); part++) {
        const own = uniqueName(part === 1 ? name : `${name} (${part})`, written)
        let count = 0
        const pieces = async function* (): AsyncGenerator<string> {
          yield head
          count = yield* sheetXml(columns, ahead, limit)
        }
        yield { name: `xl/worksheets/sheet${written.length + 1}.xml`, pieces: pieces() }
        written.push({ name: own, area: `$A$1:$${columnName(columns.length - 1)}$${count}` })
      }
    } finally {
      await ahead.close()
    }
  }
  for (const [name, text] of parts(written)) yield { name, pieces: [head, text] }
}

/** An iterator of rows that can tell whether there are more. */
function aheadOf<T>(rows: Iterable<T> | AsyncIterable<T>) {
  const source = Symbol.asyncIterator in rows ? rows[Symbol.asyncIterator]() : rows[Symbol.iterator]()
  let peeked: IteratorResult<T> | null = null
  return {
    next: (): Promise<IteratorResult<T>> | IteratorResult<T> => {
      const next = peeked ?? source.next()
      peeked = null
      return next
    },
    atEnd: async (): Promise<boolean> => {
      peeked ??= await source.next()
      return peeked.done === true
    },
    close: async (): Promise<void> => {
      await source.return?.()
    },
  }
}

const longestName = 31

/** A name that Excel takes, and that no other sheet has. */
function uniqueName(wanted: string, others: readonly { readonly name: string }[]): string {
  const taken = new Set(others.map(({ name }) => name.toLowerCase()))
  for (let number = 1; ; number++) {
    const own = cleanName(wanted, number === 1 ? '' : ` ${number}`)
    if (!taken.has(own.toLowerCase())) return own
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const unfit = /[[\]:*?/\\\u0000-\u001f\ufffe\uffff]|\p{Surrogate}/gu

/** Without what Excel refuses in names, cut so that a part number and what tells it from others stay. */
function cleanName(wanted: string, end: string): string {
  const [, name = '', part = ''] = wanted.replace(unfit, '_').match(/^(.*?)( \(\d+\))?$/s) ?? []
  const bare = name.replace(/^['\s]+|['\s]+$/g, '')
  // Excel keeps one name for itself.
  const own = bare === '' || bare.toLowerCase() === 'history' ? 'Sheet' : bare
  return cutTo(longestName - part.length - end.length, own) + part + end
}

/** Cut between characters, and not behind a quote, which no name may end with. */
function cutTo(length: number, text: string): string {
  let cut = ''
  for (const letter of text) {
    if (cut.length + letter.length > length) break
    cut += letter
  }
  return cut.replace(/'+$/, '')
}

/** What stands around the sheets. */
function parts(sheets: readonly SheetWritten[]): readonly (readonly [name: string, text: string])[] {
  const numbered = sheets.map((sheet, index) => ({
    ...sheet,
    name: attribute(sheet.name),
    number: index + 1,
  }))
  const list = <T>(of: (sheet: (typeof numbered)[number]) => T): string => numbered.map(of).join('')
  const styled = sheets.length + 1
  return [
    ['xl/styles.xml', styles],
    [
      'xl/workbook.xml',
      `<workbook xmlns="${main}" xmlns:r="${relations}"><sheets>${list(({ name, number }) => `<sheet name="${name}" sheetId="${number}" r:id="rId${number}"/>`)}</sheets><definedNames>${list(({ name, area, number }) => `<definedName name="_xlnm._FilterDatabase" localSheetId="${number - 1}" hidden="1">'${name.replaceAll("'", "''")}'!${area}</definedName>`)}</definedNames></workbook>`,
    ],
    [
      'xl/_rels/workbook.xml.rels',
      `<Relationships xmlns="${packages}/relationships">${list(({ number }) => `<Relationship Id="rId${number}" Type="${relations}/worksheet" Target="worksheets/sheet${number}.xml"/>`)}<Relationship Id="rId${styled}" Type="${relations}/styles" Target="styles.xml"/></Relationships>`,
    ],
    [
      '_rels/.rels',
      `<Relationships xmlns="${packages}/relationships"><Relationship Id="rId1" Type="${relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    ],
    [
      '[Content_Types].xml',
      `<Types xmlns="${packages}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${format}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${format}.styles+xml"/>${list(({ number }) => `<Override PartName="/xl/worksheets/sheet${number}.xml" ContentType="${format}.worksheet+xml"/>`)}</Types>`,
    ],
  ]
}

function attribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
