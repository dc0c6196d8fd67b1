import { expect, test } from 'vitest'
import { type CsvRecord, cellText, csvParser, decimalIn, repeatedCells } from '../../src/arrive/csv.ts'

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

test('a cell that has the bytes of the one above is another text where only one of them is quoted', () => {
  let record: CsvRecord | null = null
  const text = repeatedCells(() => record as CsvRecord, cellText)
  const read: string[] = []
  const parser = csvParser('rows.csv', 44, (one) => {
    record = one
    read.push(text(0))
  })
  parser.push(Buffer.from('"5"" pipe",1\n5"" pipe,2\n5"" pipe,3\n,,\n'))
  parser.end()
  expect(read).toEqual(['5" pipe', '5"" pipe', '5"" pipe'])
})
