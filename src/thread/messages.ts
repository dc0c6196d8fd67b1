/** A call of a method in another thread. */
export type Request = readonly [call: number, object: string, method: string, args: readonly unknown[]]

/** How it ended: with a value, or with what was thrown. */
export type Reply =
  | readonly [call: number, end: 'value', value: unknown]
  | readonly [call: number, end: 'error', error: Thrown]

/** An error as plain data. */
export interface Thrown {
  readonly message: string
  readonly stack: string | undefined
  /** The exit code of what was foreseen; null for all others. */
  readonly exitCode: number | null
}

/** Objects whose methods take and give plain data, by name. */
export type Served = Readonly<Record<string, object>>

/** Either end of a way between two threads. */
export interface Port {
  postMessage(message: unknown): void
  on(event: 'message', heard: (message: unknown) => void): unknown
}

/**
 * So many need not wait for more: larger messages cost each of them hardly less, and keep the threads waiting for each
 * other. Not sent in between, for what is handed over together shall arrive together.
 */
const plenty = 4

/** When what was collected is said: in the event loop's next turn, or when nothing more is ready in this one. */
export type Moment = (say: () => void) => void

/**
 * Collects what is to be said at the next such moment and says it as one message: a message costs more than what is in
 * it. What was handed over together arrives together.
 */
export function inBatches<T>(port: Port, moment: Moment): (one: T) => void {
  let batch: T[] = []
  const post = (): void => {
    const whole = batch
    batch = []
    if (whole.length > 0) port.postMessage(whole)
  }
  return (one) => {
    batch.push(one)
    if (batch.length === plenty) process.nextTick(post)
    else if (batch.length === 1) moment(post)
  }
}
