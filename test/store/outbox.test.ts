import { expect, onTestFinished, test } from 'vitest'
import { openReader, openStore } from '../../src/store/sqlite/open.ts'
import type { NewMessage, OutboxMessage } from '../../src/store/sqlite/unattended/outbox.ts'
import { aStore, hour, noon } from './build.ts'

const minute = 60_000

function aMessage(over: Partial<NewMessage> = {}): NewMessage {
  return {
    identity: 'alerts:run 12:mail',
    channel: 'mail',
    kind: 'alerts',
    job: 'acme',
    runId: 12,
    message: {
      job: 'acme',
      run: 12,
      alerts: [
        {
          id: '0123456789ab',
          when: 'drop',
          state: 'open',
          query: 'standing "desk" ☃',
          target: 'acme.com',
          before: 3,
          now: null,
          text: 'standing desk fell',
        },
      ],
    },
    ...over,
  } as NewMessage
}

test('a message is put in once, however often it is put in, and comes out as it went in', async () => {
  const { store, path } = await aStore()
  expect(await store.putMessages([aMessage(), aMessage({ identity: 'b', channel: 'chat' })], noon)).toBe(2)
  expect(await store.putMessages([aMessage(), aMessage({ identity: 'c', runId: null })], noon + hour)).toBe(1)

  const due = await store.dueMessages(noon + hour)
  expect(due.map(({ identity }) => identity)).toEqual(['alerts:run 12:mail', 'b', 'c'])
  expect(due[0]).toEqual({
    ...aMessage(),
    ...{
      id: 1,
      createdAt: noon,
      state: 'waiting',
      attempts: 0,
      nextTryAt: noon,
      lastError: null,
      sentAt: null,
    },
  })
  await using reader = await openReader(path)
  expect((await reader.messages({})).map(({ identity }) => identity)).toEqual([
    'c',
    'b',
    'alerts:run 12:mail',
  ])
  expect(await reader.messages({ job: 'other' })).toEqual([])
  expect(await reader.messages({ state: 'waiting', limit: 1 })).toMatchObject([{ identity: 'c' }])
})

test('of two processes that take a message one has it, until its time is over', async () => {
  const { store, path } = await aStore()
  const other = await openStore(path)
  onTestFinished(() => other[Symbol.asyncDispose]())
  await store.putMessages([aMessage()], noon)
  const [here] = await store.dueMessages(noon)
  const [there] = await other.dueMessages(noon)
  const taken = await Promise.all([
    store.claimMessage(here as OutboxMessage, noon, noon + minute),
    other.claimMessage(there as OutboxMessage, noon, noon + minute),
  ])
  expect([...taken].sort()).toEqual([false, true])
  expect(await store.dueMessages(noon + minute - 1)).toEqual([])

  // The process that had it died.
  const [again] = await other.dueMessages(noon + minute)
  expect(again).toMatchObject({ attempts: 1 })
  expect(await other.claimMessage(again as OutboxMessage, noon + minute, noon + hour)).toBe(true)
  // What the first one says now is of a try that nothing waits for any more.
  await store.settleMessage(here as OutboxMessage, { state: 'dead', error: 'too late' })
  await other.settleMessage(again as OutboxMessage, { state: 'sent', at: noon + 2 * minute })
  expect(await store.messages({})).toMatchObject([
    { state: 'sent', attempts: 2, sentAt: noon + 2 * minute, lastError: null },
  ])
})

test('a try that failed is due again at its time, and a dead message never', async () => {
  const { store } = await aStore()
  await store.putMessages([aMessage()], noon)
  const attempt = async (at: number): Promise<OutboxMessage> => {
    const [message] = await store.dueMessages(at)
    expect(await store.claimMessage(message as OutboxMessage, at, at + minute)).toBe(true)
    return message as OutboxMessage
  }
  const first = await attempt(noon)
  await store.settleMessage(first, { state: 'waiting', nextTryAt: noon + 5 * minute, error: 'HTTP 503' })
  expect(await store.dueMessages(noon + 5 * minute - 1)).toEqual([])
  expect(await store.messages({ state: 'waiting' })).toMatchObject([{ lastError: 'HTTP 503', attempts: 1 }])

  const second = await attempt(noon + 5 * minute)
  await store.settleMessage(second, { state: 'dead', error: 'HTTP 410' })
  expect(await store.dueMessages(noon + 1000 * hour)).toEqual([])
  expect(await store.messages({ state: 'dead' })).toMatchObject([{ lastError: 'HTTP 410', attempts: 2 }])
})

test('a message that was put off while the clock was years ahead does not wait for years', async () => {
  const { store } = await aStore()
  const ahead = noon + 3 * 365 * 24 * hour
  await store.putMessages([aMessage()], ahead)
  const [message] = (await store.dueMessages(noon)) as [OutboxMessage]
  expect(await store.claimMessage(message, noon, noon + minute)).toBe(true)
  expect(await store.dueMessages(noon)).toEqual([])
})
