import type { SheetData } from 'read-excel-file/node'
import readSheets from 'read-excel-file/node'
import { type Sheet, workbook } from '../../src/output/xlsx.ts'

/** The bytes of a workbook. */
export async function bytesOf(sheets: Iterable<Sheet>, limit?: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of workbook(sheets, limit)) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** Its sheets as another program reads them: each name with its rows. */
export async function read(bytes: Buffer): Promise<readonly (readonly [name: string, rows: SheetData])[]> {
  return (await readSheets(bytes, { trim: false })).map(({ sheet, data }) => [sheet, data])
}

/** So many columns of text. */
export function textColumns(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    header: `c${index}`,
    width: 10,
    kind: 'text' as const,
  }))
}
