import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FinishReason } from '../../src/model/run.ts'
import type { AlertNews } from '../../src/model/settings.ts'
import { hourMs } from '../../src/model/time.ts'
import type { ExpectedNews } from '../support/expected-alerts.ts'
import { type Received, type ScheduledHistory, scheduled, type Told } from '../support/scheduled-year.ts'
import {
  expectedDigests,
  expectedEnds,
  expectedNews,
  expectedRuns,
  jobs as jobsOfYear,
  receiverDown,
  year,
} from '../support/year-script.ts'

interface Happened {
  readonly job: string
  /** Of which it is the last run; null where it is not. */
  readonly slot: string | null
  readonly reason: FinishReason
  readonly done: number
  readonly failed: number
  readonly credits: number
  readonly started: string
}

describe('a year of a scheduler in five zones', { timeout: 3_600_000 }, () => {
  const expected = expectedRuns
  let history: ScheduledHistory
  let happened: readonly Happened[]
  beforeAll(async () => {
    history = await scheduled(year)
    happened = history.sql<Happened>(`
      SELECT r.job, strftime('%Y-%m-%dT%H:%M:%S.000Z', s.slot_at / 1000, 'unixepoch') AS slot,
        r.finish_reason AS reason, r.tasks_done AS done, r.tasks_failed AS failed, r.credits_spent AS credits,
        r.started_at AS started
      FROM runs r LEFT JOIN slots s ON r.run_id = s.run_id ORDER BY r.started_at, r.job`)
  }, 3_600_000)
  afterAll(() => history?.[Symbol.asyncDispose]())

  test('every slot is run, at its time, once after downtime, and again on a later day where something stopped it', () => {
    const begin = (job: string, at: number, slot: string | null) => `${minuteOf(at)} ${job} ${slot}`
    expect(happened.map(({ job, started, slot }) => begin(job, Date.parse(started), slot))).toEqual(
      expected.map(({ job, at, slot, isReplaced }) => begin(job, at, isReplaced ? null : slot)),
    )
    expect(history.sql("SELECT count(*) AS n FROM slots WHERE outcome IS NOT 'ran'")).toEqual([{ n: 0 }])
    const replaced = expected.filter(({ isReplaced }) => isReplaced)
    expect(new Set(replaced.map(({ reason }) => reason))).toEqual(new Set(['unavailable', 'auth', 'balance']))
  })

  test('each run ends as its day has it: outage, expired key, empty balance, and all others complete', () => {
    const end = ({ job, reason, done }: Pick<Happened, 'job' | 'reason' | 'done'>) => [job, reason, done]
    expect(happened.map(end)).toEqual(expected.map(end))
    const reasons = new Set(happened.map(({ reason }) => reason))
    expect(reasons).toEqual(new Set(['completed', 'unavailable', 'auth', 'balance']))
    const continued = new Set(expected.map((one) => one.continued?.stoppedBy))
    expect(continued).toEqual(new Set([undefined, 'unavailable', 'auth', 'balance']))
    for (const { credits, done } of happened) expect(credits).toBe(done)
    expect(history.charged).toBe(expected.reduce((sum, { done }) => sum + done, 0))
  })

  test('on the days on which clocks are changed each job runs once', () => {
    const slotsOn = (job: string, day: string): readonly string[] =>
      happened.flatMap((one) =>
        one.job === job && one.slot?.startsWith(day) ? [one.slot.slice(11, 16)] : [],
      )
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
    const observed = history.sql<{ job: string; n: number; unknown: number; started: string }>(`
      SELECT r.job, r.started_at AS started, count(*) AS n, sum(k.state = 'unknown') AS unknown
      FROM rankings k JOIN runs r ON r.run_id = k.run_id GROUP BY r.run_id ORDER BY r.started_at, r.job`)
    const known = (rows: readonly { job: string; started: string; n: number; unknown: number }[]) =>
      rows.map(({ job, started, n, unknown }) => [job, started, n - unknown])
    expect(known(observed).filter(([, , n]) => n !== 0)).toEqual(
      happened.flatMap(({ job, started, done }) => (done === 0 ? [] : [[job, started, done]])),
    )
  })

  test('what went wrong was said, as often as it did, and nothing else was', () => {
    const said = (pattern: RegExp): number => history.lines.filter((line) => pattern.test(line)).length
    const ended = (reason: FinishReason): number => expectedEnds.filter((one) => one.reason === reason).length
    expect(said(/: completed, /)).toBe(ended('completed'))
    expect(said(/: stopped, the key was refused/)).toBe(ended('auth'))
    expect(said(/: stopped, the balance covers no more/)).toBe(ended('balance'))
    expect(said(/: stopped, the service or the disk is not available/)).toBeGreaterThanOrEqual(
      ended('unavailable'),
    )
    expect(said(/berlin\.yaml:14:1: unknown key 'depht'/)).toBe(1)
    expect(said(/berlin\.yaml has mistakes: its job runs as it was before/)).toBe(1)
    expect(said(/berlin\.yaml has no mistakes any more\./)).toBe(1)
    expect(said(/internal error|crash/)).toBe(0)
  })

  test('each alert is told once when it begins and once when it is over, when the script has it', () => {
    const lineOf = (at: number, { job, when, state, query, jobs = [] }: Omit<ExpectedNews, 'at'>): string =>
      [minuteOf(at), job, when, state, query, ...jobs].join(' ')
    const told = alertsOf(history.told).map(({ at, news }) => lineOf(at, news))
    expect(told.sort()).toEqual(expectedNews.map((news) => lineOf(news.at, news)).sort())
    const ranks = ['drop', 'gain', 'left', 'lost']
    expect(new Set(expectedNews.map(({ when }) => when))).toEqual(
      new Set(['run-failed', 'coverage', 'balance', ...ranks]),
    )
    expect(expectedNews.some(({ jobs = [] }) => jobs.length === Object.keys(jobsOfYear).length)).toBe(true)
    const states = new Map<string, string>()
    for (const { news } of alertsOf(history.told))
      states.set(news.id, `${states.get(news.id) ?? ''}${news.state} `)
    expect(new Set(states.values())).toEqual(new Set(['open ', 'open over ']))
  })

  test('the figures of each week are told once at their time, also where clocks are changed', () => {
    const digests = history.told.filter(({ type }) => type === 'rankline.digest')
    const told = digests.map(({ timestamp, data: { job } }) => `${minuteOf(Date.parse(timestamp))} ${job}`)
    expect(told.sort()).toEqual(expectedDigests.map(({ job, at }) => `${minuteOf(at)} ${job}`).sort())
    // 02:45 does not exist, 02:15 lies in a gap of half an hour, and 01:15 comes twice.
    for (const line of ['2026-03-29T01:00 berlin', '2026-10-03T15:30 lord-howe', '2026-11-01T05:15 new-york'])
      expect(told).toContain(line)
  })

  test('while the receiver is down nothing is lost, and what waits too long is given up after ten tries', () => {
    const tries = new Map<string, Received[]>()
    for (const one of history.received) tries.set(one.id, [...(tries.get(one.id) ?? []), one])
    const isGivenUp = (createdAt: number): boolean =>
      receiverDown.some(
        ([down, up]) => createdAt >= Date.parse(down) && createdAt + 80 * hourMs < Date.parse(up),
      )
    for (const all of tries.values()) {
      const [first] = all as [Received]
      const statuses = all.map(({ status }) => status)
      const givenUp = isGivenUp(Date.parse(first.told.timestamp))
      const refused = statuses.filter((status) => status === 503).length
      // The same message on every try, and none after it was taken.
      expect(new Set(all.map(({ told }) => JSON.stringify(told))).size).toBe(1)
      expect(statuses).toEqual([...Array(refused).fill(503), ...(givenUp ? [] : [200])])
      if (givenUp) expect(refused).toBe(10)
      else expect(refused).toBeLessThan(10)
    }
    const sorted = (some: readonly Told[]) =>
      some.map(({ type, timestamp, data }) => JSON.stringify({ type, timestamp, data })).sort()
    expect(sorted([...tries.values()].map(([first]) => (first as Received).told))).toEqual(
      sorted(history.told),
    )
    const dead = [...tries.values()].filter((all) => all.at(-1)?.status === 503).length
    expect(dead).toBeGreaterThan(0)
    expect(history.sql('SELECT state, count(*) AS n FROM outbox GROUP BY state ORDER BY state')).toEqual([
      { state: 'dead', n: dead },
      { state: 'sent', n: 2 * history.told.length - dead },
    ])
  })
})

/** An alert, and the others that tell of the same event. */
function withAlso(news: AlertNews): readonly AlertNews[] {
  return [news, ...(news.also ?? []).map((other) => ({ ...news, ...other }))]
}

/** Single alerts of messages, each with the instant at which it was put in. */
function alertsOf(told: readonly Told[]) {
  return told.flatMap((message) =>
    message.type === 'rankline.alerts'
      ? message.data.alerts.flatMap(withAlso).map((news) => ({
          at: Date.parse(message.timestamp),
          news: { ...news, job: message.data.job },
        }))
      : [],
  )
}

/** An instant (epoch ms) to the minute. */
function minuteOf(instant: number): string {
  return new Date(instant).toISOString().slice(0, 16)
}
