import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from 'better-sqlite3'
import { kindCodes, type ResultKind } from '../../../model/result.ts'
import { changing } from '../connection/database.ts'
import { once, raw } from '../connection/statements.ts'
import { answers, items, links, queries, runQueries, runs, tasks, texts } from '../schema.ts'

/*
 * The words of what is stored, for `rankline find`: three FTS5 tables that are made on demand and dropped at will. Their text stays where it
 * is stored, so that they hold words alone. Rows are numbered as what they index, and numbers rise: what came after the last one is not
 * indexed yet.
 */

/** What is indexed, with the columns of its words and the rows that it takes. */
const indexes = {
  items: { table: items, columns: [items.title.name, items.snippet.name], which: '1' },
  links: { table: links, columns: [links.link.name], which: '1' },
  // Of all texts those of AI answers.
  texts: {
    table: texts,
    columns: [texts.text.name],
    which: raw`id IN (SELECT ${answers.aiMarkdown} FROM ${answers} WHERE ${answers.aiMarkdown} > @after)`,
  },
} as const

type IndexedTable = keyof typeof indexes

const indexedTables = Object.keys(indexes) as IndexedTable[]

function indexOf(name: IndexedTable): string {
  return `words_of_${name}`
}

const lastIndexed = (name: IndexedTable): string =>
  `(SELECT coalesce(max(id), 0) FROM ${indexOf(name)}_docsize)`

/** What is looked for, as FTS5 reads it: an expression for each table of the index, null where that is not looked through. */
type WantedWords = Readonly<Record<IndexedTable, string | null>>

/** The newest time that a query showed a result, or an AI answer, with the words. */
export interface FoundText {
  readonly kind: ResultKind | 'ai'
  readonly query: string
  readonly operation: string
  /** A JSON object. */
  readonly params: string
  readonly job: string
  readonly run: number
  /** Local day of the run. */
  readonly date: string
  /** Epoch milliseconds. */
  readonly fetchedAt: number
  /** Null for AI answers and related searches. */
  readonly rank: number | null
  readonly title: string | null
  readonly snippet: string | null
  readonly link: string | null
  /** Of an AI answer, as Markdown. */
  readonly text: string | null
}

type LookedAnswer = readonly [id: number, query: number, items: string | null, ai: number | null]

const answersOf = (
  which: string,
): string => raw`SELECT a.${answers.id}, a.${answers.queryId}, a.${answers.items}, a.${answers.aiMarkdown}
  FROM ${answers} a WHERE a.${answers.prunedAt} IS NULL ${which} ORDER BY a.${answers.id} DESC`

const ofJob = raw`AND a.${answers.queryId} IN (SELECT rq.${runQueries.queryId} FROM ${runs} r
  JOIN ${runQueries} rq ON rq.${runQueries.runId} = r.${runs.id} WHERE r.${runs.job} = ?)`

const taskOfAnswer = raw`SELECT r.${runs.id} AS run, r.${runs.job} AS job, r.${runs.date} AS date, a.${answers.fetchedAt} AS fetchedAt,
    q.${queries.text} AS query, q.${queries.operation} AS operation, q.${queries.params} AS params,
    t.${tasks.rankBase} AS rankBase, t.${tasks.ranks} AS ranks
  FROM ${tasks} t JOIN ${answers} a ON a.${answers.id} = t.${tasks.answerId} JOIN ${runs} r ON r.${runs.id} = t.${tasks.runId}
    JOIN ${queries} q ON q.${queries.id} = t.${tasks.queryId}
  WHERE t.${tasks.answerId} = @answer AND t.${tasks.state} = 'done' AND (@job IS NULL OR r.${runs.job} = @job)
  ORDER BY t.${tasks.id} DESC LIMIT 1`

const saidByItem = raw`SELECT i.${items.title} AS title, i.${items.snippet} AS snippet, l.${links.link} AS link
  FROM ${items} i LEFT JOIN ${links} l ON l.${links.id} = i.${items.linkId} WHERE i.${items.id} = ?`

const kindNames = new Map(Object.entries(kindCodes).map(([kind, code]) => [String(code), kind as ResultKind]))

export function textSearch(db: Database) {
  const taskOf = once(() =>
    db.prepare<
      [{ answer: number; job: string | null }],
      Omit<FoundText, 'kind' | 'rank' | 'title' | 'snippet' | 'link' | 'text'> & {
        readonly rankBase: number
        readonly ranks: string | null
      }
    >(taskOfAnswer),
  )
  const said = once(() => db.prepare<[number], Pick<FoundText, 'title' | 'snippet' | 'link'>>(saidByItem))
  const textOf = once(() => db.prepare<[number], string>(raw`SELECT text FROM ${texts} WHERE id = ?`).pluck())
  const rowsOf = (name: IndexedTable, wanted: string | null): readonly number[] =>
    wanted === null
      ? []
      : (db
          .prepare(`SELECT rowid FROM ${indexOf(name)} WHERE ${indexOf(name)} MATCH ?`)
          .pluck()
          .all(wanted) as number[])

  /** Numbers of the results that say the words, or lead to a link that does. */
  const itemsWith = (wanted: Pick<WantedWords, 'items' | 'links'>): ReadonlySet<number> => {
    const found = new Set(rowsOf('items', wanted.items))
    const linked = rowsOf('links', wanted.links)
    if (linked.length === 0) return found
    const leading = db
      .prepare<[string], number>(
        raw`SELECT ${items.id} FROM ${items} WHERE ${items.linkId} IN (SELECT value FROM json_each(?))`,
      )
      .pluck()
    for (const item of leading.all(JSON.stringify(linked))) found.add(item)
    return found
  }

  return {
    /** Whether there is an index of words, and what it lacks. */
    textIndex: () => textIndex(db).lag(),
    itemsWith,
    /** What queries showed with these words, the newest answers first, each result or AI answer of a query once. */
    *foundTexts(wanted: WantedWords, job: string | null): Iterable<FoundText> {
      const results = itemsWith(wanted)
      const ai = new Set(rowsOf('texts', wanted.texts))
      if (results.size === 0 && ai.size === 0) return
      const told = new Set<string>()
      const look = db.prepare<unknown[], LookedAnswer>(answersOf(job === null ? '' : ofJob)).raw()
      for (const [answer, query, lists, text] of look.iterate(...(job === null ? [] : [job]))) {
        const places = [...placesIn(lists, results)].filter(({ item }) => !told.has(`${query} ${item}`))
        const saysIt = text !== null && ai.has(text) && !told.has(`${query} ai ${text}`)
        if (places.length === 0 && !saysIt) continue
        const task = taskOf().get({ answer, job })
        if (task === undefined) continue
        const { rankBase, ranks, ...asked } = task
        for (const { item, kind, place } of places) {
          told.add(`${query} ${item}`)
          const listed = ranks === null ? null : (JSON.parse(ranks) as readonly number[])
          const rank = kind === 'related' ? null : (listed?.[place] ?? rankBase + place + 1)
          const words = said().get(item)
          if (words !== undefined) yield { ...asked, ...words, kind, rank, text: null }
        }
        if (!saysIt) continue
        told.add(`${query} ai ${text}`)
        const markdown = textOf().get(text) ?? null
        yield { ...asked, kind: 'ai', rank: null, title: null, snippet: null, link: null, text: markdown }
      }
    },
  }
}

/** Where some of these results stand in the lists of an answer. */
export function* placesIn(lists: string | null, wanted: ReadonlySet<number>) {
  if (lists === null || wanted.size === 0) return
  for (const [code, list] of Object.entries(JSON.parse(lists) as Record<string, readonly number[]>))
    for (const [place, item] of list.entries())
      if (wanted.has(item)) yield { item, place, kind: kindNames.get(code) as ResultKind }
}

/** Rows of one change: where no other process writes, and where one may want to. */
const rowsTogether = { alone: 20_000, beside: 500 } as const
const shortestPauseMs = 20

/** The index of a database: how far it is, and what keeps it right. */
export function textIndex(db: Database) {
  const exists = (): boolean =>
    db.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(indexOf('items')) !== undefined
  const sum = (of: (name: IndexedTable) => number): number =>
    indexedTables.reduce((total, name) => total + of(name), 0)
  const numberIn = (statement: string): number => Number(db.prepare(statement).pluck().get())
  /** How many rows of a table are not indexed, or how many bytes their texts have. */
  const unindexed = (name: IndexedTable, what: 'rows' | 'text'): number => {
    const { table, columns, which } = indexes[name]
    const after = exists() ? numberIn(`SELECT ${lastIndexed(name)}`) : 0
    const length = columns.map((column) => `coalesce(octet_length(${column}), 0)`).join(' + ')
    const asked = what === 'rows' ? 'count(*)' : `coalesce(sum(${length}), 0)`
    return Number(
      db.prepare(raw`SELECT ${asked} FROM ${table} WHERE id > @after AND ${which}`).pluck().get({ after }),
    )
  }
  /** Bytes that indexing the rest takes: of each of its tables whole pages, and no fewer than will be. */
  const missingBytes = (): number => {
    const pageSize = db.pragma('page_size', { simple: true }) as number
    const pages = sum((name) => {
      const empty = exists() ? 0 : ofIndex.length
      const rows = unindexed(name, 'rows')
      if (rows === 0) return empty
      return empty + splitPages + Math.ceil((unindexed(name, 'text') + rows * rowBytes) / pageSize)
    })
    return pages * pageSize
  }
  return {
    exists,
    /** Whether there is an index, and how many results came since. Does not look for AI answers, which takes as long as there are answers. */
    lag: () => ({ exists: exists(), missing: unindexed('items', 'rows') }),
    /** How far it is; changes nothing. */
    state: () => ({
      exists: exists(),
      /** Bytes that it takes. */
      bytes: exists() ? sum((name) => bytesOf(db, name)) : 0,
      /** Results, links and AI answers that are in it, and those that came since. */
      indexed: exists() ? sum((name) => numberIn(`SELECT count(*) FROM ${indexOf(name)}_docsize`)) : 0,
      missing: sum((name) => unindexed(name, 'rows')),
      missingBytes: missingBytes(),
    }),
    /** Writes it anew, without the words of what has left it. Takes long, and holds other writers up. */
    merge: (): void => {
      if (!exists()) return
      for (const name of indexedTables)
        db.exec(`INSERT INTO ${indexOf(name)} (${indexOf(name)}) VALUES ('optimize')`)
    },
    /** A statement that takes the row @id out of the index before it is dropped: its number may be given again. */
    forget: (name: IndexedTable): string => {
      const { table, columns } = indexes[name]
      const list = columns.join(', ')
      return raw`INSERT INTO ${indexOf(name)} (${indexOf(name)}, rowid, ${list})
        SELECT 'delete', id, ${list} FROM ${table} WHERE id = @id AND id IN (SELECT id FROM ${indexOf(name)}_docsize)`
    },
    /** Its rows whose text is not stored any more: how many, and the first of them. */
    strays: () => {
      const stray = indexedTables.map(
        (name) => `SELECT id FROM ${indexOf(name)}_docsize WHERE id NOT IN (SELECT id FROM ${name})`,
      )
      return db
        .prepare<[], { readonly count: number; readonly first: number | null }>(
          `SELECT count(*) AS count, min(id) AS first FROM (${stray.join(' UNION ALL ')})`,
        )
        .get() as { readonly count: number; readonly first: number | null }
    },
  }
}

/** The tables in which FTS5 keeps an index. An empty one has a page. */
const ofIndex = ['data', 'idx', 'docsize', 'config']
/** Pages that the first rows of a table add: a page that is full becomes two below a third one. */
const splitPages = 2
/** What a row takes beside its words, which take about as many bytes as they have, or fewer: its length, its number in lists. */
const rowBytes = 16

function bytesOf(db: Database, name: IndexedTable): number {
  const size = db
    .prepare<[string], number>('SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE name = ? AND aggregate = 1')
    .pluck()
  return ofIndex.reduce((total, part) => total + (size.get(`${indexOf(name)}_${part}`) as number), 0)
}

/**
 * Makes the index, or brings it up to date, in short changes; an interruption undoes nothing.
 *
 * @param alone whether no other process wants to write meanwhile
 * @param progress how many rows were taken
 */
export async function buildTextIndex(
  path: string,
  { alone, progress }: { readonly alone: boolean; readonly progress: (rows: number) => void },
) {
  return await changing(path, async (db) => {
    const index = textIndex(db)
    if (!index.exists()) db.transaction(() => make(db)).immediate()
    const limit = alone ? rowsTogether.alone : rowsTogether.beside
    let taken = 0
    for (const name of indexedTables) {
      const step = db.prepare(catchUp(name))
      const after = db.prepare(`SELECT ${lastIndexed(name)}`).pluck()
      const doSome = db.transaction(() => step.run({ after: after.get(), limit }).changes)
      for (;;) {
        const began = performance.now()
        const rows = doSome.immediate()
        taken += rows
        if (rows < limit) break
        progress(taken)
        if (!alone) await sleep(Math.max(shortestPauseMs, performance.now() - began))
      }
    }
    return index.state()
  })
}

function make(db: Database): void {
  for (const name of indexedTables) {
    const { columns } = indexes[name]
    db.exec(
      `CREATE VIRTUAL TABLE ${indexOf(name)} USING fts5(${columns.join(', ')}, content='${name}', content_rowid='id',
        tokenize='unicode61 remove_diacritics 2')`,
    )
  }
}

function catchUp(name: IndexedTable): string {
  const { table, columns, which } = indexes[name]
  const list = columns.join(', ')
  return raw`INSERT INTO ${indexOf(name)} (rowid, ${list})
    SELECT id, ${list} FROM ${table} WHERE id > @after AND ${which} ORDER BY id LIMIT @limit`
}

/** Drops the index; answers the bytes that it took. */
export async function dropTextIndex(path: string): Promise<number> {
  return await changing(path, (db) => {
    const { bytes } = textIndex(db).state()
    db.transaction(() => {
      for (const name of indexedTables) db.exec(`DROP TABLE IF EXISTS ${indexOf(name)}`)
    }).immediate()
    return bytes
  })
}
