import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { withoutFormula } from '../../src/model/text.ts'
import { csvOf, tabbedOf } from '../../src/page/client/table/grid.ts'
import { testTable } from '../support/test-table.ts'

describe('what is taken from a table', () => {
  testTable([
    ['plain text', ['a', 'b'], 'a,b\r\n', 'a\tb\r\n'],
    ['numbers', [1234.5, -3], '1234.5,-3\r\n', '1234.5\t-3\r\n'],
    ['nothing', [null, ''], ',\r\n', '\t\r\n'],
    ['a separator', ['a,b;c'], '"a,b;c"\r\n', 'a,b;c\r\n'],
    ['quotes', ['"a"'], '"""a"""\r\n', '"""a"""\r\n'],
    ['lines and tabs', ['a\tb\r\nc'], '"a\tb\r\nc"\r\n', 'a b c\r\n'],
    ['a formula', ['=1+1', '-1'], "'=1+1,'-1\r\n", "'=1+1\t'-1\r\n"],
  ] as const)('%s', (_, row, csv, tabbed) => {
    expect(csvOf([row], '.')).toBe(`\ufeff${csv}`)
    expect(tabbedOf([row], '.')).toBe(tabbed)
  })

  test('fits spreadsheets that write decimals with a comma', () => {
    expect(csvOf([['a,b', 1.5]], ',')).toBe('\ufeffa,b;1,5\r\n')
    expect(tabbedOf([['a', 1.5]], ',')).toBe('a\t1,5\r\n')
  })

  test('any text comes back from CSV, but for the mark in front of a formula', () => {
    const rows = fc.array(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 2, maxLength: 2 }), {
      minLength: 1,
    })
    fc.assert(
      fc.property(rows, fc.constantFrom('.' as const, ',' as const), (all, decimal) => {
        const delimiter = decimal === ',' ? ';' : ','
        const back: unknown = parse(csvOf(all, decimal), { bom: true, delimiter, record_delimiter: '\r\n' })
        expect(back).toEqual(all.map((row) => row.map(withoutFormula)))
      }),
    )
  })
})
