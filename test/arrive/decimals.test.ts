import { expect, test } from 'vitest'
import { decimalIn } from '../../src/arrive/csv.ts'

const read = (text: string) => decimalIn(Buffer.from(`,${text},`), 1, text.length + 1)

test('a decimal is the number that its text is, to the last digit', () => {
  for (let place = 0; place < 20_000; place++) {
    const text = ((place * 7919.123456789) / 10 ** (place % 7)).toFixed(place % 6)
    expect(read(text)).toBe(Number(text))
  }
  expect(['0', '12', '0.5', '3.40', '1.2345678901234'].map(read)).toEqual([0, 12, 0.5, 3.4, 1.2345678901234])
})

test.each(['', '.', '1.', '.5', '1.2.3', '1,5', '-1', '1e3', ' 1', '1.23456789012345678'])(
  '%j is left to others',
  (text) => expect(read(text)).toBe(-1),
)
