import type { Database } from 'better-sqlite3'
import { kindCodes } from '../../model/result.ts'
import type { RankedItem } from '../../rank/pages.ts'

/** A result that has a rank, with the numbers of its words. */
export interface StoredItem extends RankedItem {
  readonly linkId: number | null
  readonly titleId: number | null
}

/** The results of answers that have ranks: those of the pages that came last are remembered. */
export interface Items {
  /** In the order of the page. */
  of(answerId: number): readonly StoredItem[]
  /** Notes what was stored of an answer in place of all that was stored before. */
  note(answerId: number, items: readonly StoredItem[]): void
  forget(): void
}

/** Between this many and twice as many are remembered: the pages of a query mostly come soon after each other. */
const remembered = 10_000

type Row = readonly [
  link: string | null,
  sameAs: number | null,
  linkId: number | null,
  titleId: number | null,
]

export function answerItems(db: Database): Items {
  // Related searches come along with web results and have no rank over pages.
  const read = db
    .prepare<[number], Row>(
      `SELECT l.link, coalesce(l.same_as, l.id), x.link_id, x.title_id FROM results x LEFT JOIN links l ON l.id = x.link_id
      WHERE x.answer_id = ? AND x.kind <> ${kindCodes.related} ORDER BY x.kind, x.place`,
    )
    .raw()
  let young = new Map<number, readonly StoredItem[]>()
  let old = new Map<number, readonly StoredItem[]>()
  let held = 0

  const note = (answerId: number, items: readonly StoredItem[]): void => {
    if (held >= remembered) {
      old = young
      young = new Map()
      held = 0
    }
    young.set(answerId, items)
    held += items.length
  }
  return {
    of: (answerId) => {
      const known = young.get(answerId) ?? old.get(answerId)
      if (known !== undefined) return known
      const items = read
        .all(answerId)
        .map(([link, sameAs, linkId, titleId]) => ({ link, sameAs, linkId, titleId }))
      note(answerId, items)
      return items
    },
    note,
    forget: () => {
      young = new Map()
      old = new Map()
      held = 0
    },
  }
}
