import type { OptionSpec, OptionSpecs } from '../model/values.ts'
import { type Command, type Registered, sharedFlags, usualExits } from './flags.ts'

/** Longer lines are hard to read. */
const mostColumns = 100

/** The help of the program: its commands. */
export function programHelp(commands: readonly Registered[], columns: number): string {
  const width = Math.min(columns, mostColumns)
  const rows = commands.map(
    ({ usage, describe }): HelpRow => ({ left: `rankline ${usage}`, right: describe }),
  )
  return pageOf(
    [
      ...wrapped('rankline <command>', width),
      '',
      ...wrapped('Collects search results by the batch, and tracks ranks.', width),
    ],
    [tableOf('Commands:', rows, width), globalsOf(width)],
    epilogueLines(commandsEpilogue, width),
  )
}

/** The help of one command: its flags, examples, exit codes and docs. */
export function commandHelp({ usage, describe }: Registered, command: Command, columns: number): string {
  const width = Math.min(columns, mostColumns)
  const grouped = inGroups(command.flags)
  const groups = [...new Set(grouped.map(([, group]) => group))].map((group) => {
    const names = grouped.flatMap(([name, own]) => (own === group ? [name] : []))
    return tableOf(group, flagRows(names, command.flags), width)
  })
  const examples = command.examples.map(([typed, does]): HelpRow => {
    return { left: typed.includes('rankline') ? typed : `rankline ${typed}`, right: does }
  })
  return pageOf(
    [...wrapped(`rankline ${usage}`, width), '', ...wrapped(describe, width)],
    [...groups, globalsOf(width), tableOf('Examples:', examples, width)],
    epilogueLines(epilogueOf(command), width),
  )
}

function pageOf(
  head: readonly string[],
  tables: readonly (readonly string[])[],
  foot: readonly string[],
): string {
  return [head, ...tables, foot].map((lines) => lines.join('\n')).join('\n\n')
}

/** One line of a table, where it fits one. */
interface HelpRow {
  /** How much farther in it begins than others. */
  readonly indent?: number
  readonly left: string
  readonly right: string
  /** Stands at the right edge. */
  readonly kind?: string
}

function globalsOf(width: number): readonly string[] {
  const flags: OptionSpecs = {
    ...sharedFlags.global,
    version: { kind: 'switch', help: 'Show version number', alias: 'V' },
    help: { kind: 'switch', help: 'Show help', alias: 'h' },
  }
  return tableOf('Global:', flagRows(Object.keys(flags), flags), width)
}

const kinds = { switch: '[boolean]', list: '[array]', text: '[string]' } as const

function flagRows(names: readonly string[], flags: OptionSpecs): readonly HelpRow[] {
  return names.map((name) => {
    const { kind, help, alias } = flags[name] as OptionSpec
    const left = alias === undefined ? `--${name}` : `-${alias}, --${name}`
    return { indent: alias === undefined ? '-x, '.length : 0, left, right: help, kind: kinds[kind] }
  })
}

/** A heading and rows of two columns; the left one takes half the width at most. */
function tableOf(heading: string, rows: readonly HelpRow[], width: number): readonly string[] {
  const longest = Math.max(...rows.map(({ indent = 0, left }) => indent + left.length))
  const room = Math.min(longest, Math.floor(width / 2))
  return [...wrapped(heading, width), ...rows.flatMap((row) => rowLines(row, room, width))]
}

const margin = '  '

function rowLines(
  { indent = 0, left, right, kind }: HelpRow,
  room: number,
  width: number,
): readonly string[] {
  const lefts = wrapped(left, room - indent)
  const rights = wrapped(right, Math.max(1, width - room - 2 * margin.length))
  const before = margin + ' '.repeat(indent)
  const lines = Array.from({ length: Math.max(lefts.length, rights.length) }, (_, index) =>
    `${before}${(lefts[index] ?? '').padEnd(room - indent)}${margin}${rights[index] ?? ''}`.trimEnd(),
  )
  if (kind === undefined) return lines
  const last = lines.at(-1) as string
  // Where it has no room beside the text it gets a line of its own.
  return last.length + kind.length <= width
    ? [...lines.slice(0, -1), last.padEnd(width - kind.length) + kind]
    : [...lines, kind.padStart(width)]
}

function epilogueLines(text: string, width: number): readonly string[] {
  return text.split('\n').flatMap((line) => {
    const [indent = ''] = line.match(/^ */) ?? []
    return wrapped(line.trim(), width - indent.length).map((part) => (part === '' ? '' : indent + part))
  })
}

/** Text in lines. A word that is longer than a line is cut, and begins beside the word before it where that saves a line. */
function wrapped(text: string, width: number): readonly string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.pop() as string
    const before = line === '' ? '' : `${line} `
    if (word.length > width) {
      const beside = cut(before + word, width)
      if (beside.length <= cut(word, width).length) lines.push(...beside)
      else lines.push(line, ...cut(word, width))
    } else if (before.length + word.length > width && before !== '' && word !== '') lines.push(line, word)
    else lines.push(before + word)
  }
  return lines.map((line) => line.trimEnd())
}

function cut(text: string, width: number): readonly string[] {
  return text.match(new RegExp(`.{1,${Math.max(1, width)}}`, 'g')) ?? []
}

/** What each exit code means. Those of a command stand below its help. */
const meanings: Readonly<Record<number, string>> = {
  0: 'done',
  1: 'a bug in rankline',
  2: 'nothing ran: flags, settings or a job file are wrong',
  3: 'done, but something is wrong: some tasks failed, a run is suspect, or a check found a problem',
  4: 'stopped for money: balance, budget or quota',
  5: 'the key was refused',
  6: 'the service, the disk or the database is unavailable',
  7: 'another process on this machine is collecting',
  130: 'interrupted by Ctrl-C',
  143: 'ended by SIGTERM',
}

const pages = 'https://github.com/rankline/rankline/blob/main/'

/** What stands below the help of a command: its exit codes, and where its docs are. */
export function epilogueOf({ exits = usualExits.reading, docs = 'README.md' }: Command): string {
  const width = Math.max(...exits.map((code) => String(code).length))
  const lines = exits.map((code) => `  ${String(code).padEnd(width)}  ${meanings[code]}`)
  const goesOn = exits === usualExits.collecting
  return [
    'Exit codes:',
    ...lines,
    ...(goesOn ? ['  After 4 to 7, 130 and 143, run the same command again to continue.'] : []),
    '',
    `Docs: ${pages}${docs}`,
  ].join('\n')
}

/** Below the list of commands. */
export const commandsEpilogue = `Help for one command: rankline run --help\nDocs: ${pages}README.md`

/** Flags by what they are about, in the order of the help. */
const groups: Readonly<Record<string, readonly string[]>> = {
  'What is asked:': [
    'name',
    'operation',
    'param',
    'continues',
    'column',
    'depth',
    'pages',
    'paging',
    'until',
    'deep-every',
    'style',
    'async',
    'freshness',
    'strict-echo',
    'timezone',
    'every',
    'target',
    'competitor',
    'match',
  ],
  'Which queries:': ['tag', 'query', 'engine', 'where', 'limit', 'due', 'fresh', 'skip-bad'],
  'Limits:': ['max-credits', 'per-day', 'per-month', 'confirm-over', 'keep', 'yes', 'fit-balance', 'dry-run'],
  'Service:': [
    'base-url',
    'api-key-file',
    'allow-http',
    'timeout',
    'concurrency',
    'max-outage',
    'trust-clock',
    'wait',
  ],
  'Output:': ['format', 'out', 'raw', 'excel', 'log-format', 'metrics-file'],
  'Machines:': ['queue', 'lease'],
}

const oneGroup = 'Options:'
/** More flags than this are shown by what they are about. */
const mostInOneGroup = 12

/** The flags in the order of the help, each with its group. */
export function inGroups(flags: OptionSpecs): readonly (readonly [name: string, group: string])[] {
  const names = Object.keys(flags)
  if (names.length <= mostInOneGroup) return names.map((name) => [name, oneGroup])
  // Beside --from it is the end of a time, and stands with it.
  const isEnd = (name: string): boolean => name === 'until' && names.includes('from')
  const own = names.filter(
    (name) => isEnd(name) || !Object.values(groups).some((group) => group.includes(name)),
  )
  return [
    ...own.map((name) => [name, oneGroup] as const),
    ...Object.entries(groups).flatMap(([group, members]) =>
      members.filter((name) => names.includes(name) && !isEnd(name)).map((name) => [name, group] as const),
    ),
  ]
}
