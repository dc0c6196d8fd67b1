import type { RecheckDocument } from '../../collect/finish.ts'
import { type StopSignal, stopSignal } from '../../collect/stop.ts'
import type { BudgetStanding } from '../../ledger/budget.ts'
import { amounts, limitKey, limitName } from '../../ledger/limit-wording.ts'
import { isComplete, type Run } from '../../model/run.ts'
import { count, grouped } from '../../model/text.ts'
import type { QueryToRecheck } from '../../store/rechecks.ts'
import type { App } from '../connect/app.ts'
import { type CollectRequest, collectAndFinish } from '../run-jobs.ts'
import { plannedLimits } from '../spending/limits.ts'
import { suspiciousQueries } from './suspicious.ts'

/** What was collected, before alert rules judge it. */
export interface Collection {
  readonly runs: readonly Pick<Run, 'id'>[]
  /** The balance after it; null where it was not read. */
  readonly balance: number | null
  readonly request: CollectRequest
}

/** What is looked at again of a run, and what that costs at most. */
interface WantedRecheck {
  readonly of: Run
  readonly queries: readonly QueryToRecheck[]
  readonly credits: number
}

/**
 * Looks once more at the suspicious queries of runs that are complete, where a rule with `recheck` asks for that and the budget
 * covers it: in runs of their own, that are over before anything is told. Answers what came of it, by the run that was looked at.
 */
export async function recheckRuns(
  app: App,
  { runs, balance, request }: Collection,
): Promise<ReadonlyMap<number, RecheckDocument>> {
  const { store, clock } = app
  if (request.stop.cause() !== null) return new Map()
  const wanted: WantedRecheck[] = []
  for (const { id } of runs) {
    const of = await store.run(id)
    const queries = of === null ? [] : await suspiciousQueries(store, of, clock.wall())
    if (of !== null && queries.length > 0) wanted.push({ of, queries, credits: priceOf(queries) })
  }
  const covered = await coveredOf(app, wanted, { balance, notice: request.notice })
  if (covered.length === 0) return new Map()
  const begun = await store.beginRechecks(
    covered.map(({ wanted: { of, queries }, maxCredits }) => ({
      of,
      settings: { ...of.settings, freshnessMs: null, budget: { ...of.settings.budget, maxCredits } },
      queries: queries.map(({ id }) => id),
    })),
    clock.wall(),
  )
  using stop = followed(request.stop)
  await collectAndFinish(
    app,
    begun.map((run) => ({ run, show: 'collect' as const })),
    { ...request, fitBalance: false, stop },
  )
  const documents = new Map<number, RecheckDocument>()
  for (const [index, { wanted }] of covered.entries()) {
    const run = (await store.run((begun[index] as Run).id)) as Run
    const { failed } = await store.taskCounts(run.id)
    if (!isComplete(run.finishReason)) {
      // Another command would go on with it, and the next run is a look of its own.
      await store.closeRun(run.id, clock.wall())
      request.notice(
        `${run.job}: the second look for alerts stopped (${run.finishReason}); the next run decides.`,
      )
    } else if (failed > 0)
      request.notice(
        `${run.job}: ${count(failed, 'task')} of the second look for alerts failed; the next run decides.`,
      )
    const { spent } = await store.creditsOf([run.id])
    documents.set(wanted.of.id, { run: run.id, queries: wanted.queries.length, credits: spent })
  }
  return documents
}

function priceOf(queries: readonly QueryToRecheck[]): number {
  return queries.reduce((sum, { credits }) => sum + credits, 0)
}

/** Those that all limits cover, with what `max_credits` leaves them; each of the others is said in one line. */
async function coveredOf(
  { store, clock }: App,
  all: readonly WantedRecheck[],
  { balance, notice }: Pick<Collection, 'balance'> & Pick<CollectRequest, 'notice'>,
): Promise<readonly { readonly wanted: WantedRecheck; readonly maxCredits: number | null }[]> {
  const planned = all.map(({ of: { id, settings, date } }) => ({
    settings,
    date,
    continues: id,
    fresh: null,
  }))
  const limits = await plannedLimits(store, planned, clock.wall())
  let left = balance ?? Number.POSITIVE_INFINITY
  /** Of limits that several jobs share. */
  const taken = new Map<string, number>()
  return all.flatMap((wanted, index) => {
    const { of, queries, credits } = wanted
    const { keep } = of.settings.budget
    const standings = (limits[index] ?? []).map((standing) => ({
      key: limitKey(standing),
      name: limitName(standing),
      left: amounts(standing).left - (taken.get(limitKey(standing)) ?? 0),
      credits: priceOf(queries.filter((query) => isLimited(query, standing))),
    }))
    const funds = [...standings, { key: '', name: 'the balance', left: left - (keep ?? 0), credits }]
    const short = funds.find((one) => one.left < one.credits)
    if (short !== undefined) {
      const were = `${count(queries.length, 'query', 'queries')} ${queries.length === 1 ? 'is' : 'are'}`
      notice(
        `${of.job}: ${were} not looked at again for alerts: that may cost ${count(short.credits, 'credit')}, and ${short.name} leaves ${grouped(Math.max(0, short.left))}.`,
      )
      return []
    }
    left -= credits
    for (const one of standings) taken.set(one.key, (taken.get(one.key) ?? 0) + one.credits)
    const own = (limits[index] ?? []).find((standing) => !('limit' in standing))
    return [{ wanted, maxCredits: own === undefined ? null : amounts(own).left }]
  })
}

function isLimited({ tags }: QueryToRecheck, standing: BudgetStanding): boolean {
  if (!('limit' in standing) || standing.limit.scope !== 'tag') return true
  return tags.includes(standing.limit.name)
}

/** A signal of its own: what stops the second look does not stop the command, and what stops the command stops it. */
function followed(above: StopSignal): StopSignal & Disposable {
  const own = stopSignal()
  const stop = (): void => {
    const cause = above.cause()
    if (cause !== null) own.request(cause)
  }
  above.signal.addEventListener('abort', stop, { once: true })
  stop()
  return { ...own, [Symbol.dispose]: () => above.signal.removeEventListener('abort', stop) }
}
