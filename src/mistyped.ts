import { commands } from './commands/index.ts'
import { nearest } from './words.ts'

const flagHints: Readonly<Record<string, string>> = {
  'api-key':
    'A key is never given as a flag, where everybody on the machine can read it; set RANKLINE_API_KEY or use --api-key-file.',
}

/** What yargs found wrong, as one sentence that says what to type. */
export function mistyped(message: string, args: readonly string[], flags: readonly string[]): string {
  const command = commands.find(({ usage }) => args.includes(usage.split(' ')[0] as string))
  if (command === undefined) return unknownCommand(message)
  const name = command.usage.split(' ')[0]
  if (message.startsWith('Not enough non-option'))
    return `rankline ${command.usage}: something is missing. See: rankline ${name} --help`
  const unknown = message.match(/^Unknown (?:arguments?|commands?): (.+)$/)?.[1]?.split(', ')[0]
  if (unknown === undefined) return message.replace(/\s*\n\s*/g, ' ')
  const near = nearest(
    unknown,
    // A letter is near every short word.
    flags.filter((flag) => flag.length > 1),
  )
  const hint =
    (Object.hasOwn(flagHints, unknown) ? flagHints[unknown] : undefined) ??
    (near === null ? `See: rankline ${name} --help` : `Did you mean --${near}?`)
  const isFlag = args.some((arg) => arg.replace(/^-+|=.*$/g, '') === unknown && arg.startsWith('-'))
  return `rankline ${name} takes no ${isFlag ? `--${unknown}` : `'${unknown}'`}. ${hint}`
}

function unknownCommand(message: string): string {
  const unknown = message.match(/^Unknown (?:arguments?|commands?): (.+)$/)?.[1]?.split(', ')[0]
  if (unknown === undefined) return message.replace(/\s*\n\s*/g, ' ')
  const near = nearest(
    unknown,
    commands.map(({ usage }) => usage.split(' ')[0] as string),
  )
  return `There is no command '${unknown}'. ${near === null ? 'rankline --help lists them.' : `Did you mean ${near}?`}`
}
