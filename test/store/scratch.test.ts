import { expect, test } from 'vitest'
import { openScratch } from '../../src/store/sqlite/connection/database.ts'
import { openScratchStore } from '../../src/store/sqlite/open.ts'
import { plan } from './build.ts'

test('Each store in memory is empty, and of no other one', async () => {
  await using first = await openScratchStore()
  await plan(first, { queries: [{ text: 'desk' }] })
  await using second = await openScratchStore()
  expect([(await first.runs({})).length, (await second.runs({})).length]).toEqual([1, 0])
  await plan(second, { queries: [{ text: 'chair' }] })
  expect((await second.runs({})).length).toBe(1)
})

test('What is taken back in it is gone, and its references are checked', async () => {
  const db = await openScratch()
  const insert = db.prepare("INSERT INTO texts (hash, text) VALUES (1, 'desk')")
  const texts = () => db.prepare('SELECT count(*) FROM texts').pluck().get()
  expect(() =>
    db.transaction(() => {
      insert.run()
      throw new Error('taken back')
    })(),
  ).toThrow('taken back')
  expect([texts(), db.pragma('foreign_keys', { simple: true })]).toEqual([0, 1])
  db.close()
})
