import { type ByteSource, readLines } from './csv-bytes.ts'

const lineFeed = 10
const quote = 34
const byteOrderMark: readonly number[] = [0xef, 0xbb, 0xbf]

/**
 * The line on which the first quote opens that is not closed as it should be, looking at the rows from
 * `firstLine` (where a row begins) up to `lastLine`; null where all are.
 */
export async function openQuote(
  source: ByteSource,
  { firstLine, lastLine, delimiter }: { firstLine: number; lastLine: number; delimiter: string },
): Promise<number | null> {
  const separator = delimiter.charCodeAt(0)
  let line = 1
  let opened = 1
  let state: 'start' | 'bare' | 'quoted' | 'closing' = 'start'
  for await (const chunk of readLines(source, () => {}))
    for (const byte of chunk) {
      if (line > lastLine) return state === 'quoted' ? opened : null
      if (line >= firstLine) {
        const ends = byte === separator || byte === lineFeed
        if (state === 'quoted') {
          if (byte === quote) state = 'closing'
        } else if (state === 'closing') {
          if (byte !== quote && !ends) return opened
          state = ends ? 'start' : 'quoted'
        } else if (state === 'start' && byte === quote) {
          state = 'quoted'
          opened = line
        } else if (line > 1 || !byteOrderMark.includes(byte)) state = ends ? 'start' : 'bare'
      }
      if (byte === lineFeed) line++
    }
  return state === 'quoted' ? opened : null
}
