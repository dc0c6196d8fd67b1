import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { spoiledRows } from '../../src/store/sqlite/spoiled.ts'

test('no list is made of the rows that are looked at: each is asked for when the one before it was read', () => {
  const db = new Database(':memory:')
  let listed = 0
  db.function('listed', (id) => {
    listed += 1
    return id
  })
  db.exec('CREATE TABLE words (id INTEGER PRIMARY KEY)')
  for (let id = 1; id <= 100; id++) db.prepare('INSERT INTO words VALUES (?)').run(id)
  const ahead: number[] = []
  const found = spoiledRows(db, {
    broken: 'Words',
    of: 'word',
    ids: 'SELECT listed(id) FROM words ORDER BY id DESC',
    row: 'SELECT id FROM words WHERE id = ?',
    sound: ({ id }: { id: number }) => {
      ahead.push(listed - (101 - id))
      return id % 10 !== 0
    },
  })
  db.close()
  expect(found).toEqual({ count: 10, first: 10 })
  expect(ahead).toEqual(Array(100).fill(0))
})
