import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { runTargets } from '../../src/store/sqlite/cache.ts'
import { groupCommit } from '../../src/store/sqlite/connection/group-commit.ts'
import { draftOpener } from '../../src/store/sqlite/planning/draft.ts'
import { stagedJob } from '../../src/store/sqlite/planning/staging.ts'
import { type Ask, fullScans, openRanges } from '../support/full-scans.ts'
import { type Workspace, workspace } from '../support/rankline.ts'

const job = `name: acme
pages: 2
budget: { per_day: 1000, per_month: 9000, max_credits: 500, confirm_over: 100 }
targets: [acme.com]
competitors: [rival.com]
queries: [standing desk, { query: lamp, target: other.com, volume: 10, tags: [money] }]
`
const shared = 'budget: { per_month: 9000, by_tag: { money: { per_day: 100, per_month: 1000 } } }'
const known = [
  // Runs that are over and not counted, and closed ones that wait for something: each run is asked, none is read.
  /"(counted_runs|tasks_)"\."run_id" = "runs_"\."id"/,
  // The last entry is enough.
  /^select max\("id"\) from "\w+"$/,
  /^SELECT \(SELECT coalesce\(max\("usage_readings"\."id"\), 0\) FROM "usage_readings"\) AS reading,/,
  // The calls of a run and some before it; here there are no more than that.
  / FROM "calls_" LEFT JOIN "async_jobs" .* ORDER BY "calls_"\."sent_at", "calls_"\."id"$/s,
  // The last one, and the first of those in the air, which have an index of their own.
  /\+ 1 AS id FROM "calls_"\s+UNION ALL SELECT min\("calls_"\."id"\) FROM "calls_" INDEXED BY calls_open /,
  // The last few entries.
  / order by (a\.|"\w+"\.)?"?id"? desc limit (\?|\d+)$/i,
  // Which labels an export has columns for is told by all queries that were ever asked.
  /^SELECT DISTINCT label\.key AS name\s+FROM "run_queries"/,
]

/** From a moment on there is little; from a number of a run or a query on there may be everything. */
const times: ReadonlySet<string> = new Set(['rowid', 'sent_at'])

let sandbox: Sandbox
let place: Workspace

beforeAll(async () => {
  sandbox = await startSandbox({ sites: ['acme.com', 'rival.com'] })
  place = await workspace(sandbox)
  await place.file('acme.yaml', job)
  await place.file('rankline.yaml', shared)
  for (let run = 0; run < 2; run++) expect((await place.call(['run', 'acme.yaml', '--fresh'])).code).toBe(0)
  expect((await place.call(exportNew.split(' '))).code).toBe(0)
}, 60_000)
afterAll(async () => {
  await place[Symbol.asyncDispose]()
  await sandbox.close()
})

const exportNew = 'export organic --out new.csv --cursor-file organic.cursor'

test.each([
  'plan acme.yaml',
  'run acme.yaml --fresh',
  'resume',
  'runs',
  'runs 1',
  'report acme.yaml',
  'report acme --format html --out acme.html',
  'report acme --explain lamp',
  'diff acme --query lamp',
  exportNew,
  'ledger --from 2026-01-01',
  'status',
])('%s reads no large table from end to end', async (command) => {
  const statements = await preparedBy(command.split(' '))
  expect(statements.size).toBeGreaterThan(3)
  expect(readsWhole([...statements])).toEqual([])
})

/** Every statement that a command prepares. */
async function preparedBy(args: readonly string[]): Promise<ReadonlySet<string>> {
  using prepare = vi.spyOn(Database.prototype, 'prepare')
  expect((await place.call(args)).code).toBe(0)
  return new Set(prepare.mock.calls.map(([sql]) => sql))
}

/** Those of the statements that read a large table from end to end. */
function readsWhole(statements: readonly string[]): readonly string[] {
  const db = new Database(join(place.folder, 'data/rankline.db'))
  try {
    // What is planned is staged in tables that only its process sees.
    const writer = groupCommit(db, {
      rolledBack: () => {},
      full: () => {},
      makeRoom: () => false,
      lacksRoom: () => false,
      committed: () => {},
    })
    draftOpener(db, writer, runTargets(db))()
    stagedJob(db, 1).mergeDuplicates()
    const ask: Ask = (asked, ...values) => db.prepare(asked).all(...values)
    return statements.filter(
      (sql) =>
        /^\s*(SELECT|WITH|INSERT|UPDATE|DELETE)\b/i.test(sql) &&
        !known.some((one) => one.test(sql)) &&
        (fullScans(ask, sql).length > 0 || openRanges(ask, sql).some((column) => !times.has(column))),
    )
  } finally {
    db.close()
  }
}
