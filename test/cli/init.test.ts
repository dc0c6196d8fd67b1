import { chmod, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { expect, test } from 'vitest'
import { init, readPlace, readSite, readTime } from '../../src/cli/commands/workspace/init.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { workspace } from '../support/rankline.ts'
import { aTerminal } from '../support/terminal.ts'
import { testTable } from '../support/test-table.ts'

const files = [
  '.env',
  '.env.example',
  '.gitignore',
  '.rankline',
  'README.md',
  'keywords.csv',
  'ranks.yaml',
  'rankline.yaml',
]

async function listed(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => name !== 'data').sort()
}

test('what init lays out runs against the sandbox as it is, by the commands that init prints', async () => {
  await using sandbox = await startSandbox({ sites: ['northdesk.example'] })
  await using place = await workspace(sandbox)
  const made = await place.call(['init', '--yes', '--json'])
  expect(made).toMatchObject({ code: 0, stderr: '' })
  expect(await listed(place.folder)).toEqual(files.toSorted())
  const { next, sandbox: started } = JSON.parse(made.stdout) as { next: string[]; sandbox: string }
  expect(started).toBe('rankline sandbox')
  expect(next.map((command) => command.split(' ')[1])).toEqual(['plan', 'run', 'report'])
  for (const command of next)
    expect(await place.call(command.split(' ').slice(1))).toMatchObject({ code: 0, stderr: '' })
  expect(place.sql('SELECT job, finish_reason, tasks_failed FROM runs')).toEqual([
    { job: 'ranks', finish_reason: 'completed', tasks_failed: 0 },
  ])
  expect(place.sql("SELECT 1 FROM rankings WHERE state = 'ranked'").length).toBeGreaterThan(0)
})

test('its settings are those of a sandbox without flags, and only their owner may read them', async () => {
  await using place = await workspace()
  await place.call(['init', '--yes'])
  const env = parseEnv(await place.read('.env'))
  const { stdout: help } = await place.call(['sandbox', '--help'])
  expect(help).toContain(`[${new URL(String(env.RANKLINE_BASE_URL)).port}]`)
  expect(help).toContain(`[${env.RANKLINE_API_KEY}]`)
  expect((await stat(join(place.folder, '.env'))).mode & 0o777).toBe(0o600)
})

test('the first line of each YAML file names a JSON Schema that is there', async () => {
  await using place = await workspace()
  await place.call(['init', '--yes'])
  for (const file of ['ranks.yaml', 'rankline.yaml']) {
    const [, schema = ''] =
      (await place.read(file)).match(/^# yaml-language-server: \$schema=\.\/(.+)\n/) ?? []
    expect(JSON.parse(await place.read(schema))).toMatchObject({
      type: 'object',
      additionalProperties: false,
    })
  }
})

test('init --schemas writes the schemas again, and nothing else', async () => {
  await using place = await workspace()
  await place.file('.rankline/job.schema.json', '{}')
  expect((await place.call(['doctor'])).stdout).toContain('rankline init --schemas')
  expect(await place.call(['init', '--schemas'])).toMatchObject({ code: 0, stderr: '' })
  expect((await place.call(['doctor'])).stdout).not.toContain('--schemas')
  expect(await listed(place.folder)).toEqual(['.rankline'])
  expect(JSON.parse(await place.read('.rankline/job.schema.json'))).toHaveProperty('properties.queries')
})

test('flags answer in the place of questions, and a new folder is made', async () => {
  await using place = await workspace()
  const { code, stdout } = await place.call(
    ['init', 'new/ranks', '--site', 'https://www.acme.com/', '--country', 'de', '--at', '6:30'],
    { TZ: 'UTC' },
  )
  expect(code).toBe(0)
  expect(stdout).toContain('rankline sandbox --site acme.com\n')
  expect(stdout).toContain('\n  cd new/ranks\n')
  const job = await place.read('new/ranks/ranks.yaml')
  expect(job).toContain('targets: [acme.com]')
  expect(job).toContain('params: { gl: de, hl: de, location: "Germany" }')
  expect(job).toContain('schedule: "30 6 * * *"')
})

/** A terminal at which a person gives these answers, one after the other, and then ends the input. */
function answering(answers: readonly string[]) {
  const lines: string[] = []
  const left = [...answers]
  const terminal = aTerminal({
    log: (line) => void lines.push(line),
    askText: async (question) => {
      lines.push(question)
      return left.shift() ?? null
    },
  })
  return { terminal, lines }
}

test('on a terminal three questions are asked, each again after an answer that cannot be', async () => {
  await using place = await workspace()
  const { terminal, lines } = answering(['acme', 'acme.com', 'uk', 'gb', '25', ''])
  expect(await init({ dir: place.folder }, terminal)).toBe(0)
  expect(lines.map((line) => line.replace(/ \(.*?\)/, ''))).toEqual([
    'Enter takes the answer in brackets.',
    'Your site [northdesk.example]:',
    "That cannot be 'acme'; write a site such as acme.com.",
    'Your site [northdesk.example]:',
    'Country and language to search in, as codes [us en]:',
    "That cannot be 'uk'; write gb.",
    'Country and language to search in, as codes [us en]:',
    'Time of day to collect at [06:00]:',
    "That cannot be '25'; write a time of day such as 06:30.",
    'Time of day to collect at [06:00]:',
  ])
  const job = await place.read('ranks.yaml')
  expect(job).toContain('params: { gl: gb, hl: en, location: "United Kingdom" }')
  expect(job).toContain('schedule: "0 6 * * *"')
})

test('where a person ends the questions nothing is written, and with --yes none is asked', async () => {
  await using place = await workspace()
  await expect(init({ dir: place.folder }, answering(['acme.com']).terminal)).rejects.toMatchObject({
    exitCode: 130,
    message: 'Nothing was written.',
  })
  expect(await listed(place.folder)).toEqual([])
  const { terminal, lines } = answering([])
  expect(await init({ dir: place.folder, yes: true }, terminal)).toBe(0)
  expect(lines).toEqual([])
})

test('a file that exists is never touched; where all exist, nothing is written and the exit code is 2', async () => {
  await using place = await workspace()
  await place.file('ranks.yaml', 'queries: [mine]\n')
  await place.file('.gitignore', 'node_modules/\n')
  expect(await place.call(['init', '--yes'])).toMatchObject({
    code: 0,
    stderr:
      'Already there, and left as they are: ranks.yaml, .gitignore.\nSee that .gitignore names .env and data/.\n',
  })
  expect(await place.read('ranks.yaml')).toBe('queries: [mine]\n')
  expect(await place.read('.gitignore')).toBe('node_modules/\n')
  const again = await place.call(['init', '--yes'])
  expect(again.code).toBe(2)
  expect(again.stderr).toContain('rankline: Nothing was written: every file of a workspace is in ')
})

test('a folder that cannot be is one sentence', async () => {
  await using place = await workspace()
  await place.file('taken', 'a file')
  for (const folder of ['taken', 'taken/ranks']) {
    const { code, stderr } = await place.call(['init', folder, '--yes'])
    expect([code, stderr]).toEqual([
      2,
      `rankline: ${folder}/ranks.yaml cannot be written: a file stands where the folder would be. Name another folder\n`,
    ])
  }
})

test.skipIf(process.getuid?.() === 0)('a folder that is not ours is one sentence', async () => {
  await using place = await workspace()
  await chmod(place.folder, 0o500)
  const { code, stderr } = await place.call(['init', 'ranks', '--yes'])
  await chmod(place.folder, 0o700)
  expect(code).toBe(2)
  expect(stderr).toContain('you may not write there. Name another folder')
})

testTable<[string, object]>([
  ['us en', { value: { country: 'us', language: 'en' } }],
  ['DE', { value: { country: 'de', language: 'de' } }],
  ['br', { value: { country: 'br', language: 'pt' } }],
  ['ch, fr', { value: { country: 'ch', language: 'fr' } }],
  ['uk', { message: "cannot be 'uk'", fix: 'write gb' }],
  ['us en de', { message: "cannot be 'us en de'", fix: 'write two codes such as us en' }],
])('country and language are read from %s', (text, read) => {
  expect(readPlace(text)).toEqual(read)
})

testTable<[string, string | null]>([
  ['acme.com', 'acme.com'],
  ['https://www.acme.com/shop?x=1', 'acme.com'],
  ['Shop.Acme.co.uk', 'shop.acme.co.uk'],
  ['acme', null],
  ['co.uk', null],
])('the site of %s is %s', (text, site) => {
  const read = readSite(text)
  expect('value' in read ? read.value.site : null).toBe(site)
})

testTable<[string, readonly number[] | null]>([
  ['6', [6, 0]],
  ['06:30', [6, 30]],
  ['23:59', [23, 59]],
  ['24:00', null],
  ['6:3', null],
  ['six', null],
])('the time of day of %s is %o', (text, time) => {
  const read = readTime(text)
  expect('value' in read ? [read.value.hour, read.value.minute] : null).toEqual(time)
})

test('a table of clients becomes a job for each; mistakes are told at once, and nothing is written then', async () => {
  await using sandbox = await startSandbox()
  await using place = await workspace(sandbox)
  await place.file(
    'clients.csv',
    'Name;Site;country;at\nAcme, Inc.;https://www.acme.com/;de;5:30\nGlobex;globex.com;;\n',
  )
  const made = await place.call(['init', '--jobs', 'clients.csv', '--json'])
  expect([made.code, JSON.parse(made.stdout).jobs]).toEqual([0, ['acme-inc', 'globex']])
  const plan = await place.call(['plan', 'acme-inc.yaml', 'globex.yaml', '--json'])
  expect([plan.code, JSON.parse(plan.stdout)]).toMatchObject([0, [{ job: 'acme-inc' }, { job: 'globex' }]])
  const acme = await place.read('acme-inc.yaml')
  expect(acme).toContain('client: "Acme, Inc."')
  expect(acme).toContain('gl: de, hl: de')
  expect(acme).toContain('"30 5 * * *"')
  expect(await listed(place.folder)).not.toContain('ranks.yaml')
  expect((await place.call(['plan', 'acme.yaml'])).stderr).toContain('did you mean acme-inc.yaml?')

  await place.file('clients.csv', 'name,site\nAcme Inc,acme.com\nUmbrella,umbrella.example\n')
  const grown = await place.call(['init', '--jobs', 'clients.csv'])
  expect(grown.stdout).toContain('rankline plan umbrella.yaml')

  await place.file('clients.csv', 'name,site\nAcme Inc,acme.com\nacme-inc,acme.com\n,x.com\nInitech,\n')
  const wrong = await place.call(['init', 'other', '--jobs', 'clients.csv'])
  expect(wrong.code).toBe(2)
  expect(wrong.stderr).toMatch(
    /clients\.csv:3: .*the same job.*\n.*clients\.csv:4: name.*\n.*clients\.csv:5: site/,
  )
  expect(await listed(place.folder)).not.toContain('other')
  await place.file('clients.csv', 'client\nacme\n')
  expect((await place.call(['init', '--jobs', 'clients.csv'])).stderr).toContain('name,site,country')
  expect((await place.call(['init', '--jobs', 'none.csv'])).stderr).toContain('none.csv')
})
