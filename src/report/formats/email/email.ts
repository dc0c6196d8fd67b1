import { type Mail, mailBytes } from '../../../output/mail.ts'
import { wrap } from '../../../output/table.ts'
import { sanitizeLine, textWidth } from '../../../output/terminal.ts'
import type { DigestSection } from '../../../store/outbox.ts'
import type { ReportFormat, ReportSource } from '../../report.ts'
import { type Words, wordsOf } from '../../words/words.ts'
import {
  type EmailAction,
  type EmailContent,
  type EmailMovers,
  emailContent,
  type WrittenChange,
} from './content.ts'
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
  const pictures = logoOf(presentation.logo)
  const logo = pictures[0]?.cid ?? null
  return {
    subject: content.subject,
    // A job without a run has no day; the first of all days is the same on every machine.
    day: content.day ?? '1970-01-01',
    text: emailText(content, { presentation, say }),
    html: emailHtml(content, { presentation, say, logo }),
    pictures,
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
  const { email } = say
  const { name, period, compared, sentences, site, figures, trend, sites, winners, losers, actions, week } =
    content
  const { title, client, agency, comment, footer } = presentation
  const nothing = content.asOf === null
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
    block(
      site === null ? email.figures : email.figuresOf(site),
      figures.flatMap(({ label, value, change }) => item(`${label}: ${value}${inBrackets(change)}`)),
    ),
    block(email.trend, trend === null ? [] : paragraph(`${trend.text}; ${trend.range}.`)),
    nothing ? [] : block(email.winners, moverLines(winners, email.movers.noWinners, say)),
    nothing ? [] : block(email.losers, moverLines(losers, email.movers.noLosers, say)),
    block(
      say.nextActions.title,
      actions.flatMap((action, place) => actionLines(action, place, say)),
    ),
    block(
      `${email.sites} (${email.sitesNote})`,
      sites.flatMap(({ label, isOwn, value, change }) =>
        item(`${label}${isOwn ? ` (${email.you})` : ''}: ${value}${inBrackets(change)}`),
      ),
    ),
    week === null
      ? []
      : block(
          week.title,
          week.lines.flatMap(({ label, value, change }) =>
            item(`${label}: ${value}${change === null ? '' : ` (${change})`}`),
          ),
        ),
    [
      ...(content.asOf === null ? [] : paragraph(`${content.asOf} ${email.movers.estimated}`)),
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

function inBrackets(change: WrittenChange | null): string {
  return change === null ? '' : ` (${change.text})`
}

function moverLines({ lines, more }: EmailMovers, none: string, say: Words): readonly string[] {
  if (lines.length === 0) return [none]
  const { more: moreText } = say.email.movers
  return [
    ...lines.flatMap(({ keyword, ranks, clicks }) =>
      item(`${keyword}: ${ranks}${clicks === null ? '' : ` (${clicks})`}`),
    ),
    ...(more > 0 ? item(moreText(more)) : []),
  ]
}

function actionLines(
  { keyword, reason, clicks, page }: EmailAction,
  place: number,
  say: Words,
): readonly string[] {
  const mark = `${place + 1}. `
  const stake = clicks === null ? '' : ` (${say.email.nextClicks(clicks)})`
  return [
    ...item(`${keyword}: ${reason}${stake}`, mark),
    ...(page === null ? [] : paragraph(page, ' '.repeat(mark.length))),
  ]
}

/** Markdown is made to be read as it is written. */
function commentLines(markdown: string): readonly string[] {
  return markdown
    .trim()
    .split(/\r?\n/)
    .flatMap((line) => (line.trim() === '' ? [''] : paragraph(line)))
}
