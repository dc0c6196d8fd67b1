import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import { textOfStories } from '../../../src/report/formats/table.ts'
import { storiesOf } from '../../../src/report/story/story.ts'
import { wordsOf } from '../../../src/report/words/words.ts'
import { days, jobOf, out, some, turn } from '../story/job.ts'

const look = { width: 90, color: false, ascii: false }
const swinging = Array.from({ length: days }, (_, day) => [3, 6, 2, 5, 4][day % 5] ?? 3)
const { data } = jobOf({
  keywords: [
    ...some(10, { own: swinging, rival: 4, volume: 1000 }),
    { query: 'sit stand desk', own: turn(out, 1), rival: 4, volume: 4000 },
    { query: 'desk', own: turn(2, 9), rival: 4, volume: 12_000 },
  ],
})
const textOf = (more: Partial<typeof look> = {}) =>
  textOfStories(storiesOf(data, { say: wordsOf('en'), mark: (name) => name }), { ...look, ...more })

describe('the story in a terminal', () => {
  test('is sentences, four figures, what moved by clicks, and what to do next', () => {
    const lines = textOf().split('\n')
    expect(lines.slice(0, 4)).toEqual([
      'About 2,200 clicks a month, 26% fewer than on 1 March, between 1,990 and 3,450 since,',
      'first of two sites.',
      '11 keywords lost about 1,930 clicks, 1 won about 1,140. Biggest loss: “desk” 2 → 9, about',
      '1,550 clicks; biggest win: “sit stand desk” not found → 1, about 1,140 clicks.',
    ])
    expect(
      lines.filter((line) => /^(Clicks a month|Visibility|Top 10|Share of voice)/.test(line)).length,
    ).toBe(4)
    const moved = lines.indexOf('What moved, by clicks a month')
    expect(lines.slice(moved + 1, moved + 3).map((line) => line.trimEnd().split(/ {2,}/))).toEqual([
      ['▼', '“desk”', '2 → 9', '−1,550', 'rival.com is ahead now'],
      ['▲', '“sit stand desk”', 'not found → 1', '+1,140', 'rival.com is behind now'],
    ])
    expect(lines[lines.indexOf('What to do next') + 1]).toContain('- Recover “desk”: fell from 2 to 9')
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(90)
  })

  test('in color it says the same; a color covers the whole change, and what is usual is grey', () => {
    const painted = textOf({ color: true })
    expect(stripVTControlCharacters(painted)).toBe(textOf())
    const paints = painted.split('\u001b[39m').flatMap((part) => {
      const [, color, text] = part.match(/\[(90|31|32)m([^[]*)$/) ?? []
      return color === undefined ? [] : [[color, text]]
    })
    const [first] = paints
    expect(first?.[1]).toMatch(/^[▲▼] \d+%$/)
    for (const [color, text = ''] of paints) {
      if (color === '32') expect(text).toMatch(/^▲/)
      if (color === '31') expect(text).toMatch(/^▼/)
    }
    expect(paints.some(([color]) => color === '90')).toBe(true)
  })

  test('signs are ASCII where the terminal has no others', () => {
    expect(textOf({ ascii: true }).replaceAll('\n', '')).toMatch(/^[ -~]+$/)
  })
})
