import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { openStore } from '../src/store/sqlite/open.ts'
import { largeStore } from './large-store.ts'
import { grouped, machine, median, megabytes, print } from './print.ts'

/**
 * How long questions about the ranks of one site take, asked of the public views by SQL, beside the same asked of the
 * observations, query by query. Arguments: keywords, days, results of a SERP.
 */
const [keywords = 11_112, days = 90, results = 10] = process.argv.slice(2).map(Number)
const rounds = 15
const slowRounds = 3

interface Question {
  readonly name: string
  readonly sql: string
  /** The same of the observations. */
  readonly plain: string
}

const site = "job = 'bench' AND target = 'site-1.example'"
const keyword = `query = 'keyword ${Math.floor(keywords / 2)} for a benchmark'`
const curve = 'WITH curve (rank, ctr) AS (VALUES (1, 0.285), (2, 0.157), (3, 0.11), (4, 0.08), (5, 0.072))'
const rateOf = (view: string) => `coalesce((SELECT ctr FROM curve WHERE curve.rank = ${view}.rank), 0)`
const ofDay =
  "sum(state = 'ranked'), sum(state = 'absent'), sum(state = 'unknown'), avg(rank), sum(rank <= 3), sum(rank <= 10)"

const questions: readonly Question[] = [
  {
    name: 'its rank for each keyword, latest against previous',
    sql: `SELECT query, rank, previous_rank, change FROM rank_changes
      WHERE run_id = (SELECT max(run_id) FROM runs WHERE job = 'bench') AND target = 'site-1.example'`,
    plain: `SELECT query, max(CASE WHEN run_id = ${days} THEN rank END), max(CASE WHEN run_id = ${days - 1} THEN rank END)
      FROM rankings WHERE run_id IN (${days - 1}, ${days}) AND target = 'site-1.example' GROUP BY query, params`,
  },
  {
    name: 'its history: ranked, absent, unknown, averages, top 3 and top 10 of each day',
    sql: `SELECT date, ranked, absent, unknown, average_rank, average_position, top_3, top_10 FROM rankings_by_run WHERE ${site}`,
    plain: `SELECT date, ${ofDay} FROM rankings WHERE ${site} GROUP BY date`,
  },
  {
    name: 'its history: visibility by a click-through curve',
    sql: `${curve} SELECT date, sum(queries * ${rateOf('rank_counts')}) / (0.285 * sum(queries))
      FROM rank_counts WHERE ${site} AND state <> 'unknown' GROUP BY date`,
    plain: `${curve} SELECT date, sum(${rateOf('rankings')}) / (0.285 * count(*))
      FROM rankings WHERE ${site} AND state <> 'unknown' GROUP BY date`,
  },
  {
    name: 'its rank for one keyword on each day',
    sql: `SELECT date, state, rank, url FROM rankings WHERE ${site} AND ${keyword} ORDER BY run_id`,
    // What the planner does that is not told how tables are shaped, and has no index of texts.
    plain: `SELECT date, state, rank, url FROM rankings WHERE ${site} AND +${keyword} ORDER BY run_id`,
  },
]

const folder = await mkdtemp(join(tmpdir(), 'rankline-bench-'))
try {
  const path = join(folder, 'bench.db')
  await largeStore(path, { keywords, days, results })
  print(machine())
  print(
    `${grouped(keywords)} keywords, ${days} days, ${results} results, three targets: ${grouped(keywords * days * results)} results, ${grouped(keywords * days * 3)} observations, ${megabytes((await stat(path)).size)} MB.`,
  )
  const seconds = await counted(path)
  print(
    `Adding up the observations: ${((seconds * 1000) / days).toFixed(0)} ms a run, ${grouped(bytesOfCounts(path))} bytes in all.\n`,
  )
  const programs = spawnSync('sqlite3', ['--version']).status === 0
  print('| question about one site | ms, median | by the program sqlite3 | of the observations, ms | times |')
  print('| --- | --: | --: | --: | --: |')
  for (const question of questions) print(row(path, question, programs))
  forgetLast(path)
  print(
    row(
      path,
      { ...(questions[1] as Question), name: 'its history, while the run of the day goes on' },
      programs,
    ),
  )
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function counted(path: string): Promise<number> {
  await using store = await openStore(path)
  const started = performance.now()
  await store.countRanks(Number.POSITIVE_INFINITY)
  return (performance.now() - started) / 1000
}

function bytesOfCounts(path: string): number {
  return asked(path, (db) =>
    db
      .prepare<[], number>(
        "SELECT sum(pgsize) FROM dbstat WHERE aggregate = TRUE AND name IN ('rank_counts_', 'counted_runs')",
      )
      .pluck()
      .get(),
  ) as number
}

function row(path: string, { name, sql, plain }: Question, programs: boolean): string {
  const [ours, slow] = asked(path, (db) => [timed(db, sql, rounds), timed(db, plain, slowRounds)])
  const program = programs
    ? median(Array.from({ length: rounds }, () => programMs(path, sql))).toFixed(1)
    : ''
  return `| ${name} | ${ours.toFixed(1)} | ${program} | ${slow.toFixed(1)} | ${(slow / ours).toFixed(1)} |`
}

function timed(db: Database.Database, sql: string, times: number): number {
  const statement = db.prepare(sql).raw()
  return median(Array.from({ length: times }, () => lasting(() => statement.all())))
}

/** The whole process, as a user starts it. */
function programMs(path: string, sql: string): number {
  return lasting(() => execFileSync('sqlite3', ['-readonly', path, sql], { maxBuffer: 1e9 }))
}

function lasting(work: () => unknown): number {
  const started = performance.now()
  work()
  return performance.now() - started
}

function forgetLast(path: string): void {
  const db = new Database(path)
  db.prepare('DELETE FROM counted_runs WHERE run_id = ?').run(days)
  db.close()
}

function asked<T>(path: string, ask: (db: Database.Database) => T): T {
  const db = new Database(path, { readonly: true })
  try {
    return ask(db)
  } finally {
    db.close()
  }
}
