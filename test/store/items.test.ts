import { hash } from 'node:crypto'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkDatabase } from '../../src/store/sqlite/maintenance/check.ts'
import { sweep } from '../../src/store/sqlite/maintenance/prune.ts'
import { checksums, type Dictionary, dictionary } from '../../src/store/sqlite/results/dictionary.ts'
import { aResult } from '../catalog/results.ts'
import { anyText } from '../support/any-text.ts'
import { aStore } from './build.ts'

/** Hashes of so few rows wait in memory that they are written many times. */
const newest = 3

const said = fc.record({
  title: fc.constantFrom('a', 'b', 'bc', 'c\u0000', null),
  snippet: fc.constantFrom('a', '', 'c', null),
  link: fc.constantFrom('https://a.example/', 'https://b.example/?utm_source=x', 'no link', null),
})
type Said = typeof said extends fc.Arbitrary<infer S> ? S : never
const step = fc.record({
  results: fc.array(said, { maxLength: 6 }),
  by: fc.constantFrom(0, 1),
  ends: fc.constantFrom('kept', 'kept', 'kept', 'taken back', 'killed'),
})

test('what results say is one row each, whoever stores it, whatever is taken back, and whenever hashes are written', async () => {
  const { path } = await aStore()
  const connections = [new Database(path), new Database(path)]
  const open = (db: Database.Database): Dictionary => dictionary(db, newest)
  const dictionaries = connections.map(open)
  const numbers = new Map<string, number>()
  const keyOf = (one: Said): string => JSON.stringify([one.title, one.snippet, one.link])
  const store = (words: Dictionary, results: readonly Said[]): readonly number[] => {
    // Another connection may have written.
    words.refresh()
    return words.items(results.map((one) => aResult('organic', one))).map(({ id }) => id)
  }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      for (const { results, by, ends } of steps) {
        const [db, words] = [connections[by] as Database.Database, dictionaries[by] as Dictionary]
        if (ends === 'taken back') {
          db.exec('BEGIN IMMEDIATE')
          store(words, results)
          db.exec('ROLLBACK')
          words.forget()
          continue
        }
        const ids = db.transaction(() => store(words, results)).immediate()
        for (const [index, one] of results.entries()) {
          const id = numbers.get(keyOf(one)) ?? (ids[index] as number)
          expect(ids[index]).toBe(id)
          numbers.set(keyOf(one), id)
        }
        if (ends === 'killed') dictionaries[by] = open(db)
      }
      expect(new Set(numbers.values()).size).toBe(numbers.size)
    }),
    { numRuns: 60 },
  )
  const [db] = connections as [Database.Database]
  expect(db.prepare('SELECT count(*) FROM items').pluck().get()).toBe(numbers.size)
  expect(db.prepare('SELECT count(*) FROM item_hashes').pluck().get()).toBeGreaterThan(newest)
  for (const one of connections) one.close()
  expect((await checkDatabase(path)).findings).toEqual([])
})

test.each([newest, 1])(
  'two results with one hash are told apart by link and length (%i in memory)',
  async (most) => {
    const { path } = await aStore()
    const db = new Database(path)
    const nothing = { title: null, snippet: null, source: null, displayedLink: null, matched: null }
    const [first, link, length] = [
      aResult('organic', { title: 'Desks', link: 'https://a.example/' }),
      aResult('organic', { title: 'Desks', link: 'https://b.example/' }),
      aResult('organic', { title: 'Lamps!', link: 'https://a.example/' }),
    ]
    const store = (words: Dictionary, one: ReturnType<typeof aResult>) =>
      db.transaction(() => words.items([one])[0]?.id).immediate()
    const id = store(dictionary(db, most), first)
    for (const other of [link, length]) {
      // As if both came to one hash.
      const hash = checksums.ofItem(other.link, { ...nothing, title: other.title })
      db.exec(
        `UPDATE items SET hash = ${hash} WHERE id = 1; UPDATE item_hashes SET hash = ${hash} WHERE id = 1`,
      )
      const words = dictionary(db, most)
      expect(store(words, other)).not.toBe(id)
      expect(store(words, other)).toBe(store(dictionary(db, most), other))
    }
    db.close()
  },
)

test('thousands that wait for their hashes to be written are found again, each as itself', async () => {
  const { path } = await aStore()
  const db = new Database(path)
  const words = dictionary(db)
  const results = Array.from({ length: 5_000 }, (_, place) =>
    aResult('organic', { title: `Desk ${place}`, link: `https://a.example/${place}` }),
  )
  const store = (some: typeof results) =>
    db.transaction(() => words.items(some).map(({ id }) => id)).immediate()
  const ids = store(results)
  expect(new Set(ids).size).toBe(5_000)
  expect(store(results.toReversed())).toEqual(ids.toReversed())
  expect(db.prepare('SELECT count(*) FROM links').pluck().get()).toBe(5_000)
  expect(db.prepare('SELECT count(*) FROM item_hashes').pluck().get()).toBe(0)
  db.close()
})

test('hashes stay what databases hold: the first digits of md5 and of sha1', () => {
  const said = { title: null, snippet: null, source: null, displayedLink: null, matched: null }
  fc.assert(
    fc.property(anyText(), (any) => {
      const text = any.toWellFormed()
      expect(checksums.ofText(text)).toBe(Number.parseInt(hash('md5', text, 'hex').slice(0, 12), 16))
      const lengths = `${text.length},${text.length},,,,`
      const whole = hash('sha1', `${lengths} ${text}${text}`, 'hex')
      expect(checksums.ofItem(text, { ...said, title: text })).toBe(Number.parseInt(whole.slice(0, 13), 16))
    }),
  )
})

test('a sweep that is broken off in any change leaves nothing that is stored twice afterwards', async () => {
  const { path } = await aStore()
  const results = ['a', 'b', 'c', 'd'].map((title) =>
    aResult('organic', { title, link: `https://${title}.example/` }),
  )
  const stored = (db: Database.Database) => {
    const words = dictionary(db, 2)
    return db.transaction(() => words.items(results).map(({ id }) => id)).immediate()
  }
  const db = new Database(path)
  stored(db)
  // Whoever sweeps is gone after the rows, before what comes next.
  db.exec(`CREATE TRIGGER gone BEFORE UPDATE ON hashed BEGIN SELECT RAISE(ABORT, 'gone'); END`)
  await expect(sweep(path)).rejects.toThrow('gone')
  db.exec('DROP TRIGGER gone')
  expect(stored(db)).toEqual(stored(db))
  expect(db.prepare('SELECT count(*) FROM items').pluck().get()).toBe(results.length)
  db.close()
  expect((await checkDatabase(path)).findings).toEqual([])
})
