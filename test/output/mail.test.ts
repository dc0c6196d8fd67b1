import { expect, test } from 'vitest'
import { mailBytes } from '../../src/report/formats/email/email.ts'

test('a subject from outside is one line of one header, without signs that turn the direction of reading', async () => {
  const subject = 'Acme\r\nBcc: all@evil.example\u2028X: y \u202egnp.exe'
  const mail = { subject, day: '2026-11-20', text: 'Hello\n', html: '<p>Hello</p>\n', pictures: [] }
  const head =
    Buffer.from(await mailBytes(mail))
      .toString()
      .split('\r\n\r\n')[0] ?? ''
  expect(head).toMatch(/^Subject: Acme Bcc: all@evil\.example X: y {1,2}gnp\.exe$/m)
  expect(head.match(/^[\w-]+(?=:)/gm)?.sort()).toEqual([
    ...['Content-Type', 'Date', 'MIME-Version', 'Message-ID', 'Subject', 'X-Unsent'],
  ])
})
