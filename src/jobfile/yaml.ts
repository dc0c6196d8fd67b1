import { Composer, type Document, isMap, isScalar, Lexer, LineCounter, Parser } from 'yaml'
import type { Place, Report } from './problem.ts'
import type { Source } from './tree.ts'
import { reportSyntax } from './yaml-syntax.ts'
import { offsetAt, toTree } from './yaml-tree.ts'

// Deeper files can exhaust the stack of the composer, which ends the process; no job needs ten levels.
const maxDepth = 100

/** Reads the text of a YAML file; null after a mistake that leaves no whole map to look at. */
export function parseYaml(written: string, where: string, report: Report): Source | null {
  const text = written.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n')
  const lines = new LineCounter()
  const place = (offset: number): Place => {
    const { line, col } = lines.linePos(offset)
    return { where, line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  const documents = compose(text, lines, (offset) =>
    report({ ...place(offset), what: 'the nesting is too deep', instead: 'write a flat list of queries' }),
  )
  if (documents === null || !reportSyntax(documents, text, place, report)) return null
  const contents = documents[0]?.contents ?? null
  if (contents === null || (isScalar(contents) && contents.source === '')) {
    const instead = "write 'queries:' and below it the texts to search for"
    report({ where, line: null, column: null, what: 'the file is empty', instead })
    return null
  }
  if (!isMap(contents)) {
    const instead = "write 'queries:' and below it the list of texts"
    report({ ...place(contents.range?.[0] ?? 0), what: 'the file is no map of settings', instead })
    return null
  }
  const made = toTree(contents, text, place, report)
  if (made === null) return null
  return {
    tree: made.tree,
    at: (path, part) => place(offsetAt(contents, made.aliased, path, part ?? 'value')),
  }
}

function compose(text: string, lines: LineCounter, tooDeep: (offset: number) => void): Document[] | null {
  const parser = new Parser(lines.addNewLine)
  const composer = new Composer({ schema: 'failsafe' })
  let reached: number | null = null
  function* tokens() {
    for (const lexeme of new Lexer().lex(text)) {
      yield* parser.next(lexeme)
      if (parser.stack.length > maxDepth) {
        reached = parser.offset
        return
      }
    }
    yield* parser.end()
  }
  lines.addNewLine(0)
  const documents = [...composer.compose(tokens(), true, text.length)] as Document[]
  if (reached === null) return documents
  tooDeep(reached - 1)
  return null
}
