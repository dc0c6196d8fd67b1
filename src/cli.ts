import yargs, { type Argv } from 'yargs'
import { markText, meantFlags, unmarked } from './arguments.ts'
import type { Action, Command, Flags } from './commands/command.ts'
import { exitCodeHelp, globalFlags } from './commands/flags.ts'
import { commands } from './commands/index.ts'
import { NobodyReads, RanklineError, UsageError } from './errors.ts'
import { commandName, commandOf, mistyped, noCommand } from './mistyped.ts'
import { openTerminal } from './open-terminal.ts'
import { quietly, type Terminal } from './terminal.ts'
import { version } from './version.ts'

const terminal = openTerminal()
process.exitCode = await main(process.argv.slice(2))

/** Reads what was typed, does it, and answers the exit code. */
async function main(typed: readonly string[]): Promise<number> {
  const args = markText(typed, () => knownFlags(typed))
  const asked = args.includes('--verbose')
  try {
    let code = 0
    const parser = yargs([...args])
      .scriptName('rankline')
      .usage('$0 <command>\n\nCollects search results by the batch, and tracks ranks.')
      .locale('en')
      .parserConfiguration({
        'parse-numbers': false,
        'parse-positional-numbers': false,
        'camel-case-expansion': false,
        'dot-notation': false,
        'boolean-negation': false,
        'greedy-arrays': false,
      })
      .options(globalFlags)
      .version(version)
      .alias('h', 'help')
      .strict()
      .demandCommand(1, noCommand)
      .completion('completion', 'Print a completion script for bash or zsh')
      .epilogue(exitCodeHelp)
      .exitProcess(false)
      .wrap(Math.min(terminal.columns, 100))
      .fail((message, error) => {
        if (error !== undefined && error !== null && error.name !== 'YError') throw error
        const said = unmarked(error?.message ?? message)
        throw new UsageError(mistyped(said, args, optionsOf(parser).key))
      })
    for (const command of commands)
      parser.command(command.usage, command.describe, withExamples(command), async (flags) => {
        leaveOutSpareHelp(parser)
        refuseValues(args, optionsOf(parser).boolean)
        code = await perform(command, flags as unknown as Flags, optionsOf(parser).array)
      })
    await parser.parseAsync()
    return code
  } catch (error) {
    return explain(error, asked)
  }
}

function withExamples({ flags, examples = [] }: Command): Command['flags'] {
  const shown = examples.map(([typed, does]): [string, string] => [
    typed.includes('rankline') ? typed : `$0 ${typed}`,
    does,
  ])
  return (yargs) => flags(yargs.example(shown).epilogue(exitCodeHelp))
}

/** The flags of the command that was typed. */
function knownFlags(typed: readonly string[]) {
  const command = commandOf(typed)
  const parser: Argv = yargs([]).options(globalFlags).alias('h', 'help')
  const { string, array, alias, key } = optionsOf(command?.flags(parser) ?? parser)
  const withAliases = (names: readonly string[]) => names.flatMap((name) => [name, ...(alias[name] ?? [])])
  return { text: withAliases([...string, ...array]), all: withAliases(key) }
}

/** yargs takes any word for a switch's value: --dry-run=no would be a run. */
function refuseValues(args: readonly string[], switches: readonly string[]): void {
  const valued = args
    .map((arg) => arg.match(/^--([\w-]+)=/)?.[1])
    .find((name) => name && switches.includes(name))
  if (valued !== undefined)
    throw new UsageError(`--${valued} takes no value; write it alone, or leave it out`)
}

interface Options extends Omit<YargsOptions, 'key'> {
  readonly key: readonly string[]
}

interface YargsOptions {
  readonly array: readonly string[]
  readonly boolean: readonly string[]
  readonly string: readonly string[]
  readonly alias: Readonly<Record<string, readonly string[]>>
  readonly key: Readonly<Record<string, unknown>>
}

/** What yargs knows of the command's options; documented, but not in its type definitions. */
function optionsOf(parser: unknown): Options {
  const { array, boolean, string, alias, key } = (parser as { getOptions(): YargsOptions }).getOptions()
  return { array, boolean, string, alias, key: Object.keys(key) }
}

/** yargs lays out the help of every command that it performs, to show it should that fail; ours say a sentence then. */
function leaveOutSpareHelp(parser: unknown): void {
  const { getUsageInstance } = (parser as Internals).getInternalMethods()
  getUsageInstance().cacheHelpMessage = () => {}
}

interface Internals {
  getInternalMethods(): { getUsageInstance(): { cacheHelpMessage: () => void } }
}

async function perform(command: Command, typed: Flags, lists: readonly string[]): Promise<number> {
  refuseRepeats(command, typed, lists)
  const flags = meantFlags(commandName(command), typed, command.readsStdin === true)
  const action = (await command.load()) as (flags: Flags, terminal: Terminal) => ReturnType<Action>
  return await action(flags, flags.quiet === true ? quietly(terminal) : terminal)
}

/** yargs makes a list of whatever is given twice; only some flags are lists. */
function refuseRepeats({ usage }: Command, flags: Flags, lists: readonly string[]): void {
  const repeated = Object.entries(flags).find(
    ([name, value]) =>
      Array.isArray(value) && name !== '_' && !lists.includes(name) && !usage.includes(`<${name}..>`),
  )
  if (repeated !== undefined) throw new UsageError(`--${repeated[0]} is given more than once; give it once`)
}

/** One sentence for what was foreseen; for a bug of ours, how to tell it. */
function explain(error: unknown, verbose: boolean): number {
  if (error instanceof NobodyReads) return error.exitCode
  const foreseen = error instanceof RanklineError
  const message = error instanceof Error ? error.message : String(error)
  if (foreseen) terminal.say(`rankline: ${message}`)
  else
    terminal.say(
      `rankline: an error of rankline's own: ${message}${verbose ? '' : '. Run the command again with --verbose to see where it comes from.'}`,
    )
  if (verbose && error instanceof Error) terminal.say(error.stack ?? '')
  return foreseen ? error.exitCode : 1
}
