import type { ApiClient, FinishedCall } from '../api/client.ts'
import { usage } from '../catalog/index.ts'
import { aheadOf } from '../collect/account.ts'
import { WrongClock } from '../model/errors.ts'
import { type Clock, hourMs, utcMinute } from '../model/time.ts'
import { agreeingMs, clockOff, refusedMs } from '../model/trusted-time.ts'
import type { Store } from '../store/store.ts'
import type { CommandOptions } from './config.ts'

/** Compares the clock of this machine with that of the service before anything is planned. */
export interface ClockCheck {
  /**
   * Asks once and for free. What the service does not say, or cannot mean, stops nothing. Rejected with one sentence where the clock is
   * off by more than a day and not trusted; where it is off by minutes, that is logged.
   */
  check(log: (line: string) => void, signal?: AbortSignal): Promise<void>
  /** What was answered, once, as the first reading of the account of a run; null where nothing was asked a moment ago. */
  opening(runId: number | null): Promise<FinishedCall | null>
}

/** An older reading says too little of the balance. */
const longestMs = 5_000

export function clockCheck({
  service,
  store,
  clock,
  options,
}: {
  readonly service: ApiClient
  readonly store: Pick<Store, 'callOfRun'>
  readonly clock: Clock
  readonly options: CommandOptions
}): ClockCheck {
  let answer: { readonly call: FinishedCall; readonly at: number } | null = null
  let isChecked = false
  return {
    check: async (log, signal) => {
      if (isChecked) return
      const call = await service.lookup(usage, {}, { signal })
      answer = { call, at: clock.monotonic() }
      judgeClock(aheadOf(call), { now: clock.wall(), options, log })
      isChecked = true
    },
    opening: async (runId) => {
      const asked = answer
      answer = null
      if (asked === null) return null
      const { outcome } = asked.call.settlement
      // A key that was refused is not tried again, however long planning took.
      if (outcome !== 'refused' && clock.monotonic() - asked.at > longestMs) return null
      if (runId !== null) await store.callOfRun(asked.call.callId, runId)
      return asked.call
    },
  }
}

/** A check of a clock that is no machine's. */
export const unchecked: ClockCheck = { check: async () => {}, opening: async () => null }

/** Logs or throws what is to be said of a clock; of one that agrees, or with which nothing could be compared, nothing. */
export function judgeClock(
  aheadMs: number | null,
  {
    now,
    options,
    log,
  }: { readonly now: number; readonly options: CommandOptions; readonly log: (line: string) => void },
): void {
  if (aheadMs === null || Math.abs(aheadMs) <= agreeingMs) return
  const isTrusted = Math.abs(aheadMs) <= refusedMs || options.trustClock === true
  if (isTrusted) log(`${clockOff(aheadMs)}: days, slots and ages go by it. Set it, best by NTP.`)
  else
    throw new WrongClock(
      `${clockOff(aheadMs)}: it shows ${utcMinute(now)} UTC, the service ${utcMinute(now + aheadMs)}. Nothing was run, told or removed, for days, slots and ages would be wrong. Set the clock, best by NTP; if it is right, add --trust-clock`,
    )
}

/** The clock of a process that stays up. */
interface ClockGate {
  /**
   * Whether it can be worked with. The service is asked at first, whenever the clock was set or the machine slept, every five minutes
   * while the clock is wrong, and every hour while nothing is known. What is wrong is logged once.
   */
  mayWork(): Promise<boolean>
  /** Whether the service agreed, or the user said that it is right. */
  isConfirmed(): boolean
}

const askAgainMs = { wrong: 300_000, unknown: hourMs, agrees: Number.POSITIVE_INFINITY }

export function clockGate({
  ask,
  clock,
  options,
  log,
}: {
  /** How far the service's clock is ahead of ours; null where that cannot be found out. */
  readonly ask: () => Promise<number | null>
  readonly clock: Pick<Clock, 'wall' | 'monotonic'>
  readonly options: CommandOptions
  readonly log: (line: string) => void
}): ClockGate {
  let state: keyof typeof askAgainMs = 'unknown'
  let asked: { readonly wall: number; readonly monotonic: number } | null = null
  const askAgain = async (): Promise<void> => {
    const before = state
    const said: string[] = []
    try {
      const aheadMs = await ask()
      state = aheadMs === null ? 'unknown' : 'agrees'
      judgeClock(aheadMs, { now: clock.wall(), options, log: (line) => said.push(line) })
    } catch (error) {
      if (!(error instanceof WrongClock)) throw error
      state = 'wrong'
      if (before !== 'wrong') log(error.message)
    }
    if (before === 'wrong' && state !== 'wrong') log('The clock of this machine can be worked with again.')
    for (const line of said) log(line)
  }
  return {
    mayWork: async () => {
      const now = { wall: clock.wall(), monotonic: clock.monotonic() }
      const passed = asked === null ? Number.POSITIVE_INFINITY : now.monotonic - asked.monotonic
      const wasSet = asked !== null && Math.abs(now.wall - asked.wall - passed) > agreeingMs
      if (wasSet || passed >= askAgainMs[state]) {
        await askAgain()
        asked = { wall: clock.wall(), monotonic: clock.monotonic() }
      }
      return state !== 'wrong'
    },
    isConfirmed: () => state === 'agrees' || options.trustClock === true,
  }
}
