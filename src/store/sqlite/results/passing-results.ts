import type { Database } from 'better-sqlite3'
import { pageAddress } from '../../../model/url.ts'
import type { ReadAnswer } from '../../results.ts'
import type { PageItems, StoreCache, StoredItem } from '../cache.ts'
import { updateOrFail } from '../connection/statements.ts'
import { type ResultWriter, rankedInOrder } from './write-results.ts'

/** The results of a store that is gone with its chunk: every one of them is remembered, and nothing else has them. */
export function passingItems(): PageItems {
  const known = new Map<number, readonly StoredItem[]>()
  return {
    of: (answerId) => known.get(answerId) ?? [],
    remember: (answerId, items) => void known.set(answerId, items),
    // They are no rows that a rollback takes back, and no other connection changes them.
    forget: () => {},
  }
}

/**
 * Keeps of an answer what decides on the pages after it, for a store that is gone with its chunk: its results are stored by those who
 * read the shared journal. Counterpart of `resultWriter`.
 */
export function passingResultWriter(db: Database, { items: known }: Pick<StoreCache, 'items'>): ResultWriter {
  const writeFacts = db.prepare(
    `${updateOrFail} answers_ SET normaliser = ?, has_next_page = ?, next_page = ?, echo_mismatch = ? WHERE id = ?`,
  )
  const numbers = new Map<string, number>()
  const numberOf = (link: string): number => {
    const page = pageAddress(link)
    const number = numbers.get(page) ?? numbers.size + 1
    numbers.set(page, number)
    return number
  }
  const keep = ({ answerId, normaliser, says: { results, facts, echoMismatch } }: ReadAnswer): void => {
    const hasNext = facts.hasNextPage === null ? null : Number(facts.hasNextPage)
    const mismatch = echoMismatch === null ? null : JSON.stringify(echoMismatch)
    writeFacts.run(normaliser, hasNext, facts.nextPage, mismatch, answerId)
    const items = rankedInOrder(results).map(({ link }) => ({
      link: link?.toWellFormed() ?? null,
      sameAs: link === null ? null : numberOf(link.toWellFormed()),
      linkId: null,
      title: null,
    }))
    known.remember(answerId, items)
  }
  return { prepare: () => {}, keep }
}
