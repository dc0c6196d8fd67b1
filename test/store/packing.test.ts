import { deflateSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compress, decompress } from '../../src/store/compression.ts'
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

test('bodies that earlier versions stored are unpacked', () => {
  const body = Buffer.from('{"organic_results": []}')
  expect(decompress({ encoding: 'deflate', body: deflateSync(body) })).toEqual(body)
})

test('what is stored in a way that nobody knows is refused', () => {
  expect(() => decompress({ encoding: 'zip', body: Buffer.from('x') })).toThrow('zip')
})
