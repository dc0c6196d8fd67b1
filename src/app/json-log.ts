import { pino, stdTimeFunctions } from 'pino'
import type { LogFields } from '../output/terminal.ts'

/** Writes one line of a log. */
export type LogLine = (message: string, about: LogFields) => void

/** A log of JSON lines: level, time (ISO 8601, UTC), what the line is about, and the message. */
export function jsonLog(write: (line: string) => void): LogLine {
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
