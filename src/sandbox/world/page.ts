import type { BillableOperation } from '../../catalog/operation.ts'
import type { PageShape, Positions } from '../options.ts'
import type { Asked } from '../validate.ts'
import { mix } from './hash.ts'

/** The part of all results that one page shows. */
export interface Page {
  /** Indices of the first result and of the one after the last. */
  readonly start: number
  readonly end: number
  /** Number of the page, from 1. */
  readonly current: number
  readonly hasNext: boolean
  readonly firstPosition: number
}

/** Results per page where the document names no size, by what is listed. */
const undocumentedSizes: Readonly<Record<string, number>> = { image: 20, reference: 8 }

/** Cuts the page that was asked for out of `found` results: GET names the page, POST the results to skip. */
export function cutPage(
  operation: BillableOperation,
  asked: Asked,
  look: { readonly pages: PageShape; readonly positions: Positions },
  found: number,
  hash: number,
): Page {
  const size =
    typeof asked.params.num === 'number'
      ? asked.params.num
      : (operation.paging?.pageSize ?? undocumentedSizes[operation.kind] ?? 10)
  const offset = asked.style === 'post' ? (asked.page ?? 0) : ((asked.page ?? 1) - 1) * size
  const shared = look.pages === 'overlap' ? Math.ceil(size / 4) : 0
  const first = Math.floor((offset * (size - Math.min(shared, size - 1))) / size)
  const start = Math.min(found, first)
  const whole = Math.min(found, first + size)
  const missing = look.pages === 'short' ? mix(hash, offset) % Math.max(1, Math.ceil(size * 0.45)) : 0
  return {
    start,
    end: Math.max(start, whole - missing),
    current: Math.floor(offset / size) + 1,
    hasNext: operation.paging !== null && whole < found,
    firstPosition: look.positions === 'continue' ? first + 1 : 1,
  }
}
