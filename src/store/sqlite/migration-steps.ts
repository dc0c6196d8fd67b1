import type { Database } from 'better-sqlite3'
import { inOneSpelling, mergeLabels } from '../../model/query.ts'
import { raw } from './connection/statements.ts'
import { checksums, type ItemTexts } from './results/dictionary.ts'
import { storedPositions } from './results/write-results.ts'
import { answers, items, links, texts } from './schema.ts'

/*
 * A step of one migration, so it names tables as they were then. Before it `US` and `us`, or a text with one space and one with two,
 * were queries of their own. Each gets its one spelling, and what was one query in truth has one history.
 */

interface StoredQuery {
  readonly id: number
  readonly key: Buffer
  readonly operation: string
  readonly text: string
  readonly params: string
}

/** Gives each stored query its one spelling and joins those that become the same. Inside a transaction. */
export function joinSpellings(db: Database): void {
  const find = db.prepare<[Buffer], { id: number }>('SELECT id FROM queries WHERE key = ?')
  const rename = db.prepare('UPDATE queries SET key = ?, text = ?, params = ? WHERE id = ?')
  const keepFormer = db.prepare(
    'INSERT INTO queries (key, operation, text, params, same_as) VALUES (?, ?, ?, ?, ?)',
  )
  const follow = db.prepare('UPDATE queries SET same_as = ? WHERE id = ?')
  const withAlerts = new Set(db.prepare<[], number>('SELECT query_id FROM alerts').pluck().all())
  for (const query of otherwiseSpelt(db)) {
    const { id, key, operation, text, params } = query
    const normal = inOneSpelling(query)
    const known = find.get(normal.key)?.id
    if (known === undefined) {
      rename.run(normal.key, normal.text, normal.params, id)
      keepFormer.run(key, operation, text, params, id)
    } else {
      joinQueries(db, known, id)
      follow.run(known, id)
    }
    if (withAlerts.has(id))
      renameAlerts(db, { query: known ?? id, former: id, key: normal.key.toString('hex') })
  }
}

/** All at once, because they are changed while they are looked at; few databases have any. */
function otherwiseSpelt(db: Database): readonly StoredQuery[] {
  const found: StoredQuery[] = []
  const all = db.prepare<[], StoredQuery>('SELECT id, key, operation, text, params FROM queries ORDER BY id')
  for (const query of all.iterate()) {
    const normal = inOneSpelling(query)
    const isOther = normal.text !== query.text || normal.params !== query.params
    // A text of nothing but marks would be none.
    if (isOther && normal.text !== '') found.push(query)
  }
  return found
}

/** Gives all that is known of one query to another. What a run knows of both stays with its first answer. */
function joinQueries(db: Database, kept: number, former: number): void {
  // Run by run: no index of these tables begins with the query.
  for (const run of runsWith(db, 'run_queries', former)) {
    if (has(db, 'run_queries', run, kept)) joinInRun(db, { run, kept, former })
    else for (const table of ofRuns) move(db, { table, run, from: former, to: kept })
  }
  for (const run of runsWith(db, 'resting_queries', former)) {
    const isKnown = has(db, 'run_queries', run, kept) || has(db, 'resting_queries', run, kept)
    if (!isKnown) move(db, { table: 'resting_queries', run, from: former, to: kept })
  }
  db.prepare('DELETE FROM resting_queries WHERE query_id = ?').run(former)
  db.prepare('UPDATE answers_ SET query_id = ? WHERE query_id = ?').run(kept, former)
}

/** Tables that say what a run made of a query. */
const ofRuns = ['run_queries', 'tasks_', 'observations'] as const
type RunTable = (typeof ofRuns)[number] | 'resting_queries'

function runsWith(db: Database, table: RunTable, query: number): readonly number[] {
  return db
    .prepare<[number], number>(
      `SELECT id FROM runs_ r WHERE EXISTS (SELECT 1 FROM ${table} q WHERE q.run_id = r.id AND q.query_id = ?)`,
    )
    .pluck()
    .all(query)
}

function has(db: Database, table: RunTable, run: number, query: number): boolean {
  return db.prepare(`SELECT 1 FROM ${table} WHERE run_id = ? AND query_id = ?`).get(run, query) !== undefined
}

function move(
  db: Database,
  {
    table,
    run,
    from,
    to,
  }: { readonly table: RunTable; readonly run: number; readonly from: number; readonly to: number },
): void {
  db.prepare(`UPDATE ${table} SET query_id = ? WHERE run_id = ? AND query_id = ?`).run(to, run, from)
}

interface BothInRun {
  readonly run: number
  readonly kept: number
  readonly former: number
}

/** The tasks of the later answer stay below the former spelling, with all that was paid for them; its ranks do not count. */
function joinInRun(db: Database, { run, kept, former }: BothInRun): void {
  if (answersFirst(db, { run, kept, former }) === former) exchange(db, { run, kept, former })
  const rows = db
    .prepare<
      [number, number, number],
      {
        readonly query_id: number
        readonly tags: string
        readonly labels: string
        readonly targets: string
        readonly volume: number | null
        readonly url: string | null
        readonly plan_number: number
      }
    >('SELECT * FROM run_queries WHERE run_id = ? AND query_id IN (?, ?)')
    .all(run, kept, former)
  const first = rows.find(({ query_id }) => query_id === kept)
  const second = rows.find(({ query_id }) => query_id === former)
  if (first === undefined || second === undefined) return
  db.prepare(
    `UPDATE run_queries SET tags = @tags, labels = @labels, targets = @targets, volume = @volume, url = @url, plan_number = @plan
      WHERE run_id = @run AND query_id = @kept`,
  ).run({
    run,
    kept,
    tags: joinedLists(first.tags, second.tags),
    targets: joinedLists(first.targets, second.targets),
    labels: JSON.stringify(mergeLabels(JSON.parse(first.labels), JSON.parse(second.labels))),
    volume: first.volume ?? second.volume,
    url: first.url ?? second.url,
    plan: Math.max(first.plan_number, second.plan_number),
  })
  const loser = { run, kept, former }
  // Of a target that only the second row had, its observation is the only one.
  db.prepare(
    'UPDATE OR IGNORE observations SET query_id = @kept WHERE run_id = @run AND query_id = @former',
  ).run(loser)
  db.prepare('DELETE FROM observations WHERE run_id = ? AND query_id = ?').run(run, former)
  db.prepare('UPDATE run_queries SET plan_number = 0 WHERE run_id = ? AND query_id = ?').run(run, former)
  db.prepare(
    `UPDATE tasks_ SET state = 'skipped', cause = 'the same query is asked in another spelling'
      WHERE run_id = ? AND query_id = ? AND state IN ('pending', 'leased', 'sent', 'failed')`,
  ).run(run, former)
  db.prepare('DELETE FROM counted_runs WHERE run_id = ?').run(run)
}

/** Which of the two queries was answered first in a run; the one that is kept where neither was. */
function answersFirst(db: Database, { run, kept, former }: BothInRun): number {
  const first = db
    .prepare<[number, number, number], number>(
      `SELECT t.query_id FROM tasks_ t JOIN answers_ a ON a.id = t.answer_id
        WHERE t.run_id = ? AND t.query_id IN (?, ?) AND t.state IN ('done', 'answered')
        ORDER BY a.fetched_at, a.id LIMIT 1`,
    )
    .pluck()
    .get(run, kept, former)
  return first ?? kept
}

/** Each of the two queries takes the place of the other in a run. */
function exchange(db: Database, { run, kept, former }: BothInRun): void {
  for (const table of ofRuns) {
    move(db, { table, run, from: kept, to: -1 })
    move(db, { table, run, from: former, to: kept })
    move(db, { table, run, from: -1, to: former })
  }
}

function joinedLists(a: string, b: string): string {
  return JSON.stringify([...new Set<unknown>([...JSON.parse(a), ...JSON.parse(b)])])
}

/** Identities of alerts name the key of their query. Of two that become one, the one that began first stays open. */
function renameAlerts(
  db: Database,
  { query, former, key }: { readonly query: number; readonly former: number; readonly key: string },
): void {
  const rename = db.prepare(
    `UPDATE OR IGNORE alerts SET query_id = @query, identity = json_set(identity, '$[2]', @key)
      WHERE id = @id`,
  )
  const end = db.prepare(
    "UPDATE alerts SET state = 'over', over_at = opened_at, query_id = @query, identity = json_set(identity, '$[2]', @key) WHERE id = @id",
  )
  const ofQuery = db
    .prepare<[number], string>('SELECT id FROM alerts WHERE query_id = ? ORDER BY opened_at')
    .pluck()
  for (const id of ofQuery.all(former))
    if (rename.run({ id, query, key }).changes === 0) end.run({ id, query, key })
}

/** What the former table of results names of what a result says. */
const named = ['link_id', 'title_id', 'snippet_id', 'source_id', 'displayed_link_id', 'matched_id'] as const
/** Results of some answers in their order, as columns: rows would take several times as long to read. */
type Columns = readonly [
  answers: readonly number[],
  kinds: readonly number[],
  positions: readonly (number | null)[],
  ...names: (readonly (number | null)[])[],
]
/** Answers that are moved in one change. */
const portion = 2_000

/**
 * Moves results from a row for each into lists of items, for a database from before 2026-11-26. Where it was interrupted it goes on: of
 * answers that have their lists it learns which items there are.
 */
export function moveResults(db: Database): void {
  const columns = ['answer_id', 'kind', 'position', ...named]
  const read = db
    .prepare<[number, number], readonly string[]>(
      `SELECT ${columns.map((column) => `json_group_array(${column})`).join(', ')} FROM (
        SELECT * FROM results WHERE answer_id > ? AND answer_id <= ? ORDER BY answer_id, kind, place)`,
    )
    .raw()
  const movedOf = db
    .prepare<[number, number], readonly [id: number, items: string]>(
      raw`SELECT ${answers.id}, ${answers.items} FROM ${answers} WHERE ${answers.id} > ? AND ${answers.id} <= ?
        AND ${answers.items} IS NOT NULL`,
    )
    .raw()
  const setLists = db.prepare(
    raw`UPDATE ${answers} SET ${answers.items} = ?, ${answers.positions} = ? WHERE ${answers.id} = ?`,
  )
  const known = itemsByNames()
  const addItem = itemAdder(db)

  const movePortion = db.transaction((after: number) => {
    const texts = read.get(after, after + portion) as readonly string[]
    const [ofAnswers, kinds, positions, ...names] = texts.map((text) =>
      JSON.parse(text),
    ) as unknown as Columns
    const moved = new Map(movedOf.all(after, after + portion))
    for (let row = 0; row < ofAnswers.length; ) {
      const answer = ofAnswers[row] as number
      const before = moved.get(answer)
      const listsOfBefore = before === undefined ? null : (JSON.parse(before) as Record<string, number[]>)
      const lists: Record<number, number[]> = {}
      const placed: Record<number, (number | null)[]> = {}
      for (; ofAnswers[row] === answer; row++) {
        const kind = kinds[row] as number
        lists[kind] ??= []
        placed[kind] ??= []
        const list = lists[kind]
        const id = known.numberOf(
          names,
          row,
          () => listsOfBefore?.[kind]?.[list.length] ?? addItem(names, row),
        )
        list.push(id)
        placed[kind].push(positions[row] as number | null)
      }
      if (listsOfBefore === null) setLists.run(JSON.stringify(lists), storedPositions(placed), answer)
    }
  })
  const last = db.prepare<[], number | null>('SELECT max(answer_id) FROM results').pluck().get() ?? 0
  for (let after = 0; after < last; after += portion) movePortion.immediate(after)
}

/** Inserts what the numbers of a row of results name. */
function itemAdder(db: Database): (names: Names, row: number) => number {
  const linkOf = db
    .prepare<[number], string>(raw`SELECT ${links.link} FROM ${links} WHERE ${links.id} = ?`)
    .pluck()
  const textOf = db
    .prepare<[number], string>(raw`SELECT ${texts.text} FROM ${texts} WHERE ${texts.id} = ?`)
    .pluck()
  const insert = db.prepare(
    raw`INSERT INTO ${items} (${items.hash}, ${items.size}, ${items.linkId}, ${items.title}, ${items.snippet}, ${items.source},
      ${items.displayedLink}, ${items.matched}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const text = (id: number | null | undefined): string | null =>
    id == null ? null : (textOf.get(id) ?? null)
  return (names, row) => {
    const [link = null, title, snippet, source, displayedLink, matched] = names.map((column) => column[row])
    const says: ItemTexts = {
      title: text(title),
      snippet: text(snippet),
      source: text(source),
      displayedLink: text(displayedLink),
      matched: text(matched),
    }
    const hash = checksums.ofItem(link === null ? null : (linkOf.get(link) ?? null), says)
    const values = [says.title, says.snippet, says.source, says.displayedLink, says.matched]
    return Number(insert.run(hash, checksums.size(says), link, ...values).lastInsertRowid)
  }
}

/** Columns of numbers, a row of which names what a result says. */
type Names = readonly (readonly (number | null)[])[]

/** Items by the numbers of what they say: for millions, a tenth of the memory of a Map. */
function itemsByNames() {
  const width = named.length + 1
  let count = 0
  let places = new Int32Array(1 << 16)
  // The numbers of each item, then its own.
  let rows = new Int32Array(width * (places.length / 2))
  const placeOf = (at: number): number => {
    let hash = 0
    for (let column = at; column < at + named.length; column++)
      hash = Math.imul(hash ^ (rows[column] as number), 0x9e3779b1) ^ (hash >>> 15)
    return (hash >>> 0) & (places.length - 1)
  }
  const isSame = (at: number, other: number): boolean => {
    for (let column = 0; column < named.length; column++)
      if (rows[at + column] !== rows[other + column]) return false
    return true
  }
  const freeOrSame = (at: number): number => {
    let place = placeOf(at)
    for (let item = places[place] as number; item > 0; item = places[place] as number) {
      if (isSame(at, (item - 1) * width)) break
      place = (place + 1) & (places.length - 1)
    }
    return place
  }
  const grow = (): void => {
    const before = rows
    places = new Int32Array(places.length * 2)
    rows = new Int32Array(width * (places.length / 2))
    rows.set(before)
    for (let item = 1; item <= count; item++) places[freeOrSame((item - 1) * width)] = item
  }
  return {
    /** The number of the item that a row names; `found` finds it where it is the first such row. */
    numberOf: (names: Names, row: number, found: () => number): number => {
      // Behind those of the last item.
      const at = count * width
      for (let column = 0; column < named.length; column++)
        rows[at + column] = (names[column] as Names[number])[row] ?? 0
      const place = freeOrSame(at)
      const item = places[place] as number
      if (item > 0) return rows[item * width - 1] as number
      const id = found()
      rows[at + named.length] = id
      count += 1
      places[place] = count
      if ((count + 1) * 2 >= places.length) grow()
      return id
    },
  }
}
