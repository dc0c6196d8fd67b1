import type { Problem } from '../model/job.ts'
import { grouped } from '../words.ts'

/** Takes one mistake; called as often as there are mistakes. */
export type Report = (problem: Problem) => void

/** Where a mistake stands; a flag has neither line nor column, a CSV row has no column. */
export type Place = Pick<Problem, 'where' | 'line' | 'column'>

/** What is wrong with a value, and what to write instead. */
export interface Mistake {
  readonly what: string
  readonly instead: string
}

/** A value, or why the text is none; `what` then is a predicate such as `cannot be 'x'`. */
export type Read<T> = { readonly value: T } | Mistake

/** The line that a person reads: `file:line[:column]: what; instead`. */
export function formatProblem({ where, line, column, what, instead }: Problem): string {
  const place = [where, line, column].filter((part) => part !== null).join(':')
  return `${place}: ${what}; ${instead}`
}

/** Mistakes of one file that are told; the others are counted. */
const mostTold = 20

/** Says each mistake of a file as one line: the first of them, and how many more there are, or `all`. */
export function mistakePrinter(say: (line: string) => void, all: boolean) {
  let mistakes = 0
  return {
    report: (problem: Problem): void => {
      mistakes++
      if (all || mistakes <= mostTold) say(formatProblem(problem))
    },
    /** To be called when the file was read; answers how many mistakes it has. */
    end: (): number => {
      if (!all && mistakes > mostTold)
        say(
          `… and ${grouped(mistakes - mostTold)} more: ${grouped(mistakes)} mistakes in all; --verbose lists them`,
        )
      return mistakes
    },
  }
}

/** The text of a mistake in quotes, short and on one line. */
export function quoted(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  const line = text.replace(/[\u0000-\u001f\u007f-\u009f]/g, '\ufffd')
  const letters = Array.from(line.slice(0, 200))
  return letters.length > 60 ? `'${letters.slice(0, 60).join('')}…'` : `'${line}'`
}

/** Takes mistakes and hands them on in the order of their places, those without a line last. */
export function inFileOrder(report: Report): { readonly take: Report; readonly release: () => number } {
  let taken: Problem[] = []
  return {
    take: (problem) => taken.push(problem),
    /** Hands on what was taken, and says how much that was. */
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
