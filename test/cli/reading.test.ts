import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { queriesCsv, type Workspace } from '../support/rankline.ts'
import { readOnly } from '../support/read-only.ts'
import { staged, waitWhile } from './staged.ts'

const job = 'depth: 10\ntargets: [acme.com]\nqueries: [desk, chair]\n'
const reading = [
  ['report', 'job'],
  ['diff', 'job'],
  ['cluster', 'job'],
  ['export', 'organic'],
  ['runs'],
  ['runs', '1'],
  ['ledger'],
  ['ledger', 'verify'],
  ['db', 'check'],
] as const

/** Names and contents of what is in a folder. */
function contents(place: Workspace, folder: string): readonly string[] {
  return readdirSync(join(place.folder, folder)).map((name) => {
    const bytes = readFileSync(join(place.folder, folder, name))
    return `${name} ${createHash('sha256').update(bytes).digest('hex')}`
  })
}

async function collected(place: Workspace): Promise<void> {
  await place.file('job.yaml', job)
  expect((await place.call(['run', 'job.yaml'])).code).toBe(0)
}

test('commands that read leave the folder of the database as it was, also where a target is new', async () => {
  const { place } = await staged({ sites: ['acme.com', 'rival.com'] })
  await collected(place)
  await place.file('job.yaml', `${job}competitors: [rival.com]\n`)
  const before = contents(place, 'data')

  const ends = await Promise.all(
    [...reading, ['plan', 'job.yaml', '--backtest']].map((args) => place.call(args)),
  )
  const report = await place.call(['report', 'job.yaml', '--format', 'csv'])

  expect(ends.map(({ code, stderr }) => [code, stderr.includes('rankline:')])).toEqual(
    ends.map(() => [0, false]),
  )
  expect(report.stderr).toContain('targets are new; 2 stored queries were evaluated again for them')
  expect(report.stdout).toContain('rival.com')
  expect(contents(place, 'data')).toEqual(before)
})

test('no command that reads makes a database; one that was named has to be there', async () => {
  const { place } = await staged({}, 0, 'missing')
  await place.file('job.yaml', job)

  for (const args of [...reading, ['plan', 'job.yaml', '--backtest'], ['resume'], ['db', 'migrate']]) {
    const { code, stdout, stderr } = await place.call(['--db', 'mistyped.db', ...args])
    expect([code, stdout, stderr], args.join(' ')).toEqual([
      2,
      '',
      expect.stringContaining('There is no database mistyped.db'),
    ])
  }
  const named = await place.call(['runs'], { RANKLINE_DB: 'mistyped.db' })
  const usual = [['plan', 'job.yaml'], ['runs'], ['ledger'], ['--db', 'other.db', 'plan', 'job.yaml']]
  const ends = await Promise.all(usual.map((args) => place.call(args)))

  expect(named.code).toBe(2)
  expect(ends.map(({ code }) => code)).toEqual(usual.map(() => 0))
  expect(readdirSync(place.folder).sort()).toEqual(['data', 'job.yaml'])
  expect(readdirSync(join(place.folder, 'data'))).toEqual([])
})

test('a database is read where nothing may be written, also with a log that a dead process left', async () => {
  const { sandbox, place } = await staged()
  await collected(place)
  const dead = place.start(['run', await place.file('more.csv', queriesCsv(200)), '--concurrency', '2'])
  sandbox.control({ latencyMs: 50 })
  await waitWhile(() => sandbox.ledger.charged < 20)
  dead.child.kill('SIGKILL')
  await dead.ended
  for (const folder of ['with-log', 'alone']) mkdirSync(join(place.folder, folder))
  for (const name of ['rankline.db', 'rankline.db-wal'])
    copyFileSync(join(place.folder, 'data', name), join(place.folder, 'with-log', name))
  // The last one that writes takes the log back into the file.
  place.change("UPDATE jobs SET file = file || ''")
  copyFileSync(join(place.folder, 'data/rankline.db'), join(place.folder, 'alone/rankline.db'))

  for (const [folder, commands] of [
    ['with-log', [['report', 'job'], ['runs'], ['plan', 'job.yaml']]],
    ['alone', [['export', 'organic'], ['db', 'check'], ['usage'], ['db', 'backup', 'copy.db']]],
  ] as const) {
    using mounted = readOnly(join(place.folder, folder))
    if (mounted === null) return
    const before = contents(place, folder)
    const db = ['--db', `${folder}/rankline.db`]
    const ends = await Promise.all(commands.map((args) => place.call([...db, ...args])))
    expect(ends.map(({ code, stderr }) => [code, stderr.includes('rankline:')])).toEqual(
      commands.map(() => [0, false]),
    )
    const listed = await place.call([...db, 'runs', '--json'])
    expect(JSON.parse(listed.stdout)).toHaveLength(2)
    expect(contents(place, folder)).toEqual(before)
  }
})

test('a folder in which no folder for the database can be made is one sentence, and nothing is sent', async () => {
  const { sandbox, place } = await staged()
  await place.file('job.csv', queriesCsv(1))
  const data = join(place.folder, 'data')
  rmSync(data, { recursive: true })
  const refused = async (...commands: readonly (readonly string[])[]) => {
    const ends = await Promise.all(commands.map((args) => place.call(args)))
    return ends.map(({ code, stdout, stderr }) => `${code} ${stdout}${stderr}`)
  }

  await place.file('data', 'a file')
  expect(await refused(['demo', '--days', '1'])).toEqual([
    `2 rankline: ${data} is not a folder, so no database can be created in it. Rename it, or name a database elsewhere with --db\n`,
  ])
  rmSync(data)
  using mounted = readOnly(place.folder)
  if (mounted === null) return
  const commands = [
    ['run', 'job.csv'],
    ['search', 'alpha.search', 'x'],
    ['demo', '--days', '1'],
  ] as const
  expect(await refused(...commands)).toEqual(
    commands.map(
      () =>
        `2 rankline: The folder ${data} cannot be created for the database. Work in a folder where you may write, or name a database elsewhere with --db\n`,
    ),
  )
  expect(sandbox.ledger.charged).toBe(0)
})

test('a database is migrated when no other process collects, never beside one', async () => {
  const { sandbox, place } = await staged()
  await collected(place)
  const old = 'DROP VIEW calls; CREATE VIEW calls AS SELECT 1 AS old'
  place.change(old)
  const slow = await place.file('slow.csv', queriesCsv(200))
  // It has a database of its own, and then the name of the one that is old.
  const other = place.start(['run', slow, '--db', 'other.db', '--concurrency', '2'])
  sandbox.control({ latencyMs: 50 })
  await waitWhile(() => sandbox.ledger.charged < 10)
  place.change(old.replace('old', 'older'))
  const texts = () => place.sql<{ sql: string }>("SELECT sql FROM sqlite_schema WHERE name = 'calls'")
  const before = texts()
  rmSync(join(place.folder, 'data/rankline.db.lock'), { force: true })
  renameSync(join(place.folder, 'other.db.lock'), join(place.folder, 'data/rankline.db.lock'))

  const beside = await Promise.all(
    [
      ['db', 'migrate'],
      ['run', 'job.yaml', '--wait', '0'],
      ['renormalise', '--wait', '0'],
    ].map((args) => place.call(args)),
  )
  const read = await Promise.all([['runs'], ['usage'], ['plan', 'job.yaml']].map((args) => place.call(args)))
  expect(texts()).toEqual(before)
  other.child.kill('SIGKILL')
  await other.ended
  const alone = await place.call(['db', 'migrate'])

  expect(beside.map(({ code }) => code)).toEqual([7, 7, 7])
  expect(read.map(({ code }) => code)).toEqual([0, 0, 0])
  expect(alone).toMatchObject({ code: 0, stdout: 'data/rankline.db is brought up to date.\n' })
  expect(texts()).not.toEqual(before)
  expect((await place.call(['db', 'migrate'])).stdout).toBe('data/rankline.db is up to date.\n')
})

test.each([[':memory:'], [':MEMORY:'], ['file::memory:?cache=shared'], ['file:x.db?mode=memory']])(
  'no command takes %s for a database',
  async (name) => {
    const { sandbox, place } = await staged()
    const { code, stderr } = await place.call(['search', 'alpha.search', 'desk', '--db', name])
    const fromEnvironment = await place.call(['runs'], { RANKLINE_DB: name })
    expect([code, fromEnvironment.code]).toEqual([2, 2])
    expect(stderr).toContain('must be kept in a file')
    expect(sandbox.ledger.charged).toBe(0)
    expect(readdirSync(place.folder)).toEqual(['data'])
  },
)
