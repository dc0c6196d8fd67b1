import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/server.ts'
import { queriesCsv, workspace } from '../support/rankline.ts'

const source = fileURLToPath(new URL('../support/failing-disk.c', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'rankline-failing-disk-'))
const library = join(folder, 'failing-disk.so')
const isBuilt =
  process.platform === 'linux' &&
  spawnSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl']).status === 0
if (!isBuilt) process.stderr.write('No C compiler for Linux here: disks that report errors are not tested.\n')
afterAll(() => rmSync(folder, { recursive: true }))

/** From that sync of a kind of file on, so many fail. */
const failing = (file: string, from: number, times: number) => ({
  LD_PRELOAD: library,
  FAILING_FILE: file,
  FAILING_FROM: `${from}`,
  FAILING_TIMES: `${times}`,
})

const disks = [
  ['the log, once', '.db-wal', 30, 1],
  ['the database, once', '.db', 2, 1],
  ['the log, five times', '.db-wal', 30, 5],
  ['the log, for good', '.db-wal', 30, 100_000],
  ['the file that holds the reserve', '.reserve', 1, 1],
] as const

test.skipIf(!isBuilt).each(disks)(
  'where a sync fails of %s, the run stops, every charged call is accounted for, then run the same command again',
  async (_, file, from, times) => {
    await using sandbox = await startSandbox({ latencyMs: [5, 30] })
    await using place = await workspace(sandbox)
    const job = await place.file('job.csv', queriesCsv(400))

    const failed = await place.run(['run', job, '--json', '--concurrency', '16'], failing(file, from, times))
    const charged = sandbox.ledger.charged

    expect(failed.code).toBe(6)
    expect(JSON.parse(failed.stderr)).toEqual({
      error: {
        code: 6,
        message: expect.stringMatching(
          /rankline\.db cannot be read or written, for the disk reports an error$/,
        ),
        hint: expect.stringMatching(/^Check the disk/),
      },
    })
    const document = JSON.parse(failed.stdout)
    expect(document).toMatchObject({ status: 'stopped', finish_reason: 'unavailable' })
    expect(charged).toBeLessThan(400)
    const { spent, ambiguous } = document.credits
    expect(spent).toBeLessThanOrEqual(charged)
    expect(spent + ambiguous).toBeGreaterThanOrEqual(charged)
    const checked = await place.run(['db', 'check'])
    expect(checked).toMatchObject({ code: 0, stderr: '' })

    const again = await place.run(['run', job, '--json'])

    expect(again.code).toBe(0)
    const whole = JSON.parse(again.stdout)
    expect(whole).toMatchObject({ run: 1, tasks: { done: 400, failed: 0 } })
    expect(whole.credits.spent).toBe(400)
    expect(whole.credits.spent + whole.credits.ambiguous).toBeGreaterThanOrEqual(sandbox.ledger.charged)
    expect(place.sql('SELECT count(*) AS n FROM calls WHERE outcome IS NULL')).toEqual([{ n: 0 }])
  },
)
