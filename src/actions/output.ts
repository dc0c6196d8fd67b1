import { statSync } from 'node:fs'
import { writeWhole } from '../report/whole-file.ts'
import type { Terminal } from '../terminal.ts'
import { size } from '../words.ts'

/** Writes pieces of data to the file that was named, or to stdout. */
export async function deliver(
  pieces: AsyncIterable<string | Uint8Array>,
  path: string | undefined,
  terminal: Terminal,
): Promise<void> {
  if (path === undefined) {
    for await (const piece of pieces) await terminal.out(piece)
    return
  }
  await writeWhole(path, pieces)
  terminal.say(`Written: ${path}, ${size(statSync(path).size)}`)
}

/** A file is as wide as most screens. */
export const fileColumns = 120

/** A text as one piece of output. */
export async function* whole(text: string): AsyncGenerator<string> {
  yield text
}
