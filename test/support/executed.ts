import Database from 'better-sqlite3'

/** Statements that connections of this process execute, as SQL in one line. */
export async function executed(work: () => Promise<unknown>): Promise<readonly string[]> {
  const db = new Database(':memory:')
  const statement = Object.getPrototypeOf(db.prepare('SELECT 1'))
  db.close()
  const before = { run: statement.run, get: statement.get, all: statement.all }
  const seen: string[] = []
  for (const [name, execute] of Object.entries(before))
    statement[name] = function (this: Database.Statement, ...values: unknown[]) {
      seen.push(this.source.replaceAll(/\s+/g, ' '))
      return execute.apply(this, values)
    }
  try {
    await work()
  } finally {
    Object.assign(statement, before)
  }
  return seen
}
