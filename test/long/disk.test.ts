import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { queriesCsv, type Workspace, workspace } from '../support/rankline.ts'

/** A small file system of its own over a folder, until it is disposed of; null where this machine refuses. */
function mount(folder: string, size: string): Disposable | null {
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]).status !== 0) {
    process.stderr.write(
      'This machine refuses to mount a small file system: full disks are not tested here.\n',
    )
    return null
  }
  return { [Symbol.dispose]: () => void spawnSync('umount', ['-l', folder]) }
}

/** Takes all that is free, in one go: who goes on taking takes also what the program gives up for its answers. */
function fillUp(folder: string): void {
  const { bavail, bsize } = statfsSync(folder)
  const file = openSync(join(folder, 'filler'), 'a')
  try {
    writeSync(file, Buffer.alloc(bavail * bsize))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  } finally {
    closeSync(file)
  }
}

function makeRoom(folder: string): void {
  rmSync(join(folder, 'filler'), { force: true })
  execFileSync('mount', ['-o', 'remount,size=256m', folder])
}

/** Stored answers and calls that nobody knows the end of. */
function books(place: Workspace) {
  const [row] = place.sql<{ spent: number; unknown: number }>(
    `SELECT coalesce(sum(CASE WHEN billed = 1 THEN credits END), 0) AS spent,
      coalesce(sum(billed IS NULL), 0) AS unknown FROM calls WHERE credits > 0`,
  )
  return row ?? { spent: 0, unknown: 0 }
}

const tasks = 800

interface Stage {
  readonly size: string
  /** Requests that the sandbox has seen when the disk fills up; null is before the program starts. */
  readonly after: number | null
  readonly tasks: number
}

async function fillDuring(
  place: Workspace,
  sandbox: Sandbox,
  args: readonly string[],
  { after }: Pick<Stage, 'after'>,
) {
  const folder = join(place.folder, 'data')
  if (after === null) fillUp(folder)
  const { ended, child } = place.start(args)
  let over = false
  child.on('exit', () => {
    over = true
  })
  while (after !== null && !over && sandbox.ledger.requests.length < after)
    await new Promise((resolve) => setTimeout(resolve, 2))
  fillUp(folder)
  return await ended
}

const stages: readonly Stage[] = [
  { size: '16m', after: null, tasks },
  { size: '16m', after: 1, tasks },
  { size: '16m', after: 2, tasks },
  { size: '16m', after: 40, tasks },
  { size: '16m', after: 200, tasks },
  { size: '16m', after: 600, tasks: 2 * tasks },
  { size: '8m', after: 2, tasks },
  { size: '8m', after: 150, tasks },
  // Large enough for a larger log. To fill it takes as long as some hundred calls: they are not to end before.
  { size: '128m', after: 700, tasks: 4_000 },
]

test.for(stages)(
  'a disk of $size that fills up after $after requests: nothing paid for is lost, then run the same command again',
  async ({ tasks, ...stage }, { skip }) => {
    await using sandbox = await startSandbox({ latencyMs: [5, 40] })
    await using place = await workspace(sandbox)
    const folder = join(place.folder, 'data')
    using disk = mount(folder, stage.size)
    if (disk === null) return skip('no small file system')
    const job = await place.file('job.csv', queriesCsv(tasks))

    const full = await fillDuring(place, sandbox, ['run', job, '--json'], stage)

    expect(full.code).toBe(6)
    expect(full.stderr.trim().split('\n')).toHaveLength(1)
    expect(full.stderr).toMatch(/disk.* full.*Make room/)
    makeRoom(folder)
    if (stage.after !== null && stage.after > 1)
      expect(books(place)).toEqual({ spent: sandbox.ledger.charged, unknown: 0 })

    const again = await place.run(['run', job, '--json'])
    expect(again.code).toBe(0)
    expect(JSON.parse(again.stdout)).toMatchObject({
      run: 1,
      tasks: { done: tasks },
      credits: { ambiguous: 0 },
    })
    expect(sandbox.ledger.charged).toBe(tasks)
    expect(place.sql('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
  },
)

test('a disk that is too small for the run stops it before it is full, and a larger one lets it finish', async ({
  skip,
}) => {
  await using sandbox = await startSandbox()
  await using place = await workspace(sandbox)
  const folder = join(place.folder, 'data')
  using disk = mount(folder, '8m')
  if (disk === null) return skip('no small file system')
  const job = await place.file('job.csv', queriesCsv(tasks * 2))

  const small = await place.run(['run', job, '--json'])

  expect(small.code).toBe(6)
  expect(JSON.parse(small.stdout)).toMatchObject({ finish_reason: 'unavailable', credits: { ambiguous: 0 } })
  expect(JSON.parse(small.stdout).tasks.done).toBeGreaterThan(100)
  makeRoom(folder)
  expect((await place.run(['run', job])).code).toBe(0)
  expect(sandbox.ledger.charged).toBe(tasks * 2)
})

test('an export that finds no room leaves the old file as it was', async ({ skip }) => {
  await using sandbox = await startSandbox()
  await using place = await workspace(sandbox)
  const job = await place.file('job.csv', queriesCsv(300))
  await place.run(['run', job])
  await place.file('out/rows.csv', 'as it was')
  const folder = join(place.folder, 'out')
  using disk = mount(folder, '64k')
  if (disk === null) return skip('no small file system')
  await place.file('out/rows.csv', 'as it was')

  const { code, stderr } = await place.run(['export', 'organic', '--out', 'out/rows.csv'])

  expect(code).toBe(6)
  expect(stderr).toMatch(/^rankline: out\/rows.csv .*full.*\n$/)
  expect(await place.read('out/rows.csv')).toBe('as it was')
})
