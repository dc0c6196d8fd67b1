import fc from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import { textWidth } from '../../src/output/terminal.ts'
import { testTable } from '../support/test-table.ts'

/** Each of those that differ from their neighbours, and some of the long blocks of ideographs and syllables. */
const units = Array.from({ length: 0x10000 }, (_, unit) => unit)
  .filter((unit) => unit < 0x3200 || unit >= 0xfe00 || unit % 61 === 0 || (unit & 0xff) === 0)
  .map((unit) => String.fromCharCode(unit))

const ranges = [
  [0x00, 0x700],
  [0x1100, 0x1200],
  [0x2000, 0x2700],
  [0x3000, 0x3200],
  [0xac00, 0xad00],
  [0xff00, 0xffff],
] as const

describe('a text takes as many columns as string-width says', () => {
  test('each unit of UTF-16 alone', () => {
    expect(units.filter((unit) => textWidth(unit) !== stringWidth(unit))).toEqual([])
  })

  test('any text, and any of units that are near to those of which it needs no telling', () => {
    const near = fc
      .oneof(...ranges.map(([min, max]) => fc.integer({ min, max })))
      .map((unit) => String.fromCharCode(unit))
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: near, maxLength: 4 })),
        (text) => {
          expect(textWidth(text)).toBe(stringWidth(text))
        },
      ),
      { numRuns: 1000 },
    )
  })

  testTable([
    ...['', 'standing desk', 'Höhenverstellbarer Schreibtisch', 'стол регулируемый', 'スタンディングデスク'],
    ...[
      '스탠딩 데스크',
      '升降桌 2026',
      '▇▆▅ ▲ 3 … »',
      'โต๊ะ',
      'डेस्क',
      '👩‍💻 ☝🏽 ☺️ 3️⃣ 🇩🇪',
      '\u001b[31mred\u001b[0m',
    ],
  ])('%j', (text) => {
    expect(textWidth(text)).toBe(stringWidth(text))
  })
})
