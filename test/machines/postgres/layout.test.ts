import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { openPostgres, type Postgres } from '../../../src/machines/postgres/connection.ts'
import { layout, migrations } from '../../../src/machines/postgres/layout.ts'
import { openJournal } from '../../../src/machines/postgres/open.ts'
import { startSandbox } from '../../../src/sandbox/server.ts'
import { noon } from '../../store/build.ts'
import { type Databases, sharedPostgres } from '../../support/postgres.ts'
import { queriesCsv, workspace } from '../../support/rankline.ts'

let server: Databases
beforeAll(async () => {
  server = await sharedPostgres()
})

test('An empty database gets the journal, and a second time changes nothing', async () => {
  await using postgres = await openPostgres(await server.database())
  expect(await layout.versionOf(postgres)).toBeNull()
  expect(await layout.migrate(postgres)).toBeNull()
  expect(await layout.versionOf(postgres)).toBe(layout.version)
  expect(await layout.migrate(postgres)).toBe(layout.version)
})

test('Of processes that find an empty database at once, one lays the journal out', async () => {
  const url = await server.database()
  const all = await Promise.all(Array.from({ length: 4 }, () => openPostgres(url)))
  expect(await Promise.all(all.map(layout.versionOf))).toEqual([null, null, null, null])
  const before = await Promise.all(all.map((postgres) => layout.migrate(postgres)))
  expect(before.filter((version) => version === null)).toHaveLength(1)
  expect(before.filter((version) => version === layout.version)).toHaveLength(3)
  await Promise.all(all.map((postgres) => postgres[Symbol.asyncDispose]()))
})

test('An older journal gets what it lacks, version after version, and keeps its own where one of them fails', async () => {
  await using postgres = await openPostgres(await server.database())
  await layout.migrate(postgres)
  const added = [
    ...migrations,
    'CREATE TABLE rankline.first (id integer);',
    'CREATE TABLE rankline.second ();',
  ]
  await expect(layout.migrate(postgres, [...added, 'CREATE TABLE rankline.first ();'])).rejects.toThrow(
    'already exists',
  )
  expect(await layout.versionOf(postgres)).toBe(layout.version)
  expect(await layout.migrate(postgres, added)).toBe(layout.version)
  expect(await layout.versionOf(postgres)).toBe(layout.version + 2)
  expect(await postgres.query('SELECT count(id)::int AS rows FROM rankline.first')).toEqual([{ rows: 0 }])
})

test('A journal is brought up to date however long that takes, also where the server ends long statements', async () => {
  const url = await server.database()
  await using postgres = await openPostgres(`${url}?options=-c%20statement_timeout%3D100`)
  await expect(postgres.query('SELECT pg_sleep(1)')).rejects.toThrow('statement timeout')
  expect(await layout.migrate(postgres, [...migrations, 'SELECT pg_sleep(0.3);'])).toBeNull()
})

const newer = `The queue was laid out by a newer rankline (version 99, this one knows ${layout.version}). Update rankline here`

/** A journal that someone laid out by hand from what `rankline queue migrate --print` shows, and its users. */
async function laidOutByHand() {
  const url = await server.database()
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(layout.printed())
  for (const role of ['worker', 'reader']) {
    const user = `${role}_of_${client.database}`
    await client.query(`CREATE USER ${user} PASSWORD 'secret'; GRANT rankline_${role} TO ${user}`)
  }
  await client.end()
  const as = (role: 'worker' | 'reader') => ({
    RANKLINE_QUEUE: url.replace('//tester', `//${role}_of_${client.database}`),
  })
  const owner = await openPostgres(url)
  onTestFinished(() => owner[Symbol.asyncDispose]())
  return { owner, as, queue: { RANKLINE_QUEUE: url } }
}

async function setVersion(owner: Postgres, version: number): Promise<void> {
  await owner.query('UPDATE rankline.version SET version = $1', [version])
}

describe('what rankline queue migrate --print shows', () => {
  test('lays out a journal with which its roles can do what they are for, and no more', async () => {
    await using sandbox = await startSandbox()
    await using host = await workspace(sandbox)
    const { owner, as } = await laidOutByHand()
    await host.file('job.csv', queriesCsv(3))
    const worker = host.start(['worker'], as('worker'))
    onTestFinished(() => void worker.child.kill('SIGKILL'))
    expect(await host.run(['run', 'job.csv', '--target', 'acme.com'], as('worker'))).toMatchObject({
      code: 0,
    })
    worker.child.kill('SIGTERM')
    expect(await worker.ended).toMatchObject({ code: 0 })

    await using other = await workspace()
    expect(await other.call(['sync'], as('worker'))).toMatchObject({ code: 0 })
    expect(other.sql('SELECT tasks_done FROM runs')).toEqual([{ tasks_done: 3 }])
    for (const command of ['drain', 'retry'])
      expect(await other.call(['queue', command], as('worker'))).toMatchObject({ code: 0 })

    const read = await other.call(['queue', 'status', '--json'], as('reader'))
    expect(JSON.parse(read.stdout)).toMatchObject({
      schema_version: layout.version,
      workers: [],
      readers: [{}, {}],
    })
    await using reader = await workspace()
    for (const mayNote of [true, false]) {
      if (!mayNote) await owner.query('REVOKE INSERT, UPDATE ON rankline.readers FROM rankline_reader')
      const { code, stderr } = await reader.call(['sync'], as('reader'))
      expect({ code, isSaid: stderr.includes('may not note in the queue') }).toEqual({
        code: 0,
        isSaid: !mayNote,
      })
    }
    expect(reader.sql('SELECT tasks_done FROM runs')).toEqual([{ tasks_done: 3 }])
    // After a failover others write again what was lost: a reader goes on without.
    await using journal = await openJournal(as('reader').RANKLINE_QUEUE)
    const end = { reason: 'completed' as const, finishedAt: noon, durationMs: 5 }
    await journal.changes.putBackEnds([{ kind: 'finish', run: randomUUID(), version: 1, ...end }])
    await journal.changes.putBack({
      ...{ calls: [], answers: [], ends: [] },
      readings: [
        {
          reading: { keyHash: 'key', askedAt: noon, readAt: noon, remaining: 1, totalUsed: 1, record: '{}' },
          run: null,
        },
      ],
    })
    const noted = await other.call(['queue', 'status', '--json'], as('reader'))
    expect(JSON.parse(noted.stdout).readers).toContainEqual(
      expect.objectContaining({ name: expect.stringContaining(reader.folder), behind: false }),
    )
    for (const command of [
      ['queue', 'drain'],
      ['queue', 'retry'],
    ]) {
      const { code, stderr } = await other.call(command, as('reader'))
      expect(stderr).toMatch(
        /^rankline: User 'reader_\S+' may not do that at \S+ \(permission denied for table \w+\)\. Have someone grant the rights that rankline queue migrate --print shows at its end\n$/,
      )
      expect(code).toBe(2)
    }
  })

  test('is the same journal as the one that is laid out by itself, whichever database of the server it is', async () => {
    const columns = `SELECT table_name, column_name, data_type, column_default, is_identity, is_nullable
      FROM information_schema.columns WHERE table_schema = 'rankline' ORDER BY 1, 2`
    const { owner } = await laidOutByHand()
    await using other = await openPostgres(await server.database())
    await layout.migrate(other)
    expect(await owner.query(columns)).toEqual(await other.query(columns))
    expect(await layout.versionOf(owner)).toBe(layout.version)
    expect(await layout.migrate(owner)).toBe(layout.version)
  })
})

describe('a journal of another version', () => {
  test('that is newer is refused by everything, with one sentence', async () => {
    await using host = await workspace({ url: 'http://127.0.0.1:9', key: 'unused-key' })
    await host.file('job.csv', 'query\nshoes\n')
    const { owner, queue } = await laidOutByHand()
    await setVersion(owner, 99)
    for (const command of ['run job.csv', 'worker', 'sync', 'queue status', 'queue drain', 'queue migrate']) {
      const { code, stdout, stderr } = await host.call(command.split(' '), queue)
      expect(stderr.replace('Worker up.\n', '')).toBe(`rankline: ${newer}\n`)
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    }
    expect(await layout.versionOf(owner)).toBe(99)
  })

  test('that is older is changed by queue migrate alone, keeps what it has, and its run goes on', async () => {
    await using sandbox = await startSandbox()
    await using host = await workspace(sandbox)
    const { owner, as, queue } = await laidOutByHand()
    await owner.query('DROP SCHEMA rankline CASCADE')
    // As the first two versions were; what a worker of today does to them does not show.
    await layout.migrate(owner, migrations.slice(0, 2))
    await owner.query('GRANT USAGE ON SCHEMA rankline TO public; GRANT SELECT ON rankline.version TO public')
    await owner.query(
      `INSERT INTO rankline.runs (id, key_hash, job, group_id, date, settings, started_at)
      VALUES (gen_random_uuid(), 'old', 'old', gen_random_uuid(), '2026-03-01', '{}', 0)`,
    )
    await host.file('job.csv', queriesCsv(3))
    const older =
      /^rankline: The queue at \S+ was laid out by an older rankline \(version 2, .*\)\. Bring it up to date: rankline queue migrate\n$/
    for (const command of ['run job.csv', 'worker', 'sync', 'queue status', 'queue drain']) {
      const { code, stderr } = await host.call(command.split(' '), queue)
      expect(stderr.replace('Worker up.\n', '')).toMatch(older)
      expect(code).toBe(2)
    }
    const doctor = await host.call(['doctor', '--json'], queue)
    expect(JSON.parse(doctor.stdout).checks).toContainEqual(
      expect.objectContaining({
        check: 'queue',
        state: 'error',
        text: expect.stringContaining('queue migrate'),
      }),
    )
    expect(await layout.versionOf(owner)).toBe(2)
    const refused = await host.call(['queue', 'migrate'], as('worker'))
    expect(refused.stderr).toMatch(
      /^rankline: User 'worker_\S+' may not lay out the queue at \S+\. Have someone with that right run: rankline queue migrate\n$/,
    )
    expect((await host.call(['queue', 'migrate'], queue)).stdout).toBe(
      `Brought the queue from version 2: version ${layout.version}.\n`,
    )
    expect(await owner.query('SELECT job FROM rankline.runs')).toEqual([{ job: 'old' }])
    const worker = host.start(['worker'], queue)
    onTestFinished(() => void worker.child.kill('SIGKILL'))
    expect((await host.run(['run', 'job.csv', '--target', 'acme.com'], queue)).code).toBe(0)
    worker.child.kill('SIGTERM')
    await worker.ended
  })

  test('that becomes newer while a worker and a run are at work lets the worker finish what it has, and ends both', async () => {
    await using sandbox = await startSandbox({ account: { perSecond: 100 }, latencyMs: [20, 60] })
    await using host = await workspace(sandbox)
    const { owner, queue } = await laidOutByHand()
    await host.file('job.csv', queriesCsv(400))
    const worker = host.start(['worker', '--lease', '3s'], queue)
    const run = host.start(['run', 'job.csv'], queue)
    onTestFinished(() => {
      for (const { child } of [worker, run]) child.kill('SIGKILL')
    })
    const states = async () =>
      (await owner.query<{ state: string }>('SELECT DISTINCT state FROM rankline.chunks ORDER BY 1')).map(
        ({ state }) => state,
      )
    // All is released, and some of it bought.
    await vi.waitUntil(
      async () => {
        const now = await states()
        return now.includes('done') && !now.includes('planned')
      },
      { timeout: 20_000, interval: 5 },
    )
    await setVersion(owner, 99)
    const { code, stderr } = await worker.ended
    expect(stderr).toBe(`Worker up.\n${newer}\n`)
    expect(code).toBe(2)
    expect(await states()).toEqual(['done', 'released'])
    expect(await owner.query('SELECT 1 FROM rankline.calls WHERE outcome IS NULL')).toEqual([])
    // Who coordinates looks, too, and leaves what is released.
    const ofRun = await run.ended
    expect(ofRun.stderr).toContain(`rankline: ${newer}\n`)
    expect(ofRun.code).toBe(2)
    expect(await states()).toEqual(['done', 'released'])
  })
})
