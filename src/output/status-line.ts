import type { Clock } from '../model/time.ts'
import { note, type Terminal } from './terminal.ts'

/** Shows how far long work is: a live line on a terminal, elsewhere a plain line now and then. */
export interface StatusLine<T> {
  readonly show: (state: T) => void
  /** Takes the live line away. */
  readonly end: () => void
}

export const liveEveryMs = 100
const plainEveryMs = 30_000
/** A line on the screen that is replaced again and again; its text is made only when it is shown. */
export function statusLine<T>(
  terminal: Terminal,
  clock: Pick<Clock, 'monotonic'>,
  textOf: (state: T) => string,
): StatusLine<T> {
  const { status } = terminal
  const every = status === null ? plainEveryMs : liveEveryMs
  const write = status ?? ((line: string) => note(terminal, line))
  let shown = status === null ? clock.monotonic() : Number.NEGATIVE_INFINITY
  return {
    show: (state) => {
      const now = clock.monotonic()
      if (now - shown < every) return
      shown = now
      write(textOf(state))
    },
    end: () => status?.(''),
  }
}
