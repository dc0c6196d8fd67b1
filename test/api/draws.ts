import { mix, unit } from '../../src/sandbox/world/hash.ts'
import { seed } from '../support/seed.ts'

/** Numbers from 0 up to 1, drawn at random but the same every time. */
export function draws(): () => number {
  let drawn = 0
  return () => unit(mix(seed, drawn++))
}
