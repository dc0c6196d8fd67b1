import { dayMs, hourMs } from '../../model/time.ts'

const minuteMs = 60_000

/**
 * How long a message waits after each failed try: first until the next run or the next look of the scheduler, for most troubles
 * pass; then ever longer. The last waits are shorter than a day, so that a daily run never comes a moment too early.
 */
const waitsMs = [
  0,
  minuteMs,
  10 * minuteMs,
  hourMs,
  4 * hourMs,
  12 * hourMs,
  20 * hourMs,
  20 * hourMs,
  20 * hourMs,
]

/** No receiver may ask for more. */
const longestRequestMs = dayMs

/**
 * How long a message waits after so many failed tries; null where it is given up, after ten tries in a little over three days.
 *
 * @param askedMs how long the receiver asked to be left alone; null where it did not
 */
export function nextTry(tries: number, askedMs: number | null): number | null {
  const waitMs = waitsMs[tries - 1]
  return waitMs === undefined ? null : Math.max(waitMs, Math.min(askedMs ?? 0, longestRequestMs))
}
