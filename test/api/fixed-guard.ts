import type { Guard } from '../../src/api/guard.ts'

/** Learns nothing, so that waits can be reckoned with. */
export function fixedGuard(ms: number): Guard {
  return { ms: () => ms, refused: () => {} }
}
