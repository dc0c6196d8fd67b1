import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { openChannel } from '../../src/unattended/channels/index.ts'
import { testTable } from '../support/test-table.ts'
import { aMessage, anAlert, aReceiver, around, hostile } from './receivers.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

test('a webhook verifies with the library of the rules, and its id stays on every try', async () => {
  const { url, received, answers } = await aReceiver()
  const opened = openChannel(
    { type: 'webhook', urlEnv: 'OPS_URL', secretEnv: 'OPS_SECRET' },
    around({ OPS_URL: `${url}/hook`, OPS_SECRET: secret }),
  )
  if ('missing' in opened) throw new Error(opened.missing)
  answers.push(500)
  const message = aMessage(hostile.map((text) => anAlert({ text })))
  expect(await opened.send(message, 5_000)).toMatchObject({ ok: false, reason: 'HTTP 500' })
  expect(await opened.send(message, 5_000)).toEqual({ ok: true, remark: null })

  expect(received).toHaveLength(2)
  for (const { body, headers } of received) {
    expect(headers['webhook-id']).toBe(message.id)
    const verified = new Webhook(secret).verify(body, headers as Record<string, string>)
    expect(verified).toEqual({
      type: 'rankline.alerts',
      timestamp: '2026-11-23T06:00:00.123Z',
      data: message.content.message,
    })
    const forged = { ...(headers as Record<string, string>), 'webhook-id': 'msg_other' }
    expect(() => new Webhook(secret).verify(body, forged)).toThrow('No matching signature')
  }
})

test('a receiver that is gone for good is not tried again', async () => {
  const { url, answers } = await aReceiver()
  answers.push(410)
  const opened = openChannel({ type: 'webhook', urlEnv: 'U', secretEnv: null }, around({ U: url }))
  if ('missing' in opened) throw new Error(opened.missing)
  expect(await opened.send(aMessage(), 5_000)).toMatchObject({ ok: false, isFinal: true })
})

testTable([
  [{}, 'OPS_SECRET is not set'],
  [{ OPS_SECRET: 'not base64!' }, 'OPS_SECRET is not a secret of the Standard Webhooks rules'],
  [{ OPS_SECRET: 'whsec_' }, 'OPS_SECRET is not a secret of the Standard Webhooks rules'],
  [{ OPS_SECRET: secret, OPS_URL: 'ftp://127.0.0.1' }, 'The address in OPS_URL is not a web address'],
])('with %j: %s', (secrets, missing) => {
  const opened = openChannel(
    { type: 'webhook', urlEnv: 'OPS_URL', secretEnv: 'OPS_SECRET' },
    around({ OPS_URL: 'http://127.0.0.1:1', ...secrets }),
  )
  expect(opened).toEqual({ missing: expect.stringContaining(missing) })
  expect(JSON.stringify(opened)).not.toContain('base64!')
})
