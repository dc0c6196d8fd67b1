import { UsageError } from '../../../model/errors.ts'
import type { Terminal } from '../../../output/terminal.ts'
import type { Command } from '../../flags.ts'
import { meantJobs } from './job-arguments.ts'
import { type ScheduleFlags, scheduleFlags } from './schedule-flags.ts'
import { listSchedule } from './schedule-list.ts'
import { printServiceFile } from './schedule-print.ts'
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
