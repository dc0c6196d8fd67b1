import { existsSync } from 'node:fs'
import { chmod, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Examined } from '../../src/check/examine.ts'
import { turns } from '../../src/run/lock.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { databaseLock } from '../../src/store/sqlite/connection/lock.ts'
import { type Workspace, workspace } from '../support/rankline.ts'
import { testTable } from '../support/test-table.ts'
import { callQuickly } from './staged.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox()
})
afterAll(() => sandbox.close())

/** The exit code of `doctor --json`, and what the checks that are not ok found. */
async function examined(place: Workspace, env?: Readonly<Record<string, string>>) {
  const { code, stdout, stderr } = await callQuickly(place, ['doctor', '--json'], env)
  const { checks } = JSON.parse(stdout) as { checks: Examined[] }
  const odd = checks.filter(({ state }) => state === 'error' || state === 'warning')
  return { code, stderr, odd, text: (name: string) => checks.find(({ check }) => check === name)?.text }
}

test('all is well in a workspace that init has laid out, and nothing is made or changed there', async () => {
  await using place = await workspace(sandbox)
  await place.call(['init', '--yes'])
  const files = await readdir(place.folder, { recursive: true })
  const { code, odd, text } = await examined(place)
  expect({ code, odd }).toEqual({ code: 0, odd: [] })
  expect(text('balance')).toMatch(/; one run of the job here takes up to 20$/)
  expect(text('database')).toBe('data/rankline.db is not there yet: the first run makes it')
  expect(text('jobs')).toBe('1 job, 10 queries, 1 with a schedule')
  expect(await readdir(place.folder, { recursive: true })).toEqual(files)
})

test('the table says each finding with what to do, and --quiet says only what is wrong', async () => {
  await using place = await workspace(sandbox)
  const { code, stdout } = await place.call(['doctor'])
  expect(code).toBe(0)
  expect(stdout).toMatch(/^ok {7}service {5}answers$/m)
  expect(stdout).toMatch(/\n\nAll is well\.\n$/)
  expect((await place.call(['doctor', '--quiet'])).stdout).toBe('')
})

// Names that a system may give, and the one that the machine's own list has for the same zone.
testTable([
  ['UTC', 'UTC'],
  ['Etc/UTC', 'UTC'],
  ['Zulu', 'UTC'],
  ['Europe/Berlin', 'Europe/Berlin'],
  [':Europe/Berlin', 'Europe/Berlin'],
  ['Asia/Kolkata', 'Asia/Calcutta'],
  ['EST5EDT', 'America/New_York'],
])('the time zone %s of the machine is told as %s', async (TZ, zone) => {
  await using place = await workspace()
  const before = process.env.TZ
  // Calls have an environment of their own: clocks follow that of the process.
  process.env.TZ = TZ
  try {
    const { text } = await examined(place, { TZ })
    expect(text('time zones')).toMatch(new RegExp(`; this machine is in ${zone}$`))
  } finally {
    if (before === undefined) delete process.env.TZ
    else process.env.TZ = before
  }
})

test('without settings, a service that is down, and a refused key are errors that say what to do', async () => {
  await using place = await workspace()
  const unset = await examined(place)
  expect(unset.code).toBe(2)
  expect(unset.odd.map(({ check }) => check)).toEqual(['settings'])
  expect(unset.odd[0]?.text).toContain('Put RANKLINE_BASE_URL=https://… into the environment')
  const down = { RANKLINE_BASE_URL: 'http://127.0.0.1:9', RANKLINE_API_KEY: 'test-key' }
  expect((await examined(place, down)).odd).toEqual([
    { check: 'service', state: 'error', text: expect.stringContaining('cannot be used') },
  ])
  const wrong = { RANKLINE_BASE_URL: sandbox.url, RANKLINE_API_KEY: 'another-key' }
  expect((await examined(place, wrong)).odd).toEqual([
    { check: 'key', state: 'error', text: expect.stringContaining('The service refused the key') },
  ])
  expect(existsSync(join(place.folder, 'data/rankline.db'))).toBe(false)
})

testTable([
  ['RANKLINE_METRICS', '/nowhere/rankline.prom', 'The folder /nowhere, for RANKLINE_METRICS, does not exist'],
  ['RANKLINE_LOG_FORMAT', 'xml', "RANKLINE_LOG_FORMAT cannot be 'xml'"],
])('the variable %s, which keeps every run from its start, is an error', async (name, value, text) => {
  await using place = await workspace(sandbox)
  const { code, odd } = await examined(place, { [name]: value })
  expect({ code, odd }).toMatchObject({
    code: 2,
    odd: [{ check: 'settings', state: 'error', text: expect.stringContaining(text) }],
  })
})

test('a key that expires soon and a balance that does not cover the jobs are warnings', async () => {
  const expires = new Date(Date.now() + 3 * 86_400_000).toISOString()
  const poor = await startSandbox({ account: { keyExpires: expires, subscription: { total: 19 } } })
  await using place = await workspace(poor)
  await place.call(['init', '--yes'])
  const { code, odd } = await examined(place)
  expect([code, odd.map(({ check }) => check)]).toEqual([3, ['key', 'balance']])
  expect(odd[1]?.text).toMatch(/^19 credits do not cover one run of the job here \(up to 20\)/)
  await poor.close()
})

test('mistakes in job files and in rankline.yaml, and variables of channels that are not set, are told', async () => {
  await using place = await workspace(sandbox)
  await place.file('compose.yaml', 'services: {}\n')
  await place.file('a.yaml', 'queries: [a]\ndepht: 3\n')
  await place.file('rankline.yaml', 'channels: { ops: { type: slack, url_env: OPS_URL } }\n')
  const { code, odd } = await examined(place)
  expect(code).toBe(2)
  expect(odd).toEqual([
    {
      check: 'jobs',
      state: 'error',
      text: "a.yaml:2:1: unknown key 'depht'; write 'depth' (1 file with mistakes)",
    },
    { check: 'channels', state: 'warning', text: expect.stringMatching(/^ops: OPS_URL is not set.*wait/) },
  ])
  const secret = 'hooks.example/T0/secret'
  expect((await examined(place, { OPS_URL: secret })).odd[1]?.text).toContain('OPS_URL')
  expect(JSON.stringify(await examined(place, { OPS_URL: secret }))).not.toContain(secret)
  await place.file(
    'a.yaml',
    'queries: [a]\nalerts: [{ when: lost, to: [ops] }]\nping: { url_env: PING_URL }\n',
  )
  expect((await examined(place, { OPS_URL: 'https://hooks.example/T0' })).odd).toEqual([
    { check: 'channels', state: 'warning', text: expect.stringMatching(/^ping: PING_URL is not set/) },
  ])
  await place.file('rankline.yaml', 'defaults: { depth: 10 }\n')
  expect((await examined(place)).odd).toEqual([
    {
      check: 'jobs',
      state: 'error',
      text: expect.stringMatching(
        /^a\.yaml: messages are to go to 'ops', but rankline\.yaml has no channels; /,
      ),
    },
  ])
  await place.file('a.yaml', 'queries: [a]\n')
  await symlink('nowhere.yaml', join(place.folder, 'b.yaml'))
  expect((await examined(place)).odd[0]?.text).toBe(
    'b.yaml: there is no such file; check the path (1 file with mistakes)',
  )
  await place.file('rankline.yaml', 'chanels: {}\n')
  expect((await examined(place)).odd).toEqual([
    {
      check: 'workspace',
      state: 'error',
      text: "rankline.yaml:1:1: unknown key 'chanels'; write 'channels'",
    },
  ])
})

test('a damaged database, and one that is none, are errors, and the service is asked all the same', async () => {
  await using place = await workspace(sandbox)
  await place.file('k.csv', 'query\na\nb\nc\n')
  await place.call(['run', 'k.csv', '--quiet'])
  const file = join(place.folder, 'data/rankline.db')
  const whole = await readFile(file)
  const broken = Buffer.from(whole)
  broken.fill(0x5a, 8192, 40_960)
  await writeFile(file, broken)
  const { code, odd, text } = await examined(place)
  expect([code, odd.map(({ check }) => check)]).toEqual([2, ['database']])
  expect(text('service')).toBe('answers')
  expect((await readFile(file)).equals(broken)).toBe(true)
  await writeFile(file, 'no database')
  expect((await examined(place)).odd.map(({ check }) => check)).toEqual(['database'])
})

test('another process that collects is named; a lock file that this user cannot write is an error', async () => {
  await using place = await workspace(sandbox)
  await place.file('k.csv', 'query\na\n')
  await place.call(['run', 'k.csv', '--quiet'])
  const lock = databaseLock(join(place.folder, 'data/rankline.db'))
  {
    using _ = turns.tryCollector(lock)
    expect((await examined(place)).text('locks')).toMatch(
      /^process \d+, since .+ on this machine is collecting with this database$/,
    )
  }
  expect((await examined(place)).text('locks')).toBe('free; locks cover this machine only')
  if (process.getuid?.() === 0) return
  await chmod(lock, 0o444)
  expect((await examined(place)).odd.map(({ check }) => check)).toEqual(['locks'])
})

test('another host that spends with the same key is noticed', async () => {
  await using here = await workspace(sandbox)
  await using other = await workspace(sandbox)
  for (const place of [here, other, here]) {
    await place.file('k.csv', 'query\na\n')
    expect((await place.call(['run', 'k.csv', '--fresh', '--quiet'])).code).toBe(0)
  }
  const { code, odd } = await examined(here)
  expect([code, odd.map(({ check }) => check)]).toEqual([3, ['shared key']])
  expect(odd[0]?.text).toMatch(
    /^1 credit of the last week is in no call of this database \(spent .+ UTC\)\. Hosts/,
  )
})
