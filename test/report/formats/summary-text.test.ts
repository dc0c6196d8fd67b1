import { stripVTControlCharacters } from 'node:util'
import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import { defaultCurve } from '../../../src/report/ctr.ts'
import { summaryText } from '../../../src/report/formats/table.ts'
import { summarise } from '../../../src/report/summary.ts'
import { type ASeries, aHistory } from '../metrics/history.ts'

const look = { width: 80, color: false }
const textOf = (all: readonly ASeries[], more: Partial<typeof look> = {}) =>
  summaryText(summarise(aHistory(all), { curve: defaultCurve }), { ...look, ...more })

const rivals: readonly ASeries[] = [
  { query: 'p', volume: 100, cells: [2, 1] },
  { query: 'p', volume: 100, of: 'rival.com', cells: [1, 3] },
  { query: 'q', cells: [3, 0] },
  { query: 'q', of: 'rival.com', cells: [-31, 12] },
  { query: 'r', cells: [null, -31] },
]

describe('the summary for a terminal', () => {
  test('tells where targets stand, and of what', () => {
    expect(textOf(rivals)).toMatchInlineSnapshot(`
      "target          ranked    visibility  share of voice  average position
      acme.com   1 of 2, 1 ?  50.0% ▲ 44.9    28.5% ▲ 12.8        16.0 ▲ 1.0
      rival.com       2 of 2  19.3% ▼ 30.7    11.0% ▼ 17.5         7.5 ▲ 8.5
      Ranks: 1 at 1, 1 not found, 1 not known.
      Movements: 1 improved, 1 first check, 1 not known.
      visibility: divided by CTR(1) x checked keywords; share of voice: divided by
      volume of the checked keywords that have one; average position: divided by
      checked keywords.
      ▲ ▼: against 2026-03-01, of 1 keyword known on both days. 1 keyword added, 0
      removed. Without volume: 1 keyword. CTR: Sistrix 2020 (mobile).
      "
    `)
  })

  test('says nothing of changes on a first day', () => {
    expect(textOf([{ cells: [1] }])).toMatchInlineSnapshot(`
      "target    ranked  visibility  share of voice  average position
      acme.com  1 of 1      100.0%               -               1.0
      Ranks: 1 at 1.
      Movements: 1 first check.
      visibility: divided by CTR(1) x checked keywords; share of voice: divided by
      volume of the checked keywords that have one; average position: divided by
      checked keywords.
      1 keyword added, 0 removed. Without volume: 1 keyword. CTR: Sistrix 2020
      (mobile).
      "
    `)
  })

  test('is empty where there are no targets', () => {
    expect(textOf([])).toBe('')
  })

  test('names the target where several are one’s own', () => {
    const history = aHistory(rivals)
    const targets = history.targets.map((target) => ({ ...target, own: true }))
    const text = summaryText(summarise({ ...history, targets }, { curve: defaultCurve }), look)
    expect(text).toContain('Ranks of acme.com: 1 at 1, 1 not found, 1 not known.')
    expect(text).toContain('Movements of rival.com: 1 declined, 1 newly ranked.')
  })

  test('with one own target it is eight lines at most, none wider than the terminal', () => {
    const label = `a-very-long-name-of-a-shop-that-sells-desks-${'x'.repeat(60)}.example`
    const all = Array.from(
      { length: 900 },
      (_, index): ASeries => ({
        of: label,
        query: `q${index}`,
        volume: index % 2 === 0 ? 100 : null,
        cells: [
          [3, 5, -31, 0, 140, 11, null][index % 7] ?? null,
          [5, 12, 3, 35, 90, 0, -31][index % 7] ?? null,
        ],
      }),
    )
    const lines = textOf(all).trimEnd().split('\n')
    expect(lines.length).toBeLessThanOrEqual(8)
    for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(80)
  })

  test('shows nothing that a terminal would obey', () => {
    const text = textOf([{ of: 'a\u001b[2J\u202e\n.com', cells: [1] }])
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/)
  })

  test('in color it says the same', () => {
    const colored = textOf(rivals, { color: true })
    expect(colored).toContain('\u001b[1mtarget')
    // Whether a change is usual is not known here, so none is green or red.
    for (const color of ['\u001b[31m', '\u001b[32m']) expect(colored).not.toContain(color)
    expect(stripVTControlCharacters(colored)).toBe(textOf(rivals))
  })
})
