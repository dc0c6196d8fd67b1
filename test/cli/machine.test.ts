import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { staged, waitWhile } from './staged.ts'

test('a damaged database is refused before anything is sent', async () => {
  const { sandbox, place, job } = await staged({}, 50)
  await place.call(['run', job])
  const path = join(place.folder, 'data/rankline.db')
  const before = sandbox.ledger.requests.length
  const [{ page_size: pageSize } = { page_size: 0 }] = place.sql<{ page_size: number }>('PRAGMA page_size')
  const file = openSync(path, 'r+')
  // Pages in the middle, their headers included.
  for (let page = 10; page < statSync(path).size / pageSize - 1; page += 4)
    writeSync(file, Buffer.alloc(pageSize, 0x5a), 0, pageSize, page * pageSize)
  closeSync(file)

  const { code, stderr } = await place.call(['run', job])

  expect(code).toBe(2)
  expect(stderr).toMatch(/^rankline: data\/rankline\.db is damaged\..*backup.*\n$/)
  expect(sandbox.ledger.requests).toHaveLength(before)
})

test('a database that another program has locked is waited for', async () => {
  const { sandbox, place, job } = await staged({ latencyMs: 5 }, 150)
  const ended = place.call(['run', job, '--json'])
  await waitWhile(() => sandbox.ledger.requests.length < 50)
  const other = new Database(join(place.folder, 'data/rankline.db'), { timeout: 5_000 })
  other.exec('BEGIN IMMEDIATE')
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  other.exec('COMMIT')
  other.close()

  const { code, stdout } = await ended

  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ tasks: { done: 150 }, credits: { spent: 150, ambiguous: 0 } })
  expect(sandbox.ledger.charged).toBe(150)
})

test('a folder for temporary files that does not exist is in the way of nothing that is collected', async () => {
  const { sandbox, place, job } = await staged({}, 1)

  const { code, stderr } = await place.run(['run', job], { TMPDIR: join(place.folder, 'nowhere') })

  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(sandbox.ledger.charged).toBe(1)
})
