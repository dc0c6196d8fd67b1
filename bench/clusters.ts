import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { findOperation } from '../src/catalog/index.ts'
import type { BillableOperation } from '../src/catalog/operation.ts'
import { queryKey } from '../src/model/query.ts'
import { createWorld } from '../src/sandbox/world/world.ts'
import { openStore } from '../src/store/sqlite/open.ts'
import { aJob } from '../test/run/build.ts'
import { measured } from './measured.ts'
import { grouped, machine, megabytes, print } from './print.ts'

/**
 * How long `rankline cluster` takes, how much memory, and how many of its pairs are right: in a made-up web where it is known which queries
 * mean the same. Argument: keywords.
 */
const [keywords = 50_000] = process.argv.slice(2).map(Number)
/** Queries of one meaning at most; as many meanings have one as have two, and so on. */
const largest = 8
const operation = findOperation('alpha.search') as BillableOperation
const params = { gl: 'us' }
const at = Date.UTC(2026, 2, 1, 6)

/** Queries that mean the same, by their texts. */
const topics: string[][] = []
for (let made = 0, size = 1; made < keywords; size = (size % largest) + 1) {
  const number = topics.length
  const texts = Array.from({ length: Math.min(size, keywords - made) }, (_, n) => `thing${number} word${n}`)
  topics.push(texts)
  made += texts.length
}

const folder = await mkdtemp(join(tmpdir(), 'rankline-bench-'))
try {
  const path = join(folder, 'rankline.db')
  await written(path)
  const out = join(folder, 'clusters.csv')
  const took = await measured(['cluster', 'bench', '--out', out, '--quiet'], { RANKLINE_DB: path })
  const { precision, recall } = judged(await readFile(out, 'utf8'))
  print(`${machine()}
${grouped(keywords)} keywords of ${grouped(topics.length)} meanings: ${took.seconds.toFixed(1)} s, ${took.cpuSeconds.toFixed(1)} s of processor time, ${Math.round(took.megabytes)} MB (database of ${megabytes((await stat(path)).size)} MB)
pairs in one cluster that mean the same (precision): ${precision.toFixed(4)}
pairs that mean the same in one cluster (recall):    ${recall.toFixed(4)}
`)
  if (precision < 0.95 || recall < 0.95) process.exitCode = 1
} finally {
  await rm(folder, { recursive: true, force: true })
}

/** Writes the first page of every query straight into a new database, as a run of the job `bench` would have left it. */
async function written(path: string): Promise<void> {
  await (await openStore(path))[Symbol.asyncDispose]()
  const db = new Database(path)
  db.pragma('journal_mode = MEMORY')
  db.pragma('synchronous = OFF')
  db.transaction(() => {
    db.prepare("INSERT INTO jobs (name, file) VALUES ('bench', '/bench.yaml')").run()
    db.prepare(
      `INSERT INTO runs_ (id, job, group_id, settings, date, started_at, finished_at, finish_reason, plan_number, planned_min,
        planned_max) VALUES (1, 'bench', 1, ?, '2026-03-01', ?, ?, 'completed', 1, ?, ?)`,
    ).run(JSON.stringify(aJob({ name: 'bench' })), at, at, keywords, keywords)
    const write = queryWriter(db)
    for (const topic of topics) {
      // A world remembers what it made.
      const world = createWorld('bench', [], [topic])
      for (const text of topic) {
        const asked = { query: text, params, page: 1, style: 'get', isAsync: false } as const
        const answer = world(operation, asked, { now: at, pages: 'even', positions: 'restart' })
        const results = answer[operation.response.items] as readonly { readonly link: string }[]
        write(
          text,
          results.map(({ link }) => link),
        )
      }
    }
  })()
  db.pragma('journal_mode = WAL')
  db.close()
}

function queryWriter(db: Database.Database): (text: string, shown: readonly string[]) => void {
  const query = db.prepare('INSERT INTO queries (id, key, operation, text, params) VALUES (?, ?, ?, ?, ?)')
  const asked = db.prepare(
    `INSERT INTO run_queries (run_id, query_id, pages, page_size, volume, tags, labels, targets, plan_number)
      VALUES (1, ?, 1, 10, ?, '[]', '{}', '[]', 1)`,
  )
  const answer = db.prepare(
    'INSERT INTO answers_ (id, query_id, page, run_id, call_id, fetched_at, normaliser, items) VALUES (?, ?, 1, 1, ?, ?, 2, ?)',
  )
  const link = db.prepare('INSERT INTO links (id, hash, link) VALUES (?, ?, ?)')
  const item = db.prepare('INSERT INTO items (id, hash, size, link_id, title) VALUES (?, ?, 5, ?, ?)')
  const known = new Map<string, number>()
  let id = 0
  return (text, shown) => {
    id += 1
    query.run(
      id,
      queryKey({ operation: operation.name, text, params }),
      operation.name,
      text,
      JSON.stringify(params),
    )
    asked.run(id, (id * 7919) % 5_000)
    const items = shown.map((page) => {
      const found = known.get(page)
      if (found !== undefined) return found
      const number = known.size + 1
      known.set(page, number)
      link.run(number, number, page)
      item.run(number, number, number, 'title')
      return number
    })
    answer.run(id, id, id, at, JSON.stringify({ 1: items }))
  }
}

/** How many pairs of a clustering are right, and how many of the right ones it has. */
function judged(csv: string) {
  const clusters = new Map<string, Map<string, number>>()
  for (const line of csv.trimEnd().split('\n').slice(1)) {
    const [name = '', query = ''] = line.split(',')
    const meaning = query.split(' ')[0] as string
    const cluster = clusters.get(name) ?? new Map<string, number>()
    clusters.set(name, cluster.set(meaning, (cluster.get(meaning) ?? 0) + 1))
  }
  const pairs = (size: number): number => (size * (size - 1)) / 2
  const sum = (sizes: readonly number[]): number => sizes.reduce((total, size) => total + pairs(size), 0)
  const all = [...clusters.values()].map((meanings) => [...meanings.values()])
  const right = sum(all.flat())
  const made = sum(all.map((sizes) => sizes.reduce((a, b) => a + b)))
  const wanted = sum(topics.map((texts) => texts.length))
  return { precision: right / made, recall: right / wanted }
}
