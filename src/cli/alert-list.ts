import { dayMs, utcMinute } from '../model/time.ts'
import { formatTable } from '../output/table.ts'
import { sanitize } from '../output/terminal.ts'
import type { StoredAlert } from '../store/alerts.ts'
import type { OutboxMessage } from '../store/outbox.ts'
import type { Store } from '../store/store.ts'

/** What `alerts list` shows. */
interface KnownAlerts {
  readonly now: number
  readonly alerts: readonly StoredAlert[]
  /** Those that wait, then those that were given up; the newest first. */
  readonly messages: readonly OutboxMessage[]
}

/** Alerts that were over before are no longer listed. */
const lateMs = 7 * dayMs

/** Alerts that are open or were over lately, and messages that were not delivered. */
export async function knownAlerts(store: Store, job: string | undefined, now: number): Promise<KnownAlerts> {
  const of = job === undefined ? {} : { job }
  const [waiting, dead] = [
    await store.messages({ ...of, state: 'waiting' }),
    await store.messages({ ...of, state: 'dead' }),
  ]
  const alerts = await store.listAlerts({ ...of, overSince: now - lateMs })
  return { now, alerts, messages: [...waiting, ...dead] }
}

/** The document of `alerts list --json`. Instants are ISO 8601. */
export function alertsDocument({ now, alerts, messages }: KnownAlerts) {
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
export function alertsText({ now, alerts, messages }: KnownAlerts, width: number): string {
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
