import { expect, test } from 'vitest'
import { aTarget } from '../run/build.ts'
import { webBody, workBodies } from './bodies.ts'
import { aStore, hour, noon, plan } from './build.ts'

const texts = Array.from({ length: 12 }, (_, index) => `desk ${index}`)
/** `a` is the target; other letters differ from query to query, but for those in capitals. */
const letters = 'bcdefghijklm'
const listOf = (wanted: string, query: string): string =>
  [...wanted].map((one) => (one === '?' ? letters[texts.indexOf(query)] : one)).join('')

interface ARun {
  /** The first results of a query; null is an answer that nobody can read. */
  readonly list: (query: string) => string | null
  readonly depth?: number
  readonly queries?: readonly string[]
  readonly year?: number
}

/** What is suspect of the last of several runs, on a day each. */
async function lastOf(runs: readonly ARun[]) {
  const { store } = await aStore()
  const job = { targets: [aTarget('a.example')] }
  for (const [day, { list, depth = 10, queries = texts, year = 2026 }] of runs.entries()) {
    const now = noon + day * 24 * hour
    const asked = queries.map((text) => ({ text, pages: depth / 10 }))
    const run = await plan(store, { job, queries: asked, date: `${year}-03-0${day + 1}`, now })
    await workBodies(
      store,
      run,
      ({ text, page }) => {
        const found = list(text)
        return found === null ? 'no JSON' : webBody(page === 1 ? listOf(found, text) : '')
      },
      now,
    )
    await store.finishRun(run.id, 'completed', now)
  }
  return store.suspicionOf(runs.length)
}

const all = { list: () => '?a' }
const none = { list: () => '?' }

test.each<[string, readonly ARun[], unknown]>([
  ['a first run', [none], null],
  ['where all ranks stay', [all, all], null],
  ['where all ranks are gone', [all, none], { ranked: 12, gone: 12, alike: 0 }],
  ['where no result is left', [all, { list: () => '' }], { ranked: 12, gone: 12, alike: 0 }],
  [
    'where more than half is gone',
    [all, { list: (q) => (q < 'desk 5' ? '?' : '?a') }],
    { ranked: 12, gone: 7, alike: 0 },
  ],
  ['where half is gone', [all, { list: (q) => (q < 'desk 4' ? '?' : '?a') }], null],
  ['where it is gone for the second time', [all, none, none], null],
  [
    'beside the run before that of a wrong clock',
    [all, { ...none, year: 2027 }, none],
    { ranked: 12, gone: 12, alike: 0 },
  ],
  ['where it comes back', [all, none, all], null],
  ['where it failed', [all, { list: () => null }], null],
  ['where it failed in between', [all, { list: () => null }, none], { ranked: 12, gone: 12, alike: 0 }],
  ['where the looks are less deep', [{ list: () => '?NOPQRSTUVWXa', depth: 20 }, none], null],
  ['where less was asked', [all, { ...none, queries: texts.slice(0, 9) }], null],
  ['where all queries got one list', [{ list: () => 'XYZ' }], { ranked: 0, gone: 0, alike: 12 }],
  ['where nine queries got one list', [{ list: (q) => (q < 'desk 7' ? 'XYZ' : '?') }], null],
  ['where the lists begin alike', [{ list: () => 'XYZ?' }], null],
])('a run as a whole is suspect: %s', async (_, runs, expected) => {
  expect(await lastOf(runs)).toEqual(expected)
})
