import { expect, test } from 'vitest'
import { queriesCsv } from '../support/rankline.ts'
import { staged } from './staged.ts'

interface Line {
  readonly level: string
  readonly time: string
  readonly msg: string
  readonly run?: number
  readonly job?: string
  readonly [more: string]: unknown
}

/** Every line of standard error as JSON; a line that is not throws. */
function linesOf(stderr: string): readonly Line[] {
  return stderr
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line)
}

const json = ['--log-format', 'json']

test('what a run says on standard error is one JSON line each, with run and job', async () => {
  const { place, job } = await staged(
    { rules: [{ operation: 'alpha.search', times: 1, do: { status: 400 } }] },
    3,
  )
  const { code, stdout, stderr } = await place.run(['run', job, ...json])
  expect(code).toBe(3)
  expect(stdout).toContain('job (run 1): completed with failures')
  const lines = linesOf(stderr)
  expect(lines.map(({ level, msg, run, job }) => ({ level, msg, run, job }))).toEqual([
    { level: 'info', msg: 'Run started', run: 1, job: 'job' },
    { level: 'warn', msg: 'Run ended', run: 1, job: 'job' },
  ])
  expect(lines[1]).toMatchObject({
    finish_reason: 'completed_with_failures',
    tasks: { planned: 3, done: 2, failed: 1 },
    credits: { spent: 2 },
  })
  for (const { time } of lines) expect(new Date(time).toISOString()).toBe(time)
})

test('a line about several runs names them all; the environment sets the format, too; the key stands nowhere', async () => {
  const { place } = await staged()
  await place.file('a.csv', queriesCsv(1))
  await place.file('b.csv', queriesCsv(1, 'other'))
  const env = { RANKLINE_LOG_FORMAT: 'json', RANKLINE_API_KEY: 'a-secret-key' }
  const { code, stdout, stderr } = await place.call(['run', 'a.csv', 'b.csv', '--verbose'], env)
  expect(code).toBe(5)
  const lines = linesOf(stderr)
  expect(lines.filter(({ msg }) => msg === 'Run ended').map(({ level, run }) => [level, run])).toEqual([
    ['error', 1],
    ['error', 2],
  ])
  const others = lines.filter(({ msg }) => !/^Run (started|ended)$/.test(msg))
  expect(others).toEqual([
    expect.objectContaining({
      ...{ level: 'error', runs: [1, 2], jobs: ['a', 'b'] },
      msg: expect.stringContaining('refused the key'),
    }),
  ])
  expect(stdout + stderr).not.toContain(env.RANKLINE_API_KEY)
})

test('success is quiet with --quiet, and trouble is not', async () => {
  const { sandbox, place, job } = await staged({}, 1)
  expect((await place.call(['run', job, ...json, '--quiet'])).stderr).toBe('')
  sandbox.control({ rules: [{ operation: 'alpha.search', do: { status: 400 } }] })
  expect((await place.call(['run', job, '--fresh', ...json, '--quiet'])).stderr).toContain('Run ended')
})

test.each([
  [['plan', 'no.yaml', '--log-format=json'], /no\.yaml/],
  [['run', 'job.csv', ...json, '--no-such-flag'], /takes no --no-such-flag/],
  [['run', 'bad.yaml', ...json], /^bad\.yaml:1:1: unknown key 'depht'/],
  [['resume', '7', ...json], /There is no run 7/],
])('mistakes are JSON lines of the level error: %j', async (args, message) => {
  const { place } = await staged({}, 1)
  await place.file('bad.yaml', 'depht: 3\nqueries: [a]\n')
  const { code, stderr } = await place.call(args)
  expect(code).toBe(2)
  expect(linesOf(stderr)).toEqual([
    expect.objectContaining({ level: 'error', msg: expect.stringMatching(message) }),
  ])
})

test('another format is refused, and commands without a log take none', async () => {
  const { place, job } = await staged({}, 1)
  const other = await place.call(['run', job, '--log-format', 'xml'])
  expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('write text or json') })
  const runs = await place.call(['runs'], { RANKLINE_LOG_FORMAT: 'json' })
  expect(runs.stderr).toContain('There are no runs yet')
  expect(() => linesOf(runs.stderr)).toThrow()
})
