import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { grouped, machine, print } from './print.ts'
import { yearStore } from './year-store.ts'

/**
 * How many bytes a result takes on the disk, table by table and index by index, beside one table that holds every text in
 * every row. Arguments: keywords, days, results of a SERP.
 */
const [keywords = 200, days = 365, results = 100] = process.argv.slice(2).map(Number)
const keptDays = 30

/** What is counted; everything else is named as it stands in the file. */
const groups: readonly (readonly [name: string, tables: readonly string[]])[] = [
  ['details', ['dated_details', 'image_details']],
  ['items', ['items', 'item_hashes']],
  ['dictionaries', ['links', 'link_hashes', 'texts', 'hosts', 'queries']],
]
/** One run in so many is written into the naive schema, too: its rows are as long on every day. */
const naiveEvery = Math.min(12, days)

interface Object {
  /** Table or index. */
  readonly name: string
  readonly table: string
  readonly bytes: number
}

const folder = await mkdtemp(join(tmpdir(), 'rankline-bench-'))
try {
  const path = join(folder, 'year.db')
  const started = performance.now()
  await yearStore(path, { keywords, days, results, keptDays })
  const seconds = (performance.now() - started) / 1000
  const db = new Database(path)
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  const rows = number(db, 'SELECT count(*) FROM results WHERE kind = 1')
  print(machine())
  print(
    `${keywords} keywords, ${days} days, ${results} results a day: ${grouped(rows)} web results, written in ${seconds.toFixed(0)} s; ${churn(db)}. Bodies of answers are dropped after ${keptDays} days.\n`,
  )
  print('| table or index | bytes | bytes per web result |\n| --- | --: | --: |')
  const objects = sizes(db)
  const counted = groups.flatMap(([name, tables]) => {
    const own = objects.filter(({ table }) => tables.includes(table))
    const bytes = own.reduce((sum, one) => sum + one.bytes, 0)
    for (const one of own) line(one.name, one.bytes, rows)
    line(`**${name}**`, bytes, rows)
    return own
  })
  const lists = number(db, 'SELECT sum(length(items) + coalesce(length(positions), 0)) FROM answers_')
  line('**lists of answers, which name their items**', lists, rows)
  const bytes = counted.reduce((sum, one) => sum + one.bytes, lists)
  line('**results and dictionaries**', bytes, rows)
  const naive = naiveBytes(db, join(folder, 'naive.db'))
  line('naive schema: every text in every row', naive * rows, rows)
  line('naive schema by ours', naive / (bytes / rows), null)
  for (const one of objects.filter((one) => !counted.includes(one)).sort((a, b) => b.bytes - a.bytes))
    if (one.bytes > 0.05 * rows) line(`beside: ${one.name}`, one.bytes, rows)
  line(
    'the whole file',
    objects.reduce((sum, one) => sum + one.bytes, 0),
    rows,
  )
  db.close()
} finally {
  await rm(folder, { recursive: true, force: true })
}

function line(name: string, amount: number, rows: number | null): void {
  if (rows === null) print(`| ${name} | | ${amount.toFixed(1)} times |`)
  else print(`| ${name} | ${grouped(Math.round(amount))} | ${(amount / rows).toFixed(1)} |`)
}

function sizes(db: Database.Database): readonly Object[] {
  return db
    .prepare<[], Object>(
      `SELECT s.name, coalesce(m.tbl_name, s.name) AS "table", s.pgsize AS bytes
      FROM dbstat s LEFT JOIN sqlite_schema m ON m.name = s.name WHERE s.aggregate = TRUE ORDER BY 2, s.name <> m.tbl_name`,
    )
    .all()
}

/** How much of a SERP is other than the day before, on the average day. */
function churn(db: Database.Database): string {
  const isNew = (before: string) => `(SELECT avg(NOT EXISTS (
    SELECT 1 FROM answers_ b JOIN results y ON y.answer_id = b.id AND y.kind = 1 AND y.link_id = x.link_id
    WHERE b.query_id = a.query_id AND ${before})) * 100
    FROM answers_ a JOIN results x ON x.answer_id = a.id AND x.kind = 1 WHERE a.run_id = runs.of)`
  const { gone, fresh } = db
    .prepare<[], { gone: number; fresh: number }>(
      `WITH runs(of) AS (SELECT max(id) FROM runs_)
      SELECT ${isNew('b.run_id = a.run_id - 1')} AS gone, ${isNew('b.run_id < a.run_id')} AS fresh FROM runs`,
    )
    .get() as { gone: number; fresh: number }
  return `on the last day ${gone.toFixed(1)} % of a SERP were not in it the day before, ${fresh.toFixed(1)} % never`
}

/** Bytes per result of the obvious schema: a row holds all that is known of a result, and an index finds it. */
function naiveBytes(db: Database.Database, path: string): number {
  db.prepare('ATTACH ? AS naive').run(path)
  // With pages of another size, dbstat would count them as large as ours.
  db.pragma(`naive.page_size = ${db.pragma('page_size', { simple: true })}`)
  db.exec(`CREATE TABLE naive.results (id INTEGER PRIMARY KEY, query TEXT, operation TEXT, gl TEXT, hl TEXT, fetched_at TEXT,
    page INTEGER, rank INTEGER, position INTEGER, title TEXT, link TEXT, domain TEXT, source TEXT, snippet TEXT,
    displayed_link TEXT, snippet_matched TEXT)`)
  db.prepare(
    `INSERT INTO naive.results SELECT NULL, query, operation, gl, hl, fetched_at, page, rank, position, title, link, domain,
      source, snippet, displayed_link, snippet_matched FROM organic_results WHERE run_id % ? = 0`,
  ).run(naiveEvery)
  db.exec('CREATE INDEX naive.results_query ON results (query, fetched_at)')
  const rows = number(db, 'SELECT count(*) FROM naive.results')
  const bytes = number(db, "SELECT sum(pgsize) FROM dbstat('naive') WHERE aggregate = TRUE")
  return bytes / rows
}

function number(db: Database.Database, sql: string): number {
  return db.prepare<[], number>(sql).pluck().get() as number
}
