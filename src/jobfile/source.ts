import type { Problem } from '../model/job.ts'
import { count, grouped } from '../model/text.ts'

/** Takes one mistake; called as often as there are mistakes. */
export type Report = (problem: Problem) => void

/** Something worth knowing about a file that is not a mistake. */
export interface Notice {
  /** The line that a person reads. */
  readonly text: string
  /** Whether runs print it, too: it says which queries there are. */
  readonly inRuns: boolean
}

/** Where a mistake stands; an option has neither line nor column, a CSV row has no column. */
export type FilePosition = Pick<Problem, 'where' | 'line' | 'column'>

/** The line that a person reads: `file:line[:column]: what; instead`. */
function formatProblem({ where, line, column, message, fix }: Problem): string {
  const place = [where, line, column].filter((part) => part !== null).join(':')
  return `${place}: ${message}; ${fix}`
}

/** The first mistake, and how many more there are, in one line. */
function firstMistake([first, ...others]: readonly Problem[]): string | null {
  if (first === undefined) return null
  return `${formatProblem(first)}${others.length === 0 ? '' : `, and ${count(others.length, 'mistake')} more`}`
}

/** Mistakes of one file that are printed; the others are counted. */
const mostPrinted = 20

/** Prints each mistake of a file as one line: the first ones and the number of the others, or `all`. */
function mistakePrinter(print: (line: string) => void, all: boolean) {
  let mistakes = 0
  return {
    report: (problem: Problem): void => {
      mistakes++
      if (all || mistakes <= mostPrinted) print(formatProblem(problem))
    },
    /** To be called after the file was read; returns the number of its mistakes. */
    end: (): number => {
      if (!all && mistakes > mostPrinted)
        print(
          `… and ${grouped(mistakes - mostPrinted)} more: ${grouped(mistakes)} mistakes in all; --verbose lists them`,
        )
      return mistakes
    },
  }
}

/** Collects mistakes and reports them in the order of their places, those without a line last. */
function inFileOrder(report: Report): { readonly take: Report; readonly release: () => number } {
  let taken: Problem[] = []
  return {
    take: (problem) => taken.push(problem),
    /** Reports what was collected; returns how many that were. */
    release: () => {
      const problems = taken.toSorted(byPlace)
      taken = []
      for (const problem of problems) report(problem)
      return problems.length
    },
  }
}

function byPlace(a: Problem, b: Problem): number {
  const [lineA, lineB] = [a.line ?? Number.MAX_SAFE_INTEGER, b.line ?? Number.MAX_SAFE_INTEGER]
  return lineA - lineB || (a.column ?? 0) - (b.column ?? 0)
}

/** The content of a file, with every scalar as the text that the user wrote; null is a key without a value. */
export type Tree = string | null | readonly Tree[] | TreeMap

/** A map without prototype, so that no key of a file has a meaning of its own. */
export interface TreeMap {
  readonly [key: string]: Tree
}

export type Path = readonly PropertyKey[]

/** A tree and the places of its parts; a part that is missing stands where its parent stands. */
export interface Source {
  readonly tree: TreeMap
  readonly at: (path: Path, part?: 'key' | 'value') => FilePosition
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

/** Mistakes as people read them. */
export const mistakeLines = {
  printer: mistakePrinter,
  first: firstMistake,
  format: formatProblem,
  inFileOrder,
}
