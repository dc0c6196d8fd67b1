import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { openScratchStore, openStore } from '../../src/store/sqlite/open.ts'
import { testTable } from '../support/test-table.ts'
import { keep } from './answers.ts'
import { aStore, lease, plan, text } from './build.ts'

/** A store with the answers to two of three tasks, of which one is in the log alone. */
async function twoAnswers() {
  const opened = await aStore()
  const run = await plan(opened.store, { queries: text('a', 'b', 'c') })
  const [a, b, c] = await lease(opened.store, run.id)
  if (a === undefined || b === undefined || c === undefined) throw new Error('no tasks')
  await keep(opened.store, a)
  await keep(opened.store, b)
  return { ...opened, third: c }
}

type Taking = (path: string) => void

const takings: [string, Taking, string | null][] = [
  ['nothing', () => {}, null],
  ['rm, with its log', (path) => ['', '-wal', '-shm'].map((end) => rmSync(path + end)), 'removed or moved'],
  ['rm of the file alone', (path) => rmSync(path), 'removed or moved'],
  ['rm of its folder', (path) => rmSync(dirname(path), { recursive: true }), 'removed or moved'],
  ['mv', (path) => renameSync(path, `${path}.away`), 'removed or moved'],
  [
    'another file in its place',
    (path) => {
      copyFileSync(path, `${path}.copy`)
      renameSync(`${path}.copy`, path)
    },
    'replaced by another file',
  ],
  ['truncate to nothing', (path) => truncateSync(path, 0), 'cut short'],
  ['truncate to some pages', (path) => truncateSync(path, 8192), 'cut short'],
  ['rm of its log alone', (path) => rmSync(`${path}-wal`), 'removed or moved'],
  [
    'VACUUM by another program, which makes it smaller',
    (path) => {
      const db = new Database(path)
      db.exec('CREATE TABLE large (x); INSERT INTO large SELECT randomblob(4000000); DROP TABLE large')
      db.pragma('wal_checkpoint(TRUNCATE)')
      const before = statSync(path).size
      db.exec('VACUUM')
      db.pragma('wal_checkpoint(TRUNCATE)')
      db.close()
      expect(statSync(path).size).toBeLessThan(before)
    },
    null,
  ],
]

describe('a database that is in use', () => {
  testTable<[string, Taking, string | null]>(takings)(
    'is seen to be lost after %s',
    async (_, take, what) => {
      const { store, path, third } = await twoAnswers()
      expect([store.file.isLost(), store.file.loss()]).toEqual([false, null])
      take(path)
      if (what === null) {
        await keep(store, third)
        expect(store.file.loss()).toBeNull()
        return
      }
      // An answer that comes now is kept by the open database, where it can, and the loss is seen with its commit.
      await keep(store, third).catch(() => {})
      await store.file.whenLost()
      expect(store.file.loss()).toContain(what)
    },
  )

  const canBeSaved = takings.filter(([, , what]) => what !== null && what !== 'cut short')
  testTable<[string, Taking, string | null]>(canBeSaved)(
    'is saved whole after %s, and goes on when that is put back',
    async (_, take) => {
      const { store, path, third } = await twoAnswers()
      take(path)
      await keep(store, third)
      await store.file.rescue()
      const saved = join(dirname(path), 'rankline.rescued.db')
      expect(store.file.loss()).toContain(`saved in ${saved}. Put that file back`)
      await store[Symbol.asyncDispose]()
      if (!existsSync(path))
        await expect(openStore(path)).rejects.toThrow(/is missing, and .*rescued\.db holds/)
      renameSync(saved, path)
      const back = new Database(path)
      expect(back.pragma('integrity_check', { simple: true })).toBe('ok')
      expect(back.prepare('SELECT count(*) FROM raw_answers').pluck().get()).toBe(3)
      back.close()
    },
  )

  test('is whole where it was moved to', async () => {
    const { store, path, third } = await twoAnswers()
    const away = `${path}.away`
    renameSync(path, away)
    await keep(store, third)
    await store.file.rescue()
    await store[Symbol.asyncDispose]()
    const moved = new Database(away, { readonly: true })
    expect(moved.prepare('SELECT count(*) FROM raw_answers').pluck().get()).toBe(3)
    moved.close()
  })

  test('is saved beside what was saved before, and beside a file that took its place', async () => {
    const { store, path } = await twoAnswers()
    const folder = dirname(path)
    copyFileSync(path, join(folder, 'rankline.rescued.db'))
    const before = readFileSync(join(folder, 'rankline.rescued.db'))
    rmSync(path)
    mkdirSync(path)
    expect(store.file.isLost()).toBe(true)
    await store.file.rescue()
    expect(readFileSync(join(folder, 'rankline.rescued.db')).equals(before)).toBe(true)
    expect(existsSync(join(folder, 'rankline.rescued-2.db'))).toBe(true)
  })

  test('says so where it cannot be saved', async () => {
    const { store, path } = await twoAnswers()
    truncateSync(path, 4096)
    expect(store.file.isLost()).toBe(true)
    await store.file.rescue()
    expect(store.file.loss()).toMatch(
      /^Stopped: .* was cut short while rankline was using it\. What it held could not/,
    )
  })

  test('in memory is never lost', async () => {
    await using scratch = await openScratchStore()
    await using memory = await openStore(':memory:')
    expect([scratch.file.isLost(), memory.file.isLost()]).toEqual([false, false])
  })
})
