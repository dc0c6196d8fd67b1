import { OutputClosed, RanklineError } from '../model/errors.ts'
import { wrapLines } from '../output/table.ts'
import { escapeControls, type Terminal } from '../output/terminal.ts'
import { outputSettings } from '../run/config.ts'

/** Of a terminal that says it is 0 wide, as those of containers and of some editors do. */
const usualColumns = 80

/** The terminal, or the pipes, that this process was started with. */
export function openTerminal(): Terminal {
  const { color, live, ascii } = outputSettings()
  // A failed write of data rejects `write`; a message that cannot be written is lost.
  const ignore = (): void => {}
  process.stdout.on('error', ignore)
  process.stderr.on('error', ignore)
  let lineShown = false
  // A character may be cut in two by the end of a piece.
  const decoder = new TextDecoder()
  const decoded = (data: string | Uint8Array): string =>
    typeof data === 'string' ? data : decoder.decode(data, { stream: true })
  const clear = (): void => {
    if (lineShown) process.stderr.write('\r\u001b[2K')
    lineShown = false
  }
  return {
    write: (data, painted) =>
      new Promise((resolve, reject) => {
        clear()
        const shown = process.stdout.isTTY ? escapeControls(decoded(data), painted) : data
        process.stdout.write(shown, (error) => (error ? reject(unwritten(error)) : resolve()))
      }),
    log: (line) => {
      clear()
      const { isTTY, columns } = process.stderr
      // A log is looked at on a screen, later.
      const shown = escapeControls(line)
      process.stderr.write(`${isTTY ? wrapLines(shown, columns || usualColumns) : shown}\n`)
    },
    ask: asker(clear, async (question) => isYes(await askLine(`${question} [y/N]`))),
    askText: asker(clear, askLine),
    status: live
      ? (line) => {
          if (line === '') return clear()
          const width = (process.stderr.columns || usualColumns) - 1
          process.stderr.write(`\r\u001b[2K${escapeControls(line).slice(0, width)}`)
          lineShown = true
        }
      : null,
    // What goes into a pipe or a file is cut nowhere.
    columns: process.stdout.isTTY ? process.stdout.columns || usualColumns : Number.POSITIVE_INFINITY,
    color,
    ascii,
  }
}

/** What asks a person; null where there is no one to answer. */
function asker<T>(
  clear: () => void,
  ask: (question: string) => Promise<T>,
): ((question: string) => Promise<T>) | null {
  // To look at stdin opens it, which takes longer than to read the words.
  if (!process.stderr.isTTY || !process.stdin.isTTY) return null
  return (question) => {
    clear()
    return ask(question)
  }
}

async function askLine(question: string): Promise<string | null> {
  const { createInterface } = await import('node:readline')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await new Promise<string | null>((resolve) => {
    // The end of the input, and Ctrl-C, are no answer.
    lines.on('close', () => resolve(null))
    lines.question(`${question} `, resolve)
  })
  lines.close()
  return answer?.trim() ?? null
}

function isYes(answer: string | null): boolean {
  return /^y(es)?$/i.test(answer ?? '')
}

/** Exit code for what may pass. */
const tryAgain = 6

/** Why data was not written: the reader of a pipe may have stopped, and a disk may be full. */
function unwritten(error: NodeJS.ErrnoException): RanklineError {
  const { code } = error
  if (code === 'EPIPE') return new OutputClosed({ cause: error })
  const why =
    code === 'ENOSPC' || code === 'EDQUOT' ? ' because the disk is full' : ` (${code ?? error.message})`
  return new RanklineError(
    `The output cannot be written${why}. Free some space, or write it elsewhere`,
    tryAgain,
    {
      cause: error,
    },
  )
}
