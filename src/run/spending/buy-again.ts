import { RanklineError } from '../../model/errors.ts'
import { exitCodes, isComplete } from '../../model/run.ts'
import { count } from '../../model/text.ts'
import { sanitize } from '../../output/terminal.ts'
import type { PlanDraft } from '../../store/runs.ts'
import type { Store } from '../../store/store.ts'
import type { PlanEvents } from '../job-files.ts'
import type { JobDecision } from '../planning/plan-jobs.ts'

type DoneStore = Pick<Store, 'latestRun'>
type Priced = Pick<PlanDraft, 'summary'>

/**
 * Reports jobs that are already finished today, with the price of buying them again. On a terminal the user decides, and a no rejects;
 * elsewhere they are bought. Returns the finished runs that were reported.
 */
export async function askToBuyAgain(
  store: DoneStore,
  draft: Priced,
  decided: readonly JobDecision[],
  { log, note, ask }: Pick<PlanEvents, 'log' | 'note' | 'ask'>,
): Promise<ReadonlySet<number>> {
  const again = await finishedToday(store, draft, decided)
  const reported = new Set(again.map(({ run }) => run))
  if (ask === null || again.length === 0) {
    for (const { line } of again) note(line)
    return reported
  }
  // A question is asked with --quiet, too, and needs what it is about.
  for (const { line } of again) log(line)
  if (await ask('Buy again?')) return reported
  throw new RanklineError('Nothing was bought', exitCodes.completed)
}

/** Says which jobs another process has finished since the user was asked; a question would keep others waiting for the answer. */
export async function noteBoughtAgain(
  store: DoneStore,
  draft: Priced,
  decided: readonly JobDecision[],
  reported: ReadonlySet<number>,
  note: PlanEvents['note'],
): Promise<void> {
  for (const { run, line } of await finishedToday(store, draft, decided)) if (!reported.has(run)) note(line)
}

/** The runs of the same day that are finished and would be bought again, each with a line that says so and the price. */
async function finishedToday(
  store: DoneStore,
  draft: Priced,
  decided: readonly JobDecision[],
): Promise<readonly { readonly run: number; readonly line: string }[]> {
  const again: { readonly run: number; readonly line: string }[] = []
  for (const { decision, planned } of decided) {
    if (decision.do !== 'begin') continue
    const latest = await store.latestRun(planned.settings.name)
    if (latest === null || !isComplete(latest.finishReason) || latest.date !== planned.date) continue
    const { expected, max } = (await draft.summary(planned)).credits
    if (max === 0) continue
    const price =
      expected === max ? count(max, 'credit') : `some ${count(expected, 'credit')}, at most ${max}`
    const line = `${sanitize(latest.job)} is already finished for today (run ${latest.id}). This run buys it again, for ${price}.`
    again.push({ run: latest.id, line })
  }
  return again
}
