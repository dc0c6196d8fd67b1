import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FinishReason } from '../../src/model/run.ts'
import { localDay } from '../../src/model/time.ts'
import { slotsBetween } from '../../src/schedule/slots.ts'
import { long } from '../support/long.ts'
import { type Incident, type ScheduledHistory, scheduled } from '../support/scheduled-year.ts'

// A year of five jobs in five zones, each early on Sundays (in the long form: every day), when clocks are changed. In the short form
// only the months with incidents have slots.
const days = long ? '* * *' : '* 3,4,9,10,11 0'

interface Job {
  readonly zone: string
  readonly hours: string
}

const jobs: Readonly<Record<string, Job>> = {
  'new-york': { zone: 'America/New_York', hours: '30 1' },
  berlin: { zone: 'Europe/Berlin', hours: '30 2' },
  'lord-howe': { zone: 'Australia/Lord_Howe', hours: '45 1' },
  tokyo: { zone: 'Asia/Tokyo', hours: '30 23' },
  auckland: { zone: 'Pacific/Auckland', hours: '30 2' },
}

const from = '2026-01-01T00:00:00Z'
const until = '2027-01-01T00:00:00Z'

const patternOf = ({ hours }: Job): string => `${hours} ${days}`

function fileOf(name: string, queries = ['desk', 'lamp']): string {
  const { zone, hours } = jobs[name] as Job
  const own = queries.map((query) => `${name} ${query}`)
  return `timezone: ${zone}\nschedule: "${hours} ${days}"\ntargets: [northdesk.example]\nqueries: [${own}]\n`
}

const outages = [
  ['2026-03-15T00:00:00Z', '2026-03-15T04:00:00Z'],
  ['2026-03-15T14:00:00Z', '2026-03-15T16:00:00Z'],
] as const
// It is noticed within six hours, in which no job has a slot.
const suspended = ['2026-03-20T00:00:00Z', '2026-03-22T19:00:00Z'] as const
const off = ['2026-04-10T12:00:00Z', '2026-04-13T12:00:00Z'] as const
const withoutKey = ['2026-09-05T00:00:00Z', '2026-09-14T00:00:00Z'] as const
const broken = ['2026-10-09T00:00:00Z', '2026-10-20T00:00:00Z'] as const
const poor = ['2026-11-11T00:00:00Z', '2026-11-20T00:00:00Z'] as const

const incidents: readonly Incident[] = [
  ...outages.flatMap(([down, up]) => [
    { at: down, sandbox: { rules: [{ do: { status: 503 } }] } },
    { at: up, sandbox: { rules: [] } },
  ]),
  { at: suspended[0], suspendedUntil: suspended[1] },
  { at: off[0], offUntil: off[1] },
  { at: withoutKey[0], sandbox: { account: { keyExpires: withoutKey[0] } } },
  { at: withoutKey[1], sandbox: { account: { keyExpires: null } } },
  { at: broken[0], file: 'berlin.yaml', text: `${fileOf('berlin')}depht: 3\n` },
  { at: broken[1], file: 'berlin.yaml', text: fileOf('berlin', ['desk', 'lamp', 'chair']) },
  { at: poor[1], sandbox: { topUp: { subscription: 100_000 } } },
]

/** What is to become of one slot of a job. */
interface Expected {
  readonly job: string
  /** ISO 8601, UTC. */
  readonly slot: string
  readonly reason: FinishReason
  readonly done: number
  /** When it was run: later than its slot after downtime. */
  readonly at: readonly [earliest: number, latest: number]
}

const hourMs = 3_600_000
const minuteMs = 60_000

const isWithin = (instant: number, [start, end]: readonly [string, string]): boolean =>
  instant >= Date.parse(start) && instant < Date.parse(end)

/** Slots that passed while nothing ran are one: the latest. */
function slotsOf(job: Job): readonly (readonly [slot: number, at: number])[] {
  const slots = [
    ...slotsBetween(patternOf(job), job.zone, Date.parse(from) - 400 * 24 * hourMs, Date.parse(until)),
  ]
  const downtimes = [['2024-01-01T00:00:00Z', from], suspended, off] as const
  const missed = downtimes.map((time) => slots.filter((slot) => isWithin(slot, time)))
  const caughtUp = missed.flatMap((some, index) => {
    const last = some.at(-1)
    return last === undefined ? [] : [[last, Date.parse(downtimes[index]?.[1] ?? '')] as const]
  })
  const onTime = slots.filter((slot) => !missed.flat().includes(slot)).map((slot) => [slot, slot] as const)
  return [...caughtUp, ...onTime].sort((a, b) => a[0] - b[0])
}

/** Minutes after a slot at which a service that was down is tried again. */
const retries = [0, 5, 15, 35, 75, 135, 195, 255]

/** Whether the service is down until the job's day is over: after that the day's ranks cannot be had any more. */
function isOver({ zone }: Job, slot: number): boolean {
  const tries = retries.map((minutes) => slot + minutes * minuteMs)
  return !tries.some(
    (instant) =>
      localDay(instant, zone) === localDay(slot, zone) && !outages.some((time) => isWithin(instant, time)),
  )
}

/** What each slot of the year is to come to, in the order of time, with so many credits at the beginning. */
function expectations(balance: number): readonly Expected[] {
  let left = balance
  let isToppedUp = false
  const all = Object.entries(jobs).flatMap(([name, job]) =>
    slotsOf(job).map(([slot, at]) => ({ name, slot, at })),
  )
  return all
    .sort((a, b) => a.at - b.at || (a.name < b.name ? -1 : 1))
    .map(({ name, slot, at }): Expected => {
      if (!isToppedUp && at >= Date.parse(poor[1])) {
        left += 100_000
        isToppedUp = true
      }
      const queries = name === 'berlin' && at >= Date.parse(broken[1]) ? 3 : 2
      const stop = isWithin(at, withoutKey) ? 'auth' : isOver(jobs[name] as Job, at) ? 'unavailable' : null
      const done = stop === null ? Math.min(queries, left) : 0
      left -= done
      const reason = stop ?? (done < queries ? 'balance' : 'completed')
      const latest = at === Date.parse(suspended[1]) ? at + 6 * hourMs : at
      return { job: name, slot: new Date(slot).toISOString(), reason, done, at: [at, latest + minuteMs] }
    })
}

/** Credits that cover everything until the instant at which they are to run out, and one more. */
const balance =
  1 +
  expectations(Number.MAX_SAFE_INTEGER)
    .filter(({ at }) => at[0] < Date.parse(poor[0]))
    .reduce((sum, { done }) => sum + done, 0)

interface Happened {
  readonly job: string
  readonly slot: string
  readonly reason: FinishReason
  readonly done: number
  readonly failed: number
  readonly credits: number
  readonly started: string
}

describe('a year of a scheduler in five zones', { timeout: 1_200_000 }, () => {
  const expected = expectations(balance)
  let year: ScheduledHistory
  let happened: readonly Happened[]
  beforeAll(async () => {
    year = await scheduled({
      from,
      until,
      files: Object.fromEntries(Object.keys(jobs).map((name) => [`${name}.yaml`, fileOf(name)])),
      incidents,
      sandbox: { sites: ['northdesk.example'], account: { subscription: { total: balance } } },
    })
    happened = year.sql<Happened>(`
      SELECT s.job, strftime('%Y-%m-%dT%H:%M:%S.000Z', s.slot_at / 1000, 'unixepoch') AS slot,
        r.finish_reason AS reason, r.tasks_done AS done, r.tasks_failed AS failed, r.credits_spent AS credits,
        r.started_at AS started
      FROM slots s JOIN runs r ON r.run_id = s.run_id ORDER BY r.started_at, s.job`)
  }, 1_200_000)
  afterAll(() => year?.[Symbol.asyncDispose]())

  test('every slot is run once, at its time, or once after downtime, and none is missed', () => {
    const slot = ({ job, slot }: { job: string; slot: string }): string => `${slot} ${job}`
    expect(happened.map(slot)).toEqual(expected.map(slot))
    expect(year.sql('SELECT count(*) AS n FROM runs')).toEqual([{ n: expected.length }])
    expect(year.sql("SELECT count(*) AS n FROM slots WHERE outcome IS NOT 'ran'")).toEqual([{ n: 0 }])
    for (const [index, { started }] of happened.entries()) {
      const [earliest, latest] = expected[index]?.at ?? [0, 0]
      expect(Date.parse(started), started).toBeGreaterThanOrEqual(earliest)
      expect(Date.parse(started), started).toBeLessThan(latest)
    }
  })

  test('each run ends as its day has it: outage, expired key, empty balance, and all others complete', () => {
    const end = ({ job, reason, done }: Pick<Expected, 'job' | 'reason' | 'done'>) => [job, reason, done]
    expect(happened.map(end)).toEqual(expected.map(end))
    const reasons = new Set(happened.map(({ reason }) => reason))
    expect(reasons).toEqual(new Set(['completed', 'unavailable', 'auth', 'balance']))
    for (const { credits, done } of happened) expect(credits).toBe(done)
    expect(year.charged).toBe(expected.reduce((sum, { done }) => sum + done, 0))
  })

  test('on the days on which clocks are changed each job runs once', () => {
    const slotsOn = (job: string, day: string): readonly string[] =>
      happened.flatMap((one) => (one.job === job && one.slot.startsWith(day) ? [one.slot.slice(11, 16)] : []))
    // 02:30 does not exist: the end of the gap. On the other day it comes twice: the first.
    expect(slotsOn('berlin', '2026-03-29')).toEqual(['01:00'])
    expect(slotsOn('berlin', '2026-10-25')).toEqual(['00:30'])
    expect(slotsOn('new-york', '2026-03-08')).toEqual(['06:30'])
    expect(slotsOn('new-york', '2026-11-01')).toEqual(['05:30'])
    // Half an hour: 01:45 comes twice.
    expect(slotsOn('lord-howe', '2026-04-04')).toEqual(['14:45'])
    expect(slotsOn('auckland', '2026-04-04')).toEqual(['13:30'])
    expect(slotsOn('auckland', '2026-09-26')).toEqual(['14:00'])
  })

  test('coverage is whole on each day whose run completed, and nothing is said of a day that bought nothing', () => {
    const observed = year.sql<{ job: string; n: number; unknown: number; started: string }>(`
      SELECT r.job, r.started_at AS started, count(*) AS n, sum(k.state = 'unknown') AS unknown
      FROM rankings k JOIN runs r ON r.run_id = k.run_id GROUP BY r.run_id ORDER BY r.started_at, r.job`)
    const known = (rows: readonly { job: string; started: string; n: number; unknown: number }[]) =>
      rows.map(({ job, started, n, unknown }) => [job, started, n - unknown])
    expect(known(observed).filter(([, , n]) => n !== 0)).toEqual(
      happened.flatMap(({ job, started, done }) => (done === 0 ? [] : [[job, started, done]])),
    )
  })

  test('what went wrong was said, as often as it did, and nothing else was', () => {
    const said = (pattern: RegExp): number => year.lines.filter((line) => pattern.test(line)).length
    const ended = (reason: FinishReason): number => expected.filter((one) => one.reason === reason).length
    expect(said(/: completed, /)).toBe(ended('completed'))
    expect(said(/: stopped, the key was refused/)).toBe(ended('auth'))
    expect(said(/: stopped, the balance covers no more/)).toBe(ended('balance'))
    expect(said(/: stopped, the service or the disk is not available/)).toBeGreaterThanOrEqual(
      ended('unavailable'),
    )
    expect(said(/berlin\.yaml:5:1: unknown key 'depht'/)).toBe(1)
    expect(said(/berlin\.yaml has mistakes: its job runs as it was before/)).toBe(1)
    expect(said(/berlin\.yaml has no mistakes any more\./)).toBe(1)
    expect(said(/internal error|crash/)).toBe(0)
  })
})
