import { chmod, chown, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { jobPlaces } from '../../src/jobfile/files.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { workspace } from '../support/rankline.ts'

/** Two places of one user: a folder with a workspace `ranks` in it, and one where cron starts its commands. */
async function twoPlaces() {
  const sandbox = await startSandbox({ sites: ['acme.com'] })
  const [home, elsewhere] = [await workspace(), await workspace()]
  onTestFinished(async () => {
    for (const one of [home, elsewhere, sandbox]) await one[Symbol.asyncDispose]()
  })
  const env = `RANKLINE_BASE_URL=${sandbox.url}\nRANKLINE_API_KEY=${sandbox.key}\n`
  await home.file(
    'ranks/rankline.yaml',
    'budget: { per_day: 3 }\nchannels: { log: { type: file, path: alerts.jsonl } }\n',
  )
  await home.file('ranks/.env', env)
  const job = await home.file(
    'ranks/jobs/acme.yaml',
    'targets: [acme.com]\nalerts: [{ when: run-failed }]\nqueries: [standing desk, lamp]\n',
  )
  return { sandbox, home, elsewhere, env, job, path: join(home.folder, job) }
}

test('a job is the same wherever its command starts: its database, settings and limits are those of its workspace', async () => {
  const { sandbox, home, elsewhere, job, path } = await twoPlaces()
  const ran = await elsewhere.call(['run', path, '--json'])
  expect(JSON.parse(ran.stdout)).toMatchObject({ run: 1, credits: { spent: 2 } })
  expect(ran.stderr).toBe('')
  const again = await home.call(['run', job, '--fresh', '--json'])
  expect(again.code).toBe(4)
  expect(JSON.parse(again.stdout)).toMatchObject({ run: 2, credits: { spent: 1 } })
  expect(again.stderr).toContain('per_day in rankline.yaml')
  expect(sandbox.ledger.charged).toBe(3)
  for (const one of [home, elsewhere]) await expect(one.read('data/rankline.db')).rejects.toThrow(/ENOENT/)
  // By its name alone it is known where its workspace is.
  const known = await elsewhere.call(['report', path, '--json'])
  expect(JSON.parse(known.stdout)).toHaveLength(2)
  expect((await elsewhere.call(['report', 'acme'])).stderr).toContain('There is no database data/rankline.db')
})

test('an older database of the current folder goes on, which is said, until the workspace has one', async () => {
  const { home, elsewhere, path, env } = await twoPlaces()
  await elsewhere.file('.env', env)
  const older = await elsewhere.file('old.yaml', 'queries: [chair]\n')
  expect((await elsewhere.call(['run', older])).code).toBe(0)
  const noted = await elsewhere.call(['run', path, '--json'])
  expect(JSON.parse(noted.stdout)).toMatchObject({ run: 2 })
  const own = join(home.folder, 'ranks/data/rankline.db')
  expect(noted.stderr).toBe(
    `The workspace ${dirname(dirname(own))} has no database, so that of the current folder is used: data/rankline.db. To keep it, move it to ${own}, or name it with --db.\n`,
  )
  await mkdir(dirname(own))
  await rename(join(elsewhere.folder, 'data/rankline.db'), own)
  const moved = await elsewhere.call(['run', path, '--fresh', '--json'])
  expect(moved.stderr).not.toContain('has no database')
  expect(JSON.parse(moved.stdout)).toMatchObject({ run: 3 })
})

test('jobs of several workspaces are not mixed where one of them has a database', async () => {
  const { home, elsewhere, path, env } = await twoPlaces()
  await home.file('other/rankline.yaml', '')
  const other = join(home.folder, await home.file('other/b.yaml', 'queries: [b]\n'))
  expect((await elsewhere.call(['run', path])).code).toBe(0)
  const mixed = await elsewhere.call(['plan', path, other])
  expect([mixed.code, mixed.stderr]).toEqual([2, expect.stringContaining('several workspaces share no .env')])
  await elsewhere.file('.env', env)
  const both = await elsewhere.call(['plan', path, other])
  expect(both.code).toBe(2)
  expect(both.stderr).toMatch(
    /^rankline: These job files belong to several workspaces \(.+ranks, .+other\), and .+--db$/m,
  )
})

test('a database that .env names is seen from the folder of that file', async () => {
  const { home, elsewhere, path, env } = await twoPlaces()
  await home.file('ranks/.env', `${env}RANKLINE_DB=own.db\n`)
  expect((await elsewhere.call(['run', path])).code).toBe(0)
  expect((await home.read('ranks/own.db')).length).toBeGreaterThan(0)
})

test('a folder without rankline.yaml keeps the database that it has, and a new one stands where the command starts', async () => {
  const { home, elsewhere, env } = await twoPlaces()
  await home.file('.env', env)
  const job = await home.file('lists/words.yaml', 'queries: [a]\n')
  expect((await home.call(['run', job])).code).toBe(0)
  expect(home.sql('SELECT count(*) AS n FROM runs')).toEqual([{ n: 1 }])
  const again = await elsewhere.call(['run', join(home.folder, job), '--fresh', '--json'])
  expect(JSON.parse(again.stdout)).toMatchObject({ run: 2 })
})

test('what is sought upward ends at the home folder, at a folder or file of somebody else, and at a folder for all', async () => {
  const top = await mkdtemp(join(tmpdir(), 'rankline-'))
  onTestFinished(() => rm(top, { recursive: true }))
  const deep = join(top, 'a/b')
  await mkdir(deep, { recursive: true })
  await writeFile(join(top, 'rankline.yaml'), '')
  expect(jobPlaces.folderOf('rankline.yaml', deep)).toBe(top)
  expect(jobPlaces.folderOf('rankline.yaml', join(deep, 'gone/long/ago'))).toBe(top)
  expect(jobPlaces.folderOf('nothing.yaml', deep)).toBeNull()
  expect(jobPlaces.folderOf('a', deep)).toBeNull()
  expect(jobPlaces.folderOf('rankline.yaml', dirname(homedir()))).toBeNull()
  await chmod(join(top, 'a'), 0o777)
  expect(jobPlaces.folderOf('rankline.yaml', deep)).toBeNull()
  await chmod(join(top, 'a'), 0o755)
  if (process.getuid?.() !== 0) return
  const stranger = 54_321
  await chown(join(top, 'rankline.yaml'), stranger, stranger)
  expect(jobPlaces.folderOf('rankline.yaml', deep)).toBeNull()
  expect(jobPlaces.folderOf('rankline.yaml', top)).toBe(top)
  await chown(join(top, 'rankline.yaml'), 0, 0)
  await chown(join(top, 'a'), stranger, stranger)
  expect(jobPlaces.folderOf('rankline.yaml', deep)).toBeNull()
})
