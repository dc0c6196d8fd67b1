import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { UsageError } from '../errors.ts'
import { type Box, createBox } from './box.ts'
import { applyChange } from './control.ts'
import { controlPrefix, serveControl } from './control-http.ts'
import type { SandboxLedger } from './ledger.ts'
import type { ControlChange, SandboxOptions } from './options.ts'
import { serve } from './serve.ts'
import { type UsageRecord, usageRecord } from './usage-record.ts'

/** The whole service on this machine, running. */
export interface Sandbox {
  /** Base URL, with the base path. */
  readonly url: string
  readonly key: string
  /** What arrived and what was charged. */
  readonly ledger: SandboxLedger
  /** Changes the sandbox while it runs. */
  control(change: ControlChange): void
  /** The usage record as it would be served now. */
  usage(): UsageRecord
  /** Ends every connection and every wait; may be called again. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts the service on 127.0.0.1; throws a UsageError where the port is taken. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const box = createBox(options)
  const server = createServer((request, response) => {
    const served = request.url?.startsWith(controlPrefix) ? serveControl : serve
    // Nothing here is expected to fail: if it does, the connection ends and the process goes on.
    served(box, request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  if (options.keepAliveTimeoutMs !== undefined) server.keepAliveTimeout = options.keepAliveTimeoutMs
  const port = await listen(server, options.port ?? 0)
  const close = () => stop(server, box)
  return {
    url: `http://127.0.0.1:${port}${options.basePath ?? ''}`,
    key: box.key,
    ledger: box.books.ledger,
    control: (change) => applyChange(box, change),
    usage() {
      box.jobs.settle()
      return usageRecord(box.account, box.worldClock.now())
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      reject(new UsageError(`sandbox: cannot listen on port ${port}; choose another port`, { cause: error }))
    })
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

function stop(server: Server, box: Box): Promise<void> {
  box.clearTimers()
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
