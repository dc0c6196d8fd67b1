import { readFileSync } from 'node:fs'
import type Database from 'better-sqlite3'
import journal from '../../src/store/sqlite/migrations/meta/_journal.json' with { type: 'json' }
import { views } from '../../src/store/sqlite/views.ts'

const texts = ['title', 'snippet', 'source', 'displayed_link', 'matched']

const migrations = new URL('../../src/store/sqlite/migrations/', import.meta.url)

/** Makes of a database one from before results were lists of items: a row for each result, which names its texts. */
export function resultsOfBefore(db: Database.Database): void {
  const words = texts.map((text) => `SELECT ${text} AS word FROM items`).join(' UNION ')
  const ids = texts.map((text) => `(SELECT id FROM texts WHERE text = ${text})`)
  db.exec(`INSERT INTO texts (hash, text) SELECT 0, word FROM (${words}) WHERE word IS NOT NULL AND word NOT IN (SELECT text FROM texts);
    CREATE TEMP TABLE result_rows AS SELECT * FROM results`)
  for (const view of Object.keys(views)) db.exec(`DROP VIEW ${view}`)
  db.exec(`CREATE TABLE results (answer_id integer NOT NULL, kind integer NOT NULL, place integer NOT NULL, position integer,
      link_id integer, title_id integer, snippet_id integer, source_id integer, displayed_link_id integer, matched_id integer,
      PRIMARY KEY(answer_id, kind, place)) WITHOUT ROWID;
    INSERT INTO results SELECT answer_id, kind, place, position, link_id, ${ids} FROM temp.result_rows;
    DROP TABLE temp.result_rows; DROP TABLE queue_failovers; DROP TABLE read_changes; DROP TABLE hashed; DROP TABLE items; DROP TABLE item_hashes; DROP TABLE link_hashes;
    DROP TRIGGER drop_block; DROP TABLE body_blocks; ALTER TABLE raw_answers DROP COLUMN block_id;
    CREATE INDEX links_hash ON links (hash);
    ALTER TABLE answers_ DROP COLUMN items; ALTER TABLE answers_ DROP COLUMN positions`)
  const { when } = journal.entries.find(({ tag }) => tag.endsWith('_items')) as { when: number }
  for (const { tag } of journal.entries.filter((entry) => entry.when > when))
    for (const [, table] of readFileSync(new URL(`${tag}.sql`, migrations), 'utf8').matchAll(
      /CREATE TABLE `(\w+)`/g,
    ))
      db.exec(`DROP TABLE IF EXISTS ${table}`)
  db.prepare('DELETE FROM __drizzle_migrations WHERE created_at >= ?').run(when)
}
