import type { FinishReason, StopCause } from '../../model/run.ts'
import { type AlertKind, type AlertNews, type AlertRule, ruleIdentity } from '../../model/settings/alert.ts'
import { count, firstNames } from '../../model/text.ts'
import { dayMs } from '../../model/time.ts'
import type { CauseAlert, CauseChanges } from '../../store/sqlite/unattended/alerts.ts'
import type { NewMessage } from '../../store/sqlite/unattended/outbox.ts'
import type { StoppedJob } from '../../store/sqlite/unattended/schema.ts'
import { alertId } from './judgement.ts'
import { isCoverageLow, type RunHealth, readAccount } from './run-rules.ts'

/*
 * What stops several jobs is one alert of all of them: it begins with the first job that is stopped and is over when none is any
 * more. Each channel is told once of either, in a message that names the jobs.
 *
 *   cause          a job is stopped                        it goes on
 *   file           its file, or a CSV file, has mistakes   its files have none
 *   workspace      `rankline.yaml` has mistakes            the same
 *   settings       nothing can be called with them         it is run
 *   key … disk     its run stopped for that                a run of it did not
 *   account        what a rule says of the whole account   any job says that it is not so
 */

/** What stops jobs. */
export interface Cause {
  readonly kind: 'file' | 'workspace' | 'settings' | RunCause | 'account'
  /** The file, or what the rule says; empty where the kind says it. */
  readonly place: string
  /** What happened and what to do, for people. */
  readonly text: string
  /** As which kind of alert it is told. */
  readonly when: AlertKind
  /** What is now, as alerts say it: the kind, or a number of the account. */
  readonly now: number | string | null
}

/** What stops the runs of all jobs, one after the other. */
type RunCause = 'key' | 'credit' | 'quota' | 'service' | 'disk'

/** Causes that keep runs from beginning. */
const beforeRuns: ReadonlySet<string> = new Set(['file', 'workspace', 'settings'])

/** The cause for which a run stopped; null where it stopped for itself, or did not. */
export function causeOfRun(reason: FinishReason, isDisk: boolean): RunCause | null {
  switch (reason) {
    case 'auth':
      return 'key'
    case 'balance':
      return 'credit'
    case 'quota':
      return 'quota'
    case 'unavailable':
      return isDisk ? 'disk' : 'service'
    default:
      return null
  }
}

/** What is said where the process that knew more is gone. */
const stoppedText: Readonly<Record<RunCause, string>> = {
  key: 'The service refused the key. Check RANKLINE_API_KEY',
  credit: 'The balance covers no more. Top up',
  quota: 'The quota is used up',
  service: 'The service was not available',
  disk: 'The disk was not available',
}

function overText(kind: Exclude<Cause['kind'], 'account'>, place: string): string {
  switch (kind) {
    case 'file':
    case 'workspace':
      return `${place} has no mistakes any more`
    case 'settings':
      return 'The settings can be used'
    case 'key':
      return 'The service takes the key'
    case 'credit':
      return 'The balance covers calls again'
    case 'quota':
      return 'The quota covers calls again'
    case 'service':
      return 'The service answers again'
    case 'disk':
      return 'The disk can be written again'
  }
}

/** A job, and who is told of what stops it. */
type ToldJob = Pick<StoppedJob, 'job' | 'folder' | 'channels'>

/** What one job says of causes. */
interface JobCauses {
  /** Causes that stop it, each with those who are told. */
  readonly stopped: readonly { readonly cause: Cause; readonly told: ToldJob }[]
  /** How another cause than those ends for it; null where it may go on. */
  readonly freed: Freed
  readonly job: string
}

type Freed = (cause: Pick<Cause, 'kind' | 'place'>) => Pick<Cause, 'text' | 'now'> | null

/** A job that did not come back for so long is not waited for: it may have been given up. */
const longestMs = 2 * dayMs

function causeIdentity({ kind, place }: Pick<Cause, 'kind' | 'place'>): string {
  return JSON.stringify(['cause', kind, place])
}

function causeOf(identity: string): Pick<Cause, 'kind' | 'place'> {
  const [, kind, place] = JSON.parse(identity) as readonly [string, Cause['kind'], string]
  return { kind, place }
}

/** A job, with its rules and the channels of its folder. */
type JobToTell = ToldJob & { readonly rules: readonly AlertRule[] }

/** What the end of a run says of causes. */
export function causesOfRun(
  about: JobToTell,
  health: RunHealth,
  stop: Pick<StopCause, 'reason' | 'message' | 'source'> | null,
): JobCauses {
  const { finishReason, tasks } = health
  const kind = causeOfRun(finishReason, stop?.source === 'disk')
  const isConcerned = (rule: AlertRule): boolean =>
    rule.when === 'run-failed' ||
    (rule.when === 'run-skipped' && kind === 'key' && tasks.done === 0) ||
    (rule.when === 'coverage' && isCoverageLow(rule, health))
  const stopping = about.rules.filter(isConcerned)
  const text = stop !== null && stop.reason === finishReason ? stop.message : null
  const ofRun =
    kind === null || stopping.length === 0
      ? []
      : [
          {
            cause: {
              kind,
              place: '',
              text: text ?? stoppedText[kind],
              now: finishReason,
              when:
                stopping.find(({ when }) => when === 'run-failed')?.when ?? (stopping[0] as AlertRule).when,
            },
            told: toldJob(about, stopping),
          },
        ]
  const readings = about.rules.flatMap((rule) => {
    const reading = readAccount(rule, health)
    return reading === null ? [] : [{ rule, ...reading, place: ruleIdentity(rule) }]
  })
  const low = readings.filter(({ isBad }) => isBad)
  const isCut = finishReason === 'interrupted' || finishReason === 'crashed'
  return {
    job: about.job,
    stopped: [
      ...ofRun,
      ...low.map(({ rule, text, now, place }) => ({
        cause: { kind: 'account' as const, place, text, now, when: rule.when },
        told: toldJob(about, [rule]),
      })),
    ],
    freed: ({ kind, place }) => {
      if (kind === 'account') return readings.find((one) => one.place === place && !one.isBad) ?? null
      return isCut && !beforeRuns.has(kind) ? null : { text: overText(kind, place), now: finishReason }
    },
  }
}

/** What a job says that could not run, or can: null is that nothing keeps it from running. */
export function causesOfStart(about: JobToTell, cause: Cause | null): JobCauses {
  const rules = about.rules.filter(({ when }) => when === 'run-skipped')
  return {
    job: about.job,
    stopped: cause === null || rules.length === 0 ? [] : [{ cause, told: toldJob(about, rules) }],
    // One thing that is in the way does not show that another is not.
    freed: ({ kind, place }) =>
      cause === null && kind !== 'account' && beforeRuns.has(kind)
        ? { text: overText(kind, place), now: null }
        : null,
  }
}

function toldJob({ job, folder, channels }: JobToTell, rules: readonly AlertRule[]): ToldJob {
  return { job, folder, channels: [...new Set(rules.flatMap(({ to }) => to ?? channels))] }
}

/** What changes with what one job says. */
export function changeCauses(
  { stopped, freed, job }: JobCauses,
  {
    open,
    muted,
    now,
  }: {
    readonly open: readonly CauseAlert[]
    /** Until when identities are muted; one that is not muted is missing. */
    readonly muted: ReadonlyMap<string, number>
    readonly now: number
  },
): CauseChanges {
  const joined = new Map(stopped.map((one) => [causeIdentity(one.cause), one]))
  const alerts: CauseAlert[] = []
  const messages: NewMessage[] = []
  for (const alert of open) {
    if (joined.has(alert.identity)) continue
    const cause = causeOf(alert.identity)
    const isForAll = cause.kind === 'account'
    const isConcerned = isForAll || alert.stopped.some((one) => one.job === job && one.isStopped)
    const ending = isConcerned ? freed(cause) : null
    if (ending === null) continue
    const rest = alert.stopped.map((one) =>
      one.job === job || isForAll || now - one.at > longestMs ? { ...one, isStopped: false } : one,
    )
    const isOver = rest.every(({ isStopped }) => !isStopped)
    const text = `${ending.text}${isForAll ? '' : namesText('At work again', rest)}`
    const over = { state: 'over' as const, overAt: now, before: alert.now, now: ending.now, text }
    const changed: CauseAlert = { ...alert, stopped: rest, ...(isOver ? over : {}) }
    alerts.push(changed)
    if (isOver && alert.told && !muted.has(alert.identity)) messages.push(...messagesAbout(changed, rest))
  }
  const known = new Map(open.map((alert) => [alert.identity, alert]))
  for (const [identity, { cause, told }] of joined) {
    const before = known.get(identity)
    const mine: StoppedJob = { ...told, at: now, isStopped: true }
    const others = before?.stopped.filter((one) => one.job !== told.job) ?? []
    const all = [...others, mine].sort((a, b) => (a.job < b.job ? -1 : 1))
    const isMuted = muted.has(identity)
    const doing = beforeRuns.has(cause.kind) ? 'Not run' : 'Stopped'
    const text = `${sentence(cause.text)}${cause.kind === 'account' ? '' : namesText(doing, all)}`
    const alert: CauseAlert = before
      ? { ...before, stopped: all, text, told: before.told || !isMuted }
      : {
          id: alertId(identity, now),
          identity,
          job: told.job,
          when: cause.when,
          state: 'open',
          query: null,
          target: null,
          openedAt: now,
          openedRun: null,
          overAt: null,
          before: null,
          now: cause.now,
          text,
          mutedUntil: muted.get(identity) ?? null,
          told: !isMuted,
          stopped: all,
        }
    alerts.push(alert)
    const telling = all.filter((one) => one.isStopped)
    if (!isMuted) messages.push(...messagesAbout(alert, telling, mine))
  }
  return { alerts, messages }
}

/** One message for each folder and channel: to those of one job, or of all. */
function messagesAbout(
  alert: CauseAlert,
  jobs: readonly StoppedJob[],
  only: StoppedJob | null = null,
): readonly NewMessage[] {
  const places = new Map(
    (only === null ? jobs : [only]).flatMap(({ folder, channels }) =>
      channels.map((channel) => [JSON.stringify([folder, channel]), { folder, channel }] as const),
    ),
  )
  return [...places.values()].map(({ folder, channel }) => {
    const told = jobs.filter((one) => one.folder === folder && one.channels.includes(channel))
    const names = told.map(({ job }) => job)
    const job = names[0] ?? alert.job
    const { id, when, state, query, target, before, now, text } = alert
    const news: AlertNews = { id, when, state, query, target, before, now, text, jobs: names }
    return {
      identity: `cause:${id}:${state}:${folder}:${channel}`,
      kind: 'alerts' as const,
      channel,
      job,
      runId: null,
      message: { job, run: null, alerts: [news] },
    }
  })
}

function sentence(text: string): string {
  const [first = '', ...others] = text.split('\n')
  const more = others.length === 0 ? '' : ` (and ${count(others.length, 'more line')})`
  const said = first.replace(/^Stopped: (.)/, (_, letter: string) => letter.toUpperCase())
  return `${said.replace(/\.$/, '')}${more}`
}

function namesText(what: string, jobs: readonly StoppedJob[]): string {
  return `. ${what}: ${firstNames(jobs.map(({ job }) => job))}`
}
