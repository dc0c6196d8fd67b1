/** Remembers what was used last. */
export interface RecentlyUsed<Key, Value> {
  get(key: Key): Value | undefined
  set(key: Key, value: Value): void
  clear(): void
}

/**
 * Keeps entries in two generations: one that is used moves into the newer. When that is full it becomes the older one, and what
 * was left there is forgotten at once. An order of use, entry by entry, would take longer to keep than most entries to find.
 *
 * @param most size of all entries together
 * @param sizeOf the size of an entry; one by default
 */
export function recentlyUsed<Key, Value>(
  most: number,
  sizeOf: (key: Key, value: Value) => number = () => 1,
): RecentlyUsed<Key, Value> {
  let newer = new Map<Key, Value>()
  let older = new Map<Key, Value>()
  let size = 0

  const set = (key: Key, value: Value): void => {
    if (!newer.has(key)) size += sizeOf(key, value)
    newer.set(key, value)
    if (size * 2 < most) return
    older = newer
    newer = new Map()
    size = 0
  }

  return {
    get: (key) => {
      const value = newer.get(key)
      if (value !== undefined) return value
      const before = older.get(key)
      if (before !== undefined) set(key, before)
      return before
    },
    set,
    clear: () => {
      newer = new Map()
      older = new Map()
      size = 0
    },
  }
}
