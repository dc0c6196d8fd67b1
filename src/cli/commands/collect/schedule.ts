import { realpathSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, relative, resolve } from 'node:path'
import { databaseSetting, envFileText, settingsOfShell } from '../../../app/config.ts'
import { UsageError } from '../../../model/errors.ts'
import { type Flags, textFlag } from '../../../model/flag.ts'
import { choice } from '../../../model/values.ts'
import { note, type Terminal } from '../../../output/terminal.ts'
import { commentedValue, type ServicePlan, serviceFiles } from '../../../schedule/service-files.ts'
import { type Command, collectFlags, serviceFlags, type TypedFlags } from '../../flags.ts'

const flags = {
  ...serviceFlags,
  ...collectFlags,
  print: textFlag('Print what starts it with the system: systemd, crontab, launchd or windows'),
} satisfies Flags

export type ScheduleFlags = TypedFlags<typeof flags> & { readonly job?: readonly string[] | undefined }

export const scheduleCommand = {
  flags,
  examples: [['schedule --print systemd', 'a unit for this folder; redirect it into /etc/systemd/system/']],
  run: schedule,
} satisfies Command

/** `rankline schedule`: runs each job at its time, until it is stopped. */
export async function schedule(flags: ScheduleFlags, terminal: Terminal): Promise<number> {
  if (flags.print !== undefined) return await print(flags, flags.print, terminal)
  throw new UsageError('Name a system with --print: systemd, crontab, launchd or windows')
}

async function print(flags: ScheduleFlags, system: string, terminal: Terminal): Promise<number> {
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
  const database = dirname(resolve(databaseSetting(flags).path))
  const isInside = !relative(folder, database).startsWith('..')
  return {
    node: process.execPath,
    program: realpathSync(process.argv[1] ?? ''),
    folder,
    writes: isInside ? [] : [database],
    args: passedOn(flags),
    user: userName(),
    commentInEnv: commentedValue(envFileText() ?? ''),
  }
}

/** Flags that what the system starts needs, too. */
const passed = ['db', 'base-url', 'api-key-file', 'timeout', 'concurrency', 'max-outage'] as const

function passedOn(flags: ScheduleFlags): readonly string[] {
  const set = passed.flatMap((name) => {
    const value = flags[name]
    return value === undefined ? [] : [`--${name}=${value}`]
  })
  return [...(flags.job ?? []), ...set, ...(flags['allow-http'] === true ? ['--allow-http'] : [])]
}

function userName(): string | null {
  try {
    return userInfo().username
  } catch {
    // A container may run as a number that has no name.
    return null
  }
}
