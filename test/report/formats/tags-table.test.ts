import { expect, test } from 'vitest'
import { tagsText } from '../../../src/report/formats/table.ts'
import { segments, summarise } from '../../../src/report/summary.ts'
import { type ASeries, aHistory, curve } from '../metrics/history.ts'

const look = { width: 100, color: false }

function textOf(all: readonly ASeries[]): string {
  const history = aHistory(all)
  return tagsText(segments(history, { curve }), summarise(history, { curve }), look)
}

test('the terminal has the 15 tags with the most keywords, and says how many are left', () => {
  const all = Array.from(
    { length: 20 },
    (_, place): ASeries => ({
      query: `query ${place}`,
      tags: [`tag ${place}`, 'all\u001b[31m'],
      cells: [1],
    }),
  )
  const lines = textOf(all).trim().split('\n')
  expect(lines.slice(0, 2).map((line) => line.trim().split(/ {2,}/)[0])).toEqual(['By tag:', 'tag'])
  expect(lines[2]).toMatch(/^all.* 20 /)
  expect(lines.join()).not.toContain('\u001b')
  expect(lines).toHaveLength(2 + 15 + 1)
  expect(lines.at(-1)).toBe('And 6 more tags: --format md or --format xlsx has them all.')
})

test('a job without tags or without an own target has no such table', () => {
  expect(textOf([{ query: 'a', cells: [1] }])).toBe('')
  expect(textOf([{ query: 'a', tags: ['x'], of: 'rival.com', cells: [1] }])).toBe('')
})

test('the table says of which engine it is, and counts the keywords of that engine', () => {
  const [few, many] = [{ tags: ['few'] }, { tags: ['many'] }]
  const lines = textOf([
    ...['a', 'b'].map((query) => ({ ...many, query, cells: [1] })),
    { ...few, query: 'c', cells: [1] },
    ...['c', 'd', 'e'].map((query) => ({ ...few, query, operation: 'beta.search', cells: [1] })),
  ]).split('\n')
  expect(lines[1]).toBe('By tag for alpha:')
  expect(lines.slice(3, 5)).toEqual([expect.stringMatching(/^many +2 /), expect.stringMatching(/^few +1 /)])
})
