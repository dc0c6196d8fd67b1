import { describe, expect, test } from 'vitest'
import { UsageError } from '../../src/errors.ts'
import { cursorText, readCursor } from '../../src/report/cursor.ts'

describe('a cursor', () => {
  test.each([0, 1, 12_345])('of %i comes back, also with the line end of a file', (number) => {
    expect(readCursor(cursorText('organic', number), 'organic', 12_345)).toBe(number)
    expect(readCursor(`${cursorText('organic', number)}\n`, 'organic', 12_345)).toBe(number)
  })

  test.each([
    ['', /is no cursor\. Write the one .* such as organic-12345/],
    ['12', /is no cursor/],
    ['organic-', /is no cursor/],
    ['organic--1', /is no cursor/],
    ['organic-1.5', /is no cursor/],
    ['organic-99999999999999999999', /is no cursor/],
    ['organic-1 2', /is no cursor/],
    ['\u001b[31m', /^'' is no cursor/],
    ['news-5', /news-5 is a cursor of the export 'news'\. Each kind has its own/],
    ['organic-13', /organic-13 is the cursor of another database: the newest of this one is organic-12/],
  ])('that is %j is refused', (text, sentence) => {
    expect(() => readCursor(text, 'organic', 12)).toThrow(UsageError)
    expect(() => readCursor(text, 'organic', 12)).toThrow(sentence)
  })
})
