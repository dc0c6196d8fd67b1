import Database from 'better-sqlite3'
import { openStore } from '../src/store/sqlite/open.ts'

const resultsOfPage = 10
const linksOfQuery = 30
const hosts = 5000
const day = 86_400_000
const start = Date.UTC(2026, 0, 1, 6)

/** Writes a database that holds so many web results: of queries that are asked every day, ten results each time. */
export async function writeResults(path: string, results: number): Promise<void> {
  await (await openStore(path))[Symbol.asyncDispose]()
  const db = new Database(path)
  db.pragma('synchronous = OFF')
  const tasks = Math.ceil(results / resultsOfPage)
  const queries = Math.max(1, Math.floor(Math.sqrt(tasks) * 3))
  db.transaction(() => {
    addWords(db, queries)
    addDays(db, tasks, queries)
  }).immediate()
  db.close()
}

function addWords(db: Database.Database, queries: number): void {
  const host = db.prepare('INSERT INTO hosts VALUES (?, ?, ?)')
  const link = db.prepare('INSERT INTO links VALUES (?, ?, ?, NULL, ?)')
  const item = db.prepare(
    'INSERT INTO items (id, hash, size, link_id, title, snippet) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const query = db.prepare('INSERT INTO queries (id, key, operation, text, params) VALUES (?, ?, ?, ?, ?)')
  for (let id = 1; id <= hosts; id++) host.run(id, `www.shop-${id}.example`, `shop-${id}.example`)
  for (let number = 1; number <= queries; number++) {
    const key = Buffer.alloc(16)
    key.writeUInt32LE(number)
    query.run(number, key, 'alpha.search', `standing desk number ${number}`, '{"gl":"us","hl":"en"}')
    for (let of = 1; of <= linksOfQuery; of++) {
      const id = (number - 1) * linksOfQuery + of
      const ofHost = (id * 7919) % hosts
      link.run(
        id,
        id,
        `https://www.shop-${ofHost + 1}.example/desks/standing-desk-${id}?ref=serp`,
        ofHost + 1,
      )
      const title = `Standing desk ${id}: tested, compared and rated for small rooms`
      const snippet = `Of ${id} standing desks we bought ${of} and used them for a month. These are the ones that did not wobble at full height, what they cost, and who should get which.`
      item.run(id, id, title.length + snippet.length, id, title, snippet)
    }
  }
}

function addDays(db: Database.Database, tasks: number, queries: number): void {
  const run = db.prepare(
    `INSERT INTO runs_ (id, job, group_id, settings, date, started_at, finished_at, finish_reason, plan_number,
      planned_min, planned_max) VALUES (?, 'bench', ?, '{}', ?, ?, ?, 'completed', 1, 0, 0)`,
  )
  const runQuery = db.prepare(
    `INSERT INTO run_queries (run_id, query_id, pages, tags, labels, targets, plan_number)
    VALUES (?, ?, 1, '[]', '{"client":"Acme"}', '[]', 1)`,
  )
  const task = db.prepare(
    `INSERT INTO tasks_ (id, run_id, query_id, page, state, ready, priority, credits, answer_id)
    VALUES (?, ?, ?, 1, 'done', 1, 0, 1, ?)`,
  )
  const delivery = db.prepare('INSERT INTO deliveries (task_id) VALUES (?)')
  const answer = db.prepare(
    `INSERT INTO answers_ (id, query_id, page, run_id, call_id, fetched_at, normaliser, items)
      VALUES (?, ?, 1, ?, ?, ?, 1, ?)`,
  )
  for (let id = 1; id <= tasks; id++) {
    const number = ((id - 1) % queries) + 1
    const runId = Math.floor((id - 1) / queries) + 1
    const at = start + runId * day
    if (number === 1) run.run(runId, runId, new Date(at).toISOString().slice(0, 10), at, at)
    runQuery.run(runId, number)
    task.run(id, runId, number, id)
    delivery.run(id)
    const items = Array.from(
      { length: resultsOfPage },
      (_, place) => (number - 1) * linksOfQuery + ((place * 7 + runId) % linksOfQuery) + 1,
    )
    answer.run(id, number, runId, id, at + number, JSON.stringify({ 1: items }))
  }
}
