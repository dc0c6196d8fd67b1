import { setImmediate as turn } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { Pool } from 'undici'

/**
 * The bare durable loop: undici, a write-ahead ledger, prepared inserts, `synchronous=FULL`, one commit for all that is
 * ready in a turn of the event loop. It keeps what rankline keeps (the call before it is sent, the answer whole, the
 * results) and nothing else: no plan, no retries, no limits, no ranks, no dictionary.
 * Arguments: address, calls, database.
 */
const [origin = '', calls = '0', path = ''] = process.argv.slice(2)
const concurrency = 64
const db = new Database(path)
db.pragma('journal_mode = WAL')
db.pragma('synchronous = FULL')
db.exec(`
  CREATE TABLE ledger (id INTEGER PRIMARY KEY, query TEXT NOT NULL, sent_at INTEGER NOT NULL, finished_at INTEGER, status INTEGER, credits INTEGER);
  CREATE TABLE answers (id INTEGER PRIMARY KEY, body BLOB NOT NULL);
  CREATE TABLE results (answer INTEGER NOT NULL, place INTEGER NOT NULL, position INTEGER, link TEXT, title TEXT, snippet TEXT,
    PRIMARY KEY (answer, place)) WITHOUT ROWID;
`)
const intend = db.prepare('INSERT INTO ledger (id, query, sent_at) VALUES (?, ?, ?)')
const settle = db.prepare('UPDATE ledger SET finished_at = ?, status = ?, credits = 1 WHERE id = ?')
const keep = db.prepare('INSERT INTO answers (id, body) VALUES (?, ?)')
const insert = db.prepare('INSERT INTO results VALUES (?, ?, ?, ?, ?, ?)')

let waiting: { readonly change: () => void; readonly done: () => void }[] = []
let committing = false

function durable(change: () => void): Promise<void> {
  return new Promise((done) => {
    waiting.push({ change, done })
    if (committing) return
    committing = true
    setImmediate(() => {
      committing = false
      const group = waiting
      waiting = []
      db.transaction(() => {
        for (const one of group) one.change()
      }).immediate()
      for (const one of group) one.done()
    })
  })
}

interface Item {
  readonly position: number
  readonly link: string
  readonly title: string
  readonly snippet: string
}

const pool = new Pool(origin, { connections: concurrency, pipelining: 1 })
let next = 0

async function work(): Promise<void> {
  while (next < Number(calls)) {
    const id = ++next
    const query = `query ${id}`
    await durable(() => intend.run(id, query, Date.now()))
    const { statusCode, body } = await pool.request({
      method: 'GET',
      path: `/v1/alpha/search?query=${encodeURIComponent(query)}`,
      headers: { 'x-api-key': 'bench' },
    })
    const bytes = Buffer.from(await body.arrayBuffer())
    const { organic_results: items } = JSON.parse(bytes.toString()) as { organic_results: readonly Item[] }
    await durable(() => {
      settle.run(Date.now(), statusCode, id)
      keep.run(id, bytes)
      for (const [place, one] of items.entries())
        insert.run(id, place, one.position, one.link, one.title, one.snippet)
    })
  }
}

await Promise.all(Array.from({ length: concurrency }, work))
await turn()
await pool.close()
db.close()
