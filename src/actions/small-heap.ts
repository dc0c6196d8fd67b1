import { setFlagsFromString } from 'node:v8'

/** Garbage, in percent of what is in use and no longer young; V8 by itself lets it grow to several times as much. */
const mostGarbagePercent = 50

/**
 * Keeps the heap small in a process that may be at work for hours. To be called before anything large is made, for V8
 * sets its limits when it collects garbage first.
 */
export function keepHeapSmall(): void {
  // Room for the young grows no further: answers would fill any.
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString(`--heap-growing-percent=${mostGarbagePercent}`)
  // What is young is soon looked through by one thread; shared out among several, it waits for the slowest of them.
  setFlagsFromString('--no-parallel-scavenge')
}
