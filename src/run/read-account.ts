import { type Account, readAccount } from '../api/account.ts'
import { decideRetry, httpDate, retryPolicy } from '../api/retry.ts'
import { usage } from '../catalog/operations/usage.ts'
import type { Outcome } from '../model/call.ts'
import type { Clock } from '../model/clock.ts'
import type { LedgerStore } from '../store/ledger.ts'
import type { SentCall, Service } from './service.ts'
import { type StopCause, sleep } from './stop.ts'
import { stalled } from './stop-causes.ts'

export interface AccountParts {
  readonly service: Service
  readonly store: Pick<LedgerStore, 'keepUsage'>
  readonly clock: Clock
  readonly keyHash: string
  readonly random: () => number
  readonly signal: AbortSignal
  /** How long passing troubles are waited for beyond a few tries; nothing where nobody waits for more. */
  readonly patienceMs?: number
  /** How long refusals of the rate are waited out. */
  readonly maxThrottlingMs: number
}

/** What the usage record says, and when: by the service's clock where it tells the time, else by ours. Epoch ms. */
export type AccountReading = Account & { readonly at: number }

/** The usage record could not be had: why, and with which reason a run that needs it stops. */
export class AccountUnknown extends Error {
  override readonly name = 'AccountUnknown'
  readonly stop: StopCause

  constructor(stop: StopCause) {
    super(stop.message)
    this.stop = stop
  }
}

/**
 * Reads `/v1/usage`, stores the reading, and sets the gate to its limits. Refusals of the rate are waited for,
 * passing troubles tried again. Rejected with `AccountUnknown`, or with `Stopped`.
 */
export async function readUsage(
  { service, store, clock, keyHash, random, signal, patienceMs = 0, maxThrottlingMs }: AccountParts,
  runId: number | null,
): Promise<AccountReading> {
  const began = clock.monotonic()
  for (let tries = 0; ; ) {
    const askedAt = clock.wall()
    const sent = await service.lookup(usage, {}, { runId, signal })
    const { outcome, finishedAt } = sent.settlement
    if (outcome === 'answered') {
      const account = understood(sent, service.baseUrl)
      service.gate.setLimits(account.limits)
      await store.keepUsage({
        runId,
        keyHash,
        askedAt,
        readAt: finishedAt,
        remaining: account.remaining,
        totalUsed: account.totalUsed,
        record: sent.body.toString('utf8'),
      })
      return { ...account, at: httpDate(String(sent.headers.date)) ?? finishedAt }
    }
    if (signal.aborted) throw signal.reason
    if (outcome === 'throttled') {
      if ((service.gate.refusedFor() ?? 0) > maxThrottlingMs)
        throw new AccountUnknown(stalled(sent.settlement.error ?? outcome, maxThrottlingMs))
      continue
    }
    const passing = outcome === 'server-error' || outcome === 'unreachable' || outcome === 'ambiguous'
    tries += 1
    const patient = clock.monotonic() - began < patienceMs
    // Before anything was bought it is the address that is wrong; later it is the service, which may come back.
    const wrongSetting = patienceMs === 0 && (sent.wrongSetting === true || outcome === 'not-found')
    const decision =
      passing && !wrongSetting ? decideRetry(Math.min(tries, patient ? slowest : tries), random()) : null
    if (decision === null || !('wait' in decision))
      throw new AccountUnknown({ ...stopOf(sent, service.baseUrl), wrongSetting })
    if (sent.namedMs == null) await sleep(clock, decision.wait, signal)
  }
}

/** The try in a row after which the pause is longest. */
const slowest = retryPolicy.triesInRow - 1

function understood(sent: SentCall, baseUrl: string): Account {
  const account = readAccount(sent.body)
  if (account === null || account.remaining === null)
    throw new AccountUnknown({
      reason: 'unavailable',
      message: `The usage record at ${baseUrl}${usage.path} names no balance. Check that RANKLINE_BASE_URL is the address of the service.`,
    })
  return account
}

function reasonOf(outcome: Outcome): StopCause['reason'] {
  if (outcome === 'refused') return 'auth'
  return outcome === 'out-of-credit' ? 'balance' : 'unavailable'
}

function stopOf({ settlement: { outcome, error }, wrongSetting }: SentCall, baseUrl: string): StopCause {
  const words = error ?? 'no reason given'
  const reason = reasonOf(outcome)
  const messages: Partial<Record<StopCause['reason'], string>> = {
    auth: `The service refused the key (${words}). Check RANKLINE_API_KEY.`,
    balance: `The service says that nothing is left to spend (${words}).`,
  }
  // What is wrong with a setting is in the words already.
  const isSaid = outcome === 'redirected' || wrongSetting === true
  const hint = isSaid ? '' : ` ${addressHint(outcome, baseUrl)}`
  return { reason, message: messages[reason] ?? `The service at ${baseUrl} cannot be used: ${words}.${hint}` }
}

/** What to look at where an address does not answer as the service does. */
function addressHint(outcome: Outcome, baseUrl: string): string {
  if (outcome === 'not-found') return 'There is no usage record: check RANKLINE_BASE_URL.'
  if (outcome === 'ambiguous' && baseUrl.startsWith('http:'))
    return 'Check RANKLINE_BASE_URL: where the port speaks https, write https://.'
  return 'Check RANKLINE_BASE_URL and the network.'
}
