/** Time as an argument. */
export interface Clock {
  /** Epoch milliseconds: what is stored. */
  readonly wall: () => number
  /** Milliseconds that only ever grow: what waits and rates are measured with. */
  readonly monotonic: () => number
  /** Calls back once that many milliseconds have passed; answers what takes the call back. */
  readonly after: (ms: number, ring: () => void) => () => void
}

/** The machine's clock. */
export const systemClock: Clock = {
  wall: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, ring) => {
    const timer = setTimeout(ring, ms)
    return () => clearTimeout(timer)
  },
}
