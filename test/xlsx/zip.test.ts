import { describe, expect, test } from 'vitest'
import { directory } from '../../src/xlsx/zip.ts'

const large = 5_000_000_000
const small = { name: 'a', crc: 7, packed: 10, size: 20, offset: 0 }

/** Where a signature stands, and what follows it. */
function record(bytes: Buffer, signature: number): Buffer | null {
  const mark = Buffer.alloc(4)
  mark.writeUInt32LE(signature)
  const at = bytes.indexOf(mark)
  return at < 0 ? null : bytes.subarray(at)
}

describe('the directory of an archive', () => {
  test('of small files has no numbers of eight bytes', () => {
    const bytes = directory([small], 100)
    expect(bytes).toHaveLength(46 + 1 + 22)
    expect(record(bytes, 0x06064b50)).toBeNull()
    expect(record(bytes, 0x06054b50)?.readUInt32LE(16)).toBe(100)
  })

  test.each([
    ['size', { ...small, size: large }, [large]],
    ['packed size', { ...small, size: large + 1, packed: large }, [large + 1, large]],
    ['place', { ...small, offset: large }, [large]],
    ['all', { ...small, size: large, packed: large + 1, offset: large + 2 }, [large, large + 1, large + 2]],
  ])('names a %s above 4 GB in eight bytes', (_, file, numbers) => {
    const bytes = directory([file], 100)
    const extra = bytes.subarray(47)
    expect(bytes.readUInt16LE(6)).toBe(45)
    expect(bytes.readUInt16LE(30)).toBe(4 + 8 * numbers.length)
    expect(extra.readUInt16LE(0)).toBe(1)
    expect(extra.readUInt16LE(2)).toBe(8 * numbers.length)
    expect(numbers.map((_, index) => Number(extra.readBigUInt64LE(4 + 8 * index)))).toEqual(numbers)
  })

  test('that begins above 4 GB ends with the records that say where', () => {
    const bytes = directory([small], large)
    const end = record(bytes, 0x06064b50)
    const locator = record(bytes, 0x07064b50)
    expect(end?.readBigUInt64LE(32)).toBe(1n)
    expect(end?.readBigUInt64LE(40)).toBe(47n)
    expect(end?.readBigUInt64LE(48)).toBe(BigInt(large))
    expect(locator?.readBigUInt64LE(8)).toBe(BigInt(large + 47))
    expect(record(bytes, 0x06054b50)?.readUInt32LE(16)).toBe(0xffffffff)
  })

  test('of more files than two bytes can count says so in eight', () => {
    const bytes = directory(
      Array.from({ length: 70_000 }, () => small),
      100,
    )
    expect(record(bytes, 0x06064b50)?.readBigUInt64LE(32)).toBe(70_000n)
    expect(record(bytes, 0x06054b50)?.readUInt16LE(10)).toBe(0xffff)
  })
})
