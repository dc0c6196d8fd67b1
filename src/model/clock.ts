/** Time as an argument. */
export interface Clock {
  /** Epoch milliseconds: what is stored. */
  readonly wall: () => number
  /** Milliseconds that only ever grow: what waits and rates are measured with. */
  readonly monotonic: () => number
}

/** The machine's clock. */
export const systemClock: Clock = {
  wall: () => Date.now(),
  monotonic: () => performance.now(),
}
