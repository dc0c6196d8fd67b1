import { expect, test } from 'vitest'
import { type ChannelContext, mailOf, openChannel } from '../../src/unattended/channels/index.ts'
import { testTable } from '../support/test-table.ts'
import { aMailServer, aMessage, anAlert, around, hostile } from './receivers.ts'

const sender = (
  secrets: Readonly<Record<string, string>>,
  to = ['seo@acme.com'],
  more?: Partial<ChannelContext>,
) => {
  const opened = openChannel({ type: 'email', to }, around(secrets, more))
  if ('missing' in opened) throw new Error(opened.missing)
  return opened.send
}

/** The parts of a mail, decoded from quoted-printable as the mail program of a reader does. */
function readable(raw: string): string {
  const bytes = raw
    .replaceAll(/=\r?\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

test('a mail arrives with text and HTML, from whom and to whom it was set', async () => {
  const { port, mails } = await aMailServer({ user: 'robot', pass: 'p@ss' })
  const SMTP_URL = `smtp://robot:${encodeURIComponent('p@ss')}@127.0.0.1:${port}`
  const send = sender({ SMTP_URL, SMTP_FROM: 'Acme SEO <alerts@acme.com>' }, ['a@acme.com', 'b@acme.com'])
  expect(await send(aMessage(), 5_000)).toEqual({ ok: true, remark: null })
  expect(mails).toMatchObject([{ from: 'alerts@acme.com', to: ['a@acme.com', 'b@acme.com'] }])
  const raw = mails[0]?.raw ?? ''
  expect(raw).toContain('Subject: [rankline] acme: 1 alert: standing desk: acme.com fell from 3 to')
  expect(raw).toContain('From: Acme SEO <alerts@acme.com>')
  expect(raw).toContain(`Message-ID: <${aMessage().id}@acme.com>`)
  expect(raw).toContain('Auto-Submitted: auto-generated')
  expect(raw).toMatch(/Content-Type: text\/plain[\s\S]*Content-Type: text\/html/)
})

test('nothing in a text becomes a header, a recipient or markup', async () => {
  const { port, mails } = await aMailServer()
  const send = sender({ SMTP_URL: `smtp://127.0.0.1:${port}`, SMTP_FROM: 'alerts@acme.com' })
  for (const text of hostile) await send(aMessage([anAlert({ text })]), 5_000)
  expect(mails).toHaveLength(hostile.length)
  for (const { raw, to } of mails) {
    expect(to).toEqual(['seo@acme.com'])
    const [headers = ''] = raw.split('\r\n\r\n')
    expect(headers).not.toMatch(/^bcc:/im)
  }
  expect(readable(mails[3]?.raw ?? '')).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  for (const text of hostile) {
    const { subject, html } = mailOf(aMessage([anAlert({ text })]))
    expect(subject).not.toMatch(/[\r\n]/)
    expect(html.replaceAll(/<\/?(!doctype html|html|body|h2|p)\b[^<>]*>/g, '')).not.toMatch(/[<>]/)
  }
})

test('a recipient that the server refuses is said, and a mail that it refuses whole has failed', async () => {
  const { port } = await aMailServer()
  const secrets = { SMTP_URL: `smtp://127.0.0.1:${port}`, SMTP_FROM: 'alerts@acme.com' }
  const some = sender(secrets, ['seo@acme.com', 'refused@acme.com'])
  expect(await some(aMessage(), 5_000)).toEqual({ ok: true, remark: 'the server refused refused@acme.com' })
  const none = sender(secrets, ['refused@acme.com'])
  expect(await none(aMessage(), 5_000)).toMatchObject({
    ok: false,
    reason: expect.stringContaining('no such mailbox'),
  })
})

test('a wrong password is said without repeating it, whatever the server repeats', async () => {
  const { port } = await aMailServer({ user: 'robot', pass: 'right' })
  const send = sender({
    SMTP_URL: `smtp://robot:wr0ng-secret@127.0.0.1:${port}`,
    SMTP_FROM: 'alerts@acme.com',
  })
  const result = (await send(aMessage(), 5_000)) as { reason: string }
  expect(result.reason).toContain('the mail server refused user name or password')
  expect(result.reason).not.toMatch(/wr0ng-secret|robot/)
})

test('a password goes to another machine encrypted or not at all', async () => {
  const { port, mails } = await aMailServer({ user: 'robot', pass: 'pw' })
  const secrets = { SMTP_URL: `smtp://robot:pw@127.0.0.1:${port}`, SMTP_FROM: 'alerts@acme.com' }
  expect(await sender(secrets)(aMessage(), 5_000)).toMatchObject({ ok: true })
  // The same machine, by a name that does not say so.
  const elsewhere = { ...secrets, SMTP_URL: `smtp://robot:pw@127.1:${port}` }
  expect(await sender(elsewhere)(aMessage(), 5_000)).toMatchObject({ ok: false })
  expect(mails).toHaveLength(1)
  expect(await sender(elsewhere, ['seo@acme.com'], { allowHttp: true })(aMessage(), 5_000)).toMatchObject({
    ok: true,
  })
})

testTable([
  [{ SMTP_FROM: 'alerts@acme.com' }, 'SMTP_URL is not set'],
  [{ SMTP_URL: 'https://user:secret@mail.acme.com' }, 'SMTP_URL is not the address of a mail server'],
  [{ SMTP_URL: 'smtps://user:secret@mail.acme.com' }, 'SMTP_FROM is not set'],
  [{ SMTP_URL: 'smtps://mail.acme.com', SMTP_FROM: 'acme' }, 'SMTP_FROM is not a mail address'],
  [{ SMTP_URL: 'smtps://mail.acme.com', SMTP_FROM: 'a\nBcc: x@acme.com' }, 'SMTP_FROM is not a mail address'],
])('with %j: %s', (secrets: Readonly<Record<string, string>>, missing) => {
  const opened = openChannel({ type: 'email', to: ['seo@acme.com'] }, around(secrets))
  expect(opened).toEqual({ missing: expect.stringContaining(missing) })
  expect(JSON.stringify(opened)).not.toContain('secret@')
})

test('why there is no connection is said', async () => {
  const { port } = await aMailServer()
  const SMTP_FROM = 'alerts@acme.com'
  const reasonOf = async (SMTP_URL: string) =>
    ((await sender({ SMTP_URL, SMTP_FROM })(aMessage(), 5_000)) as { reason: string }).reason
  expect(await reasonOf('smtp://127.0.0.1:1')).toBe(
    'the connection to the mail server failed: connect ECONNREFUSED 127.0.0.1:1',
  )
  expect(await reasonOf(`smtps://127.0.0.1:${port}`)).toMatch(/failed: .*wrong version number/)
})

test('all variables that are missing are named at once', () => {
  const missing = (channel: Parameters<typeof openChannel>[0]) => openChannel(channel, around({}))
  expect(missing({ type: 'email', to: ['seo@acme.com'] })).toEqual({
    missing:
      'SMTP_URL and SMTP_FROM are not set. Set them in the environment or in .env, as in smtps://user:password@host and alerts@acme.com',
  })
  expect(missing({ type: 'webhook', urlEnv: 'OPS_URL', secretEnv: 'OPS_SECRET' })).toEqual({
    missing: 'OPS_URL and OPS_SECRET are not set. Set them in the environment or in .env',
  })
})

test('a report is a mail of its own, its logo in it, and no text of it is a header', () => {
  const message = {
    ...{
      job: 'acme',
      subject: 'Acme\r\nBcc: evil@example.com',
      text: 'Figures\n',
      html: '<img src="cid:logo">',
    },
    pictures: { logo: 'iVBORw==' },
  }
  expect(mailOf({ content: { kind: 'report', message } })).toEqual({
    ...{ subject: 'Acme Bcc: evil@example.com', text: 'Figures\n', html: '<img src="cid:logo">' },
    attachments: [
      {
        ...{ cid: 'logo', filename: 'logo.png', contentType: 'image/png', contentDisposition: 'inline' },
        content: Buffer.from('89504e47', 'hex'),
      },
    ],
  })
})

test.each([
  ["'standing desk' fell from 3 to 12", "[rankline] acme: 1 alert: 'standing desk' fell from 3 to 12"],
  [
    "'standing desk with drawers and lamp' fell from 3 to 12 in Google Germany for acme.com",
    "[rankline] acme: 1 alert: 'standing desk with drawers and lamp' fell from 3…",
  ],
  ['x'.repeat(200), `[rankline] acme: 1 alert: ${'x'.repeat(51)}…`],
])('a subject is as long as a mailbox shows, and ends after a word: %s', (text, wanted) => {
  const { subject } = mailOf(aMessage([anAlert({ text })]))
  expect(subject).toBe(wanted)
  expect(subject.length).toBeLessThanOrEqual(78)
})
