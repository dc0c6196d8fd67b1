import { execFile } from 'node:child_process'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { queriesCsv } from '../support/rankline.ts'
import { type Stage, stage } from '../support/stage.ts'

const program = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

let staged: Stage
beforeAll(async () => {
  staged = await stage()
  await staged.place.file('desks.csv', queriesCsv(1))
  await staged.place.call(['run', 'desks.csv'])
})
afterAll(() => staged[Symbol.asyncDispose]())

/** The words offered where the last one is being typed. */
async function offered(...words: readonly string[]): Promise<readonly string[]> {
  const { code, stdout } = await staged.place.call(['__complete', ...words.slice(0, -1), `+${words.at(-1)}`])
  expect(code).toBe(0)
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t')[0] as string)
}

test.each<[readonly string[], readonly string[]]>([
  [['pl'], ['plan']],
  [['--quiet', 'pl'], ['plan']],
  [['--no-'], ['--no-color', '--no-input']],
  [['db', 'b'], ['backup']],
  [['queue', 'mi'], ['migrate']],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish', 'powershell'],
  ],
  [['run', '--ski'], ['--skip-bad']],
  [['run', '--due', '--du'], []],
  [['run', '--tag', 'a', '--tag'], ['--tag']],
  [['run', '--paging', 's'], ['smart']],
  [
    ['run', 'a.csv', '--operation', 'gamma.'],
    ['gamma.search', 'gamma.images'],
  ],
  [['search', 'beta'], ['beta.search']],
  [['search', 'beta.search', ''], []],
  [['export', 'or'], ['organic']],
  [['export', 'organic', '--format=p'], ['--format=parquet']],
  [['export', 'organic', '--format', '=', 'p'], ['--format=parquet']],
  [
    ['export', 'organic', '--format', '='],
    ['csv', 'jsonl', 'json', 'parquet', 'xlsx'].map((one) => `--format=${one}`),
  ],
  [['export', 'organic', '--job', 'd'], ['desks', ':files'].slice(0, 1)],
  [
    ['report', 'd'],
    ['desks', ':files'],
  ],
  [
    ['plan', 'one.csv', ''],
    ['desks', ':files'],
  ],
  [['report', 'desks', '-o', ''], [':files']],
  [['nothing', 'of', 'ours'], []],
])('completes %j with %j', async (typed, expected) => {
  expect(await offered(...typed)).toEqual(expected)
})

test('a script for each shell, exit 0; another shell is one sentence', async () => {
  for (const shell of ['bash', 'zsh', 'fish', 'powershell']) {
    const { code, stdout, stderr } = await staged.place.call(['completion', shell])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('rankline __complete')
  }
  expect(await staged.place.call(['completion'])).toEqual(await staged.place.call(['completion', 'bash']))
  const wrong = await staged.place.call(['completion', 'zhs'])
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean zsh?') })
})

test('bash completes words, values behind the sign =, and files', async () => {
  const { place } = staged
  const command = join(place.folder, 'rankline')
  await writeFile(command, `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`)
  await chmod(command, 0o755)
  const script = `
    source <(rankline completion bash)
    offer() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _rankline; echo "\${COMPREPLY[*]}"; }
    offer rankline db b
    offer rankline export organic --format = p
    offer rankline plan des`
  const { stdout } = await promisify(execFile)('bash', ['-c', script], {
    cwd: place.folder,
    env: { PATH: `${place.folder}:${process.env.PATH}` },
  })
  expect(stdout.split('\n')).toEqual(['backup', 'parquet', 'desks desks.csv', ''])
})
