import type { NodemailerError } from 'nodemailer'
import type { Channel } from '../../model/settings/workspace.ts'
import { isLoopback, parseUrl, percentDecoded } from '../../model/url.ts'
import type { ReportMessage } from '../../store/outbox.ts'
import {
  type ChannelContext,
  type ChannelMessage,
  failed,
  notSet,
  type OpenChannel,
  sent,
} from './channel.ts'
import { fitParts, type LetterPart, letterOf, oneLine } from './letter.ts'

/** Mail through the server in SMTP_URL, from the address in SMTP_FROM. */
export const openEmail: OpenChannel<Channel & { readonly type: 'email' }> = ({ to }, around) => {
  const unset = ['SMTP_URL', 'SMTP_FROM'].filter((variable) => around.secret(variable) === undefined)
  if (unset.length === 2)
    return { missing: `${notSet(unset)}, as in smtps://user:password@host and alerts@acme.com` }
  const server = serverIn(around)
  if ('missing' in server) return server
  const from = around.secret('SMTP_FROM')
  if (from === undefined) return { missing: `${notSet(['SMTP_FROM'])}, as in alerts@acme.com` }
  const domain = from.match(/^[^\r\n]*@([a-z0-9.-]+)>?$/i)?.[1]
  if (domain === undefined)
    return {
      missing: 'SMTP_FROM is not a mail address. Write it like alerts@acme.com or Acme <alerts@acme.com>',
    }
  return {
    send: async (message, timeoutMs) => {
      const { createTransport } = await import('nodemailer')
      const transport = createTransport({
        url: server.url,
        // A password goes out encrypted, or not at all.
        ...(server.mustEncrypt ? { requireTLS: true } : {}),
        connectionTimeout: timeoutMs,
        greetingTimeout: timeoutMs,
        dnsTimeout: timeoutMs,
        socketTimeout: timeoutMs,
        socketCloseTimeout: 500,
        disableFileAccess: true,
        disableUrlAccess: true,
      })
      let late: NodeJS.Timeout | undefined
      const deadline = new Promise<never>((_, reject) => {
        late = setTimeout(() => reject(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs)
      })
      const sending = transport.sendMail({
        from,
        to: [...to],
        messageId: `<${message.id}@${domain}>`,
        date: new Date(around.now()),
        headers: { 'Auto-Submitted': 'auto-generated' },
        ...mailOf(message),
      })
      try {
        const { rejected } = await Promise.race([sending, deadline])
        return rejected.length === 0
          ? sent
          : { ok: true, remark: `the server refused ${rejected.map(oneLine).join(', ')}` }
      } catch (error) {
        // What is told of too late is not waited for.
        sending.catch(() => {})
        return failed(explain(error as NodemailerError, server.secrets))
      } finally {
        clearTimeout(late)
        transport.close()
      }
    },
  }
}

type Server =
  | { readonly url: string; readonly mustEncrypt: boolean; readonly secrets: readonly string[] }
  | { readonly missing: string }

function serverIn({ secret, allowHttp }: ChannelContext): Server {
  const written = secret('SMTP_URL')
  if (written === undefined)
    return {
      missing: `${notSet(['SMTP_URL'])}, as in smtps://user:password@host`,
    }
  const url = parseUrl(written)
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === '')
    return {
      missing: 'SMTP_URL is not the address of a mail server. Write it like smtps://user:password@host',
    }
  const { protocol, hostname, username, password } = url
  return {
    url: written,
    mustEncrypt: protocol === 'smtp:' && username !== '' && !isLoopback(hostname) && !allowHttp,
    secrets: [username, password].flatMap((one) => [one, percentDecoded(one)]).filter((one) => one !== ''),
  }
}

/** Lines that a mail has at most. */
const mostLines = 500

/** Subject, text and HTML of a message. A report is a whole mail already. */
export function mailOf({ content }: Pick<ChannelMessage, 'content'>) {
  if (content.kind === 'report') return reportMail(content.message)
  const letter = letterOf(content)
  const parts = fitParts(letter, mostLines, () => 1)
  return {
    subject: `[rankline] ${letter.subject}`,
    text: `${parts.map(asText).join('\n')}\n`,
    html: `<!doctype html><html><body style="font-family:sans-serif">${parts.map(asHtml).join('\n')}</body></html>\n`,
    attachments: [],
  }
}

function reportMail({ subject, text, html, pictures }: ReportMessage) {
  const attachments = Object.entries(pictures).map(([cid, base64]) => ({
    cid,
    filename: `${cid}.png`,
    contentType: 'image/png',
    contentDisposition: 'inline' as const,
    content: Buffer.from(base64, 'base64'),
  }))
  return { subject: oneLine(subject), text, html, attachments }
}

function asText({ is, text }: LetterPart): string {
  if (is === 'title') return `${text}\n`
  return is === 'heading' ? `\n${text}` : is === 'line' ? `- ${text}` : text
}

function asHtml({ is, text }: LetterPart): string {
  const safe = text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
  if (is === 'title') return `<h2>${safe}</h2>`
  return is === 'heading' ? `<h3>${safe}</h3>` : `<p style="margin:0.3em 0">${safe}</p>`
}

const reasons: Readonly<Record<string, string>> = {
  EAUTH: 'the mail server refused user name or password',
  ETLS: 'the mail server offers no encryption, without which no password is sent',
  EDNS: 'the host name of the mail server is not known',
  ESOCKET: 'the connection to the mail server failed',
  ECONNECTION: 'the connection to the mail server failed',
  ETIMEDOUT: 'the mail server did not answer in time',
}

/** What the server answered helps most, but it may repeat what it was told. */
function explain(error: NodemailerError, secrets: readonly string[]): string {
  const { code = '', response, message } = error
  const said =
    typeof response === 'string'
      ? response
      : reasons[code] === undefined || code === 'ESOCKET' || code === 'ECONNECTION'
        ? message
        : ''
  const safe = secrets.reduce((text, secret) => text.replaceAll(secret, '…'), oneLine(said).slice(0, 200))
  return [reasons[code], safe].filter((part) => part !== undefined && part !== '').join(': ')
}
