import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { dueCollector } from '../../src/cli/commands/collect/schedule.ts'
import { stopSignal } from '../../src/collect/stop.ts'
import { busyExitCode, UsageError } from '../../src/model/errors.ts'
import { systemClock } from '../../src/model/time.ts'
import { keyHash } from '../../src/run/config.ts'
import { turns } from '../../src/run/lock.ts'
import { keyLock } from '../../src/store/sqlite/connection/lock.ts'
import { cutToBytes } from '../../src/unattended/messages/ping.ts'
import { aJob } from '../run/build.ts'
import { aTerminal } from '../support/terminal.ts'
import { testTable } from '../support/test-table.ts'
import { aReceiver } from '../unattended/receivers.ts'
import { staged } from './staged.ts'

const job = 'ping: { url_env: PING_URL }\nqueries: [standing desk, oak desk]\n'

/** A place with `job.yaml` and a switch, and what that was told: path and first line of the body. */
async function aSwitch(options?: Parameters<typeof staged>[0], text = job) {
  const { place, sandbox } = await staged(options)
  const receiver = await aReceiver()
  await place.file('job.yaml', text)
  const told = () => receiver.received.map(({ path, body }) => [path, body.split('\n')[0]])
  return { place, sandbox, told, receiver, env: { PING_URL: `${receiver.url}/uuid-secret?create=1` } }
}

test('a switch is told when a run begins and how it ended', async () => {
  const { place, told, receiver, env } = await aSwitch()
  expect(await place.call(['run', 'job.yaml'], env)).toMatchObject({ code: 0, stderr: '' })
  expect(told()).toEqual([
    ['/uuid-secret/start?create=1', ''],
    ['/uuid-secret?create=1', expect.stringMatching(/^job \(run 1\): completed, 2 of 2 tasks done/)],
  ])
  expect(receiver.received.map(({ method }) => method)).toEqual(['POST', 'POST'])
})

test('failed tasks are a success with its summary; a run that was stopped has failed, and resume tells its end', async () => {
  const bad = { rules: [{ operation: 'alpha.search', query: 'oak desk', do: { status: 404 } }] } as const
  const { place, told, env } = await aSwitch(bad, `${job}budget: { max_credits: 0 }\n`)
  expect((await place.call(['run', 'job.yaml'], env)).code).toBe(4)
  await place.file('job.yaml', job)
  expect((await place.call(['run', 'job.yaml'], env)).code).toBe(3)
  expect(told()).toEqual([
    ['/uuid-secret/start?create=1', ''],
    ['/uuid-secret/fail?create=1', expect.stringContaining('stopped at its budget')],
    ['/uuid-secret/start?create=1', ''],
    ['/uuid-secret?create=1', expect.stringContaining('completed with failures')],
  ])
  expect((await place.call(['retry'], env)).code).toBe(3)
  expect(told()).toHaveLength(6)
})

test('what keeps a run from starting is told, too', async () => {
  const { place, told, env } = await aSwitch()
  expect((await place.call(['run', 'job.yaml'], { ...env, RANKLINE_API_KEY: 'wrong-key' })).code).toBe(5)
  expect(told().splice(0)).toEqual([
    ['/uuid-secret/start?create=1', ''],
    ['/uuid-secret/fail?create=1', expect.stringContaining('the key was refused')],
  ])
  const before = told().length
  expect((await place.call(['run', 'job.yaml'], { ...env, RANKLINE_API_KEY: '' })).code).toBe(2)
  await place.file('job.yaml', `${job}dept: 3\n`)
  expect((await place.call(['run', 'job.yaml'], env)).code).toBe(2)
  expect(told().slice(before)).toEqual([
    ['/uuid-secret/fail?create=1', expect.stringContaining('The API key is not set')],
    ['/uuid-secret/fail?create=1', "job.yaml:3:1: unknown key 'dept'; write 'depth'"],
  ])
})

test('with --skip-bad the switch of the job that was left out is told alone that nothing ran', async () => {
  const { place, told, env } = await aSwitch()
  await place.file('bad.yaml', `${job}dept: 3\n`)
  expect((await place.call(['run', '--skip-bad', 'job.yaml', 'bad.yaml'], env)).code).toBe(2)
  expect(told().map(([path]) => path)).toEqual([
    '/uuid-secret/start?create=1',
    '/uuid-secret?create=1',
    '/uuid-secret/fail?create=1',
  ])
  expect(told().at(-1)?.[1]).toContain("bad.yaml:3:1: unknown key 'dept'")
})

test('a job whose price is not agreed to is told alone, not one of which nothing is due', async () => {
  const { place, told, env } = await aSwitch({}, `every: 400d\n${job}`)
  expect((await place.call(['run', '--due'], env)).code).toBe(0)
  const before = told().length
  await place.file('dear.yaml', `every: 1d\nbudget: { confirm_over: 1 }\n${job}`)
  expect((await place.call(['run', '--due'], env)).code).toBe(4)
  expect(told().slice(before)).toEqual([
    ['/uuid-secret/fail?create=1', expect.stringContaining('dear may cost 2 credits')],
  ])
})

test('a switch that does not answer, or is not set, changes nothing of a run', async () => {
  const { place, receiver, env } = await aSwitch()
  receiver.answers.push(500, 500)
  const refused = await place.call(['run', 'job.yaml'], env)
  expect(refused).toMatchObject({ code: 0 })
  expect(refused.stderr).toContain('Pings of job did not arrive: HTTP 500. Check the address in PING_URL.')
  const unset = await place.call(['run', 'job.yaml', '--fresh'])
  expect(unset).toMatchObject({ code: 0 })
  expect(unset.stderr).toBe(
    'Pings of job did not arrive: PING_URL is not set. Set it in the environment or in .env.\n',
  )
  expect(refused.stderr).not.toContain('uuid-secret')
})

test('a scheduler that cannot begin tells so once, but not where it is only not its turn', async () => {
  const { place, sandbox, told, env } = await aSwitch()
  onTestFinished(() => void vi.unstubAllEnvs())
  vi.stubEnv('PING_URL', env.PING_URL)
  const path = join(place.folder, 'job.yaml')
  const form = { path, settings: aJob(), isBroken: false, text: Buffer.alloc(0) }
  await place.file('job.yaml', `every: 1d\n${job}`)
  await place.file('key', sandbox.key)
  const terminal = aTerminal({ columns: Number.POSITIVE_INFINITY })
  const flags = { db: join(place.folder, 'a.db'), baseUrl: sandbox.url }
  const scheduled = (file: string): Promise<unknown> =>
    dueCollector({ ...flags, apiKeyFile: join(place.folder, file) }, terminal, systemClock)(
      [form],
      stopSignal(),
      false,
    )
  {
    using _ = turns.tryCollector(keyLock(keyHash({ baseUrl: sandbox.url, apiKey: sandbox.key })))
    await expect(scheduled('key')).rejects.toMatchObject({ exitCode: busyExitCode })
  }
  expect(told()).toEqual([])
  await expect(scheduled('no-key')).rejects.toBeInstanceOf(UsageError)
  expect(told()).toEqual([['/uuid-secret/fail?create=1', expect.stringContaining('no-key')]])
})

testTable([
  ['abc', 3, 'abc'],
  ['abcd', 3, 'abc'],
  ['aä', 2, 'a'],
  ['a😀b', 4, 'a'],
  ['a😀b', 5, 'a😀'],
  ['ää', 0, ''],
])('%s cut to %d bytes: %s', (text, most, cut) => {
  expect(cutToBytes(text, most)).toBe(cut)
})
