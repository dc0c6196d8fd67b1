import { expect, test } from 'vitest'
import { groupedBy } from '../../../src/model/text.ts'
import { importedHistory as drawn } from '../../../src/report/requests/imported.ts'

const keyword = (query: string, params = {}, kind = 'organic') => ({
  query,
  operation: 'alpha.search',
  kind: kind as 'organic',
  params,
  tags: [],
  volume: null,
  url: null,
  labels: {},
})
const target = (site: string) => ({ label: site, site, match: 'domain' as const, also: [], own: true })

let series = 0
const ranks = (query: string, days: Readonly<Record<number, number>>, more: object = {}) => {
  series += 1
  const number = series
  return Object.entries(days).map(([day, rank]) => ({
    query,
    gl: null,
    hl: null,
    location: null,
    device: null,
    engine: null,
    series: number,
    target: 'acme.com',
    ruler: 'organic' as const,
    source: 'serpbear',
    ...more,
    day: Number(day),
    rank,
    depth: null,
  }))
}

type Observation = ReturnType<typeof ranks>[number]

/** What is drawn where the store has these observations. */
function importedHistory(
  history: Parameters<typeof drawn>[0],
  all: readonly (Omit<Observation, 'rank' | 'depth'> & { rank: number | null; depth: number | null })[],
) {
  const bySeries = groupedBy(all, ({ series }) => series)
  const series = [...bySeries].map(([id, [one, ...others]]) => ({
    ...(one as Observation),
    id,
    first: (one as Observation).day,
    last: (others.at(-1) ?? (one as Observation)).day,
  }))
  return drawn(history, series, (id, { from, until, start, step }) =>
    (bySeries.get(id) ?? [])
      .filter(({ day }) => day >= from && day <= until)
      .map((one) => ({ ...one, point: Math.floor((one.day - start) / step) })),
  )
}

test('each keyword and target has the ranks of its own market, and of what is nearest to a measured rank', () => {
  const found = importedHistory(
    {
      keywords: [
        keyword('desk', { gl: 'us' }),
        keyword('desk', { gl: 'de' }),
        keyword('desk', { gl: 'us' }, 'news'),
      ],
      targets: [target('www.Acme.com/'), target('rival.com')],
    },
    [
      ...ranks('desk', { 20000: 9, 20002: 8 }, { gl: 'us', ruler: 'all' }),
      ...ranks('desk', { 20000: 4 }, { gl: 'us', device: 'mobile' }),
      ...ranks('desk', { 20000: 2, 20001: 3 }, { gl: 'us', device: 'desktop' }),
      ...ranks('desk', { 20001: 5 }, { gl: 'us', location: 'Austin' }),
      ...ranks('desk', { 20000: 1 }, { gl: 'us', target: 'other.com' }),
    ],
  )
  expect(found).toEqual({
    sources: ['serpbear'],
    countsAll: false,
    days: ['2024-10-04', '2024-10-05'],
    lines: [{ keyword: 0, target: 0, cells: [2, 3] }],
  })
})

test('what was looked for and not found is no gap, and says how far down that was where the file says it', () => {
  const absent = (day: number, depth: number | null) =>
    ranks('desk', { [day]: 0 }).map((one) => ({ ...one, series: 99, rank: null, depth }))
  const found = importedHistory({ keywords: [keyword('desk')], targets: [target('acme.com')] }, [
    ...absent(20_000, 100),
    ...absent(20_002, null),
  ])
  expect(found?.lines[0]?.cells).toEqual([-101, null, -1])
})

test('a long span has three hundred points at most, each with its last rank; without ranks there is nothing', () => {
  const days = Object.fromEntries(Array.from({ length: 1_100 }, (_, day) => [19_000 + day, 1 + (day % 100)]))
  const found = importedHistory(
    { keywords: [keyword('desk')], targets: [target('acme.com')] },
    ranks('desk', days, { ruler: 'all' }),
  )
  expect(found?.countsAll).toBe(true)
  expect(found?.days.length).toBeLessThanOrEqual(300)
  expect(found?.lines[0]?.cells.slice(0, 2)).toEqual([4, 8])
  expect(importedHistory({ keywords: [keyword('desk')], targets: [target('acme.com')] }, [])).toBeNull()
})

test('files of several imports are one line, and another way of counting alike goes on with it where it ends', () => {
  const found = importedHistory(
    { keywords: [keyword('desk', { gl: 'us' })], targets: [target('acme.com')] },
    [
      ...ranks('desk', { 20002: 3, 20003: 4 }, { gl: 'us', device: 'desktop' }),
      ...ranks('desk', { 20000: 1, 20002: 9 }, { gl: 'us', device: 'desktop' }),
      ...ranks('desk', { 20001: 9, 20004: 5 }),
      ...ranks('desk', { 20006: 9 }, { gl: 'us', ruler: 'all' }),
      ...ranks('desk', { 20006: 9 }, { gl: 'us', device: 'mobile' }),
    ],
  )
  expect(found?.lines).toEqual([{ keyword: 0, target: 0, cells: [1, null, 3, 4, 5] }])
})

test('a keyword has the ranks of its text in another case, and none of another engine', () => {
  const found = importedHistory({ keywords: [keyword('büro desk')], targets: [target('acme.com')] }, [
    ...['bing', 'Microsoft Bing', 'search.yahoo.com', 'm.baidu', 'bing_us', 'Brave Search'].flatMap(
      (engine) => ranks('BÜRO Desk', { 20000: 9 }, { engine }),
    ),
    ...ranks('Büro desk', { 20001: 3 }, { engine: 'google.com/basket' }),
    ...ranks('Büro desk', { 20000: 2 }, { engine: 'google' }),
  ])
  expect(found?.lines).toEqual([{ keyword: 0, target: 0, cells: [2, 3] }])
})
