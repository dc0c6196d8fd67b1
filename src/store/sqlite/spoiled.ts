import Database from 'better-sqlite3'
import { queryKey } from '../../plan/query-key.ts'
import { type Packed, unpack } from '../packing.ts'
import { hashOf } from './dictionary.ts'
import { isDamage } from './inspect.ts'

/** Stored text that carries a sum over itself. SQLite keeps none: it does not see a bit that has turned. */
export interface Summed {
  /** Names rows that are no longer what was stored. */
  readonly broken: string
  /** What the numbers of these rows count. */
  readonly of: string
  readonly ids: string
  /** The row of an id. */
  readonly row: string
  readonly sound: (row: never) => boolean
}

interface Word {
  readonly hash: number
  readonly word: string
}

interface Query {
  readonly key: Buffer
  readonly operation: string
  readonly text: string
  readonly params: string
}

export const summed: readonly Summed[] = [
  {
    broken: 'Stored bodies that cannot be unpacked',
    of: 'answer',
    ids: 'SELECT answer_id FROM raw_answers',
    row: 'SELECT encoding, body FROM raw_answers WHERE answer_id = ?',
    sound: (stored: Packed) => unpack(stored).length >= 0,
  },
  {
    broken: 'Texts that are not what was stored',
    of: 'text',
    ids: 'SELECT id FROM texts',
    row: 'SELECT hash, text AS word FROM texts WHERE id = ?',
    sound: isWord,
  },
  {
    broken: 'Links that are not what was stored',
    of: 'link',
    ids: 'SELECT id FROM links',
    row: 'SELECT hash, link AS word FROM links WHERE id = ?',
    sound: isWord,
  },
  {
    broken: 'Queries that are not what was stored',
    of: 'query',
    ids: 'SELECT id FROM queries',
    row: 'SELECT key, operation, text, params FROM queries WHERE id = ?',
    sound: ({ key, operation, text, params }: Query) =>
      key.equals(queryKey({ operation, text, params: JSON.parse(params) })),
  },
]

function isWord({ hash, word }: Word): boolean {
  return hashOf(word) === hash
}

/** How many rows are broken, and the least id of them; null where none is. */
export interface Found {
  readonly count: number
  readonly first: number | null
}

/** Each row is read by itself: a damaged one holds back no other. However many there are, no list of them is held. */
export function spoiledRows(db: Database.Database, { ids, row, sound }: Summed): Found {
  const read = db.prepare<[number], never>(row)
  const isSound = (id: number): boolean => {
    try {
      const found = read.get(id)
      // An index that names a row which is not there is SQLite's to find.
      return found === undefined || sound(found)
    } catch (error) {
      if (isOtherTrouble(error)) throw error
      return false
    }
  }
  let count = 0
  let first: number | null = null
  for (const id of db.prepare<[], number>(ids).pluck().iterate()) {
    if (isSound(id)) continue
    count += 1
    first = Math.min(first ?? id, id)
  }
  return { count, first }
}

/** What SQLite says that tells nothing of the row, for instance that the database is busy. */
function isOtherTrouble(error: unknown): boolean {
  return error instanceof Database.SqliteError && !isDamage(error)
}
