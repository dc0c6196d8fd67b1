import type { Style } from '../catalog/operation.ts'
import type { RequestTarget } from './http.ts'
import type { AccountSettings } from './options.ts'
import type { Route } from './routes.ts'

/** One request that arrived, with its answer. */
export interface LedgerEntry {
  /** Arrival, ms since the sandbox started, by a monotonic clock. */
  readonly at: number
  readonly method: string
  /** Without the query string. */
  readonly path: string
  /** Name in the catalog; null if no operation has the path. */
  readonly operation: string | null
  readonly style: Style | null
  /** As sent, without the key: texts of a query string, values of a JSON body. */
  readonly params: Readonly<Record<string, unknown>>
  /** As sent, or null. */
  readonly page: unknown
  /** Status of the answer; null if there is none (yet). */
  readonly status: number | null
  /** Credits; those of an asynchronous job are added when it completes. */
  readonly charged: number
  /** Whether it counts in the rate windows. */
  readonly accepted: boolean
  /** Kind of the fault by a rule, or null. */
  readonly fault: string | null
}

/** A ledger entry while its request is served. */
export type OpenEntry = { -readonly [Field in keyof LedgerEntry]: LedgerEntry[Field] }

/** Requests that are kept; totals are over all requests. */
const mostKept = 200_000

/** The log of all requests. It calls `settle` before it is read, so that it has the jobs that ended. */
export function requestLog(windows: Windows, settle: () => void) {
  let entries: OpenEntry[] = []
  const totals = {
    requests: 0,
    /** Credits. */
    charged: 0,
    chargedCalls: 0,
    /** Requests refused by a rate limit or a quota. */
    refusals: 0,
  }
  const ledger = {
    get requests(): readonly LedgerEntry[] {
      settle()
      return entries
    },
    get charged(): number {
      settle()
      return totals.charged
    },
    get refusals(): number {
      return totals.refusals
    },
    requestsFor: (wanted: (entry: LedgerEntry) => boolean): readonly LedgerEntry[] =>
      ledger.requests.filter(wanted),
    /** The most accepted requests in any sliding window of this length, among those that are kept. */
    maxInWindow: (ms: number): number =>
      mostInWindow(
        entries.filter(({ accepted }) => accepted).map(({ at }) => at),
        ms,
      ),
    summary() {
      settle()
      const { perSecond, perMinute } = windows.most()
      return { ...totals, maxPerSecond: perSecond, maxPerMinute: perMinute }
    },
  }
  return {
    ledger,
    /** The entry of a request that arrived. */
    open(at: number, method: string, { path, params }: RequestTarget, route: Route | undefined): OpenEntry {
      const asked = { operation: route?.operation.name ?? null, style: route?.style ?? null, params }
      const answered = { status: null, charged: 0, accepted: false, fault: null }
      const entry = { at, method, path, ...asked, page: params.page ?? null, ...answered }
      totals.requests++
      if (entries.length >= mostKept) entries = entries.slice(mostKept / 10)
      entries.push(entry)
      return entry
    },
    charge(entry: OpenEntry, credits: number): void {
      entry.charged += credits
      totals.charged += credits
      totals.chargedCalls++
    },
    /** Notes a refusal by rate or quota. */
    refuse(entry: OpenEntry): void {
      entry.accepted = false
      totals.refusals++
    },
  }
}

type Windows = ReturnType<typeof slidingWindows>

/** Sliding windows of a second and a minute over the admitted requests. Instants are monotonic ms and never decrease. */
export function slidingWindows() {
  const second = slidingWindow(1000)
  const minute = slidingWindow(60_000)
  return {
    /** Admits a request unless a limit (null: no limit) is reached. Refused requests do not count. */
    admit(at: number, { perSecond, perMinute }: Pick<AccountSettings, 'perSecond' | 'perMinute'>): boolean {
      if (perSecond !== null && second.countAt(at) >= perSecond) return false
      if (perMinute !== null && minute.countAt(at) >= perMinute) return false
      second.add(at)
      minute.add(at)
      return true
    },
    /** Removes a request that was refused later. */
    withdraw(at: number): void {
      second.remove(at)
      minute.remove(at)
    },
    /** The most requests in any second and in any minute. */
    most: () => ({ perSecond: second.most(), perMinute: minute.most() }),
  }
}

function slidingWindow(lengthMs: number) {
  let arrivals: number[] = []
  let first = 0
  let most = 0
  const countAt = (at: number) => {
    while (first < arrivals.length && (arrivals[first] as number) <= at - lengthMs) first++
    if (first > 10_000) {
      arrivals = arrivals.slice(first)
      first = 0
    }
    return arrivals.length - first
  }
  return {
    countAt,
    add(at: number) {
      arrivals.push(at)
      most = Math.max(most, countAt(at))
    },
    remove(at: number) {
      const index = arrivals.lastIndexOf(at)
      if (index >= first) arrivals.splice(index, 1)
    },
    most: () => most,
  }
}

/** The most of these ascending instants in any half-open window of this length. */
export function mostInWindow(instants: readonly number[], lengthMs: number): number {
  let most = 0
  let first = 0
  instants.forEach((instant, index) => {
    while (instant - (instants[first] as number) >= lengthMs) first++
    most = Math.max(most, index - first + 1)
  })
  return most
}
