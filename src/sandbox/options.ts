import type { AccountOptions, SandboxAccount } from './account.ts'

/** How results are split into pages: full pages, pages with missing results, or pages that repeat a quarter of the one before. */
export type PageShape = 'even' | 'short' | 'overlap'

/** Whether `position` begins at 1 on every page or continues over the pages. */
export type Positions = 'restart' | 'continue'

/** Milliseconds, or a range from which every call draws. */
export type Latency = number | readonly [number, number]

/** How to start a sandbox. All options have a default. */
export interface SandboxOptions {
  /** Port on 127.0.0.1. Default 0: a free port. */
  readonly port?: number
  /** Same seed, same world. Default `rankline`. */
  readonly seed?: string
  /** The only API key that is accepted. Default `sandbox-key`. */
  readonly key?: string
  /** Path of the base URL, for instance `/service`. The POST style is always at the root of the host. */
  readonly basePath?: string
  /** The world's wall clock, epoch ms. Default `Date.now`. */
  readonly now?: () => number
  readonly account?: AccountOptions
  readonly rules?: readonly FaultRule[]
  /** Latency of every billable call. Default 0. */
  readonly latencyMs?: Latency
  /** Time from the acceptance of an asynchronous job to its end. Default 50. */
  readonly asyncMs?: number
  /** HTTP status of the answer when a failed job is polled. Default 200. */
  readonly failedJobStatus?: 200 | 500
  /** Domains that compete for every query. */
  readonly sites?: readonly string[]
  /** Queries that mean the same, a list for each meaning: they show mostly the same pages on the web. */
  readonly topics?: readonly (readonly string[])[]
  readonly pages?: PageShape
  readonly positions?: Positions
  /** How long an idle connection is kept open. */
  readonly keepAliveTimeoutMs?: number
}

/** A fault of a call. */
export type Fault =
  /** The usual answer, this many milliseconds later. Further rules apply. */
  | { readonly latency: number }
  /** An error status with the documented JSON body, or that of `body`, `html` or `empty`. Free, unless the account pays for a 404. */
  | {
      readonly status: number
      readonly body?: string
      readonly html?: true
      readonly empty?: true
      readonly headers?: Readonly<Record<string, string>>
    }
  /** 401, for too many calls or for a bad key. */
  | { readonly refuse: 'rate' | 'key' }
  /** 200, charged, with a body that is not JSON. */
  | { readonly garble: true }
  /** 200, charged; the connection is lost in the middle of the body. */
  | { readonly cut: true }
  /** The connection is lost without an answer, before or after the charge. */
  | { readonly hangUp: 'before' | 'after' }
  /** No answer, before or after the charge. */
  | { readonly stall: 'before' | 'after' }
  /** 200, charged, with a body of this many bytes. */
  | { readonly oversize: number }
  /** 302 to this address, free. */
  | { readonly redirect: string }
  /** 200, charged, with the answer to another query. Fields have the names of the echo: `{ q: 'oak desk', gl: 'de' }`. */
  | { readonly answerAs: Readonly<Record<string, string | number>> }
  /** 200, charged, with this JSON body. */
  | { readonly body: unknown }
  /** An asynchronous job is accepted and then fails, or never ends. Synchronous calls are not affected. */
  | { readonly job: 'fail' | 'stuck' }

/** A fault and the calls that it happens to. Without `operation` a rule is for all billable operations. */
export interface FaultRule {
  readonly operation?: string
  /** Part of the text of the query. */
  readonly query?: string
  /** Matching calls without the fault at the beginning. */
  readonly after?: number
  /** How often the fault happens. Default: always. */
  readonly times?: number
  /** Share of the matching calls, 0 to 1; drawn from the seed. */
  readonly probability?: number
  readonly do: Fault
}

/** A change of a running sandbox. Other fields stay as they are. */
export interface ControlChange {
  /** Stops the clock of the world at noon UTC of this date, `YYYY-MM-DD`. */
  readonly date?: string
  /** Stops the clock of the world at this instant, epoch ms; null lets it run again. */
  readonly now?: number | null
  /** What answers carry as their `Date`: any text, null for none; `now` for the time of this machine, which is the default. */
  readonly dateHeader?: string | null
  /** Moves the clock of the world, stopped or not. */
  readonly advanceDays?: number
  /** Replaces all rules. */
  readonly rules?: readonly FaultRule[]
  /** Added to the rules. */
  readonly addRules?: readonly FaultRule[]
  readonly topUp?: Parameters<SandboxAccount['topUp']>[0]
  readonly account?: Parameters<SandboxAccount['change']>[0]
  readonly latencyMs?: Latency
  readonly asyncMs?: number
  readonly pages?: PageShape
  readonly positions?: Positions
  /** The health in `/v1/stats`, by engine. */
  readonly stats?: Readonly<
    Record<
      string,
      {
        /** Percent of calls that did not fail. */
        readonly successRate?: number
        readonly avgResponseTimeMs?: number
      }
    >
  >
}
