/** The JSON of a body, also after a byte order mark; undefined where it is none. */
export function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8', startsWithMark(body) ? 3 : 0))
  } catch {
    return undefined
  }
}

/** A byte order mark, in UTF-8. */
function startsWithMark(body: Buffer): boolean {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf
}

/** Writing JSON runs out of stack at a few thousand levels, and SQLite reads no more than 1,000. */
const deepest = 200
const cutOff = `… (nested deeper than ${deepest} levels)`

/** A value to be kept as it was sent, but for what is nested deeper than can be stored and read again. */
export function asSent(value: unknown, levels = deepest): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (levels === 0) return cutOff
  if (Array.isArray(value)) return value.map((item) => asSent(item, levels - 1))
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, asSent(item, levels - 1)]))
}
