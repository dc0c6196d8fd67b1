import { styleText } from 'node:util'
import { gatherStatus, type StatusDocument, statusDocument } from '../../../check/status.ts'
import { count, grouped } from '../../../model/text.ts'
import { systemClock } from '../../../model/time.ts'
import type { OptionSpecs } from '../../../model/values.ts'
import { asciiSigns, formatTable, wrap } from '../../../output/table.ts'
import { sanitize, type Terminal } from '../../../output/terminal.ts'
import { databaseFile } from '../../../run/config.ts'
import { demoHint } from '../../../store/sqlite/connection/database.ts'
import { age, ahead, type Level, type StatusProblem } from '../../../unattended/status.ts'
import type { Command, TypedOptions } from '../../flags.ts'
import { foundText } from '../../output.ts'

const flags = {} satisfies OptionSpecs

export type StatusFlags = TypedOptions<typeof flags>

export const statusCommand = {
  flags,
  exits: [0, 1, 2, 3, 6],
  docs: 'docs/status.md',
  examples: [
    ['status', 'what is wrong, and how each job is doing'],
    ['status --quiet', 'for cron: nothing while all is well'],
  ],
  run: status,
} satisfies Command

const exitCodes: Readonly<Record<Level, number>> = { ok: 0, warning: 3, error: 6 }

/** `rankline status`: how all jobs are doing, problems first; the exit code says how bad it is. */
export async function status(flags: StatusFlags, terminal: Terminal): Promise<number> {
  const document = statusDocument(await gatherStatus(flags, systemClock.wall()))
  if (flags.json === true) await terminal.write(`${JSON.stringify(document, null, 2)}\n`)
  else if (terminal.quiet !== true || document.level !== 'ok') {
    const text = [
      verdict(document, demoHint(databaseFile.path(flags))),
      problemText(document, terminal),
      jobTable(document, terminal),
      moneyLine(document),
    ]
    const shown = text.filter((part) => part !== '').join('\n')
    await terminal.write(terminal.ascii === true ? asciiSigns(shown) : shown, true)
  }
  return exitCodes[document.level]
}

function verdict({ database, jobs, problems }: StatusDocument, hint: string): string {
  if (database === null) return `Nothing has run yet. Start with: rankline run <job file>${hint}\n`
  if (problems.length === 0) return `All is well: ${count(jobs.length, 'job')}.\n`
  const of = (wanted: Level): number => problems.filter(({ level }) => level === wanted).length
  const found = foundText({ errors: of('error'), warnings: of('warning') })
  return `${found} in ${count(jobs.length, 'job')}:\n`
}

/** As wide as the widest level. */
const levelWidth = 'warning  '.length

/** Problems as they are listed, a paragraph each. */
export function problemText(
  { problems }: { readonly problems: readonly Pick<StatusProblem, 'level' | 'job' | 'text'>[] },
  { columns, color }: Pick<Terminal, 'columns' | 'color'>,
): string {
  const lines = problems.flatMap(({ level, job, text }) => {
    const said = sanitize(`${job === null ? '' : `${job}: `}${text}`)
    const [first = '', ...others] = wrap(said, columns - levelWidth)
    const painted = color && level === 'error' ? styleText('red', level, { validateStream: false }) : level
    const space = ' '.repeat(levelWidth - level.length)
    return [painted + space + first, ...others.map((line) => ' '.repeat(levelWidth) + line)]
  })
  return lines.map((line) => `${line}\n`).join('')
}

const tableColumns = [
  { title: 'job', shrinks: true, least: 12 },
  { title: 'state' },
  { title: 'last good' },
  { title: 'coverage', align: 'right' },
  { title: 'last run' },
  { title: 'next run' },
  { title: 'alerts', align: 'right' },
  { title: 'today', align: 'right', dropped: true },
  { title: 'month', align: 'right', dropped: true },
] as const

function jobTable({ jobs, at }: StatusDocument, { columns, color }: Terminal): string {
  if (jobs.length === 0) return ''
  const now = Date.parse(at)
  const table = formatTable(
    tableColumns,
    jobs.map((job) => cells(job, now)),
    columns,
  )
  const [head = '', ...rows] = table.split('\n')
  return [color ? styleText('bold', head, { validateStream: false }) : head, ...rows].join('\n')
}

function cells(job: JobDocument, now: number): readonly string[] {
  const { last_good_run: good, next_slot: next } = job
  const covered = good?.coverage ?? null
  return [
    sanitize(job.job),
    job.paused_at === null ? job.level : 'paused',
    good === null ? 'never' : age(now - Date.parse(good.ended_at ?? good.started_at)),
    covered === null ? '-' : `${Math.floor(covered * 100)} %`,
    lastRun(job),
    next === null
      ? job.every === null || job.paused_at !== null
        ? '-'
        : 'when due'
      : ahead(Date.parse(next) - now),
    job.open_alerts.length === 0 ? '-' : grouped(job.open_alerts.length),
    grouped(job.spent_today),
    grouped(job.spent_this_month),
  ]
}

const endings = {
  completed: 'done',
  completed_with_failures: 'failures',
  budget: 'budget',
  balance: 'no balance',
  quota: 'no quota',
  auth: 'key refused',
  unavailable: 'unavailable',
  interrupted: 'interrupted',
  crashed: 'crashed',
} as const

function lastRun({ last_run: last, running }: JobDocument): string {
  if (last === null) return 'never'
  if (running) return 'running'
  return last.finish_reason === null ? 'killed' : endings[last.finish_reason]
}

function moneyLine({ at, database, balance, ...spent }: StatusDocument): string {
  if (database === null) return ''
  const days = balance?.days_left ?? null
  const lasts =
    days === null || balance === null
      ? ''
      : `; at ${grouped(balance.per_day)} a day it lasts ${howLong(days)}`
  const left =
    balance === null
      ? 'Balance: not read yet'
      : `Balance: ${count(balance.credits, 'credit')}, read ${age(Date.parse(at) - Date.parse(balance.read_at))}${lasts}`
  return `${left}.\nSpent: ${grouped(spent.spent_today)} today, ${grouped(spent.spent_this_month)} this month.\n`
}

function howLong(days: number): string {
  return days === 0 ? 'less than a day' : days > 365 ? 'more than a year' : count(days, 'day')
}

type JobDocument = StatusDocument['jobs'][number]
