import Database from 'better-sqlite3'
import { queryKey } from '../src/model/query.ts'
import { openStore } from '../src/store/sqlite/open.ts'
import { aJob, aTarget } from '../test/run/build.ts'

/** A rank-tracking job of so many keywords and days, and results a day and keyword. */
export interface LargeJob {
  readonly keywords: number
  readonly days: number
  readonly results: number
}

const hosts = 2_000
/** Own site and two competitors, all well placed. */
const targets = 3
const firstDay = Date.UTC(2025, 0, 1, 6)
const dayMs = 86_400_000

/** Writes the history straight into a new database, as runs of the job `bench` would have left it. */
export async function largeStore(path: string, job: LargeJob): Promise<void> {
  await (await openStore(path))[Symbol.asyncDispose]()
  const db = new Database(path)
  // A write-ahead log of gigabytes in one transaction would slow down every read.
  db.pragma('journal_mode = MEMORY')
  db.pragma('synchronous = OFF')
  db.pragma('cache_size = -200000')
  db.transaction(() => {
    dictionaries(db, job)
    runs(db, job)
    const write = dayWriter(db, job)
    for (let run = 1; run <= job.days; run++) write(run)
  })()
  db.pragma('journal_mode = WAL')
  db.close()
}

/** Links that take turns in one SERP: two in five more than it shows. */
function linksPerKeyword({ results }: LargeJob): number {
  return Math.ceil(results * 1.4)
}

function dictionaries(db: Database.Database, job: LargeJob): void {
  const host = db.prepare('INSERT INTO hosts (id, host, site) VALUES (?, ?, ?)')
  for (let id = 1; id <= hosts; id++) host.run(id, `www.site-${id}.example`, `site-${id}.example`)
  const link = db.prepare('INSERT INTO links (id, hash, link, host_id) VALUES (?, ?, ?, ?)')
  const text = db.prepare('INSERT INTO texts (id, hash, text) VALUES (?, ?, ?)')
  const item = db.prepare(
    'INSERT INTO items (id, hash, size, link_id, title, snippet) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const query = db.prepare('INSERT INTO queries (id, key, operation, text, params) VALUES (?, ?, ?, ?, ?)')
  const many = linksPerKeyword(job)
  for (let keyword = 0; keyword < job.keywords; keyword++) {
    const words = `keyword ${keyword} for a benchmark`
    const params = { gl: 'us', hl: 'en', num: job.results }
    query.run(
      keyword + 1,
      queryKey({ operation: 'alpha.search', text: words, params }),
      'alpha.search',
      words,
      JSON.stringify(params),
    )
    for (let place = 0; place < many; place++) {
      const id = keyword * many + place + 1
      const of = hostOf(keyword, place)
      link.run(id, id, `https://www.site-${of}.example/shop/${keyword}/page-of-some-length-${place}`, of)
      const title = `A title about keyword ${keyword}, number ${place}, as titles are long`
      const snippet = `What a snippet says of keyword ${keyword} and page ${place}: `.repeat(2)
      item.run(id, id, title.length + snippet.length, id, title, snippet)
      // As the title of an observation.
      text.run(id, id, title)
    }
  }
}

/** Each target has a page near the top, and of every third keyword a second one. */
function hostOf(keyword: number, place: number): number {
  if (place < targets) return place + 1
  if (keyword % 3 === 0 && place >= 50 && place < 50 + targets) return place - 49
  return targets + 1 + ((keyword * 31 + place * place * 7) % (hosts - targets))
}

const settings = aJob({
  name: 'bench',
  file: '/bench.yaml',
  targets: Array.from({ length: targets }, (_, place) =>
    aTarget(`site-${place + 1}.example`, { own: place === 0 }),
  ),
})

function runs(db: Database.Database, { keywords, days }: LargeJob): void {
  db.prepare("INSERT INTO jobs (name, file) VALUES ('bench', '/bench.yaml')").run()
  const target = db.prepare("INSERT INTO targets (id, site, match) VALUES (?, ?, 'domain')")
  for (let id = 1; id <= targets; id++) target.run(id, `site-${id}.example`)
  const run = db.prepare(
    `INSERT INTO runs_ (id, job, group_id, settings, date, started_at, finished_at, finish_reason, plan_number,
      planned_min, planned_max) VALUES (?, 'bench', ?, ?, ?, ?, ?, 'completed', 1, ?, ?)`,
  )
  const runTarget = db.prepare(
    'INSERT INTO run_targets (run_id, target_id, label, own, everywhere) VALUES (?, ?, ?, ?, 1)',
  )
  for (let id = 1; id <= days; id++) {
    const at = firstDay + (id - 1) * dayMs
    run.run(
      id,
      id,
      JSON.stringify(settings),
      new Date(at).toISOString().slice(0, 10),
      at,
      at + 600_000,
      keywords,
      keywords,
    )
    for (let of = 1; of <= targets; of++) runTarget.run(id, of, `site-${of}.example`, of === 1 ? 1 : 0)
  }
}

/** Writes one day after the other; every day a few neighbours of each SERP change places. */
function dayWriter(db: Database.Database, job: LargeJob): (run: number) => void {
  const { asked, task, answer, call, observation } = prepare(db)
  const many = linksPerKeyword(job)
  const orders = Array.from({ length: job.keywords }, () => Array.from({ length: many }, (_, place) => place))
  const next = numbers()

  const oneQuery = (run: number, keyword: number, order: number[]): void => {
    for (let swap = 0; swap < 6; swap++) swapNeighbours(order, next(many - 1))
    const id = (run - 1) * job.keywords + keyword + 1
    const at = firstDay + (run - 1) * dayMs + keyword * 100
    asked.run(run, keyword + 1, job.results, (keyword % 90) * 10 + 10, JSON.stringify([`tag ${keyword % 5}`]))
    task.run(id, run, keyword + 1, id)
    call.run(id, run, id, at, at + 80)
    const shown = order.slice(0, job.results)
    const linkOf = (place: number): number => keyword * many + place + 1
    answer.run(id, keyword + 1, run, id, at + 80, JSON.stringify({ 1: shown.map(linkOf) }))
    for (let target = 1; target <= targets; target++) {
      const places = shown.flatMap((place, at) =>
        hostOf(keyword, place) === target ? [[at + 1, linkOf(place)] as const] : [],
      )
      const [rank, link] = places[0] ?? [null, null]
      const several = places.length > 1 ? JSON.stringify(places) : null
      const state = rank === null ? 'absent' : 'ranked'
      observation.run(
        run,
        keyword + 1,
        target,
        at + 80,
        state,
        rank,
        job.results,
        link,
        link,
        job.results,
        several,
      )
    }
  }
  return (run) => {
    for (const [keyword, order] of orders.entries()) oneQuery(run, keyword, order)
  }
}

function swapNeighbours(order: number[], at: number): void {
  const here = order[at] as number
  order[at] = order[at + 1] as number
  order[at + 1] = here
}

/** Whole numbers below a limit, the same ones every time. */
function numbers(): (below: number) => number {
  let last = 1
  return (below) => {
    last = (last * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((last / 2_147_483_648) * below)
  }
}

function prepare(db: Database.Database) {
  return {
    asked: db.prepare(
      `INSERT INTO run_queries (run_id, query_id, pages, page_size, volume, tags, labels, targets, plan_number, paging_end,
        paging_kind) VALUES (?, ?, 1, ?, ?, ?, '{}', '[]', 1, 'all pages that were asked for', 'depth')`,
    ),
    task: db.prepare(
      `INSERT INTO tasks_ (id, run_id, query_id, page, state, ready, priority, credits, tries, answer_id)
      VALUES (?, ?, ?, 1, 'done', 1, 0, 1, 1, ?)`,
    ),
    call: db.prepare(
      `INSERT INTO calls_ (id, run_id, task_id, operation, sent_at, finished_at, http_status, outcome, billed, credits,
        latency_ms) VALUES (?, ?, ?, 'alpha.search', ?, ?, 200, 'answered', 1, 1, 80)`,
    ),
    answer: db.prepare(
      'INSERT INTO answers_ (id, query_id, page, run_id, call_id, fetched_at, normaliser, items) VALUES (?, ?, 1, ?, ?, ?, 2, ?)',
    ),
    observation: db.prepare(
      `INSERT INTO observations (run_id, query_id, target_id, observed_at, state, rank, exactness, depth, link_id, title_id,
        page, unbroken_depth, unbroken_pages, places) VALUES (?, ?, ?, ?, ?, ?, 'exact', ?, ?, ?, 1, ?, 1, ?)`,
    ),
  }
}
