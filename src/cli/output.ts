import { existsSync, realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { OutputClosed, RanklineError, UsageError } from '../model/errors.ts'
import { noFile } from '../model/job.ts'
import { count, size } from '../model/text.ts'
import { writeFileAtomically } from '../output/file.ts'
import { note, sanitize, type Terminal } from '../output/terminal.ts'
import type { RunReads } from '../store/sqlite/runs.ts'

/** Writes pieces of data to the file that was named, or to stdout; a screen shows the colors of `painted` text. */
async function writeOutput(
  pieces: AsyncIterable<string | Uint8Array>,
  path: string | undefined,
  terminal: Terminal,
  painted = false,
): Promise<void> {
  if (path === undefined) {
    for await (const piece of pieces) await terminal.write(piece, painted)
    return
  }
  await writeFileAtomically(path, pieces)
  note(terminal, `Written: ${path}, ${size(statSync(path).size)}`)
}

/** Throws one sentence where the output would take the place of what the command reads. */
function rejectInputAsOutput(out: string | undefined, inputs: readonly (string | undefined)[]): void {
  if (out === undefined || !existsSync(out)) return
  const input = inputs.find((file) => file !== undefined && existsSync(file) && sameFile(file, out))
  if (input !== undefined)
    throw new UsageError(
      `--out names ${input}, which is read and would be lost. Give it the name of another file`,
    )
}

/** The settings of this folder, which are no place for rows. */
const settingsFile = '.env'

/**
 * Throws one sentence where the output would take the place of a job file that the database knows, of a CSV file that the named job
 * reads, or of the settings.
 *
 * @param job the job that the command names, by its file or by its name
 */
async function refuseOntoJobFiles(
  store: Pick<RunReads, 'jobFile' | 'jobNames'>,
  { out, job }: { readonly out?: string | undefined; readonly job?: string | undefined },
): Promise<void> {
  if (out === undefined) return
  const refuse = (what: string): never => {
    throw new UsageError(`--out names ${what}, which would be lost. Give it the name of another file`)
  }
  if (resolve(out) === resolve(settingsFile)) refuse(`${settingsFile}, the file for settings`)
  if (!existsSync(out)) return
  const isOut = (file: string): boolean => existsSync(file) && sameFile(file, out)
  if (isOut(settingsFile)) refuse(`${settingsFile}, the file for settings`)
  for (const name of await store.jobNames()) {
    const file = await store.jobFile(name)
    if (file !== null && file !== noFile && isOut(file)) refuse(`${out}, the job file of ${sanitize(name)}`)
  }
  const file = job === undefined || existsSync(job) ? job : await store.jobFile(job)
  if (file == null || !/\.ya?ml$/i.test(file) || !/\.[ct]sv$/i.test(realpathSync(out))) return
  const { peek } = await import('../jobfile/peek.ts')
  if (peek.csvFiles(file).some(isOut)) refuse(`${out}, from which ${file} reads queries`)
}

function sameFile(one: string, other: string): boolean {
  return realpathSync(one) === realpathSync(other)
}

/** Prints what is said of work that stands, and whose end decides the exit code, also where it cannot be written. */
async function printBestEffort(text: string, terminal: Terminal): Promise<void> {
  try {
    await terminal.write(text)
  } catch (error) {
    if (!(error instanceof RanklineError)) throw error
    if (!(error instanceof OutputClosed)) terminal.log(`rankline: ${error.message}`)
  }
}

/** A file is as wide as most screens. */
const fileColumns = 120

/** How much is wrong: `2 errors, 1 warning`; empty where nothing is. */
export function foundText({
  errors,
  warnings,
}: {
  readonly errors: number
  readonly warnings: number
}): string {
  const parts = [errors === 0 ? [] : count(errors, 'error'), warnings === 0 ? [] : count(warnings, 'warning')]
  return parts.flat().join(', ')
}

/** The file or stream that a command writes its rows into. */
export const outFile = {
  write: writeOutput,
  columns: fileColumns,
  refuseOntoJobFiles,
  rejectInput: rejectInputAsOutput,
  printBestEffort,
}
