import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeAll, expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/server.ts'
import { openReader } from '../../src/store/sqlite/open.ts'
import { workspace } from '../support/rankline.ts'
import { aFolder } from './build.ts'

/** A database with four runs of a job with one query and one target. */
let four: Buffer

beforeAll(async () => {
  await using sandbox = await startSandbox({ sites: ['acme.com'] })
  await using place = await workspace(sandbox)
  const file = await place.file('acme.yaml', 'targets: [acme.com]\ndepth: 20\nqueries: [standing desk]\n')
  for (let runs = 0; runs < 4; runs++) expect((await place.call(['run', file, '--fresh'])).code).toBe(0)
  place.change("UPDATE observations SET state = 'ranked', exactness = 'exact', rank = run_id * 10")
  four = await readFile(join(place.folder, 'data/rankline.db'))
})

/** The four runs after `change` was made to what they observed. */
async function observationsAfter(change: string): Promise<unknown> {
  const path = join(await aFolder(), 'rankline.db')
  await writeFile(path, four)
  const db = new Database(path)
  db.exec(change)
  db.close()
  await using store = await openReader(path)
  const run = (await store.run(4)) ?? expect.fail()
  const [target] = store.targetsOfRun(4)
  return [...store.lastObservations(run, [target?.id ?? 0])].map(({ observations }) =>
    observations.map(([rank, depth, pages]) => [rank, depth, pages]),
  )
}

test.each([
  ['what is answered counts, the newest first', '', [40, 30, 20, 10]],
  [
    'unknown ones are passed over',
    "UPDATE observations SET state = 'unknown', rank = NULL WHERE run_id = 2",
    [40, 30, 10],
  ],
  ['suspect ones are passed over', 'UPDATE observations SET suspect = 1 WHERE run_id = 3', [40, 20, 10]],
  [
    'those of a clock that was 400 days ahead are passed over',
    "UPDATE runs_ SET date = date(date, '+400 days') WHERE id = 3",
    [40, 20, 10],
  ],
  [
    "those of another job with the same query are not this job's",
    "UPDATE runs_ SET job = 'other' WHERE id < 3",
    [40, 30],
  ],
])('%s', async (_, change, ranks) => {
  expect(await observationsAfter(change)).toEqual([ranks.map((rank) => [rank, 20, 2])])
})

test('without an answer in the run itself there is nothing to judge', async () => {
  expect(
    await observationsAfter("UPDATE observations SET state = 'unknown', rank = NULL WHERE run_id = 4"),
  ).toEqual([])
})

test('an absence counts to the depth that was checked, and to the planned one where all was', async () => {
  const absent = "state = 'absent', rank = NULL"
  const changes = [
    `UPDATE observations SET ${absent}, unbroken_depth = 19 WHERE run_id = 4`,
    `UPDATE observations SET ${absent}, exactness = 'estimated', unbroken_depth = 9, unbroken_pages = 1 WHERE run_id = 3`,
    'UPDATE observations SET unbroken_pages = NULL WHERE run_id = 2',
  ]
  expect(await observationsAfter(changes.join(';'))).toEqual([
    [
      [null, 20, 2],
      [null, 9, 1],
      [20, 20, null],
      [10, 20, 2],
    ],
  ])
})
