import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

/** A server of bytes: what arrived is kept as text, what is answered is up to the test. */
export interface RawServer extends AsyncDisposable {
  readonly origin: string
  /** Everything that each connection sent, in the order in which they were made. */
  readonly received: readonly string[]
  readonly sockets: readonly Socket[]
  /** Requests that arrived, by their request lines. */
  requests(): readonly string[]
}

/**
 * @param answer called with each whole request
 * @param greet called with each new connection
 */
export async function rawServer(
  answer: (socket: Socket, request: string) => void,
  greet: (socket: Socket) => void = () => {},
): Promise<RawServer> {
  const received: string[] = []
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    const index = sockets.push(socket) - 1
    received.push('')
    let request = ''
    socket.on('error', () => {})
    greet(socket)
    socket.on('data', (chunk) => {
      received[index] += chunk.toString('latin1')
      request += chunk.toString('latin1')
      if (!isWhole(request)) return
      const whole = request
      request = ''
      answer(socket, whole)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    received,
    sockets,
    requests: () => received.flatMap((text) => text.match(/^(?:GET|POST) .* HTTP\/1\.1$/gm) ?? []),
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function isWhole(request: string): boolean {
  const [head, body] = request.split('\r\n\r\n')
  if (head === undefined || body === undefined) return false
  return body.length >= Number(head.match(/^content-length: (\d+)$/im)?.[1] ?? 0)
}

/** A port of this machine that nobody listens on. */
export async function closedPort(): Promise<string> {
  await using server = await rawServer(() => {})
  return server.origin
}

/** An answer with a body whose length is said. */
export function http(status: number, body: string | Buffer, headers: Record<string, string> = {}): Buffer {
  const fields = { 'content-length': Buffer.byteLength(body), ...headers }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} X\r\n${lines.join('')}\r\n`), Buffer.from(body)])
}
