import { existsSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { stopCauses } from '../../src/collect/stop.ts'
import { watchDiskSpace } from '../../src/store/sqlite/connection/watch.ts'
import { testTable } from '../support/test-table.ts'
import { aFolder } from './build.ts'

/** What is held for so many answers, and how large the log may grow meanwhile; in bytes. */
async function heldFor(answers: number) {
  const path = join(await aFolder(), 'rankline.db')
  let log = Number.POSITIVE_INFINITY
  const space = watchDiskSpace(path, {
    shrink: () => {},
    limit: (bytes) => {
      log = bytes
    },
  })
  space.reserve(answers)
  const reserve = statSync(`${path}.reserve`).size
  space.release()
  expect(existsSync(`${path}.reserve`)).toBe(false)
  return { reserve, log }
}

test('the reserve has room for the answers, and for a log of any size that it lets grow', async () => {
  const { bavail, bsize } = statfsSync(await aFolder())
  const isLarge = bavail * bsize > 200_000_000
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 100 }), async (answers) => {
      const { reserve, log } = await heldFor(answers)
      expect(log).toBeLessThanOrEqual(16_000_000)
      if (isLarge) expect(reserve).toBe(1_000_000 + answers * 128_000 + Math.max(0, log - 4_000_000))
    }),
    { numRuns: 8 },
  )
})

testTable([
  [1, 4_000_000],
  [16, 4_000_000],
  [32, 8_000_000],
  [64, 16_000_000],
  [1_000, 16_000_000],
])('for %i answers at once the log has up to %i bytes, where the disk is large', async (answers, most) => {
  const { bavail, bsize } = statfsSync(await aFolder())
  if (bavail * bsize < 600_000_000) return
  expect((await heldFor(answers)).log).toBe(most)
})

test('a disk with room, but not for the reserve, is told apart from a full one', async () => {
  const folder = await aFolder()
  const path = join(folder, 'rankline.db')
  const space = watchDiskSpace(path, { shrink: () => {}, limit: () => {} })
  expect(space.lacking()).toBeNull()
  expect(await space.reserve(1e9)).toBe(false)
  const lacking = space.lacking()
  expect(lacking?.wanted).toBeGreaterThan(1e13)
  expect(lacking?.free).toBeGreaterThan(0)
  expect(existsSync(`${path}.reserve`)).toBe(false)
  expect(await space.isLow()).toBe(true)
  if (lacking !== null)
    expect(stopCauses.reserveLacks({ ...lacking, free: 800_000, wanted: 4_600_000 })).toMatchObject({
      reason: 'unavailable',
      message: expect.stringContaining('is too full: it has 800.0 kB left, and at least 4.6 MB are needed'),
    })
})

test('where more is wanted than there is, the reserve of before stays, and nothing is lacking', async () => {
  const path = join(await aFolder(), 'rankline.db')
  const space = watchDiskSpace(path, { shrink: () => {}, limit: () => {} })
  expect(await space.reserve(1)).toBe(true)
  const { size } = statSync(`${path}.reserve`)
  expect(await space.reserve(1e9)).toBe(false)
  expect(statSync(`${path}.reserve`).size).toBe(size)
  expect(size).toBeGreaterThan(1_000_000)
  expect(space.lacking()).toBeNull()
  expect(await space.isLow()).toBe(false)
  expect(await space.reserve(2)).toBe(true)
  expect(statSync(`${path}.reserve`).size).toBeGreaterThan(size)
})

test('a reserve that grows is written on, one that was taken away or belonged to another process is written anew', async () => {
  const path = join(await aFolder(), 'rankline.db')
  const file = `${path}.reserve`
  writeFileSync(file, 'of another process')
  const space = watchDiskSpace(path, { shrink: () => {}, limit: () => {} })
  await space.reserve(1)
  const first = readFileSync(file)
  expect(first.includes('of another process')).toBe(false)
  await space.reserve(2)
  const second = readFileSync(file)
  expect(second.length).toBe(first.length + 128_000)
  expect(second.subarray(0, first.length).equals(first)).toBe(true)
  // A file of zeros takes no room on some disks.
  expect(second.subarray(first.length).some((byte) => byte !== 0)).toBe(true)
  rmSync(file)
  await space.reserve(3)
  expect(statSync(file).size).toBe(second.length + 128_000)
  await space.release()
  expect(existsSync(file)).toBe(false)
})
