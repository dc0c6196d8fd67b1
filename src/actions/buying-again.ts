import { RanklineError } from '../errors.ts'
import { isComplete } from '../model/run.ts'
import { exitCodes } from '../run/finish.ts'
import type { PlanDraft, Store } from '../store/store.ts'
import { harmless, note, type Terminal } from '../terminal.ts'
import { count } from '../words.ts'
import type { Plotted } from './plan.ts'

type DoneStore = Pick<Store, 'latestRun'>
type Priced = Pick<PlanDraft, 'summary'>

/**
 * Says which jobs were finished on the same day already and what they would cost again. On a terminal the user decides whether they are
 * bought, which rejects where they are not; elsewhere they are. Answers the finished runs that were told of.
 */
export async function askToBuyAgain(
  store: DoneStore,
  draft: Priced,
  plotted: readonly Plotted[],
  terminal: Terminal,
): Promise<ReadonlySet<number>> {
  const again = await finishedToday(store, draft, plotted)
  const told = new Set(again.map(({ run }) => run))
  if (terminal.ask == null || again.length === 0) {
    for (const { line } of again) note(terminal, line)
    return told
  }
  // A question is asked with --quiet, too, and needs what it is about.
  for (const { line } of again) terminal.say(line)
  if (await terminal.ask('Buy again?')) return told
  throw new RanklineError('Nothing was bought', exitCodes.completed)
}

/** Says which jobs another process has finished since the user was asked; a question would keep others waiting for the answer. */
export async function sayBoughtAgain(
  store: DoneStore,
  draft: Priced,
  plotted: readonly Plotted[],
  told: ReadonlySet<number>,
  terminal: Terminal,
): Promise<void> {
  for (const { run, line } of await finishedToday(store, draft, plotted))
    if (!told.has(run)) note(terminal, line)
}

/** The runs of the same day that are finished and would be bought again, each with a line that says so and the price. */
async function finishedToday(
  store: DoneStore,
  draft: Priced,
  plotted: readonly Plotted[],
): Promise<readonly { readonly run: number; readonly line: string }[]> {
  const again: { readonly run: number; readonly line: string }[] = []
  for (const { course, planned } of plotted) {
    if (course.do !== 'begin') continue
    const latest = await store.latestRun(planned.settings.name)
    if (latest === null || !isComplete(latest.finishReason) || latest.date !== planned.date) continue
    const { expected, max } = (await draft.summary(planned)).credits
    if (max === 0) continue
    const price =
      expected === max ? count(max, 'credit') : `some ${count(expected, 'credit')}, at most ${max}`
    const line = `${harmless(latest.job)} is finished for today (run ${latest.id}). This buys it again, for ${price}.`
    again.push({ run: latest.id, line })
  }
  return again
}
