import { describe, expect, test } from 'vitest'
import { exportLine, exportProgress } from '../../src/cli/commands/report/export.ts'
import { testTable } from '../support/test-table.ts'

interface Scene {
  /** Whether stderr is a terminal, and whether stdout is one. */
  readonly live: boolean
  readonly screen: boolean
  readonly out?: string
  readonly msPerRow: number
}

/** What is shown while 10,000 rows are taken. */
function shown({ live, screen, out, msPerRow }: Scene): readonly string[] {
  const lines: string[] = []
  let now = 0
  const terminal = {
    write: async () => {},
    log: (line: string) => void lines.push(`said ${line}`),
    status: live ? (line: string) => void lines.push(line) : null,
    columns: screen ? 80 : Number.POSITIVE_INFINITY,
    color: false,
  }
  const progress = exportProgress(terminal, { monotonic: () => now }, out)
  function* rows() {
    for (let row = 0; row < 10_000; row++) {
      now += msPerRow
      yield row
    }
  }
  expect([...progress.count(rows())]).toHaveLength(10_000)
  progress.end()
  return lines
}

describe('how far an export is', () => {
  test('is shown on a terminal from the first second on, and taken away at the end', () => {
    expect(shown({ live: true, screen: false, msPerRow: 0.25 })).toEqual([
      ...['4,000 rows · 4,000/s', '5,000 rows · 4,000/s', '6,000 rows · 4,000/s', '7,000 rows · 4,000/s'],
      ...['8,000 rows · 4,000/s', '9,000 rows · 4,000/s', '10,000 rows · 4,000/s', ''],
    ])
  })

  test('is shown beside a file, also where stdout is a terminal', () => {
    expect(shown({ live: true, screen: true, out: 'rows.csv', msPerRow: 1 })).toHaveLength(11)
  })

  testTable<[string, Scene]>([
    ['in a short export', { live: true, screen: false, msPerRow: 0.05 }],
    ['between rows that are shown themselves', { live: true, screen: true, msPerRow: 1 }],
    ['where nobody watches', { live: false, screen: false, msPerRow: 100 }],
  ])('is not shown %s', (_, scene) => {
    expect(shown(scene).filter((line) => line !== '')).toEqual([])
  })

  test('is one line', () => {
    expect(exportLine(1_234_567, 60_000)).toBe('1,234,567 rows · 20,576/s')
  })
})
