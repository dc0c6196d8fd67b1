import type { Place } from './problem.ts'

/** What a file says, with every scalar as the text that the user wrote; null is a key without a value. */
export type Tree = string | null | readonly Tree[] | TreeMap

/** A map without prototype, so that no key of a user's can mean anything else. */
export interface TreeMap {
  readonly [key: string]: Tree
}

export type Path = readonly PropertyKey[]

/** A tree and the places of its parts; a part that is missing stands where its parent stands. */
export interface Source {
  readonly tree: TreeMap
  readonly at: (path: Path, part?: 'key' | 'value') => Place
}

/** The part of a tree at a path, or undefined. */
export function partAt(tree: Tree, path: Path): Tree | undefined {
  let part: Tree | undefined = tree
  for (const step of path) {
    if (part === null || typeof part !== 'object') return undefined
    part = (part as Record<PropertyKey, Tree | undefined>)[step]
  }
  return part
}

/** Whether a part of a tree is a map. */
export function isMap(tree: Tree | undefined): tree is TreeMap {
  return typeof tree === 'object' && tree !== null && !Array.isArray(tree)
}
