import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { groupCommit } from '../../src/store/sqlite/connection/group-commit.ts'
import { testTable } from '../support/test-table.ts'
import { aFolder } from './build.ts'

async function aWriter({ lacksRoom = false, committed = () => {} } = {}) {
  const path = join(await aFolder(), 'w.db')
  const db = new Database(path)
  onTestFinished(() => void db.close())
  db.exec('CREATE TABLE t (n INTEGER PRIMARY KEY)')
  let commits = 0
  const begin = db.transaction.bind(db)
  db.transaction = ((change: (...given: unknown[]) => unknown) => ({
    immediate: (...given: unknown[]) => {
      commits += 1
      return begin(change).immediate(...given)
    },
  })) as unknown as typeof db.transaction
  let rollbacks = 0
  const writer = groupCommit(db, {
    rolledBack: () => {
      rollbacks += 1
    },
    full: () => {},
    makeRoom: () => false,
    lacksRoom: () => lacksRoom,
    committed,
  })
  const insert = db.prepare<[number]>('INSERT INTO t VALUES (?)')
  return {
    db,
    writer,
    put: (n: number) => writer.write(() => insert.run(n).changes),
    stored: () => {
      const other = new Database(path, { readonly: true })
      const rows = other.prepare<[], { n: number }>('SELECT n FROM t ORDER BY n').all()
      other.close()
      return rows.map(({ n }) => n)
    },
    rollbacks: () => rollbacks,
    commits: () => commits,
  }
}

describe('changes of one turn', () => {
  test('are one transaction, and each is told what it returns', async () => {
    const { put, writer, stored, commits } = await aWriter()
    const done = await Promise.all([put(1), put(2), writer.write(() => 'three'), put(4)])
    expect(done).toEqual([1, 1, 'three', 1])
    expect(stored()).toEqual([1, 2, 4])
    expect(commits()).toBe(1)
  })

  test('are durable when their promise is fulfilled, and not before', async () => {
    const { put, stored } = await aWriter()
    const written = put(1)
    expect(stored()).toEqual([])
    await written
    expect(stored()).toEqual([1])
  })

  test('are made in the order in which they were asked for', async () => {
    const { writer } = await aWriter()
    const order: number[] = []
    await Promise.all([1, 2, 3].map((n) => writer.write(() => order.push(n))))
    expect(order).toEqual([1, 2, 3])
  })
})

describe('a change that throws', () => {
  test('is rolled back alone: the others of its group stay', async () => {
    const { put, writer, stored, rollbacks } = await aWriter()
    const half = writer.write(() => {
      put(99).catch(() => {})
      throw new Error('half way')
    })
    const ends = await Promise.allSettled([put(1), half, put(1), put(2)])
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
    expect(stored()).toEqual(expect.arrayContaining([1, 2]))
    expect(rollbacks()).toBeGreaterThan(0)
  })

  test('leaves nothing of itself behind', async () => {
    const { db, writer, put, stored } = await aWriter()
    const half = writer.write(() => {
      db.prepare('INSERT INTO t VALUES (7)').run()
      throw new Error('half way')
    })
    const [first, second] = await Promise.allSettled([half, put(8)])
    expect(first).toMatchObject({ status: 'rejected', reason: new Error('half way') })
    expect(second?.status).toBe('fulfilled')
    expect(stored()).toEqual([8])
  })

  test('alone in its group is rejected with what it threw, and the next one is written', async () => {
    const { put, writer, stored, rollbacks } = await aWriter()
    const failing = writer.write(() => {
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    await put(3)
    expect(stored()).toEqual([3])
    expect(rollbacks()).toBe(1)
  })
})

test('a flush waits for everything handed over, and for what follows from it in the same turn', async () => {
  const { put, writer, stored } = await aWriter()
  void put(1).then(() => put(2))
  await writer.flush()
  expect(stored()[0]).toBe(1)
  await writer.flush()
  expect(stored()).toEqual([1, 2])
})

test('what is derived waits while other changes come, and is written when none does', async () => {
  const { put, writer, commits } = await aWriter()
  const order: string[] = []
  const derived = writer.writeDerived((names) => names, 'derived').then((name) => order.push(name))
  for (const id of [1, 2, 3]) await put(id).then(() => order.push(String(id)))
  await derived
  expect(order).toEqual(['1', '2', '3', 'derived'])
  expect(commits()).toBe(4)
})

test('so much that is derived has the next commit for itself, however many changes come', async () => {
  const { put, writer, commits } = await aWriter()
  const order: string[] = []
  const many = Array.from({ length: 128 }, (_, id) => writer.writeDerived((ids) => ids, id))
  const derived = Promise.all(many).then(() => order.push('derived'))
  for (const id of [1, 2, 3]) await put(id).then(() => order.push(String(id)))
  await derived
  expect(order).toEqual(['1', 'derived', '2', '3'])
  expect(commits()).toBe(4)
})

describe('what one function writes in one commit', () => {
  test('it is given together, so many at most, and each is told its own', async () => {
    const { writer, commits } = await aWriter()
    const given: number[] = []
    const double = (together: readonly number[]) => {
      given.push(together.length)
      return together.map((one) => one * 2)
    }
    const all = Array.from({ length: 300 }, (_, one) => writer.writeDerived(double, one))
    expect(await Promise.all(all)).toEqual(all.map((_, one) => one * 2))
    expect(given).toEqual([128, 128, 44])
    expect(commits()).toBe(1)
  })

  test('is given together though other changes come between', async () => {
    const { writer, put, commits } = await aWriter()
    const given: string[][] = []
    const note = (together: readonly string[]) => {
      given.push([...together])
      return together.map((one) => one.toUpperCase())
    }
    const all = ['a', 'b', 'c'].map((one, id) => {
      void put(id)
      return writer.writePaidTogether(note, one)
    })
    expect(await Promise.all(all)).toEqual(['A', 'B', 'C'])
    expect(given).toEqual([['a', 'b', 'c']])
    expect(commits()).toBe(1)
  })

  test('is tried one by one where some of it fails', async () => {
    const { db, writer, stored } = await aWriter()
    const insert = db.prepare<[number]>('INSERT INTO t VALUES (?)')
    const insertAll = (together: readonly number[]) => together.map((one) => insert.run(one).changes)
    const ends = await Promise.allSettled([1, 1, 2].map((one) => writer.writeDerived(insertAll, one)))
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(stored()).toEqual([1, 2])
  })
})

describe('after an error of the disk', () => {
  const diskError = (code: string) => new Database.SqliteError('disk I/O error', code)
  const failing = (writer: Awaited<ReturnType<typeof aWriter>>['writer'], code: string) =>
    writer.writePaid(() => {
      throw diskError(code)
    })

  testTable(['SQLITE_IOERR_FSYNC', 'SQLITE_IOERR_WRITE', 'SQLITE_IOERR_READ', 'SQLITE_IOERR'])(
    '%s, nothing is tried again or written any more',
    async (code) => {
      const { put, writer, stored, commits } = await aWriter()
      await put(1)

      const ends = await Promise.allSettled([put(2), failing(writer, code), put(3)])
      const later = await Promise.allSettled([put(4)])

      expect([...ends, ...later].map(({ status }) => status)).toEqual(Array(4).fill('rejected'))
      expect(later[0]).toMatchObject({ reason: { code } })
      expect(commits()).toBe(2)
      expect(stored()).toEqual([1])
      expect(writer.hasFailed()).toBe(true)
      await writer.flush()
    },
  )

  test('when the log is written back, what was committed is durable, and nothing more is written', async () => {
    const { put, stored } = await aWriter({
      committed: () => {
        throw diskError('SQLITE_IOERR_FSYNC')
      },
    })
    expect(await put(1)).toBe(1)
    await expect(put(2)).rejects.toMatchObject({ code: 'SQLITE_IOERR_FSYNC' })
    expect(stored()).toEqual([1])
  })

  test('which is a quota, it is room that is waited for', async () => {
    const { put, writer } = await aWriter({ lacksRoom: true })
    let tries = 0
    const paid = writer.writePaid(() => {
      tries += 1
      if (tries < 3) throw diskError('SQLITE_IOERR_WRITE')
      return 'stored'
    })
    expect(await paid).toBe('stored')
    expect(await put(1)).toBe(1)
    expect(writer.hasFailed()).toBe(false)
  })
})
