import { type CollectOptions, type CollectResult, collect } from '../collect/collect.ts'
import {
  defaultThrottlingMs,
  finishRuns,
  type RunDocument,
  runDocument,
  stopCauses,
} from '../collect/stop.ts'
import { unexplained } from '../ledger/verify.ts'
import { settlingMs } from '../model/call.ts'
import { RanklineError, UsageError } from '../model/errors.ts'
import { type JobSettings, noFile } from '../model/job.ts'
import { exitCodes, isComplete, type Run, type StopCause } from '../model/run.ts'
import { count } from '../model/text.ts'
import { hourMs } from '../model/time.ts'
import { sanitize } from '../output/terminal.ts'
import type { Store } from '../store/sqlite/open.ts'
import type { PlanDraft } from '../store/sqlite/planning/draft.ts'
import type { App } from './app.ts'
import { backfillAndNotify } from './derive.ts'
import { heap } from './heap.ts'
import { areLeftOut, type JobFileOptions, type PlanEvents, stageJobs } from './job-files.ts'
import type { Turn } from './lock.ts'
import { type JobDecision, jobDecisions } from './plan-jobs.ts'
import { wantedOf } from './selection.ts'
import { type PricedRun, prices, sharedLimits } from './spending.ts'

/** A run to be collected, or one that is only shown again. */
export type ListedRun = Awaited<ReturnType<typeof commitRuns>>[number]

const defaultOutageMs = 60_000

/** How runs are collected. */
export type CollectRequest = Pick<
  CollectOptions,
  | 'stop'
  | 'concurrency'
  | 'maxOutageMs'
  | 'maxThrottlingMs'
  | 'fitBalance'
  | 'onProgress'
  | 'notice'
  | 'reported'
  | 'isTrial'
>

/** How runs are collected where no option says otherwise. */
const defaultCollectRequest = {
  concurrency: null,
  maxOutageMs: defaultOutageMs,
  maxThrottlingMs: defaultThrottlingMs,
  fitBalance: false,
  onProgress: () => {},
  notice: () => {},
} as const

/**
 * Puts right what a dead process left, collects, and ends each run with its reason. Also polls open image jobs of closed runs, even for
 * jobs that are only shown.
 */
async function collectAndFinish(app: App, listed: readonly ListedRun[], collection: CollectRequest) {
  const { store, keyHash, clock } = app
  const { stop } = collection
  const runs = listed.filter(({ show }) => show === 'collect').map(({ run }) => run)
  const ids = runs.map(({ id }) => id)
  const began = { wall: clock.wall(), monotonic: clock.monotonic() }
  // The clock on the wall may be set meanwhile; only what was before this process is measured with it.
  const durationOf = ({ startedAt }: Run): number =>
    Math.round(Math.max(0, began.wall - startedAt) + clock.monotonic() - began.monotonic)
  let limits: CollectResult['limits'] = new Map()
  const finishIn = async (target: Store): Promise<void> => {
    const reason = stop.cause()?.reason
    // The end of some calls may not have been stored.
    if (reason === 'unavailable' || reason === 'crashed') await target.recover(ids, clock.wall())
    await finishRuns(target, runs, { stop: stop.cause(), limits }, clock.wall(), durationOf)
  }
  const finish = async (): Promise<void> => {
    try {
      await finishIn(store)
    } catch (error) {
      if (!(error instanceof RanklineError)) throw error
      stop.request({ reason: 'unavailable', message: error.message })
      if (!store.file.isLost()) await finishAnew(app.database, finishIn)
    }
    if (!store.file.isLost()) return
    await store.file.rescue()
    stop.request(stopCauses.databaseLost(store.file))
    const loss = store.file.loss() ?? ''
    if (stop.cause()?.reason === 'unavailable') stop.explain(loss)
    else collection.notice(loss)
  }
  const recoverAndCollect = async () => {
    heap.keepLeanFor(runs.reduce((sum, { plannedMax }) => sum + plannedMax, 0))
    const mark = await store.mark()
    await store.recover(ids, clock.wall())
    const withOpenWork = await store.runsWithOpenWork([...new Set(listed.map(({ run }) => run.job))])
    const { maxOutageMs: unavailableMs, maxThrottlingMs: throttledMs } = collection
    const service = app.serviceWith({ unavailableMs, throttledMs })
    const settings = runs.map((run) => run.settings)
    const parts = {
      ...collection,
      store,
      service,
      clock,
      keyHash,
      random: Math.random,
      opening: app.clockCheck.opening,
      sharedLimits: await sharedLimits(store, settings),
    }
    const { machines } = app
    if (machines !== null) return { ...(await machines.collect(parts, runs)), mark }
    for (const run of runs) await refuseShared(store, run)
    return { ...(await collect(parts, runs, withOpenWork)), mark }
  }
  const { mark, ...collected } = await recoverAndCollect().catch(async (error: unknown) => {
    stop.request(stopCauses.thrown(error))
    // Where its end cannot be stored either, the error before says why.
    await finish().catch(() => {})
    throw error
  })
  limits = collected.limits
  await finish()
  await app.machines?.finished(runs)
  // What other machines have bought, and is not known here yet, is nobody else's.
  const isWhole = (await app.machines?.knowsAllCalls(began.wall - settlingMs)) ?? true
  const { earlier, readings, charges } = await store.ledgerSince(keyHash, mark)
  // What the store does not hold.
  return {
    before: collected.balanceBefore,
    after: collected.balanceAfter,
    unexplained: isWhole ? unexplained(earlier, readings, charges, await store.queueFailovers()) : null,
    leftOut: collected.leftOut,
    reached: collected.reached,
  }
}

/** A run that other machines know is theirs, too: what they bought would be bought again. */
async function refuseShared(store: Store, run: Run): Promise<void> {
  if ((await store.sharedRunId(run.id)) === null) return
  throw new UsageError(
    `Run ${run.id} was begun with a queue. Continue it with --queue, or begin anew with --fresh`,
  )
}

/** Tries once more with a connection of its own: one whose disk has failed is not written again. */
async function finishAnew(database: string, finishIn: (target: Store) => Promise<void>): Promise<void> {
  try {
    const { openStore } = await import('../store/sqlite/open.ts')
    await using target = await openStore(database)
    await finishIn(target)
  } catch (error) {
    // The next process settles what is open; the document of this one says it all the same.
    if (!(error instanceof RanklineError)) throw error
  }
}

async function documentsOf(
  { store, clock }: Pick<App, 'store' | 'clock'>,
  listed: readonly ListedRun[],
  end: Awaited<ReturnType<typeof collectAndFinish>>,
  cause: StopCause | null,
): Promise<readonly RunDocument[]> {
  const documents = listed.map(async ({ run, show }) => {
    const stored = (await store.run(run.id)) as Run
    if (show === 'as-stored') return runDocument(stored, await store.tally(run.id), null)
    // No call is in flight any more: one without a result is lost.
    const tally = await store.tally(run.id, 'lost')
    const ended =
      stored.finishReason === null && cause !== null
        ? { ...stored, finishReason: cause.reason, finishedAt: clock.wall() }
        : stored
    const leftOut = end.leftOut.find(({ runId }) => runId === run.id)
    return runDocument(ended, tally, end, leftOut, end.reached.get(run.id))
  })
  return await Promise.all(documents)
}

/** What is collected, and shown, of jobs; and whether job files were left out for their mistakes. */
export type PlannedRuns = NonNullable<Awaited<ReturnType<typeof planRuns>>>

/**
 * Plans jobs into the store when it is this process's turn; null after mistakes in their files, which were logged.
 *
 * @param lock null where no other process can be at work
 */
async function planRuns(
  { store, clock, clockCheck, machines }: Pick<App, 'store' | 'clock' | 'clockCheck' | 'machines'>,
  options: JobFileOptions & Parameters<typeof wantedOf>[0] & { readonly yes?: boolean | undefined },
  events: PlanEvents,
  lock: Pick<Turn, 'acquire'> | null,
) {
  await using draft = await store.draft()
  const part = wantedOf(options)
  const { fresh } = part
  const staged = await stageJobs(options, draft, store, events, part.choiceIn(store, clock.wall()))
  if (staged === null) return null
  const jobs = part.onlySelected(staged)
  for (const { notices } of jobs)
    for (const { text, inRuns } of notices) if (inRuns) events.note(sanitize(text))
  for (const line of await jobDecisions.paused(store, jobs)) events.note(sanitize(line))
  // The user is asked before the turn is taken: others need not wait for the answer.
  const decide = () => jobDecisions.of(store, jobs, { fresh, change: false }, clock.wall())
  const wanted = await decide()
  for (const line of await jobDecisions.edited(store, draft, wanted)) events.log(line)
  const reported = await askToBuyAgain(store, draft, fresh ? [] : wanted, clock.wall(), events)
  const dear = options.yes === true ? [] : await prices.dear(store, draft, wanted)
  await prices.confirm(dear, events.ask)
  if (lock !== null) await takeTurn(lock, store)
  await machines?.begin(jobs.map(({ settings }) => settings.name))
  // Before anything is changed: another process may have changed what there is to buy.
  if (options.yes !== true) rejectRaised(await prices.dear(store, draft, await decide()), dear)
  const next = await decide()
  await machines?.refuseOtherKeys(continuedRuns(next))
  if (next.some(({ decision }) => decision.do !== 'show')) await clockCheck.check(events.log)
  const decided = await jobDecisions.of(store, jobs, { fresh, change: true }, clock.wall())
  if (!fresh) await noteBoughtAgain(store, draft, decided, { now: clock.wall(), reported, note: events.note })
  const listed = await commitRuns({ store, clock }, draft, decided, events.note)
  return { listed, isLeftOut: areLeftOut(options, staged) }
}

/** Waits until no other process collects, and rejects a database that is damaged. */
async function takeTurn(lock: Pick<Turn, 'acquire'>, store: Store): Promise<void> {
  await lock.acquire()
  await store.rejectDamaged()
}

/** The runs that are gone on with. */
function continuedRuns(decided: readonly JobDecision[]): readonly Run[] {
  return decided.flatMap(({ decision }) => (decision.do === 'continue' ? [decision.run] : []))
}

/** Makes runs of what was decided, or plans the continued ones again; they stand in the order of their jobs. */
async function commitRuns(
  { store, clock }: Pick<App, 'store' | 'clock'>,
  draft: PlanDraft,
  decided: readonly JobDecision[],
  note: PlanEvents['note'],
) {
  for (const { job } of decided) await nameJob(store, job.settings)
  const planned = decided.filter(({ decision }) => decision.do !== 'show').map((one) => one.planned)
  // Calls that a dead process left in flight must not outlive an edited file.
  await store.recover(
    planned.flatMap(({ continues }) => continues ?? []),
    clock.wall(),
  )
  const runs = await draft.commit(planned, clock.wall())
  for (const { id, settings } of runs) await backfillAndNotify(store, settings, id, note)
  return await inOrder(store, decided, runs)
}

/** What comes through standard input does not take a name from a file. */
async function nameJob(store: Store, { name, file }: JobSettings): Promise<void> {
  if (file !== noFile || (await store.jobFile(name)) === null) await store.nameJob(name, file)
}

/** Runs in the order of the jobs: those just planned, and those that are only shown again. */
async function inOrder(store: Store, decided: readonly JobDecision[], planned: readonly Run[]) {
  const left = [...planned]
  const listed: { readonly run: Run; readonly show: 'collect' | 'as-stored' }[] = []
  for (const { decision } of decided) {
    if (decision.do === 'show') {
      listed.push({ run: (await store.run(decision.run.id)) as Run, show: 'as-stored' })
      continue
    }
    const run = left.shift()
    if (run !== undefined) listed.push({ run, show: 'collect' })
  }
  return listed
}

/** Throws where a run costs more than the user agreed to, for it is no longer the same. */
export function rejectRaised(dear: readonly PricedRun[], agreed: readonly PricedRun[]): void {
  const raised = dear.filter(
    ({ job, credits }) => credits > (agreed.find((one) => one.job === job)?.credits ?? 0),
  )
  if (raised.length > 0) throw prices.refusal(raised)
}

type DoneStore = Pick<Store, 'latestRun' | 'taskCounts'>

type Priced = Pick<PlanDraft, 'summary'>

/**
 * Reports jobs that are already finished today, with the price of buying them again. On a terminal the user decides, and a no rejects;
 * elsewhere they are bought. Returns the finished runs that were reported.
 */
async function askToBuyAgain(
  store: DoneStore,
  draft: Priced,
  decided: readonly JobDecision[],
  now: number,
  { log, note, ask }: Pick<PlanEvents, 'log' | 'note' | 'ask'>,
): Promise<ReadonlySet<number>> {
  const again = await finishedToday(store, draft, decided, now)
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
async function noteBoughtAgain(
  store: DoneStore,
  draft: Priced,
  decided: readonly JobDecision[],
  {
    now,
    reported,
    note,
  }: Pick<PlanEvents, 'note'> & { readonly now: number; readonly reported: ReadonlySet<number> },
): Promise<void> {
  for (const { run, line } of await finishedToday(store, draft, decided, now))
    if (!reported.has(run)) note(line)
}

/**
 * The runs of the same day that are finished and would be bought again, each with a line that says so, the price, and how to buy only
 * what such a run left out.
 */
async function finishedToday(
  store: DoneStore,
  draft: Priced,
  decided: readonly JobDecision[],
  now: number,
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
    const name = sanitize(latest.job)
    const line =
      planned.settings.freshnessMs === null
        ? `${name} is already finished for today (run ${latest.id}). This run buys it again, for ${price}.${await hintOfRest(store, latest, now)}`
        : `${name} is already finished for today (run ${latest.id}). This run buys what has no answer that is fresh enough, for ${price}.`
    again.push({ run: latest.id, line })
  }
  return again
}

/** How to buy only what a run left out; nothing where it used answers that are older than itself. */
async function hintOfRest(store: DoneStore, { id, startedAt }: Run, now: number): Promise<string> {
  const { reused } = await store.taskCounts(id)
  // Half an hour more, for until the command is typed.
  const hours = Math.max(1, Math.ceil((now - startedAt) / hourMs + 0.5))
  return reused > 0 ? '' : ` To buy only what that run left out, add --freshness ${hours}h.`
}

/** How jobs become runs. */
export const planning = {
  runs: planRuns,
  commit: commitRuns,
  continued: continuedRuns,
  takeTurn,
}

/** How runs are collected to their end. */
export const collections = {
  finish: collectAndFinish,
  documents: documentsOf,
  usual: defaultCollectRequest,
  usualOutageMs: defaultOutageMs,
}
