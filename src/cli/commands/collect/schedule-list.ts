import { scheduledJobs } from '../../../app/scheduler/job-files.ts'
import { type ListedSlot, listSlots } from '../../../app/scheduler/slot-list.ts'
import { UsageError } from '../../../model/errors.ts'
import { systemClock } from '../../../model/time.ts'
import { formatTable } from '../../../output/table.ts'
import { sanitize, type Terminal } from '../../../output/terminal.ts'
import { dayOrInstant } from '../../arguments.ts'
import { noJob, type ScheduleFlags } from './schedule-flags.ts'

/** Slots of each job that are shown where no end is named. */
const shownSlots = 5

/** `rankline schedule --list`: when jobs run, from their files alone; exit code 2 where some have mistakes. */
export async function listSchedule(flags: ScheduleFlags, terminal: Terminal): Promise<number> {
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
