import { spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nextCommands } from '../../src/cli/commands/collect/collect-runs.ts'
import { databaseLock, tryLock } from '../../src/store/sqlite/connection/lock.ts'
import { aJob, aTarget } from '../run/build.ts'
import { queriesCsv } from '../support/rankline.ts'
import { type Stage, stage } from '../support/stage.ts'

let staged: Stage
beforeAll(async () => {
  staged = await stage()
})
afterAll(() => staged[Symbol.asyncDispose]())

test('a first run makes the folder of the default database; a budget that ends it says what to raise', async () => {
  const { place } = staged
  await rm(join(place.folder, 'data'), { recursive: true })
  await place.file('job.csv', queriesCsv(3))
  const { code, stdout } = await place.call(['run', 'job.csv', '--max-credits', '1'])
  expect(code).toBe(4)
  expect(stdout).toContain(
    '2 tasks left. Raise max_credits (or --max-credits), then run the same command again',
  )
})

test('--quiet says nothing of what went well, and all of what did not', async () => {
  const { place } = staged
  await place.file('good.csv', queriesCsv(1))
  expect(await place.call(['run', 'good.csv', '--quiet'])).toEqual({ code: 0, stdout: '', stderr: '' })
  const json = await place.call(['run', 'good.csv', '--fresh', '--quiet', '--json'])
  expect(JSON.parse(json.stdout)).toMatchObject({ job: 'good', status: 'finished' })
  expect((await place.call(['export', 'organic', '--out', 'o.csv', '--quiet'])).stderr).toBe('')

  const stopped = await place.call(['run', 'job.csv', '--max-credits', '2', '--quiet'])
  expect(stopped).toMatchObject({ code: 4, stdout: expect.stringContaining('stopped at its budget') })
  await place.file('bad.csv', 'query,gl\na,usa\n')
  expect((await place.call(['run', 'bad.csv', '--quiet'])).stderr).toMatch(/^bad\.csv:2: /)
})

test('without a terminal the first line says how a run ended, how much of it is done, what it cost and what to do', async () => {
  const { sandbox, place } = staged
  await place.file('mail.csv', queriesCsv(3, 'mail'))
  sandbox.control({ rules: [{ operation: 'alpha.search', times: 1, do: { status: 400 } }] })
  const failed = await place.call(['run', 'mail.csv', '--quiet'])
  expect(failed.stdout).toMatch(
    /^mail \(run \d+\): completed with failures, 2 of 3 tasks done \(66 %\), 1 failed, 2 credits, .*\. Buy what failed again: rankline retry \d+\n {2}1 task: /,
  )

  // As cron does it: both streams into one.
  const program = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
  const command = [process.execPath, program, 'run', 'mail.csv', '--fresh', '--wait', '0']
  const child = spawn('/bin/sh', ['-c', 'exec "$0" "$@" 2>&1', ...command], {
    cwd: place.folder,
    env: { RANKLINE_BASE_URL: sandbox.url, RANKLINE_API_KEY: 'wrong-key' },
  })
  const mail = await text(child.stdout)
  expect(mail).toMatch(
    /^mail \(run \d+\): stopped, the key was refused, 0 of 3 tasks done \(0 %\), 0 credits, .*3 tasks left\. Continue with the same command, or: rankline resume \d+\n/,
  )
})

test('runs tells a run at work from one that died, and names its time zone', async () => {
  const { place } = staged
  place.change('UPDATE runs_ SET finished_at = NULL, finish_reason = NULL WHERE id = 1')
  const first = async (): Promise<string> =>
    (await place.call(['runs', '--job', 'job'])).stdout.split('\n').at(1) ?? ''
  const status = async (): Promise<unknown> =>
    JSON.parse((await place.call(['runs', '--job', 'job', '--json'])).stdout)[0].status

  expect((await place.call(['runs'])).stdout).toMatch(/^run +job +started \(UTC\) +ended as/)
  expect(await first()).toMatch(/ died /)
  expect(await status()).toBe('stopped')
  const lock = tryLock(databaseLock(join(place.folder, 'data/rankline.db')))
  try {
    expect(await first()).toMatch(/ running /)
    expect(await status()).toBe('running')
    expect((await place.call(['runs', '1'])).stdout).toMatch(/^job \(run 1\): running, /)
  } finally {
    lock?.release()
  }
})

test('who looks for what the demo collected is told where it is', async () => {
  const { place } = staged
  await place.file('else/demo.db', '')
  const { code, stderr } = await place.call(['report', 'standing-desks', '--db', 'else/rankline.db'])
  expect(code).toBe(2)
  expect(stderr).toContain('What the demo collected is in else/demo.db: add --db else/demo.db')
})

describe('the next command after a run', () => {
  const of = (results: Readonly<Record<string, number>>, more: object = {}) =>
    ({ job: 'acme', status: 'finished', results, ...more }) as unknown as Parameters<
      typeof nextCommands
    >[0][number]['document']

  test.each<[string, ReturnType<typeof of>, boolean, readonly string[]]>([
    ['the report of a job with targets', of({ organic: 3 }), true, ['Next: rankline report acme']],
    ['the results of one without', of({ organic: 3 }), false, ['Next: rankline export organic --job acme']],
    ['of their kind', of({ organic: 0, image: 9 }), false, ['Next: rankline export images --job acme']],
    ['a name with spaces', of({}, { job: "a b's" }), true, [`Next: rankline report 'a b'"'"'s'`]],
    ['nothing where there is nothing', of({ organic: 0 }), false, []],
    ['nothing where it goes on', of({ organic: 3 }, { status: 'stopped' }), true, []],
  ])('is %s', (_, document, tracked, lines) => {
    const run = { settings: aJob({ targets: tracked ? [aTarget()] : [] }) }
    expect(nextCommands([{ run, document }])).toEqual(lines)
  })
})
