import { UsageError } from '../model/errors.ts'
import { closestMatch } from '../model/text.ts'
import {
  type OptionSpec,
  type OptionSpecs,
  type OptionsOf,
  switchOption,
  textOption,
} from '../model/values.ts'
import type { Terminal } from '../output/terminal.ts'

/** A command: what may be typed, and what it does. */
export interface Command {
  readonly flags: OptionSpecs
  /** What may be typed, and what that does. */
  readonly examples: readonly (readonly [typed: string, does: string])[]
  /** The words that the first argument can be, for completion. */
  readonly words?: readonly string[]
  /** The exit codes it can have, where they are not those of a command that reads. */
  readonly exits?: readonly number[]
  /** The page about it, from the root of the project; README.md if not given. */
  readonly docs?: string
  /** Whether `-` stands for a job on standard input. */
  readonly readsStdin?: true
  /** Does what the command says and answers the exit code. */
  readonly run: (flags: never, terminal: Terminal) => Promise<number>
}

/** One line of the program's help; the command itself is loaded when it is typed. */
export interface Registered {
  /** Name and positional arguments, as yargs reads them. */
  readonly usage: string
  readonly describe: string
  readonly load: () => Promise<Command>
}

export function commandName({ usage }: Registered): string {
  return usage.split(' ')[0] as string
}

const globalFlags = {
  db: textOption('Database; default: RANKLINE_DB, else data/rankline.db of the workspace'),
  json: switchOption('Print JSON'),
  quiet: switchOption('Print problems only: no progress, no notes, no summary after success'),
  verbose: switchOption('Show every mistake of a job file, and stack traces'),
  'no-color': switchOption('Print without colors; the same as NO_COLOR=1'),
  'no-input': switchOption('Ask nothing, as if there were no terminal'),
} satisfies OptionSpecs

/** What was typed for a command with these flags. */
export type TypedOptions<F extends OptionSpecs> = OptionsOf<F> & OptionsOf<typeof globalFlags>

const serviceFlags = {
  'base-url': textOption('Address of the service; default: RANKLINE_BASE_URL'),
  'api-key-file': textOption('File that holds the API key; default: RANKLINE_API_KEY'),
  'allow-http': switchOption('Allow an address that is not encrypted'),
  timeout: textOption('Seconds to wait for the answer to a call [120]'),
} satisfies OptionSpecs

const collectFlags = {
  concurrency: textOption('Calls in flight at once; default: as many as the rate limit allows'),
  'max-outage': textOption(
    'How long to wait for a service that is down [60s] or that refuses every call for the rate [10m]',
  ),
  'metrics-file': textOption('Prometheus text file to write after each run; default: RANKLINE_METRICS'),
} satisfies OptionSpecs

const logFlags = {
  'log-format': textOption(
    'text or json: one JSON line for each message; default: RANKLINE_LOG_FORMAT, else text',
  ),
} satisfies OptionSpecs

const clockFlags = {
  'trust-clock': switchOption('Go by the clock of this machine, however far off the service finds it'),
} satisfies OptionSpecs

const fitFlags = {
  'fit-balance': switchOption(
    'Buy the most valuable queries that the balance covers, and leave out the rest',
  ),
} satisfies OptionSpecs

const confirmFlags = {
  yes: switchOption('Buy without asking what costs more than the confirm_over of its job'),
} satisfies OptionSpecs

const waitFlags = {
  wait: textOption(
    'How long to wait while another process on this machine is collecting, for instance 90s; 0 does not wait [1h]',
  ),
} satisfies OptionSpecs

const queueFlags = {
  queue: textOption('Postgres database that machines share, postgres://…; default: RANKLINE_QUEUE'),
} satisfies OptionSpecs

const leaseFlags = {
  lease: textOption(
    'With a queue: how long others wait before they take over from a process that died [20s]',
  ),
} satisfies OptionSpecs

const compareFlags = {
  compare: textOption(
    'Compare with this day, or with a day so long ago, for instance 7d; default: the day before',
  ),
  tolerance: textOption('How far from the compared day an observation may lie, for instance 1d [3d]'),
} satisfies OptionSpecs

const outFlags = {
  out: { ...textOption('File to write; its extension sets the format. Default: stdout'), alias: 'o' },
} satisfies OptionSpecs

/** @param formats the first one is the default */
function outputFlags(formats: readonly string[]) {
  const others = formats.slice(0, -1).join(', ')
  return {
    ...outFlags,
    format: { ...textOption(`${others} or ${formats.at(-1)} [${formats[0]}]`), values: formats },
    raw: switchOption('CSV as it is, without the quote that keeps spreadsheets from running formulas'),
    excel: switchOption(
      'CSV that a double click opens in Excel where decimals follow a comma: UTF-8 mark, semicolons; .xlsx opens everywhere',
    ),
  } satisfies OptionSpecs
}

/** The part of a command that its first word names, as in `db backup`. Throws a sentence where there is none of that name. */
export function chosenWork<Works extends object>(command: string, works: Works, word: string): keyof Works {
  if (Object.hasOwn(works, word)) return word as keyof Works
  const known = Object.keys(works)
  const near = closestMatch(word, known)
  throw new UsageError(
    `rankline ${command} does not know '${word}'. ${near === null ? `Write one of ${known.join(', ')}` : `Did you mean ${near}?`}`,
  )
}

/** The flag of a name or of a letter. */
export function flagNamed(name: string, flags: OptionSpecs): OptionSpec | undefined {
  return Object.hasOwn(flags, name) ? flags[name] : Object.values(flags).find(({ alias }) => alias === name)
}

/** Flags that several commands share, worded once. */
export const sharedFlags = {
  global: globalFlags,
  service: serviceFlags,
  collect: collectFlags,
  log: logFlags,
  clock: clockFlags,
  fit: fitFlags,
  confirm: confirmFlags,
  wait: waitFlags,
  queue: queueFlags,
  lease: leaseFlags,
  compare: compareFlags,
  out: outFlags,
  output: outputFlags,
}

/** The exit codes that commands can have. */
export const usualExits = {
  /** Commands that read what is stored. */
  reading: [0, 1, 2, 6],
  /** Commands that ask the service, for free. */
  lookup: [0, 1, 2, 5, 6],
  /** Commands that read the account, which may have nothing left. */
  account: [0, 1, 2, 4, 5, 6],
  /** Commands that spend. */
  collecting: [0, 1, 2, 3, 4, 5, 6, 7, 130, 143],
}
