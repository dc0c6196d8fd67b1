import Database from 'better-sqlite3'
import { count as numberOf, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { UsageError } from '../../../model/errors.ts'
import { queryKey } from '../../../model/query.ts'
import { inspect, isDamage, unlessDamaged } from '../connection/database.ts'
import { drizzle, raw } from '../connection/statements.ts'
import { type StoredBodyRow, storedBodies } from '../ledger/calls.ts'
import { appliedMigration, newestMigration } from '../migrate.ts'
import { textIndex } from '../rankings/text-index.ts'
import { checksums, type ItemTexts } from '../results/dictionary.ts'
import { answers, calls, items, links, queries, rawAnswers, runs, texts } from '../schema.ts'
import { type Invariant, invariants } from './invariants.ts'

/** A kind of damage. */
interface Damage {
  readonly what: string
  readonly count: number
  /** The first case, for instance `task 17`, or a message of SQLite. */
  readonly first: string | null
}

type Check = () => readonly Damage[]

/**
 * Runs the integrity check of SQLite, then checks invariants and checksums. Changes nothing. A number of rows is null if the damage
 * keeps them from being counted.
 */
export async function checkDatabase(path: string) {
  return await inspect(path, (db) => {
    if ((appliedMigration(db) ?? 0) < newestMigration)
      throw new UsageError(
        `${path} was last written by an older rankline. Bring it up to date first: rankline db migrate`,
      )
    const count = (table: SQLiteTable, which?: SQL): number | null =>
      unlessDamaged(() => drizzle(db).select({ n: numberOf() }).from(table).where(which).get()?.n ?? 0)
    const words = textIndex(db)
    const damage = runChecks([() => checkFile(db)])
    return {
      runs: count(runs),
      calls: count(calls),
      answers: count(answers),
      /** Paid calls without an end: in flight, or left by a process that died. The next run makes them ambiguous. */
      openCalls: count(calls, sql`${calls.outcome} IS NULL AND ${calls.credits} > 0`),
      /** By the integrity check of SQLite. */
      isDamaged: damage.length > 0,
      findings: [
        ...damage,
        ...runChecks([
          ...invariants.map((one) => () => finding(one, breaking(db, one.rows))),
          ...checksummedTables.map((one) => () => finding(one, corruptRows(db, one))),
          ...(words.exists() ? [() => finding(strayed, words.strays())] : []),
        ]),
      ],
    }
  })
}

function runChecks(checks: readonly Check[]): readonly Damage[] {
  const found = checks.map(unlessDamaged)
  const unfinished = found.filter((one) => one === null).length
  const what = 'Checks that the damage kept from finishing'
  return [
    ...found.flatMap((one) => one ?? []),
    ...(unfinished === 0 ? [] : [{ what, count: unfinished, first: null }]),
  ]
}

function checkFile(db: Database.Database): readonly Damage[] {
  const damage = integrityErrors(db)
  const what = 'Places where SQLite finds the file damaged'
  return damage.length === 0 ? [] : [{ what, count: damage.length, first: damage[0] ?? null }]
}

/** SQLite may stop after some errors, for instance at a page that cannot be read. */
function integrityErrors(db: Database.Database): readonly string[] {
  const lines: string[] = []
  try {
    for (const line of db.prepare<[], string>('PRAGMA integrity_check').pluck().iterate()) lines.push(line)
  } catch (error) {
    if (!isDamage(error) || lines.length === 0) throw error
  }
  return lines.filter((line) => line !== 'ok').map((line) => line.replace('*** in database main ***\n', ''))
}

/** The number of broken rows, and the least id of them; null if none is broken. */
type Found = ReturnType<typeof corruptRows>

function breaking(db: Database.Database, rows: SQL): Found {
  return drizzle(db).get<Found>(sql`SELECT count(*) AS count, min(id) AS first FROM (${rows})`)
}

function finding({ broken, of }: Broken, { count, first }: Found): readonly Damage[] {
  return count === 0 ? [] : [{ what: broken, count, first: `${of} ${first}` }]
}

type Broken = Pick<Invariant, 'broken' | 'of'>

const strayed: Broken = { broken: 'Words in the index of what is not stored any more', of: 'row' }

/** A table whose rows have a checksum of their text. SQLite has no checksums and does not see a flipped bit. */
interface ChecksummedTable extends Broken {
  /** The number of each row. */
  readonly id: SQLiteColumn
  readonly columns: string
  readonly isSound: (row: never) => boolean
}

/** Parameters as text, because a broken row may not be JSON. */
type Query = Pick<typeof queries.$inferSelect, 'key' | 'operation' | 'text'> & { readonly params: string }

/** What a result says, with its link and its checksum. */
type CheckedItem = ItemTexts &
  Pick<typeof items.$inferSelect, 'hash' | 'size'> & { readonly link: string | null }

/** Blocks are compared with what was unpacked before: a damaged one is seen in any database. */
const unpack = storedBodies.reader()

export const checksummedTables: readonly ChecksummedTable[] = [
  {
    broken: 'Stored bodies that cannot be unpacked',
    of: 'answer',
    id: rawAnswers.answerId,
    columns: storedBodies.columns,
    isSound: (stored: StoredBodyRow) => unpack(stored).length >= 0,
  },
  {
    broken: 'Texts that do not match their checksum',
    of: 'text',
    id: texts.id,
    columns: raw`${texts.hash}, ${texts.text} AS word`,
    isSound: isWord,
  },
  {
    broken: 'Links that do not match their checksum',
    of: 'link',
    id: links.id,
    columns: raw`${links.hash}, ${links.link} AS word`,
    isSound: isWord,
  },
  {
    broken: 'Results that do not match their checksum',
    of: 'item',
    id: items.id,
    columns: raw`${items.hash}, ${items.size}, ${items.title}, ${items.snippet}, ${items.source},
      ${items.displayedLink} AS displayedLink, ${items.matched},
      (SELECT l.${links.link} FROM ${links} l WHERE l.${links.id} = ${items.linkId}) AS link`,
    isSound: ({ hash, size, link, ...said }: CheckedItem) =>
      hash === checksums.ofItem(link, said) && size === checksums.size(said),
  },
  {
    broken: 'Queries that do not match their checksum',
    of: 'query',
    id: queries.id,
    columns: raw`${queries.key}, ${queries.operation}, ${queries.text}, ${queries.params}`,
    isSound: ({ key, operation, text, params }: Query) =>
      key.equals(queryKey({ operation, text, params: JSON.parse(params) })),
  },
]

function isWord({ hash, word }: { readonly hash: number; readonly word: string }): boolean {
  return checksums.ofText(word) === hash
}

/** Reads each row separately, so that a damaged one hides no other. Only their number is kept. */
function corruptRows(db: Database.Database, { id, columns, isSound }: ChecksummedTable) {
  const ids = db.prepare<[], number>(raw`SELECT ${id} FROM ${id.table}`).pluck()
  const read = db.prepare(raw`SELECT ${columns} FROM ${id.table} WHERE ${id} = ?`)
  const isCorrupt = (row: number): boolean => {
    try {
      const found = read.get(row)
      // The integrity check of SQLite finds an index that names a missing row.
      return found !== undefined && !isSound(found as never)
    } catch (error) {
      // Other errors, for instance of a busy database, do not mean that the row is corrupt.
      if (error instanceof Database.SqliteError && !isDamage(error)) throw error
      return true
    }
  }
  let count = 0
  let first: number | null = null
  for (const row of ids.iterate()) {
    if (!isCorrupt(row)) continue
    count += 1
    first = Math.min(first ?? row, row)
  }
  return { count, first }
}
