/** Entries of a list that go into one piece. */
const batch = 256

/** The JSON of a value, in pieces: long lists are never one string. */
export function* jsonPieces(value: unknown): Generator<string> {
  if (Array.isArray(value)) {
    yield '['
    for (let start = 0; start < value.length; start += batch) {
      const part = JSON.stringify(value.slice(start, start + batch))
      yield `${start === 0 ? '' : ','}${part.slice(1, -1)}`
    }
    yield ']'
  } else if (typeof value === 'object' && value !== null) {
    yield '{'
    let first = true
    for (const [key, field] of Object.entries(value)) {
      if (field === undefined) continue
      yield `${first ? '' : ','}${JSON.stringify(key)}:`
      yield* jsonPieces(field)
      first = false
    }
    yield '}'
  } else yield JSON.stringify(value)
}
