import { writeFileSync } from 'node:fs'
import Database from 'better-sqlite3'

/** Loaded before the program: counts the SQL statements that it executes, and writes the number into a file at its end. */
const file = process.env.RANKLINE_BENCH_STATEMENTS ?? ''
const db = new Database(':memory:')
const executing = Object.getPrototypeOf(db.prepare('SELECT 1')) as Record<
  string,
  (...values: unknown[]) => unknown
>
db.close()
let count = 0
for (const name of ['run', 'get', 'all', 'iterate']) {
  const execute = executing[name]
  executing[name] = function (this: unknown, ...values) {
    count += 1
    return execute?.apply(this, values)
  }
}
process.on('exit', () => writeFileSync(file, String(count)))
