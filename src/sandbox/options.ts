/** How results are cut into pages: whole, with some of a page missing, or with a quarter of the page before repeated. */
export type PageShape = 'even' | 'short' | 'overlap'

/** Whether `position` begins at 1 on every page or counts on over the pages. */
export type Positions = 'restart' | 'continue'

/** Milliseconds, or a range of them from which every call draws its own. */
export type Latency = number | readonly [number, number]

/** How to start a sandbox; everything has a default. */
export interface SandboxOptions {
  /** Port on 127.0.0.1; 0, the default, takes a free one. */
  readonly port?: number
  /** Same seed, same world. Default `rankline`. */
  readonly seed?: string
  /** The only API key that is accepted. Default `sandbox-key`. */
  readonly key?: string
  /** Path of the base URL, for instance `/service`; the POST style is always at the root of the host. */
  readonly basePath?: string
  /** The world's wall clock, epoch ms. Default `Date.now`. */
  readonly now?: () => number
  readonly account?: AccountOptions
  readonly rules?: readonly FaultRule[]
  /** Time that every billable call takes. Default 0. */
  readonly latencyMs?: Latency
  /** Time from the acceptance of an asynchronous job to its end. Default 50. */
  readonly asyncMs?: number
  /** HTTP status with which the polling of a failed job is answered. Default 200. */
  readonly failedJobStatus?: 200 | 500
  /** Domains that compete for every query. */
  readonly sites?: readonly string[]
  readonly pages?: PageShape
  readonly positions?: Positions
  /** How long an idle connection is kept open. */
  readonly keepAliveTimeoutMs?: number
}

/** A one-time pack as it was bought. */
export interface PackOptions {
  readonly title?: string
  readonly total: number
  readonly used?: number
}

/** Limits of the key in charged calls; null means no limit. */
export interface Quotas {
  readonly total: number | null
  readonly daily: number | null
  readonly weekly: number | null
  readonly monthly: number | null
}

/** What can be changed of an account while the sandbox runs. */
export interface AccountSettings {
  readonly perSecond: number | null
  readonly perMinute: number | null
  readonly quotas: Quotas
  /** `older` records have no `packs` field. */
  readonly usageShape: 'newer' | 'older'
  readonly keyActive: boolean
  /** Instant at which the key stops working; null is never. */
  readonly keyExpires: string | null
  readonly statsEnabled: boolean
  readonly chargeFor404: boolean
}

/** The account of the key: balance and settings. Default: a subscription of 100,000 and no limits. */
export interface AccountOptions extends Partial<Omit<AccountSettings, 'quotas'>> {
  readonly quotas?: Partial<Quotas>
  readonly subscription?: { readonly total: number; readonly used?: number }
  /** In the order of purchase. */
  readonly packs?: readonly PackOptions[]
  readonly credits?: { readonly given: number; readonly consumed?: number }
}

/** What goes wrong with a call. */
export type Fault =
  /** Answered as usual, but this many milliseconds later; further rules still apply. */
  | { readonly latency: number }
  /** An error status: documented JSON body unless `body`, `html` or `empty` says otherwise. Free, but for a 404 where the account pays for those. */
  | {
      readonly status: number
      readonly body?: string
      readonly html?: true
      readonly empty?: true
      readonly headers?: Readonly<Record<string, string>>
    }
  /** 401, as for too many calls or as for a bad key. */
  | { readonly refuse: 'rate' | 'key' }
  /** 200, charged, and no JSON. */
  | { readonly garble: true }
  /** 200, charged, and the connection is lost in the middle of the body. */
  | { readonly cut: true }
  /** The connection is lost without an answer, before or after the charge. */
  | { readonly hangUp: 'before' | 'after' }
  /** No answer ever, without or with the charge. */
  | { readonly stall: 'before' | 'after' }
  /** 200, charged, with a body of this many bytes. */
  | { readonly oversize: number }
  /** 302 to this address, free. */
  | { readonly redirect: string }
  /** 200, charged, with the answer to another question, by the names in which it is repeated: `{ q: 'oak desk', gl: 'de' }`. */
  | { readonly answerAs: Readonly<Record<string, string | number>> }
  /** 200, charged, with this JSON. */
  | { readonly body: unknown }
  /** An asynchronous job is accepted and then fails, or never ends; synchronous calls are not touched. */
  | { readonly job: 'fail' | 'stuck' }

/** When which fault happens. Without `operation` a rule is for the billable operations only. */
export interface FaultRule {
  readonly operation?: string
  /** Part of the query's text. */
  readonly query?: string
  /** Matching calls that are let through first. */
  readonly after?: number
  /** How often it happens; without it, always. */
  readonly times?: number
  /** Share of the matching calls, 0 to 1; drawn from the seed. */
  readonly probability?: number
  readonly do: Fault
}

/** Health of one engine as `/v1/stats` reports it. */
export interface EngineStats {
  /** Percent of calls that did not fail. */
  readonly successRate?: number
  readonly avgResponseTimeMs?: number
}

/** A change of a running sandbox; fields that are not named stay. */
export interface ControlChange {
  /** Stops the world's clock at noon UTC of this date, `YYYY-MM-DD`. */
  readonly date?: string
  /** Stops the world's clock at this instant, epoch ms; null lets it run again. */
  readonly now?: number | null
  /** Moves the world's clock, stopped or not. */
  readonly advanceDays?: number
  /** In place of all rules so far. */
  readonly rules?: readonly FaultRule[]
  /** Beside the rules so far. */
  readonly addRules?: readonly FaultRule[]
  readonly topUp?: { readonly subscription?: number; readonly pack?: PackOptions; readonly credits?: number }
  readonly account?: Partial<Omit<AccountSettings, 'quotas'>> & { readonly quotas?: Partial<Quotas> }
  readonly latencyMs?: Latency
  readonly asyncMs?: number
  readonly pages?: PageShape
  readonly positions?: Positions
  /** By engine. */
  readonly stats?: Readonly<Record<string, EngineStats>>
}
