import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openStore, type Store } from '../../src/store/sqlite/open.ts'
import type { NewMessage } from '../../src/store/sqlite/unattended/outbox.ts'
import { deliver, nextTry } from '../../src/unattended/messages/deliver.ts'
import { aStore, hour, noon } from '../store/build.ts'
import { testTable } from '../support/test-table.ts'
import { anAlert, aReceiver, around } from './receivers.ts'

const minute = 60_000
const day = 24 * hour

function aNewMessage(channel: string, run = 12): NewMessage {
  return {
    ...{ identity: `alerts:run ${run}:${channel}`, channel, job: 'acme', runId: run },
    ...{ kind: 'alerts', message: { job: 'acme', run, alerts: [anAlert()] } },
  }
}

/** A database with the job `acme`, whose file lies beside a workspace file with these channels. */
async function aDesk(channels: string, secrets: Readonly<Record<string, string>> = {}) {
  const { store, path } = await aStore()
  const folder = dirname(path)
  await writeFile(join(folder, 'rankline.yaml'), channels)
  await store.nameJob('acme', join(folder, 'acme.yaml'))
  let now = noon
  let [slow, elapsed] = [0, 0]
  const by = (deliverer: Store) => async (): Promise<readonly string[]> => {
    const lines: string[] = []
    const monotonic = (): number => {
      elapsed += slow
      return performance.now() + elapsed
    }
    const clock = { wall: () => now, monotonic }
    await deliver({
      store: deliverer,
      clock,
      outgoing: around(secrets),
      log: (line) => void lines.push(line),
    })
    return lines
  }
  return {
    ...{ store, folder, path, by, deliver: by(store) },
    later: (ms: number) => {
      now += ms
    },
    /** From now on each look at the clock finds so much time gone. */
    slowDown: (ms: number) => {
      slow = ms
    },
  }
}

const log = 'channels:\n  log: { type: file, path: alerts.jsonl }\n'
const ops = 'channels:\n  ops: { type: webhook, url_env: OPS_URL }\n'

test('a message is delivered once, and not again', async () => {
  const { store, folder, deliver: pass } = await aDesk(log)
  await store.putMessages([aNewMessage('log'), aNewMessage('log', 13)], noon)
  expect([...(await pass()), ...(await pass())]).toEqual([])
  const lines = (await readFile(join(folder, 'alerts.jsonl'), 'utf8')).trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line).data.run)).toEqual([12, 13])
  expect(await store.messages({})).toMatchObject([
    { state: 'sent', sentAt: noon, attempts: 1 },
    { state: 'sent' },
  ])
})

test('a message that fails is tried ever more rarely, for some three days, then given up', async () => {
  const { url, received, answers } = await aReceiver()
  const { store, deliver: pass, later } = await aDesk(ops, { OPS_URL: url })
  await store.putMessages([aNewMessage('ops')], noon)
  const tries: number[] = []
  const lines: string[] = []
  // A scheduler looks every minute. What is tried later than that is tried at a twelfth minute, and not a minute before.
  const looks = (passed: number): boolean => passed <= 12 || passed % 12 === 0 || passed % 12 === 11
  for (let passed = 0; passed <= 5 * day; passed += minute, later(minute)) {
    if (!looks(passed / minute)) continue
    answers.splice(0, answers.length, 503)
    const before = received.length
    lines.push(...(await pass()))
    if (received.length > before) tries.push(passed / minute)
  }
  expect(tries).toEqual([0, 1, 2, 12, 72, 312, 1032, 2232, 3432, 4632])
  expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  expect(lines).toHaveLength(10)
  expect(lines[0]).toBe(
    'Channel ops: the message about run 12 of acme was not delivered: HTTP 503. It is tried again next time.',
  )
  expect(lines.at(-1)).toBe(
    'Channel ops: the message about run 12 of acme was given up after 10 tries: HTTP 503.',
  )
  expect(await store.messages({})).toMatchObject([{ state: 'dead', attempts: 10, lastError: 'HTTP 503' }])
})

testTable([
  [1, null, 0],
  [1, 30_000, 30_000],
  [4, 30_000, hour],
  [4, 2 * hour, 2 * hour],
  [2, 900 * day, day],
  [9, null, 20 * hour],
  [10, null, null],
  [10, 5_000, null],
])('after %d tries, asked to wait %s ms: %s', (tries, asked, wait) => {
  expect(nextTry(tries, asked)).toBe(wait)
})

test('a channel that is not set up is said in one sentence, and its messages wait until it is', async () => {
  const { url, received } = await aReceiver()
  const secrets: Record<string, string> = {}
  const {
    store,
    folder,
    deliver: pass,
    later,
  } = await aDesk(`${ops}  chat: { type: slack, url_env: CHAT }\n`, secrets)
  await store.putMessages(
    [aNewMessage('ops'), aNewMessage('ops', 13), aNewMessage('chat'), aNewMessage('gone')],
    noon,
  )
  secrets.CHAT = url
  expect([...(await pass())].sort()).toEqual([
    `Channel gone: it is not in rankline.yaml of ${folder}. Add it there, or take it out of the job. 1 message waits.`,
    'Channel ops: OPS_URL is not set. Set it in the environment or in .env. 2 messages wait.',
  ])
  expect(received).toHaveLength(1)
  later(2 * day)
  secrets.OPS_URL = url
  expect(await pass()).toHaveLength(1)
  expect(received).toHaveLength(3)
  // What waits for a month is no news any more.
  later(29 * day)
  expect(await pass()).toEqual([])
  expect(await store.messages({ state: 'dead' })).toMatchObject([{ channel: 'gone' }])
})

test('a mistake in the workspace file is said, and nothing is lost', async () => {
  const { store, folder, deliver: pass } = await aDesk('channels: { log: { type: pigeon } }\n')
  await store.putMessages([aNewMessage('log')], noon)
  expect(await pass()).toEqual([
    expect.stringMatching(/^Messages wait for the channels of their workspace: .*rankline\.yaml:1/),
  ])
  await writeFile(join(folder, 'rankline.yaml'), log)
  expect(await pass()).toEqual([])
  expect(await store.messages({ state: 'sent' })).toHaveLength(1)
})

test('two processes that deliver at the same time send each message once', async () => {
  const { url, received } = await aReceiver()
  const { store, path, by } = await aDesk(ops, { OPS_URL: url })
  const other = await openStore(path)
  onTestFinished(() => other[Symbol.asyncDispose]())
  await store.putMessages(
    Array.from({ length: 10 }, (_, run) => aNewMessage('ops', run)),
    noon,
  )
  await Promise.all([by(store)(), by(other)()])
  expect(received.map(({ body }) => JSON.parse(body).data.run).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})

test('a channel that fails does not hold up another one, and costs one try of one message', async () => {
  const { url, received, answers } = await aReceiver()
  const { store, deliver: pass } = await aDesk(`${ops}  log: { type: file, path: alerts.jsonl }\n`, {
    OPS_URL: url,
  })
  answers.push(500)
  await store.putMessages(
    [aNewMessage('ops'), aNewMessage('ops', 13), aNewMessage('log'), aNewMessage('log', 13)],
    noon,
  )
  expect(await pass()).toHaveLength(1)
  expect(received).toHaveLength(1)
  const all = await store.messages({})
  expect(all.map(({ channel, state, attempts }) => [channel, state, attempts]).reverse()).toEqual([
    ['ops', 'waiting', 1],
    ['ops', 'waiting', 0],
    ['log', 'sent', 1],
    ['log', 'sent', 1],
  ])
})

test('what there is no time for stays for the next call, untried', async () => {
  const { store, deliver: pass, slowDown } = await aDesk(log)
  await store.putMessages(
    Array.from({ length: 8 }, (_, run) => aNewMessage('log', run)),
    noon,
  )
  slowDown(3_000)
  expect(await pass()).toEqual([])
  const states = (await store.messages({})).map(({ state, attempts }) => `${state} ${attempts}`).reverse()
  expect(states).toEqual([...Array(2).fill('sent 1'), ...Array(6).fill('waiting 0')])
})

test('a message that is sent late has the rest of the time, whatever part of a millisecond that is', async () => {
  const { url, received } = await aReceiver()
  const { store, deliver: pass, slowDown } = await aDesk(ops, { OPS_URL: url })
  await store.putMessages([aNewMessage('ops')], noon)
  slowDown(2_999.5)
  expect(await pass()).toEqual([])
  expect(received).toHaveLength(1)
})
