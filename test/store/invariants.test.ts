import { describe, expect, test } from 'vitest'
import { checkDatabase, checksummedTables } from '../../src/store/sqlite/maintenance/check.ts'
import { invariants } from '../../src/store/sqlite/maintenance/invariants.ts'
import { testTable } from '../support/test-table.ts'
import { aWholeDatabase } from './whole-database.ts'

const task = (state: string) => `(SELECT id FROM tasks_ WHERE state = '${state}' ORDER BY id LIMIT 1)`
const asked = 'INSERT INTO calls_ (run_id, task_id, operation, sent_at, credits, outcome, billed)'
const missingAnswer = 'Done or answered tasks without a stored answer to their page'
const missingCall = 'Answers without the call that was billed for them'
const lostAnswer = 'Billed calls whose answer is not stored'
const unread = 'Done tasks whose answer was never parsed'
const unreadResults = 'Results without a parsed answer'
const bodyless = 'Tasks whose answer is not parsed yet and has lost its body'
const homelessBody = 'Stored bodies without an answer'
const sentAgain = 'Tasks that were sent again although their answer was stored'
const homelessTask = 'Tasks whose run or query is not stored'
const openTask = 'Completed runs with tasks that are not done'
const missingJob = 'Tasks that wait for an asynchronous job that is not stored'
const homelessJob = 'Asynchronous jobs that no task waits for'
const unsentJob = 'Asynchronous jobs without the call that submitted them'
const sharedCall = 'Answers that share their call with another answer'
const endless = 'Calls without an end whose run is not stored'
const homelessDetails = 'Details without their result'
const wordless = 'Results and answers whose title, link or text is not stored'
const hostless = 'Links whose host or equal link is not stored'
const homelessObservation = 'Observations whose query, target, link or title is not stored'
const rankless = 'Observations whose rank does not fit their state'
const miscounted =
  'Runs whose rank totals differ from their observations (rankline renormalise adds them up again)'
const countedEarly = 'Unfinished runs with rank totals'
const emptyBlock = 'Blocks of bodies that no answer has'
const unpacked = 'Stored bodies that cannot be unpacked'
const spoiledText = 'Texts that do not match their checksum'
const spoiledResult = 'Results that do not match their checksum'
const unhashed = 'Results and links that are not found by their hash'
const spoiledLink = 'Links that do not match their checksum'
const undelivered = 'Done tasks that no export would find'
const undeliveredCall = 'Calls that no export would find'
const spoiledQuery = 'Queries that do not match their checksum'

/** What is done to a whole database, and all that must then be found. */
const breaks: readonly (readonly [statement: string, found: Readonly<Record<string, number>>])[] = [
  [`UPDATE tasks_ SET answer_id = NULL WHERE id = ${task('done')}`, { [missingAnswer]: 1 }],
  ['UPDATE tasks_ SET answer_id = 2 WHERE answer_id = 1', { [missingAnswer]: 2 }],
  [`UPDATE tasks_ SET answer_id = 999 WHERE state = 'answered'`, { [missingAnswer]: 1, [bodyless]: 1 }],
  ['UPDATE answers_ SET page = 2 WHERE id = 1', { [missingAnswer]: 2 }],
  ['UPDATE answers_ SET normaliser = NULL WHERE id = 1', { [unread]: 2, [unreadResults]: 1 }],
  [
    `DELETE FROM raw_answers WHERE answer_id = (SELECT answer_id FROM tasks_ WHERE state = 'answered')`,
    { [bodyless]: 1 },
  ],
  [`${asked} VALUES (1, ${task('done')}, 'alpha.search', 0, 1, 'server-error', 0)`, { [sentAgain]: 1 }],
  [`${asked} VALUES (1, ${task('done')}, 'alpha.search', 0, 1, 'unreadable', 1)`, { [sentAgain]: 1 }],
  [`${asked} VALUES (3, ${task('answered')}, 'alpha.search', 0, 1, NULL, NULL)`, { [sentAgain]: 1 }],
  ['DELETE FROM run_queries WHERE run_id = 3 AND query_id > 1', { [homelessTask]: 6 }],
  [`DELETE FROM queries WHERE text = 'waits'`, { [homelessTask]: 1 }],
  ["UPDATE tasks_ SET run_id = 9 WHERE run_id = 3 AND state = 'pending'", { [homelessTask]: 1 }],
  [`UPDATE runs_ SET finish_reason = 'completed' WHERE id = 1`, { [openTask]: 1 }],
  [`UPDATE tasks_ SET state = 'pending' WHERE run_id = 2`, { [openTask]: 1 }],
  ['DELETE FROM async_jobs', { [missingJob]: 1 }],
  [`UPDATE tasks_ SET state = 'pending' WHERE state = 'accepted'`, { [homelessJob]: 1 }],
  [`UPDATE calls_ SET outcome = 'ambiguous' WHERE outcome = 'accepted' AND billed = 0`, { [unsentJob]: 1 }],
  ['UPDATE calls_ SET billed = 0 WHERE id = 1', { [missingCall]: 1 }],
  ['UPDATE calls_ SET billed = NULL WHERE id = 1', { [missingCall]: 1 }],
  ['UPDATE calls_ SET run_id = 2 WHERE id = 1', { [missingCall]: 1 }],
  ['DELETE FROM calls_ WHERE id = 1', { [missingCall]: 1 }],
  ['UPDATE answers_ SET call_id = 1 WHERE id = 2', { [sharedCall]: 1, [lostAnswer]: 1 }],
  [`${asked} VALUES (1, NULL, 'alpha.search', 0, 1, 'answered', 1)`, { [lostAnswer]: 1 }],
  [`${asked} VALUES (9, NULL, 'alpha.search', 0, 1, NULL, NULL)`, { [endless]: 1 }],
  ['UPDATE dated_details SET place = 7', { [homelessDetails]: 1 }],
  ['UPDATE image_details SET kind = 1', { [homelessDetails]: 1 }],
  [`INSERT INTO raw_answers VALUES (999, 'deflate', x'789c030000000001', NULL)`, { [homelessBody]: 1 }],
  ["INSERT INTO body_blocks VALUES (2, 3, x'00')", { [emptyBlock]: 1 }],
  [`UPDATE answers_ SET items = '{"1":[1,998,999]}' WHERE id = 1`, { [wordless]: 2 }],
  [
    'UPDATE items SET link_id = 999 WHERE id = (SELECT max(id) FROM items)',
    { [wordless]: 1, [spoiledResult]: 1 },
  ],
  ['UPDATE dated_details SET date_id = 999', { [wordless]: 1 }],
  ['UPDATE image_details SET image_link_id = 999', { [wordless]: 1 }],
  ['UPDATE answers_ SET knowledge_graph = 999 WHERE id < 3', { [wordless]: 2 }],
  [`DELETE FROM texts WHERE text = 'thumb'`, { [wordless]: 1 }],
  [`DELETE FROM hosts WHERE host = 'p.example'`, { [hostless]: 2 }],
  [`UPDATE links SET same_as = 999 WHERE same_as IS NOT NULL`, { [hostless]: 1 }],
  [`DELETE FROM run_targets WHERE target_id = 2`, { [homelessObservation]: 5 }],
  ['UPDATE observations SET link_id = 999 WHERE rank IS NOT NULL', { [homelessObservation]: 1 }],
  [`UPDATE observations SET rank = 3 WHERE state = 'unknown' AND target_id = 1`, { [rankless]: 1 }],
  ['UPDATE observations SET rank = NULL', { [rankless]: 1, [miscounted]: 1 }],
  ['UPDATE rank_counts_ SET queries = queries + 1 WHERE place > 0', { [miscounted]: 1 }],
  ['UPDATE rank_counts_ SET volume = 1', { [miscounted]: 1 }],
  ["UPDATE rank_counts_ SET place = 4 WHERE state = 'ranked'", { [miscounted]: 1 }],
  ["DELETE FROM rank_counts_ WHERE state = 'unknown'", { [miscounted]: 1 }],
  ["INSERT INTO rank_counts_ VALUES (1, 1, 'ranked', 0, 99, 2, NULL)", { [miscounted]: 1 }],
  ['UPDATE run_queries SET volume = 5 WHERE run_id = 1', { [miscounted]: 1 }],
  ["UPDATE observations SET exactness = 'estimated' WHERE rank IS NOT NULL", { [miscounted]: 1 }],
  ['INSERT INTO counted_runs VALUES (3)', { [countedEarly]: 1 }],
  ['INSERT INTO counted_runs VALUES (9)', { [countedEarly]: 1 }],
  ['DELETE FROM deliveries WHERE id = (SELECT min(id) FROM deliveries)', { [undelivered]: 1 }],
  ['DELETE FROM call_deliveries WHERE call_id < 3', { [undeliveredCall]: 2 }],
  [`UPDATE raw_answers SET body = x'789c00' WHERE answer_id = 1`, { [unpacked]: 1 }],
  [`UPDATE raw_answers SET body = 'text' WHERE answer_id < 3`, { [unpacked]: 2 }],
  [`UPDATE raw_answers SET encoding = 'zstd' WHERE answer_id = 1`, { [unpacked]: 1 }],
  [`UPDATE texts SET text = 'Thumb' WHERE text = 'thumb'`, { [spoiledText]: 1 }],
  [
    `UPDATE links SET link = 'https://q.example/' WHERE link = 'https://p.example/'`,
    { [spoiledLink]: 1, [spoiledResult]: 1 },
  ],
  ["UPDATE items SET title = title || '.' WHERE id = 1", { [spoiledResult]: 1 }],
  ["UPDATE hashed SET up_to = CASE name WHEN 'items' THEN 2 ELSE 1 END", { [unhashed]: 3 }],
  [`UPDATE queries SET text = 'wep' WHERE text = 'web'`, { [spoiledQuery]: 1 }],
  [`UPDATE queries SET params = '{"gl":' WHERE text = 'web'`, { [spoiledQuery]: 1 }],
]

describe('a database that is broken by hand is found out', () => {
  testTable(breaks)('%s', async (statement, found) => {
    const { path, exec } = await aWholeDatabase()
    exec(statement)
    const { findings } = await checkDatabase(path)
    expect(Object.fromEntries(findings.map(({ what, count }) => [what, count]))).toEqual(found)
  })

  testTable([
    "UPDATE runs_ SET finished_at = 1, finish_reason = 'interrupted', closed_at = 1 WHERE id = 3",
    "UPDATE runs_ SET finished_at = 1, finish_reason = 'unavailable' WHERE id = 3",
    `${asked} VALUES (1, NULL, 'alpha.search', 0, 1, NULL, NULL)`,
    `UPDATE answers_ SET normaliser = 1 WHERE run_id = 2;
    UPDATE tasks_ SET reused = 1, answer_id = (SELECT min(id) FROM answers_ WHERE run_id = 2) WHERE run_id = 2`,
    "DELETE FROM raw_answers WHERE answer_id NOT IN (SELECT answer_id FROM tasks_ WHERE state = 'answered')",
    'UPDATE calls_ SET outcome = NULL WHERE credits = 0',
    "DELETE FROM counted_runs; INSERT INTO rank_counts_ VALUES (1, 1, 'ranked', 0, 99, 2, NULL)",
  ])('but not where all may be well: %s', async (statement) => {
    const { path, exec } = await aWholeDatabase()
    exec(statement)
    expect((await checkDatabase(path)).findings).toEqual([])
  })

  test('in everything that is looked at', () => {
    const broken = breaks.flatMap(([, found]) => Object.keys(found))
    expect(new Set(broken)).toEqual(new Set([...invariants, ...checksummedTables].map((one) => one.broken)))
  })

  test('with the first place named', async () => {
    const { path, exec } = await aWholeDatabase()
    exec('DELETE FROM async_jobs; UPDATE calls_ SET billed = 0 WHERE id IN (4, 2)')
    expect((await checkDatabase(path)).findings).toEqual([
      { what: missingJob, count: 1, first: 'task 13' },
      { what: missingCall, count: 2, first: 'answer 2' },
    ])
  })

  test('with the first of many spoiled rows named, in whichever order they are looked at', async () => {
    const { path, exec, sql } = await aWholeDatabase()
    const [texts] = sql<{ count: number }>('SELECT count(*) AS count FROM texts')
    exec('UPDATE texts SET hash = -id')
    expect((await checkDatabase(path)).findings).toEqual([
      { what: spoiledText, count: texts?.count, first: 'text 1' },
    ])
  })
})
