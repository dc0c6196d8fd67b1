import { join, relative, resolve } from 'node:path'
import {
  clientFiles,
  jobFile,
  jobOfFile,
  type LaidOut,
  layOut,
  questions,
  readClients,
  readPlace,
  readSite,
  readTime,
  sandboxCommand,
  schemaFiles,
  usualAnswers,
  type WorkspaceAnswers,
  workspaceFiles,
} from '../../../check/init.ts'
import { mistakePrinter } from '../../../jobfile/source.ts'
import { RanklineError, UsageError } from '../../../model/errors.ts'
import { type OptionSpecs, switchOption, textOption } from '../../../model/option.ts'
import { count } from '../../../model/text.ts'
import type { ReadResult } from '../../../model/values.ts'
import { wrapLines } from '../../../output/table.ts'
import { note, type Terminal } from '../../../output/terminal.ts'
import type { Command, TypedOptions } from '../../flags.ts'

const flags = {
  yes: switchOption('Ask nothing, and take the defaults where no flag says otherwise'),
  site: textOption('Site whose ranks are tracked [northdesk.example, which the sandbox knows]'),
  country: textOption('Code of the country to search in [us]'),
  language: textOption('Code of the language to search in [that of the country]'),
  schemas: switchOption('Write the JSON Schemas for editors again, after an upgrade, and nothing else'),
  jobs: textOption('Table of clients: a job for each row; columns name, site, country, language, at'),
  at: textOption('Time of day to collect at, in the time zone of this machine [06:00]'),
} satisfies OptionSpecs

export type InitFlags = TypedOptions<typeof flags> & { readonly dir?: string }

export const initCommand = {
  flags,
  exits: [0, 1, 2],
  docs: 'docs/workspace.md',
  examples: [
    ['init ranks', 'a new folder, after three questions'],
    ['init --jobs clients.csv', 'a job for each client of the table, in this folder'],
    ['init --yes --site acme.com --country de', 'this folder, without a question'],
  ],
  run: init,
} satisfies Command

/** `rankline init`: lays out a workspace that runs against the sandbox as it is. */
export async function init(flags: InitFlags, terminal: Terminal): Promise<number> {
  const folder = flags.dir ?? '.'
  if (flags.schemas === true) return await renewSchemas(folder, flags, terminal)
  if (flags.jobs !== undefined) return await layOutClients(folder, flags.jobs, flags, terminal)
  const answers = await ask(flags, terminal)
  const laidOut = await layOut(folder, workspaceFiles(answers), { replace: false })
  if (laidOut.kept.length > 0)
    note(terminal, `Already there, and left as they are: ${laidOut.kept.join(', ')}.`)
  if (laidOut.kept.includes('.gitignore')) note(terminal, 'See that .gitignore names .env and data/.')
  if (laidOut.written.length === 0)
    throw new UsageError(`Nothing was written: every file of a workspace is in ${resolve(folder)} already`)
  const next = nextCommands(folder)
  await terminal.write(
    flags.json === true
      ? `${JSON.stringify({ folder: resolve(folder), ...laidOut, sandbox: sandboxCommand(answers), next }, null, 2)}\n`
      : wrapLines(summary(folder, laidOut, sandboxCommand(answers), next), terminal.columns),
  )
  return 0
}

/** A job for each client of a table; those that are there stay as they are, so that the table may grow. */
async function layOutClients(
  folder: string,
  table: string,
  flags: InitFlags,
  terminal: Terminal,
): Promise<number> {
  if (flags.site !== undefined)
    throw new UsageError('--site is of one job, and --jobs names the site of each. Leave one of them out')
  const usual = { ...usualAnswers(systemZone()), ...flagged(flags) }
  const { report, end } = mistakePrinter((line) => terminal.log(line, { level: 'error', code: 2 }), true)
  const clients = await readClients(table, usual, report)
  if (end() > 0) return 2
  if (clients.length === 0)
    throw new UsageError(`${table} has no client; write a row for each below the header`)
  const laidOut = await layOut(folder, clientFiles(clients, usual), { replace: false })
  if (laidOut.kept.length > 0)
    note(terminal, `Already there, and left as they are: ${laidOut.kept.join(', ')}.`)
  const jobs = clients.map(({ job }) => job)
  await terminal.write(
    flags.json === true
      ? `${JSON.stringify({ folder: resolve(folder), ...laidOut, jobs }, null, 2)}\n`
      : `${count(clients.length, 'client')}; written into ${resolve(folder)}: ${laidOut.written.join(', ') || 'nothing new'}\n
Write the keywords of each client into its .csv, and address and key of the service into ${join(folder, '.env')}. Then:

  rankline plan ${jobs[0]}.yaml
  rankline status\n`,
  )
  return 0
}

async function renewSchemas(folder: string, flags: InitFlags, terminal: Terminal): Promise<number> {
  const laidOut = await layOut(folder, schemaFiles(), { replace: true })
  await terminal.write(
    flags.json === true
      ? `${JSON.stringify({ folder: resolve(folder), ...laidOut }, null, 2)}\n`
      : `Written into ${resolve(folder)}: ${laidOut.written.join(', ')}\n`,
  )
  return 0
}

/** The answers of flags, of the person at the terminal, and the usual ones. */
async function ask(flags: InitFlags, { askText = null, log }: Terminal): Promise<WorkspaceAnswers> {
  let answers: WorkspaceAnswers = { ...usualAnswers(systemZone()), ...flagged(flags) }
  if (flags.yes === true || askText === null) return answers
  const open = questions.filter(({ options: given }) =>
    given.every((flag) => flags[flag as keyof InitFlags] === undefined),
  )
  if (open.length > 0) log('Enter takes the answer in brackets.')
  for (const { text, usual, read } of open) {
    for (;;) {
      const usually = usual(answers)
      const answer = await askText(`${text(answers)} [${usually}]:`)
      if (answer === null) throw new RanklineError('Nothing was written.', 130)
      const result = read(answer === '' ? usually : answer)
      if ('value' in result) {
        answers = { ...answers, ...result.value }
        break
      }
      log(`That ${result.message}; ${result.fix}.`)
    }
  }
  return answers
}

function flagged({ site, country, language, at }: InitFlags): Partial<WorkspaceAnswers> {
  const place =
    country === undefined && language === undefined
      ? {}
      : flagValue(
          country === undefined ? '--language' : '--country',
          readPlace(`${country ?? 'us'} ${language ?? ''}`.trim()),
        )
  return {
    ...(site === undefined ? {} : flagValue('--site', readSite(site))),
    ...place,
    ...(at === undefined ? {} : flagValue('--at', readTime(at))),
  }
}

function flagValue<T>(flag: string, read: ReadResult<T>): T {
  if ('value' in read) return read.value
  throw new UsageError(`${flag} ${read.message}; ${read.fix}`)
}

function systemZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone
}

function nextCommands(folder: string): readonly string[] {
  const commands = [`rankline plan ${jobFile}`, `rankline run ${jobFile}`, `rankline report ${jobOfFile}`]
  const way = relative('', folder)
  return way === '' ? commands : [`cd ${quotedPath(way)}`, ...commands]
}

function quotedPath(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

function summary(folder: string, { written }: LaidOut, sandbox: string, next: readonly string[]): string {
  const width = Math.max(...next.map((command) => command.length)) + 3
  const lines = next.map((command) => `  ${command.padEnd(width)}${explanationOf(command)}`.trimEnd())
  return `Written into ${resolve(folder)}: ${written.join(', ')}

In another terminal, start the service on this machine: ${sandbox}
Then:

${lines.join('\n')}

With an account, write its address and key into ${join(folder, '.env')}; rankline doctor checks them.
`
}

function explanationOf(command: string): string {
  const [, name = ''] = command.split(' ')
  return explanations[name] ?? ''
}

const explanations: Readonly<Record<string, string>> = {
  plan: 'what it would cost; spends nothing',
  run: 'collects',
  report: 'shows the ranks',
}
