import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** To clean the heap takes as long as some fifty calls: with fewer than this it is left as it is. */
const worthCleaning = 1_000

/**
 * How much more than was in use V8 may hold before it cleans all of the heap, in percent. By itself it lets it grow to four times that: 40 MB
 * more, for 5 to 9 % less of processor time.
 */
const mostMore = 120

/** Room for new objects, in bytes, of which V8 holds twice as much. By itself it goes up to 16 MB, on Node 24 to 32, and is no quicker with it here. */
const roomForNew = 8 * 2 ** 20

/** From now on, what is no longer in use is cleaned away before it is much. */
function keepOldFew(): void {
  setFlagsFromString(`--heap-growing-percent=${mostMore}`)
}

let isRoomKept = false

/** From now on, the room for new objects grows no further than that. V8 makes it smaller while little happens, and then it has to grow again. */
function keepNewFew(): void {
  if (isRoomKept) return
  isRoomKept = true
  let mayGrow = true
  const bound = (): void => {
    const isSmall = heldForNew() < 2 * roomForNew
    if (isSmall !== mayGrow) setFlagsFromString(`--semi-space-growth-factor=${isSmall ? 2 : 1}`)
    mayGrow = isSmall
  }
  bound()
  // It grows and shrinks when it is cleaned.
  new PerformanceObserver(bound).observe({ entryTypes: ['gc'] })
}

/** The bytes that V8 holds for new objects. */
function heldForNew(): number {
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
  return young?.space_size ?? 0
}

/**
 * Keeps the heap small while runs are collected. V8 does not bound it before it was cleaned for the first time, and lets it grow by
 * 40 MB more until then: so it is cleaned of what planning left.
 */
function keepLeanFor(calls: number): void {
  keepOldFew()
  keepNewFew()
  if (calls < worthCleaning) return
  setFlagsFromString('--expose-gc')
  runInNewContext('globalThis.gc?.()')
  setFlagsFromString('--no-expose-gc')
}

/** How much V8 leaves lying, which is most of what rankline holds in memory. */
export const heap = {
  keepOldFew,
  keepNewFew,
  keepLeanFor,
}
