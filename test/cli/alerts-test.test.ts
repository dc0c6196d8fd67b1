import { Webhook } from 'standardwebhooks'
import { expect, onTestFinished, test } from 'vitest'
import { workspace } from '../support/rankline.ts'
import { aMailServer, aReceiver } from '../unattended/receivers.ts'
import { staged } from './staged.ts'

async function aPlace() {
  const place = await workspace()
  onTestFinished(() => place[Symbol.asyncDispose]())
  return place
}

const channels = `channels:
  ops: { type: webhook, url_env: OPS_URL, secret_env: OPS_SECRET }
  chat: { type: slack, url_env: CHAT_URL }
  mail: { type: email, to: [seo@acme.com] }
  log: { type: file, path: alerts.jsonl }
`
const OPS_SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`

test('alerts test sends a sample through every channel, and says which one failed', async () => {
  const place = await aPlace()
  await place.file('rankline.yaml', channels)
  const [ops, chat, mail] = [await aReceiver(), await aReceiver(), await aMailServer()]
  await place.file('.env', `OPS_URL=${ops.url}/hook\nOPS_SECRET=${OPS_SECRET}\n`)
  const env = { SMTP_URL: `smtp://127.0.0.1:${mail.port}`, SMTP_FROM: 'alerts@acme.com' }

  const all = await place.run(['alerts', 'test'], { ...env, CHAT_URL: `${chat.url}/secret` })
  expect(all).toEqual({
    code: 0,
    stdout:
      'ops (webhook): delivered\nchat (slack): delivered\nmail (email): delivered\nlog (file): delivered\n',
    stderr: '',
  })
  const [{ body, headers }] = ops.received as [(typeof ops.received)[number]]
  expect(new Webhook(OPS_SECRET).verify(body, headers as Record<string, string>)).toMatchObject({
    type: 'rankline.alerts',
    data: {
      job: 'test',
      run: null,
      alerts: [{ state: 'open', text: expect.stringContaining('This is a test') }],
    },
  })
  expect(mail.mails).toHaveLength(1)
  expect(await place.read('alerts.jsonl')).toContain('This is a test of the channel log')

  chat.answers.push({ status: 404, body: 'no_team' })
  const some = await place.call(['alerts', 'test', '--json'], { ...env, CHAT_URL: `${chat.url}/secret` })
  expect(some.code).toBe(3)
  expect(JSON.parse(some.stdout)).toEqual([
    { channel: 'ops', type: 'webhook', delivered: true, reason: null },
    { channel: 'chat', type: 'slack', delivered: false, reason: 'HTTP 404 (no_team)' },
    { channel: 'mail', type: 'email', delivered: true, reason: null },
    { channel: 'log', type: 'file', delivered: true, reason: null },
  ])
  expect(`${some.stdout}${some.stderr}`).not.toContain('secret')
})

test('alerts test of one channel, of none, and of one that does not exist', async () => {
  const place = await aPlace()
  expect(await place.call(['alerts', 'test'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no channels'),
  })
  await place.file('rankline.yaml', channels)
  expect(await place.call(['alerts', 'test', 'log'])).toMatchObject({
    code: 0,
    stdout: 'log (file): delivered\n',
  })
  expect(await place.call(['alerts', 'test', 'chat'])).toMatchObject({
    code: 3,
    stdout: 'chat (slack): not delivered: CHAT_URL is not set. Set it in the environment or in .env\n',
  })
  expect(await place.call(['alerts', 'test', 'chatt'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("There is no channel 'chatt' in rankline.yaml. Did you mean chat?"),
  })
})

const put = `INSERT INTO outbox (identity, channel, kind, job, run_id, message, created_at, state, next_try_at)
  VALUES ('alerts:run 1:ops', 'ops', 'alerts', 'job', 1, '{"job":"job","run":1,"alerts":[]}', 1, 'waiting', 1)`

test('a run whose channel fails ends as it would without, and the next one delivers', async () => {
  const { place } = await staged({}, 2)
  await place.file('rankline.yaml', channels)
  const { url, received, answers } = await aReceiver()
  const env = { OPS_URL: `${url}/very-secret`, OPS_SECRET }
  expect((await place.call(['run', 'job.csv'])).code).toBe(0)
  place.change(put.replace(/, 1, 'waiting', 1/, ", unixepoch() * 1000, 'waiting', 1"))

  const unset = await place.call(['run', 'job.csv', '--fresh'])
  expect(unset.code).toBe(0)
  expect(unset.stderr).toContain(
    'Channel ops: OPS_URL and OPS_SECRET are not set. Set them in the environment or in .env. 1 message waits.',
  )
  answers.push(503)
  const down = await place.call(['run', 'job.csv', '--fresh'], env)
  expect(down.code).toBe(0)
  expect(down.stderr).toContain(
    'Channel ops: the message about run 1 of job was not delivered: HTTP 503. It is tried again next time.',
  )
  const up = await place.call(['run', 'job.csv', '--fresh'], env)
  expect(up.code).toBe(0)
  expect(up.stderr).not.toContain('Channel')
  expect(received).toHaveLength(2)
  expect(received[0]?.headers['webhook-id']).toBe(received[1]?.headers['webhook-id'])
  expect(place.sql('SELECT state, attempts FROM outbox')).toEqual([{ state: 'sent', attempts: 2 }])
  for (const { stdout, stderr } of [unset, down, up]) expect(stdout + stderr).not.toContain('very-secret')
})

test('run --due tries again though nothing is due, and says nothing', async () => {
  const { place } = await staged()
  await place.file('rankline.yaml', channels)
  await place.file('job.yaml', 'every: 7d\nqueries: [standing desk]\n')
  const { url, received, answers } = await aReceiver()
  const env = { OPS_URL: url, OPS_SECRET }
  expect((await place.call(['run', '--due'], env)).code).toBe(0)
  place.change(put.replace(/, 1, 'waiting', 1/, ", unixepoch() * 1000, 'waiting', 1"))
  const quiet = { code: 0, stdout: '', stderr: '' }
  expect(await place.call(['run', '--due'])).toEqual(quiet)
  answers.push(503)
  expect(await place.call(['run', '--due'], env)).toEqual(quiet)
  expect(await place.call(['run', '--due'], env)).toEqual(quiet)
  expect(received).toHaveLength(2)
  expect(place.sql('SELECT state, attempts FROM outbox')).toEqual([{ state: 'sent', attempts: 2 }])
})

test('run --due tries again where a time is taken at which nothing is due', async () => {
  const { place } = await staged()
  await place.file('rankline.yaml', channels)
  await place.file('job.yaml', 'schedule: "0 0 1 1 *"\nqueries: [standing desk]\n')
  const { url, received } = await aReceiver()
  const env = { OPS_URL: url, OPS_SECRET }
  expect((await place.call(['run', 'job.yaml'], env)).code).toBe(0)
  place.change(put.replace(/, 1, 'waiting', 1/, ", unixepoch() * 1000, 'waiting', 1"))
  expect(await place.call(['run', '--due'], env)).toEqual({ code: 0, stdout: '', stderr: '' })
  expect(place.sql('SELECT outcome FROM slots')).toEqual([{ outcome: 'nothing-due' }])
  expect(received).toHaveLength(1)
})
