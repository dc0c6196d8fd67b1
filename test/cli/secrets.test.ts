import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { workspace } from '../support/rankline.ts'
import { callQuickly, staged } from './staged.ts'

const key = 'canary-9f3b7c2e51'

/** Every file below a folder, by its path, as bytes. */
async function filesIn(folder: string): Promise<readonly (readonly [string, Buffer])[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return await Promise.all(files.map(async (file) => [file, await readFile(file)] as const))
}

test('nothing that a failing run leaves behind or shows holds the key', async () => {
  const { place, job } = await staged(
    {
      key,
      account: { keyExpires: null },
      rules: [
        { query: 'query 1', do: { status: 400, body: `{"error":"key ${key} may not do that"}` } },
        { query: 'query 2', do: { garble: true } },
        { query: 'query 3', do: { hangUp: 'after' } },
        { query: 'query 4', do: { status: 500, body: `<html><h1>${key}</h1></html>` } },
        {
          query: 'query 5',
          do: {
            body: { organic_results: [{ position: 1, title: key, link: `https://a.example/?k=${key}` }] },
          },
        },
        { query: 'query 6', do: { status: 403, html: true } },
      ],
    },
    9,
  )
  const temp = { TMPDIR: place.folder, NODE_DEBUG: 'net' }

  const { child, ended } = place.start(['run', job, '--verbose', '--json'], temp)
  const shownToOthers = await readFile(`/proc/${child.pid}/cmdline`, 'utf8').catch(() => '')
  const run = await ended
  const outputs = [
    run,
    await place.call(['runs', '1', '--verbose'], temp),
    await place.call(['export', 'organic', '--out', 'organic.csv'], temp),
    await place.call(['export', 'calls', '--out', 'calls.jsonl', '--format', 'jsonl'], temp),
    await place.call(['ledger', 'verify', '--json'], temp),
    await place.call(['usage', '--verbose'], temp),
    await callQuickly(place, ['run', job, '--base-url', 'http://127.0.0.1:1', '--fresh', '--verbose'], temp),
  ]

  expect(run.code).toBe(3)
  expect(shownToOthers).not.toContain(key)
  for (const { stdout, stderr } of outputs) expect(stdout + stderr).not.toContain(key)
  const files = await filesIn(place.folder)
  expect(files.map(([name]) => name)).toContain(join(place.folder, 'data/rankline.db'))
  for (const [name, bytes] of files) expect(bytes.includes(key), name).toBe(false)
})

test('an error of the program itself shows no key either', async () => {
  const server = createServer((_, response) => response.writeHead(200, { 'content-encoding': 'br' }).end(key))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  await using place = await workspace({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    key,
  })

  const { stdout, stderr } = await place.run(['usage', '--verbose'])
  server.close()

  expect(stderr).not.toBe('')
  expect(stdout + stderr).not.toContain(key)
})
