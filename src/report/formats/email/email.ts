import { createHash } from 'node:crypto'
import { wrap } from '../../../output/table.ts'
import { sanitizeLine, textWidth } from '../../../output/terminal.ts'
import type { DigestSection } from '../../../store/sqlite/unattended/schema.ts'
import type { ReportFormat, ReportSource } from '../../report.ts'
import { type Words, wordsOf } from '../../words/words.ts'
import { type EmailContent, emailContent } from './content.ts'
import { emailHtml } from './html.ts'

/** The report as a message that is ready to be sent. */
export const emailFormat: ReportFormat = {
  chunks: (source) => chunks(reportMail(source, null)),
  measured: true,
  document: true,
  commented: true,
}

/**
 * The report as mail.
 * @param week what is told of the runs of the week; null leaves it out
 */
export function reportMail(source: ReportSource, week: DigestSection | null): Mail {
  const presentation = harmlessIn(source.presentation)
  const say = wordsOf(presentation.language)
  const content = emailContent({ ...source, presentation }, say, week)
  const logo = logoOf(presentation.logo)
  const { chart } = content
  return {
    subject: content.subject,
    // A job without a run has no day; the first of all days is the same on every machine.
    day: content.day ?? '1970-01-01',
    text: emailText(content, { presentation, say }),
    html: emailHtml(content, { presentation, say, logo: logo[0]?.cid ?? null }),
    pictures: [
      ...logo,
      ...(chart === null ? [] : [{ cid: 'chart', type: 'image/png' as const, bytes: chart.picture }]),
    ],
  }
}

/** Names in one line, without signs that turn the direction of reading. */
function harmlessIn(presentation: ReportSource['presentation']): ReportSource['presentation'] {
  const clean = (text: string | null) => (text === null ? null : sanitizeLine(text))
  const { title, client, agency, footer, comment } = presentation
  return {
    ...presentation,
    title: clean(title),
    client: clean(client),
    agency: clean(agency),
    footer: clean(footer),
    comment:
      comment === null
        ? null
        : {
            markdown: comment.markdown.split('\n').map(sanitizeLine).join('\n'),
            html: comment.html.split('\n').map(sanitizeLine).join('\n'),
          },
  }
}

async function* chunks(mail: Mail): AsyncGenerator<Uint8Array> {
  yield await mailBytes(mail)
}

/** Mail programs show no SVG. */
function logoOf(logo: string | null): Mail['pictures'] {
  const [, base64] = /^data:image\/png;base64,([a-z0-9+/=]+)$/i.exec(logo ?? '') ?? []
  if (base64 === undefined) return []
  return [{ cid: 'logo', type: 'image/png', bytes: Buffer.from(base64, 'base64') }]
}

/** Columns of the text: quoted once or twice, a line still fits. */
const width = 72

/** The part of plain text: what the HTML part says, to be read from top to bottom. */
function emailText(
  content: EmailContent,
  {
    presentation,
    say,
  }: {
    readonly presentation: ReportSource['presentation']
    readonly say: Words
  },
): string {
  const { email, overview, story } = say
  const { name, period, compared, sentences, limits, site, cards, chart, moves, moreMoves } = content
  const { steps, nothing, week, asOf } = content
  const { title, client, agency, comment, footer } = presentation
  const reader = title !== null && client !== null ? say.brand.for(client) : ''
  const blocks: readonly (readonly string[])[] = [
    [title ?? email.heading(name), [reader, period, compared].filter((text) => text !== '').join(', ')]
      .filter((line) => line !== '')
      .flatMap((line) => paragraph(line)),
    comment === null ? [] : [...headed(email.comment), ...commentLines(comment.markdown)],
    block(
      email.inShort,
      sentences.flatMap((sentence) => item(sentence)),
    ),
    block(site === null ? email.figures : email.figuresOf(site), [
      ...cards.flatMap(({ label, value, change }) =>
        item(`${label}: ${value}${change === null ? '' : ` (${change.text})`}`),
      ),
      ...(chart === null ? [] : item(`${chart.text}.`)),
      ...limits.flatMap((line) => paragraph(line)),
    ]),
    block(overview.blocks.moved, [
      ...moves.flatMap(({ keyword, isUp, ranks, clicks, about }) =>
        item(
          [
            `${keyword}: ${ranks}`,
            ...(clicks === null ? [] : [clicks]),
            ...(about === '' ? [] : [about]),
          ].join(', '),
          isUp ? '▲ ' : '▼ ',
        ),
      ),
      ...(moreMoves > 0 ? [email.more(moreMoves)] : []),
    ]),
    block(overview.blocks.next, [
      ...(steps.length === 0 && nothing !== null ? paragraph(nothing) : []),
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
    week === null
      ? []
      : block(
          week.title,
          week.lines.flatMap(({ label, value, change }) =>
            item(`${label}: ${value}${change === null ? '' : ` (${change})`}`),
          ),
        ),
    [
      ...(asOf === null ? [] : paragraph(asOf)),
      ...(agency === null ? [] : paragraph(email.madeBy(agency))),
      ...(footer === null ? [] : paragraph(footer)),
    ],
  ]
  return `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`
}

function headed(heading: string): readonly string[] {
  const lines = paragraph(heading)
  return [...lines, '-'.repeat(Math.max(...lines.map(textWidth))), '']
}

function block(heading: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [...headed(heading), ...lines]
}

function paragraph(text: string, indent = ''): readonly string[] {
  return lines(sanitizeLine(text), width, indent)
}

/** Addresses stay whole: a broken one cannot be opened. */
function lines(text: string, room: number, indent: string): readonly string[] {
  if (!/https?:\/\/\S{40}/.test(text)) return wrap(text, room, indent)
  return text
    .split(/\s+(?=https?:\/\/)|(?<=https?:\/\/\S+)\s+/)
    .flatMap((part) => (/^https?:/.test(part) ? [indent + part] : wrap(part, room, indent)))
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

/** A message that is not sent yet: it has no sender and no recipient. */
interface Mail {
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
