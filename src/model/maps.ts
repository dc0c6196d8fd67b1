/** The entries of a list by a key, in their order. */
export function groupedBy<T, K>(list: readonly T[], keyOf: (one: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>()
  for (const one of list) {
    const key = keyOf(one)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [one])
    else group.push(one)
  }
  return groups
}

/** The value of a key in the map, made where it is missing; the map is emptied before it has more than `most` keys. */
export function remembered<T>(known: Map<string, T>, key: string, make: () => T, most = 1_000): T {
  const before = known.get(key)
  if (before !== undefined) return before
  const value = make()
  if (known.size >= most) known.clear()
  known.set(key, value)
  return value
}

/** The function with its answers kept. Texts that come again one after the other are not even looked up. */
export function memoized<T>(make: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>()
  let last = null as { readonly text: string; readonly value: T } | null
  return (text) => {
    if (last?.text === text) return last.value
    const value = remembered(known, text, () => make(text), mostAnswers)
    last = { text, value }
    return value
  }
}

const mostAnswers = 10_000
