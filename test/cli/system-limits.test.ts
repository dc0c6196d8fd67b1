import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chown, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { queriesCsv } from '../support/rankline.ts'
import { stage } from '../support/stage.ts'

const program = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

test.skipIf(process.platform !== 'linux').each([
  ['too few open files', 'ulimit -n 24', /no more (?:open )?files/],
  ['a limit for the size of files', 'ulimit -f 1000', /A file may not become that large here\./],
])('%s is one sentence with exit code 6, and buys nothing', async (_, limit, sentence) => {
  await using world = await stage()
  const { place, sandbox } = world
  await place.file('job.csv', queriesCsv(3))
  const child = spawn('sh', ['-c', `${limit}; exec "$0" "$@"`, process.execPath, program, 'run', 'job.csv'], {
    cwd: place.folder,
    env: { PATH: process.env.PATH ?? '', RANKLINE_BASE_URL: sandbox.url, RANKLINE_API_KEY: sandbox.key },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const code = new Promise((resolve) => child.on('close', resolve))
  const said = await text(child.stderr)
  expect({ code: await code, said }).toEqual({ code: 6, said: expect.stringMatching(sentence) })
  expect(said).not.toContain('internal error')
  expect(sandbox.ledger.charged).toBe(0)
})

const setpriv = '/usr/bin/setpriv'
const nobody = 65_534
const mayTry = process.getuid?.() === 0 && existsSync(setpriv)

test.skipIf(!mayTry)(
  'a log that another user left beside the database is named, with its owner',
  async () => {
    await using world = await stage()
    const { place } = world
    await place.file('job.csv', queriesCsv(1))
    expect((await place.call(['run', 'job.csv'])).code).toBe(0)
    const [data, database] = [join(place.folder, 'data'), join(place.folder, 'data/rankline.db')]
    for (const one of [place.folder, data, database]) await chown(one, nobody, nobody)
    await writeFile(`${database}-wal`, Buffer.alloc(4_096), { mode: 0o600 })
    const args = ['--reuid=65534', '--clear-groups', process.execPath, program, 'runs']
    const child = spawn(setpriv, args, { cwd: place.folder, stdio: ['ignore', 'ignore', 'pipe'] })
    const code = new Promise((resolve) => child.on('close', resolve))
    const said = await text(child.stderr)
    expect({ code: await code, said }).toEqual({
      code: 6,
      said: expect.stringContaining('-wal beside it belongs to the user with the number 0'),
    })
  },
)
