import { type Mail, type MailPicture, mailBytes } from '../../../output/mail.ts'
import { sanitizeLine } from '../../../output/terminal.ts'
import type { DigestSection } from '../../../store/outbox.ts'
import type { ReportFormat, ReportSource } from '../../report.ts'
import { wordsOf } from '../../words/words.ts'
import { emailContent } from './content.ts'
import { emailHtml } from './html.ts'
import { emailText } from './text.ts'

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
function logoOf(logo: string | null): readonly MailPicture[] {
  const [, base64] = /^data:image\/png;base64,([a-z0-9+/=]+)$/i.exec(logo ?? '') ?? []
  if (base64 === undefined) return []
  return [{ cid: 'logo', type: 'image/png', bytes: Buffer.from(base64, 'base64') }]
}
