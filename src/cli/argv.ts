import { UsageError } from '../model/errors.ts'
import { type OptionSpec, type OptionSpecs, propertyOf } from '../model/option.ts'
import type { TypedWords } from './read-words.ts'

/** No argument can hold it, so what begins with it was marked here. */
const mark = '\0'
const stdin = `${mark}-`

/**
 * What was typed, with each argument marked that is text although it begins with `-`: all after `--`, and `-` itself. The value of
 * a flag that takes text may begin with one `-`, too, unless it is a flag.
 */
export function markText(typed: readonly string[], flags: OptionSpecs): readonly string[] {
  const end = typed.indexOf('--')
  const before = end === -1 ? typed : typed.slice(0, end)
  const after = end === -1 ? [] : typed.slice(end + 1)
  const marked: string[] = []
  for (let index = 0; index < before.length; index++) {
    const one = before[index] as string
    const next = before[index + 1]
    if (next !== undefined && isValue(next) && takesText(one, flags) && !isFlag(next, flags)) {
      marked.push(`${one}=${next}`)
      index++
    } else marked.push(one === '-' ? stdin : one)
  }
  return [...marked, ...after.map((one) => (one.startsWith('-') ? `${mark}${one}` : one))]
}

/** `--limt` after a flag is a slip of its own, not a value. */
function isValue(next: string): boolean {
  return /^-(?!-)/.test(next)
}

function takesText(one: string, flags: OptionSpecs): boolean {
  const [, name, letter] = one.match(/^--([\w-]+)$|^-(\w)$/) ?? []
  const flag = flagNamed(name ?? letter ?? '', flags)
  return flag !== undefined && flag.kind !== 'switch'
}

function isFlag(text: string, flags: OptionSpecs): boolean {
  const letter = text.match(/^-(\w)(?:=.*)?$/s)?.[1]
  return letter === 'h' || (letter !== undefined && flagNamed(letter, flags) !== undefined)
}

/** The flag of a name or of a letter. */
export function flagNamed(name: string, flags: OptionSpecs): OptionSpec | undefined {
  return Object.hasOwn(flags, name) ? flags[name] : Object.values(flags).find(({ alias }) => alias === name)
}

/** Text without the marks of arguments. */
export function unmarked(text: string): string {
  return text.replaceAll(mark, '')
}

/** Files that a command reads or writes itself; none of them can be standard input or output. */
const fileFlags: Readonly<Record<string, string>> = {
  out: 'leave it out to write to stdout',
  db: 'name a file',
  'api-key-file': 'name a file',
  'cursor-file': 'name a file',
  ctr: 'name a file',
}

/**
 * What was typed as options of the command: `--max-outage` is `maxOutage`, and `-` is text. Throws a sentence where `-` stands for
 * standard input and is not read.
 */
export function meantOptions(command: string, flags: TypedWords, readsStdin: boolean): TypedWords {
  const values = Object.entries(flags).filter(([name]) => name !== '_')
  if (!readsStdin && values.some(([, value]) => [value].flat().includes(stdin)))
    throw new UsageError(
      `'-' stands for standard input, which rankline ${command} does not read; run and plan read a job from it`,
    )
  for (const [name, instead] of Object.entries(fileFlags))
    if (flags[name] === '-') throw new UsageError(`--${name} cannot be '-'; ${instead}`)
  return Object.fromEntries(values.map(([name, value]) => [propertyOf(name), withoutMark(value)]))
}

function withoutMark(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMark)
  return typeof value === 'string' ? unmarked(value) : value
}
