import { stripVTControlCharacters } from 'node:util'
import { textWidth } from './text-width.ts'

/** Where an action writes: data to stdout, talk to stderr. */
export interface Terminal {
  /**
   * Writes data: as it is into a file or a pipe, with control characters escaped onto a screen; the colors of `painted` text pass.
   * Fulfilled when more may be written, rejected with one sentence where it cannot be.
   */
  readonly out: (data: string | Uint8Array, painted?: boolean) => Promise<void>
  /** Says one line to a person. */
  readonly say: (line: string) => void
  /** Asks a person yes or no, which means no unless it is yes; null where nobody can answer. */
  readonly ask?: ((question: string) => Promise<boolean>) | null
  /** Rewrites the live line where there is a terminal; an empty one takes it away. */
  readonly live: ((line: string) => void) | null
  /** Only what is wrong is said: neither progress nor notes. */
  readonly quiet?: boolean
  readonly columns: number
  readonly color: boolean
  /** Only letters, digits and signs of ASCII can be shown. */
  readonly ascii?: boolean
}

/** Says one line that may be missed. */
export function note({ say, quiet = false }: Pick<Terminal, 'say' | 'quiet'>, line: string): void {
  if (!quiet) say(line)
}

/** A terminal that is told only what is wrong. */
export function quietly(terminal: Terminal): Terminal {
  return { ...terminal, quiet: true, live: null }
}

/** Whether data goes to a person's eyes, not into a pipe or a file: those have no width. */
export function isScreen({ columns }: Pick<Terminal, 'columns'>): boolean {
  return Number.isFinite(columns)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const unsafe = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g

/** Text from outside, made harmless for a terminal: no escape sequences, no control or direction characters, one line. */
export function harmless(text: string): string {
  return stripVTControlCharacters(text).replace(unsafe, ' ')
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is escaped
const control = /(?![\n\t]|\r\n)[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

// biome-ignore lint/suspicious/noControlCharactersInRegex: those of our own tables, whose cells are harmless
const color = /\u001b\[(?:1|22|31|32|39)m/

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
