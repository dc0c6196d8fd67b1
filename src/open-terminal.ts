import { outputSettings } from './config.ts'
import type { Terminal } from './terminal.ts'

/** The terminal, or the pipes, that this process was started with. */
export function openTerminal(): Terminal {
  const { color, live, ascii } = outputSettings()
  // Who reads us through a pipe may stop reading; what is collected is not harmed by that.
  const ignore = (error: NodeJS.ErrnoException): void => {
    if (error.code === 'EPIPE') return
    process.exitCode = 1
    process.stderr.write(`rankline: the output cannot be written (${error.code ?? error.message}).\n`)
  }
  process.stdout.on('error', ignore)
  process.stderr.on('error', ignore)
  let lineShown = false
  const clear = (): void => {
    if (lineShown) process.stderr.write('\r\u001b[2K')
    lineShown = false
  }
  return {
    out: (data) =>
      new Promise((resolve) => {
        clear()
        // Called when it is handed on, and also when nobody reads any more.
        process.stdout.write(data, () => resolve())
      }),
    say: (line) => {
      clear()
      process.stderr.write(`${line}\n`)
    },
    live: live
      ? (line) => {
          if (line === '') return clear()
          const width = (process.stderr.columns || 80) - 1
          process.stderr.write(`\r\u001b[2K${line.slice(0, width)}`)
          lineShown = true
        }
      : null,
    // What goes into a pipe or a file is cut nowhere.
    columns: process.stdout.columns ?? Number.POSITIVE_INFINITY,
    color,
    ascii,
  }
}
