import type { Command } from './commands/command.ts'
import { commands } from './commands/index.ts'
import { nearest } from './words.ts'

/** Where no command was typed. */
export const noCommand = 'Name a command; rankline --help lists them.'

const flagHints: Readonly<Record<string, string>> = {
  'api-key':
    'A key is never given as a flag, where everybody on the machine can read it; set RANKLINE_API_KEY or use --api-key-file.',
}

export function commandName({ usage }: Pick<Command, 'usage'>): string {
  return usage.split(' ')[0] as string
}

/** The command that was typed; undefined where none was. */
export function commandOf(args: readonly string[]): Command | undefined {
  return args.flatMap((arg) => commands.find((command) => commandName(command) === arg) ?? [])[0]
}

/** What yargs found wrong, as one sentence of ours that says what to type. */
export function mistyped(message: string, args: readonly string[], flags: readonly string[]): string {
  const command = commandOf(args)
  if (command === undefined) return unknownCommand(args)
  const name = commandName(command)
  const unknown = message.match(/^Unknown (?:arguments?|commands?): (.+)$/s)?.[1]?.split(', ')[0]
  if (unknown !== undefined) return unknownFlag(unknown, command, args, flags)
  const valueless = message.match(/^Not enough arguments following: (.+)$/s)?.[1]
  if (valueless !== undefined) {
    const flag = valueless.length === 1 ? `-${valueless}` : `--${valueless}`
    return `${flag} needs a value. One that begins with -- is written after the sign =, as in ${flag}=--text`
  }
  const dashed = dashedText(command, args)
  if (message.startsWith('Not enough non-option'))
    return dashed ?? `rankline ${command.usage}: something is missing. See: rankline ${name} --help`
  return `rankline ${name} cannot be read as it was typed. See: rankline ${name} --help`
}

/** A query that begins with `-` looks like flags. */
function dashedText(command: Command, args: readonly string[]): string | null {
  const text = args.find((arg) => /^-[^-]/.test(arg))
  if (text === undefined || !/<(query|text)>/.test(command.usage)) return null
  return `rankline ${commandName(command)} takes no flag ${text}. A text that begins with - is written after --, as in: -- ${text}`
}

function unknownFlag(
  unknown: string,
  command: Command,
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
      : nearest(
          unknown,
          flags.filter((one) => one.length > 1),
        )
  const hint = near === null ? `See: rankline ${name} --help` : `Did you mean --${near}?`
  return `rankline ${name} takes no ${flag.replace(/=.*$/s, '')}. ${hint}`
}

function unknownCommand(args: readonly string[]): string {
  const unknown = args.find((arg) => !arg.startsWith('-'))
  if (unknown === undefined) return noCommand
  const near = nearest(unknown, commands.map(commandName))
  return `There is no command '${unknown}'. ${near === null ? 'rankline --help lists them.' : `Did you mean ${near}?`}`
}
