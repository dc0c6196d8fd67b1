import { existsSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { watchDiskSpace } from '../../src/store/sqlite/connection/disk-space.ts'
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
