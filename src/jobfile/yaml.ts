import {
  type Alias,
  Composer,
  CST,
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  Parser,
  parseDocument,
  type Scalar,
  type YAMLMap,
} from 'yaml'
import { type InvalidValue, quoted } from '../model/values.ts'
import type { FilePosition, Path, Report, Source, Tree, TreeMap } from './source.ts'

type ToPlace = (offset: number) => FilePosition

// Deeper files can exhaust the stack of the composer, which ends the process; no job needs ten levels.
const maxDepth = 100

const jobWords = {
  empty: "write 'queries:' and below it the texts to search for",
  notMap: "write 'queries:' and below it the list of texts",
  second: 'write one job per file, without a line ---',
}

/**
 * Reads the text of a YAML file; null after a mistake that leaves no whole map to look at.
 *
 * @param words what the file is meant to hold, for the mistakes of one that is no map
 */
export function parseYaml(
  written: string,
  where: string,
  report: Report,
  words: {
    /** What to write into an empty file; null where it may be empty. */
    readonly empty: string | null
    readonly notMap: string
    /** What to do where a second document begins. */
    readonly second: string
  } = jobWords,
): Source | null {
  const text = written.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n')
  const lines = new LineCounter()
  const place = (offset: number): FilePosition => {
    const { line, col } = lines.linePos(offset)
    return { where, line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  const lost = lostToComments(text)
  const documents = compose(text, lines, (offset) =>
    report({ ...place(offset), message: 'the nesting is too deep', fix: 'write a flat list of queries' }),
  )
  for (const { offset, mistake } of lost.texts) report({ ...place(offset), ...mistake })
  if (documents === null || !reportSyntax(documents, text, place, report, words, lost.closing)) return null
  const contents = documents[0]?.contents ?? null
  if (contents === null || (isScalar(contents) && contents.source === '')) {
    const nothing = { where, line: null, column: null }
    if (words.empty === null) return { tree: Object.create(null), at: () => nothing }
    report({ ...nothing, message: 'the file is empty', fix: words.empty })
    return null
  }
  if (!isMap(contents)) {
    const fix = words.notMap
    report({ ...place(contents.range?.[0] ?? 0), message: 'the file is not a map of settings', fix })
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

/**
 * Texts whose rest YAML takes for a comment because it begins with `#` behind a space. A comment of people has a space behind
 * its `#`, too.
 */
function lostToComments(text: string) {
  const texts: { readonly offset: number; readonly mistake: InvalidValue }[] = []
  // Inside brackets such a comment also swallows what closes them.
  let closing = Number.POSITIVE_INFINITY
  let offset = 0
  let depth = 0
  let scalarFollows = false
  /** What stands before on the same line: a plain text, or a sign inside brackets after which one begins. */
  let before: { readonly offset: number; readonly text: string } | null = null
  for (const lexeme of new Lexer().lex(text)) {
    const type = CST.tokenType(lexeme)
    if (type === 'doc-mode' || type === 'flow-error-end') continue
    if (type === 'scalar') {
      scalarFollows = true
      continue
    }
    if (scalarFollows) before = { offset, text: lexeme }
    else if (type === 'comment') {
      if (before !== null && /^#\S/.test(lexeme)) {
        const swallowed = depth === 0 ? /\s+#\s.*$/ : /\s*[,\]}].*$|\s+#\s.*$/
        const rest = lexeme.replace(swallowed, '')
        const whole = before.text === '' ? rest : text.slice(before.offset, offset) + rest
        texts.push({ offset: before.text === '' ? offset : before.offset, mistake: commented(whole, rest) })
        if (depth > 0) closing = Math.min(closing, offset)
      }
      before = null
    } else if (type !== 'space') {
      if (type === 'flow-map-start' || type === 'flow-seq-start') depth++
      if (type === 'flow-map-end' || type === 'flow-seq-end') depth--
      const opens = depth > 0 && type !== 'newline' && type !== 'flow-map-end' && type !== 'flow-seq-end'
      before = opens && /^[,:[{]$/.test(lexeme) ? { offset, text: '' } : null
    }
    scalarFollows = false
    offset += lexeme.length
  }
  return { texts, closing }
}

function commented(whole: string, rest: string): InvalidValue {
  return {
    message: `${quoted(rest)} is read as a comment`,
    fix: `write "${whole}" with quotes, or a space after the #`,
  }
}

const common: InvalidValue = {
  message: 'the YAML cannot be read here',
  fix: 'check indentation, brackets and quotes',
}

const known: Partial<Record<ErrorCode, InvalidValue>> = {
  TAB_AS_INDENT: { message: 'the line is indented with a tab', fix: 'write spaces' },
  MISSING_CHAR: { message: 'a quote, bracket or comma is missing', fix: 'add it' },
  BAD_SCALAR_START: {
    message: 'the text begins with a character that YAML reserves',
    fix: 'put the text in quotes',
  },
  BLOCK_AS_IMPLICIT_KEY: {
    message: "the line has a second ': '",
    fix: 'put the text in quotes, or start a new line',
  },
  BAD_INDENT: {
    message: 'the indentation is wrong, or a bracket is not closed',
    fix: 'align the line, or close the bracket',
  },
  BAD_DQ_ESCAPE: {
    message: 'the text in double quotes has an unknown escape',
    fix: 'write \\\\ for a backslash, or use single quotes',
  },
  MULTILINE_IMPLICIT_KEY: {
    message: 'a key is written over several lines',
    fix: "write 'key: value' on one line",
  },
}

const misaligned: InvalidValue = {
  message: 'the line is not aligned with the entries above',
  fix: 'line it up with them',
}

/** Errors that a misaligned line can cause. */
const fromMisaligned: ReadonlySet<ErrorCode> = new Set([
  'BLOCK_AS_IMPLICIT_KEY',
  'MISSING_CHAR',
  'BAD_INDENT',
])

/** Where the line begins that stands at another column than those above, if an error comes from that; else null. */
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

/**
 * Reports errors of the YAML syntax; false where the rest cannot be trusted.
 *
 * @param closing from where errors come from a bracket that a comment swallowed, which was reported
 */
export function reportSyntax(
  documents: readonly Document[],
  text: string,
  place: ToPlace,
  report: Report,
  words: { readonly second: string } = jobWords,
  closing = Number.POSITIVE_INFINITY,
): boolean {
  const second = documents[1]
  let trusted = true
  const reported = new Set<number>()
  const errors = documents.flatMap((document) => document.errors)
  const multiline = new Set(
    errors.flatMap(({ code, pos }) => (code === 'MULTILINE_IMPLICIT_KEY' ? [pos[0]] : [])),
  )
  let misalignedFrom = Number.POSITIVE_INFINITY
  for (const { code, pos } of errors) {
    if (pos[0] >= closing) trusted = false
    // Errors after a misaligned line follow from it, or are reported once the line is right.
    if (reported.has(pos[0]) || pos[0] >= misalignedFrom || pos[0] >= closing) continue
    reported.add(pos[0])
    const begin = misalignedAt(text, code, pos[0], multiline.has(pos[0]))
    if (begin !== null) {
      misalignedFrom = pos[0]
      report({ ...place(begin), ...misaligned })
      trusted = false
      continue
    }
    const key = text.slice(pos[0]).match(/^["']?([^\s:"']*)/)?.[1] ?? ''
    if (code === 'DUPLICATE_KEY')
      report({ ...place(pos[0]), message: `key ${quoted(key)} is given twice`, fix: 'keep one of them' })
    else {
      report({ ...place(pos[0]), ...(known[code] ?? common) })
      trusted = false
    }
  }
  if (second === undefined) return trusted
  const message = 'a second YAML document begins here'
  report({ ...place(second.range?.[0] ?? 0), message, fix: words.second })
  return false
}

/** What aliases stand for. */
type Aliased = Map<Alias, Node>

type BuiltTree = ReturnType<typeof convert>

interface Anchor {
  readonly node: Node
  readonly name: string
  made?: BuiltTree
}

interface TreeWalk {
  readonly text: string
  readonly aliased: Aliased
  /** The latest node of each anchor; what it became is missing while it is being read. */
  readonly anchors: Map<string, Anchor>
  /** Anchors that no alias has repeated so far. */
  readonly unused: Set<Anchor>
  readonly complain: (node: Node, mistake: InvalidValue) => void
  repeated: number
}

// Aliases of aliases grow exponentially; the files that people write repeat some hundred values.
const maxRepeated = 100_000

/** The map as a tree of texts; null after too many repetitions. Each mistake is reported and its value left out. */
export function toTree(
  map: YAMLMap,
  text: string,
  place: (offset: number) => FilePosition,
  report: Report,
): { tree: TreeMap; aliased: Aliased } | null {
  const walk: TreeWalk = {
    text,
    aliased: new Map(),
    anchors: new Map(),
    unused: new Set(),
    complain: (node, mistake) => report({ ...place(node.range?.[0] ?? 0), ...mistake }),
    repeated: 0,
  }
  const { tree } = convert(map, walk)
  if (walk.repeated > maxRepeated) {
    const message = 'the aliases repeat more than 100,000 values'
    walk.complain(map, { message, fix: 'write the values out, or put the queries in a CSV' })
    return null
  }
  for (const { node, name } of walk.unused)
    walk.complain(node, {
      message: `${quoted(`&${name}`)} is read as a YAML anchor, which no alias repeats`,
      fix: 'put the text in quotes, or remove the anchor',
    })
  return { tree: tree as TreeMap, aliased: walk.aliased }
}

function convert(
  node: Node,
  walk: TreeWalk,
): {
  readonly tree: Tree
  /** How many values it holds, those that aliases repeat counted each time. */
  readonly size: number
} {
  if (isAlias(node)) return follow(node, walk)
  const anchor: Anchor = { node, name: node.anchor ?? '' }
  if (node.anchor !== undefined) {
    walk.anchors.set(node.anchor, anchor)
    walk.unused.add(anchor)
  }
  if (node.tag !== undefined && node.tag !== 'tag:yaml.org,2002:str')
    walk.complain(node, {
      message: `${quoted(node.tag.replace('tag:yaml.org,2002:', '!!'))} is read as a YAML tag`,
      fix: 'put the text in quotes, or remove the tag',
    })
  const made = isMap(node)
    ? convertMap(node, walk)
    : isSeq(node)
      ? convertSeq(node.items, walk)
      : scalar(node, walk)
  anchor.made = made
  return made
}

function follow(alias: Alias, walk: TreeWalk): BuiltTree {
  const anchor = walk.anchors.get(alias.source)
  if (anchor !== undefined) walk.unused.delete(anchor)
  if (anchor?.made === undefined) {
    const message =
      anchor === undefined
        ? `there is no anchor &${alias.source} above the alias *${alias.source}`
        : `the alias *${alias.source} is inside its own anchor`
    walk.complain(alias, { message, fix: 'write the value out, or put the text in quotes' })
    return { tree: '', size: 1 }
  }
  walk.aliased.set(alias, anchor.node)
  walk.repeated += anchor.made.size
  return anchor.made
}

/** An empty value behind which stands what was meant as its text, such as `accent: #0a5`. */
function complainOfCommented(value: Node | null, before: Node, walk: TreeWalk): void {
  if (value !== null && !(isScalar(value) && value.source === '' && value.type === 'PLAIN')) return
  const end = value === null ? (before.range?.[1] ?? 0) : (value.range?.[0] ?? 0)
  const rest = walk.text.slice(end).match(/^:?[ \t]*(#\S.*)/)?.[1]
  if (rest !== undefined) walk.complain(before, commented(rest, rest))
}

function convertSeq(items: readonly unknown[], walk: TreeWalk): BuiltTree {
  const tree: Tree[] = []
  let size = 1
  for (const item of items) {
    complainOfCommented(item as Node, item as Node, walk)
    const made = convert(item as Node, walk)
    tree.push(made.tree)
    size += made.size
  }
  return { tree, size }
}

function convertMap(map: YAMLMap, walk: TreeWalk): BuiltTree {
  const tree: Record<string, Tree> = Object.create(null)
  let size = 1
  for (const pair of map.items as Pair<Node, Node | null>[]) {
    const key = keyOf(pair, walk)
    complainOfCommented(pair.value, pair.key, walk)
    const made = pair.value === null ? { tree: null, size: 1 } : convert(pair.value, walk)
    if (key === null) continue
    tree[key] ??= made.tree
    size += made.size
  }
  return { tree, size }
}

function keyOf({ key }: Pair<Node, unknown>, walk: TreeWalk): string | null {
  if (!isScalar(key)) {
    walk.complain(key, { message: 'a key is not plain text', fix: "write 'key: value'" })
    return null
  }
  const name = textOf(key)
  const mark = key.anchor === undefined ? key.tag : `&${key.anchor}`
  if (mark !== undefined)
    walk.complain(key, {
      message: `${quoted(mark)} is read as YAML, not as a part of the key`,
      fix: 'remove it',
    })
  if (name === '<<')
    walk.complain(key, { message: 'merge keys (<<) are not supported', fix: 'write the keys out' })
  else if (name === '__proto__')
    walk.complain(key, { message: `unknown key ${quoted(name)}`, fix: 'remove it' })
  else return name
  return null
}

function scalar(node: Node, walk: TreeWalk): BuiltTree {
  if (!isScalar(node)) return { tree: null, size: 1 }
  const text = textOf(node)
  if (node.type !== 'PLAIN') return { tree: text, size: 1 }
  if (text === '') return { tree: null, size: 1 }
  const [start, end] = node.range ?? [0, 0]
  if (walk.text.slice(start, end).includes('\n'))
    walk.complain(node, {
      message: `${quoted(text)} is written over several lines`,
      fix: 'write it on one line, indented like the others, or in quotes',
    })
  return { tree: text, size: 1 }
}

// The source is what the user wrote: a number or a null that YAML sees in it is a text to us.
function textOf(node: Scalar): string {
  return node.source ?? String(node.value)
}

/** Where the part at a path begins; the deepest part that there is stands for a missing one. */
export function offsetAt(map: YAMLMap, aliased: Aliased, path: Path, part: 'key' | 'value'): number {
  let node: Node = map
  let offset = map.range?.[0] ?? 0
  for (const [index, step] of path.entries()) {
    if (isAlias(node)) node = aliased.get(node) ?? node
    if (isSeq(node)) {
      const item = node.items[Number(step)] as Node | undefined
      if (item === undefined) return offset
      node = item
    } else {
      const pair: Pair<Node, Node | null> | undefined = isMap(node) ? pairOf(node, step) : undefined
      if (pair === undefined) return offset
      offset = pair.key.range?.[0] ?? offset
      const empty =
        pair.value === null ||
        (isScalar(pair.value) && pair.value.source === '' && pair.value.type === 'PLAIN')
      if (pair.value === null || empty || (part === 'key' && index === path.length - 1)) return offset
      node = pair.value
    }
    offset = node.range?.[0] ?? offset
  }
  return offset
}

function pairOf(map: YAMLMap, step: PropertyKey): Pair<Node, Node | null> | undefined {
  const pairs = map.items as Pair<Node, Node | null>[]
  return pairs.find(({ key }) => isScalar(key) && textOf(key) === step)
}

/**
 * The text of a YAML file with more items in a list at its top; what is there stays as it is written. Null where something else than a list
 * stands under that name.
 *
 * @param items written as in a flow, such as `"acme.com"` or `{ file: "a.csv" }`
 */
export function withItems(text: string, name: string, items: readonly string[]): string | null {
  if (items.length === 0) return text
  const document = parseDocument(text)
  const list = isMap(document.contents) ? document.get(name, true) : undefined
  const start = text === '' || text.endsWith('\n') ? text : `${text}\n`
  const block = (indent: string) => items.map((item) => `${indent}- ${item}\n`).join('')
  if (list === undefined) return `${start}${name}:\n${block('  ')}`
  if (!isSeq(list) || list.range == null) return null
  const [from, to] = list.range
  if (list.flow === true) {
    const inside = text.slice(0, to - 1).replace(/[\s,]+$/, '')
    return `${inside}${list.items.length === 0 ? '' : ', '}${items.join(', ')}${text.slice(to - 1)}`
  }
  const indent = text.slice(text.lastIndexOf('\n', from - 1) + 1, from)
  const last = list.items.at(-1) as Node
  const end = start.indexOf('\n', Math.max(from, (last.range?.[1] ?? to) - 1)) + 1
  return `${start.slice(0, end)}${block(indent)}${start.slice(end)}`
}
