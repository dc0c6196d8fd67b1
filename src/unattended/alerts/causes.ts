import { createHash } from 'node:crypto'
import { coverageOf, type FinishReason, type StopCause, type Suspicion, suspicions } from '../../model/run.ts'
import { type AlertKind, type AlertNews, type AlertRule, ruleIdentity } from '../../model/settings.ts'
import { count, firstNames, grouped } from '../../model/text.ts'
import { dayMs } from '../../model/time.ts'
import type { CauseAlert } from '../../store/sqlite/unattended/alerts.ts'
import type { NewMessage } from '../../store/sqlite/unattended/outbox.ts'
import type { StoppedJob } from '../../store/sqlite/unattended/schema.ts'
import type { OpenAlert, RuleVerdict } from './query-rules.ts'

/** How a run went as a whole. Null is not known: then nothing begins and nothing is over. */
export interface RunHealth {
  readonly finishReason: FinishReason
  /** It stopped for a cause that stops other jobs, too: one alert tells of all of them. */
  readonly hasCause: boolean
  readonly tasks: { readonly planned: number; readonly done: number; readonly failed: number }
  /** Answers that repeat a different query than asked. */
  readonly mismatched: number
  /** Credits that the service counted and no call explains. */
  readonly unexplained: number | null
  /** Credits. */
  readonly balance: number | null
  /** Days that the balance lasts at the recent spending. */
  readonly daysLeft: number | null
}

/*
 * How a run went as a whole. What is not known begins nothing and ends nothing.
 *
 *   rule               begins                                     is over
 *   coverage, N        fewer than N % of its tasks are done       N % or more
 *   run-failed         it stopped, or tasks failed                completed
 *   run-skipped        the job could not run                      any run of the job
 *   balance, N         fewer than N credits are left              N or more
 *   days-left, N       the balance lasts fewer than N days        N or more
 *   unexplained        the service counted other credits          they agree
 *   suspect            answers repeat a different query           none does
 *
 * Where a run stopped for a cause that stops other jobs, too, its job says nothing of it: `causes` tells it of all of them. So it
 * does of what is said of the whole account.
 */

type HealthKind = Extract<AlertKind, 'coverage' | 'run-failed' | 'run-skipped' | 'suspect'>

/** What is said of the whole account, whatever job says it. */
type AccountKind = Extract<AlertKind, 'balance' | 'days-left' | 'unexplained'>

/** What a run says of a kind; null where that is not known. */
type HealthReader = (
  health: RunHealth,
  below: number,
) => {
  readonly isBad: boolean
  readonly now: number | string | null
  /** A predicate of the job; a sentence where it is said of the account. */
  readonly text: string
} | null

const readings: Readonly<Record<HealthKind, HealthReader>> = {
  coverage: ({ tasks, hasCause }, below) => {
    const coverage = coverageOf(tasks)
    if (coverage === null || hasCause) return null
    const percent = Math.floor(coverage * 1000) / 10
    const text = `answered ${percent} % of its tasks (${grouped(tasks.done)} of ${grouped(tasks.planned)}); the limit is ${below} %`
    return { isBad: coverage * 100 < below, now: percent, text }
  },
  'run-failed': ({ finishReason, hasCause, tasks: { failed } }) => {
    if (hasCause) return null
    if (finishReason === 'completed') return { isBad: false, now: finishReason, text: 'completed its run' }
    const stopped = finishReason === 'completed_with_failures' ? '' : ` (${finishReason})`
    const failures = failed === 0 ? '' : `: ${count(failed, 'task')} failed`
    return { isBad: true, now: finishReason, text: `did not complete its run${stopped}${failures}` }
  },
  'run-skipped': ({ finishReason, hasCause }) =>
    hasCause ? null : { isBad: false, now: finishReason, text: 'ran again' },
  suspect: ({ mismatched }) => ({
    isBad: mismatched > 0,
    now: mismatched,
    text:
      mismatched === 0
        ? 'got answers to its own queries only'
        : `got ${count(mismatched, 'answer')} to a different query than asked`,
  }),
}

const accountReadings: Readonly<Record<AccountKind, HealthReader>> = {
  balance: ({ balance }, below) =>
    balance === null
      ? null
      : {
          isBad: balance < below,
          now: balance,
          text: `The balance is ${count(balance, 'credit')}; the limit is ${grouped(below)}`,
        },
  'days-left': ({ daysLeft }, below) => {
    if (daysLeft === null) return null
    const days = Math.floor(daysLeft)
    const text = `The balance lasts ${count(days, 'day')}; the limit is ${grouped(below)}`
    return { isBad: daysLeft < below, now: days, text }
  },
  unexplained: ({ unexplained }) =>
    unexplained === null
      ? null
      : {
          isBad: unexplained !== 0,
          now: unexplained,
          text:
            unexplained === 0
              ? 'The service counts the credits that the calls explain'
              : `The service counted ${count(Math.abs(unexplained), 'credit')} ${unexplained > 0 ? 'more' : 'fewer'} than the calls explain`,
        },
}

/** What a rule on the account says, in a sentence; null where that is not known. */
function readAccount({ when, below }: AlertRule, health: RunHealth): ReturnType<HealthReader> {
  return when in accountReadings ? accountReadings[when as AccountKind](health, below ?? 0) : null
}

/** Whether fewer tasks of a run are done than a rule on coverage allows. */
function isCoverageLow({ below }: AlertRule, { tasks }: RunHealth): boolean {
  return (coverageOf(tasks) ?? 1) * 100 < (below ?? 0)
}

/** What a rule on runs as a whole says of one; null where nothing begins and nothing is over. */
function judgeHealth(
  { when, below }: AlertRule,
  { job, health }: { readonly job: string; readonly health: RunHealth },
  open: OpenAlert | null,
): RuleVerdict | null {
  const reading = readings[when as HealthKind](health, below ?? 0)
  if (reading === null || reading.isBad === (open !== null)) return null
  const { now, text } = reading
  return reading.isBad
    ? { state: 'open', before: null, now, text: `${job} ${text}` }
    : { state: 'over', before: open?.now ?? null, now, text: `${job} ${text}` }
}

/** What `run-skipped` says where a job could not run at its time; null where that has begun already. */
function judgeSkipped(job: string, reason: string, open: OpenAlert | null): RuleVerdict | null {
  if (open !== null) return null
  const [first, ...others] = reason.split('\n')
  const more = others.length === 0 ? '' : ` (and ${count(others.length, 'more line')})`
  return { state: 'open', before: null, now: null, text: `${job} could not run: ${first}${more}` }
}

/*
 * A run that is suspect as a whole: most of its ranks are gone at once, or many queries got one list. That is one alert in place of
 * all that the rules on queries would say of it, and its observations are left out when later runs are judged: the next one says what
 * is true.
 *
 *   open  suspect  the run ended
 *   -     x        -               begins; nothing else is told of its queries
 *   x     x        -               goes on; the same
 *   x     -        x               over; its queries are judged against what was before
 */

/** Rules that watch how a run went, or what was spent, and no queries. */
const ofRuns: readonly AlertKind[] = [
  'coverage',
  'run-failed',
  'run-skipped',
  'balance',
  'days-left',
  'unexplained',
]

/** The rule that tells of a suspect run, to whom the others tell of queries; null where none does. */
function wholeRunRule(rules: readonly AlertRule[]): AlertRule | null {
  const watching = rules.filter(({ when }) => !ofRuns.includes(when))
  if (watching.length === 0) return null
  const channels = watching.flatMap(({ to }) => to ?? [])
  return {
    when: 'suspect',
    by: null,
    top: null,
    below: null,
    for: { tags: null, targets: null },
    confirm: 1,
    to: watching.some(({ to }) => to === null) ? null : [...new Set(channels)],
  }
}

/** What is told of a suspect run; null where nothing begins and nothing is over. */
function judgeWholeRun(
  {
    job,
    suspicion,
    hasEnded,
  }: { readonly job: string; readonly suspicion: Suspicion | null; readonly hasEnded: boolean },
  open: OpenAlert | null,
): RuleVerdict | null {
  if (suspicion === null)
    return open === null || !hasEnded
      ? null
      : {
          state: 'over',
          before: open.now,
          now: null,
          text: `${job} is no longer suspect: its last run was judged as usual`,
        }
  if (open !== null) return null
  const { ranked, gone, alike } = suspicion
  return {
    state: 'open',
    before: gone === 0 ? null : ranked,
    now: gone === 0 ? alike : ranked - gone,
    text: `Check before you tell anyone: ${job} is suspect, ${suspicions.text(suspicion)}`,
  }
}

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
function causeOfRun(reason: FinishReason, isDisk: boolean): RunCause | null {
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
  readonly freed: (cause: Pick<Cause, 'kind' | 'place'>) => Pick<Cause, 'text' | 'now'> | null
  readonly job: string
}

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
function causesOfRun(
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
function causesOfStart(about: JobToTell, cause: Cause | null): JobCauses {
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
function changeCauses(
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
) {
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

/** The id of an alert that begins at an instant. */
export function alertId(identity: string, at: number): string {
  return createHash('sha256').update(`${identity} ${at}`).digest('hex').slice(0, 12)
}

/** What rules on runs as a whole say. */
export const runRules = {
  health: judgeHealth,
  skipped: judgeSkipped,
  wholeRun: judgeWholeRun,
  ofWholeRun: wholeRunRule,
  account: readAccount,
}

/** What stops several jobs. */
export const causes = {
  ofReason: causeOfRun,
  ofRun: causesOfRun,
  ofStart: causesOfStart,
  change: changeCauses,
}
