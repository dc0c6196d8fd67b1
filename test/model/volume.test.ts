import fc from 'fast-check'
import { expect, test } from 'vitest'
import { grouped } from '../../src/model/text.ts'
import { type DecimalMark, readVolume } from '../../src/model/values.ts'
import { testTable } from '../support/test-table.ts'

testTable<[string, DecimalMark, number]>([
  ['2400', '.', 2400],
  ['+5', '.', 5],
  ['2400.0', '.', 2400],
  ['2400.00', ',', 2400],
  ['2400,0', ',', 2400],
  ['2400,00', '.', 2400],
  ['12345.000', '.', 12_345],
  ['0.0', '.', 0],
  ['0.000', '.', 0],
  ['1,300', '.', 1300],
  ['1.300', ',', 1300],
  ['1.000', ',', 1000],
  ['1,300,000', ',', 1_300_000],
  ['1.300.000', '.', 1_300_000],
  ['1,300.00', ',', 1300],
  ['1.300,00', '.', 1300],
  ['1,30,000', '.', 130_000],
  ['1 300', '.', 1300],
  ['1\u00a0300', ',', 1300],
  ['1\u202f300', ',', 1300],
  ["1'300", '.', 1300],
  ['1\u2019300', ',', 1300],
  ['1.2K', '.', 1200],
  ['1,2k', '.', 1200],
  ['10K', ',', 10_000],
  ['1.005,5K', ',', 1_005_500],
  ['2.5M', '.', 2_500_000],
  ['2 Mio.', ',', 2_000_000],
  ['2.4E+03', '.', 2400],
  ['1,2E+06', ',', 1_200_000],
])('%s where decimals follow %j is %d', (text, decimal, volume) => {
  expect(readVolume(text, decimal)).toEqual({ value: volume })
})

testTable<[string, DecimalMark, string]>([
  ['1.300', '.', "cannot be '1.300', which can mean 1,300 or 1.3; write 1300 or 1"],
  ['1,300', ',', "cannot be '1,300', which can mean 1,300 or 1.3; write 1300 or 1"],
  ['1.000', '.', "cannot be '1.000', which can mean 1,000 or 1; write 1000 or 1"],
  ['1.200K', ',', "cannot be '1.200K', which can mean 1,200,000 or 1,200; write 1200000 or 1200"],
  ['2400.5', '.', "cannot be '2400.5', which is no whole number; write 2401"],
  [
    '10K \u2013 100K',
    '.',
    "cannot be '10K \u2013 100K', a range from 10,000 to 100,000; write one number, such as 10000 or 100000, or leave it empty",
  ],
  [
    '100-1.000',
    ',',
    "cannot be '100-1.000', a range from 100 to 1,000; write one number, such as 100 or 1000, or leave it empty",
  ],
  [
    '1,000 to 10,000',
    '.',
    "cannot be '1,000 to 10,000', a range from 1,000 to 10,000; write one number, such as 1000 or 10000, or leave it empty",
  ],
  ['-1', '.', "cannot be '-1'; write a whole number from 0 up"],
  ['<10', '.', "cannot be '<10'; write a whole number from 0 up"],
  ['10+', '.', "cannot be '10+'; write a whole number from 0 up"],
  ['1,2,3', '.', "cannot be '1,2,3'; write a whole number from 0 up"],
  ['12 34', '.', "cannot be '12 34'; write a whole number from 0 up"],
  ['many', '.', "cannot be 'many'; write a whole number from 0 up"],
  ['99999999999999999999', '.', "cannot be '99999999999999999999'; write a whole number from 0 up"],
])('%s where decimals follow %j is refused', (text, decimal, problem) => {
  const read = readVolume(text, decimal)
  expect('value' in read ? read.value : `${read.message}; ${read.fix}`).toBe(problem)
})

test('whole numbers are read back from whatever form a spreadsheet of a language gives them', () => {
  const forms: readonly [DecimalMark, (n: number) => string][] = [
    ['.', (n) => grouped(n)],
    ['.', (n) => `${n}.0`],
    ['.', (n) => `${grouped(n)}.00`],
    [',', (n) => grouped(n).replaceAll(',', '.')],
    [',', (n) => `${n},0`],
    [',', (n) => `${grouped(n).replaceAll(',', '\u00a0')},00`],
  ]
  fc.assert(
    fc.property(fc.nat({ max: 2 ** 40 }), fc.constantFrom(...forms), (n, [decimal, write]) => {
      expect(readVolume(write(n), decimal)).toEqual({ value: n })
    }),
  )
})
