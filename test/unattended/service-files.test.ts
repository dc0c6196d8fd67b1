import { execFileSync, spawnSync } from 'node:child_process'
import { mkdir, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { supervision } from '../../src/unattended/scheduler/supervision.ts'
import { workspace } from '../support/rankline.ts'
import { testTable } from '../support/test-table.ts'

const plan: Parameters<typeof supervision.serviceFiles.systemd>[0] = {
  node: '/usr/bin/node',
  program: '/opt/rankline/dist/cli.js',
  folder: '/srv/ranks',
  writes: [],
  args: [],
  upArgs: [],
  user: 'seo',
  commentInEnv: null,
}

/** Names that each system reads in its own way. */
const folders = [
  '/srv/ranks',
  '/srv/my ranks',
  `/srv/acme's "best"`,
  '/srv/100% sure',
  '/srv/%h and %%',
  '/srv/$HOME $PATH `id`',
  '/srv/a&b<c>d',
  '/srv/[q] * ?',
  '/srv/ränge',
]

testTable(folders)(
  'in %s the shell that cron starts enters the folder and passes each argument whole',
  async (folder) => {
    const args = [`${folder}/job.yaml`, '--db=a b.db']
    const lines = supervision.serviceFiles.crontab({ ...plan, folder, args }).split('\n')
    const line = lines.find((one) => !one.startsWith('#')) ?? ''
    expect(line).toMatch(/^\*\/5 \* \* \* \* cd /)
    // cron cuts at a bare % and takes the backslash away from the others.
    expect(line.replaceAll('\\%', '')).not.toContain('%')
    const command = line.slice('*/5 * * * * '.length).replaceAll('\\%', '%')
    const shown = `cd() { printf '%s\\n' "$1"; }; ${command.replace('&& /usr/bin/node', "&& printf '%s\\n'")}`
    const words = execFileSync('/bin/sh', ['-c', shown], { encoding: 'utf8' }).split('\n')
    expect(words).toEqual([folder, plan.program, 'run', '--due', '--skip-bad', '--quiet', ...args, ''])
  },
)

testTable(folders)('in %s launchd reads the folder and each argument whole', (folder) => {
  const args = [`${folder}/job.yaml`]
  const plist = supervision.serviceFiles.launchd({ ...plan, folder, args })
  const text = (xml = ''): string =>
    xml.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
  const strings = [...plist.matchAll(/<string>(.*)<\/string>/g)].map(([, xml]) => text(xml))
  expect(strings.slice(1, 6)).toEqual([plan.node, plan.program, 'schedule', ...args, folder])
  expect(plist.replaceAll(/&(amp|lt|gt);/g, '')).not.toContain('&')
})

testTable([
  [`C:\\Users\\O'Brien\\ranks`, `'C:\\Users\\O''Brien\\ranks'`],
  ['C:\\a ’b’ $x', `'C:\\a ’’b’’ $x'`],
])('for PowerShell %s is one text', (folder, quoted) => {
  const task = supervision.serviceFiles.windows({ ...plan, folder })
  expect(task).toContain(`-WorkingDirectory ${quoted}\n`)
})

testTable([
  ['C:\\Program Files\\x.js', '"C:\\Program Files\\x.js"'],
  ['C:\\my dir\\', '"C:\\my dir\\\\"'],
  ['a "b', '"a \\"b"'],
])('on a Windows command line %s is one word', (program, word) => {
  expect(supervision.serviceFiles.windows({ ...plan, program })).toContain(
    `-Argument '${word} run --due --skip-bad --quiet'`,
  )
})

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

test.skipIf(!hasSystemd).each(folders)('systemd accepts the unit of %s as it is printed', async (folder) => {
  await using place = await workspace()
  const own = join(await realpath(place.folder), folder)
  await mkdir(own, { recursive: true })
  const unit = join(place.folder, 'rankline.service')
  const args = [`${own}/job.yaml`, '--db=a b.db']
  await writeFile(
    unit,
    supervision.serviceFiles.systemd({ ...plan, node: process.execPath, folder: own, args }),
  )
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
})

testTable([
  ['A=1', null],
  ['A=1\r\n# all of it\r\nB = 2 # why', 3],
  [`A="1 # no comment"\nB='x' # one after quotes`, null],
  ['A=a#b', null],
  ['A=\n # 1', null],
])('a comment after a value of %j stands in line %j', (text, line) => {
  expect(supervision.commentedValue(text)).toBe(line)
})

test('what is printed names node, the program, the folder and the flags, and never the key', async () => {
  await using place = await workspace()
  await place.file('.env', 'RANKLINE_BASE_URL=https://service.example # ours\n')
  const env = { RANKLINE_API_KEY: 'secret-key' }
  const args = ['schedule', 'a.yaml', '--db', '/var/tmp/elsewhere/x.db']
  for (const system of Object.keys(supervision.serviceFiles)) {
    const { code, stdout, stderr } = await place.run([...args, '--print', system], env)
    expect(code).toBe(0)
    expect(stdout).toContain(process.execPath)
    expect(stdout).toMatch(/dist\/cli\.js.* a\.yaml|<string>a\.yaml/)
    expect(stdout).toContain(await realpath(place.folder))
    expect(stdout).toContain('--db=/var/tmp/elsewhere/x.db')
    expect(stdout + stderr).not.toContain('secret-key')
    expect(stderr).toMatch(/^Set in this shell only: RANKLINE_API_KEY\. Write it into \.env/)
    if (system !== 'systemd') continue
    expect(stdout).toContain('comment in its line 1')
    expect(stdout).toMatch(/^ReadWritePaths=\S+ \/var\/tmp\/elsewhere -\/run\/lock$/m)
  }
  const wrong = await place.call(['schedule', '--print', 'systemmd'])
  expect(wrong).toMatchObject({ code: 2, stdout: '' })
  expect(wrong.stderr).toContain("write 'systemd'")
})
