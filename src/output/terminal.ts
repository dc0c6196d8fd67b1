import { createRequire } from 'node:module'
import { stripVTControlCharacters } from 'node:util'
import type { Clock } from '../model/time.ts'

/** How important a log line is. */
export type LogLevel = 'info' | 'warn' | 'error'

/** What a log line is about. Only a log in JSON shows it. */
export interface LogFields {
  /** `warn` if not given. */
  readonly level?: LogLevel
  readonly run?: number
  readonly job?: string
  readonly [more: string]: unknown
}

/** Where a command writes: data to stdout, log lines to stderr. */
export interface Terminal {
  /**
   * Writes data: as it is into a file or a pipe, with control characters escaped onto a screen; the colors of `painted` text pass.
   * Fulfilled when more may be written, rejected with one sentence where it cannot be.
   */
  readonly write: (data: string | Uint8Array, painted?: boolean) => Promise<void>
  /** Writes one log line. */
  readonly log: (line: string, about?: LogFields) => void
  /** Logs an event for programs. Missing where the log is text: people read of it elsewhere. */
  readonly event?: (what: string, about: LogFields) => void
  /** Asks a person yes or no, which means no unless it is yes; null if there is no one to answer. */
  readonly ask?: ((question: string) => Promise<boolean>) | null
  /** Asks a person for a line, which may be empty; answers null where the person ends the input. Null if there is no one to answer. */
  readonly askText?: ((question: string) => Promise<string | null>) | null
  /** Rewrites the live line where there is a terminal; an empty one takes it away. */
  readonly status: ((line: string) => void) | null
  /** Log warnings and errors only, no progress and no notes. */
  readonly quiet?: boolean
  readonly columns: number
  readonly color: boolean
  /** Only letters, digits and signs of ASCII can be shown. */
  readonly ascii?: boolean
}

/** Prints a line of information; nothing with `--quiet`. */
export function note({ log, quiet = false }: Pick<Terminal, 'log' | 'quiet'>, line: string): void {
  if (!quiet) log(line, { level: 'info' })
}

/** The terminal, with these fields on every log line and event. */
export function about(terminal: Terminal, fields: LogFields): Terminal {
  const { log, event } = terminal
  return {
    ...terminal,
    log: (line, more) => log(line, { ...fields, ...more }),
    ...(event === undefined ? {} : { event: (what, more) => event(what, { ...fields, ...more }) }),
  }
}

/** The terminal without notes and progress: only warnings and errors. */
export function quietTerminal(terminal: Terminal): Terminal {
  const { event } = terminal
  if (event === undefined) return { ...terminal, quiet: true, status: null }
  const wrong: typeof event = (what, about) => (about.level === 'info' ? undefined : event(what, about))
  return { ...terminal, quiet: true, status: null, event: wrong }
}

/** Whether data goes to a person's eyes, not into a pipe or a file: those have no width. */
export function isScreen({ columns }: Pick<Terminal, 'columns'>): boolean {
  return Number.isFinite(columns)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const unsafe = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g

/** Text from outside, made safe for a terminal: no escape sequences, no control or direction characters, one line. */
export function sanitize(text: string): string {
  return stripVTControlCharacters(text).replace(unsafe, ' ')
}

/** The same for a line of text, in which spaces at the ends would look like columns. */
export function sanitizeLine(text: string): string {
  return sanitize(text).trim()
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is escaped
const control = /(?![\n\t]|\r\n)[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

// biome-ignore lint/suspicious/noControlCharactersInRegex: those of our own tables, whose cells are harmless
const color = /\u001b\[(?:1|22|31|32|39|90)m/

/**
 * Text as a screen may show it: control and direction characters escaped as JSON does, so that JSON stays JSON, but for tabs and line
 * ends; the colors of `painted` text pass.
 */
export function escapeControls(text: string, painted = false): string {
  return text.replace(control, (character, at: number) =>
    painted && color.exec(text.slice(at, at + 5))?.index === 0
      ? character
      : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** The text cut or padded to that many columns; wide characters count twice. */
export function fitColumns(text: string, columns: number, align: 'left' | 'right' = 'left'): string {
  const cut = textWidth(text) > columns ? shorten(text, columns) : text
  const space = ' '.repeat(Math.max(0, columns - textWidth(cut)))
  return align === 'left' ? cut + space : space + cut
}

/** To make one takes longer than to shorten a text; most commands never need it. */
let letters: Intl.Segmenter | null = null

function shorten(text: string, columns: number): string {
  letters ??= new Intl.Segmenter()
  let short = ''
  let width = 0
  for (const { segment } of letters.segment(text)) {
    width += textWidth(segment)
    if (width > columns - 1) break
    short += segment
  }
  return `${short}…`
}

/** Letters and signs that are one column wide in every text: a table is full of them, and the package takes 5 us for each. */
const narrow =
  /^[\u0020-\u007e\u00a0-\u00ac\u00ae-\u02ff\u0400-\u0482\u048a-\u052f\u2010-\u2027\u2190-\u21ff\u2500-\u25fc]*$/

/** The package takes a tenth of a start to load: most commands never need it. */
let stringWidth: typeof import('string-width').default | null = null

/** How many columns of a terminal a text takes. */
export function textWidth(text: string): number {
  if (narrow.test(text)) return text.length
  stringWidth ??= (createRequire(import.meta.url)('string-width') as typeof import('string-width')).default
  return stringWidth(text)
}

export const liveEveryMs = 100
const plainEveryMs = 30_000
/** Makes a status line; its text is made only when it is shown. */
export function statusLine<T>(
  terminal: Terminal,
  clock: Pick<Clock, 'monotonic'>,
  textOf: (state: T) => string,
) {
  const { status } = terminal
  const every = status === null ? plainEveryMs : liveEveryMs
  const write = status ?? ((line: string) => note(terminal, line))
  let shown = status === null ? clock.monotonic() : Number.NEGATIVE_INFINITY
  return {
    show: (state: T): void => {
      const now = clock.monotonic()
      if (now - shown < every) return
      shown = now
      write(textOf(state))
    },
    /** Removes the live line. */
    end: (): void => status?.(''),
  }
}
