import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { backUp } from '../../src/store/sqlite/backup.ts'
import { aFolder, aStore } from './build.ts'

const order: string[] = []

vi.mock('node:fs/promises', async (original) => {
  const files = await original<typeof import('node:fs/promises')>()
  const open: typeof files.open = async (...args) => {
    const file = await files.open(...args)
    const { sync } = file
    file.sync = async () => {
      await sync.call(file)
      order.push('on the disk')
    }
    return file
  }
  const rename: typeof files.rename = async (...args) => {
    await files.rename(...args)
    order.push('in its place')
  }
  return { ...files, open, rename }
})

test('a copy is on the disk, whole, before it takes its name', async () => {
  const { path } = await aStore()
  await backUp(path, join(await aFolder(), 'copy.db'))
  expect(order).toEqual(['on the disk', 'in its place'])
})
