import { deflateSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { blocks, compress, decompress } from '../../src/store/compression.ts'
import { testTable } from '../support/test-table.ts'

const bodies = fc.oneof(
  fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes)),
  fc.string({ unit: 'grapheme', maxLength: 500 }).map((text) => Buffer.from(text.repeat(20))),
)

describe('a packed body', () => {
  test('is unpacked as it came', async () => {
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        expect(decompress(await compress(body))).toEqual(body)
      }),
    )
  })

  test('is unpacked as it came where it is large', async () => {
    const body = Buffer.from('"a title that comes again and again", '.repeat(10_000))
    const packed = await compress(body)
    expect(packed.body.length).toBeLessThan(body.length / 50)
    expect(decompress(packed).equals(body)).toBe(true)
  })

  test('tells of each single bit that turned', async () => {
    const { encoding, body } = await compress(
      Buffer.from(JSON.stringify({ title: 'Straße, été', places: [1, 2, 3] })),
    )
    for (let bit = 0; bit < body.length * 8; bit++) {
      const turned = Buffer.from(body)
      turned[bit >> 3] = (turned[bit >> 3] as number) ^ (1 << (bit & 7))
      expect(() => decompress({ encoding, body: turned }), `bit ${bit}`).toThrow()
    }
  })

  testTable([0, 1, 4, 5])('tells that it was cut to %i bytes', async (length) => {
    const { encoding, body } = await compress(Buffer.from('{"organic_results": []}'))
    expect(() => decompress({ encoding, body: body.subarray(0, length) })).toThrow()
  })
})

describe('bodies that are packed together', () => {
  test('are unpacked as they came', () => {
    fc.assert(
      fc.property(fc.array(bodies, { minLength: 1, maxLength: 8 }), (all) => {
        expect(blocks.unpack(blocks.pack(all), all.length)).toEqual(all)
      }),
    )
  })

  test('take less room than each by itself', async () => {
    const all = Array.from({ length: 8 }, (_, number) =>
      Buffer.from(JSON.stringify({ number, snippet: 'what every page says beside what it alone says' })),
    )
    const alone = await Promise.all(all.map(compress))
    const apart = alone.reduce((sum, { body }) => sum + body.length, 0)
    expect(blocks.pack(all).length).toBeLessThan(apart / 2)
  })

  test('tell of each single bit that turned, and of each byte that is missing', () => {
    const packed = blocks.pack(
      ['{"title": "Straße"}', '', '{"title": "été"}'].map((text) => Buffer.from(text)),
    )
    for (let bit = 0; bit < packed.length * 8; bit++) {
      const turned = Buffer.from(packed)
      turned[bit >> 3] = (turned[bit >> 3] as number) ^ (1 << (bit & 7))
      expect(() => blocks.unpack(turned, 3), `bit ${bit}`).toThrow()
    }
    for (let length = 0; length < packed.length; length++)
      expect(() => blocks.unpack(packed.subarray(0, length), 3), `${length} bytes`).toThrow()
  })

  testTable([
    [[10, 10, 10], 3],
    [Array(20).fill(10), 8],
    [[30_000, 30_000, 30_000], 2],
    [[70_000, 10], 1],
    [[65_536, 1], 1],
  ])('of these lengths: %j, so many come first: %i', (lengths, count) => {
    expect(
      blocks.count(
        lengths.map((length) => Buffer.alloc(length)),
        0,
      ),
    ).toBe(count)
  })
})

test('bodies that earlier versions stored are unpacked', () => {
  const body = Buffer.from('{"organic_results": []}')
  expect(decompress({ encoding: 'deflate', body: deflateSync(body) })).toEqual(body)
})

test('what is stored in a way that nobody knows is refused', () => {
  expect(() => decompress({ encoding: 'zip', body: Buffer.from('x') })).toThrow('zip')
})
