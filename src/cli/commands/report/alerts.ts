import { databasePath } from '../../../app/config.ts'
import { openWhatIsStored } from '../../../app/connect/open-stored.ts'
import { waitForLocks } from '../../../app/lock.ts'
import { outgoing } from '../../../app/messages/outgoing.ts'
import { tryChannels } from '../../../app/messages/try-channels.ts'
import { openWorkspace } from '../../../app/workspace.ts'
import { UsageError } from '../../../model/errors.ts'
import { type Flags, textFlag } from '../../../model/flag.ts'
import { parseDuration } from '../../../model/text.ts'
import { startOfDay, systemClock, utcMinute } from '../../../model/time.ts'
import { note, sanitize, type Terminal } from '../../../output/terminal.ts'
import { needsMigration, requireDatabase } from '../../../store/sqlite/connection/inspect.ts'
import { databaseLock } from '../../../store/sqlite/connection/lock.ts'
import { openStore } from '../../../store/sqlite/open.ts'
import { alertsDocument, alertsText, knownAlerts } from '../../alert-list.ts'
import { isDay, refuseUnknownJob } from '../../arguments.ts'
import { type Command, chosenWork, serviceFlags, type TypedFlags } from '../../flags.ts'

const works = { list, mute, test }

const flags = {
  until: textFlag('mute: for how long, such as 7d or 12h, or until which day; 0h ends it'),
  'allow-http': serviceFlags['allow-http'],
} satisfies Flags

type AlertsFlags = TypedFlags<typeof flags> & { readonly what: string; readonly name?: string }

export const alertsCommand = {
  flags,
  words: Object.keys(works),
  exits: [0, 1, 2, 3, 6],
  docs: 'docs/alerts.md',
  examples: [
    ['alerts list', 'what is open, what was over in the last week, and messages that wait'],
    ['alerts mute 4f2a90c1b7d3 --until 7d', 'nothing is sent about it for a week'],
    ['alerts test', 'a sample through every channel of rankline.yaml'],
    ['alerts test mail', 'through one of them'],
  ],
  run: alerts,
} satisfies Command

/** `rankline alerts`: what was told, and whether channels work. */
export async function alerts(flags: AlertsFlags, terminal: Terminal): Promise<number> {
  return await works[chosenWork('alerts', works, flags.what)](flags, terminal)
}

/** `rankline alerts list`: alerts and messages of a job, or of all. */
async function list(flags: AlertsFlags, terminal: Terminal): Promise<number> {
  await using store = await openWhatIsStored(flags)
  if (flags.name !== undefined) await refuseUnknownJob(store, flags.name)
  const known = await knownAlerts(store, flags.name, systemClock.wall())
  await terminal.write(
    flags.json === true
      ? `${JSON.stringify(alertsDocument(known), null, 2)}\n`
      : alertsText(known, terminal.columns),
  )
  return 0
}

/** `rankline alerts mute`: sends nothing about an alert for a while. */
async function mute(flags: AlertsFlags, terminal: Terminal): Promise<number> {
  const { name: id, until } = flags
  if (id === undefined || until === undefined)
    throw new UsageError(
      'Name the alert and for how long: rankline alerts mute ID --until 7d. List them with: rankline alerts list',
    )
  const database = databasePath(flags)
  requireDatabase(database)
  using turn = waitForLocks([databaseLock(database)], undefined, (line) => note(terminal, line))
  // Only a migration needs this process's turn: otherwise a run may be collecting meanwhile.
  if (needsMigration(database)) await turn.acquire()
  await using store = await openStore(database)
  const alert = await store.alert(id)
  if (alert === null) throw new UsageError(`There is no alert '${id}'. List them with: rankline alerts list`)
  const timezone = (await store.runs({ job: alert.job, limit: 1 }))[0]?.settings.timezone ?? 'UTC'
  const now = systemClock.wall()
  const end = mutedUntil(until, now, timezone)
  await store.muteAlert(id, end)
  const what = sanitize(alert.text)
  note(terminal, end <= now ? `No longer muted: ${what}` : `Muted until ${utcMinute(end)} UTC: ${what}`)
  return 0
}

/** The instant that `--until` names: so long from now, or the begin of a day in the time zone of the job. */
function mutedUntil(text: string, now: number, timezone: string): number {
  const span = parseDuration(text, 'mhdw')
  if (span !== null) return now + span
  if (/^\d{4}-\d{2}-\d{2}$/.test(text) && isDay(text)) return startOfDay(text, timezone)
  throw new UsageError(
    `--until cannot be '${text}'; write a time such as 7d or 12h, or a day such as 2026-12-31`,
  )
}

const failedExitCode = 3

/** `rankline alerts test`: a sample through one channel, or all. */
async function test(flags: AlertsFlags, terminal: Terminal): Promise<number> {
  const workspace = await openWorkspace('.')
  const tries = await tryChannels(workspace, flags.name, outgoing(flags['allow-http'] === true), systemClock)
  const lines = tries.map(({ channel, type, delivered, reason }) => {
    const how = delivered ? 'delivered' : 'not delivered'
    return `${sanitize(channel)} (${type}): ${how}${reason === null ? '' : `: ${sanitize(reason)}`}`
  })
  await terminal.write(flags.json === true ? `${JSON.stringify(tries, null, 2)}\n` : `${lines.join('\n')}\n`)
  return tries.every(({ delivered }) => delivered) ? 0 : failedExitCode
}
