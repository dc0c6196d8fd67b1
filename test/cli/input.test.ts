import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/server.ts'
import { type Workspace, workspace } from '../support/rankline.ts'
import { testTable } from '../support/test-table.ts'
import { callQuickly, staged } from './staged.ts'

let place: Workspace
beforeAll(async () => {
  place = await workspace()
  await place.file('job.csv', 'query\na\n')
  // Makes the database.
  await place.call(['runs'])
})
afterAll(() => place[Symbol.asyncDispose]())

const service = { RANKLINE_BASE_URL: 'http://127.0.0.1:9', RANKLINE_API_KEY: 'test-key' }

testTable<[string, readonly string[], Readonly<Record<string, string>>, RegExp]>([
  ['no base URL', ['usage'], { RANKLINE_API_KEY: 'test-key' }, /RANKLINE_BASE_URL=/],
  ['no key', ['usage'], { RANKLINE_BASE_URL: 'http://127.0.0.1:9' }, /RANKLINE_API_KEY=/],
  ['a blank key', ['usage'], { ...service, RANKLINE_API_KEY: '  ' }, /RANKLINE_API_KEY=/],
  [
    'a key of 7 characters',
    ['usage'],
    { ...service, RANKLINE_API_KEY: 'sk-1234' },
    /fewer than 8 characters/,
  ],
  ['a sandbox with such a key', ['sandbox', '--key', 'sk-1234'], {}, /at least 8 characters/],
  ['a key with a line break', ['usage'], { ...service, RANKLINE_API_KEY: 'a\nb' }, /line breaks/],
  ['a key file that is not there', ['usage', '--api-key-file', 'no.txt'], service, /no\.txt cannot be read/],
  ['a key as a flag', ['usage', '--api-key', 'secret-key'], service, /--api-key/],
  [
    'an address without encryption',
    ['usage'],
    { ...service, RANKLINE_BASE_URL: 'http://example.com' },
    /--allow-http/,
  ],
  ['an address that is none', ['usage'], { ...service, RANKLINE_BASE_URL: 'example' }, /https:\/\/host/],
  [
    'an address with the version',
    ['usage'],
    { ...service, RANKLINE_BASE_URL: 'https://a.test/v1' },
    /leave out \/v1/,
  ],
  [
    'a misspelt setting',
    ['usage'],
    { RANKLINE_BASEURL: 'https://a.test', RANKLINE_API_KEY: 'test-key' },
    /RANKLINE_BASEURL in the environment .* Did you mean RANKLINE_BASE_URL\?/,
  ],
  [
    'a proxy that is none',
    ['usage'],
    { ...service, RANKLINE_BASE_URL: 'https://a.test', HTTPS_PROXY: 'ftp://secret@x' },
    /^(?!.*secret).*HTTPS_PROXY.*is not an address/,
  ],
  ['a database folder that is not there', ['usage', '--db', 'no/such/x.db'], service, /mkdir -p no\/such/],
  ['an empty database name', ['runs', '--db', ''], {}, /--db is empty/],
  ['a database that is a folder', ['runs', '--db', 'data'], {}, /is a folder/],
  ['a database that is something else', ['runs', '--db', 'job.csv'], {}, /is not a SQLite database/],
  ['a job file that is not there', ['run', 'nope.csv'], service, /nope\.csv/],
  ['no job file', ['run'], service, /job/],
  ['an unknown command', ['rnu'], {}, /Did you mean run\?/],
  ['an unknown flag', ['runs', '--limt', '3'], {}, /--limt.*--limit/],
  ['a flag twice', ['runs', '--limit', '3', '--limit', '4'], {}, /--limit is given more than once/],
  ['a number that is none', ['runs', '--limit', 'abc'], {}, /--limit cannot be 'abc'/],
  ['concurrency 0', ['run', 'job.csv', '--concurrency', '0'], service, /--concurrency cannot be '0'/],
  ['concurrency -1', ['run', 'job.csv', '--concurrency=-1'], service, /--concurrency cannot be '-1'/],
  ['a switch with a value', ['run', 'job.csv', '--dry-run=no'], service, /--dry-run takes no value/],
  ['a flag without its value', ['runs', '--db'], {}, /db/],
  ['an output without a name', ['export', 'organic', '--out', ''], {}, /--out is empty/],
  ['a timeout of months', ['run', 'job.csv', '--timeout', '99999999'], service, /--timeout cannot be/],
  ['a job with the name of searches', ['run', 'job.csv', '--name', 'search'], service, /one-off searches/],
  ['a timeout that is none', ['run', 'job.csv', '--timeout', 'x'], service, /--timeout cannot be 'x'/],
  ['an unknown operation', ['search', 'alpha.serch', 'x'], service, /alpha\.search/],
  ['an unknown parameter', ['search', 'alpha.search', 'x', '-p', 'locaton=Paris'], service, /location/],
  ['a wrong parameter', ['search', 'alpha.search', 'x', '-p', 'gl=usa'], service, /two-letter country code/],
  ['an unknown export', ['export', 'organics'], {}, /organic/],
  ['an unknown format', ['export', 'organic', '--format', 'xml'], {}, /csv, jsonl/],
  ['an unknown job', ['report', 'acme'], {}, /no job 'acme'/],
  ['an unknown run', ['runs', '99'], {}, /no run 99/],
  ['a run that is no number', ['resume', 'x'], service, /The run cannot be 'x'/],
  ['a day that is none', ['export', 'organic', '--from', '2026-13-01'], {}, /--from cannot be/],
  ['standard input for a report', ['report', '-'], {}, /standard input, which rankline report does not read/],
  ['standard input for a search', ['search', 'alpha.search', '-'], service, /rankline search does not read/],
  ['standard input for a backup', ['db', 'backup', '-'], {}, /rankline db does not read/],
  ['standard input for a path', ['health', '-'], service, /rankline health does not read/],
  ['standard input for a text', ['countries', '-'], service, /rankline countries does not read/],
  ['standard output as a file', ['export', 'organic', '--out', '-'], {}, /--out cannot be '-'; leave it out/],
  ['a query that looks like a flag', ['search', 'alpha.search', '-x'], service, /after --, as in: -- -x/],
  ['a flag before no command', ['foo', '--x'], {}, /no command 'foo'/],
  ['a flag for a value', ['runs', '--limit', '--json'], {}, /--limit needs a value/],
  ['more words than are read', ['runs', '1', '2'], {}, /takes no '2'/],
  ['an output folder that is not there', ['export', 'organic', '--out', 'no/x.csv'], {}, /mkdir -p no/],
])('%s is one sentence on stderr, exit 2, and no stack trace', async (_, args, env, words) => {
  const { code, stdout, stderr } = await place.call(args, env)

  expect(stderr).toMatch(words)
  expect(stderr.trim().split('\n')).toHaveLength(1)
  expect(stderr).not.toContain('secret-key')
  expect(stdout).toBe('')
  expect(code).toBe(2)
})

test('a job file with 500 mistakes is 20 lines and their number, exit 2, and nothing is sent', async () => {
  const { sandbox, place } = await staged()
  const rows = Array.from({ length: 500 }, (_, index) => `query ${index},usa`)
  const job = await place.file('job.csv', `query,gl\nfine,us\n${rows.join('\n')}\n`)

  for (const command of ['run', 'plan']) {
    const { code, stdout, stderr } = await place.call([command, job])
    const lines = stderr.trim().split('\n')
    expect(lines).toHaveLength(21)
    expect(lines[0]).toBe("job.csv:3: gl cannot be 'usa'; write a two-letter country code such as us")
    expect(lines[19]).toMatch(/^job\.csv:22: /)
    expect(lines[20]).toBe('… and 480 more: 500 mistakes in all; --verbose lists them')
    expect(stdout).toBe('')
    expect(code).toBe(2)
  }
  expect((await place.call(['plan', job, '--verbose'])).stderr.trim().split('\n')).toHaveLength(500)
  expect(sandbox.ledger.requests).toEqual([])
  expect(place.sql('SELECT * FROM runs')).toEqual([])
})

test('with --skip-bad the good job files run, and the exit code is 2', async () => {
  const { sandbox, place } = await staged()
  await place.file('good.csv', 'query\na\n')
  await place.file('bad.csv', 'query,gl\nb,us\nc,usa\n')
  await place.file('other/bad.csv', 'query\nd\n')
  const jobs = ['bad.csv', 'good.csv', 'no.csv', 'other/bad.csv', '--skip-bad']

  const dry = await place.call(['run', ...jobs, '--dry-run', '--json'])
  expect(dry.code).toBe(2)
  expect(JSON.parse(dry.stdout)).toMatchObject({ job: 'good', tasks: { planned: 1 } })
  const { code, stdout, stderr } = await place.call(['run', ...jobs])

  expect(code).toBe(2)
  expect(stderr.trim().split('\n')).toEqual([
    expect.stringMatching(/^bad\.csv:3: gl cannot be 'usa'/),
    expect.stringMatching(/^no\.csv: there is no such file/),
    expect.stringMatching(/^other\/bad\.csv: the job name 'bad' belongs to bad\.csv already/),
    'bad.csv, no.csv, other/bad.csv are left out.',
  ])
  expect(stdout).toMatch(/^good \(run 1\): completed/)
  expect(place.sql('SELECT DISTINCT job FROM runs')).toEqual([{ job: 'good' }])
  expect(sandbox.ledger.charged).toBe(1)

  // How a run was stopped counts more; without a good file nothing runs.
  expect((await place.call(['run', ...jobs, '--fresh', '--per-day', '0'])).code).toBe(4)
  expect((await place.call(['run', 'bad.csv', '--skip-bad'])).code).toBe(2)
})

test('mistakes of all jobs of a command are told, and none of the jobs runs', async () => {
  const { sandbox, place } = await staged()
  await place.file('good.csv', 'query\na\n')
  await place.file('bad.yaml', 'queries: [a]\ndepht: 3\n')
  await place.file('worse.yaml', 'operation: alpha.serch\nqueries: [a]\n')

  const { code, stderr } = await place.call(['run', 'good.csv', 'bad.yaml', 'worse.yaml'])

  expect(code).toBe(2)
  expect(stderr.trim().split('\n')).toEqual([
    expect.stringMatching(/^bad\.yaml:2:1: .*'depht'.*'depth'/),
    expect.stringMatching(/^worse\.yaml:1:12: .*'alpha\.serch'.*'alpha\.search'/),
  ])
  expect(sandbox.ledger.requests).toEqual([])
})

test('two files of one job name are told apart before anything is sent', async () => {
  const { place } = await staged()
  await place.file('a/job.csv', 'query\na\n')
  await place.file('b/job.csv', 'query\nb\n')
  expect((await place.call(['run', 'a/job.csv'])).code).toBe(0)

  const clash = await place.call(['run', 'b/job.csv'])

  expect(clash.code).toBe(2)
  expect(clash.stderr).toContain("the job name 'job' belongs to a/job.csv already")
  expect((await place.call(['run', 'b/job.csv', '--name', 'other'])).code).toBe(0)
})

test('settings come from flags before the environment before .env, and the key from a file', async () => {
  await using sandbox = await startSandbox({ key: 'right-key' })
  await using place = await workspace()
  await place.file(
    '.env',
    `RANKLINE_BASE_URL=${sandbox.url}\nRANKLINE_API_KEY=right-key\nRANKLINE_DB=data/other.db\n`,
  )
  await place.file('key.txt', '\ufeffright-key\n')

  expect((await place.call(['usage'])).code).toBe(0)
  expect(await place.read('data/other.db')).toContain('SQLite')
  expect((await place.call(['usage'], { RANKLINE_API_KEY: 'wrong-key' })).code).toBe(5)
  expect(
    (await place.call(['usage', '--api-key-file', 'key.txt'], { RANKLINE_API_KEY: 'wrong-key' })).code,
  ).toBe(0)
  expect((await callQuickly(place, ['usage', '--base-url', 'http://127.0.0.1:9'])).code).toBe(6)

  const wide = Buffer.from(
    `\ufeffRANKLINE_BASE_URL=${sandbox.url}\r\nRANKLINE_APIKEY=right-key\r\n`,
    'utf16le',
  )
  await writeFile(join(place.folder, '.env'), wide)
  const slip = await place.call(['usage'])
  expect([slip.code, slip.stderr]).toEqual([
    2,
    'rankline: RANKLINE_APIKEY in .env is not a setting of rankline. Did you mean RANKLINE_API_KEY?\n',
  ])
  expect((await place.call(['usage', '--api-key-file', 'key.txt'])).code).toBe(0)
  await rm(join(place.folder, '.env'))
  await mkdir(join(place.folder, '.env'))
  const folder = await place.call(['usage'])
  expect([folder.code, folder.stderr]).toEqual([2, expect.stringContaining('(.env is a folder here)')])
})

test('a broken rankline.yaml stops a run before anything is sent, and is told once for all jobs of the folder', async () => {
  await using sandbox = await startSandbox()
  await using place = await workspace(sandbox)
  await place.file('a.csv', 'query\na\n')
  await place.file('b.csv', 'query\nb\n')
  await place.file('rankline.yaml', 'budget: { per_dya: 5 }\n')
  for (const flags of [[], ['--skip-bad']])
    expect(await place.call(['run', 'a.csv', 'b.csv', ...flags])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: "rankline.yaml:1:11: unknown key 'per_dya'; write 'per_day'\n",
    })
  // Those of another folder run.
  await place.file('other/c.csv', 'query\nc\n')
  await place.file('other/rankline.yaml', 'budget: { per_day: 5 }\n')
  expect(
    await place.call(['run', 'a.csv', 'b.csv', 'other/c.csv', '--skip-bad', '--db', 'all.db']),
  ).toMatchObject({
    code: 2,
    stdout: expect.stringMatching(/^c \(run 1\): completed/),
    stderr: expect.stringMatching(/^rankline\.yaml:1:11: .*\na\.csv, b\.csv are left out\.\n/),
  })
})

test('names that turn the direction of writing turn nothing of what is printed, in a pipe neither', async () => {
  const { place: here } = await staged()
  await here.file('turned.yaml', 'name: "a\\u202Eb"\nqueries: [x]\n')
  await here.file('bad.yaml', '"x\u202ey": 1\nqueries: [x]\n')
  const told = await here.call(['plan', 'turned.yaml'])
  expect([told.code, told.stdout.includes('\u202e'), told.stdout]).toEqual([
    0,
    false,
    expect.stringMatching(/^a b /m),
  ])
  const bad = await here.start(['plan', 'bad.yaml']).ended
  expect([bad.code, bad.stderr]).toEqual([2, expect.stringContaining("unknown key 'x\\u202ey'")])
})
