/** Items by what they have in common, in the order in which they came. */
export function groupBy<T, K>(items: readonly T[], of: (item: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = of(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}

export function groups<T>(items: readonly T[], of: (item: T) => unknown): readonly (readonly T[])[] {
  return [...groupBy(items, of).values()]
}
