import type { Document, ErrorCode } from 'yaml'
import { type Mistake, type Place, quoted, type Report } from './problem.ts'

type ToPlace = (offset: number) => Place

const common: Mistake = {
  what: 'the YAML cannot be read here',
  instead: 'look at indentation, brackets and quotes',
}

const known: Partial<Record<ErrorCode, Mistake>> = {
  TAB_AS_INDENT: { what: 'a tab stands where the line is indented', instead: 'write spaces' },
  MISSING_CHAR: { what: 'a quote, bracket or comma is missing', instead: 'add it' },
  BAD_SCALAR_START: { what: 'a text begins with a sign of YAML', instead: 'put the text in quotes' },
  BLOCK_AS_IMPLICIT_KEY: {
    what: "a second ': ' stands in one line",
    instead: 'put the text in quotes, or begin a new line',
  },
  BAD_INDENT: { what: 'the indentation does not fit, or a bracket is not closed', instead: 'line it up' },
  BAD_DQ_ESCAPE: {
    what: 'an unknown escape stands in double quotes',
    instead: 'write \\\\ for a backslash, or use single quotes',
  },
  MULTILINE_IMPLICIT_KEY: {
    what: 'a key runs over several lines',
    instead: "write 'key: value' in one line",
  },
}

/** Reports what is wrong with the YAML itself; false where the rest cannot be trusted. */
export function reportSyntax(
  documents: readonly Document[],
  text: string,
  place: ToPlace,
  report: Report,
): boolean {
  const second = documents[1]
  let trusted = true
  const told = new Set<number>()
  for (const { code, pos } of documents.flatMap((document) => document.errors)) {
    if (told.has(pos[0])) continue
    told.add(pos[0])
    const key = text.slice(pos[0]).match(/^["']?([^\s:"']*)/)?.[1] ?? ''
    if (code === 'DUPLICATE_KEY')
      report({ ...place(pos[0]), what: `key ${quoted(key)} stands twice`, instead: 'keep one of them' })
    else {
      report({ ...place(pos[0]), ...(known[code] ?? common) })
      trusted = false
    }
  }
  if (second === undefined) return trusted
  const instead = 'write one job per file, without a line ---'
  report({ ...place(second.range?.[0] ?? 0), what: 'a second document begins', instead })
  return false
}
