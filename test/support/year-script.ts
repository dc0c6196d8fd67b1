import type { FinishReason } from '../../src/model/run.ts'
import { localDay } from '../../src/model/time.ts'
import { alertRules, type ExpectedNews, expectedAlerts, type RunEnd } from './expected-alerts.ts'
import type { Incident, ScheduledTime } from './scheduled-year.ts'
import { worldRanks } from './world-ranks.ts'
import { localInstants, type ZoneHours } from './zone-calendar.ts'

// A year of five jobs in five zones, each every day in the small hours, when clocks are changed.

const minuteMs = 60_000

interface Job {
  readonly zone: string
  readonly hours: ZoneHours
  readonly time: string
  /** Weekday and time of its digest: on the days on which clocks are changed some do not exist, and some come twice. */
  readonly digest: readonly [weekday: number, time: string]
}

export const jobs: Readonly<Record<string, Job>> = {
  'new-york': {
    zone: 'America/New_York',
    hours: [
      ['2025-11-02T06:00:00Z', -300],
      ['2026-03-08T07:00:00Z', -240],
      ['2026-11-01T06:00:00Z', -300],
    ],
    time: '01:30',
    digest: [0, '01:15'],
  },
  berlin: {
    zone: 'Europe/Berlin',
    hours: [
      ['2025-10-26T01:00:00Z', 60],
      ['2026-03-29T01:00:00Z', 120],
      ['2026-10-25T01:00:00Z', 60],
    ],
    time: '02:30',
    digest: [0, '02:45'],
  },
  'lord-howe': {
    zone: 'Australia/Lord_Howe',
    hours: [
      ['2025-10-04T15:30:00Z', 660],
      ['2026-04-04T15:00:00Z', 630],
      ['2026-10-03T15:30:00Z', 660],
    ],
    time: '01:45',
    digest: [0, '02:15'],
  },
  tokyo: {
    ...{ zone: 'Asia/Tokyo', hours: [['2025-01-01T00:00:00Z', 540]] },
    ...{ time: '23:30', digest: [1, '08:00'] },
  },
  auckland: {
    zone: 'Pacific/Auckland',
    hours: [
      ['2025-09-27T14:00:00Z', 780],
      ['2026-04-04T14:00:00Z', 720],
      ['2026-09-26T14:00:00Z', 780],
    ],
    time: '02:30',
    digest: [0, '02:10'],
  },
}

const from = '2026-01-01T00:00:00Z'
const until = '2027-01-01T00:00:00Z'
const site = 'northdesk.example'

const queriesOf = (name: string, at: number): readonly string[] =>
  ['desk', 'lamp', ...(name === 'berlin' && at >= Date.parse(broken[1]) ? ['chair'] : [])].map(
    (query) => `${name} ${query}`,
  )

function fileOf(name: string, at: string): string {
  const { zone, time, digest } = jobs[name] as Job
  const [hour, minute] = time.split(':').map(Number)
  return `timezone: ${zone}
schedule: "${minute} ${hour} * * *"
digest: { every: "${['sun', 'mon'][digest[0]]} ${digest[1]}" }
alerts:${alertRules(balanceBelow, toldBy(name))}
targets: [${site}]
queries: [${queriesOf(name, Date.parse(at))}]
`
}

/** A balance below it is told. */
export const balanceBelow = 45

/** Which rule of a job tells of runs that stopped: of one job it is not `run-failed`. */
const toldBy = (name: string): 'run-failed' | 'coverage' => (name === 'tokyo' ? 'coverage' : 'run-failed')

const workspace = `channels:
  log: { type: file, path: told.jsonl }
  hook: { type: webhook, url_env: RECEIVER_URL }
`

const outages = [
  ['2026-03-15T00:00:00Z', '2026-03-15T03:50:00Z'],
  ['2026-03-15T14:00:00Z', '2026-03-15T15:50:00Z'],
] as const
const suspended = ['2026-03-20T00:00:00Z', '2026-03-22T19:00:00Z'] as const
const off = ['2026-04-10T12:00:00Z', '2026-04-13T12:00:00Z'] as const
const withoutKey = ['2026-09-05T00:00:00Z', '2026-09-14T00:00:00Z'] as const
const broken = ['2026-10-09T00:00:00Z', '2026-10-20T00:00:00Z'] as const
// For two days, and for so long that what was told at its beginning is given up.
export const receiverDown = [
  ['2026-03-15T00:00:00Z', '2026-03-16T20:00:00Z'],
  ['2026-11-14T12:00:00Z', '2026-11-19T18:00:00Z'],
] as const
const poor = ['2026-11-11T00:00:00Z', '2026-11-20T00:00:00Z'] as const

const incidents: readonly Incident[] = [
  ...outages.flatMap(([down, up]) => [
    { at: down, sandbox: { rules: [{ do: { status: 503 } }, { operation: 'usage', do: { status: 503 } }] } },
    { at: up, sandbox: { rules: [] } },
  ]),
  { at: suspended[0], suspendedUntil: suspended[1] },
  { at: off[0], offUntil: off[1] },
  { at: withoutKey[0], sandbox: { account: { keyExpires: withoutKey[0] } } },
  { at: withoutKey[1], sandbox: { account: { keyExpires: null } } },
  { at: broken[0], file: 'berlin.yaml', text: `${fileOf('berlin', from)}depht: 3\n` },
  { at: broken[1], file: 'berlin.yaml', text: fileOf('berlin', broken[1]) },
  ...[...receiverDown].flatMap(([down, up]) => [
    { at: down, receiver: 503 },
    { at: up, receiver: 200 },
  ]),
  { at: poor[1], sandbox: { topUp: { subscription: 100_000 } } },
]

/** A run of the year, and what it is to come to. */
export interface Expected {
  readonly job: string
  /** ISO 8601, UTC. */
  readonly slot: string
  /** At last: a run that stopped may be continued. */
  readonly reason: FinishReason
  readonly planned: number
  readonly done: number
  /** When it began, to the minute: later than its slot after downtime, and where an earlier run of the slot was stopped. */
  readonly at: number
  /** When it was continued, and why it had stopped before; null where it was not. */
  readonly continued: { readonly at: number; readonly stoppedBy: FinishReason } | null
  /** Whether a later run took its slot over, on another day. */
  readonly isReplaced: boolean
}

const isWithin = (instant: number, [start, end]: readonly [string, string]): boolean =>
  instant >= Date.parse(start) && instant < Date.parse(end)

/** When something happens that has such times: those that passed while nothing ran are one, the latest, when it runs again. */
function timesOf(instants: readonly number[]): readonly (readonly [slot: number, at: number])[] {
  const downtimes = [['2025-01-01T00:00:00Z', from] as const, suspended, off]
  const missed = downtimes.map((time) => instants.filter((instant) => isWithin(instant, time)))
  const caughtUp = missed.flatMap((some, index) => {
    const last = some.at(-1)
    return last === undefined ? [] : [[last, Date.parse(downtimes[index]?.[1] ?? '')] as const]
  })
  const onTime = instants
    .filter((instant) => !missed.flat().includes(instant) && instant < Date.parse(until))
    .map((instant) => [instant, instant] as const)
  return [...caughtUp, ...onTime].sort((a, b) => a[0] - b[0])
}

const slotsOf = ({ hours, time }: Job) => timesOf(localInstants(hours, time, null))

/** Minutes between two questions whether the service takes calls again, the last one for ever. */
const pauses = [5, 10, 20, 40, 60]

/** A job whose run was stopped. */
interface Stopped {
  readonly run: Expected
  /** Questions that were asked in vain, also those for runs before. */
  readonly asked: number
  readonly askedAt: number
}

/** What is to become of each slot of the year, in the order of time, with so many credits at the beginning. */
function expectations(balance: number): readonly Expected[] {
  let left = balance
  let isToppedUp = false
  const runs: Expected[] = []
  const stopped = new Map<string, Stopped>()
  const replace = (run: Expected, by: Expected): Expected => {
    runs[runs.indexOf(run)] = by
    return by
  }
  /** Why runs are stopped at an instant. */
  const stopAt = (at: number): FinishReason | null => {
    if (!isToppedUp && at >= Date.parse(poor[1])) {
      left += 100_000
      isToppedUp = true
    }
    if (outages.some((time) => isWithin(at, time))) return 'unavailable'
    if (isWithin(at, withoutKey)) return 'auth'
    return left === 0 ? 'balance' : null
  }
  const waits = (run: Expected, at: number, asked: number): void => {
    const pause = pauses[Math.min(asked, pauses.length - 1)] as number
    stopped.set(run.job, { run, asked: asked + 1, askedAt: at + pause * minuteMs })
  }
  const begin = (job: string, slot: string, at: number): void => {
    const planned = queriesOf(job, at).length
    const stop = stopAt(at)
    const done = stop === null ? Math.min(planned, left) : 0
    left -= done
    const reason = stop ?? (done < planned ? 'balance' : 'completed')
    const run: Expected = { job, slot, reason, planned, done, at, continued: null, isReplaced: false }
    runs.push(run)
    const asked = stopped.get(job)?.asked ?? 0
    stopped.delete(job)
    if (reason !== 'completed') waits(run, at, asked)
  }
  /** A run with targets is that of its day: on another one its slot has a new run. */
  const goOn = (run: Expected, at: number): void => {
    const { zone } = jobs[run.job] as Job
    if (localDay(run.at, zone) !== localDay(at, zone)) {
      replace(run, { ...run, isReplaced: true })
      begin(run.job, run.slot, at)
      return
    }
    const missing = run.planned - run.done
    left -= missing
    const continued = { at, stoppedBy: run.reason }
    replace(run, { ...run, reason: 'completed', done: run.planned, continued })
    stopped.delete(run.job)
  }
  /** Asks for all jobs whose question has come, but for one whose slot has; all go on where the service takes calls again. */
  const ask = (at: number, busy: ReadonlySet<string>): void => {
    const waiting = [...stopped.values()].filter(({ run }) => !busy.has(run.job))
    const asking = waiting.filter(({ askedAt }) => askedAt === at)
    if (asking.length === 0) return
    if (stopAt(at) === null) for (const { run } of waiting) goOn(run, at)
    else for (const { run, asked } of asking) waits(run, at, asked)
  }
  const slots = Object.entries(jobs).flatMap(([name, job]) =>
    slotsOf(job).map(([slot, at]) => ({ name, slot: new Date(slot).toISOString(), at })),
  )
  const byTime = slots.sort((a, b) => a.at - b.at || (a.name < b.name ? -1 : 1))
  for (let place = 0; ; ) {
    const next = byTime[place]?.at ?? Date.parse(until)
    const at = Math.min(next, ...[...stopped.values()].map(({ askedAt }) => askedAt))
    if (at >= Date.parse(until)) break
    const now = byTime.filter((slot) => slot.at === at)
    ask(at, new Set(now.map(({ name }) => name)))
    for (const { name, slot } of now) begin(name, slot, at)
    place += now.length
  }
  return runs.sort((a, b) => a.at - b.at || (a.job < b.job ? -1 : 1))
}

/** Credits that cover everything until the instant at which they are to run out, and one more. */
const balance =
  1 +
  expectations(Number.MAX_SAFE_INTEGER)
    .filter(({ at }) => at < Date.parse(poor[0]))
    .reduce((sum, { done }) => sum + done, 0)

export const expectedRuns: readonly Expected[] = expectations(balance)

/** All ends of the runs: one that was continued had ended before. */
function endsOf(runs: readonly Expected[]): readonly RunEnd[] {
  const rankOf = worldRanks(site)
  const ends = runs.flatMap(({ job, at: began, continued, reason, planned, done }) => {
    const at = continued?.at ?? began
    const ranks = new Map(
      queriesOf(job, began)
        .slice(0, done)
        .map((query) => [query, rankOf(query, at)]),
    )
    const last = { job, at, planned, reason, ranks, spent: done }
    if (continued === null) return [last]
    return [{ ...last, at: began, reason: continued.stoppedBy, ranks: new Map(), spent: 0 }, last]
  })
  let left = balance
  let isToppedUp = false
  const sorted = ends.sort((a, b) => a.at - b.at)
  const balances = new Map<number, number>()
  for (const { at, spent } of sorted) {
    if (!isToppedUp && at >= Date.parse(poor[1])) left += 100_000
    isToppedUp ||= at >= Date.parse(poor[1])
    left -= spent
    balances.set(at, left)
  }
  return sorted.map((end) => ({ ...end, balance: balances.get(end.at) ?? 0 }))
}

export const expectedEnds: readonly RunEnd[] = endsOf(expectedRuns)

export const expectedNews: readonly ExpectedNews[] = expectedAlerts(expectedEnds, { balanceBelow, toldBy })

/** When the figures of the week are told of which job. */
export const expectedDigests: readonly { readonly job: string; readonly at: number }[] = Object.entries(jobs)
  .flatMap(([job, { hours, digest }]) => {
    const [weekday, time] = digest
    const instants = localInstants(hours, time, weekday)
    // Before the first run there is no week to tell of.
    const told = timesOf(instants).filter(([slot]) => slot > Date.parse(from))
    return told.map(([, at]) => ({ job, at }))
  })
  .sort((a, b) => a.at - b.at)

export const year: ScheduledTime = {
  ...{ from, until },
  files: {
    'rankline.yaml': workspace,
    ...Object.fromEntries(Object.keys(jobs).map((name) => [`${name}.yaml`, fileOf(name, from)])),
  },
  incidents,
  looks: [...expectedDigests.map(({ at }) => at), Date.parse(suspended[0]) + 30_000].sort((a, b) => a - b),
  sandbox: { sites: [site], account: { subscription: { total: balance } } },
}
