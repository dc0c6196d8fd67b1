import { Parser } from 'yargs/helpers'
import { jobPlaces } from '../jobfile/files.ts'
import { describeLimit, OutputClosed, RanklineError, UsageError } from '../model/errors.ts'
import { closestMatch } from '../model/text.ts'
import { type OptionSpecs, propertyOf } from '../model/values.ts'
import { note, quietTerminal, type Terminal } from '../output/terminal.ts'
import { logFormat, version, workAt } from '../run/config.ts'
import { postgresAddresses } from '../run/postgres-address.ts'
import { commands } from './commands/index.ts'
import {
  type Command,
  commandName,
  flagNamed,
  type Registered,
  sharedFlags,
  type TypedOptions,
} from './flags.ts'

type CommandWork = (terminal: Terminal) => Promise<number>

/** Reads what was typed, does it, and answers the exit code. */
export async function main(words: readonly string[], given: Terminal): Promise<number> {
  if (words[0] === '__complete') {
    const { complete } = await import('./commands/workspace/completion.ts')
    return await complete(commands, words.slice(1), given)
  }
  let args = words
  let terminal = words.includes('--json') ? errorsAsJson(given) : given
  try {
    const meant = await meantCommand(words)
    // Before the rest is read, so that mistakes in it are written in this format, too.
    if (isJsonLog(meant)) terminal = (await import('../run/json-log.ts')).jsonTerminal(given)
    args = meant.args
    return await chosenCommand(meant)(terminal)
  } catch (error) {
    return explain(error, args.includes('--verbose'), terminal)
  }
}

/** What was typed, with the commands and flags that it may mean. */
type MeantWords = Awaited<ReturnType<typeof meantCommand>>

/** Loads only what may be meant: a name can also stand for a job or a text. */
export async function meantCommand(words: readonly string[]) {
  const typed = helpAsFlag(words)
  const named = commands.filter((command) => typed.includes(commandName(command)))
  const loaded = new Map(await Promise.all(named.map(async (one) => [one, await one.load()] as const)))
  const flags: OptionSpecs = Object.assign(
    {},
    sharedFlags.global,
    ...[...loaded.values()].map((one) => one.flags),
  )
  return { typed, args: markText(typed, flags), loaded, flags }
}

/** What the words ask for, checked and not done yet. Throws one sentence where they cannot be read. */
export function chosenCommand({ args, loaded, flags: known }: MeantWords): CommandWork {
  const read = readWords(args, commands, (registered) => loaded.get(registered)?.flags ?? {})
  switch (read.ask) {
    case 'command':
      return checked(read.registered, loaded.get(read.registered) as Command, read.typed, args)
    case 'help':
      return async (terminal) =>
        await print(await helpOf(read.registered, loaded, terminal.columns), terminal)
    case 'version':
      return async (terminal) => await print(version, terminal)
    case 'nothing':
      throw new UsageError(mistyped(read.mistake, args, [...Object.keys(known), 'help', 'version']))
  }
}

async function helpOf(
  registered: Registered | null,
  loaded: MeantWords['loaded'],
  columns: number,
): Promise<string> {
  const { commandHelp, programHelp } = await import('./help.ts')
  if (registered === null) return programHelp(commands, columns)
  return commandHelp(registered, loaded.get(registered) as Command, columns)
}

async function print(text: string, terminal: Terminal): Promise<number> {
  await terminal.write(`${text}\n`)
  return 0
}

/** Whether a command that writes a log is to write JSON. */
function isJsonLog({ typed, flags }: MeantWords): boolean {
  const name = 'log-format'
  if (!Object.hasOwn(flags, name)) return false
  const at = typed.findIndex((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`))
  const value = typed[at]?.includes('=') ? typed[at].slice(name.length + 3) : typed[at + 1]
  return logFormat(at === -1 ? undefined : value) === 'json'
}

/** `help run` as `run --help`, `help` as `--help`. */
function helpAsFlag(words: readonly string[]): readonly string[] {
  if (words[0] !== 'help') return words
  const [, name, ...rest] = words
  if (name === undefined || name.startsWith('-')) return ['--help']
  if (commandOf([name]) === undefined) throw new UsageError(unknownCommand([name]))
  return [name, '--help', ...rest]
}

/** What a command does with its options, once the flags are checked. */
function checked(
  registered: Registered,
  command: Command,
  typed: TypedWords,
  args: readonly string[],
): CommandWork {
  const known: OptionSpecs = { ...sharedFlags.global, ...command.flags }
  rejectValues(args, known)
  rejectRepeats(registered.usage, typed, known)
  const name = commandName(registered)
  const options = meantOptions(name, typed, command.readsStdin === true) as TypedOptions<OptionSpecs>
  return async (terminal) => {
    const shown = {
      ...terminal,
      ...(options.noColor === true ? { color: false } : {}),
      ...(options.noInput === true ? { ask: null, askText: null } : {}),
    }
    const quieted = options.quiet === true ? quietTerminal(shown) : shown
    if (postgresAddresses.showsPassword(options.queue)) note(quieted, passwordShown)
    workAt(namedFiles(options), (line) => note(quieted, line))
    return await command.run(options as never, quieted)
  }
}

/** The job files, and folders of them, that a command names. */
function namedFiles({ job }: Readonly<Record<string, unknown>>): readonly string[] {
  const named = Array.isArray(job) ? job : [job]
  return named.flatMap((one) => (typeof one === 'string' ? (jobPlaces.named(one) ?? []) : []))
}

const passwordShown =
  'Every user of this machine sees the password in --queue, in the list of processes. Put the address into RANKLINE_QUEUE, or the password into PGPASSWORD or ~/.pgpass.'

/** yargs takes any word for a switch's value: --dry-run=no would be a run. */
function rejectValues(args: readonly string[], flags: OptionSpecs): void {
  const valued = args
    .map((arg) => arg.match(/^--([\w-]+)=/)?.[1])
    .find((name) => name !== undefined && flags[name]?.kind === 'switch')
  if (valued !== undefined)
    throw new UsageError(`--${valued} takes no value; write it alone, or leave it out`)
}

/** yargs makes a list of whatever is given twice; only some flags are lists. */
function rejectRepeats(usage: string, typed: TypedWords, flags: OptionSpecs): void {
  const repeated = Object.entries(typed).find(
    ([name, value]) =>
      Array.isArray(value) &&
      name !== '_' &&
      flagNamed(name, flags)?.kind !== 'list' &&
      !usage.includes(`${name}..`),
  )
  if (repeated !== undefined) throw new UsageError(`--${repeated[0]} is given more than once; write it once`)
}

/** A terminal whose errors are documents: those that say which exit code they lead to. */
function errorsAsJson(terminal: Terminal): Terminal {
  return {
    ...terminal,
    log: (line, about) =>
      typeof about?.code === 'number'
        ? terminal.log(JSON.stringify(errorDocument(line.replace(/^rankline: /, ''), about.code)), about)
        : terminal.log(line, about),
  }
}

/** One sentence for what was foreseen; for a bug of ours, how to tell it. */
function explain(thrown: unknown, verbose: boolean, { log }: Terminal): number {
  const error = describeLimit(thrown)
  if (error instanceof OutputClosed) return error.exitCode
  const foreseen = error instanceof RanklineError
  const message = error instanceof Error ? error.message : String(error)
  const about = { level: 'error', code: foreseen ? error.exitCode : 1 } as const
  if (foreseen) log(`rankline: ${message}`, about)
  else
    log(
      `rankline: internal error: ${message}${verbose ? '' : '. Run the command again with --verbose to see where it comes from.'}`,
      about,
    )
  if (verbose && error instanceof Error) log(error.stack ?? '', { level: 'error' })
  return about.code
}

const flagHints: Readonly<Record<string, string>> = {
  'api-key':
    'A key is never given as a flag, because other users of the machine could read it; set RANKLINE_API_KEY or use --api-key-file.',
}

/** What is wrong with the words, as one sentence that says what to type. */
export function mistyped(mistake: WordMistake, args: readonly string[], flags: readonly string[]): string {
  const command = commandOf(args)
  if (command === undefined) return unknownCommand(args)
  const name = commandName(command)
  switch (mistake.kind) {
    case 'unknown':
      return unknownFlag(unmarked(mistake.word), command, args, flags)
    case 'without a value': {
      const flag = mistake.flag.length === 1 ? `-${mistake.flag}` : `--${mistake.flag}`
      return `${flag} needs a value. One that begins with -- is written after the sign =, as in ${flag}=--text`
    }
    case 'too few': {
      const missing = `rankline ${command.usage}: something is missing. See: rankline ${name} --help`
      return dashedText(command, args) ?? missing
    }
    case 'no command':
      return `rankline ${name} cannot be read as it was typed. See: rankline ${name} --help`
  }
}

/** A query that begins with `-` looks like flags. */
function dashedText(command: Registered, args: readonly string[]): string | null {
  const text = args.find((arg) => /^-[^-]/.test(arg))
  if (text === undefined || !/<(query|text)>/.test(command.usage)) return null
  return `rankline ${commandName(command)} takes no flag ${text}. A text that begins with - is written after --, as in: -- ${text}`
}

function unknownFlag(
  unknown: string,
  command: Registered,
  args: readonly string[],
  flags: readonly string[],
): string {
  const name = commandName(command)
  if (Object.hasOwn(flagHints, unknown))
    return `rankline ${name} takes no --${unknown}. ${flagHints[unknown]}`
  const flag = args.find((arg) => arg.startsWith('-') && arg.replace(/^-+|=.*$/gs, '') === unknown)
  if (flag === undefined)
    return dashedText(command, args) ?? `rankline ${name} takes no '${unknown}'. See: rankline ${name} --help`
  // A letter is near every short word.
  const near =
    unknown.length === 1
      ? null
      : closestMatch(
          unknown,
          flags.filter((one) => one.length > 1 && one !== unknown),
        )
  const hint = near === null ? `See: rankline ${name} --help` : `Did you mean --${near}?`
  return `rankline ${name} takes no ${flag.replace(/=.*$/s, '')}. ${hint}`
}

function unknownCommand(args: readonly string[]): string {
  const unknown = args.find((arg) => !arg.startsWith('-'))
  if (unknown === undefined) return noCommand
  const near = closestMatch(unknown, commands.map(commandName))
  return `There is no command '${unknown}'. ${near === null ? 'See: rankline --help' : `Did you mean ${near}?`}`
}

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
type TypedWords = Readonly<Record<string, unknown>>

/** Reads words: a command with its flags and arguments, or what is shown instead. */
export function readWords(
  words: readonly string[],
  commands: readonly Registered[],
  flagsOf: (registered: Registered) => OptionSpecs,
): ReadWords {
  const general = sorted(words, sharedFlags.global)
  const registered = commands.find((one) => commandName(one) === general.plain[0]) ?? null
  // Only with the flags of its command is it sure which word is the value of one.
  const { asks, plain, typed, mistake, unknown } =
    registered === null ? general : sorted(words, { ...sharedFlags.global, ...flagsOf(registered) })
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

function sorted(
  words: readonly string[],
  flags: OptionSpecs,
): {
  readonly asks: 'help' | 'version' | null
  /** Those that belong to no flag. */
  readonly plain: readonly string[]
  readonly typed: TypedWords
  /** Names of flags that there are not. */
  readonly unknown: readonly string[]
  readonly mistake: WordMistake | null
} {
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
function meantOptions(command: string, flags: TypedWords, readsStdin: boolean): TypedWords {
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

/** Where no command was typed: the first five. */
const noCommand = `Name a command. The first five:

  rankline demo             a month of history and its report, with no account
  rankline init             a folder with a first job, ranks.yaml, and the sandbox as its service
  rankline plan ranks.yaml  what a job would call and cost; spends nothing
  rankline run ranks.yaml   collect a job, or continue what is unfinished
  rankline report ranks     ranks of the targets, and how they changed

All commands: rankline --help`

/**
 * An error as programs read it: `code` is the exit code, `message` says what and where, `hint` what to do; null where the message is
 * one sentence.
 */
export function errorDocument(text: string, code: number) {
  const end = sentenceEnd(text)
  return {
    error: {
      code,
      message: text.slice(0, end?.at ?? text.length),
      hint: end === null ? null : text.slice(end.at + end.length).trim(),
    },
  }
}

/** Where the first sentence, or the part before a semicolon, ends outside of quotes. */
function sentenceEnd(text: string): { readonly at: number; readonly length: number } | null {
  for (const { index, 0: found } of text.matchAll(/; |\.\s+(?=[A-Z])/g)) {
    const quotes = text.slice(0, index).match(/(?<![a-zA-Z])'|'(?![a-zA-Z])/g)?.length ?? 0
    if (quotes % 2 === 0) return { at: index, length: found.length }
  }
  return null
}

/** The command that was typed; undefined where none was. */
function commandOf(args: readonly string[]): Registered | undefined {
  return args.flatMap((arg) => commands.find((command) => commandName(command) === arg) ?? [])[0]
}
