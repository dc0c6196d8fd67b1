import type { FinishReason } from '../../model/run.ts'

/** What alert rules are given: plain values, read from the store once per run. */

/** One answered observation of a query's target. Those that are unknown, or rest on an answer to another question, are left out. */
export interface AnsweredObservation {
  /** Null where the target was absent. */
  readonly rank: number | null
  /** Results looked at without a gap; the planned number where all planned pages were. */
  readonly depth: number
  /** Pages looked at without a gap, all planned ones where the results ended; null in old rows. */
  readonly pages: number | null
  /** Number of the link of the page that ranks; null where none does. */
  readonly link: number | null
}

export interface WatchedQuery {
  readonly id: number
  /** Hexadecimal. */
  readonly key: string
  readonly text: string
  /** Parameters that tell it apart from another query of the same text; empty where there is none. */
  readonly variant: string
  readonly tags: readonly string[]
  readonly operation: string
  /** As in `en-us Austin`; empty where it names none. */
  readonly locale: string
  /** Searches a month. */
  readonly volume: number | null
  /** Its answers cite pages, and do not rank them. */
  readonly cites: boolean
}

export interface AlertTarget {
  readonly site: string
  readonly match: string
  readonly label: string
  readonly own: boolean
}

/** A target of a query that the run has an answer for. */
export interface WatchedPair {
  readonly query: WatchedQuery
  readonly target: AlertTarget
  /** The oldest first; the last one is the run's. */
  readonly observations: readonly AnsweredObservation[]
}

/** The other sites among the first results of a query in one run. */
export interface SiteList {
  /** Best rank by site. */
  readonly ranks: ReadonlyMap<string, number>
  /** Results checked without a gap; infinite where the results ended there. */
  readonly depth: number
}

export interface WatchedSerp {
  readonly query: WatchedQuery
  /** The oldest first; the last one is the run's. */
  readonly lists: readonly SiteList[]
}

/** How a run went as a whole. Null is not known: then nothing begins and nothing is over. */
export interface RunHealth {
  readonly finishReason: FinishReason
  /** It stopped for a cause that stops other jobs, too: that is told of all of them. */
  readonly hasCause: boolean
  readonly tasks: { readonly planned: number; readonly done: number; readonly failed: number }
  /** Answers that repeat a different query than asked. */
  readonly mismatched: number
  /** Credits that the service counted and no call explains. */
  readonly unexplained: number | null
  /** Credits. */
  readonly balance: number | null
  /** Days that the balance lasts at the recent spending. */
  readonly daysLeft: number | null
}

/** An alert that began and is not over. */
export interface OpenAlert {
  readonly before: number | string | null
  readonly now: number | string | null
}

/** What a rule says of one thing that it watches: it begins, or it is over. */
export interface RuleVerdict {
  readonly state: 'open' | 'over'
  readonly before: number | string | null
  readonly now: number | string | null
  /** One sentence for people. */
  readonly text: string
  /** Number of the link that ranks, or ranked before; missing where it is about no page. */
  readonly link?: number | null
  /** The rank of a page, where it is not what was and what is now. */
  readonly rank?: number | null
}

/*
 * Truth table of `confirm`. B is the observation before, x one that says what the rule watches compared with B, and - one that does
 * not. What cannot be compared with B is left out, wherever it stands.
 *
 *   confirm  begins with the last of   does not begin
 *   1        B x                       B -    B x x (has begun before)
 *   2        B x x    B x - x          B x    B x -    B x x x (has begun before)
 *   3        B x x x                   B x x  B x - x x (four observations)
 */

/** Whether an observation says it, compared with an earlier one; null where the two cannot be compared. */
export type Says<T> = (before: T, now: T) => boolean | null

/** What an alert begins with. */
export interface AlertStart<T> {
  readonly before: T
  readonly now: T
}

/** Observations within which a rule is confirmed. */
const within = 3

/**
 * The observation before and the last one, if an alert begins with the last one; null if none begins. It begins if, of at most three
 * observations that follow the one before, exactly `confirm` say it, among them the first and the last. The oldest comes first.
 */
export function confirmedStart<T>(
  observations: readonly T[],
  says: Says<T>,
  confirm: number,
): AlertStart<T> | null {
  const now = observations.at(-1)
  if (now === undefined) return null
  for (let at = observations.length - 2; at >= 0; at--) {
    const before = observations[at] as T
    if (says(before, now) !== true) continue
    const said = observations.slice(at + 1).flatMap((observation) => says(before, observation) ?? [])
    if (said[0] !== true || said.length > within) continue
    if (said.filter(Boolean).length === confirm) return { before, now }
  }
  return null
}
