import { Parser } from 'yargs/helpers'
import type { OptionSpecs } from '../model/option.ts'
import { commandName, globalFlags, type Registered } from './flags.ts'

/** Why words cannot be read. */
export type WordMistake =
  | { readonly kind: 'unknown'; readonly word: string }
  | { readonly kind: 'without a value'; readonly flag: string }
  | { readonly kind: 'too few' }
  | { readonly kind: 'no command' }

/** What words ask for. */
export type ReadWords =
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
