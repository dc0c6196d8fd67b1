import type { Target } from './target.ts'

export type PagingPolicy = 'all' | 'until-found' | 'smart'
export type AsyncPolicy = 'auto' | 'always' | 'never'

/** Everything that holds for a whole job; plain data, kept with each run of it. */
export interface JobSettings {
  readonly name: string
  /** Absolute path of the job file, or `noFile`. */
  readonly file: string
  readonly style: 'get' | 'post'
  readonly async: AsyncPolicy
  readonly paging: PagingPolicy
  /** Whose ranks `until-found` waits for: the own targets, or competitors too. */
  readonly until: 'own' | 'all'
  /** How often at least `smart` paging looks in depth for targets that are not found, in milliseconds. */
  readonly deepEveryMs: number
  /** A stored answer to the same call is used while it is younger than this many milliseconds; null is never. */
  readonly freshnessMs: number | null
  /** An answer that repeats another question than asked says nothing of any rank; otherwise what rests on it is suspect. */
  readonly strictEcho: boolean
  /** IANA time zone whose days are the job's days. */
  readonly timezone: string
  /** Cron expression, or null. */
  readonly schedule: string | null
  /** Own targets and competitors, in the order of the file. */
  readonly targets: readonly Target[]
  readonly budget: Budget
}

/** How often `smart` looks in depth where nobody says. */
export const defaultDeepEveryMs = 7 * 86_400_000

/** Limits in credits; null is no limit. */
export interface Budget {
  /** A run may cost this much over all its continuations. */
  readonly maxCredits: number | null
  /** This much of the balance stays untouched. */
  readonly keep: number | null
}

/** One query that a job asks for: checked, with one operation and all its params. */
export interface JobQuery {
  readonly operation: string
  readonly text: string
  /** Checked against the operation; keys in alphabetical order. */
  readonly params: Readonly<Record<string, string | number>>
  /** Look at this many results; null where `pages` says it. */
  readonly depth: number | null
  readonly pages: number | null
  readonly tags: readonly string[]
  /** Higher is bought first. */
  readonly priority: number
  /** Searches per month, or null. */
  readonly volume: number | null
  /** The page that is meant to rank, or null. */
  readonly url: string | null
  /** Other columns of the row, given back in exports. */
  readonly labels: Readonly<Record<string, string>>
  /** Targets that only this query has. */
  readonly targets: readonly Target[]
  /** Where it stands. */
  readonly source: { readonly file: string; readonly line: number }
}

/** Stands for the file of a job that came through standard input: no file has that absolute path. */
export const noFile = '-'

/** A mistake in a job file or in a flag: shown as `file:line:column: what; instead`. */
export interface Problem {
  /** File as the user named it, or the flag. */
  readonly where: string
  readonly line: number | null
  readonly column: number | null
  readonly what: string
  readonly instead: string
}
