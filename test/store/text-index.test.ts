import { expect, test } from 'vitest'
import type { Result } from '../../src/model/result.ts'
import { inspect } from '../../src/store/sqlite/connection/database.ts'
import { backUp } from '../../src/store/sqlite/maintenance/backup.ts'
import { checkDatabase } from '../../src/store/sqlite/maintenance/check.ts'
import { dropOldResults, shrink, sweep } from '../../src/store/sqlite/maintenance/prune.ts'
import { openReader, type Store } from '../../src/store/sqlite/open.ts'
import { buildTextIndex, dropTextIndex, textIndex } from '../../src/store/sqlite/rankings/text-index.ts'
import { aResult } from '../catalog/results.ts'
import { understood, work } from './answers.ts'
import { aStore, hour, noon, plan } from './build.ts'

const day = 24 * hour
const build = (path: string, alone = true) => buildTextIndex(path, { alone, progress: () => {} })

/** A run in which each query shows results with these titles. */
async function ran(store: Store, titles: Readonly<Record<string, string>>, at = noon, job = 'acme') {
  const run = await plan(store, {
    job: { name: job },
    queries: Object.keys(titles).map((text) => ({ text })),
    date: new Date(at).toISOString().slice(0, 10),
  })
  const results = (text: string): readonly Result[] =>
    (titles[text] ?? '').split(', ').map((title, index) =>
      aResult('organic', {
        position: index + 1,
        title,
        snippet: `About ${title}`,
        link: `https://${title.replaceAll(' ', '-')}.example/`,
      }),
    )
  await work(store, run, ({ text }) => understood(results(text), { aiMarkdown: `Answer on ${text}` }), at)
  await store.finishRun(run.id, 'completed', at + hour)
}

const found = (store: Pick<Store, 'foundTexts'>, words: string, job: string | null = null) =>
  [...store.foundTexts({ items: `{title snippet} : ${words}`, links: words, texts: words }, job)].map(
    ({ query, date, kind, rank, title, text }) =>
      `${query} ${date.slice(5)} ${kind} ${rank ?? '-'} ${title ?? text}`,
  )

test('what queries showed is found by its words, each result once with its newest day, and AI answers', async () => {
  const { store, path } = await aStore()
  await ran(store, { a: 'oak desk, lamp', b: 'oak desk' })
  await ran(store, { a: 'lamp, oak desk' }, noon + day)
  await ran(store, { c: 'oak desk' }, noon + 2 * day, 'else')
  const { indexed, bytes } = await build(path)
  expect(indexed).toBe(2 + 2 + 3)
  expect(bytes).toBeGreaterThan(0)
  await using reader = await openReader(path)
  expect(reader.textIndex()).toEqual({ exists: true, missing: 0 })
  expect(found(reader, '"OAK"')).toEqual([
    'c 03-03 organic 1 oak desk',
    'a 03-02 organic 2 oak desk',
    'b 03-01 organic 1 oak desk',
  ])
  expect(found(reader, '"oak"', 'else')).toEqual(['c 03-03 organic 1 oak desk'])
  expect(found(reader, '"answer" AND "b"')).toEqual(['b 03-01 ai - Answer on b'])
  expect(found(reader, '"lamp.example"')).toEqual(['a 03-02 organic 1 lamp'])
  expect(found(reader, '"chair"')).toEqual([])
})

test('the index says that it lacks what came since, and takes that in alone', async () => {
  const { store, path } = await aStore()
  await ran(store, { a: 'oak desk' })
  expect(store.textIndex()).toEqual({ exists: false, missing: 1 })
  await build(path)
  await ran(store, { a: 'oak desk, lamp', b: 'chair' }, noon + day)
  expect(store.textIndex()).toEqual({ exists: true, missing: 2 })
  expect(found(store, '"chair"')).toEqual([])
  const { indexed, missing } = await build(path, false)
  expect([indexed, missing]).toEqual([3 + 3 + 2, 0])
  expect(found(store, '"chair"')).toEqual(['b 03-02 organic 1 chair'])
  expect((await build(path)).indexed).toBe(indexed)
})

test('what it is said to take is not less than it takes: the first time, for a few more, for many', async () => {
  const { store, path } = await aStore()
  const many = (word: string, n: number) =>
    Array.from({ length: n }, (_, index) => `${word} ${index} of ${n}, eiche tisch ${index}`).join(', ')
  const told = async (titles: Readonly<Record<string, string>>, at: number) => {
    await ran(store, titles, at)
    const before = await inspect(path, (db) => textIndex(db).state())
    const { bytes } = await build(path)
    return { said: before.missingBytes, took: bytes - before.bytes }
  }
  for (const [index, titles] of [
    { a: 'oak desk' },
    { a: many('lamp', 40) },
    { b: many('机と椅子', 60) },
    { c: many('stool', 300), d: many('https://bench.example', 300) },
  ].entries()) {
    const { said, took } = await told(titles, noon + index * day)
    expect(said).toBeGreaterThanOrEqual(took)
    expect(said).toBeLessThan(2 * took + 100_000)
  }
})

test('what retention drops leaves the index: its numbers are given again, and then mean what is new', async () => {
  const { store, path } = await aStore()
  await ran(store, { b: 'lamp' }, noon + 10 * day)
  await ran(store, { a: 'oak desk, chair' }, noon)
  await build(path)
  await dropOldResults(path, { before: noon + day, now: noon + 10 * day })
  await sweep(path)
  expect((await checkDatabase(path)).findings).toEqual([])
  expect(found(store, '"oak"')).toEqual([])
  expect(found(store, '"lamp"')).toEqual(['b 03-11 organic 1 lamp'])
  await using later = await openReader(path)
  expect(later.textIndex().missing).toBe(0)

  await using _ = store
  await ran(store, { c: 'stool, bench' }, noon + 11 * day)
  expect(store.textIndex().missing).toBe(2)
  await build(path)
  expect(found(store, '"oak"')).toEqual([])
  expect(found(store, '"bench"')).toEqual(['c 03-12 organic 2 bench'])
})

test('a copy and a rewritten file have it; a check sees words of what is gone; dropped, nothing is left of it', async () => {
  const { store, path, sql, exec } = await aStore()
  await ran(store, { a: 'oak desk' })
  await build(path)
  await store[Symbol.asyncDispose]()
  await shrink(path)
  await backUp(path, `${path}.copy`)
  await using copy = await openReader(`${path}.copy`)
  expect(found(copy, '"oak"')).toEqual(['a 03-01 organic 1 oak desk'])
  expect((await checkDatabase(path)).findings).toEqual([])

  exec(`INSERT INTO words_of_items (rowid, title) VALUES (99, 'gone')`)
  expect((await checkDatabase(path)).findings).toEqual([
    { what: 'Words in the index of what is not stored any more', count: 1, first: 'row 99' },
  ])
  expect(await dropTextIndex(path)).toBeGreaterThan(0)
  expect(sql(`SELECT name FROM sqlite_schema WHERE name LIKE 'words%'`)).toEqual([])
  expect(await dropTextIndex(path)).toBe(0)
})
