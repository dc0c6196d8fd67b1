import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addDays } from '../../src/model/time.ts'
import { type Calendar, type CalendarEntry, calendar, type ReportRow } from '../support/calendar.ts'

const sites = ['northdesk.example', 'risewell.example', 'sitless.example']
const texts = ['standing desk', 'walnut desk', 'desk riser', 'monitor arm']

const job = `name: year
timezone: America/New_York
params: { gl: us, hl: en }
depth: 50
targets: [northdesk.example]
competitors: [risewell.example, sitless.example]
queries: [${texts.join(', ')}]
`

const noon = (day: string): CalendarEntry => ({ at: `${day}T16:00:00Z` })
const depth = (results: number, entry: CalendarEntry): CalendarEntry => ({
  ...entry,
  flags: { depth: String(results) },
})

/** Every Monday of the year; in summer only 30 results deep. */
const mondays = Array.from({ length: 52 }, (_, week) => addDays('2026-01-05', 7 * week)).map((day) =>
  day >= '2026-07-06' && day < '2026-08-03' ? depth(30, noon(day)) : noon(day),
)

const special: readonly CalendarEntry[] = [
  // Half an hour before local midnight; the 8th of March has 23 hours.
  { at: '2026-03-07T04:30:00Z' },
  { at: '2026-03-08T04:30:00Z' },
  { at: '2026-03-09T03:30:00Z' },
  { at: '2026-03-11T03:30:00Z' },
  // Page 2 of one query fails, then that of none.
  { ...noon('2026-04-14'), rules: [{ query: 'standing desk', after: 1, do: { status: 400 } }] },
  { ...noon('2026-04-15'), rules: [{ query: 'standing desk', do: { status: 400 } }] },
  noon('2026-04-16'),
  depth(10, noon('2026-05-12')),
  noon('2026-05-13'),
  // Nothing on the 10th of June.
  noon('2026-06-09'),
  noon('2026-06-11'),
  // In depth in the morning, and once more, shallow, in the evening.
  { at: '2026-09-16T13:00:00Z' },
  depth(10, { at: '2026-09-16T22:00:00Z' }),
  noon('2026-09-17'),
  // A fixed hour of UTC, half an hour after local midnight, until the clocks change: the 1st of November has 25 hours.
  { at: '2026-10-31T04:30:00Z' },
  { at: '2026-11-01T04:30:00Z' },
  { at: '2026-11-02T04:30:00Z' },
]

const entries = [...mondays, ...special].toSorted((a, b) => (a.at < b.at ? -1 : 1))

interface Observation {
  readonly date: string
  readonly run: number
  readonly key: string
  readonly state: string
  readonly rank: number | null
  readonly depth: number
}

const keyOf = ({ query, target }: ReportRow): string => `${query} ${target}`

describe('a year', { timeout: 60_000 }, () => {
  let year: Calendar
  let seen: readonly Observation[]
  let days: readonly string[]
  beforeAll(async () => {
    year = await calendar(job, sites)
    for (const entry of entries) await year.run(entry)
    seen = year.sql<Observation>(
      `SELECT date, run_id AS run, query || ' ' || target AS key, state, rank, unbroken_depth AS depth
      FROM rankings ORDER BY date, run_id`,
    )
    days = [...new Set(seen.map(({ date }) => date))]
  }, 120_000)
  afterAll(() => year[Symbol.asyncDispose]())

  const reports = new Map<string, readonly ReportRow[]>()
  async function reportOf(date: string): Promise<readonly ReportRow[]> {
    const rows = reports.get(date) ?? (await year.report({ date }))
    reports.set(date, rows)
    return rows
  }
  /** Rows of the report as of a day, by query and target. */
  async function asOf(date: string, flags?: Parameters<Calendar['report']>[0]) {
    const rows = await (flags === undefined ? reportOf(date) : year.report({ date, ...flags }))
    return new Map(rows.map((row) => [keyOf(row), row]))
  }
  const on = (date: string): readonly Observation[] => seen.filter((one) => one.date === date)
  const deepOn = (date: string, from: number): readonly string[] =>
    on(date).flatMap(({ key, rank }) => (rank !== null && rank > from ? [key] : []))

  test('is reported on every day that it was run, all of it, and on no other', async () => {
    expect(year.sql('SELECT finish_reason FROM runs WHERE finish_reason IS NULL')).toEqual([])
    expect(days.length).toBe(52 + special.length - 2)
    for (const day of days) {
      const rows = await reportOf(day)
      expect(rows, day).toHaveLength(texts.length * sites.length)
      expect(new Set(rows.map(({ date }) => date))).toEqual(new Set([day]))
    }
  })

  test('no row says more than a run of its day observed, and each is compared with the known day before', async () => {
    for (const day of days)
      for (const row of await reportOf(day)) {
        const runs = on(day).filter(({ key }) => key === keyOf(row))
        expect(runs).toContainEqual(
          expect.objectContaining({ run: row.run_id, state: row.state, rank: row.rank }),
        )
        expect(row.rank === null).toBe(row.state !== 'ranked')
        const known = seen.filter(
          ({ key, date, state }) => key === keyOf(row) && date < day && state !== 'unknown',
        )
        expect(row.previous_date).toBe(known.at(-1)?.date ?? null)
        const both = row.rank !== null && row.previous_rank !== null
        expect(row.change).toBe(both ? Number(row.previous_rank) - Number(row.rank) : null)
        const ranks = seen.flatMap(({ key, date, rank }) =>
          key === keyOf(row) && date <= day && rank !== null ? [rank] : [],
        )
        expect(row.best_rank).toBe(ranks.length === 0 ? null : Math.min(...ranks))
      }
  })

  test('a failed fetch is unknown, and never the rank of the day before', async () => {
    const before = await asOf('2026-04-13')
    const [half, none] = [await asOf('2026-04-14'), await asOf('2026-04-15')]
    for (const site of sites) {
      const key = `standing desk ${site}`
      const { state, rank } = before.get(key) as ReportRow
      expect(none.get(key)).toMatchObject({ state: 'unknown', rank: null, change: null, movement: 'unknown' })
      if (half.get(key)?.state === 'ranked') continue
      const last = { previous_date: '2026-04-13', previous_state: state, previous_rank: rank }
      expect(half.get(key)).toMatchObject({ state: 'unknown', rank: null, depth: 10, ...last })
    }
    expect([...half.values()].filter(({ state }) => state === 'unknown').length).toBeGreaterThan(0)
    const after = await asOf('2026-04-16')
    expect(after.get(`standing desk ${sites[0]}`)?.previous_date).not.toBe('2026-04-15')
  })

  test('a shallow day takes nobody out whom it could not have seen', async () => {
    const deep = deepOn('2026-05-11', 10)
    expect(deep.length).toBeGreaterThan(0)
    const [shallow, after] = [await asOf('2026-05-12'), await asOf('2026-05-13')]
    const gone = deep.filter((key) => shallow.get(key)?.state === 'absent')
    expect(gone.length).toBeGreaterThan(0)
    for (const key of gone) {
      expect(shallow.get(key)).toMatchObject({ depth: 10, rank: null, movement: 'unknown', change: null })
      if (Number(after.get(key)?.rank) > 10)
        expect(after.get(key)).toMatchObject({ previous_date: '2026-05-12', movement: 'unknown' })
      expect((await asOf('2026-05-13', { compare: '2d', tolerance: '0d' })).get(key)).toMatchObject({
        previous_date: '2026-05-11',
        movement: expect.not.stringMatching('unknown'),
      })
    }
  })

  test('after a missed day the day before it is compared with, and nothing is made up for it', async () => {
    for (const row of (await asOf('2026-06-11')).values()) expect(row.previous_date).toBe('2026-06-09')
    for (const row of (await asOf('2026-06-10')).values()) expect(row.date).toBe('2026-06-09')
    for (const row of (await asOf('2026-06-11', { compare: '1d' })).values())
      expect(row.previous_date).toBe('2026-06-09')
    for (const row of (await asOf('2026-06-11', { compare: '2026-06-10', tolerance: '0d' })).values())
      expect(row).toMatchObject({
        previous_date: null,
        previous_rank: null,
        change: null,
        movement: 'unknown',
      })
  })

  test('another depth is compared as far as both looked', async () => {
    for (const [day, before] of [
      ['2026-07-06', '2026-06-29'],
      ['2026-08-03', '2026-07-27'],
    ] as const) {
      const rows = [...(await asOf(day)).values()]
      for (const row of rows) {
        expect(row.previous_date).toBe(before)
        const rank = Number(row.rank ?? row.previous_rank ?? 0)
        const seenByBoth = row.state === row.previous_state || rank <= 30
        expect(row.movement === 'unknown', `${day} ${keyOf(row)}`).toBe(!seenByBoth)
      }
      expect(rows.filter(({ movement }) => movement === 'unknown').length, day).toBeGreaterThan(0)
    }
  })

  test('of two runs on one day a later, shallow look does not hide what an earlier one saw further down', async () => {
    const twice = on('2026-09-16')
    expect(twice).toHaveLength(2 * texts.length * sites.length)
    const [morning, evening] = [
      Math.min(...twice.map(({ run }) => run)),
      Math.max(...twice.map(({ run }) => run)),
    ]
    const hidden = deepOn('2026-09-16', 10).filter((key) =>
      twice.some((one) => one.key === key && one.run === evening && one.state === 'absent'),
    )
    expect(hidden.length).toBeGreaterThan(0)
    const rows = await asOf('2026-09-16')
    for (const [key, row] of rows)
      expect(row.run_id, key).toBe(hidden.includes(key) ? morning : row.rank === null ? morning : evening)
    for (const row of (await asOf('2026-09-17')).values()) expect(row.previous_date).toBe('2026-09-16')
  })

  test('the days on which the clocks change are one day each', async () => {
    expect(days.filter((day) => day > '2026-03-05' && day < '2026-03-12')).toEqual([
      ...['2026-03-06', '2026-03-07', '2026-03-08', '2026-03-09', '2026-03-10'],
    ])
    expect(days.filter((day) => day > '2026-10-30' && day < '2026-11-04')).toEqual([
      ...['2026-10-31', '2026-11-01', '2026-11-02'],
    ])
    const runs = year.sql<{ at: string }>(
      "SELECT started_at AS at FROM runs WHERE date = '2026-11-01' ORDER BY run_id",
    )
    expect(runs.map(({ at }) => at.slice(0, 16))).toEqual(['2026-11-01T04:30', '2026-11-02T04:30'])
    for (const [day, before] of [
      ['2026-03-08', '2026-03-07'],
      ['2026-03-09', '2026-03-08'],
      ['2026-11-01', '2026-10-31'],
      ['2026-11-02', '2026-11-01'],
    ] as const)
      for (const row of (await asOf(day)).values()) expect(row.previous_date).toBe(before)
    for (const row of (await asOf('2026-03-09', { compare: '2d', tolerance: '0d' })).values())
      expect(row.previous_date).toBe('2026-03-07')
  })

  test('is compared with a year, a month and a week ago', async () => {
    for (const [compare, date] of [
      ['51w', '2026-01-05'],
      ['4w', '2026-11-30'],
      ['7d', '2026-12-21'],
      ['2026-11-01', '2026-11-01'],
      ['2026-12-23', '2026-12-21'],
      ['2026-12-25', '2026-12-21'],
    ] as const)
      for (const row of (await asOf('2026-12-28', { compare, tolerance: '4d' })).values())
        expect(row.previous_date, compare).toBe(date)
  })
})

test('after a change of the time zone no run is compared with one made after it', async () => {
  await using zones = await calendar(job.replace('America/New_York', 'Asia/Tokyo'), sites)
  await zones.run({ at: '2026-03-09T16:00:00Z' })
  await zones.run({ at: '2026-03-10T16:00:00Z' })
  // An hour later, and by its own clock the day before.
  await zones.run({ at: '2026-03-10T17:00:00Z', flags: { timezone: 'UTC' } })
  const dates = zones.sql<{ date: string }>('SELECT date FROM runs_ ORDER BY id').map(({ date }) => date)
  expect(dates).toEqual(['2026-03-10', '2026-03-11', '2026-03-10'])
  for (const row of await zones.report())
    expect(row).toMatchObject({ date: '2026-03-10', previous_date: null, run_id: 3 })
  await zones.run({ at: '2026-03-12T17:00:00Z', flags: { timezone: 'UTC' } })
  for (const row of await zones.report())
    expect(row).toMatchObject({ date: '2026-03-12', previous_date: '2026-03-10', run_id: 4 })
})
