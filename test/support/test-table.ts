import { format } from 'node:util'
import { expect, test } from 'vitest'

type Judge<Row extends readonly unknown[]> = (...row: [...Row]) => void | Promise<void>

/** One test for a table of data: every row is judged, and all that fail are listed, each with its title. */
export function testTable<Row extends readonly unknown[] | readonly [unknown]>(
  rows: readonly Row[],
): (title: string, judge: Judge<Row>) => void
export function testTable<Value extends string | number | boolean | null>(
  values: readonly Value[],
): (title: string, judge: Judge<[Value]>) => void
export function testTable(values: readonly unknown[]) {
  const rows = values.map((value) => (Array.isArray(value) ? value : [value]))
  return (title: string, judge: Judge<readonly unknown[]>): void => {
    const named = title.match(/%[sdijo]/g)?.length ?? 0
    test(`${title.replace(/%[sdijo]/g, '…')} (${rows.length} rows)`, {
      timeout: 30_000 + 2_000 * rows.length,
    }, async () => {
      const failures: string[] = []
      for (const row of rows)
        try {
          await judge(...row)
        } catch (error) {
          failures.push(`${format(title, ...row.slice(0, named))}: ${(error as Error).message}`)
        }
      expect(failures).toEqual([])
    })
  }
}
