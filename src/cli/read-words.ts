import { Parser } from 'yargs/helpers'
import { UsageError } from '../model/errors.ts'
import { type OptionSpec, type OptionSpecs, propertyOf } from '../model/option.ts'
import { commandName, globalFlags, type Registered } from './flags.ts'

/** Why words cannot be read. */
export type WordMistake =
  | { readonly kind: 'unknown'; readonly word: string }
  | { readonly kind: 'without a value'; readonly flag: string }
  | { readonly kind: 'too few' }
  | { readonly kind: 'no command' }

/** What words ask for. */
type ReadWords =
  | { readonly ask: 'help'; readonly registered: Registered | null }
  | { readonly ask: 'version' }
  | { readonly ask: 'command'; readonly registered: Registered; readonly typed: TypedWords }
  | { readonly ask: 'nothing'; readonly mistake: WordMistake }

/** Flags by their names and letters, arguments by their names in the usage. */
export type TypedWords = Readonly<Record<string, unknown>>

/** Reads words: a command with its flags and arguments, or what is shown instead. */
export function readWords(
  words: readonly string[],
  commands: readonly Registered[],
  flagsOf: (registered: Registered) => OptionSpecs,
): ReadWords {
  const general = sorted(words, globalFlags)
  const registered = commands.find((one) => commandName(one) === general.plain[0]) ?? null
  // Only with the flags of its command is it sure which word is the value of one.
  const { asks, plain, typed, mistake, unknown } =
    registered === null ? general : sorted(words, { ...globalFlags, ...flagsOf(registered) })
  if (asks !== null) return asks === 'help' ? { ask: 'help', registered } : { ask: 'version' }
  if (registered === null) {
    const names = commands.map(commandName)
    const [word] = plain.length === 0 ? [] : [...unknown, ...plain.filter((one) => !names.includes(one))]
    return nothing(mistake ?? (word === undefined ? { kind: 'no command' } : unknownWord(word)))
  }
  const given = plain.slice(1)
  const places = registered.usage.split(' ').slice(1)
  if (given.length < places.filter((place) => place.startsWith('<')).length)
    return nothing({ kind: 'too few' })
  if (mistake !== null) return nothing(mistake)
  const values = argumentsOf(places, given)
  const surplus = places.at(-1)?.includes('..') ? [] : given.slice(places.length)
  const [word] = [...unknown.filter((one) => !Object.hasOwn(values, one)), ...surplus]
  if (word !== undefined) return nothing(unknownWord(word))
  return { ask: 'command', registered, typed: { ...typed, ...values } }
}

function nothing(mistake: WordMistake): ReadWords {
  return { ask: 'nothing', mistake }
}

/** A blank word is shown in quotes. */
function unknownWord(word: string): WordMistake {
  return { kind: 'unknown', word: word.trim() === '' ? `"${word}"` : word }
}

/** Words by what they are. */
interface SortedWords {
  readonly asks: 'help' | 'version' | null
  /** Those that belong to no flag. */
  readonly plain: readonly string[]
  readonly typed: TypedWords
  /** Names of flags that there are not. */
  readonly unknown: readonly string[]
  readonly mistake: WordMistake | null
}

function sorted(words: readonly string[], flags: OptionSpecs): SortedWords {
  const valued = Object.keys(flags).filter((name) => flags[name]?.kind !== 'switch')
  const letters = Object.entries(flags).flatMap(([name, { alias }]) =>
    alias === undefined ? [] : [[name, alias]],
  )
  const { argv, error } = Parser.detailed([...words], {
    boolean: [...Object.keys(flags).filter((name) => flags[name]?.kind === 'switch'), 'help', 'version'],
    string: valued,
    array: valued.filter((name) => flags[name]?.kind === 'list'),
    narg: Object.fromEntries(valued.map((name) => [name, 1])),
    alias: { ...Object.fromEntries(letters), help: 'h', version: 'V' },
    configuration: {
      'parse-numbers': false,
      'parse-positional-numbers': false,
      'camel-case-expansion': false,
      'dot-notation': false,
      'boolean-negation': false,
      'greedy-arrays': false,
    },
  })
  const { _: plain, help, h, version, V, ...typed } = argv
  // `rankline runs help` asks for help, too.
  const isHelp = help === true || plain.at(-1) === 'help'
  const known = new Set([...Object.keys(flags), ...letters.map(([, letter]) => letter)])
  const valueless = error?.message.match(/^Not enough arguments following: (.+)$/s)?.[1]
  return {
    asks: isHelp ? 'help' : version === true ? 'version' : null,
    plain: plain.map(String),
    typed,
    unknown: Object.keys(typed).filter((name) => !known.has(name)),
    mistake: valueless === undefined ? null : { kind: 'without a value', flag: valueless },
  }
}

/** Arguments by the names of their places; those of one place may have two names. */
function argumentsOf(places: readonly string[], given: readonly string[]): TypedWords {
  return Object.fromEntries(
    places.flatMap((place, index) => {
      const rest = given.slice(index)
      if (rest.length === 0) return []
      const names = place.replace(/[<>[\].]/g, '').split('|')
      return names.map((name) => [name, place.includes('..') ? rest : rest[0]])
    }),
  )
}

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
