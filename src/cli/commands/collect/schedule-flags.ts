import { type Flags, switchFlag, textFlag } from '../../../model/flag.ts'
import { collectFlags, serviceFlags, type TypedFlags } from '../../flags.ts'

export const scheduleFlags = {
  ...serviceFlags,
  ...collectFlags,
  print: textFlag('Print what starts it with the system: systemd, crontab, launchd or windows'),
  list: switchFlag('Show when each job runs next, and do nothing else'),
  from: textFlag('With --list: first day or instant (ISO 8601, UTC); default: now'),
  until: textFlag('With --list: day or instant before which they run; default: the next five of each job'),
} satisfies Flags

export type ScheduleFlags = TypedFlags<typeof scheduleFlags> & {
  readonly job?: readonly string[] | undefined
}
