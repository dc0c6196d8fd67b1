import type { Workspace } from './rankline.ts'

const views = [
  'tasks',
  'answers',
  'organic_results',
  'image_results',
  'related_searches',
  'rankings',
] as const

/** Rows of the public views as sorted texts, without what is another one in every run. */
export type Memory = Readonly<Record<(typeof views)[number], readonly string[]>>

/** Numbers follow the order in which answers came; which of two jobs bought a shared answer is chance, too. */
const chance = new Set(['run_id', 'task_id', 'answer_id', 'fetched_at', 'observed_at', 'reused'])

/** Everything that a database tells about tasks and results. */
export function memoryOf(place: Pick<Workspace, 'sql'>): Memory {
  const rowsOf = (view: string): readonly string[] =>
    place
      .sql(`SELECT * FROM ${view}`)
      .map((row) => JSON.stringify(row, (column, value) => (chance.has(column) ? undefined : value)))
      .sort()
  return Object.fromEntries(views.map((view) => [view, rowsOf(view)])) as Memory
}

/** Where two memories differ: per view, rows that only one of them has, a few of each. */
export function differences(actual: Memory, expected: Memory): readonly string[] {
  return views.flatMap((view) => {
    const surplus = without(actual[view], expected[view]).map((row) => `${view}: not expected ${row}`)
    const missing = without(expected[view], actual[view]).map((row) => `${view}: missing ${row}`)
    return [...surplus.slice(0, 3), ...missing.slice(0, 3)]
  })
}

/** Every row as often as it stands in one list more often than in the other. */
function without(rows: readonly string[], others: readonly string[]): readonly string[] {
  const left = new Map<string, number>()
  for (const row of others) left.set(row, (left.get(row) ?? 0) + 1)
  return rows.filter((row) => {
    const count = left.get(row) ?? 0
    left.set(row, count - 1)
    return count <= 0
  })
}
