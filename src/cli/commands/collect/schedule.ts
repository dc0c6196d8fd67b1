import { realpathSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, relative, resolve } from 'node:path'
import { UsageError } from '../../../model/errors.ts'
import type { Flag } from '../../../model/flag.ts'
import { systemClock } from '../../../model/time.ts'
import { choice } from '../../../model/values.ts'
import { formatTable } from '../../../output/table.ts'
import { note, sanitize, type Terminal } from '../../../output/terminal.ts'
import { databaseSetting, envFileText, metricsFile, settingsOfShell } from '../../../run/config.ts'
import { commentedValue, type ServicePlan, serviceFiles } from '../../../schedule/service-files.ts'
import { scheduledJobs } from '../../../unattended/scheduler/job-files.ts'
import { type ListedSlot, listSlots } from '../../../unattended/scheduler/slot-list.ts'
import { dayOrInstant } from '../../arguments.ts'
import { type Command, collectFlags, confirmFlags, globalFlags, logFlags, serviceFlags } from '../../flags.ts'
import { meantJobs } from './job-arguments.ts'
import { noJob, type ScheduleFlags, scheduleFlags } from './schedule-flags.ts'
import { stayUp } from './schedule-run.ts'

export const scheduleCommand = {
  flags: scheduleFlags,
  exits: [0, 1, 2, 5, 6, 7, 130],
  docs: 'docs/schedule.md',
  examples: [
    ['schedule', 'every job of this folder, until it is stopped'],
    ['schedule --list', 'when each job of this folder runs next'],
    ['schedule --print systemd', 'a unit for this folder; redirect it into /etc/systemd/system/'],
  ],
  run: schedule,
} satisfies Command

/** `rankline schedule`: runs each job at its time, until it is stopped. */
export async function schedule(given: ScheduleFlags, terminal: Terminal): Promise<number> {
  const flags = given.job === undefined ? given : { ...given, job: await meantJobs(given.job, terminal) }
  if (flags.list !== true && (flags.from !== undefined || flags.until !== undefined))
    throw new UsageError('--from and --until have no meaning without --list')
  if (flags.print !== undefined && flags.list === true)
    throw new UsageError('--print and --list do not go together. Leave one of them out')
  if (flags.print !== undefined) return await printServiceFile(flags, flags.print, terminal)
  if (flags.list === true) return await listSchedule(flags, terminal)
  return await stayUp(flags, terminal)
}

/** Slots of each job that are shown where no end is named. */
const shownSlots = 5

/** `rankline schedule --list`: when jobs run, from their files alone; exit code 2 where some have mistakes. */
async function listSchedule(flags: ScheduleFlags, terminal: Terminal): Promise<number> {
  const from = instant('--from', flags.from) ?? systemClock.wall()
  const until = instant('--until', flags.until) ?? Number.POSITIVE_INFINITY
  if (until <= from)
    throw new UsageError('--until must be later than --from, which is now where it is not given')
  const places = { named: flags.job ?? [], folder: '.' }
  const read = await scheduledJobs(places, terminal.log)
  const jobs = read.filter((job) => job !== null)
  if (read.length === 0) throw new UsageError(noJob)
  const range = { from, until, most: Number.isFinite(until) ? Number.POSITIVE_INFINITY : shownSlots }
  if (jobs.length === 0 && flags.json !== true) return 2
  const slots = listSlots(jobs, range)
  if (flags.json === true) await writeJson(slots, terminal)
  else await terminal.write(table([...slots], terminal))
  return jobs.length === read.length ? 0 : 2
}

/** Epoch ms; a day begins in UTC. */
function instant(flag: string, text: string | undefined): number | undefined {
  const valid = dayOrInstant(flag, text)
  return valid === undefined ? undefined : Date.parse(valid)
}

const slotsOfAPiece = 1000

/** A year of every minute is half a million slots. */
async function writeJson(slots: Iterable<ListedSlot>, terminal: Terminal): Promise<void> {
  let piece: string[] = []
  let separator = '['
  for (const slot of slots) {
    piece.push(`${separator}\n  ${JSON.stringify(slot)}`)
    separator = ','
    if (piece.length < slotsOfAPiece) continue
    await terminal.write(piece.join(''))
    piece = []
  }
  await terminal.write(`${piece.join('')}${separator === '[' ? '[' : '\n'}]\n`)
}

function table(slots: readonly ListedSlot[], { columns }: Terminal): string {
  if (slots.length === 0) return 'No job runs in that time.\n'
  return formatTable(
    [{ title: 'job', shrinks: true }, { title: 'local time' }, { title: 'zone' }, { title: 'UTC' }],
    slots.map(({ job, local, zone, at }) => [
      sanitize(job),
      local.slice(0, 16).replace('T', ' '),
      zone,
      at.slice(0, 16).replace('T', ' '),
    ]),
    columns,
  )
}

/** `rankline schedule --print`: what the system's own scheduler reads as it is. */
async function printServiceFile(flags: ScheduleFlags, system: string, terminal: Terminal): Promise<number> {
  const read = choice(Object.keys(serviceFiles) as (keyof typeof serviceFiles)[])(system)
  if (!('value' in read)) throw new UsageError(`--print ${read.message}; ${read.fix}`)
  const plan = servicePlan(flags)
  for (const path of [plan.folder, ...plan.args])
    if (/[\r\n]/.test(path))
      throw new UsageError(`The name '${path}' holds a line break, which no scheduler can read. Rename it`)
  const missing = settingsOfShell()
  if (missing.length > 0)
    note(
      terminal,
      `Set in this shell only: ${missing.join(', ')}. Write ${missing.length === 1 ? 'it' : 'them'} into .env as well: what the system starts does not have your shell's variables.`,
    )
  await terminal.write(serviceFiles[read.value](plan))
  return 0
}

/** What the system is to start: this program, in this folder, with these jobs and flags. */
function servicePlan(flags: ScheduleFlags): ServicePlan {
  const folder = process.cwd()
  const files = [databaseSetting(flags).path, metricsFile(flags['metrics-file'])?.path ?? []].flat()
  const isOutside = (path: string): boolean => relative(folder, path).startsWith('..')
  return {
    node: process.execPath,
    program: realpathSync(process.argv[1] ?? ''),
    folder,
    writes: files.map((file) => dirname(resolve(file))).filter(isOutside),
    args: passedOn(flags),
    upArgs: flags.health === undefined ? [] : [`--health=${flags.health}`],
    user: userName(),
    commentInEnv: commentedValue(envFileText() ?? ''),
  }
}

/** What the system starts needs the flags that were typed, too. */
function passedOn(flags: ScheduleFlags): readonly string[] {
  const passed: Readonly<Record<string, Flag>> = {
    db: globalFlags.db,
    ...serviceFlags,
    ...collectFlags,
    ...confirmFlags,
    ...logFlags,
  }
  const typed = Object.keys(passed).flatMap((name) => {
    const value = (flags as Readonly<Record<string, unknown>>)[name]
    if (value === undefined || value === false) return []
    return [value === true ? `--${name}` : `--${name}=${value}`]
  })
  return [...(flags.job ?? []), ...typed]
}

function userName(): string | null {
  try {
    return userInfo().username
  } catch {
    // A container may run as a number that has no name.
    return null
  }
}
