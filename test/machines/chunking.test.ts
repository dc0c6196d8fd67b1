import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chunkSize, chunksOf, planParts } from '../../src/machines/coordinator.ts'
import type { NewChunk } from '../../src/machines/journal.ts'
import type { PlannedQuery } from '../../src/model/query.ts'
import type { Store } from '../../src/store/sqlite/open.ts'
import type { PlannedRow } from '../../src/store/sqlite/planning/planned.ts'
import { aJob } from '../run/build.ts'
import { aQuery, aStore, plan } from '../store/build.ts'
import { aRun } from '../support/tasks.ts'
import { testTable } from '../support/test-table.ts'

testTable([
  [1, 30],
  [1_200, 30],
  [1_201, 31],
  [3_000, 75],
  [4_000, 100],
  [1_000_000, 100],
])('a run of %i queries has chunks of %i', (queries, size) => {
  expect(chunkSize(queries)).toBe(size)
})

/** A store with these open queries, the most urgent first, as a plan of a run lays them. */
function storeOf(rows: readonly PlannedRow[]): Store {
  const seen = { found: 'before' }
  const sorted = rows.toSorted((a, b) => b.query.priority - a.query.priority || a.taskId - b.taskId)
  return {
    openQueries: async (_: number, after: PlannedRow | null, most: number) => {
      const from = after === null ? 0 : sorted.findIndex(({ taskId }) => taskId === after.taskId) + 1
      return sorted.slice(from, from + most)
    },
    storedQuery: (_: number, queryId: number) => ({
      targets: [
        { id: 1, site: `${queryId}.example`, match: 'domain', also: [] },
        { id: 2, site: 'never-seen.example', match: 'domain', also: [] },
      ],
      history: () => new Map([[1, seen]]),
    }),
  } as unknown as Store
}

async function chunked(
  options: Partial<Parameters<typeof chunksOf>[0]> & { readonly rows: readonly PlannedRow[] },
) {
  const { rows, ...given } = options
  const chunks: NewChunk[] = []
  for await (const chunk of chunksOf({
    ...{
      store: storeOf(rows),
      run: aRun(),
      limitedTags: [],
      taken: new Set<string>(),
      openQueries: rows.length,
    },
    ...given,
  }))
    chunks.push(chunk)
  return chunks
}

const rowOf = (query: PlannedQuery, number: number, settledPages = 0): PlannedRow => ({
  ...{ taskId: number, queryId: number, settledPages },
  query,
})
const keyOf = ({ key }: Pick<PlannedQuery, 'key'>): string => key.toString('hex')
const limitedTags = ['brand', 'shop']

test('Whatever is open: nothing is lost or doubled, and a chunk has one priority, one set of limited tags and credits for its pages', async () => {
  const query = fc.record({
    priority: fc.nat(2),
    tags: fc.subarray(['brand', 'shop', 'other']),
    pages: fc.integer({ min: 1, max: 4 }),
    settled: fc.nat(4),
    isTaken: fc.boolean(),
  })
  await fc.assert(
    // More than the store answers at once.
    fc.asyncProperty(fc.array(query, { maxLength: 1_300, size: 'max' }), async (drawn) => {
      const queries = drawn.map(({ priority, tags, pages }, index) =>
        aQuery({ text: `query ${index}`, priority, tags, pages }),
      )
      const rows = queries.map((one, index) => rowOf(one, index + 1, drawn[index]?.settled))
      const free = queries.filter((_, index) => drawn[index]?.isTaken === false)
      const taken = new Set(queries.filter((_, index) => drawn[index]?.isTaken === true).map(keyOf))
      const chunks = await chunked({ rows, taken, limitedTags })
      const given = chunks.flatMap((chunk) => chunk.queries)
      expect(given.map(keyOf).sort()).toEqual(free.map(keyOf).sort())
      expect(taken.size).toBe(queries.length)
      const priorities = chunks.map(({ priority }) => priority)
      expect(priorities).toEqual(priorities.toSorted((a, b) => b - a))
      const settled = new Map(rows.map((row) => [keyOf(row.query), row.settledPages]))
      for (const { queries, priority, tags, mostCredits, leastCredits } of chunks) {
        expect(queries.length).toBeLessThanOrEqual(chunkSize(rows.length))
        for (const one of queries) {
          expect(one.priority).toBe(priority)
          expect(limitedTags.filter((tag) => one.tags.includes(tag))).toEqual(tags)
          expect(one.history).toEqual([])
        }
        const pages = (one: PlannedQuery) => Math.max(1, one.pages - (settled.get(keyOf(one)) ?? 0))
        expect(mostCredits).toBe(queries.reduce((sum, one) => sum + one.credits * pages(one), 0))
        expect(leastCredits).toBe(Math.min(...queries.map(({ credits }) => credits)))
      }
      // Chunks that are not full are the last of their kind.
      const kinds = chunks
        .filter(({ queries }) => queries.length < chunkSize(rows.length))
        .map(({ priority, tags }) => `${priority} ${tags}`)
      expect(new Set(kinds).size).toBe(kinds.length)
    }),
    { numRuns: 12 },
  )
})

testTable([
  ['smart', ['7.example']],
  ['until-found', []],
  ['all', []],
] as const)('paging %s: queries come with what earlier runs saw of %j', async (paging, sites) => {
  const rows = [rowOf(aQuery({ text: 'desk' }), 7)]
  const [chunk] = await chunked({ rows, run: aRun({ settings: aJob({ paging }) }) })
  const history = chunk?.queries[0]?.history ?? []
  expect(history.map(({ target }) => target.site)).toEqual(sites)
})

test('The plan of a run in a database has all of its queries in the order of the file, and its chunks those that are open', async () => {
  const { store } = await aStore()
  const texts = Array.from({ length: 620 }, (_, index) => `query ${index}`)
  const queries = texts.map((text, index) => ({ text, priority: index % 3 }))
  const run = await plan(store, { queries })
  const parts: string[] = []
  for await (const part of planParts(store, run)) parts.push(...part.queries.map(({ text }) => text))
  expect(parts).toEqual(texts)
  const chunks: NewChunk[] = []
  const options = { store, run, limitedTags: [], taken: new Set<string>(), openQueries: texts.length }
  for await (const chunk of chunksOf(options)) chunks.push(chunk)
  const bought = chunks.flatMap((chunk) => chunk.queries.map(({ text }) => text))
  const urgentFirst = [2, 1, 0].flatMap((priority) => texts.filter((_, index) => index % 3 === priority))
  expect(bought).toEqual(urgentFirst)
})
