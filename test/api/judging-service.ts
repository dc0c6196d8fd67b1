import type { RateLimiter } from '../../src/api/rate-limiter.ts'
import type { RateLimits } from '../../src/model/call.ts'
import { slidingWindows } from '../../src/sandbox/state.ts'
import type { FakeTime } from './fake-time.ts'

/** A service at the end of a way, that judges requests by its own clock as they arrive. */
export interface Service {
  readonly limits: RateLimits
  /** Milliseconds, at least 1, until a request arrives that is sent at an instant. */
  readonly wayMs: (call: number, sentAt: number) => number
  /** Milliseconds from there to the answer. */
  readonly answerMs: (call: number) => number
}

/** What the service saw. */
interface Seen {
  readonly passed: number
  readonly refused: number
  /** From the first call that was passed to the last. */
  readonly seconds: number
}

/** Sends so many calls through a gate, all asked for at once; those refused are sent again. */
export async function callThrough(
  time: FakeTime,
  gate: RateLimiter,
  calls: number,
  { limits, wayMs, answerMs }: Service,
): Promise<Seen> {
  const windows = slidingWindows()
  const passed: number[] = []
  let refused = 0
  const send = async (call: number): Promise<void> => {
    const token = await gate.acquire()
    token.sent()
    time.clock.after(wayMs(call, time.now()), () => {
      if (windows.admit(time.now(), limits)) {
        passed.push(time.now())
        time.clock.after(answerMs(call), () => token.finish(false))
      } else {
        refused += 1
        token.finish(true)
        void send(call)
      }
    })
  }
  for (let call = 0; call < calls; call++) void send(call)
  await time.settle()
  return {
    passed: passed.length,
    refused,
    seconds: ((passed.at(-1) ?? 0) - (passed[0] ?? 0)) / 1000,
  }
}
