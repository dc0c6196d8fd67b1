import { setMaxListeners } from 'node:events'
import type { ApiClient } from '../api/client.ts'
import type { OthersSpending, Unexplained } from '../ledger/verify.ts'
import type { Outcome, Settlement } from '../model/call.ts'
import { RanklineError } from '../model/errors.ts'
import {
  exitCodes,
  type FinishReason,
  isComplete,
  type Run,
  type RunTotals,
  type StopCause,
  type Suspicion,
} from '../model/run.ts'
import { count, duration, grouped, size } from '../model/text.ts'
import type { Clock } from '../model/time.ts'
import type { DatabaseFile, DiskSpace, SkippedQueries } from '../store/journal.ts'
import type { Store } from '../store/sqlite/open.ts'
import type { WastedCalls } from './circuit-breaker.ts'

/** Stops a collection. The first cause counts. */
export type StopSignal = ReturnType<typeof stopSignal>

export function stopSignal() {
  const controller = new AbortController()
  // Every waiting call adds a listener.
  setMaxListeners(0, controller.signal)
  let first: StopCause | null = null
  return {
    signal: controller.signal,
    cause: (): StopCause | null => first,
    request: (cause: StopCause): void => {
      first ??= cause
      controller.abort(new StopRequested())
    },
    /** Replaces what is said of the cause, when more is known of it. */
    explain: (message: string): void => {
      if (first !== null) first = { ...first, message }
    },
  }
}

/** A controller whose signal is aborted with that one, or before. */
export function abortedWith(signal: AbortSignal): AbortController {
  const controller = new AbortController()
  const abort = (): void => controller.abort(signal.reason)
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  return controller
}

/** Thrown out of waits when the run stops. */
export class StopRequested extends Error {
  override readonly name = 'StopRequested'
}

/** The usage record could not be had: why, and with which reason a run that needs it stops. */
export class UsageUnavailable extends Error {
  override readonly name = 'UsageUnavailable'
  readonly stop: StopCause

  constructor(stop: StopCause) {
    super(stop.message)
    this.stop = stop
  }
}

/** How long rate-limit responses are waited out before the run stops, by default. */
export const defaultThrottlingMs = 600_000

/** Why a collection stops, with what its user is told. */
export const stopCauses = {
  /** The rate limit let no call pass for too long. */
  throttled: (reason: string, maxThrottlingMs: number): StopCause => ({
    reason: 'quota',
    message: `Stopped: the service let no call pass for ${duration(maxThrottlingMs / 1000)} (${reason}). Run the same command again later to continue.`,
  }),
  /** A quota of the key is used up. */
  quotaUsedUp: (quota: string, reason: string): StopCause => ({
    reason: 'quota',
    message: `Stopped: the ${quota} of the key is used up (${reason}). Run the same command again when it starts anew or is raised.`,
  }),
  /** Engines or operations were down for too long. */
  expired: (all: readonly WastedBy[]): StopCause => {
    const failing = all.filter(({ wasted }) => wasted.problem === null).map(({ name }) => name)
    const wasting = all.filter(({ wasted }) => wasted.problem !== null)
    const sentences = [
      ...(failing.length === 0 ? [] : [`Stopped: the service fails on ${failing.join(' and ')}.`]),
      ...wasting.map(wasteSentence),
      wasting.length === 0
        ? 'Run the same command again later to continue.'
        : 'Ask the service what is wrong. Then run the same command again: it tries one call first where nothing else came last.',
    ]
    return {
      reason: 'unavailable',
      message: sentences.join(' '),
      ...(wasting.some(({ wasted }) => mayCost(wasted)) ? { source: 'answers' as const } : {}),
    }
  },
  /** The next answer might not fit on the disk. */
  diskFull: {
    reason: 'unavailable',
    source: 'disk',
    message:
      'Stopped: the disk that holds the database is full. Every paid answer is stored. Make room, then run the same command again.',
  },
  /** The file of the database was taken away. */
  databaseLost: (file: Pick<DatabaseFile, 'loss'>): StopCause => ({
    reason: 'unavailable',
    message: file.loss() ?? '',
  }),
  /** The reserve does not fit: what is paid for could not be kept safe. */
  reserveLacks: ({ wanted, free }: NonNullable<ReturnType<DiskSpace['lacking']>>): StopCause => ({
    reason: 'unavailable',
    message: `Stopped before anything was bought, as the disk that holds the database is too full: it has ${size(free)} left, and at least ${size(wanted)} are needed, so that each paid answer can be stored. Make room, or set a lower --concurrency, then run the same command again.`,
  }),
  /** The service could not be reached for too long. */
  unreachable: (reason: string, baseUrl: string): StopCause => ({
    reason: 'unavailable',
    message: `Stopped: the service at ${baseUrl} cannot be reached (${reason}). Check RANKLINE_BASE_URL and the network, then run the same command again.`,
  }),
  /** An error: one that was foreseen has its own message, and the run can be continued. */
  thrown: (error: unknown): StopCause => {
    if (error instanceof UsageUnavailable) return error.stop
    return error instanceof RanklineError
      ? { reason: 'unavailable', message: error.message }
      : { reason: 'crashed', message: 'Stopped: an error in rankline itself.' }
  },
  /** A call had an outcome after which nothing more is sent. */
  call: ({ outcome, error }: Settlement, baseUrl: string): StopCause => {
    if (outcome === 'refused')
      return {
        reason: 'auth',
        message: `Stopped: the service refused the key (${error}). Check RANKLINE_API_KEY.`,
      }
    if (outcome === 'out-of-credit')
      return {
        reason: 'balance',
        message: `Stopped: insufficient balance (${error}). Top up, then run the same command again.`,
      }
    return {
      reason: 'unavailable',
      message: `Stopped: the service at ${baseUrl} answers with a redirect, which is not followed (${error}).`,
    }
  },
} as const

/** What an engine or an operation that was down wasted. */
type WastedBy = { readonly name: string; readonly wasted: WastedCalls }

/** Whether finding out if that has passed may be billed. */
function mayCost({ unusable, maybeBilled }: WastedCalls): boolean {
  return unusable + maybeBilled > 0
}

function wasteSentence({ name, wasted }: WastedBy): string {
  const { unusable, answers, useless, maybeBilled, problem } = wasted
  if (useless === 0 && answers === 1)
    return `${name} answers with something that is not search results: ${problem}. One call was tried; it was billed, and its answer is stored.`
  if (answers === 0 && useless === 1)
    return `${name} gives no search results: ${problem}. One call was tried; it ${maybeBilled === 0 ? 'was not' : 'may have been'} billed.`
  if (useless === 0)
    return `${name} answers with something that is not search results: ${problem}. So did ${grouped(unusable)} of ${count(answers, 'answer')}; they were billed, and are stored.`
  const bill = [
    ...(unusable === 0 ? [] : [`${grouped(unusable)} of them were billed`]),
    ...(maybeBilled === 0 ? [] : [`${grouped(maybeBilled)} of them may have been billed`]),
  ]
  const said = `${name} gives no search results: ${problem}. Of ${count(answers + useless, 'call')}, ${grouped(unusable + useless)} brought none`
  return `${said}; ${bill.length === 0 ? 'none of them was billed' : bill.join(', ')}.`
}

/** Exit code of a command that stopped so; 2 where the settings are wrong and nothing was bought. */
export function exitCodeOf({ reason, wrongSetting = false }: StopCause): number {
  return wrongSetting ? 2 : exitCodes[reason]
}

/** Ends the runs of a collection, each with its own reason. */
export async function finishRuns(
  store: Store,
  runs: readonly Run[],
  { stop, limits }: { readonly stop: StopCause | null; readonly limits: ReadonlyMap<number, FinishReason> },
  now: number,
  durationOf?: (run: Run) => number,
): Promise<void> {
  for (const run of runs) {
    const { id } = run
    await store.finishRun(id, reasonOf(await store.taskCounts(id)), now, durationOf?.(run))
    function reasonOf({ pending, failed }: { pending: number; failed: number }): FinishReason {
      if (pending === 0) return failed === 0 ? 'completed' : 'completed_with_failures'
      return stop?.reason ?? limits.get(id) ?? 'balance'
    }
  }
  if (stop === null) await store.countRanks()
}

/** The document that `run --json` prints for a run. Instants are ISO 8601, credits whole numbers. */
export interface RunDocument {
  readonly run: number
  readonly job: string
  readonly status: 'finished' | 'stopped' | 'running'
  readonly finish_reason: FinishReason | null
  readonly tasks: RunTotals['tasks']
  readonly calls: RunTotals['calls']
  readonly credits: {
    readonly planned_min: number
    readonly planned_max: number
    readonly spent: number
    readonly ambiguous: number
    readonly balance_before: number | null
    readonly balance_after: number | null
    /**
     * What the service counted beyond what was billed here and what is ambiguous, as `ledger verify` has it; less than 0
     * where it counted fewer, null where a reading is missing.
     */
    readonly unexplained: number | null
  }
  /** What others spent with the key while it was collected, at least, and between which readings; only where they did. */
  readonly spent_by_others?: { readonly credits: number; readonly from: string; readonly until: string }
  /** Credits of calls that the queue lost when its server failed over; only where there are any. */
  readonly lost_by_failover?: number
  /** Calls that the service refused for their rate, which others with the key use up, too; only where there are any. */
  readonly throttled_calls?: number
  readonly results: RunTotals['results']
  /** Items of answers that were no results and are kept as they were sent; only where there are any. */
  readonly malformed_items?: number
  /** Answers that repeat another question than asked; only where there are any. */
  readonly mismatched_answers?: number
  /** Only where the run as a whole is suspect: how many of the earlier ranks are gone, and how many queries got the same list. */
  readonly suspect?: Suspicion
  /** Only where something was left out so that the balance covers the rest; credits at most. */
  readonly left_out?: { readonly queries: number; readonly credits: number }
  /** Only where the budget stopped the run in this command: the limits that it has reached. */
  readonly limits_reached?: readonly string[]
  readonly started_at: string
  readonly finished_at: string | null
  readonly duration_ms: number | null
}

/** @param balance readings around the last collection; null where there was none */
export function runDocument(
  run: Run,
  tally: RunTotals,
  balance: {
    readonly before: number | null
    readonly after: number | null
    /** What the service counted meanwhile and no call explains; null where that is not known. */
    readonly unexplained: Unexplained | null
  } | null,
  leftOut?: SkippedQueries,
  reached: ReadonlySet<string> = new Set(),
): RunDocument {
  const { finishReason, startedAt, finishedAt, durationMs } = run
  const unexplained =
    balance === null || balance.before === null || balance.after === null ? null : balance.unexplained
  return {
    run: run.id,
    job: run.job,
    status: finishReason === null ? 'running' : isComplete(finishReason) ? 'finished' : 'stopped',
    finish_reason: finishReason,
    tasks: tally.tasks,
    calls: tally.calls,
    credits: {
      planned_min: run.plannedMin,
      planned_max: run.plannedMax,
      spent: tally.spent,
      ambiguous: tally.ambiguous,
      balance_before: balance?.before ?? null,
      balance_after: balance?.after ?? null,
      unexplained: unexplained?.credits ?? null,
    },
    ...(unexplained?.others == null ? {} : { spent_by_others: othersDocument(unexplained.others) }),
    ...(unexplained == null || unexplained.lostByFailover === 0
      ? {}
      : { lost_by_failover: unexplained.lostByFailover }),
    ...(tally.throttled === 0 ? {} : { throttled_calls: tally.throttled }),
    results: tally.results,
    ...(tally.malformed === 0 ? {} : { malformed_items: tally.malformed }),
    ...(tally.mismatched === 0 ? {} : { mismatched_answers: tally.mismatched }),
    ...(tally.suspicion === null ? {} : { suspect: tally.suspicion }),
    ...(leftOut === undefined ? {} : { left_out: { queries: leftOut.queries, credits: leftOut.credits } }),
    ...(reached.size === 0 || finishReason !== 'budget' ? {} : { limits_reached: [...reached] }),
    started_at: new Date(startedAt).toISOString(),
    finished_at: finishedAt === null ? null : new Date(finishedAt).toISOString(),
    duration_ms: finishedAt === null ? null : (durationMs ?? Math.max(0, finishedAt - startedAt)),
  }
}

function othersDocument({ credits, from, until }: OthersSpending) {
  return { credits, from: new Date(from).toISOString(), until: new Date(until).toISOString() }
}

const shortestMs = 500
const longestMs = 20_000

export type ConnectivityMonitor = ReturnType<typeof connectivityMonitor>

/** Tells a service that cannot be reached at all from single calls that failed. */
export function connectivityMonitor(
  clock: Pick<Clock, 'monotonic'>,
  random: () => number,
  maxOutageMs: number,
) {
  /** When any call got a response, whatever it said. */
  let lastResponseAt = clock.monotonic()
  return {
    /** For the calls of one task. */
    watch: () => {
      let unreachableSince: number | null = null
      /** When the first of its calls in a row got no response, while other tasks got some. */
      let firstFailureAt: number | null = null
      return {
        note: (outcome: Outcome): void => {
          const now = clock.monotonic()
          if (outcome === 'unreachable') {
            firstFailureAt ??= now
            unreachableSince ??= now
            return
          }
          lastResponseAt = now
          firstFailureAt = null
          unreachableSince = null
        },
        /** How to wait; null where the call was not unreachable, or others got responses for as long as an outage may last. */
        pause: (
          outcome: Outcome,
        ): {
          /** Milliseconds until the next try. */
          readonly wait: number
          /** It has lasted for longer than an outage is waited for. */
          readonly over: boolean
        } | null => {
          if (outcome !== 'unreachable' || firstFailureAt === null) return null
          const now = clock.monotonic()
          // Another task got a response since: the next outage is another one.
          if (unreachableSince !== null && lastResponseAt >= unreachableSince) {
            unreachableSince = null
            return now - firstFailureAt > maxOutageMs
              ? null
              : { wait: random() * shortestMs * 2, over: false }
          }
          if (unreachableSince === null) return null
          const lasted = now - unreachableSince
          const bound = Math.min(Math.max(lasted, shortestMs), longestMs)
          return { wait: random() * bound, over: lasted > maxOutageMs }
        },
      }
    },
  }
}

/** Longer than the longest window of the rate, so that the rate cannot be the reason any more. */
const longestWindowMs = 61_000
const reportedAfterMs = 3_000

/** Watches how long the service answers calls with rate-limit responses. */
export type ThrottleWatch = ReturnType<typeof watchThrottling>

/** Rate-limit responses cost no try; only when they last does the run stop. */
export function watchThrottling(options: {
  readonly service: Pick<ApiClient, 'rateLimiter'>
  readonly stop: StopSignal
  readonly notice: (message: string) => void
  /** Names the quota that may be the reason; null where none can be. */
  readonly quota: () => string | null
  /** Reads again what others have used. */
  readonly refreshAccount: () => void
  /** How long rate-limit responses are waited out. */
  readonly maxThrottlingMs: number
}) {
  const { service, stop, notice, quota, refreshAccount, maxThrottlingMs } = options
  let isReported = false
  let isRefreshed = false
  const report = (message: string): void => {
    if (!isReported) notice(message)
    isReported = true
  }
  return {
    note: ({ outcome, error }: Settlement, named?: number | null): void => {
      const namedMs = named ?? 0
      const reason = error ?? outcome
      if (outcome === 'answered') {
        isReported = false
        isRefreshed = false
      }
      if (outcome === 'server-error' && namedMs > reportedAfterMs)
        report(
          `The service asks for a pause of ${duration(namedMs / 1000)} (${reason}). Waiting; no answer is lost.`,
        )
      if (outcome !== 'throttled') return
      const throttledFor = service.rateLimiter.throttledFor() ?? 0
      const isQuota = throttledFor > longestWindowMs
      const exhausted = isQuota ? quota() : null
      if (isQuota && !isRefreshed) refreshAccount()
      isRefreshed ||= isQuota
      if (exhausted !== null) stop.request(stopCauses.quotaUsedUp(exhausted, reason))
      else if (throttledFor > maxThrottlingMs) stop.request(stopCauses.throttled(reason, maxThrottlingMs))
      else if (throttledFor + namedMs > reportedAfterMs)
        report(
          `The service limits the rate of calls (${reason}). Waiting, ${duration(maxThrottlingMs / 1000)} at most; no answer is lost.`,
        )
    },
  }
}
