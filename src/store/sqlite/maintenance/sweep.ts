import type Database from 'better-sqlite3'
import { type Column, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { prepared, raw, type Values } from '../connection/statements.ts'
import { answers, datedDetails, imageDetails, links, observations, results, texts } from '../schema.ts'
import { changing, inSteps, portion, portions, type Room, roomOf } from './prune.ts'

/** What nothing named any more. */
export interface Swept {
  readonly texts: number
  readonly links: number
}

/** Where the dictionaries are used: all columns that name a text or a link. */
const uses: Readonly<Record<'texts' | 'links', readonly (readonly [SQLiteTable, readonly Column[]])[]>> = {
  texts: [
    [
      results,
      [results.titleId, results.snippetId, results.sourceId, results.displayedLinkId, results.matchedId],
    ],
    [datedDetails, [datedDetails.dateId, datedDetails.channelId, datedDetails.durationId]],
    [imageDetails, [imageDetails.thumbnailId]],
    [
      answers,
      [
        answers.notice,
        answers.searchParameters,
        answers.knowledgeGraph,
        answers.aiMarkdown,
        answers.aiBlocks,
      ],
    ],
    [observations, [observations.titleId]],
  ],
  links: [
    [results, [results.linkId]],
    [imageDetails, [imageDetails.imageLinkId]],
    [observations, [observations.linkId]],
  ],
}

/**
 * Drops texts and links that nothing names any more. What is in use is noted in a temporary table first, which locks no one
 * out; then the rest goes in short changes. Only for a process that holds the collector lock: one that collects remembers the
 * numbers of texts.
 */
export async function sweep(path: string): Promise<Swept & Room> {
  return await changing(path, async (db) => {
    for (const name of ['texts', 'links'] as const) noteUses(db, name)
    const dropped = { texts: await dropUnused(db, 'texts'), links: await dropUnused(db, 'links') }
    return { ...dropped, ...roomOf(db) }
  })
}

function noteUses(db: Database.Database, name: 'texts' | 'links'): void {
  db.exec(`CREATE TEMP TABLE used_${name} (id INTEGER PRIMARY KEY)`)
  for (const [table, columns] of uses[name])
    for (const column of columns)
      db.exec(
        raw`INSERT OR IGNORE INTO temp.used_${name} SELECT ${column} FROM ${table} WHERE ${column} IS NOT NULL`,
      )
  if (name === 'texts') return
  db.exec(
    raw`INSERT OR IGNORE INTO temp.used_links SELECT place.value ->> 1 FROM ${observations}, json_each(${observations.places}) place
      WHERE ${observations.places} IS NOT NULL AND place.value ->> 1 IS NOT NULL`,
  )
  // Links that are equal to a used one, under the number that they share.
  db.exec(
    raw`INSERT OR IGNORE INTO temp.used_links SELECT ${links.sameAs} FROM ${links}
      WHERE ${links.sameAs} IS NOT NULL AND ${links.id} IN (SELECT id FROM temp.used_links)`,
  )
}

const unused = {
  texts: prepared(
    ($: Values<{ after: number }>) => sql<{ id: number }>`SELECT ${texts.id} AS id FROM ${texts}
      WHERE ${texts.id} > ${$.after} AND ${texts.id} NOT IN (SELECT id FROM temp.used_texts)
      ORDER BY ${texts.id} LIMIT ${sql.raw(String(portion))}`,
  ),
  links: prepared(
    ($: Values<{ after: number }>) => sql<{ id: number }>`SELECT ${links.id} AS id FROM ${links}
      WHERE ${links.id} > ${$.after} AND ${links.id} NOT IN (SELECT id FROM temp.used_links)
      ORDER BY ${links.id} LIMIT ${sql.raw(String(portion))}`,
  ),
}

async function dropUnused(db: Database.Database, name: 'texts' | 'links'): Promise<number> {
  const drop = db.prepare(`DELETE FROM main.${name} WHERE id = ?`)
  const dropAll = inSteps<number>(db, () => (id) => void drop.run(id))
  let dropped = 0
  for (const ids of portions((after) => unused[name].all(db, { after }))) {
    await dropAll(ids)
    dropped += ids.length
  }
  return dropped
}
