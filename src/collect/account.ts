import type { ApiClient, FinishedCall } from '../api/client.ts'
import { decideRetry, headerText, httpDate, retryPolicy } from '../api/retry.ts'
import { usage } from '../catalog/index.ts'
import { readPart } from '../catalog/operation.ts'
import type { Account, Outcome } from '../model/call.ts'
import type { StopCause } from '../model/run.ts'
import { type Clock, sleep } from '../model/time.ts'
import type { Store } from '../store/sqlite/open.ts'
import { stopCauses, UsageUnavailable } from './stop.ts'

/** What the usage record says, and when. */
export type AccountReading = Account & {
  /** By the service's clock where it tells the time, else by ours. Epoch ms. */
  readonly at: number
  /** How far the service's clock is ahead of ours; null where it does not tell the time. */
  readonly aheadMs: number | null
}

/**
 * Reads `/v1/usage`, stores the reading, and sets the limits of the rate limiter. Rate-limit responses are waited out,
 * passing failures retried. Rejected with `UsageUnavailable` or `StopRequested`.
 */
export async function fetchUsage(
  {
    service,
    store,
    clock,
    keyHash,
    random,
    signal,
    retryForMs = 0,
    maxThrottlingMs,
    opening,
  }: {
    readonly service: ApiClient
    readonly store: Pick<Store, 'saveUsage'>
    readonly clock: Clock
    readonly keyHash: string
    readonly random: () => number
    readonly signal: AbortSignal
    /** How long passing failures are retried after the first few tries; 0 for not at all. */
    readonly retryForMs?: number
    /** How long rate-limit responses are waited out. */
    readonly maxThrottlingMs: number
    /** Gives, once, an answer that came a moment ago: it is used instead of the first question. */
    readonly opening?: ((runId: number | null) => Promise<FinishedCall | null>) | undefined
  },
  runId: number | null,
): Promise<AccountReading> {
  const began = clock.monotonic()
  for (let tries = 0; ; ) {
    const first = (await opening?.(runId)) ?? null
    const askedAt = first?.sentAt ?? clock.wall()
    const sent = first ?? (await service.lookup(usage, {}, { runId, signal }))
    const { outcome, finishedAt } = sent.settlement
    if (outcome === 'answered') {
      const account = accountOf(sent, service.baseUrl)
      service.rateLimiter.setLimits(account.limits)
      await store.saveUsage({
        runId,
        keyHash,
        askedAt,
        readAt: finishedAt,
        remaining: account.remaining,
        totalUsed: account.totalUsed,
        record: sent.body.toString('utf8'),
      })
      const aheadMs = aheadOf(sent)
      return { ...account, aheadMs, at: aheadMs === null ? finishedAt : finishedAt + aheadMs }
    }
    if (signal.aborted) throw signal.reason
    if (outcome === 'throttled') {
      if ((service.rateLimiter.throttledFor() ?? 0) > maxThrottlingMs)
        throw new UsageUnavailable(stopCauses.throttled(sent.settlement.error ?? outcome, maxThrottlingMs))
      continue
    }
    const passing = outcome === 'server-error' || outcome === 'unreachable' || outcome === 'ambiguous'
    tries += 1
    const patient = clock.monotonic() - began < retryForMs
    // Before the first answer the address is taken to be wrong. Later the service is taken to be down, and may come back.
    const wrongSetting = retryForMs === 0 && isWrongAddress(sent)
    const decision =
      passing && !wrongSetting ? decideRetry(Math.min(tries, patient ? slowest : tries), random()) : null
    if (decision === null || !('wait' in decision))
      throw new UsageUnavailable({ ...stopOf(sent, service.baseUrl), wrongSetting })
    // The client waits for as long as the service has named, except after an answer that `opening` gave.
    if (sent.namedMs == null) await sleep(clock, decision.wait, signal)
    else if (first !== null) await sleep(clock, sent.namedMs, signal)
  }
}

const isWrongAddress = ({ settlement: { outcome }, wrongSetting }: FinishedCall): boolean =>
  wrongSetting === true || outcome === 'not-found'

/** What is wrong with an address that was asked for the usage record; null where it may be the service's. */
export function wrongAddress(sent: FinishedCall, baseUrl: string): string | null {
  return isWrongAddress(sent) ? stopOf(sent, baseUrl).message : null
}

/** The try in a row after which the pause is longest. */
const slowest = retryPolicy.triesPerRound - 1

/** How far the service's clock was ahead of ours when it answered; null where it names no time, or one that it cannot mean. */
export function aheadOf({ headers, sentAt, settlement }: FinishedCall): number | null {
  const theirs = httpDate(headerText(headers.date))
  if (theirs === null || !isPossible(theirs)) return null
  // `age` says how many seconds ago a cache stored the answer.
  const ageMs = Number(headerText(headers.age)) * 1000 || 0
  return clockDifference(theirs + ageMs, { before: sentAt, after: settlement.finishedAt })
}

function accountOf(sent: FinishedCall, baseUrl: string): Account {
  const account = parseUsage(sent.body)
  if (account === null || account.remaining === null)
    throw new UsageUnavailable({
      reason: 'unavailable',
      message: `The usage record at ${baseUrl}${usage.path} names no balance. Check that RANKLINE_BASE_URL is the address of the service.`,
    })
  return account
}

function reasonOf(outcome: Outcome): StopCause['reason'] {
  if (outcome === 'refused') return 'auth'
  return outcome === 'out-of-credit' ? 'balance' : 'unavailable'
}

function stopOf({ settlement: { outcome, error }, wrongSetting }: FinishedCall, baseUrl: string): StopCause {
  const reason = error ?? 'no reason given'
  const finish = reasonOf(outcome)
  const messages: Partial<Record<StopCause['reason'], string>> = {
    auth: `The service refused the key (${reason}). Check RANKLINE_API_KEY.`,
    balance: `Insufficient balance (${reason}). Top up, then run the same command again.`,
  }
  // The reason names the wrong setting already.
  const hasHint = outcome === 'redirected' || wrongSetting === true
  const hint = hasHint ? '' : ` ${addressHint(outcome, baseUrl)}`
  const message = messages[finish] ?? `The service at ${baseUrl} cannot be used: ${reason}.${hint}`
  return { reason: finish, message }
}

/** What to check where an address does not answer as the service does. */
function addressHint(outcome: Outcome, baseUrl: string): string {
  if (outcome === 'not-found') return 'There is no usage record: check RANKLINE_BASE_URL.'
  if (outcome === 'ambiguous' && baseUrl.startsWith('http:'))
    return 'Check RANKLINE_BASE_URL: where the port speaks https, write https://.'
  return 'Check RANKLINE_BASE_URL and the network.'
}

/** Why the service would pass no call of this account, whatever its balance. */
type Obstacle = 'key-inactive' | 'key-expired' | 'no-calls-per-second' | 'no-calls-per-minute'

/** What blocks every call at `now` (epoch ms), or null. */
export function obstacleTo(account: Account, now: number): Obstacle | null {
  if (account.keyActive === false) return 'key-inactive'
  if ((keyExpiry(account) ?? Number.POSITIVE_INFINITY) <= now) return 'key-expired'
  if (account.limits.perSecond === 0) return 'no-calls-per-second'
  return account.limits.perMinute === 0 ? 'no-calls-per-minute' : null
}

/** When the key stops working, epoch ms: a date without a time lasts to its end. Null where it never does, or is not understood. */
export function keyExpiry({ keyExpires }: Pick<Account, 'keyExpires'>): number | null {
  if (keyExpires === null || !/^\d{4}-\d{2}-\d{2}/.test(keyExpires)) return null
  const instant = Date.parse(keyExpires)
  if (Number.isNaN(instant)) return null
  return /^\d{4}-\d{2}-\d{2}$/.test(keyExpires) ? instant + 86_400_000 : instant
}

/**
 * Reads a usage record; null where the body is none. Numbers may be fractional, texts or below nothing: no credit and no call is taken
 * from a fraction.
 */
export function parseUsage(body: Buffer): Account | null {
  const record = readPart.fields(readPart.json(body))
  if (record === null) return null
  const unread: Record<string, string> = {}
  const read = <T>(name: string, value: unknown, reader: (value: unknown) => T | null): T | null => {
    const known = reader(value)
    if (known === null && value !== null && value !== undefined) unread[name] = asJson(value)
    return known
  }
  const limit = read('rate_limit', record.rate_limit, readPart.fields) ?? {}
  const key = read('api_key', record.api_key, readPart.fields) ?? {}
  const quotas = read('api_key.quotas', key.quotas, readPart.fields) ?? {}
  const quota = (period: keyof Account['quotas']): number | null =>
    read(`api_key.quotas.${period}`, quotas[period], wholeCalls)
  return {
    remaining: whole(record.remaining),
    totalUsed: read('total_used', record.total_used, whole),
    limits: {
      perSecond: read('rate_limit.per_second', limit.per_second, allowed),
      perMinute: read('rate_limit.per_minute', limit.per_minute, allowed),
    },
    keyActive: readPart.boolean(key.active),
    keyExpires: readPart.text(key.expires),
    quotas: {
      total: quota('total'),
      daily: quota('daily'),
      weekly: quota('weekly'),
      monthly: quota('monthly'),
    },
    unread,
  }
}

const longestShown = 60

function asJson(value: unknown): string {
  const json = JSON.stringify(value)
  return json.length > longestShown ? `${json.slice(0, longestShown).toWellFormed()}…` : json
}

/** The whole part, rounded down, of a number within the exact range. */
function whole(value: unknown): number | null {
  const read = readPart.number(value)
  const floor = read === null ? Number.NaN : Math.floor(read)
  // `+ 0` turns -0 into 0.
  return Number.isSafeInteger(floor) ? floor + 0 : null
}

function wholeCalls(value: unknown): number | null {
  const calls = whole(value)
  return calls === null ? null : Math.max(0, calls)
}

/** Whole calls of a window: less than one is one, and nothing is nothing. */
function allowed(value: unknown): number | null {
  const limit = readPart.number(value)
  if (limit === null || limit <= 0) return limit === null ? null : 0
  return Math.max(Math.floor(limit), 1)
}

/** What is said of each field of the usage record that cannot be read. */
export function unreadLines({ unread }: Pick<Account, 'unread'>): readonly string[] {
  return Object.entries(unread).map(([name, value]) =>
    name === 'total_used'
      ? `The usage record says ${value} for total_used, which is no number: rankline ledger verify cannot check what was spent. Ask the service.`
      : `The usage record says ${value} for ${name}, which cannot be read: rankline does not keep that limit. Ask the service what it means, and until then limit runs yourself (--max-credits, --concurrency).`,
  )
}

const obstacles: Readonly<Record<Obstacle, (account: Account) => StopCause>> = {
  'key-inactive': () => ({
    reason: 'auth',
    message:
      'The service says that the API key is inactive. Activate it at the service, or set RANKLINE_API_KEY to another one.',
  }),
  'key-expired': ({ keyExpires }) => ({
    reason: 'auth',
    message: `The API key expired on ${keyExpires}. Renew it at the service, or set RANKLINE_API_KEY to another one.`,
  }),
  'no-calls-per-second': () => noCalls('second'),
  'no-calls-per-minute': () => noCalls('minute'),
}

function noCalls(window: string): StopCause {
  return {
    reason: 'quota',
    message: `The service allows this account 0 calls per ${window}, so nothing can be bought. Ask the service to raise the limit, then run the same command again.`,
  }
}

/** The stop before anything is bought, where the account's own record says that no call can pass; null where one can. */
export function accountStop(account: Account, now: number): StopCause | null {
  const obstacle = obstacleTo(account, now)
  return obstacle === null ? null : obstacles[obstacle](account)
}

/**
 * How far the clock of the service is ahead of ours. The Date header names whole seconds, and an instant between question and
 * answer: what this can explain is no difference.
 */
export function clockDifference(
  theirs: number,
  {
    before,
    after,
  }: {
    readonly before: number
    readonly after: number
  },
): number {
  if (theirs > after) return theirs - after
  const latest = theirs + 999
  return latest < before ? latest - before : 0
}

/** The program did not exist before. A clock that shows an earlier time was never set. */
const earliestTime = Date.UTC(2024, 0, 1)
const latestTime = Date.UTC(2100, 0, 1)

/** Whether a date from the service is plausible. A proxy that answers in its place, or a machine without a clock, may send any date. */
export function isPossible(theirs: number): boolean {
  return theirs >= earliestTime && theirs < latestTime
}
