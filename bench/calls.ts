import { setTimeout as sleep } from 'node:timers/promises'
import { type HttpClient, type KeepAlive, openHttpClient } from '../src/api/http.ts'
import { pathOf, type ServerConduct } from './conduct.ts'

/** What was counted of calls of one kind. */
export interface Tally {
  calls: number
  /** Lost after sending: paid, perhaps, and nobody knows. */
  ambiguous: number
  /** Connections made for them. */
  made: number
}

export const emptyTally = (): Tally => ({ calls: 0, ambiguous: 0, made: 0 })

export interface Caller {
  /** Calls and waits for the end; the number of the connection that brought the answer, null where the call was lost. */
  call(): Promise<string | null>
  close(): Promise<void>
}

export interface WireSettings {
  readonly connections: number
  readonly keepAlive: KeepAlive
}

export function openCaller(origin: string, conduct: ServerConduct, settings: WireSettings): Caller {
  const wire: HttpClient = openHttpClient({
    origin,
    apiKey: 'no-key',
    timeoutMs: 30_000,
    userAgent: 'rankline/bench',
    ...settings,
  })
  const request = { method: 'GET', origin, path: pathOf(conduct), body: null } as const
  return {
    call: async () => {
      const exchange = await wire.exchange(request, () => {})
      if ('body' in exchange) return exchange.body.toString()
      if (exchange.failure === 'ambiguous') return null
      throw new Error(`a call that tells nothing: ${exchange.error}`)
    },
    close: () => wire.close(),
  }
}

/**
 * Calls over one connection, each when it has been idle for about as long as the server waits: by at most `spreadMs`
 * more or less. What was lost is called again, uncounted, so that every counted call finds a connection that was used.
 */
export async function callAtTheEnd(
  caller: Caller,
  { idleMs, calls, spreadMs, tally }: { idleMs: number; calls: number; spreadMs: number; tally: Tally },
): Promise<void> {
  await sleep(Math.random() * idleMs)
  let connection = await caller.call()
  for (let call = 0; call < calls; call++) {
    await sleep(idleMs + (Math.random() * 2 - 1) * spreadMs)
    const answered = await caller.call()
    const next = answered ?? (await caller.call())
    tally.calls += 1
    if (answered === null) tally.ambiguous += 1
    if (next !== connection) tally.made += 1
    connection = next
  }
}

/** Calls at random times, so many a second, over as many connections as that takes. */
export async function callAtRandom(
  caller: Caller,
  { perSecond, calls, tally }: { perSecond: number; calls: number; tally: Tally },
): Promise<void> {
  const seen = new Set<string>()
  const one = async (): Promise<void> => {
    const connection = await caller.call()
    tally.calls += 1
    if (connection === null) tally.ambiguous += 1
    else if (!seen.has(connection)) tally.made += 1
    if (connection !== null) seen.add(connection)
  }
  const going: Promise<void>[] = []
  for (let call = 0; call < calls; call++) {
    await sleep((-Math.log(1 - Math.random()) * 1_000) / perSecond)
    going.push(one())
  }
  await Promise.all(going)
}
