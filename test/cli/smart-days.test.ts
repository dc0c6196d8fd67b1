import { beforeAll, describe, expect, test } from 'vitest'
import { addDays } from '../../src/report/days.ts'
import { type Calendar, calendar } from '../support/calendar.ts'

const sites = ['northdesk.example', 'risewell.example']
const things = ['desk', 'chair', 'lamp', 'shelf', 'mat', 'riser']
const texts = ['oak', 'walnut', 'small'].flatMap((kind) => things.map((thing) => `${kind} ${thing}`))
const job = (paging: string) => `name: year
params: { gl: us }
depth: 60
paging: ${paging}
targets: [risewell.example]
queries: [${texts.join(', ')}]
`
const days = Array.from({ length: 8 }, (_, index) => addDays('2026-03-02', index))

interface Row {
  readonly date: string
  readonly query: string
  readonly state: string
  readonly rank: number | null
  readonly exactness: string | null
  readonly page: number | null
  readonly unbroken: number
}

const rowsOf = ({ sql }: Calendar) =>
  sql<Row>(
    `SELECT date, query, state, rank, exactness, page, unbroken_depth AS unbroken FROM rankings
    ORDER BY query, date`,
  )

describe('days of smart paging against the sandbox', { timeout: 60_000 }, () => {
  let smart: readonly Row[]
  let all: readonly Row[]
  const asked = new Map<string, readonly number[]>()

  beforeAll(async () => {
    await using one = await calendar(job('smart'), sites)
    await using other = await calendar(job('all'), sites)
    for (const date of days) {
      const at = `${date}T06:00:00Z`
      await one.run({ at })
      for (const [query, pages] of one.asked()) asked.set(`${query} ${date}`, pages)
      await other.run({ at })
    }
    smart = rowsOf(one)
    all = rowsOf(other)
  }, 60_000)

  const pagesOf = ({ query, date }: Row) => asked.get(`${query} ${date}`) ?? []
  /** Page on which it ranked last before a day. */
  const lastPage = ({ query, date }: Row) =>
    smart.findLast((row) => row.query === query && row.date < date && row.page !== null)?.page ?? null

  test('every look begins with the first page, and asks for no page twice', () => {
    expect(smart).toHaveLength(texts.length * days.length)
    for (const row of smart) {
      expect(pagesOf(row)[0]).toBe(1)
      expect(new Set(pagesOf(row)).size).toBe(pagesOf(row).length)
    }
  })

  test('what the first page does not show is looked for on the page where it was, and then around it', () => {
    const further = smart.filter((row) => pagesOf(row).length > 1 && lastPage(row) !== null)
    const jumps = further.filter((row) => (lastPage(row) ?? 0) > 2)
    expect(jumps.length).toBeGreaterThan(5)
    for (const row of further) {
      const page = lastPage(row) ?? 0
      const [, ...rest] = pagesOf(row)
      const distances = rest.map((one) => Math.abs(one - page))
      expect(distances).toEqual(distances.toSorted((a, b) => a - b))
      if (page > 1) expect(rest[0]).toBe(page)
    }
  })

  test('what is said exactly is what every page shows, and nothing within the first ten is missed', () => {
    for (const [index, row] of smart.entries()) {
      const truth = all[index] as Row
      expect(row).toMatchObject({ query: truth.query, date: truth.date })
      if (row.exactness === 'exact' && row.rank !== null) expect(row.rank).toBe(truth.rank)
      if (truth.rank !== null && truth.rank <= 10) expect(row.rank).toBe(truth.rank)
      if (row.exactness === 'exact' && row.rank === null)
        expect(truth.rank === null || truth.rank > row.unbroken).toBe(true)
    }
    expect(new Set(all.map(({ state }) => state))).toEqual(new Set(['ranked', 'absent']))
  })

  test('fewer pages are bought', () => {
    const bought = [...asked.values()].flat().length
    expect(bought).toBeLessThan((6 * texts.length * days.length) / 2)
  })
})
