import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Workspace } from '../support/rankline.ts'
import { collectedJob, collecting, type Stage } from '../support/stage.ts'

const program = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
const commands: readonly (readonly string[])[] = [
  ['export', 'organic'],
  ['export', 'organic', '--format', 'parquet'],
  ['report', 'job', '--format', 'html'],
  ['diff', 'job'],
  ['ledger'],
]
const named = commands.map((args) => [args.join(' '), args] as const)

let job: Stage
let place: Workspace
beforeAll(async () => {
  job = await collectedJob()
  place = job.place
})
afterAll(() => job[Symbol.asyncDispose]())

/** Runs the program with its stdout on a device that has no room. */
async function ontoFullDisk(args: readonly string[]) {
  const full = openSync('/dev/full', 'w')
  const child = spawn(process.execPath, [program, ...args], {
    cwd: place.folder,
    env: {
      PATH: process.env.PATH ?? '',
      RANKLINE_BASE_URL: job.sandbox.url,
      RANKLINE_API_KEY: job.sandbox.key,
    },
    stdio: ['ignore', full, 'pipe'],
  })
  closeSync(full)
  const [said, [code]] = await Promise.all([text(child.stderr as Readable), once(child, 'close')])
  return { code, stderr: said }
}

describe.skipIf(!existsSync('/dev/full'))('a disk that is full behind stdout', () => {
  const sentence =
    'rankline: The output cannot be written because the disk is full. Free some space, or write it elsewhere\n'

  test.each(named)('fails %s with one sentence, and no cursor is named', async (_, args) => {
    expect(await ontoFullDisk(args)).toEqual({ code: 6, stderr: sentence })
  })

  test('does not change how a run ended', async () => {
    const { code, stderr } = await ontoFullDisk(collecting)
    expect(code).toBe(0)
    expect(stderr.match(/^rankline: .*$/gm)?.join('\n')).toBe(sentence.trimEnd())
    expect(place.sql('SELECT finish_reason FROM runs ORDER BY run_id DESC LIMIT 1')).toEqual([
      { finish_reason: 'completed' },
    ])
  })
})

describe('who stops reading', () => {
  test.each(named)('of %s has enough: nothing is said, no cursor either', async (_, args) => {
    const { child, ended } = place.start(args)
    child.stdout?.destroy()
    expect(await ended).toMatchObject({ code: 0, stderr: '' })
  })

  test('does not change how a run ended', async () => {
    const { child, ended } = place.start([...collecting, '--fresh'])
    child.stdout?.destroy()
    expect((await ended).code).toBe(0)
    expect(place.sql('SELECT finish_reason FROM runs ORDER BY run_id DESC LIMIT 1')).toEqual([
      { finish_reason: 'completed' },
    ])
  })
})

describe('what a command reads', () => {
  const curve = '# name: Ours\n# version: 1\n# source: us\nrank,ctr\n1,30%\n'

  test.each([
    ['the job of a report', ['report', 'job.csv', '--format', 'csv', '--out', './job.csv'], 'job.csv'],
    ['the job of a diff', ['diff', 'job.csv', '--out', 'job.csv'], 'job.csv'],
    ['a curve', ['report', 'job', '--format', 'md', '--ctr', 'ctr.csv', '--out', 'ctr.csv'], 'ctr.csv'],
  ])('is not written over: %s', async (_, args, file) => {
    await place.file('ctr.csv', curve)
    const before = await place.read(file)
    expect(await place.call(args)).toEqual({
      code: 2,
      stdout: '',
      stderr: `rankline: --out names ${file}, which is read and would be lost. Give it the name of another file\n`,
    })
    expect(await place.read(file)).toBe(before)
  })

  test.each([
    [
      'the job file of a report',
      ['report', 'job', '--out', 'job.csv'],
      'job.csv',
      'job.csv, the job file of job',
    ],
    ['that of a diff, by a link', ['diff', 'job', '--out', 'link'], 'job.csv', 'link, the job file of job'],
    [
      'that of an export',
      ['export', 'organic', '--out', 'job.csv'],
      'job.csv',
      'job.csv, the job file of job',
    ],
    ['the settings', ['export', 'organic', '--out', '.env'], '.env', '.env, the file for settings'],
    [
      'a file of queries',
      ['report', 'other.yaml', '--out', './lists/a.csv'],
      'lists/a.csv',
      './lists/a.csv, from which other.yaml reads queries',
    ],
  ])('is not written over where it is not named as a file: %s', async (_, args, file, what) => {
    await place.file('.env', '# none\n')
    await place.file('lists/a.csv', 'query\na\n')
    await place.file('other.yaml', 'name: job\nqueries: [{ file: lists/a.csv }]\n')
    await rm(join(place.folder, 'link'), { force: true })
    await symlink('job.csv', join(place.folder, 'link'))
    const before = await place.read(file)
    expect(await place.call(args)).toEqual({
      code: 2,
      stdout: '',
      stderr: `rankline: --out names ${what}, which would be lost. Give it the name of another file\n`,
    })
    expect(await place.read(file)).toBe(before)
  })
})

const script = '/usr/bin/script'

test.skipIf(!existsSync(script) || process.platform !== 'linux')(
  'a terminal that does not say how wide it is has 80 columns',
  () => {
    // A terminal without a size is what `script` makes where its own stdin is none.
    const onScreen = (flags: string): string =>
      execFileSync(script, ['-qec', `'${process.execPath}' '${program}' report job ${flags}`, '/dev/null'], {
        cwd: place.folder,
        env: { PATH: process.env.PATH ?? '', NO_COLOR: '1', TERM: 'xterm', LANG: 'C.UTF-8' },
        stdio: ['ignore', 'pipe', 'pipe'],
        encoding: 'utf8',
      })
    const said = onScreen('')
    const widths = said.split('\r\n').map((line) => line.length)
    expect(Math.max(...widths)).toBeLessThanOrEqual(80)
    expect(Math.max(...widths)).toBeGreaterThan(60)
    // The rows are for those who ask, and for pipes.
    expect(said).toMatch(/^What to do next\r$/m)
    expect(said).not.toMatch(/^(Ranks: |query )/m)
    expect(onScreen('--rows')).toMatch(/^What to do next\r.*^Ranks: .*^query /ms)
  },
)
