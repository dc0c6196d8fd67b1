import { UsageError } from '../../../model/errors.ts'
import { type AlertKind, alertKinds } from '../../../model/settings.ts'
import { closestMatch, count, grouped, parseDuration } from '../../../model/text.ts'
import { dayMs, startOfDay, systemClock, utcMinute } from '../../../model/time.ts'
import { type OptionSpecs, textOption } from '../../../model/values.ts'
import { formatTable } from '../../../output/table.ts'
import { note, sanitize, type Terminal } from '../../../output/terminal.ts'
import { outgoing } from '../../../run/app.ts'
import { databaseFile } from '../../../run/config.ts'
import { workspaces } from '../../../run/job-files.ts'
import { storedData } from '../../../run/open-stored.ts'
import { requireDatabase } from '../../../store/sqlite/connection/database.ts'
import type { Store } from '../../../store/sqlite/open.ts'
import type { StoredAlert } from '../../../store/sqlite/unattended/alerts.ts'
import type { OutboxMessage } from '../../../store/sqlite/unattended/outbox.ts'
import { deliver, tryChannels } from '../../../unattended/messages/deliver.ts'
import { dayArguments, refuseUnknownJob } from '../../arguments.ts'
import { type Command, chosenWork, sharedFlags, type TypedOptions } from '../../flags.ts'

const works = { list, mute, send, test }

const flags = {
  tag: textOption('mute: alerts on queries with this tag'),
  when: { ...textOption('mute: alerts of this kind of rule, such as drop'), values: alertKinds },
  until: textOption('mute: for how long, such as 7d or 12h, or until which day; 0h ends it'),
  'allow-http': sharedFlags.service['allow-http'],
} satisfies OptionSpecs

type AlertsFlags = TypedOptions<typeof flags> & { readonly what: string; readonly name?: string }

export const alertsCommand = {
  flags,
  words: Object.keys(works),
  exits: [0, 1, 2, 3, 6],
  docs: 'docs/alerts.md',
  examples: [
    ['alerts list', 'what is open, what was over in the last week, and messages that wait'],
    ['alerts mute 4f2a90c1b7d3 --until 7d', 'nothing is sent about it for a week'],
    ['alerts mute acme --tag money --until 7d', 'nothing is sent about a job, a tag, or both'],
    ['alerts mute --when url-changed --until 2026-12-31', 'or about a kind of rule'],
    ['alerts send', 'what waits is tried now, and what was given up once more'],
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
  await using store = await storedData.read(flags)
  if (flags.name !== undefined) await refuseUnknownJob(store, flags.name)
  const known = await knownAlerts(store, flags.name, systemClock.wall())
  await terminal.write(
    flags.json === true
      ? `${JSON.stringify(alertsDocument(known), null, 2)}\n`
      : alertsText(known, terminal.columns),
  )
  return 0
}

/** `rankline alerts mute`: sends nothing about an alert, or about those of a job, a tag or a rule, for a while. */
async function mute(flags: AlertsFlags, terminal: Terminal): Promise<number> {
  const { name = null, until, tag = null, when: rule } = flags
  const when = alertKind(rule)
  if (until === undefined || (name === null && tag === null && when === null))
    throw new UsageError(
      'Name an alert or a job, or give --tag or --when, and for how long: rankline alerts mute ID --until 7d. List them with: rankline alerts list',
    )
  await using changed = await openBesideRuns(flags, terminal)
  const { store } = changed
  const alert = name === null ? null : await store.alert(name)
  if (alert !== null && (tag ?? when) !== null)
    throw new UsageError('One alert has no need of --tag or --when. Leave them out, or name a job')
  if (alert === null && name !== null) await refuseNeither(store, name)
  const job = alert?.job ?? name
  const [last] = job === null ? [] : await store.runs({ job, limit: 1 })
  const now = systemClock.wall()
  const end = mutedUntil(until, now, last?.settings.timezone ?? 'UTC')
  const say = (what: string): void =>
    note(
      terminal,
      sanitize(end <= now ? `No longer muted: ${what}` : `Muted until ${utcMinute(end)} UTC: ${what}`),
    )
  if (alert !== null) {
    await store.muteAlert(alert.id, end)
    say(alert.text)
    return 0
  }
  const open = await store.muteAlerts({ job, tag, when }, end)
  const of = [
    job ?? 'all jobs',
    ...(tag === null ? [] : [`tag ${tag}`]),
    ...(when === null ? [] : [`rule ${when}`]),
  ]
  say(`alerts of ${of.join(', ')} (${count(open, 'alert is', 'alerts are')} open).`)
  return 0
}

async function refuseNeither(store: Store, name: string): Promise<void> {
  if ((await store.jobFile(name)) !== null || (await store.runs({ job: name, limit: 1 })).length > 0) return
  throw new UsageError(`There is no alert and no job '${name}'. List them with: rankline alerts list`)
}

function alertKind(text: string | undefined): AlertKind | null {
  if (text === undefined) return null
  const kind = alertKinds.find((one) => one === text)
  if (kind !== undefined) return kind
  const near = closestMatch(text, alertKinds)
  throw new UsageError(
    `--when cannot be '${text}'; ${near === null ? `write one of ${alertKinds.join(', ')}` : `did you mean ${near}?`}`,
  )
}

/** `rankline alerts send`: tries at once what waits, and anew what was given up. */
async function send(flags: AlertsFlags, terminal: Terminal): Promise<number> {
  const { name } = flags
  await using changed = await openBesideRuns(flags, terminal)
  const { store } = changed
  if (name !== undefined) await refuseUnknownJob(store, name)
  const tried = await store.retryMessages(name ?? null, systemClock.wall())
  await deliver({
    store,
    clock: systemClock,
    outgoing: outgoing(flags.allowHttp === true),
    log: (line) => terminal.log(line, { level: 'warn' }),
  })
  const of = name === undefined ? {} : { job: name }
  const states = ['waiting', 'dead'] as const
  const [waiting = 0, dead = 0] = await Promise.all(
    states.map(async (state) => (await store.messages({ ...of, state })).length),
  )
  const sent = Math.max(0, tried - waiting - dead)
  const left =
    waiting + dead === 0 ? '' : ` ${grouped(waiting)} still wait, and ${grouped(dead)} were given up.`
  await terminal.write(
    flags.json === true
      ? `${JSON.stringify({ tried, sent, waiting, dead }, null, 2)}\n`
      : tried === 0
        ? 'Nothing waits, and nothing was given up.\n'
        : `Sent ${grouped(sent)} of ${count(tried, 'message')}.${left}\n`,
  )
  return waiting + dead === 0 ? 0 : failedExitCode
}

/** Opens the database to change what it says of alerts and messages, also while a run is collecting. */
async function openBesideRuns(flags: AlertsFlags, terminal: Terminal) {
  const database = databaseFile.path(flags)
  requireDatabase(database)
  return await storedData.change(database, { beside: true, log: (line) => note(terminal, line) })
}

/** The instant that `--until` names: so long from now, or the begin of a day in the time zone of the job. */
function mutedUntil(text: string, now: number, timezone: string): number {
  const span = parseDuration(text, 'mhdw')
  if (span !== null) return now + span
  if (/^\d{4}-\d{2}-\d{2}$/.test(text) && dayArguments.isDay(text)) return startOfDay(text, timezone)
  throw new UsageError(
    `--until cannot be '${text}'; write a time such as 7d or 12h, or a day such as 2026-12-31`,
  )
}

const failedExitCode = 3

/** `rankline alerts test`: a sample through one channel, or all. */
async function test(flags: AlertsFlags, terminal: Terminal): Promise<number> {
  const workspace = await workspaces.open('.')
  const tries = await tryChannels(workspace, flags.name, outgoing(flags.allowHttp === true), systemClock)
  const lines = tries.map(({ channel, type, delivered, reason }) => {
    const how = delivered ? 'delivered' : 'not delivered'
    return `${sanitize(channel)} (${type}): ${how}${reason === null ? '' : `: ${sanitize(reason)}`}`
  })
  await terminal.write(flags.json === true ? `${JSON.stringify(tries, null, 2)}\n` : `${lines.join('\n')}\n`)
  return tries.every(({ delivered }) => delivered) ? 0 : failedExitCode
}

/** What `alerts list` shows. */
type KnownAlerts = Awaited<ReturnType<typeof knownAlerts>>

/** Alerts that were over before are no longer listed. */
const lateMs = 7 * dayMs

/**
 * Alerts that are open or were over lately, and messages that were not delivered: those that wait, then those that were given up; the newest
 * first.
 */
async function knownAlerts(store: Store, job: string | undefined, now: number) {
  const of = job === undefined ? {} : { job }
  const [waiting, dead] = [
    await store.messages({ ...of, state: 'waiting' }),
    await store.messages({ ...of, state: 'dead' }),
  ]
  const alerts = await store.listAlerts({ ...of, overSince: now - lateMs })
  return { now, alerts, messages: [...waiting, ...dead] }
}

/** The document of `alerts list --json`. Instants are ISO 8601. */
function alertsDocument({ now, alerts, messages }: KnownAlerts) {
  return {
    alerts: alerts.map((alert) => ({
      id: alert.id,
      job: alert.job,
      when: alert.when,
      state: alert.state,
      query: alert.query,
      target: alert.target,
      before: alert.before,
      now: alert.now,
      text: alert.text,
      opened_at: instant(alert.openedAt),
      opened_run: alert.openedRun,
      over_at: instant(alert.overAt),
      muted_until: isMuted(alert, now) ? instant(alert.mutedUntil) : null,
    })),
    messages: messages.map((message) => ({
      id: message.id,
      channel: message.channel,
      kind: message.kind,
      job: message.job,
      run: message.runId,
      state: message.state,
      attempts: message.attempts,
      created_at: instant(message.createdAt),
      next_try_at: message.state === 'waiting' ? instant(message.nextTryAt) : null,
      last_error: message.lastError,
    })),
  }
}

function instant(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}

function isMuted({ mutedUntil }: StoredAlert, now: number): boolean {
  return mutedUntil !== null && mutedUntil > now
}

const alertColumns = [
  { title: 'id' },
  { title: 'job', dropped: true },
  { title: 'when' },
  { title: 'state' },
  { title: 'since (UTC)', dropped: true },
  { title: 'alert', shrinks: true },
] as const

const messageColumns = [
  { title: 'channel' },
  { title: 'message' },
  { title: 'job', dropped: true },
  { title: 'state' },
  { title: 'tries', align: 'right' },
  { title: 'next try (UTC)', dropped: true },
  { title: 'last error', shrinks: true },
] as const

/** The same as tables. */
function alertsText({ now, alerts, messages }: KnownAlerts, width: number): string {
  const parts =
    alerts.length === 0
      ? ['No alert is open, and none was over in the last seven days.\n']
      : [
          formatTable(
            alertColumns,
            alerts.map((alert) => alertCells(alert, now)),
            width,
          ),
        ]
  if (messages.length > 0)
    parts.push(
      'Messages that were not delivered:\n',
      formatTable(messageColumns, messages.map(messageCells), width),
    )
  return parts.join('\n')
}

function alertCells(alert: StoredAlert, now: number): readonly string[] {
  const muted = isMuted(alert, now) ? `, muted to ${utcMinute(alert.mutedUntil ?? now).slice(0, 10)}` : ''
  const since = alert.state === 'over' ? (alert.overAt ?? alert.openedAt) : alert.openedAt
  return [
    alert.id,
    sanitize(alert.job),
    alert.when,
    `${alert.state}${muted}`,
    utcMinute(since),
    sanitize(alert.text),
  ]
}

function messageCells(message: OutboxMessage): readonly string[] {
  return [
    sanitize(message.channel),
    message.kind,
    sanitize(message.job),
    message.state,
    String(message.attempts),
    message.state === 'waiting' ? utcMinute(message.nextTryAt) : '',
    sanitize(message.lastError ?? ''),
  ]
}
