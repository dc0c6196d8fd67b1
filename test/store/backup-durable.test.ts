import files from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { backUp } from '../../src/store/sqlite/maintenance/backup.ts'
import { replaced } from '../support/replaced.ts'
import { aFolder, aStore } from './build.ts'

test('a copy is on the disk, whole, before it takes its name', async () => {
  const order: string[] = []
  const { path } = await aStore()
  const to = join(await aFolder(), 'copy.db')
  const { open, rename } = files
  using _ = replaced(files, {
    open: async (...args) => {
      const file = await open(...args)
      const { sync } = file
      file.sync = async () => {
        await sync.call(file)
        order.push('on the disk')
      }
      return file
    },
    rename: async (...args) => {
      await rename(...args)
      order.push('in its place')
    },
  })
  await backUp(path, to)
  expect(order).toEqual(['on the disk', 'in its place'])
})
