import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { wrapLines } from '../../src/output/table.ts'
import { escapeControls, sanitize, textWidth } from '../../src/output/terminal.ts'
import { anyText } from '../support/any-text.ts'
import { testTable } from '../support/test-table.ts'

describe('text for a screen', () => {
  testTable<[string, string]>([
    ['\u001b[31mred', '\\u001b[31mred'],
    ['\u001b]52;c;cm0gLXJm\u0007', '\\u001b]52;c;cm0gLXJm\\u0007'],
    ['\u009b2J\u0085', '\\u009b2J\\u0085'],
    ['a\u202eb\u2066c\u200fd\u061c', 'a\\u202eb\\u2066c\\u200fd\\u061c'],
    ['\u007f\u0000\b', '\\u007f\\u0000\\u0008'],
    ['over\rwritten', 'over\\u000dwritten'],
    ['line\r\nline\n\ttab', 'line\r\nline\n\ttab'],
    ['Straße 東京 👩‍🚀 नमस्ते', 'Straße 東京 👩‍🚀 नमस्ते'],
  ])('%j becomes %j', (text, shown) => {
    expect(escapeControls(text)).toBe(shown)
  })

  test('keeps the colors of our own tables, and only where it is one', () => {
    const painted = '\u001b[1mhead\u001b[22m \u001b[32m▲ 1\u001b[39m \u001b[90m▼ 2\u001b[39m'
    expect(escapeControls(painted, true)).toBe(painted)
    expect(escapeControls(painted)).not.toContain('\u001b')
    expect(escapeControls('\u001b[8mhidden \u001b[1;8m \u001b[2J', true)).not.toContain('\u001b')
  })

  test('is the same JSON, without any control character', () => {
    const anyValue = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.dictionary(anyText(), fc.oneof(anyText(), fc.array(anyText())), { noNullPrototype: true }),
    )
    fc.assert(
      fc.property(anyValue, (value) => {
        const shown = escapeControls(JSON.stringify(value, null, 2))
        expect(JSON.parse(shown)).toEqual(JSON.parse(JSON.stringify(value)))
        expect(sanitize(shown.replaceAll('\n', ''))).toBe(shown.replaceAll('\n', ''))
      }),
    )
  })
})

describe('text in lines that fit a screen', () => {
  testTable<[string, number, string]>([
    ['as it is', 80, 'as it is'],
    ['one two three', 8, 'one two\nthree'],
    ['  one two', 6, '  one\n  two'],
    ['see https://example.org/path/of/words now', 12, 'see\nhttps://example.org/path/of/words\nnow'],
    ['a\n\nb c', 2, 'a\n\nb\nc'],
    ['no end', Number.POSITIVE_INFINITY, 'no end'],
  ])('%j at %i columns is %j', (text, width, wrapped) => {
    expect(wrapLines(text, width)).toBe(wrapped)
  })

  test('breaks no word, loses none, and is wider only where a word is', () => {
    const line = fc
      .array(fc.stringMatching(/^[a-zé東-]{1,12}$/u), { minLength: 1 })
      .map((words) => words.join(' '))
    fc.assert(
      fc.property(line, fc.integer({ min: 4, max: 40 }), (text, width) => {
        const lines = wrapLines(text, width).split('\n')
        expect(lines.join(' ')).toBe(text)
        for (const one of lines) expect(textWidth(one) <= width || !one.includes(' ')).toBe(true)
      }),
    )
  })
})
