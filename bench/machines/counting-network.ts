import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A way to a port of this machine on which bytes are counted. */
export interface CountingNetwork extends Disposable {
  readonly port: number
  /** Bytes that were sent to the port, and that came back. */
  bytes(): { readonly sent: number; readonly received: number }
}

export async function countingNetwork(target: number): Promise<CountingNetwork> {
  const sockets = new Set<Socket>()
  let [sent, received] = [0, 0]
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      // One that breaks takes the other with it.
      socket.on('error', () => {})
      socket.on('close', () => {
        near.destroy()
        far.destroy()
        sockets.delete(socket)
      })
    }
    near.on('data', ({ length }) => {
      sent += length
    })
    far.on('data', ({ length }) => {
      received += length
    })
    near.pipe(far)
    far.pipe(near)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { readonly port: number }
  return {
    port,
    bytes: () => ({ sent, received }),
    [Symbol.dispose]: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
