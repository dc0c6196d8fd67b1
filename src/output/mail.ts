import { createHash } from 'node:crypto'
import { sanitizeLine } from './terminal.ts'

/** A message that is not sent yet: it has no sender and no recipient. */
export interface Mail {
  readonly subject: string
  /** The day that it is dated, YYYY-MM-DD. */
  readonly day: string
  readonly text: string
  readonly html: string
  /** Pictures of the HTML, which names them as `cid:`. */
  readonly pictures: readonly {
    readonly cid: string
    readonly type: 'image/png'
    readonly bytes: Uint8Array
  }[]
}

/** RFC 2606 keeps it free: no mail comes from there. */
const domain = 'rankline.invalid'

/**
 * The message as a file: RFC 5322 with a part of plain text and one of HTML. The same message gives the same bytes, so what
 * other programs draw by lot is made of the content: the boundaries of the parts and the Message-ID.
 */
export async function mailBytes({ subject, day, text, html, pictures }: Mail): Promise<Uint8Array> {
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer')
  const content = JSON.stringify([subject, day, text, html, pictures.map(({ bytes }) => hashOf(bytes))])
  const hash = hashOf(content).slice(0, 40)
  const message = new MailComposer({
    subject: sanitizeLine(subject),
    // At noon it is the same day nearly everywhere.
    date: new Date(`${day}T12:00:00Z`),
    messageId: `<${hash}@${domain}>`,
    baseBoundary: hash,
    boundaryPrefix: '--_rankline',
    // Mail programs open it as a draft.
    headers: { 'X-Unsent': '1' },
    text,
    html,
    attachments: pictures.map(({ cid, type, bytes }) => ({
      cid,
      contentType: type,
      content: Buffer.from(bytes),
      filename: `${cid}.png`,
      contentDisposition: 'inline',
    })),
    encoding: 'quoted-printable',
    newline: 'win',
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return await message.compile().build()
}

function hashOf(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}
