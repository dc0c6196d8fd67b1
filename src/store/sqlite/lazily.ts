/** Makes something when it is first called: its statements take time to prepare, and most commands never run them. */
export function lazily<Args extends readonly unknown[], Result>(
  make: () => (...args: Args) => Result,
): (...args: Args) => Result {
  let made: ((...args: Args) => Result) | null = null
  return (...args) => {
    made ??= make()
    return made(...args)
  }
}
