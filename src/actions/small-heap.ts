import { setFlagsFromString } from 'node:v8'

/** Garbage beside what is in use, beside what is young; V8 by itself lets it grow to several times as much. */
const mostGarbagePercent = 50

/**
 * Keeps the heap small in a process that may be at work for hours. To be called before anything large is made, for V8
 * sets its limits when it collects garbage first.
 */
export function keepHeapSmall(): void {
  // Room for the young grows no further: answers would fill any.
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString(`--heap-growing-percent=${mostGarbagePercent}`)
  // So little is looked through sooner by one thread than shared out among four and waited for, the more so on a busy machine.
  setFlagsFromString('--no-parallel-scavenge')
}
