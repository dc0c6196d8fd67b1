import { describe, expect, test } from 'vitest'
import { exportCursor } from '../../src/export/export.ts'
import { UsageError } from '../../src/model/errors.ts'
import { testTable } from '../support/test-table.ts'

/** Numbers up to 12,345 of a database; each stands for something, but those that are gone. */
const numbers = (
  what: string,
  newest = 12_345,
  gone: readonly number[] = [],
): Parameters<typeof exportCursor>[1] => ({
  newest,
  markOf: (number) => (number === 0 || number > newest || gone.includes(number) ? null : `${what} ${number}`),
})
const few = numbers('a', 12)

describe('a cursor', () => {
  test.each([0, 1, 12_345])('of %i comes back, also with the line end of a file', (newest) => {
    const cursor = exportCursor('organic', numbers('a', newest)).text()
    expect(exportCursor('organic', numbers('a')).read(cursor)).toBe(newest)
    expect(exportCursor('organic', numbers('a')).read(`${cursor}\n`)).toBe(newest)
  })

  test('comes back where what it stood for has a newer number by now', () => {
    const cursor = exportCursor('organic', numbers('a', 7)).text()
    expect(exportCursor('organic', numbers('a', 12_345, [7])).read(cursor)).toBe(7)
  })

  test('is refused by a database that gave its number to something else', () => {
    const cursor = exportCursor('organic', numbers('a', 7)).text()
    expect(() => exportCursor('organic', numbers('b')).read(cursor)).toThrow(
      /is the cursor of another database/,
    )
  })

  testTable([
    ['', /is not a cursor\. Write the one .* such as organic-12345-0a1b2c3d/],
    ['12', /is not a cursor/],
    ['organic-', /is not a cursor/],
    ['organic--1', /is not a cursor/],
    ['organic-1.5', /is not a cursor/],
    ['organic-99999999999999999999', /is not a cursor/],
    ['organic-1 2', /is not a cursor/],
    ['organic-1-xyz', /is not a cursor/],
    ['\u001b[31m', /^'' is not a cursor/],
    ['news-5', /news-5 is a cursor of the export 'news'\. Each kind has its own/],
    [
      'organic-13',
      /organic-13 is the cursor of another database: the newest of this one is organic-12-[0-9a-f]{8}\./,
    ],
  ])('that is %j is refused', (text, sentence) => {
    expect(() => exportCursor('organic', few).read(text)).toThrow(UsageError)
    expect(() => exportCursor('organic', few).read(text)).toThrow(sentence)
  })
})
