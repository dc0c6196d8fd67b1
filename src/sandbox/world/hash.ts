/** A 32-bit hash of a text and a salt; fast, not secure. */
export function hashText(text: string, salt = 0): number {
  let hash = 0x811c9dc5 ^ salt
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return finish(hash)
}

/** A 32-bit hash of two numbers. */
export function mix(a: number, b: number): number {
  return finish(a ^ Math.imul(b + 0x9e3779b9, 0x85ebca6b))
}

/** The number as a fraction from 0 to less than 1. */
export function unit(hash: number): number {
  return (hash >>> 0) / 0x1_0000_0000
}

/** The entry of a list by the number. */
export function pick<T>(list: readonly T[], hash: number): T {
  return list[(hash >>> 0) % list.length] as T
}

function finish(value: number): number {
  let hash = value
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d)
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b)
  return (hash ^ (hash >>> 16)) >>> 0
}
