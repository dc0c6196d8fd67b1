import { open } from 'node:fs/promises'
import Database from 'better-sqlite3'

/** Spoils the head of one page of a table in a file that nobody has open. */
export async function breakPage(
  path: string,
  table: string,
  kind: 'leaf' | 'overflow' = 'leaf',
): Promise<void> {
  const db = new Database(path)
  const page = db
    .prepare<[string, string], { start: number }>(
      'SELECT pgoffset AS start FROM dbstat WHERE name = ? AND pagetype = ? ORDER BY pageno DESC LIMIT 1',
    )
    .get(table, kind)
  db.close()
  if (page === undefined) throw new Error(`${table} has no page of that kind`)
  await overwrite(path, page.start, Buffer.alloc(64, 0xff))
}

export async function overwrite(path: string, at: number, bytes: Buffer): Promise<void> {
  const file = await open(path, 'r+')
  await file.write(bytes, 0, bytes.length, at)
  await file.close()
}
