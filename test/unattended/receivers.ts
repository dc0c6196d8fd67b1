import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { onTestFinished } from 'vitest'
import { addressMistake, poster } from '../../src/api/http.ts'
import type { AlertMessage, AlertNews } from '../../src/model/settings.ts'
import type { ChannelContext, ChannelMessage } from '../../src/unattended/channels/index.ts'

export interface Received {
  readonly path: string
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Receiver {
  readonly url: string
  readonly received: Received[]
  /** Statuses of the next answers; 200 after them. `hang` answers nothing at all. */
  readonly answers: (number | 'hang' | { status: number; headers?: Record<string, string>; body?: string })[]
}

/** A web server on a port of its own that remembers what it was sent, until the end of the test. */
export async function aReceiver(): Promise<Receiver> {
  const received: Received[] = []
  const answers: Receiver['answers'] = []
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { url = '', method = '', headers } = request
      received.push({ path: url, method, headers, body: Buffer.concat(chunks).toString('utf8') })
      const next = answers.shift() ?? 200
      if (next === 'hang') return
      const answer = typeof next === 'number' ? { status: next } : next
      response.writeHead(answer.status, answer.headers).end(answer.body ?? '')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received, answers }
}

export interface Mail {
  readonly from: string
  readonly to: readonly string[]
  /** Headers and body as they came. */
  readonly raw: string
}

/** A mail server that remembers what it took; it refuses recipients whose address begins with `refused`. */
export async function aMailServer(
  login: { readonly user: string; readonly pass: string } | null = null,
): Promise<{ readonly port: number; readonly mails: readonly Mail[] }> {
  const mails: Mail[] = []
  const server = new SMTPServer({
    disabledCommands: login === null ? ['STARTTLS', 'AUTH'] : ['STARTTLS'],
    authOptional: login === null,
    allowInsecureAuth: true,
    onAuth: (auth, _, done) => {
      if (auth.username === login?.user && auth.password === login?.pass) done(null, { user: auth.username })
      else done(new Error(`no such login: ${auth.username} ${auth.password}`))
    },
    onRcptTo: ({ address }, _, done) =>
      address.startsWith('refused') ? done(new Error('no such mailbox')) : done(),
    onData: (stream, { envelope }, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        mails.push({
          from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
          to: envelope.rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks).toString('utf8'),
        })
        done()
      })
    },
  })
  server.on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  onTestFinished(() => new Promise<void>((resolve) => void server.close(resolve)))
  return { port: (server.server.address() as AddressInfo).port, mails }
}

const direct = { httpProxy: null, httpsProxy: null, noProxy: null }

/** What channels need, with these variables set. */
export function around(
  secrets: Readonly<Record<string, string>>,
  more: Partial<ChannelContext> = {},
): ChannelContext {
  return {
    folder: '/nowhere',
    secret: (name) => secrets[name],
    commandEnvironment: () => ({ PATH: process.env.PATH }),
    post: poster({ proxies: direct, userAgent: 'rankline/test', allowHttp: false }),
    addressMistake: (url) => addressMistake(url, { allowHttp: false }),
    allowHttp: false,
    now: () => Date.now(),
    ...more,
  }
}

export function anAlert(news: Partial<AlertNews> = {}): AlertNews {
  return {
    id: '0123456789ab',
    when: 'drop',
    state: 'open',
    query: 'standing desk',
    target: 'acme.com',
    before: 3,
    now: 9,
    text: 'standing desk: acme.com fell from 3 to 9',
    ...news,
  }
}

export function aMessage(alerts: readonly AlertNews[] = [anAlert()]): ChannelMessage & {
  readonly content: { readonly kind: 'alerts'; readonly message: AlertMessage }
} {
  return {
    id: 'msg_0123456789abcdef0123456789abcdef',
    createdAt: Date.UTC(2026, 10, 23, 6, 0, 0, 123),
    content: { kind: 'alerts', message: { job: 'acme', run: 12, alerts } },
  }
}

/** Texts that would notify, link, inject or break where they are not escaped. */
export const hostile = [
  '<!channel> <!here> <@U123> <https://evil.example|safe>',
  '@everyone @here <@&1> <@1>',
  '[safe](https://evil.example) ![x](https://evil.example/x.png)',
  '<script>alert(1)</script><img src=x onerror=alert(1)> "quoted" & <b>bold</b>',
  'first\r\nBcc: victim@example.com\r\n\r\nsecond\u2028third\u202etxt',
  '*bold* _under_ ~gone~ `code` ```block``` || spoiler ||',
  '\ud83d\ude00'.repeat(500),
]
