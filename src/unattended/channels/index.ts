import { spawn } from 'node:child_process'
import { open, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { NodemailerError } from 'nodemailer'
import type { Channel } from '../../model/settings.ts'
import { isLoopback, parseUrl, percentDecoded } from '../../model/url.ts'
import type { Outgoing } from '../../run/app.ts'
import type { MessageContent, ReportMessage } from '../../store/sqlite/unattended/schema.ts'
import { type Letter, type LetterPart, letters } from './letter.ts'

/** A message as channels send it. */
export interface ChannelMessage {
  /** The same on every try, so that receivers can tell a repetition. */
  readonly id: string
  /** When it was put into the outbox, epoch ms. */
  readonly createdAt: number
  readonly content: MessageContent
}

/** How a try ended. */
export type Sent =
  | {
      readonly ok: true
      /** What must be said all the same, as a clause; null where all went well. */
      readonly remark: string | null
    }
  | {
      readonly ok: false
      /** A clause for people; without any part of an address or of a secret. */
      readonly reason: string
      /** How long the receiver asks to be left alone; null where it does not say. */
      readonly retryAfterMs: number | null
      /** No later try will do better. */
      readonly isFinal: boolean
    }

/** Sends a message once; never rejected. */
export type Send = (message: ChannelMessage, timeoutMs: number) => Promise<Sent>

/** What channels need of the world. */
export interface ChannelContext extends Outgoing {
  /** The folder of the workspace file: paths and commands are relative to it. */
  readonly folder: string
  /** Epoch ms. */
  readonly now: () => number
}

/**
 * One type of channel: how it is opened with what the workspace file says of it. It is ready to send then, or a sentence says what is
 * missing.
 */
type OpenChannel<Settings> = (
  settings: Settings,
  around: ChannelContext,
) => { readonly send: Send } | { readonly missing: string }

/** A try that went well. */
export const sent: Sent = { ok: true, remark: null }

/** A try that failed. */
export function failed(
  reason: string,
  more: { readonly retryAfterMs?: number | null; readonly isFinal?: boolean } = {},
): Sent {
  return { ok: false, reason, retryAfterMs: null, isFinal: false, ...more }
}

/** The message as programs read it: the body of webhooks, a line of files, the standard input of commands. */
function documentOf({ createdAt, content }: Omit<ChannelMessage, 'id'>) {
  return {
    type: `rankline.${content.kind}`,
    timestamp: new Date(createdAt).toISOString(),
    data: content.message,
  }
}

/** What to do about variables that a channel needs and that are not set. */
function notSet(variables: readonly string[]): string {
  return variables.length === 1
    ? `${variables[0]} is not set. Set it in the environment or in .env`
    : `${variables.join(' and ')} are not set. Set them in the environment or in .env`
}

/** The address that a variable holds, or a sentence that says why there is none. */
export function addressIn(
  variable: string,
  { secret, addressMistake }: Pick<ChannelContext, 'secret' | 'addressMistake'>,
): { readonly url: string } | { readonly missing: string } {
  const url = secret(variable)
  if (url === undefined) return { missing: notSet([variable]) }
  const mistake = addressMistake(url)
  return mistake === null ? { url } : { missing: `The address in ${variable} ${mistake}` }
}

/** A channel that POSTs JSON to the address in a variable. */
function postingTo(
  variable: string,
  around: ChannelContext,
  request: (message: ChannelMessage) => Promise<{
    readonly body: string
    readonly headers?: Readonly<Record<string, string>>
  }>,
): ReturnType<OpenChannel<Channel>> {
  const address = addressIn(variable, around)
  if ('missing' in address) return address
  return {
    send: async (message, timeoutMs) => {
      const { body, headers = {} } = await request(message)
      const result = await around.post({
        url: address.url,
        headers: { 'content-type': 'application/json', ...headers },
        body,
        timeoutMs,
      })
      if ('error' in result) return failed(result.error)
      const { status, retryAfterMs, start } = result
      if (status >= 200 && status < 300) return sent
      if (status >= 300 && status < 400)
        return failed(
          `HTTP ${status}, a redirect, which is not followed: put the address that it leads to into ${variable}`,
        )
      return failed(`HTTP ${status}${knownWord(start)}`, { retryAfterMs, isFinal: status === 410 })
    },
  }
}

/** Slack and others answer a word such as `no_service`; a page or a document may hold anything. */
function knownWord(start: string): string {
  const word = start.trim()
  return /^[a-z][a-z_]{2,40}$/.test(word) ? ` (${word})` : ''
}

/** Mail through the server in SMTP_URL, from the address in SMTP_FROM. */
const openEmail: OpenChannel<Channel & { readonly type: 'email' }> = ({ to }, around) => {
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
          : { ok: true, remark: `the server refused ${rejected.map(letters.oneLine).join(', ')}` }
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
  const letter = letters.of(content)
  const parts = letters.fit(letter, mostLines, () => 1)
  return {
    subject: letters.subject(`[rankline] ${letter.subject}`),
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
  return { subject: letters.subject(subject), text, html, attachments }
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
  const safe = secrets.reduce(
    (text, secret) => text.replaceAll(secret, '…'),
    letters.oneLine(said).slice(0, 200),
  )
  return [reasons[code], safe].filter((part) => part !== undefined && part !== '').join(': ')
}

/** An incoming webhook of Slack. */
const openSlack: OpenChannel<Channel & { readonly type: 'slack' }> = ({ urlEnv }, around) =>
  postingTo(urlEnv, around, async ({ content }) => ({
    body: JSON.stringify(slackMessage(letters.of(content))),
  }))

/** Slack takes 3,000 characters in a text, and 50 blocks in a message. */
const longestText = 3_000
const mostBlocks = 20

/** A message of blocks, and beside it the text that notifications show. */
export function slackMessage(letter: Letter) {
  // A block may stay half empty where the next line does not fit.
  const room = (mostBlocks / 2) * longestText
  const texts: string[] = []
  for (const part of letters.fit(letter, room, (one) => slackLine(one).length + 1)) {
    const line = slackLine(part)
    const last = texts.at(-1)
    if (last === undefined || last.length + 1 + line.length > longestText) texts.push(line)
    else texts[texts.length - 1] = `${last}\n${line}`
  }
  return {
    text: escapeSlack(letter.subject),
    unfurl_links: false,
    unfurl_media: false,
    // Nothing in the text becomes a link or a mention.
    blocks: texts.map((text) => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } })),
  }
}

function slackLine({ is, text }: LetterPart): string {
  const safe = escapeSlack(text)
  if (is === 'title' || is === 'heading') return `*${safe.replaceAll('*', '∗')}*`
  return is === 'line' ? `• ${safe}` : `_${safe}_`
}

/** Without these three signs Slack sees no mention and no link. */
function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** A workflow of Teams that posts a card when a webhook request is received. */
const openTeams: OpenChannel<Channel & { readonly type: 'teams' }> = ({ urlEnv }, around) =>
  postingTo(urlEnv, around, async ({ content }) => ({
    body: JSON.stringify(teamsMessage(letters.of(content))),
  }))

/** Teams takes 28 KB, of which the frame of the card needs some. */
const largestMessage = 28 * 1024
const frame = 1_024

export function teamsMessage(letter: Letter) {
  const room = largestMessage - frame
  const parts = letters.fit(letter, room, (part) => Buffer.byteLength(JSON.stringify(block(part))) + 1)
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          msteams: { width: 'Full' },
          body: parts.map(block),
        },
      },
    ],
  }
}

/** Text runs are shown as they are: only text blocks are read as Markdown. */
function block({ is, text }: LetterPart) {
  const look = {
    title: { size: 'Large', weight: 'Bolder' },
    heading: { weight: 'Bolder' },
    line: {},
    more: { isSubtle: true },
  }[is]
  const shown = is === 'line' ? `• ${text}` : text
  return { type: 'RichTextBlock', spacing: 'Small', inlines: [{ type: 'TextRun', text: shown, ...look }] }
}

/** A webhook of a channel on Discord. */
const openDiscord: OpenChannel<Channel & { readonly type: 'discord' }> = ({ urlEnv }, around) =>
  postingTo(urlEnv, around, async ({ content }) => ({
    body: JSON.stringify(discordMessage(letters.of(content))),
  }))

/** Discord takes as many characters. */
const longestContent = 2_000
/** No previews of what is linked. */
const suppressEmbeds = 4

export function discordMessage(letter: Letter) {
  const parts = letters.fit(letter, longestContent, (part) => discordLine(part).length + 1)
  return {
    content: parts.map(discordLine).join('\n'),
    allowed_mentions: { parse: [] },
    flags: suppressEmbeds,
  }
}

function discordLine({ is, text }: LetterPart): string {
  const safe = escapeDiscord(text)
  if (is === 'title' || is === 'heading') return `**${safe}**`
  return is === 'line' ? `- ${safe}` : safe
}

/** A backslash before all that Discord takes for markup; a mention is also broken by a space without width. */
function escapeDiscord(text: string): string {
  return text
    .split(/(https?:\/\/[^\s<>()[\]]+)/)
    .map((piece, place) =>
      // A backslash would become a part of an address.
      place % 2 === 1 ? piece : piece.replaceAll(/[\\`*_~|<>[\]]/g, '\\$&'),
    )
    .join('')
    .replaceAll('@', '@\u200b')
}

/** A POST that is signed by the Standard Webhooks rules, where a secret is named. */
const openWebhook: OpenChannel<Channel & { readonly type: 'webhook' }> = ({ urlEnv, secretEnv }, around) => {
  const secret = secretEnv === null ? null : (around.secret(secretEnv) ?? null)
  const unset = [urlEnv, ...(secretEnv === null ? [] : [secretEnv])].filter(
    (variable) => around.secret(variable) === undefined,
  )
  if (unset.length > 0) return { missing: notSet(unset) }
  if (secret !== null && !isSecret(secret))
    return {
      missing: `${secretEnv} is not a secret of the Standard Webhooks rules. Make one with: echo "whsec_$(openssl rand -base64 32)"`,
    }
  return postingTo(urlEnv, around, async (message) => {
    const body = JSON.stringify(documentOf(message))
    const sentAt = new Date(around.now())
    const headers = {
      'webhook-id': message.id,
      'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
    }
    if (secret === null) return { body, headers }
    const { Webhook } = await import('standardwebhooks')
    const signature = new Webhook(secret).sign(message.id, sentAt, body)
    return { body, headers: { ...headers, 'webhook-signature': signature } }
  })
}

/** Base64, with or without its prefix. */
function isSecret(text: string): boolean {
  return /^(?:whsec_)?(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$/.test(
    text,
  )
}

const lineFeed = 10

/** A line of JSON at the end of a file, on disk before the message counts as sent. */
const openFile: OpenChannel<Channel & { readonly type: 'file' }> = ({ path }, { folder }) => ({
  send: async (message) => {
    const file = resolve(folder, path)
    const line = `${JSON.stringify({ id: message.id, ...documentOf(message) })}\n`
    try {
      // To open a pipe would wait for its reader.
      const found = await stat(file).catch(() => null)
      if (found !== null && !found.isFile()) return failed(`${path} is not a regular file`)
      await using handle = await open(file, 'a+')
      const { size } = await handle.stat()
      const last = size === 0 ? lineFeed : await lastByte(handle, size)
      // A line that a crash or a full disk cut short ends here.
      await handle.appendFile(last === lineFeed ? line : `\n${line}`)
      await handle.sync()
      return sent
    } catch (error) {
      return failed(`${path} cannot be written (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`)
    }
  },
})

async function lastByte(handle: Awaited<ReturnType<typeof open>>, size: number): Promise<number | undefined> {
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1)
  return buffer[0]
}

/** A command of the user's, with the message as JSON on its standard input. Its arguments are a list: no shell reads them. */
const openExec: OpenChannel<Channel & { readonly type: 'exec' }> = ({ command }, around) => ({
  send: (message, timeoutMs) => runCommand(command, message, timeoutMs, around),
})

/** Of what a command says about itself so much is kept. */
const mostOutput = 10_000

function runCommand(
  [program = '', ...args]: readonly string[],
  message: ChannelMessage,
  timeoutMs: number,
  { folder, commandEnvironment }: ChannelContext,
): Promise<Sent> {
  return new Promise((resolve) => {
    // In a group of its own, so that what it has started ends with it.
    const group = process.platform !== 'win32'
    const child = spawn(program, args, {
      cwd: folder,
      env: commandEnvironment(),
      stdio: ['pipe', 'ignore', 'pipe'],
      shell: false,
      detached: group,
      windowsHide: true,
    })
    let said = ''
    let isOver = false
    const end = (result: Sent): void => {
      if (isOver) return
      isOver = true
      clearTimeout(late)
      child.stderr.destroy()
      resolve(result)
    }
    const late = setTimeout(() => {
      kill(child.pid, group)
      end(failed(`${program} did not end within ${timeoutMs / 1000} s`))
    }, timeoutMs)
    child.on('error', ({ code }: NodeJS.ErrnoException) =>
      end(
        failed(
          code === 'ENOENT'
            ? `${program} was not found; check the command and the folder it is started in, ${folder}`
            : `${program} cannot be started (${code ?? 'unknown error'})`,
        ),
      ),
    )
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (said.length < mostOutput) said += text
    })
    // A command need not read what it is sent.
    child.stdin.on('error', () => {})
    child.stdin.end(`${JSON.stringify({ id: message.id, ...documentOf(message) })}\n`)
    const after = (code: number | null, signal: NodeJS.Signals | null): void => {
      const first = said
        .split('\n')
        .map(letters.oneLine)
        .find((line) => line !== '')
      const how = code === null ? `was ended by ${signal}` : `ended with exit code ${code}`
      end(
        code === 0
          ? sent
          : failed(`${program} ${how}${first === undefined ? '' : `: ${letters.cut(first, 200)}`}`),
      )
    }
    // Something it has left running may hold its output open: then its end is enough, a moment later.
    child.on('exit', (code, signal) => setTimeout(after, 200, code, signal).unref())
    child.on('close', after)
  })
}

function kill(pid: number | undefined, group: boolean): void {
  if (pid === undefined) return
  try {
    process.kill(group ? -pid : pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}

/** Every type of channel. A new one has its function above, or in a file, and its line here. */
const channelTypes = {
  webhook: openWebhook,
  slack: openSlack,
  discord: openDiscord,
  teams: openTeams,
  email: openEmail,
  file: openFile,
  exec: openExec,
} satisfies { readonly [Type in Channel['type']]: OpenChannel<Channel & { readonly type: Type }> }

/** Opens a channel of a workspace file; sends nothing. */
export function openChannel(channel: Channel, around: ChannelContext): ReturnType<OpenChannel<Channel>> {
  const open = channelTypes[channel.type] as OpenChannel<Channel>
  return open(channel, around)
}
