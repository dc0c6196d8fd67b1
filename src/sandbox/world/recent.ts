/** Remembers what `make` gave for the `limit` keys asked for last. */
export function recent<T>(limit: number): (key: string, make: () => T) => T {
  const kept = new Map<string, T>()
  return (key, make) => {
    const known = kept.get(key)
    const value = known ?? make()
    if (known !== undefined) kept.delete(key)
    else if (kept.size >= limit) kept.delete(kept.keys().next().value as string)
    kept.set(key, value)
    return value
  }
}
