import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { type TrueHistory, target, unpadded } from './truth.ts'

/** A file of a tool, made of a truth by the schema or header that the tool publishes. */
export interface Sample {
  readonly format: string
  /** Writes it into a folder; answers what is imported. */
  readonly write: (folder: string, histories: readonly TrueHistory[]) => string
  /** What its file does not say. */
  readonly options?: readonly string[]
  /** What becomes of what was not found: whether the file tells it from what failed. */
  readonly absentIs: 'absent' | 'unknown'
  /** Whether the file lets one tell every failed day. */
  readonly failedAre: 'told' | 'repeats possible'
}

function csv(rows: readonly (readonly (string | number)[])[], separator = ','): string {
  const cell = (value: string | number): string => {
    const text = String(value)
    return text.includes(separator) || /["\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  }
  return rows.map((row) => `${row.map(cell).join(separator)}\r\n`).join('')
}

/** `keyword` of SerpBear: a failed check writes the position before, 0 is not found and never. */
export const serpbear: Sample = {
  format: 'serpbear',
  absentIs: 'unknown',
  failedAre: 'repeats possible',
  write: (folder, histories) => {
    const path = join(folder, 'database.sqlite')
    using db = closing(new Database(path))
    db.exec(`CREATE TABLE domain (ID INTEGER PRIMARY KEY, domain TEXT, slug TEXT, lastUpdated TEXT, added TEXT, tags TEXT);
      CREATE TABLE keyword (ID INTEGER PRIMARY KEY, keyword TEXT, device TEXT, country TEXT, city TEXT, domain TEXT, lastUpdated TEXT, added TEXT,
        position INTEGER, history TEXT, volume INTEGER, url TEXT, tags TEXT, lastResult TEXT, sticky INTEGER, updating INTEGER,
        lastUpdateError TEXT);`)
    db.prepare('INSERT INTO domain (domain, slug) VALUES (?, ?)').run(target, 'acme-com')
    const insert =
      db.prepare(`INSERT INTO keyword (keyword, device, country, city, domain, lastUpdated, position, history, volume, url, tags, lastUpdateError)
      VALUES (?, 'desktop', ?, '', ?, ?, ?, ?, 2400, ?, '["money","new"]', ?)`)
    for (const { text, country, days } of histories) {
      const history: Record<string, number> = {}
      let [position, url, updated, error] = [0, '[]', '', 'false']
      for (const [day, one] of days) {
        if (one.state === 'unchecked') continue
        if (one.state === 'failed')
          error = JSON.stringify({ date: `${day}T04:00:00.000Z`, error: 'Blocked', scraper: 'x' })
        else {
          position = one.state === 'ranked' ? one.rank : 0
          url = one.state === 'ranked' ? one.url : '[]'
          updated = `${day}T04:00:00.000Z`
          error = 'false'
        }
        history[unpadded(day)] = position
      }
      const json = updated === '' ? '[]' : JSON.stringify(history)
      insert.run(text, country.toUpperCase(), target, updated, position, json, url, error)
    }
    return path
  },
}

/** Any table: what failed has an empty cell, what was not found says how deep was looked. */
const table: Sample = {
  format: 'table',
  absentIs: 'absent',
  failedAre: 'told',
  options: ['--target', target],
  write: (folder, histories) => {
    const path = join(folder, 'ranks.csv')
    const rows = histories.flatMap(({ text, country, days }) =>
      [...days].flatMap(([day, one]) => {
        if (one.state === 'unchecked') return []
        const place = one.state === 'ranked' ? String(one.rank) : one.state === 'absent' ? '>100' : ''
        return [[unpadded(day), text, country, place, one.state === 'ranked' ? one.url : '']]
      }),
    )
    writeFileSync(path, csv([['Day', 'Keyword', 'Country', 'Pos', 'Ranking URL'], ...rows]))
    return path
  },
}

function closing(db: Database.Database): Database.Database & Disposable {
  return Object.assign(db, { [Symbol.dispose]: () => void db.close() })
}

export const samples: readonly Sample[] = [serpbear, table]
