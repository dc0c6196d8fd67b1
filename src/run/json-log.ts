import { pino, stdTimeFunctions } from 'pino'
import type { LogFields, Terminal } from '../output/terminal.ts'

/** A terminal whose messages are JSON lines; nothing else goes to standard error, so no question is asked either. */
export function jsonTerminal(terminal: Terminal): Terminal {
  const write = jsonLog((line) => terminal.log(line))
  return {
    ...terminal,
    // Programs know which one wrote the line.
    log: (line, about = {}) => write(line.replace(/^rankline: /, ''), about),
    event: write,
    ask: null,
    status: null,
  }
}

/** A log of JSON lines: level, time (ISO 8601, UTC), what the line is about, and the message. */
function jsonLog(write: (line: string) => void): (message: string, about: LogFields) => void {
  const logger = pino(
    {
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
    },
    { write: (line: string) => write(line.trimEnd()) },
  )
  return (message, { level = 'warn', ...about }) => logger[level](about, message)
}
