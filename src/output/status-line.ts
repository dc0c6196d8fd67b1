import type { Clock } from '../model/time.ts'
import { note, type Terminal } from './terminal.ts'

/** Shows the progress of long work: a live line on a terminal, elsewhere a plain line every half minute. */
export interface StatusLine<T> {
  readonly show: (state: T) => void
  /** Removes the live line. */
  readonly end: () => void
}

export const liveEveryMs = 100
const plainEveryMs = 30_000
/** Makes a status line; its text is made only when it is shown. */
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
