import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { databaseLock, keyLock, tryLock } from '../../src/store/sqlite/connection/lock.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { readOnly } from '../support/read-only.ts'
import { aFolder } from './build.ts'

test('a database has one lock file, by whatever name it is reached, also before it exists', async () => {
  const folder = await aFolder()
  mkdirSync(join(folder, 'data'))
  symlinkSync('data', join(folder, 'other'))
  symlinkSync(join(folder, 'data/a.db'), join(folder, 'link.db'))
  symlinkSync('link.db', join(folder, 'twice.db'))
  const names = ['data/a.db', 'data/../data/./a.db', 'other/a.db', 'link.db', 'twice.db']
  const locks = () =>
    new Set(
      names.flatMap((name) => {
        const path = join(folder, name)
        return [databaseLock(path), databaseLock(relative('', path))]
      }),
    )

  const before = locks()
  writeFileSync(join(folder, 'data/a.db'), '')

  expect(locks()).toEqual(before)
  expect([...before]).toEqual([expect.stringMatching(/data\/a\.db\.lock$/)])
})

test('the lock of a key is where TMPDIR does not decide, and every user may take it', async () => {
  const before = process.env.TMPDIR
  const here = keyLock('test')
  process.env.TMPDIR = await aFolder()
  const elsewhere = keyLock('test')
  if (before === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = before
  expect(elsewhere).toBe(here)

  const path = join(await aFolder(), 'new.lock')
  tryLock(path)?.release()
  expect(statSync(path).mode & 0o777).toBe(0o666)
})

const setting = '/proc/sys/fs/protected_regular'

/** Lets the system protect files in folders like /tmp, as most machines do; null where this one does not allow that. */
function protection(): Disposable | null {
  try {
    const before = readFileSync(setting, 'utf8')
    if (before.trim() === '0') writeFileSync(setting, '1')
    return { [Symbol.dispose]: () => before.trim() === '0' && writeFileSync(setting, before) }
  } catch {
    return null
  }
}

test('the lock file of another user in a folder like /tmp can be taken', async () => {
  using on = process.getuid?.() === 0 ? protection() : null
  if (on === null) {
    process.stderr.write('No second user here: lock files of another user are not tested.\n')
    return
  }
  const folder = await aFolder()
  chmodSync(folder, 0o1777)
  const path = join(folder, 'key.lock')
  tryLock(path)?.release()
  chownSync(path, 65_534, 65_534)
  expect(() => writeFileSync(path, '')).toThrow('EACCES')

  const lock = tryLock(path)

  expect(lock).not.toBeNull()
  expect(tryLock(path)).toBeNull()
  lock?.release()
})

test('a lock file that cannot be written is no lock, and is said', async () => {
  const folder = await aFolder()
  const path = join(folder, 'key.lock')
  tryLock(path)?.release()
  using mounted = readOnly(folder)
  if (mounted === null) return
  expect(() => tryLock(path)).toThrow(`${path} cannot be written, for its file system is read-only`)
})

test('a database with a second name on the disk is not written', async () => {
  const folder = await aFolder()
  const [path, other] = [join(folder, 'a.db'), join(folder, 'b.db')]
  await (await openStore(path))[Symbol.asyncDispose]()
  linkSync(path, other)

  await expect(openStore(other)).rejects.toThrow(`${other} has a second name on this disk (a hard link)`)
})
