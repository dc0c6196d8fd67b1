import { setTimeout as sleep } from 'node:timers/promises'
import { normaliserVersion } from '../catalog/answers.ts'
import { readPart } from '../catalog/operation.ts'
import { parseStored } from '../collect/answers.ts'
import type { JobSettings } from '../model/job.ts'
import type { Task } from '../model/run.ts'
import { count } from '../model/text.ts'
import { scoreQuery } from '../rank/paging.ts'
import type { ReadAnswer } from '../store/journal.ts'
import type { Store } from '../store/sqlite/open.ts'
import type { DeriveFilter, RejectedAnswer } from '../store/sqlite/results/derive.ts'

/** After this long, other processes may write: one may be collecting. */
const longestStretchMs = 300
/** A process that waits for the database tries again within this time. */
const pauseMs = 120

/** Lets others write now and then. */
function pauses(): () => Promise<void> {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < longestStretchMs) return
    await sleep(pauseMs)
    since = performance.now()
  }
}

/** Gives targets that are new to a job their history from what is stored, and reports how many queries were evaluated. */
export async function backfillAndNotify(
  store: Store,
  settings: Pick<JobSettings, 'name' | 'targets'>,
  newest: number | null,
  notify: (line: string) => void,
): Promise<void> {
  const looked = await backfillTargets(store, settings, newest, pauses())
  if (looked > 0)
    notify(
      `${settings.name}: targets are new; ${count(looked, 'stored query was', 'stored queries were')} evaluated again for them, at no cost.`,
    )
}

/**
 * Gives targets that are new to a job their whole history, from what is stored and at no cost. Whatever is done at once
 * stays done, so that the next process goes on with what one left that died.
 *
 * @param newest a run whose queries may have targets of their own; null where none was planned
 * @param between after each change, before the next one
 * @returns how many queries of earlier runs were looked at again
 */
export async function backfillTargets(
  store: Pick<Store, 'runsToBackfill' | 'backfill' | 'countRanks'>,
  { name, targets }: Pick<JobSettings, 'name' | 'targets'>,
  newest: number | null,
  between: () => Promise<void> = async () => {},
): Promise<number> {
  let looked = 0
  for (const run of store.runsToBackfill(name, targets, newest))
    for (let after: number | null = 0; after !== null; ) {
      const step = await store.backfill({ run, targets, newest, after }, (query) => scoreQuery(query))
      looked += step.looked
      after = step.next
      await between()
    }
  if (looked > 0) await store.countRanks()
  return looked
}

/** What deriving again comes to where there is nothing to derive. */
const nothingDerived = {
  queries: 0,
  answers: 0,
  /** Results that are there now. */
  results: 0,
  /** Items of answers that are none and were kept as they were sent. */
  malformed: 0,
  /** Answers that cannot be read; earlier results of them stay. */
  unreadable: 0,
  /** Answers that were read and say nothing. */
  unusable: 0,
  /** Observations that are another state or rank than before. */
  changed: 0,
  /** Tasks that had failed and are done now. */
  repaired: 0,
  /** Tasks that were done and have failed now, because their answer says nothing. */
  failed: 0,
}

/** What deriving again came to. */
export type Renormalised = Readonly<typeof nothingDerived>

/** What deriving again comes to, and the runs that have answers that cannot be read. */
interface Deriving {
  readonly total: typeof nothingDerived
  readonly unreadableRuns: Set<number>
}

/** Queries that share a commit. */
const portion = 50

/** Derives results, ranks and observations again from stored answers; calls nothing. What was done stays done. */
export async function renormalise(
  store: Store,
  which: DeriveFilter,
  onProgress: (done: Renormalised) => void,
): Promise<Renormalised & { readonly unreadableRuns: readonly number[] }> {
  const deriving: Deriving = { total: { ...nothingDerived }, unreadableRuns: new Set() }
  const { total, unreadableRuns } = deriving
  let after = 0
  await store.mendLinks()
  for (;;) {
    const queries = store.queriesToDerive(which, after, portion)
    const last = queries.at(-1)
    if (last === undefined) return { ...total, unreadableRuns: [...unreadableRuns].sort((a, b) => a - b) }
    await Promise.all(queries.map((query) => deriveOne(store, query, which, deriving)))
    after = last.queryId
    onProgress(total)
  }
}

type QueryToDerive = ReturnType<Store['queriesToDerive']>[number]

async function deriveOne(
  store: Store,
  query: QueryToDerive,
  which: DeriveFilter,
  deriving: Deriving,
): Promise<void> {
  const reads = readAll(store, query, which, deriving)
  const { total } = deriving
  total.queries += 1
  if (reads.length === 0) return
  const derived = await store.rederive(query.queryId, reads, (stored) => scoreQuery(stored))
  total.changed += derived.changed
  total.repaired += derived.repaired
  total.failed += derived.failed
}

function readAll(
  store: Store,
  { queryId, operation, text, params }: QueryToDerive,
  which: DeriveFilter,
  { total, unreadableRuns }: Deriving,
): readonly (ReadAnswer | RejectedAnswer)[] {
  const reads: (ReadAnswer | RejectedAnswer)[] = []
  const asked = { operation, text, params: JSON.parse(params) as Task['params'] }
  for (const { answerId, page, fetchedAt, body } of store.bodiesOf(queryId, which)) {
    // What is not a JSON object was never counted as an answer: it was damaged since.
    const sound = body === null || readPart.fields(readPart.json(body)) === null ? null : body
    const parsed = sound === null ? null : parseStored({ ...asked, page }, sound, fetchedAt)
    if (parsed === null || ('reason' in parsed && parsed.isOurError === true)) {
      total.unreadable += 1
      for (const run of store.runsOfAnswer(answerId)) unreadableRuns.add(run)
      continue
    }
    if ('reason' in parsed) {
      total.unusable += 1
      reads.push({ answerId, reason: parsed.reason })
      continue
    }
    total.answers += 1
    total.results += parsed.results.length
    total.malformed += parsed.malformed.length
    reads.push({
      answerId,
      normaliser: normaliserVersion,
      says: parsed,
    })
  }
  return reads
}
