import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type Scalar,
  type YAMLMap,
} from 'yaml'
import { type Mistake, type Place, quoted, type Report } from './problem.ts'
import type { Path, Tree, TreeMap } from './tree.ts'

/** What aliases stand for. */
type Aliased = Map<Alias, Node>

interface Made {
  readonly tree: Tree
  /** How many values it holds, those that aliases repeat counted each time. */
  readonly size: number
}

interface Walk {
  readonly text: string
  readonly aliased: Aliased
  /** The latest node of each anchor; what it became is missing while it is being read. */
  readonly anchors: Map<string, { node: Node; made?: Made }>
  readonly complain: (node: Node, mistake: Mistake) => void
  repeated: number
}

// Aliases of aliases grow exponentially; the files that people write repeat some hundred values.
const maxRepeated = 100_000

/** The map as a tree of texts; null after too many repetitions. Each mistake is reported and its value left out. */
export function toTree(
  map: YAMLMap,
  text: string,
  place: (offset: number) => Place,
  report: Report,
): { tree: TreeMap; aliased: Aliased } | null {
  const walk: Walk = {
    text,
    aliased: new Map(),
    anchors: new Map(),
    complain: (node, mistake) => report({ ...place(node.range?.[0] ?? 0), ...mistake }),
    repeated: 0,
  }
  const { tree } = convert(map, walk)
  if (walk.repeated <= maxRepeated) return { tree: tree as TreeMap, aliased: walk.aliased }
  const what = 'the aliases repeat more than 100,000 values'
  walk.complain(map, { what, instead: 'write the values out, or put the queries in a CSV' })
  return null
}

function convert(node: Node, walk: Walk): Made {
  if (isAlias(node)) return follow(node, walk)
  const anchor: { node: Node; made?: Made } = { node }
  if (node.anchor !== undefined) walk.anchors.set(node.anchor, anchor)
  if (node.tag !== undefined && node.tag !== 'tag:yaml.org,2002:str')
    walk.complain(node, {
      what: `${quoted(node.tag.replace('tag:yaml.org,2002:', '!!'))} is read as a YAML tag`,
      instead: 'put the text in quotes, or remove the tag',
    })
  const made = isMap(node)
    ? convertMap(node, walk)
    : isSeq(node)
      ? convertSeq(node.items, walk)
      : scalar(node, walk)
  anchor.made = made
  return made
}

function follow(alias: Alias, walk: Walk): Made {
  const anchor = walk.anchors.get(alias.source)
  if (anchor?.made === undefined) {
    const what =
      anchor === undefined
        ? `there is no anchor &${alias.source} above the alias *${alias.source}`
        : `the alias *${alias.source} stands inside its own anchor`
    walk.complain(alias, { what, instead: 'write the value out, or put the text in quotes' })
    return { tree: '', size: 1 }
  }
  walk.aliased.set(alias, anchor.node)
  walk.repeated += anchor.made.size
  return anchor.made
}

function convertSeq(items: readonly unknown[], walk: Walk): Made {
  const tree: Tree[] = []
  let size = 1
  for (const item of items) {
    const made = convert(item as Node, walk)
    tree.push(made.tree)
    size += made.size
  }
  return { tree, size }
}

function convertMap(map: YAMLMap, walk: Walk): Made {
  const tree: Record<string, Tree> = Object.create(null)
  let size = 1
  for (const pair of map.items as Pair<Node, Node | null>[]) {
    const key = keyOf(pair, walk)
    const made = pair.value === null ? { tree: null, size: 1 } : convert(pair.value, walk)
    if (key === null) continue
    tree[key] ??= made.tree
    size += made.size
  }
  return { tree, size }
}

function keyOf({ key }: Pair<Node, unknown>, walk: Walk): string | null {
  if (!isScalar(key)) {
    walk.complain(key, { what: 'a key is no plain text', instead: "write 'key: value'" })
    return null
  }
  const name = textOf(key)
  if (name === '<<')
    walk.complain(key, { what: 'merge keys (<<) are not read', instead: 'write the keys out' })
  else if (name === '__proto__')
    walk.complain(key, { what: `unknown key ${quoted(name)}`, instead: 'remove it' })
  else return name
  return null
}

function scalar(node: Node, walk: Walk): Made {
  if (!isScalar(node)) return { tree: null, size: 1 }
  const text = textOf(node)
  if (node.type !== 'PLAIN') return { tree: text, size: 1 }
  if (text === '') return { tree: null, size: 1 }
  const [start, end] = node.range ?? [0, 0]
  if (walk.text.slice(start, end).includes('\n'))
    walk.complain(node, {
      what: `${quoted(text)} runs over several lines`,
      instead: 'write it in one line, indented like the others, or in quotes',
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
