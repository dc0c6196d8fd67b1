import type { OptionSpecs } from '../model/option.ts'
import type { Command } from './flags.ts'

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

/** Commands that read what is stored. */
const readingExits = [0, 1, 2, 6]
/** Commands that ask the service, for free. */
export const lookupExits = [0, 1, 2, 5, 6]
/** Commands that read the account, which may have nothing left. */
export const accountExits = [0, 1, 2, 4, 5, 6]
/** Commands that spend. */
export const collectingExits = [0, 1, 2, 3, 4, 5, 6, 7, 130, 143]

const pages = 'https://github.com/rankline/rankline/blob/main/'

/** What stands below the help of a command: its exit codes, and where its docs are. */
export function epilogueOf({ exits = readingExits, docs = 'README.md' }: Command): string {
  const width = Math.max(...exits.map((code) => String(code).length))
  const lines = exits.map((code) => `  ${String(code).padEnd(width)}  ${meanings[code]}`)
  const goesOn = exits === collectingExits
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
  const own = names.filter((name) => !Object.values(groups).some((group) => group.includes(name)))
  return [
    ...own.map((name) => [name, oneGroup] as const),
    ...Object.entries(groups).flatMap(([group, members]) =>
      members.filter((name) => names.includes(name)).map((name) => [name, group] as const),
    ),
  ]
}

/** Where no command was typed: the first five. */
export const noCommand = `Name a command. The first five:

  rankline demo                  a month of history and its report, with no account
  rankline init                  a folder with a job that runs against the sandbox
  rankline plan jobs/desks.yaml  what a job would call and cost; spends nothing
  rankline run jobs/desks.yaml   collect a job, or continue what is unfinished
  rankline report desks          ranks of the targets, and how they changed

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
