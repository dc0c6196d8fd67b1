import { realpathSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, relative, resolve } from 'node:path'
import { databaseSetting, envFileText, metricsFile, settingsOfShell } from '../../../app/config.ts'
import { UsageError } from '../../../model/errors.ts'
import type { Flag } from '../../../model/flag.ts'
import { choice } from '../../../model/values.ts'
import { note, type Terminal } from '../../../output/terminal.ts'
import { commentedValue, type ServicePlan, serviceFiles } from '../../../plan/schedule/service-files.ts'
import { collectFlags, confirmFlags, globalFlags, logFlags, serviceFlags } from '../../flags.ts'
import type { ScheduleFlags } from './schedule-flags.ts'

/** `rankline schedule --print`: what the system's own scheduler reads as it is. */
export async function printServiceFile(
  flags: ScheduleFlags,
  system: string,
  terminal: Terminal,
): Promise<number> {
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
