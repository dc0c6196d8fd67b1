import { hash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import QuickLRU from 'quick-lru'
import type { ReportNote } from '../../../model/settings.ts'
import { normalParam, normalText } from '../../../model/text.ts'
import { dayMs, dayNumber, dayText } from '../../../model/time.ts'
import { openDatabase, openToRead } from '../connection/database.ts'
import { describeError } from '../connection/errors.ts'
import { drizzle, inserter, raw } from '../connection/statements.ts'
import {
  importedAnswers as answers,
  importedFiles as files,
  type ImportSummary,
  imports,
  importedLinks as links,
  importedObservations as observations,
  importedQueries as queries,
  type RankRuler,
  importedSeries as series,
} from './schema.ts'

/** What a tool followed. What its file does not say is null. */
type ImportedQuery = Pick<typeof queries.$inferSelect, 'text'> &
  Partial<Omit<typeof queries.$inferSelect, 'id' | 'importId' | 'key' | 'text'>>

/** A row of the view `imported_rankings`. */
export interface ImportedRow {
  readonly query: string
  readonly target: string
  readonly gl: string | null
  readonly hl: string | null
  readonly location: string | null
  readonly device: string | null
  readonly engine: string | null
  readonly date: string
  readonly state: string
  readonly rank: number | null
  readonly rank_kind: RankRuler
  readonly depth: number | null
  readonly url: string | null
  readonly reason: string | null
  readonly repeats_possible: 0 | 1
}

/** Stores an import: as a whole, or nothing of it. For a process that holds the lock of the database. */
export async function storeImport(
  path: string,
  request: Omit<Writing, 'earlier'>,
  read: (sink: ImportSink) => Promise<void>,
) {
  const db = await openDatabase(path)
  try {
    return await importInto(db, { ...request, earlier: db }, read)
  } catch (error) {
    throw describeError(error, path)
  } finally {
    db.close()
  }
}

/** What storing it would come to, beside what the database at that path has; null where there is none. */
export async function tryImport(
  path: string | null,
  request: Omit<Writing, 'earlier'>,
  read: (sink: ImportSink) => Promise<void>,
): Promise<ImportResult> {
  const folder = mkdtempSync(join(tmpdir(), 'rankline-import-'))
  const known = path === null ? null : openToRead(path)
  try {
    const db = await openDatabase(join(folder, 'import.db'), 'keep-none')
    try {
      db.pragma('synchronous = OFF')
      const earlier = known === null || !hasImports(known.db) ? null : known.db
      return await importInto(db, { ...request, earlier }, read)
    } finally {
      db.close()
    }
  } finally {
    known?.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function hasImports(db: Database): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'imports_'").get() !== undefined
}

interface Writing {
  readonly job: string | null
  readonly now: number
  /** Where earlier imports are; null where there are none. */
  readonly earlier: Database | null
}

/** What an import came to. */
export type ImportResult = Awaited<ReturnType<typeof importInto>>

async function importInto(db: Database, request: Writing, read: (sink: ImportSink) => Promise<void>) {
  db.pragma('cache_size = -24000')
  db.exec('BEGIN IMMEDIATE')
  try {
    const { id, sink, finish, notes } = importWriter(db, request)
    await read(sink)
    const summary = finish()
    const isNew = summary.ranked + summary.absent + summary.unknown + summary.answers > 0
    const result = {
      /** Null where it brought nothing new, and nothing was stored. */
      id: isNew ? id : null,
      summary,
      /** Some of its observations. */
      rows: someRows(db, id, summary),
      tracked: trackedQueries(db, id),
      /** What the tool knows of days, in their order. Nothing of it is stored. */
      notes: notes(),
    }
    db.exec(isNew ? 'COMMIT' : 'ROLLBACK')
    return result
  } finally {
    if (db.inTransaction) db.exec('ROLLBACK')
  }
}

/** Observations that are sorted before they are written: a file by days would else touch the whole table for each day. */
const batchSize = 250_000
const fields = 8
/** Rows that one statement takes. */
const together = 16
/** Links that are known by their numbers. */
const mostLinks = 40_000
const none = -1
const [ranked, absent, unknown] = [0, 1, 2]

/** No tool looks deeper; some write a larger number for what they did not find. */
export const mostRank = 1_000
const isRank = (number: number): boolean => Number.isInteger(number) && number >= 1 && number <= mostRank

/** What stands for a query or a site without a text: what is said of them is left out. */
const [withoutQuery, withoutSite] = [0, -1]
const leftOut = new Map([
  [withoutQuery, 'rows without a keyword'],
  [withoutSite, 'rows without a site'],
])

/** Tools have written ranks since the nineties. */
const firstDay = dayNumber(1990, 1, 1) as number

/** Longer than any text that is searched for, and than any address: texts are cut there, addresses left out. */
const longestText = 2_000
const longestLink = 4_000

interface ImportedFile {
  readonly format: string
  /** Formats of one tool share what they follow, so that the same day in two of its files is one observation. */
  readonly tool: string
  readonly path: string
  /** Of several observations of one day, which one counts. What is known always goes before what is not. */
  readonly sameDay: 'last' | 'best'
}

/** What a format tells of a file. Days count from 1970-01-01; queries and series are known by their numbers. */
export type ImportSink = ReturnType<typeof importWriter>['sink']

/** Writes one import, in the transaction of the caller. */
function importWriter(db: Database, { job, now, earlier }: Writing) {
  const nextId = (table: string): number =>
    Number(db.prepare(`SELECT coalesce(max(id), 0) + 1 FROM ${table}`).pluck().get())
  const id = nextId('imports_')
  const firstSeries = nextId('imported_series')
  const firstQuery = nextId('imported_queries')
  let linkId = nextId('imported_links') - 1
  let file: ImportedFile = { format: '', tool: '', path: '', sameDay: 'last' }
  let fileId = 0
  let [knownDays, knownAnswers] = [0, 0]
  /** Observations, of whatever days. */
  let observed = 0
  const dropped = new Map<string, number>()
  const reasons = new Map<string, number>()
  const notes = new Map<string, Pick<ReportNote, 'date' | 'text'>>()

  const insertFile = db.prepare(
    raw`INSERT INTO ${files} (${files.importId}, ${files.format}, ${files.path}) VALUES (?, ?, ?)`,
  )
  const insertQuery = db.prepare(
    raw`INSERT INTO ${queries} (${queries.importId}, ${queries.key}, ${queries.text}, ${queries.gl}, ${queries.hl}, ${queries.location}, ${queries.device}, ${queries.engine}, ${queries.volume}, ${queries.tags}, ${queries.url})
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const insertSeries = db.prepare(
    raw`INSERT INTO ${series} (${series.queryId}, ${series.target}, ${series.rankKind}, ${series.repeats}) VALUES (?, ?, ?, ?)`,
  )
  const insertLinks = inserter(db, 'imported_links', 3)
  const insertAnswer = db.prepare(
    raw`INSERT INTO ${answers} (${answers.queryId}, ${answers.day}, ${answers.fileId}, ${answers.links}) VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET ${answers.fileId} = excluded.${answers.fileId}, ${answers.links} = excluded.${answers.links}`,
  )
  const insertObservations = {
    last: observationsInserter(db, 'last'),
    best: observationsInserter(db, 'best'),
  }
  const former = earlier === null ? null : formerOf(earlier, earlier === db ? id : none)

  const queryIds = new Map<string, Map<string, number>>()
  const queryIdsByKey = new Map<string, number>()
  const seriesIds = new Map<string, Map<number, number>>()
  /** Most rows are of the market and of the target of the row above. */
  let market = null as ({ readonly ids: Map<string, number> } & Omit<ImportedQuery, 'text'>) | null
  let followed = null as {
    readonly target: string
    readonly ruler: RankRuler
    readonly ids: Map<number, number>
  } | null
  const formerQueries = new Map<number, readonly number[]>()
  const formerSeries = new Map<number, readonly number[]>()
  const linkIds = new QuickLRU<string, number>({ maxSize: mostLinks })
  let newLinks: (string | number)[] = []

  const numberOf = (link: string): number => {
    const number = linkIds.get(link)
    if (number !== undefined) return number
    linkId += 1
    linkIds.set(link, linkId)
    newLinks.push(linkId, id, link)
    if (newLinks.length >= 96) {
      insertLinks(newLinks)
      newLinks = []
    }
    return linkId
  }

  const batch = new Int32Array(batchSize * fields)
  let filled = 0
  const flush = (): void => {
    const order = new Uint32Array(filled)
    const at = (row: number, field: number): number => batch[row * fields + field] as number
    let isSorted = true
    for (let row = 0; row < filled; row++) {
      order[row] = row
      if (row > 0 && isSorted)
        isSorted =
          at(row - 1, 0) < at(row, 0) || (at(row - 1, 0) === at(row, 0) && at(row - 1, 1) <= at(row, 1))
    }
    // The order of the file within a day: the later one may take its place.
    if (!isSorted) order.sort((a, b) => at(a, 0) - at(b, 0) || at(a, 1) - at(b, 1) || a - b)
    const rows: number[] = []
    for (const row of order) {
      const isKnown =
        former !== null &&
        (formerSeries.get(at(row, 0))?.some((one) => former.hasDay(one, at(row, 1))) ?? false)
      if (isKnown) knownDays += 1
      else rows.push(row)
    }
    insertObservations[file.sameDay](rows, batch)
    filled = 0
  }
  const drop = (what: string): void => {
    dropped.set(what, (dropped.get(what) ?? 0) + 1)
  }
  /** Somewhere in the world it is tomorrow. */
  const lastDay = Math.floor(now / dayMs) + 1
  /** Whether something can be stored of a query or series and a day; else it is left out. */
  const canBe = (of: number, day: number): boolean => {
    if (of > 0 && day >= firstDay && day <= lastDay) return true
    drop(leftOut.get(of) ?? 'days that are still to come, or before 1990')
    return false
  }
  const observe = (
    of: number,
    day: number,
    state: number,
    rank: number,
    depth: number | null,
    link: number,
    reason: number,
  ): void => {
    if (!canBe(of, day)) return
    if (filled === batchSize) flush()
    const at = filled * fields
    batch[at] = of
    batch[at + 1] = day
    batch[at + 2] = state
    batch[at + 3] = rank
    batch[at + 4] = depth !== null && isRank(depth) ? depth : none
    batch[at + 5] = link
    batch[at + 6] = reason
    batch[at + 7] = fileId
    filled += 1
    observed += 1
  }
  const newQuery = (query: ImportedQuery): number => {
    const text = normalText(query.text).slice(0, longestText)
    if (text === '') return withoutQuery
    const gl = query.gl == null ? null : normalParam('gl', query.gl)
    const hl = query.hl == null ? null : normalParam('hl', query.hl)
    const { location = null, device = null, engine = null, tags = [], url = null } = query
    const volume = typeof query.volume === 'number' && query.volume >= 0 ? query.volume : null
    const key = hash(
      'sha256',
      JSON.stringify([file.tool, text, gl, hl, location, device, engine]),
      'buffer',
    ).subarray(0, 16)
    const hex = key.toString('hex')
    const same = queryIdsByKey.get(hex)
    const number =
      same ??
      Number(
        insertQuery.run(id, key, text, gl, hl, location, device, engine, volume, JSON.stringify(tags), url)
          .lastInsertRowid,
      )
    queryIdsByKey.set(hex, number)
    if (same === undefined && former !== null) {
      const before = former.queriesOf(key)
      if (before.length > 0) formerQueries.set(number, before)
    }
    return number
  }

  const unknownRank = (of: number, day: number, reason: string): void => {
    let number = reasons.get(reason)
    if (number === undefined) {
      number = reasons.size
      reasons.set(reason, number)
    }
    observe(of, day, unknown, none, null, none, number)
  }

  const sink = {
    /** Begins a file: all that follows is of it. */
    file(next: ImportedFile): void {
      flush()
      file = next
      fileId = Number(insertFile.run(id, next.format, next.path).lastInsertRowid)
      queryIds.clear()
      market = null
    },
    query(query: ImportedQuery): number {
      const { text, gl = null, hl = null, location = null, device = null, engine = null } = query
      if (
        market === null ||
        market.gl !== gl ||
        market.hl !== hl ||
        market.location !== location ||
        market.device !== device ||
        market.engine !== engine
      ) {
        const ids = idsOf(queryIds, `${gl}\n${hl}\n${location}\n${device}\n${engine}`)
        market = { gl, hl, location, device, engine, ids }
      }
      const same = market.ids.get(text)
      if (same !== undefined) return same
      const number = newQuery(query)
      market.ids.set(text, number)
      return number
    },
    /** A target of a query, counted in one way. `repeats possible`: its tool may have repeated a rank that it did not check. */
    series(query: number, target: string, ruler: RankRuler, repeats?: 'repeats possible'): number {
      if (query === withoutQuery) return withoutQuery
      if (target === '') return withoutSite
      if (followed === null || followed.target !== target || followed.ruler !== ruler)
        followed = { target, ruler, ids: idsOf(seriesIds, `${ruler}\n${target}`) }
      const same = followed.ids.get(query)
      if (same !== undefined) return same
      const number = Number(
        insertSeries.run(query, target, ruler, repeats === undefined ? 0 : 1).lastInsertRowid,
      )
      followed.ids.set(query, number)
      const before =
        formerQueries.get(query)?.flatMap((one) => former?.seriesOf(one, target, ruler) ?? []) ?? []
      if (before.length > 0) formerSeries.set(number, before)
      return number
    },
    ranked(of: number, day: number, rank: number, link: string | null, depth: number | null = null): void {
      if (!isRank(rank)) {
        unknownRank(of, day, 'a number that is no rank')
        return
      }
      const kept = link === null || link.length > longestLink ? none : numberOf(link)
      observe(of, day, ranked, rank, depth, kept, none)
    },
    /** Looked for and not found; the depth where the file says it. */
    absent: (of: number, day: number, depth: number | null) =>
      observe(of, day, absent, none, depth, none, none),
    /** Failed, or may have failed. */
    unknown: unknownRank,
    /** A whole page of results: its links in the order of their ranks. */
    answer(query: number, day: number, shown: readonly string[]): void {
      if (!canBe(query, day)) return
      if (former !== null && formerQueries.get(query)?.some((one) => former.hasAnswer(one, day)))
        knownAnswers += 1
      else insertAnswer.run(query, day, fileId, JSON.stringify(shown.map(numberOf)))
    },
    /** Something that happened on a day, for the notes of a job. */
    note: (day: number, text: string) => void notes.set(`${day} ${text}`, { date: dayText(day), text }),
    /** Something that is left out, and why. */
    dropped: drop,
  }

  const finish = (): ImportSummary => {
    flush()
    if (newLinks.length > 0) insertLinks(newLinks)
    const reasonTexts = [...reasons.keys()]
    const stored = summaryOf(db, { firstSeries, firstQuery, reasons: reasonTexts })
    const others = observed - knownDays - stored.ranked - stored.absent - stored.unknown
    if (others > 0) dropped.set('rows of a keyword, site and day of which another row counts', others)
    const summary = { ...stored, dropped: Object.fromEntries(dropped), known: knownDays + knownAnswers }
    drizzle(db).insert(imports).values({ id, job, importedAt: now, reasons: reasonTexts, summary }).run()
    return summary
  }
  return {
    id,
    sink,
    finish,
    notes: () => [...notes.values()].sort((a, b) => (a.date < b.date ? -1 : Number(a.date > b.date))),
  }
}

/** The numbers under a name, which may be none yet. */
function idsOf<K>(known: Map<string, Map<K, number>>, name: string): Map<K, number> {
  const ids = known.get(name) ?? new Map<K, number>()
  known.set(name, ids)
  return ids
}

/** What earlier imports know. */
function formerOf(db: Database, besides: number) {
  const queriesOf = db
    .prepare<[Buffer, number], number>(
      raw`SELECT ${queries.id} FROM ${queries} WHERE ${queries.key} = ? AND ${queries.importId} <> ?`,
    )
    .pluck()
  const seriesOf = db
    .prepare<[number, string, string], number>(
      raw`SELECT ${series.id} FROM ${series} WHERE ${series.queryId} = ? AND ${series.target} = ? AND ${series.rankKind} = ?`,
    )
    .pluck()
  const hasDay = db.prepare<[number, number]>(
    raw`SELECT 1 FROM ${observations} WHERE ${observations.seriesId} = ? AND ${observations.day} = ?`,
  )
  const hasAnswer = db.prepare<[number, number]>(
    raw`SELECT 1 FROM ${answers} WHERE ${answers.queryId} = ? AND ${answers.day} = ?`,
  )
  return {
    queriesOf: (key: Buffer) => queriesOf.all(key, besides),
    seriesOf: (query: number, target: string, ruler: string) => seriesOf.all(query, target, ruler),
    hasDay: (of: number, day: number) => hasDay.get(of, day) !== undefined,
    hasAnswer: (query: number, day: number) => hasAnswer.get(query, day) !== undefined,
  }
}

/** Which of two observations of one day stays. */
const replaces = {
  last: `excluded.state <> ${unknown} OR imported_observations.state = ${unknown}`,
  best: `excluded.state < imported_observations.state OR excluded.state = ${ranked} AND imported_observations.state = ${ranked}
      AND excluded.rank < imported_observations.rank`,
}

function observationsInserter(db: Database, sameDay: 'last' | 'best') {
  const columns = ['series_id', 'day', 'state', 'rank', 'depth', 'link_id', 'reason', 'file_id']
  const taken = columns.slice(2).map((column) => `${column} = excluded.${column}`)
  const row = `(${columns.map(() => '?').join(', ')})`
  const prepare = (rows: number) =>
    db.prepare(
      `INSERT INTO imported_observations (${columns.join(', ')}) VALUES ${Array(rows).fill(row).join(', ')}
        ON CONFLICT (series_id, day) DO UPDATE SET ${taken.join(', ')} WHERE ${replaces[sameDay]}`,
    )
  const [many, one] = [prepare(together), prepare(1)]
  return (rows: readonly number[], batch: Int32Array): void => {
    for (let from = 0; from < rows.length; ) {
      const step = rows.length - from >= together ? together : 1
      const values: (number | null)[] = []
      for (let index = from; index < from + step; index++)
        for (let field = 0; field < fields; field++) {
          const value = batch[(rows[index] as number) * fields + field] as number
          values.push(value === none ? null : value)
        }
      ;(step === 1 ? one : many).run(values)
      from += step
    }
  }
}

function summaryOf(
  db: Database,
  {
    firstSeries,
    firstQuery,
    reasons,
  }: { firstSeries: number; firstQuery: number; reasons: readonly string[] },
) {
  const own = `FROM imported_observations WHERE series_id >= ${firstSeries}`
  const number = (statement: string): number => Number(db.prepare(statement).pluck().get())
  const states = db
    .prepare<[], { state: number; reason: number | null; count: number }>(
      `SELECT state, reason, count(*) AS count ${own} GROUP BY state, reason`,
    )
    .all()
  const ofState = (state: number): number =>
    states.reduce((sum, one) => sum + (one.state === state ? one.count : 0), 0)
  const span = db
    .prepare<[], { first: string | null; last: string | null; days: number }>(
      `SELECT date(min(day) * 86400, 'unixepoch') AS first, date(max(day) * 86400, 'unixepoch') AS last, count(*) AS days
        FROM (SELECT DISTINCT day ${own} UNION SELECT day FROM imported_answers_ WHERE query_id >= ${firstQuery})`,
    )
    .get()
  return {
    queries: number(`SELECT count(*) FROM imported_queries WHERE id >= ${firstQuery}`),
    series: number(`SELECT count(*) FROM imported_series WHERE id >= ${firstSeries}`),
    days: span?.days ?? 0,
    firstDay: span?.first ?? null,
    lastDay: span?.last ?? null,
    ranked: ofState(ranked),
    absent: ofState(absent),
    unknown: ofState(unknown),
    answers: number(`SELECT count(*) FROM imported_answers_ WHERE query_id >= ${firstQuery}`),
    reasons: Object.fromEntries(
      states.flatMap(({ reason, count }) => (reason === null ? [] : [[reasons[reason] ?? '', count]])),
    ),
    repeats: number(`SELECT count(*) FROM imported_series WHERE id >= ${firstSeries} AND repeats = 1`),
  }
}

/** Ten observations of each state at most. */
function someRows(db: Database, id: number, summary: ImportSummary): readonly ImportedRow[] {
  const rows = db.prepare<[number, string], ImportedRow>(
    'SELECT * FROM imported_rankings WHERE import_id = ? AND state = ? LIMIT 10',
  )
  return (['ranked', 'absent', 'unknown'] as const).flatMap((state) =>
    summary[state] === 0 ? [] : rows.all(id, state),
  )
}

/** The queries of an import with the targets that they were followed for. */
function trackedQueries(db: Database, id: number) {
  return db
    .prepare<
      [number],
      Omit<ImportedRow, 'date'> & { volume: number | null; tags: string; target: string | null }
    >(
      `SELECT q.text AS query, q.gl, q.hl, q.location, q.device, q.engine, q.volume, q.tags, q.url, s.target
        FROM imported_queries q LEFT JOIN imported_series s ON s.query_id = q.id WHERE q.import_id = ? ORDER BY q.id, s.id`,
    )
    .all(id)
}

/** Removes all of an import, in one change; false where there is none of that number. For a process that holds the lock of the database. */
export async function undoImport(path: string, id: number): Promise<boolean> {
  const db = await openDatabase(path)
  try {
    return db.transaction(() => removeImport(db, id)).immediate()
  } catch (error) {
    throw describeError(error, path)
  } finally {
    db.close()
  }
}

/** In the transaction of the caller. */
export function removeImport(db: Database, id: number): boolean {
  const own = raw`SELECT ${queries.id} FROM ${queries} WHERE ${queries.importId} = @id`
  for (const statement of [
    raw`DELETE FROM ${observations} WHERE ${observations.seriesId} IN (SELECT ${series.id} FROM ${series} WHERE ${series.queryId} IN (${own}))`,
    raw`DELETE FROM ${answers} WHERE ${answers.queryId} IN (${own})`,
    raw`DELETE FROM ${series} WHERE ${series.queryId} IN (${own})`,
    raw`DELETE FROM ${queries} WHERE ${queries.importId} = @id`,
    raw`DELETE FROM ${links} WHERE ${links.importId} = @id`,
    raw`DELETE FROM ${files} WHERE ${files.importId} = @id`,
  ])
    db.prepare(statement).run({ id })
  return db.prepare(raw`DELETE FROM ${imports} WHERE ${imports.id} = @id`).run({ id }).changes > 0
}
