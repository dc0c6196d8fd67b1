import { chmod, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serviceAsker } from '../../src/cli/commands/collect/schedule.ts'
import { systemClock } from '../../src/model/time.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import type { ControlChange } from '../../src/sandbox/state.ts'
import type { Started, Workspace } from '../support/rankline.ts'
import { workspace } from '../support/rankline.ts'
import { waitWhile } from './staged.ts'

/** Far from now, in every zone: what is due is due because the scheduler was started. */
const yearly = (queries: string): string => `schedule: "0 6 1 1 *"\nqueries: [${queries}]\n`

/** What a program has logged so far. */
function logOf({ child }: Started): () => string {
  let text = ''
  child.stderr?.on('data', (piece: string) => {
    text += piece
  })
  return () => text
}

async function waitUntil(read: () => Promise<string>, pattern: RegExp): Promise<void> {
  while (!pattern.test(await read())) await new Promise((resolve) => setTimeout(resolve, 5))
}

async function healthOf(log: string): Promise<{ readonly status: number; readonly body: unknown }> {
  const [, url = ''] = log.match(/Health: (\S+)/) ?? []
  const response = await fetch(url)
  return { status: response.status, body: await response.json() }
}

test('it stays up, says how it is, lets others collect while it waits, and SIGTERM ends it with 0', async () => {
  await using sandbox = await startSandbox()
  await using place = await workspace(sandbox)
  await place.file('a.yaml', yearly('desk, chair'))
  await place.file('other.csv', 'query\nlamp\n')
  const up = place.start(['schedule', '--health', '0'])
  const log = logOf(up)
  await waitWhile(() => !log().includes('Next: a'))
  expect(await healthOf(log())).toMatchObject({
    status: 200,
    body: {
      status: 'ok',
      jobs: [
        {
          job: 'a',
          next: { at: expect.stringMatching(/-01-01T06:00:00\.000Z$/), zone: 'UTC' },
          last_run: { run: 1, finish_reason: 'completed' },
        },
      ],
    },
  })
  expect((await place.call(['run', 'other.csv', '--wait', '0'])).code).toBe(0)
  await place.file('a.yaml', 'schedule: "0 99 1 1 *"\nqueries: [a]\n')
  up.child.kill('SIGTERM')
  const { code, stdout, stderr } = await up.ended
  expect([code, stdout]).toEqual([0, ''])
  const lines = stderr.trimEnd().split('\n')
  for (const line of lines) expect(line).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ /)
  expect(lines.map((line) => line.slice(21))).toEqual([
    expect.stringMatching(/^Up with 1 job: a\. Health: http:\/\/127\.0\.0\.1:\d+\/health$/),
    expect.stringMatching(/^a \(run 1\): completed, 2 of 2 tasks done, 2 credits/),
    expect.stringMatching(/^Next: a at \d{4}-01-01 06:00 \(UTC\)$/),
    expect.stringMatching(/^Stopping: /),
    'Stopped.',
  ])
  expect(stderr).not.toContain(sandbox.key)
})

test('a file that had mistakes when the scheduler began is told of once, and again when it is mended', async () => {
  await using sandbox = await startSandbox()
  await using place = await workspace(sandbox)
  await place.file('rankline.yaml', 'channels: { log: { type: file, path: alerts.jsonl } }\n')
  const job = `${yearly('{ file: list.csv }')}alerts: [{ when: run-skipped }]\n`
  const byHand = 'queries: [{ file: list.csv }]\nalerts: [{ when: run-skipped }]\n'
  await place.file('list.csv', 'query\ndesk\n')
  await place.file('a.yaml', job)
  await place.file('hand.yaml', byHand)
  await place.file('well.yaml', yearly('lamp'))
  expect((await place.call(['run', 'a.yaml', 'hand.yaml'])).code).toBe(0)
  await place.file('list.csv', '')
  const told = () => place.read('alerts.jsonl').catch(() => '')

  const up = place.start(['schedule'])
  await waitUntil(told, /Not run/)
  await place.file('list.csv', 'query\nchair\n')
  up.child.kill('SIGTERM')
  expect((await up.ended).code).toBe(0)
  const again = place.start(['schedule'])
  await waitUntil(told, /At work again/)
  again.child.kill('SIGTERM')
  expect((await again.ended).code).toBe(0)
  const lines = (await told()).trim().split('\n')
  expect(lines).toEqual([
    expect.stringMatching(/list\.csv: the file is empty.* Not run: a"/),
    expect.stringMatching(/has no mistakes any more\. At work again: a"/),
  ])
})

test('a signal during a run: what is in flight is awaited and stored, and the next start goes on with it', async () => {
  await using sandbox = await startSandbox({ latencyMs: 400 })
  await using place = await workspace(sandbox)
  await place.file('a.yaml', yearly(Array.from({ length: 12 }, (_, n) => `desk ${n}`).join(', ')))
  const first = place.start(['schedule', '--concurrency', '3'])
  await waitWhile(() => sandbox.ledger.charged < 3)
  first.child.kill('SIGTERM')
  expect((await first.ended).code).toBe(0)
  expect(place.sql('SELECT finish_reason FROM runs')).toEqual([{ finish_reason: 'interrupted' }])
  expect(place.sql('SELECT count(*) AS n FROM calls WHERE billed IS NULL')).toEqual([{ n: 0 }])
  sandbox.control({ latencyMs: 0 })
  const second = place.start(['schedule'])
  const log = logOf(second)
  await waitWhile(() => !log().includes('Next: a'))
  second.child.kill('SIGINT')
  expect((await second.ended).code).toBe(130)
  expect(place.sql('SELECT run_id, finish_reason FROM runs')).toEqual([
    { run_id: 1, finish_reason: 'completed' },
  ])
  expect(sandbox.ledger.charged).toBe(12)
})

test('systemd is told that it is up, what it waits for, that it is alive, and that it stops', async () => {
  await using sandbox = await startSandbox()
  await using place = await workspace(sandbox)
  await place.file('a.yaml', yearly('desk'))
  const env = await fakeNotify(place, 'exit 0')
  const up = place.start(['schedule'], { ...env, WATCHDOG_USEC: '600000' })
  const told = (): Promise<string> => place.read('told').catch(() => '')
  await waitUntil(told, /Next: a.*Next: a.*Next: a/s)
  up.child.kill('SIGTERM')
  expect((await up.ended).code).toBe(0)
  const lines = (await told()).trimEnd().split('\n')
  expect(lines[0]).toBe('/run/notify: --no-block --ready --status=Looking at what is due WATCHDOG=1')
  expect(lines).toContainEqual(
    expect.stringMatching(/^\/run\/notify: --no-block --ready --status=Next: a at .* \(UTC\) WATCHDOG=1$/),
  )
  expect(lines).toContain('/run/notify: --no-block STOPPING=1')
  expect(lines.join()).not.toContain(sandbox.key)
})

test('an older systemd-notify is told without the option that it does not know', async () => {
  await using sandbox = await startSandbox()
  await using place = await workspace(sandbox)
  await place.file('a.yaml', yearly('desk'))
  const env = await fakeNotify(place, 'case "$*" in --no-block*) exit 1;; esac')
  const up = place.start(['schedule'], env)
  await waitUntil(() => place.read('told').catch(() => ''), /^\/run\/notify: --ready/m)
  up.child.kill('SIGTERM')
  expect((await up.ended).code).toBe(0)
})

/** A systemd-notify that writes down what it is told, and what it could read of the key. */
async function fakeNotify(place: Workspace, end: string): Promise<Readonly<Record<string, string>>> {
  const script = `#!/bin/sh\necho "$NOTIFY_SOCKET: $*$RANKLINE_API_KEY" >> ${join(place.folder, 'told')}\n${end}\n`
  await chmod(join(place.folder, await place.file('bin/systemd-notify', script)), 0o755)
  return { NOTIFY_SOCKET: '/run/notify', PATH: `${join(place.folder, 'bin')}:${process.env.PATH}` }
}

test('what cannot work is refused at once, in one sentence', async () => {
  await using place = await workspace()
  await place.file('plain.yaml', 'queries: [a]\n')
  const env = { RANKLINE_BASE_URL: 'http://127.0.0.1:9', RANKLINE_API_KEY: 'test-key' }
  const refused = async (args: readonly string[], of = env): Promise<string> => {
    const { code, stdout, stderr } = await place.call(['schedule', ...args], of)
    expect([code, stdout]).toEqual([2, ''])
    return stderr
  }
  expect(await refused([])).toMatch(/No YAML file of this folder says when its job runs/)
  expect(await refused(['plain.yaml'])).toMatch(/plain\.yaml: the file does not say when its job runs; write/)
  expect(await refused(['none.yaml'])).toMatch(/none\.yaml: there is no such file/)
  const broken = await place.file('broken.yaml', 'schedule: "0 6 * * *"\nqueries: [a]\ndepht: 3\n')
  expect(await refused([])).toMatch(
    /No job of this folder can be scheduled before these mistakes are mended$/m,
  )
  await rm(join(place.folder, broken))
  await place.file('a.yaml', yearly('desk'))
  expect(await refused([], { ...env, RANKLINE_API_KEY: '' })).toMatch(/The API key is not set/)
  expect(await refused(['--db', 'none/ranks.db'])).toMatch(/The folder none for the database does not exist/)
  expect(await refused(['--health', '70000'])).toMatch(/--health cannot be '70000'/)
  await using taken = await startSandbox()
  expect(await refused(['--health', new URL(taken.url).port])).toMatch(/Port \d+ is taken\. Give --health/)
})

test('/health is for this machine: another name is refused, and there is nothing else', async () => {
  const { supervision } = await import('../../src/unattended/scheduler/supervision.ts')
  const document = { status: 'failing', version: '1', up_since: '', jobs: [] } as const
  await using server = await supervision.serveHealth(0, () => document)
  expect((await fetch(server.url)).status).toBe(503)
  expect((await fetch(server.url.replace('/health', '/'))).status).toBe(404)
  expect((await fetch(server.url, { method: 'POST' })).status).toBe(404)
  const { request } = await import('node:http')
  const status = await new Promise((resolve) => {
    request(server.url, { headers: { host: 'evil.example' } }, (response) => {
      response.resume()
      resolve(response.statusCode)
    }).end()
  })
  expect(status).toBe(403)
})

test('what was stopped goes on when the key is taken, and balance and quota cover a call', async () => {
  await using sandbox = await startSandbox({ account: { subscription: { total: 0 } } })
  await using place = await workspace(sandbox)
  const key = join(place.folder, await place.file('key', sandbox.key))
  const db = join(place.folder, 'data/rankline.db')
  const takesCalls = serviceAsker({ db, baseUrl: sandbox.url, apiKeyFile: key }, systemClock)
  const after = async (change: ControlChange): Promise<boolean> => {
    sandbox.control(change)
    return await takesCalls()
  }

  expect(await after({})).toBe(false)
  expect(await after({ topUp: { credits: 1 } })).toBe(true)
  expect(await after({ account: { quotas: { daily: 0 } } })).toBe(false)
  expect(await after({ account: { quotas: { daily: 1 } } })).toBe(true)
  expect(await after({ account: { keyExpires: '2020-01-01T00:00:00Z' } })).toBe(false)
  expect(await after({ account: { keyExpires: null } })).toBe(true)
  expect(sandbox.ledger.charged).toBe(0)
})
