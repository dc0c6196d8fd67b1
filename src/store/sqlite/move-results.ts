import type { Database } from 'better-sqlite3'
import { raw } from './connection/statements.ts'
import { type ItemTexts, itemHash, sizeOf } from './results/dictionary.ts'
import { storedPositions } from './results/write-results.ts'
import { answers, items, links, texts } from './schema.ts'

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
    const hash = itemHash(link === null ? null : (linkOf.get(link) ?? null), says)
    const values = [says.title, says.snippet, says.source, says.displayedLink, says.matched]
    return Number(insert.run(hash, sizeOf(says), link, ...values).lastInsertRowid)
  }
}

/** Columns of numbers, a row of which names what a result says. */
type Names = readonly (readonly (number | null)[])[]

/** Items by the numbers of what they say: for millions, a tenth of the memory of a Map. */
function itemsByNames() {
  const width = named.length + 1
  let count = 0
  let slots = new Int32Array(1 << 16)
  // The numbers of each item, then its own.
  let rows = new Int32Array(width * (slots.length / 2))
  const slotOf = (at: number): number => {
    let hash = 0
    for (let column = at; column < at + named.length; column++)
      hash = Math.imul(hash ^ (rows[column] as number), 0x9e3779b1) ^ (hash >>> 15)
    return (hash >>> 0) & (slots.length - 1)
  }
  const isSame = (at: number, other: number): boolean => {
    for (let column = 0; column < named.length; column++)
      if (rows[at + column] !== rows[other + column]) return false
    return true
  }
  const freeOrSame = (at: number): number => {
    let slot = slotOf(at)
    for (let item = slots[slot] as number; item > 0; item = slots[slot] as number) {
      if (isSame(at, (item - 1) * width)) break
      slot = (slot + 1) & (slots.length - 1)
    }
    return slot
  }
  const grow = (): void => {
    const before = rows
    slots = new Int32Array(slots.length * 2)
    rows = new Int32Array(width * (slots.length / 2))
    rows.set(before)
    for (let item = 1; item <= count; item++) slots[freeOrSame((item - 1) * width)] = item
  }
  return {
    /** The number of the item that a row names; `found` finds it where it is the first such row. */
    numberOf: (names: Names, row: number, found: () => number): number => {
      // Behind those of the last item.
      const at = count * width
      for (let column = 0; column < named.length; column++)
        rows[at + column] = (names[column] as Names[number])[row] ?? 0
      const slot = freeOrSame(at)
      const item = slots[slot] as number
      if (item > 0) return rows[item * width - 1] as number
      const id = found()
      rows[at + named.length] = id
      count += 1
      slots[slot] = count
      if ((count + 1) * 2 >= slots.length) grow()
      return id
    },
  }
}
