import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { escapeControls, sanitize } from '../../src/output/terminal.ts'
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
    const painted = '\u001b[1mhead\u001b[22m \u001b[32m▲ 1\u001b[39m'
    expect(escapeControls(painted, true)).toBe(painted)
    expect(escapeControls(painted)).not.toContain('\u001b')
    expect(escapeControls('\u001b[8mhidden \u001b[1;8m \u001b[2J', true)).not.toContain('\u001b')
  })

  test('is the same JSON, without any control character', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary', maxDepth: 2 }), (value) => {
        const shown = escapeControls(JSON.stringify(value, null, 2))
        expect(JSON.parse(shown)).toEqual(JSON.parse(JSON.stringify(value)))
        expect(sanitize(shown.replaceAll('\n', ''))).toBe(shown.replaceAll('\n', ''))
      }),
    )
  })
})
