import type { Style } from '../catalog/param.ts'
import { mostInWindow, type Windows } from './windows.ts'

/** One request that arrived, and what came of it. */
export interface LedgerEntry {
  /** Arrival, ms since the sandbox started, by a clock that never jumps. */
  readonly at: number
  readonly method: string
  /** Without the query string. */
  readonly path: string
  /** Name in the catalog; null where the path leads nowhere. */
  readonly operation: string | null
  readonly style: Style | null
  /** As sent: texts of a query string, values of a JSON body. Without the key. */
  readonly params: Readonly<Record<string, unknown>>
  /** As sent, or null. */
  readonly page: unknown
  /** Status of the answer; null where none was given (yet). */
  readonly status: number | null
  /** Credits. Those of an asynchronous job are entered here when it completes. */
  readonly charged: number
  /** True where it counts in the rate windows. */
  readonly accepted: boolean
  /** Kind of the fault that a rule made, or null. */
  readonly fault: string | null
}

/** Totals over everything that ever arrived. */
export interface LedgerSummary {
  readonly requests: number
  /** Credits. */
  readonly charged: number
  readonly chargedCalls: number
  /** Requests refused by a rate limit or a quota. */
  readonly refusals: number
  /** The most accepted requests in any sliding second and minute. */
  readonly maxPerSecond: number
  readonly maxPerMinute: number
}

/** What arrived and what was charged; the newest 200,000 requests are kept, totals are of all. */
export interface SandboxLedger {
  readonly requests: readonly LedgerEntry[]
  readonly charged: number
  readonly refusals: number
  requestsFor(wanted: (entry: LedgerEntry) => boolean): readonly LedgerEntry[]
  /** The most accepted requests, of those kept, in any sliding window of this length. */
  maxInWindow(ms: number): number
  summary(): LedgerSummary
}

/** A ledger entry while its request is worked on. */
export type OpenEntry = { -readonly [Field in keyof LedgerEntry]: LedgerEntry[Field] }

/** The writing side of the ledger. */
export interface Books {
  enter(entry: OpenEntry): void
  charge(entry: OpenEntry, credits: number): void
  /** Notes a refusal by rate or quota. */
  refuse(entry: OpenEntry): void
  readonly ledger: SandboxLedger
}

const mostKept = 200_000

/** Empty books; `settle` is called before every reading, so that what ended meanwhile is in them. */
export function openBooks(windows: Windows, settle: () => void): Books {
  let entries: OpenEntry[] = []
  const totals = { requests: 0, charged: 0, chargedCalls: 0, refusals: 0 }
  return {
    enter(entry) {
      totals.requests++
      if (entries.length >= mostKept) entries = entries.slice(mostKept / 10)
      entries.push(entry)
    },
    charge(entry, credits) {
      entry.charged += credits
      totals.charged += credits
      totals.chargedCalls++
    },
    refuse(entry) {
      entry.accepted = false
      totals.refusals++
    },
    ledger: readable(() => {
      settle()
      const { perSecond, perMinute } = windows.most()
      return { entries, summary: { ...totals, maxPerSecond: perSecond, maxPerMinute: perMinute } }
    }),
  }
}

function readable(
  read: () => { readonly entries: readonly LedgerEntry[]; readonly summary: LedgerSummary },
): SandboxLedger {
  return {
    get requests() {
      return read().entries
    },
    get charged() {
      return read().summary.charged
    },
    get refusals() {
      return read().summary.refusals
    },
    requestsFor: (wanted) => read().entries.filter(wanted),
    maxInWindow(ms) {
      const accepted = read().entries.filter((entry) => entry.accepted)
      return mostInWindow(
        accepted.map((entry) => entry.at),
        ms,
      )
    },
    summary: () => read().summary,
  }
}
