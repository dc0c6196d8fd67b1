import { RanklineError } from '../../model/errors.ts'
import { exitCodes, type Run } from '../../model/run.ts'
import { count, grouped } from '../../model/text.ts'
import { sanitize } from '../../output/terminal.ts'
import type { PlanDraft } from '../../store/runs.ts'
import type { Store } from '../../store/store.ts'
import type { PlanEvents } from '../job-files.ts'
import type { JobDecision } from '../planning/plan-jobs.ts'

/** What a run may still cost, and the price from which on the user must agree. Credits. */
export interface PricedRun {
  readonly job: string
  readonly credits: number
  readonly confirmOver: number
}

/** The jobs whose runs may still cost more than their `confirm_over`. */
export async function dearRuns(
  store: Pick<Store, 'creditsOf'>,
  draft: Pick<PlanDraft, 'summary'>,
  decided: readonly JobDecision[],
): Promise<readonly PricedRun[]> {
  const dear: PricedRun[] = []
  for (const { decision, planned } of decided) {
    const { name, budget } = planned.settings
    if (decision.do === 'show' || budget.confirmOver === null) continue
    const { max } = (await draft.summary(planned)).credits
    const credits = Math.min(max, await leftOfRun(store, planned.continues, budget.maxCredits))
    if (credits > budget.confirmOver) dear.push({ job: name, credits, confirmOver: budget.confirmOver })
  }
  return dear
}

/** A run that is to go on, where it may still cost more than its `confirm_over`. */
export async function dearToGoOn(
  store: Pick<Store, 'creditsOf' | 'creditsToCome'>,
  { id, job, settings: { budget } }: Run,
  failed: 'count' | 'ignore',
): Promise<readonly PricedRun[]> {
  const { confirmOver, maxCredits } = budget
  if (confirmOver === null) return []
  const toCome = await store.creditsToCome(id, failed)
  const credits = Math.min(toCome, await leftOfRun(store, id, maxCredits))
  return credits > confirmOver ? [{ job, credits, confirmOver }] : []
}

/** What `max_credits` leaves of a run, infinite without it. */
async function leftOfRun(
  store: Pick<Store, 'creditsOf'>,
  run: number | null,
  maxCredits: number | null,
): Promise<number> {
  if (maxCredits === null) return Number.POSITIVE_INFINITY
  const { spent, ambiguous } = await store.creditsOf(run === null ? [] : [run])
  return Math.max(0, maxCredits - spent - ambiguous)
}

/** Whether these runs may be bought: there are none, or the person who is asked says yes. */
export async function areAgreed(dear: readonly PricedRun[], ask: PlanEvents['ask']): Promise<boolean> {
  return dear.length === 0 || (ask !== null && (await ask(`${priceList(dear)}. Buy?`)))
}

/** Asks whether these runs may be bought, where there are any; throws where the answer is not yes. */
export async function confirmPrices(dear: readonly PricedRun[], ask: PlanEvents['ask']): Promise<void> {
  if (!(await areAgreed(dear, ask))) throw refusal(dear)
}

/** Throws where a run costs more than the user agreed to, for it is no longer the same. */
export function rejectRaised(dear: readonly PricedRun[], agreed: readonly PricedRun[]): void {
  const raised = dear.filter(
    ({ job, credits }) => credits > (agreed.find((one) => one.job === job)?.credits ?? 0),
  )
  if (raised.length > 0) throw refusal(raised)
}

function refusal(dear: readonly PricedRun[]): RanklineError {
  return new RanklineError(
    `${priceList(dear)}. Nothing was sent; to buy ${dear.length === 1 ? 'it' : 'them'}, run the same command with --yes`,
    exitCodes.budget,
  )
}

/** `acme may cost 500 credits (confirm_over: 300), beta 900 (confirm_over: 400)`. */
export function priceList(dear: readonly PricedRun[]): string {
  return dear
    .map(({ job, credits, confirmOver }, index) => {
      const price = index === 0 ? `may cost ${count(credits, 'credit')}` : grouped(credits)
      return `${sanitize(job)} ${price} (confirm_over: ${grouped(confirmOver)})`
    })
    .join(', ')
}
