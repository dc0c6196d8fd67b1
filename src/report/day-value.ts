import type { Observed } from './movement.ts'
import { seenBy } from './movement.ts'

/**
 * Whether the later of two observations of one local day speaks for the day. The last one that knows anything does;
 * but who looked less deep cannot take back what was seen: `absent` replaces a rank, or an absence, only where it
 * looked as far down itself, without a gap.
 */
export function speaksForDay(later: Observed, earlier: Observed): boolean {
  if (later.state === 'unknown' || earlier.state === 'unknown') return earlier.state === 'unknown'
  return later.state === 'ranked' || seenBy(earlier.rank ?? earlier.unbrokenDepth, later)
}
