/** Result pages of Serposcope: the length of the text as four bytes, then an LZ4 block. */

/** The links of a page in the order of their ranks; null where the bytes are not those of a page. */
export function linksOf(blob: Buffer): readonly string[] | null {
  if (blob.length < 4) return null
  const plain = decompressed(blob.subarray(4), blob.readUInt32BE(0))
  return plain === null ? null : readPage(plain)
}

/** More than any page of results takes. */
const mostBytes = 64 * 1024 * 1024

/** An LZ4 block: literals and copies of what was written before, in turns. */
function decompressed(block: Buffer, length: number): Buffer | null {
  if (length > mostBytes) return null
  const plain = Buffer.alloc(length)
  let [from, to] = [0, 0]
  /** A length of which four bits stand in the token: 15 says that bytes follow, up to one that is not 255. */
  const longer = (start: number): number => {
    if (start < 15) return start
    let sum = start
    for (;;) {
      const more = block[from]
      from += 1
      if (more === undefined) return Number.POSITIVE_INFINITY
      sum += more
      if (more !== 255) return sum
    }
  }
  while (from < block.length) {
    const token = block[from] as number
    from += 1
    const literals = longer(token >> 4)
    if (from + literals > block.length || to + literals > length) return null
    block.copy(plain, to, from, from + literals)
    from += literals
    to += literals
    if (from === block.length) break
    if (from + 2 > block.length) return null
    const distance = block.readUInt16LE(from)
    from += 2
    const copied = longer(token & 15) + 4
    if (distance === 0 || distance > to || to + copied > length) return null
    // What is copied may overlap what is written: byte by byte.
    for (let end = to + copied; to < end; to++) plain[to] = plain[to - distance] as number
  }
  return to === length ? plain : null
}

/** A version (0), how many results, and each with its address and its former ranks. */
function readPage(plain: Buffer): readonly string[] | null {
  try {
    if (plain[0] !== 0) return null
    const count = plain.readUInt16BE(1)
    const links: string[] = []
    let at = 3
    for (let index = 0; index < count; index++) {
      const length = plain.readUInt16BE(at)
      at += 2
      if (at + length >= plain.length) return null
      links.push(modifiedUtf8(plain.subarray(at, at + length)))
      at += length
      at += 1 + plain.readUInt8(at) * 4
    }
    return at <= plain.length ? links : null
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/** Text as Java writes it: each half of a pair of surrogates in three bytes, and NUL in two. */
function modifiedUtf8(bytes: Buffer): string {
  if (bytes.every((byte) => byte < 0x80)) return bytes.toString('latin1')
  const units: number[] = []
  for (let at = 0; at < bytes.length; ) {
    const [a, b, c] = [bytes[at] as number, bytes[at + 1] ?? 0, bytes[at + 2] ?? 0]
    if (a < 0x80) units.push(a)
    else if (a < 0xe0) units.push(((a & 0x1f) << 6) | (b & 0x3f))
    else units.push(((a & 0x0f) << 12) | ((b & 0x3f) << 6) | (c & 0x3f))
    at += a < 0x80 ? 1 : a < 0xe0 ? 2 : 3
  }
  let text = ''
  for (const unit of units) text += String.fromCharCode(unit)
  return text
}
