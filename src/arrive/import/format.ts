import { UsageError } from '../../model/errors.ts'
import { parseLink } from '../../model/url.ts'
import type { ImportSink } from '../../store/sqlite/imports/imports.ts'
import type { ForeignFile } from './source.ts'
import { type DayBeforeMonth, siteOf } from './values.ts'

/** How one tool writes what it knows: a file of this folder's `formats`, and a line in `registry`. */
export interface ForeignFormat {
  /** What `--as` takes. */
  readonly name: string
  /** Formats of one tool share what they follow. */
  readonly tool: string
  readonly title: string
  /** Of several observations of one day, which one counts. */
  readonly sameDay: 'last' | 'best'
  /** Whether a file is of this format, by what is in it. */
  readonly recognise: (file: ForeignFile) => boolean
  /** Tells all that a file of this format says. */
  readonly read: (file: ForeignFile, into: ImportSink, wanted: ImportOptions) => Promise<void>
}

/** What a person says of a file that does not say it itself. */
export interface ImportOptions {
  /** The site whose ranks it has. */
  readonly target: string | null
  /** The day of a file without days, as a number. */
  readonly day: number | null
  readonly order: DayBeforeMonth | null
  /** Names of columns by what they hold. */
  readonly columns: ReadonlyMap<string, string>
}

/**
 * The site of a file that does not name it: the one that was typed, else the one in the name of the file, else the host of the page that
 * ranks, else that of the row before.
 */
export function siteGuess({ name }: ForeignFile, { target }: ImportOptions, ofName: string | null = null) {
  const named = target ?? ofName
  let last = named === null ? null : siteOf(named)
  return (link: string | null): string => {
    if (named === null && link !== null) last = hostIn(link) ?? last
    if (last !== null) return last
    throw new UsageError(`${name} does not say whose ranks it has. Name the site with --target acme.com`)
  }
}

function hostIn(link: string): string | null {
  const parsed = parseLink(/^https?:/i.test(link) ? link : `https://${link}`)
  return parsed === null ? null : siteOf(parsed.host)
}
