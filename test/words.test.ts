import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { grouped, parseDuration, size } from '../src/model/text.ts'
import { testTable } from './support/test-table.ts'

describe('a span of time', () => {
  testTable([
    ['90s', 90_000],
    ['30m', 1_800_000],
    ['12h', 43_200_000],
    ['7d', 604_800_000],
    ['2w', 1_209_600_000],
    ['0s', 0],
    ['007d', 604_800_000],
  ])('%s', (text, ms) => {
    expect(parseDuration(text, 'smhdw')).toBe(ms)
  })

  testTable([
    ...[
      '',
      '7',
      'd',
      '-7d',
      '+7d',
      '7.5d',
      '7 d',
      ' 7d',
      '7d ',
      '7D',
      '7dd',
      '7y',
      '7d\n',
      '9999999999999999d',
    ],
  ])('is not %j', (text) => {
    expect(parseDuration(text, 'smhdw')).toBeNull()
  })

  test('has only the units that are wanted', () => {
    expect(parseDuration('7d', 'smhd')).toBe(604_800_000)
    expect(parseDuration('2w', 'smhd')).toBeNull()
  })
})

testTable([
  [0, '0 bytes'],
  [1, '1 byte'],
  [999, '999 bytes'],
  [1_000, '1.0 kB'],
  [12_345_678, '12.3 MB'],
  [2_000_000_000, '2.0 GB'],
])('%d bytes are written as %s', (bytes, text) => {
  expect(size(bytes)).toBe(text)
})

describe('a number with its thousands apart', () => {
  testTable([
    [0, '0'],
    [999, '999'],
    [1000, '1,000'],
    [-1234567, '-1,234,567'],
    [1234.5, '1,234.5'],
  ])('%d', (n, text) => {
    expect(grouped(n)).toBe(text)
  })

  test('any number, as English has it', () => {
    fc.assert(
      fc.property(fc.oneof(fc.maxSafeInteger(), fc.double()), (n) => {
        // A whole number has no sign where it is nothing.
        expect(grouped(n)).toBe((n + 0).toLocaleString('en-US'))
      }),
    )
  })
})
