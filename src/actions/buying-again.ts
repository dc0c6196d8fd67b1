import { RanklineError } from '../errors.ts'
import { isComplete } from '../model/run.ts'
import { exitCodes } from '../run/finish.ts'
import type { PlanDraft, Store } from '../store/store.ts'
import { harmless, type Terminal } from '../terminal.ts'
import { count } from '../words.ts'
import type { Plotted } from './plan.ts'

/**
 * Says which jobs were finished on the same day already and what they would cost again. On a terminal the user decides whether they are
 * bought, which rejects where they are not; elsewhere they are.
 */
export async function askToBuyAgain(
  store: Pick<Store, 'latestRun'>,
  draft: Pick<PlanDraft, 'summary'>,
  plotted: readonly Plotted[],
  terminal: Terminal,
): Promise<void> {
  const again: string[] = []
  for (const { course, planned } of plotted) {
    if (course.do !== 'begin') continue
    const latest = await store.latestRun(planned.settings.name)
    if (latest === null || !isComplete(latest.finishReason) || latest.date !== planned.date) continue
    const { expected, max } = (await draft.summary(planned)).credits
    if (max === 0) continue
    const price =
      expected === max ? count(max, 'credit') : `some ${count(expected, 'credit')}, at most ${max}`
    again.push(
      `${harmless(latest.job)} is finished for today (run ${latest.id}). This buys it again, for ${price}.`,
    )
  }
  for (const line of again) terminal.say(line)
  if (again.length === 0 || terminal.ask == null || (await terminal.ask('Buy again?'))) return
  throw new RanklineError('Nothing was bought', exitCodes.completed)
}
