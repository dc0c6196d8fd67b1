import { type Flags, switchFlag, textFlag } from '../../../model/flag.ts'
import {
  clockFlags,
  collectFlags,
  confirmFlags,
  leaseFlags,
  logFlags,
  queueFlags,
  serviceFlags,
  type TypedFlags,
} from '../../flags.ts'

export const scheduleFlags = {
  ...serviceFlags,
  ...clockFlags,
  ...collectFlags,
  ...confirmFlags,
  health: textFlag('Port on 127.0.0.1 that answers GET /health; 0 takes a free one'),
  ...logFlags,
  ...queueFlags,
  ...leaseFlags,
  print: textFlag('Print what starts it with the system: systemd, crontab, launchd or windows'),
  list: switchFlag('Show when each job runs next, and do nothing else'),
  from: textFlag('With --list: first day or instant (ISO 8601, UTC); default: now'),
  until: textFlag('With --list: day or instant before which they run; default: the next five of each job'),
} satisfies Flags

export type ScheduleFlags = TypedFlags<typeof scheduleFlags> & {
  readonly job?: readonly string[] | undefined
}

/** Where a folder has no job to schedule. */
export const noJob =
  'No YAML file of this folder says when its job runs. Write schedule: "0 6 * * *" into one, or name job files'
