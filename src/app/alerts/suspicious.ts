import { unconfirmed } from '../../alerts/rules/recheck.ts'
import { chooseRechecked } from '../../ledger/rechecks.ts'
import { isComplete, type Run } from '../../model/run.ts'
import type { QueryToRecheck } from '../../store/rechecks.ts'
import type { Store } from '../../store/store.ts'
import { observedFacts } from './facts.ts'

/**
 * The queries of a run of which a rule with `recheck` tells nothing, and would if one more look said the same: those that are looked
 * at again. None of a run that is not complete, of a second look, and of one that had its own. Stores nothing.
 */
export async function suspiciousQueries(
  store: Store,
  run: Run,
  now: number,
): Promise<readonly QueryToRecheck[]> {
  const rules = run.settings.alerts?.filter(({ recheck }) => recheck === true) ?? []
  if (rules.length === 0 || !isComplete(run.finishReason) || (await store.isRechecked(run.id))) return []
  const facts = {
    job: run.job,
    rules,
    at: now,
    health: null,
    skipped: null,
    ...(await observedFacts(store, { run, settled: new Set() }, rules)),
    // A second look can tell whether a suspect run is right.
    suspicion: null,
  }
  const muted = await store.mutedIdentities(run.job, now)
  const news = unconfirmed(facts, await store.openAlerts(run.job))
  const suspicious = new Set(
    news.flatMap(({ identity, query }) => (query === null || muted.has(identity) ? [] : [query.id])),
  )
  if (suspicious.size === 0) return []
  const all = await store.queriesToRecheck(run.id)
  return chooseRechecked(
    all.filter(({ id }) => suspicious.has(id)),
    all.length,
  )
}
