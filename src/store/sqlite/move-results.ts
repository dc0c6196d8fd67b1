import type { Database } from 'better-sqlite3'
import { raw } from './connection/statements.ts'
import { type ItemTexts, itemHash, sizeOf } from './results/dictionary.ts'
import { storedPositions } from './results/write-results.ts'
import { answers, items, links, texts } from './schema.ts'

/** A row of the former table of results: its place, and the numbers of its link and of its texts. */
type ResultRowOfBefore = readonly [
  answer: number,
  kind: number,
  position: number | null,
  ...names: (number | null)[],
]

/** How many of its columns are the numbers of what it says. */
const names = 6
/** Answers that are moved in one change. */
const portion = 2_000

/**
 * Moves results from a row for each into lists of items, for a database from before 2026-11-26. Where it was interrupted it goes on: of
 * answers that have their lists it learns which items there are.
 */
export function moveResults(db: Database): void {
  const read = db
    .prepare<[number, number], ResultRowOfBefore>(
      `SELECT answer_id, kind, position, link_id, title_id, snippet_id, source_id, displayed_link_id, matched_id FROM results
      WHERE answer_id > ? AND answer_id <= ? ORDER BY answer_id, kind, place`,
    )
    .raw()
  const listsOf = db
    .prepare<[number], string | null>(raw`SELECT ${answers.items} FROM ${answers} WHERE ${answers.id} = ?`)
    .pluck()
  const setLists = db.prepare(
    raw`UPDATE ${answers} SET ${answers.items} = ?, ${answers.positions} = ? WHERE ${answers.id} = ?`,
  )
  const known = itemsByNames()
  const addItem = itemAdder(db)

  const move = (rows: readonly ResultRowOfBefore[]): void => {
    const [[answer] = [0]] = rows
    const before = listsOf.get(answer)
    const moved = before == null ? null : (JSON.parse(before) as Record<string, number[]>)
    const lists: Record<number, number[]> = {}
    const positions: Record<number, (number | null)[]> = {}
    for (const [, kind, position, ...named] of rows) {
      lists[kind] ??= []
      positions[kind] ??= []
      const list = lists[kind]
      const id = known.find(named) || (moved?.[kind]?.[list.length] ?? addItem(named))
      known.note(named, id)
      list.push(id)
      positions[kind].push(position)
    }
    if (moved === null) setLists.run(JSON.stringify(lists), storedPositions(positions), answer)
  }

  const movePortion = db.transaction((after: number) => {
    const rows = read.all(after, after + portion)
    for (let from = 0; from < rows.length; ) {
      const answer = rows[from]?.[0]
      let to = from
      while (rows[to]?.[0] === answer) to += 1
      move(rows.slice(from, to))
      from = to
    }
  })
  const last = db.prepare<[], number | null>('SELECT max(answer_id) FROM results').pluck().get() ?? 0
  for (let after = 0; after < last; after += portion) movePortion.immediate(after)
}

/** Inserts what the numbers of a row of results name. */
function itemAdder(db: Database): (named: readonly (number | null)[]) => number {
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
  return ([link = null, title, snippet, source, displayedLink, matched]) => {
    const says: ItemTexts = {
      title: text(title),
      snippet: text(snippet),
      source: text(source),
      displayedLink: text(displayedLink),
      matched: text(matched),
    }
    const hash = itemHash(link === null ? null : (linkOf.get(link) ?? null), says)
    const values = [says.title, says.snippet, says.source, says.displayedLink, says.matched]
    return Number(insert.run(hash, sizeOf(says), link, ...values).lastInsertRowid)
  }
}

/** Items by the numbers of what they say: for millions, a tenth of the memory of a Map. */
function itemsByNames() {
  let count = 0
  let slots = new Int32Array(1 << 16)
  // The numbers of each item, then its own.
  let rows = new Int32Array((names + 1) * (slots.length / 2))
  const slotOf = (at: number): number => {
    let hash = 0
    for (let column = 0; column < names; column++)
      hash = Math.imul(hash ^ (rows[at + column] as number), 0x9e3779b1) ^ (hash >>> 15)
    return (hash >>> 0) & (slots.length - 1)
  }
  const isSame = (at: number, other: number): boolean => {
    for (let column = 0; column < names; column++)
      if (rows[at + column] !== rows[other + column]) return false
    return true
  }
  /** Puts the numbers behind those of the last item, and says which slot is theirs. */
  const seek = (named: readonly (number | null)[]): number => {
    const at = count * (names + 1)
    for (let column = 0; column < names; column++) rows[at + column] = named[column] ?? 0
    return freeOrSame(at)
  }
  const freeOrSame = (at: number): number => {
    let slot = slotOf(at)
    for (let item = slots[slot] as number; item > 0; item = slots[slot] as number) {
      if (isSame(at, (item - 1) * (names + 1))) break
      slot = (slot + 1) & (slots.length - 1)
    }
    return slot
  }
  const grow = (): void => {
    const before = rows
    slots = new Int32Array(slots.length * 2)
    rows = new Int32Array((names + 1) * (slots.length / 2))
    rows.set(before)
    for (let item = 1; item <= count; item++) slots[freeOrSame((item - 1) * (names + 1))] = item
  }
  return {
    find: (named: readonly (number | null)[]): number => {
      const item = slots[seek(named)] as number
      return item === 0 ? 0 : (rows[(item - 1) * (names + 1) + names] as number)
    },
    note: (named: readonly (number | null)[], id: number): void => {
      const slot = seek(named)
      if (slots[slot] !== 0) return
      rows[count * (names + 1) + names] = id
      count += 1
      slots[slot] = count
      if ((count + 1) * 2 >= slots.length) grow()
    },
  }
}
