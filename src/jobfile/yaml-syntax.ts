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

const misaligned: Mistake = {
  what: 'the line begins at another column than the entries above',
  instead: 'line it up with them',
}

/** The errors that a line at another column than those above gives, beside others. */
const fromMisaligned: ReadonlySet<ErrorCode> = new Set([
  'BLOCK_AS_IMPLICIT_KEY',
  'MISSING_CHAR',
  'BAD_INDENT',
])

/** Where the line begins that stands at another column than those above, if that is what an error comes from; else null. */
function misalignedAt(text: string, code: ErrorCode, offset: number, isMultiline: boolean): number | null {
  if (!fromMisaligned.has(code)) return null
  // The library names the first column of such a line, before its spaces and before comments above it.
  if (offset === 0 || text[offset - 1] === '\n') {
    const indent = text.slice(offset).match(/^(?: *(?:#.*)?\n)* *(?=[^ \n#])/)?.[0]
    if (indent !== undefined && indent !== '') return offset + indent.length
    if (code === 'BLOCK_AS_IMPLICIT_KEY' && /^-\s/.test(text.slice(offset, offset + 2))) return offset
  }
  // A line that is too deep goes on with the value above, which is taken for a key then.
  if (code !== 'BLOCK_AS_IMPLICIT_KEY' || !isMultiline) return null
  const next = text.slice(offset).match(/^.*\n\s*(?=\S)/)?.[0]
  return next === undefined ? null : offset + next.length
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
  const errors = documents.flatMap((document) => document.errors)
  const multiline = new Set(
    errors.flatMap(({ code, pos }) => (code === 'MULTILINE_IMPLICIT_KEY' ? [pos[0]] : [])),
  )
  let misalignedFrom = Number.POSITIVE_INFINITY
  for (const { code, pos } of errors) {
    // What follows a line at another column comes of that, or is told when the line is right.
    if (told.has(pos[0]) || pos[0] >= misalignedFrom) continue
    told.add(pos[0])
    const begin = misalignedAt(text, code, pos[0], multiline.has(pos[0]))
    if (begin !== null) {
      misalignedFrom = pos[0]
      report({ ...place(begin), ...misaligned })
      trusted = false
      continue
    }
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
