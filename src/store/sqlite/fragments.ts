import type { TimeSpan } from '../../model/time.ts'
import { type EndKind, isFinal } from '../../rank/paging.ts'
import { damagedMark } from '../compression.ts'
import { unusableMark } from './schema.ts'

/**
 * Condition on an answer `a` for other tasks to use it: one that made its task fail would make others fail, too, and
 * that task may have been made to wait again since; one whose body was dropped, or is damaged, cannot be read again.
 */
export const understood = `a.normaliser IS NOT ${unusableMark}
  AND NOT EXISTS (SELECT 1 FROM tasks_ f WHERE f.answer_id = a.id AND f.state NOT IN ('answered', 'done'))
  AND EXISTS (SELECT 1 FROM raw_answers b WHERE b.answer_id = a.id AND b.encoding NOT LIKE '${damagedMark}%')`

/** The same for runs that did not ask for it: what repeats another question than asked is no answer to theirs. */
export const reusable = `${understood} AND a.echo_mismatch IS NULL`

/** Condition on an answer `a`: it was fetched in the time of `freshValues`, numbered where there are several. */
export function isFresh(number: number | '' = ''): string {
  return `a.fetched_at >= @freshFrom${number} AND a.fetched_at < @freshUntil${number}`
}

/** The values of that condition; where no answer may be used, none is fresh. */
export function freshValues(fresh: TimeSpan | null) {
  return { freshFrom: fresh?.from ?? Number.MAX_SAFE_INTEGER, freshUntil: fresh?.until ?? 0 }
}

const kinds = (Object.keys(isFinal) as EndKind[]).filter((kind) => isFinal[kind])

/** Condition on the `paging_kind` of a query: a deeper plan would still ask for nothing. */
export const finalKinds = `(${kinds.map((kind) => `'${kind}'`).join(', ')})`
