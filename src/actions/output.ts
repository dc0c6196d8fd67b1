import { existsSync, realpathSync, statSync } from 'node:fs'
import { NobodyReads, RanklineError, UsageError } from '../errors.ts'
import { writeWhole } from '../report/whole-file.ts'
import { note, type Terminal } from '../terminal.ts'
import { size } from '../words.ts'

/** Writes pieces of data to the file that was named, or to stdout; a screen shows the colors of `painted` text. */
export async function deliver(
  pieces: AsyncIterable<string | Uint8Array>,
  path: string | undefined,
  terminal: Terminal,
  painted = false,
): Promise<void> {
  if (path === undefined) {
    for await (const piece of pieces) await terminal.out(piece, painted)
    return
  }
  await writeWhole(path, pieces)
  note(terminal, `Written: ${path}, ${size(statSync(path).size)}`)
}

/** Throws one sentence where the output would take the place of what the command reads. */
export function refuseOntoInput(out: string | undefined, inputs: readonly (string | undefined)[]): void {
  if (out === undefined || !existsSync(out)) return
  const input = inputs.find((file) => file !== undefined && existsSync(file) && sameFile(file, out))
  if (input !== undefined)
    throw new UsageError(
      `--out names ${input}, which is read and would be lost. Give it the name of another file`,
    )
}

function sameFile(one: string, other: string): boolean {
  return realpathSync(one) === realpathSync(other)
}

/** Prints what is said of work that stands, and whose end decides the exit code, also where it cannot be written. */
export async function tellAnyhow(text: string, terminal: Terminal): Promise<void> {
  try {
    await terminal.out(text)
  } catch (error) {
    if (!(error instanceof RanklineError)) throw error
    if (!(error instanceof NobodyReads)) terminal.say(`rankline: ${error.message}`)
  }
}

/** A file is as wide as most screens. */
export const fileColumns = 120

/** A text as one piece of output. */
export async function* whole(text: string): AsyncGenerator<string> {
  yield text
}
