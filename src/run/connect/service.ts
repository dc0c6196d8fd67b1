import type { ServicePatience } from '../../api/client.ts'
import type { HttpClient } from '../../api/http.ts'
import { type HttpProxy, proxyFor } from '../../api/proxy.ts'
import { UsageError } from '../../model/errors.ts'
import { type Clock, systemClock } from '../../model/time.ts'
import { numberFlag } from '../../model/values.ts'
import {
  proxyVariables,
  type ServiceFlags,
  type ServiceSettings,
  serviceSettings,
  version,
} from '../config.ts'

/** Calls in flight at most; as many connections are opened. */
export const mostConnections = 256
const defaultTimeoutSeconds = 120
/** An hour; timers of more than 24 days would fire at once. */
const longestTimeoutSeconds = 3_600

/** How long free lookups of a command wait where the service asks to be left alone. */
export const lookupPatience: ServicePatience = { throttledMs: 90_000, unavailableMs: 10_000 }

/** Checks what says where the service is, and how long a call may take. */
export function readServiceFlags(
  flags: ServiceFlags,
  clock: Clock,
): { readonly settings: ServiceSettings; readonly timeoutMs: number } {
  refuseWrongClock(clock)
  const settings = serviceSettings(flags)
  const seconds =
    numberFlag('--timeout', flags.timeout, { min: 1, max: longestTimeoutSeconds }) ?? defaultTimeoutSeconds
  return { settings, timeoutMs: seconds * 1000 }
}

/** Nothing of this program is older. */
const earliest = Date.UTC(2024, 0, 1)

/** Machines without a battery begin in 1970: every day and every period would be wrong. */
function refuseWrongClock(clock: Clock): void {
  if (clock.wall() >= earliest) return
  const date = new Date(clock.wall()).toISOString().slice(0, 10)
  throw new UsageError(`The clock of this machine shows ${date}, which cannot be right. Set it first`)
}

/** Opens connections to the service; none is made before the first call. */
export async function openHttp(settings: ServiceSettings, timeoutMs: number): Promise<HttpClient> {
  const { openHttpClient } = await import('../../api/http.ts')
  return openHttpClient({
    origin: new URL(settings.baseUrl).origin,
    apiKey: settings.apiKey,
    connections: mostConnections,
    timeoutMs,
    userAgent: `rankline/${version}`,
    proxy: chosenProxy(settings.baseUrl),
  })
}

/** Connections to the service for a process that has no database. */
export async function connectionsFor(
  flags: ServiceFlags,
): Promise<{ readonly http: HttpClient; readonly service: ServiceSettings }> {
  const { settings, timeoutMs } = readServiceFlags(flags, systemClock)
  return { http: await openHttp(settings, timeoutMs), service: settings }
}

/** The proxy that the environment names for an address; null where requests go straight there. Throws a sentence where it is no address. */
export function chosenProxy(baseUrl: string): HttpProxy | null {
  const proxy = proxyFor(baseUrl, proxyVariables())
  // What it says may hold a password.
  if (proxy === 'unreadable')
    throw new UsageError(
      'The proxy in HTTPS_PROXY (or HTTP_PROXY) is not an address. Write it like http://proxy.example:3128, or add the host of the service to NO_PROXY',
    )
  return proxy === 'direct' ? null : proxy
}
