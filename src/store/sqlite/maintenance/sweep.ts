import type Database from 'better-sqlite3'
import { type Column, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { prepared, raw, type Values } from '../connection/statements.ts'
import {
  answers,
  datedDetails,
  hashed,
  imageDetails,
  itemHashes,
  items,
  linkHashes,
  links,
  observations,
  texts,
} from '../schema.ts'
import { changing, inSteps, portion, portions, type Room, roomOf } from './prune.ts'

/** What nothing named any more. */
export interface Swept {
  /** Texts, and what results say. */
  readonly texts: number
  readonly links: number
}

type Swepts = 'items' | 'texts' | 'links'

/** Where the dictionaries are used: all columns that name a text or a link. */
const uses: Readonly<Record<'texts' | 'links', readonly (readonly [SQLiteTable, readonly Column[]])[]>> = {
  texts: [
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
    [items, [items.linkId]],
    [imageDetails, [imageDetails.imageLinkId]],
    [observations, [observations.linkId]],
  ],
}

/** Where else they are used. */
const otherUses: Readonly<Record<Swepts, readonly string[]>> = {
  items: [
    raw`SELECT named.value FROM ${answers}, json_each(${answers.items}) of_kind, json_each(of_kind.value) named`,
  ],
  texts: [],
  links: [
    raw`SELECT place.value ->> 1 FROM ${observations}, json_each(${observations.places}) place
      WHERE ${observations.places} IS NOT NULL AND place.value ->> 1 IS NOT NULL`,
    // Links that are equal to a used one, under the number that they share.
    raw`SELECT ${links.sameAs} FROM ${links}
      WHERE ${links.sameAs} IS NOT NULL AND ${links.id} IN (SELECT id FROM temp.used_links)`,
  ],
}

/**
 * Drops what results said, texts and links that nothing names any more. What is in use is noted in a temporary table first, which
 * locks no one out; then the rest goes in short changes. Only for a process that holds the collector lock: one that collects remembers
 * the numbers.
 */
export async function sweep(path: string): Promise<Swept & Room> {
  return await changing(path, async (db) => {
    // What is dropped of one names nothing of those after it.
    const saidBefore = await dropUnused(db, 'items')
    const texts = saidBefore + (await dropUnused(db, 'texts'))
    const droppedLinks = await dropUnused(db, 'links')
    return { texts, links: droppedLinks, ...roomOf(db) }
  })
}

function noteUses(db: Database.Database, name: Swepts): void {
  db.exec(`CREATE TEMP TABLE used_${name} (id INTEGER PRIMARY KEY)`)
  const columns =
    name === 'items' ? [] : uses[name].flatMap(([table, all]) => all.map((one) => ({ table, one })))
  const named = columns.map(({ table, one }) => raw`SELECT ${one} FROM ${table} WHERE ${one} IS NOT NULL`)
  for (const use of [...named, ...otherUses[name]]) db.exec(`INSERT OR IGNORE INTO temp.used_${name} ${use}`)
}

const unused: Readonly<Record<Swepts, ReturnType<typeof unusedOf>>> = {
  items: unusedOf(items, 'used_items'),
  texts: unusedOf(texts, 'used_texts'),
  links: unusedOf(links, 'used_links'),
}

function unusedOf(table: typeof items | typeof texts | typeof links, used: string) {
  return prepared(
    ($: Values<{ after: number }>) => sql<{ id: number }>`SELECT ${table.id} AS id FROM ${table}
      WHERE ${table.id} > ${$.after} AND ${table.id} NOT IN (SELECT id FROM temp.${sql.raw(used)})
      ORDER BY ${table.id} LIMIT ${sql.raw(String(portion))}`,
  )
}

/** With the hashes by which they are found. */
const drops: Readonly<Record<Swepts, readonly string[]>> = {
  items: [
    raw`DELETE FROM ${itemHashes} WHERE ${itemHashes.id} = @id
      AND ${itemHashes.hash} = (SELECT i.${items.hash} FROM ${items} i WHERE i.${items.id} = @id)`,
    raw`DELETE FROM ${items} WHERE ${items.id} = @id`,
  ],
  texts: [raw`DELETE FROM ${texts} WHERE ${texts.id} = @id`],
  links: [
    raw`DELETE FROM ${linkHashes} WHERE ${linkHashes.id} = @id
      AND ${linkHashes.hash} = (SELECT l.${links.hash} FROM ${links} l WHERE l.${links.id} = @id)`,
    raw`DELETE FROM ${links} WHERE ${links.id} = @id`,
  ],
}

async function dropUnused(db: Database.Database, name: Swepts): Promise<number> {
  noteUses(db, name)
  const statements = drops[name].map((text) => db.prepare(text))
  const free = name === 'texts' ? null : db.prepare(numbersFree[name])
  const dropAll = inSteps<number>(db, () => (id) => {
    for (const statement of statements) statement.run({ id })
    free?.run()
  })
  let dropped = 0
  for (const ids of portions((after) => unused[name].all(db, { after }))) {
    await dropAll(ids)
    dropped += ids.length
  }
  return dropped
}

/**
 * The numbers of the last rows are given again: then those rows are among the newest. In the change that drops them, for new rows after
 * one that was killed in between would be found by nobody.
 */
const numbersFree = {
  items: lowered('items', items),
  links: lowered('links', links),
}

function lowered(name: string, table: typeof items | typeof links): string {
  return raw`UPDATE ${hashed} SET ${hashed.upTo} = (SELECT coalesce(max(${table.id}), 0) FROM ${table})
    WHERE ${hashed.name} = '${name}' AND ${hashed.upTo} > (SELECT coalesce(max(${table.id}), 0) FROM ${table})`
}
