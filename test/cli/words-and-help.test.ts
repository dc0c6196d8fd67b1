import fc from 'fast-check'
import { expect, test } from 'vitest'
import yargs, { type Options } from 'yargs'
import { commands } from '../../src/cli/commands/index.ts'
import { type Command, commandName, type Registered, sharedFlags } from '../../src/cli/flags.ts'
import { commandHelp, commandsEpilogue, epilogueOf, inGroups, programHelp } from '../../src/cli/help.ts'
import { readWords } from '../../src/cli/main.ts'
import {
  listOption,
  type OptionSpec,
  type OptionSpecs,
  switchOption,
  textOption,
} from '../../src/model/values.ts'

type Known = readonly (readonly [Registered, Command])[]

/** What yargs, with the same commands, prints for these words, or gives to the command; null where it finds a mistake. */
async function byYargs(words: readonly string[], known: Known, columns = 80): Promise<unknown> {
  let given: unknown = null
  let printed = ''
  let isMistaken = false
  const parser = yargs()
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
    .options(optionsOf(sharedFlags.global, 'Global:'))
    .version('the version')
    .alias({ h: 'help', V: 'version' })
    .group(['version', 'help'], 'Global:')
    .strict()
    .demandCommand(1)
    .epilogue(commandsEpilogue)
    .exitProcess(false)
    .wrap(columns)
    .fail(() => {
      isMistaken = true
    })
  for (const [registered, command] of known) {
    const examples = command.examples.map(([typed, does]): [string, string] => {
      return [typed.includes('rankline') ? typed : `$0 ${typed}`, does]
    })
    parser.command(
      registered.usage,
      registered.describe,
      (own) => own.example(examples).epilogue(epilogueOf(command)).options(optionsOf(command.flags)),
      (typed) => {
        given = { name: commandName(registered), typed: plainly(typed) }
      },
    )
  }
  await parser.parseAsync([...words], {}, (_error, _typed, output) => {
    printed = output
  })
  return isMistaken ? null : (given ?? printed)
}

function optionsOf(flags: OptionSpecs, group?: string): Record<string, Options> {
  const kinds: Readonly<Record<OptionSpec['kind'], Options>> = {
    switch: { type: 'boolean' },
    list: { type: 'string', array: true, nargs: 1 },
    text: { type: 'string', requiresArg: true },
  }
  return Object.fromEntries(
    inGroups(flags).map(([name, own]) => {
      const { kind, help, alias = [] } = flags[name] as OptionSpec
      return [name, { ...kinds[kind], describe: help, group: group ?? own, alias }]
    }),
  )
}

/** Without what stands for no flag and no argument. */
function plainly(typed: Readonly<Record<string, unknown>>): unknown {
  const entries = Object.entries(typed).filter(
    ([name, value]) => !['_', '$0'].includes(name) && value !== undefined,
  )
  return Object.fromEntries(entries)
}

test('the help of each command is what yargs prints, on a wide screen or a narrow one', async () => {
  const known = await Promise.all(commands.map(async (one) => [one, await one.load()] as const))
  const widths = [100, 47] as const
  for (const columns of widths)
    expect(programHelp(commands, columns)).toBe(await byYargs(['--help'], known, columns))
  for (const [index, [registered, command]] of known.entries()) {
    const columns = widths[index % 2] as number
    expect(commandHelp(registered, command, columns)).toBe(
      await byYargs([commandName(registered), '--help'], [[registered, command]], columns),
    )
  }
}, 60_000)

const flags: OptionSpecs = {
  out: { ...textOption('File'), alias: 'o' },
  limit: textOption('How many'),
  tag: { ...listOption('Tag'), alias: 't' },
  dry: { ...switchOption('Try'), alias: 'd' },
}

const tried: Known = ['one', 'two <what> [name|path]', 'three [job..]', 'four <kind>'].map((usage) => [
  { usage, describe: usage, load: () => Promise.reject(new Error('It is given.')) },
  { flags, examples: [[usage, 'an example']], run: () => Promise.resolve(0) },
])

test('words are read as yargs reads them', async () => {
  const word = fc.oneof(
    fc.constantFrom(
      'one',
      'two',
      'three',
      'four',
      'help',
      '--help',
      '-h',
      '--version',
      '-V',
      '--db',
      '--json',
    ),
    fc.constantFrom(
      '--out',
      '-o',
      '-ox',
      '-o=x',
      '--out=',
      '--limit',
      '--limit=5',
      '--tag',
      '-t',
      '--tag="a b"',
    ),
    fc.constantFrom(
      '--dry',
      '-d',
      '-dt',
      '-do',
      '--no-dry',
      '--limt',
      '-x',
      '-5',
      '-.5',
      '',
      'true',
      'a',
      'b c',
    ),
  )
  const words = fc.tuple(fc.constantFrom('one', 'two', 'three', 'four'), fc.array(word, { maxLength: 6 }))
  await fc.assert(
    fc.asyncProperty(words, fc.boolean(), async ([command, rest], isFirst) => {
      const all = isFirst ? [command, ...rest] : [...rest.slice(0, 1), command, ...rest.slice(1)]
      const registered = tried.map(([one]) => one)
      const read = readWords(all, registered, () => flags)
      expect(meaningOf(read)).toEqual(await byYargs(all, tried))
    }),
    { numRuns: 80 },
  )
}, 60_000)

function meaningOf(read: ReturnType<typeof readWords>): unknown {
  switch (read.ask) {
    case 'nothing':
      return null
    case 'version':
      return 'the version'
    case 'command':
      return { name: commandName(read.registered), typed: plainly(read.typed) }
    case 'help': {
      const [registered, command] = tried.find(([one]) => one === read.registered) ?? []
      if (registered === undefined || command === undefined)
        return programHelp(
          tried.map(([one]) => one),
          80,
        )
      return commandHelp(registered, command, 80)
    }
  }
}
