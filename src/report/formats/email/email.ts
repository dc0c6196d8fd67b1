import { createHash } from 'node:crypto'
import { joined } from '../../../model/text.ts'
import { wrap } from '../../../output/table.ts'
import { sanitizeLine, textWidth } from '../../../output/terminal.ts'
import type { DigestSection } from '../../../store/sqlite/unattended/schema.ts'
import type { ReportFormat, ReportSource } from '../../report.ts'
import { type EmailContent, emailContent } from './content.ts'
import { emailHtml } from './html.ts'

/** The report as a message that is ready to be sent. */
export const emailFormat: ReportFormat = {
  chunks: (source) => chunks(reportMail(source, null)),
  measured: true,
  document: true,
  commented: true,
}

/** A message that is not sent yet: it has no sender and no recipient. */
type Mail = ReturnType<typeof reportMail>

/**
 * The report as mail.
 * @param week what is told of the runs of the week; null leaves it out
 */
export function reportMail(source: ReportSource, week: DigestSection | null) {
  const content = emailContent({ ...source, presentation: harmlessIn(source.presentation) }, week)
  const { subject, day, chart, presentation } = content
  // Mail programs show no SVG.
  const [, logo] = /^data:image\/png;base64,([a-z0-9+/=]+)$/i.exec(presentation.logo ?? '') ?? []
  return {
    subject,
    /** The day that it is dated, YYYY-MM-DD. */
    day,
    text: emailText(content),
    html: emailHtml(content, logo === undefined ? null : 'logo'),
    /** PNG pictures of the HTML, which names them as `cid:`. */
    pictures: [
      ...(logo === undefined ? [] : [{ cid: 'logo', bytes: Buffer.from(logo, 'base64') }]),
      ...(chart === null ? [] : [{ cid: 'chart', bytes: chart.picture }]),
    ],
  }
}

/** Names in one line, without signs that turn the direction of reading. */
function harmlessIn(presentation: ReportSource['presentation']): ReportSource['presentation'] {
  const clean = (text: string | null) => (text === null ? null : sanitizeLine(text))
  const inLines = (text: string) => text.split('\n').map(sanitizeLine).join('\n')
  const { title, client, agency, footer, comment } = presentation
  return {
    ...presentation,
    title: clean(title),
    client: clean(client),
    agency: clean(agency),
    footer: clean(footer),
    comment: comment && { markdown: inLines(comment.markdown), html: inLines(comment.html) },
  }
}

async function* chunks(mail: Mail): AsyncGenerator<Uint8Array> {
  yield await mailBytes(mail)
}

/** Columns of the text: quoted once or twice, a line still fits. */
const width = 72

/** The part of plain text: what the HTML part says, to be read from top to bottom. */
function emailText(content: EmailContent): string {
  const { say, heading, about, sentences, limits, site, cards, chart, moves, more, steps, nothing } = content
  const { week, closing, presentation } = content
  const { email, overview, story } = say
  const figure = (label: string, value: string, change: string | null | undefined): readonly string[] =>
    item(`${label}: ${value}${change == null ? '' : ` (${change})`}`)
  const blocks = [
    [heading, about].filter((line) => line !== '').flatMap((line) => paragraph(line)),
    block(email.comment, presentation.comment === null ? [] : commentLines(presentation.comment.markdown)),
    block(
      email.inShort,
      sentences.flatMap((sentence) => item(sentence)),
    ),
    block(site === null ? email.figures : email.figuresOf(site), [
      ...cards.flatMap(({ label, value, change }) => figure(label, value, change?.text)),
      ...(chart === null ? [] : item(`${chart.text}.`)),
      ...limits.flatMap((line) => paragraph(line)),
    ]),
    block(overview.blocks.moved, [
      ...moves.flatMap(({ keyword, isUp, ranks, clicks, about: why }) =>
        item(joined([`${keyword}: ${ranks}`, clicks, why]), isUp ? '▲ ' : '▼ '),
      ),
      ...more,
    ]),
    block(overview.blocks.next, [
      ...(nothing === null ? [] : paragraph(nothing)),
      ...steps.flatMap(({ what, reason, stake, pages }, place) => {
        const mark = `${place + 1}. `
        return [
          ...item(`${what}: ${reason}${stake === null ? '' : ` (${stake})`}`, mark),
          ...pages.flatMap(({ where, page }) =>
            paragraph(story.inMarket(where, page), ' '.repeat(mark.length)),
          ),
        ]
      }),
    ]),
    block(
      week?.title ?? '',
      week?.lines.flatMap((line) => figure(line.label, line.value, line.change)) ?? [],
    ),
    closing.flatMap((line) => paragraph(line)),
  ]
  const shown = blocks.filter((lines) => lines.length > 0)
  return `${shown.map((lines) => lines.join('\n')).join('\n\n')}\n`
}

function block(heading: string, lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return []
  const head = paragraph(heading)
  return [...head, '-'.repeat(Math.max(...head.map(textWidth))), '', ...lines]
}

/** Addresses stay whole: a broken one cannot be opened. */
function paragraph(words: string, indent = ''): readonly string[] {
  const text = sanitizeLine(words)
  if (!/https?:\/\/\S{40}/.test(text)) return wrap(text, width, indent)
  return text
    .split(/\s+(?=https?:\/\/)|(?<=https?:\/\/\S+)\s+/)
    .flatMap((part) => (/^https?:/.test(part) ? [indent + part] : wrap(part, width, indent)))
}

function item(text: string, mark = '- '): readonly string[] {
  const [first = '', ...others] = paragraph(text, ' '.repeat(mark.length))
  return [mark + first.trimStart(), ...others]
}

/** Markdown is made to be read as it is written. */
function commentLines(markdown: string): readonly string[] {
  return markdown
    .trim()
    .split(/\r?\n/)
    .flatMap((line) => (line.trim() === '' ? [''] : paragraph(line)))
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
    attachments: pictures.map(({ cid, bytes }) => ({
      cid,
      contentType: 'image/png',
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
