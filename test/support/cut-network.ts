import { connect, createServer, type Socket } from 'node:net'

/** A network between a process and a server that can be cut. */
export interface CutNetwork extends AsyncDisposable {
  readonly port: number
  /** Ends all connections; new ones are possible. */
  drop(): void
  /** Passes nothing on until `mend`: neither bytes nor new connections. */
  cut(): void
  mend(): void
}

/** Passes connections on to a port of this machine. */
export async function cutNetwork(target: () => number): Promise<CutNetwork> {
  const pairs = new Set<readonly [Socket, Socket]>()
  let isCut = false
  const server = createServer((near) => {
    if (isCut) {
      near.destroy()
      return
    }
    const far = connect(target(), '127.0.0.1')
    const pair = [near, far] as const
    pairs.add(pair)
    const end = (): void => {
      near.destroy()
      far.destroy()
      pairs.delete(pair)
    }
    for (const socket of pair) {
      socket.on('error', end)
      socket.on('close', end)
    }
    near.pipe(far)
    far.pipe(near)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as { readonly port: number }
  const drop = (): void => {
    for (const [near, far] of pairs) {
      near.destroy()
      far.destroy()
    }
  }
  return {
    port,
    drop,
    cut: () => {
      isCut = true
      for (const [near, far] of pairs) {
        near.pause()
        far.pause()
      }
    },
    mend: () => {
      isCut = false
      // What was on its way when it was cut is lost.
      drop()
    },
    [Symbol.asyncDispose]: async () => {
      drop()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}
