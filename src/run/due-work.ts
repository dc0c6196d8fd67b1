import { relative } from 'node:path'
import { type JobFile, openJob } from '../jobfile/open.ts'
import { peek } from '../jobfile/peek.ts'
import { UsageError } from '../model/errors.ts'
import type { JobSettings } from '../model/job.ts'
import { type FinishReason, isComplete, isStoppedFromOutside } from '../model/run.ts'
import { dayMs } from '../model/time.ts'
import { earliestBegin, everyOfQuery, isDue, latestSlot } from '../schedule/slots.ts'
import type { Store } from '../store/sqlite/open.ts'
import type { App } from './app.ts'
import { areLeftOut, type ChoiceOf, type PlanEvents, type StagedJob, stageJobs } from './job-files.ts'
import type { Turn } from './lock.ts'
import { jobDecisions } from './plan-jobs.ts'
import { type PlannedRuns, planning } from './run-jobs.ts'
import { isKept, unfinishedRun, type WantedQueries, wantedOf } from './selection.ts'
import { type PricedRun, prices } from './spending.ts'

export type DueOptions = Parameters<typeof planning.runs>[1]

type DueStore = Pick<
  Store,
  'latestRun' | 'run' | 'runs' | 'slotIn' | 'queryHistories' | 'pauseOf' | 'addedVolumes'
>

type SlotState =
  /** There is nothing to take: the job has no schedule, or its slot had its run. */
  | { readonly is: 'none' | 'over'; readonly at: null }
  | { readonly is: 'free'; readonly at: number }
  /** Its process was killed: before its run began, or while it went on. */
  | { readonly is: 'killed'; readonly at: number }
  /** Its run was stopped by something that passes, such as a refused key: what it did not get is due until it is there. */
  | { readonly is: 'stopped'; readonly at: number }
  /** Its process was killed after its run was complete. */
  | { readonly is: 'unsettled'; readonly at: number; readonly runId: number }

/** What is open of a job: its slot, and the run that it goes on with. */
async function openWorkOf(store: DueStore, settings: JobSettings, fresh: boolean, now: number) {
  const { schedule, timezone, name } = settings
  const { pausedAt, resumedAt } = await store.pauseOf(name)
  const isPaused = pausedAt !== null
  const latest = schedule === null ? null : latestSlot(schedule, timezone, now)
  const isLeftOut = isPaused || (latest !== null && resumedAt !== null && latest <= resumedAt)
  const slot: SlotState =
    latest === null || isLeftOut ? { is: 'none', at: null } : await slotState(store, name, latest, now)
  return {
    settings,
    /** Nothing of it is due while it is paused, and what passed meanwhile is not caught up. */
    isPaused,
    /** The latest slot of its schedule; null where it has none, or none has come yet. */
    latest,
    slot,
    /** Of this run nothing is dropped. */
    unfinishedRun: fresh || isPaused ? null : await unfinishedRun(store, settings, now),
  }
}

type OpenWork = Awaited<ReturnType<typeof openWorkOf>>

async function slotState(store: DueStore, job: string, latest: number, now: number): Promise<SlotState> {
  // A slot that lies ahead was taken before the clock was set back a little, or by another pattern: it stands for this one.
  const taken = await store.slotIn(job, latest, now + dayMs)
  if (taken === null) return { is: 'free', at: latest }
  if (taken.outcome !== null) {
    const run = taken.runId === null ? null : await store.run(taken.runId)
    // A quota begins anew by itself: the next time buys under it.
    const isStopped = run !== null && isStoppedFromOutside(run.finishReason) && run.finishReason !== 'quota'
    return isStopped ? { is: 'stopped', at: taken.slotAt } : { is: 'over', at: null }
  }
  const [newest] = await store.runs({ job, limit: 1 })
  const begun = newest !== undefined && newest.startedAt >= taken.takenAt ? newest : null
  const run = taken.runId === null ? begun : await store.run(taken.runId)
  if (run !== null && isComplete(run.finishReason))
    return { is: 'unsettled', at: taken.slotAt, runId: run.id }
  return { is: 'killed', at: taken.slotAt }
}

function isOpen({ is }: SlotState): boolean {
  return is === 'free' || is === 'killed' || is === 'stopped'
}

/** Chooses what is due of each job, and all that its unfinished run asks; `open` takes what is open of each. */
function dueQueries(
  store: DueStore,
  wanted: WantedQueries,
  now: number,
  open = new Map<string, OpenWork>(),
): ChoiceOf {
  return async (settings) => {
    const work = await openWorkOf(store, settings, wanted.fresh, now)
    open.set(settings.name, work)
    const { schedule, timezone, name } = settings
    // A part of a job takes no slot: `every` alone says what of it is due.
    const mayBeDue = !work.isPaused && (schedule === null || wanted.selection !== null || isOpen(work.slot))
    if (!mayBeDue && work.unfinishedRun === null) return null
    const take = wanted.upToLimit()
    const isSelected = wanted.includesIn(store)
    let hasRule = saysWhenDue(settings)
    return {
      choose: async (queries, keys) => {
        hasRule ||= queries.some((query) => query.every !== null)
        const rules = queries.map(
          (query) => everyOfQuery(query, settings) ?? { unit: 'once' as const, since: work.latest ?? 0 },
        )
        const since = Math.min(...rules.map((rule) => earliestBegin(rule, now)))
        const known = await store.queryHistories(name, keys, {
          since,
          unfinishedRun: work.unfinishedRun?.id ?? null,
        })
        return queries.map((query, place) => {
          const history = known[place] as (typeof known)[number]
          if (history.inRun === 'open' || isKept(history.inRun, work.unfinishedRun)) return true
          if (!mayBeDue || !isSelected(query)) return false
          const rule = rules[place] as (typeof rules)[number]
          return isDue(rule, history, timezone, now) && take(keys[place] as Buffer)
        })
      },
      mistake: () =>
        hasRule
          ? null
          : {
              message: 'the job does not say when it is due',
              fix: "write for instance 'every: 1d' or a schedule",
            },
    }
  }
}

/** Looks for what is due of jobs. Changes nothing; null after mistakes, which were logged. */
async function findDue(
  store: DueStore & Pick<Store, 'jobFile'>,
  options: DueOptions,
  events: PlanEvents,
  now: number,
): Promise<{
  /** Anything is due of the jobs, or a slot of theirs is to be settled. */
  readonly isDue: boolean
  /** Files without mistakes. */
  readonly sound: readonly string[]
  readonly isLeftOut: boolean
} | null> {
  const open = new Map<string, OpenWork>()
  const wanted = wantedOf(options)
  const jobs = await stageJobs(options, null, store, events, dueQueries(store, wanted, now, open))
  if (jobs === null) return null
  wanted.selection?.refuseUnknown()
  const isDue = jobs.some(({ settings: { name }, chosen }) => {
    const { is } = (open.get(name) as OpenWork).slot
    return chosen > 0 || (wanted.selection === null && is !== 'none' && is !== 'over' && is !== 'stopped')
  })
  return { isDue, sound: jobs.map(({ settings }) => settings.file), isLeftOut: areLeftOut(options, jobs) }
}

/**
 * Plans what is due of jobs when it is this process's turn, and takes their slots; null after mistakes in their files, which were
 * logged. What an unfinished run of theirs asks is finished, too.
 */
async function planDue(
  { store, clock, clockCheck, machines }: Pick<App, 'store' | 'clock' | 'clockCheck' | 'machines'>,
  options: DueOptions,
  events: PlanEvents,
  lock: Pick<Turn, 'acquire'>,
  stop?: AbortSignal,
): Promise<
  | (PlannedRuns & {
      /** Jobs that were left out because their price was not agreed to, by file, each with the sentence that was logged. */
      readonly refused: ReadonlyMap<string, string>
      /** Why the continued runs had stopped before, by run. */
      readonly stoppedBefore: ReadonlyMap<number, FinishReason | null>
      /** The slots that these runs have; `endSlots` ends them. */
      readonly slots: RunSlots
    })
  | null
> {
  await planning.takeTurn(lock, store)
  const now = clock.wall()
  const open = new Map<string, OpenWork>()
  await using draft = await store.draft()
  const wanted = wantedOf(options)
  const staged = await stageJobs(options, draft, store, events, dueQueries(store, wanted, now, open))
  if (staged === null) return null
  const openWork =
    wanted.selection === null ? staged.map(({ settings }) => open.get(settings.name) as OpenWork) : []
  if (staged.some(({ chosen }) => chosen > 0) || openWork.some(({ slot }) => slot.at !== null))
    await clockCheck.check(events.log, stop)
  const wanting = new Set(staged.flatMap(({ settings, chosen }) => (chosen > 0 ? [settings.name] : [])))
  const { slots, lost } = await takeSlots(store, openWork, wanting, now)
  const due = staged.filter(({ settings, chosen }) => chosen > 0 && !lost.has(settings.name))
  const decide = (jobs: typeof due, change: boolean) =>
    jobDecisions.of(store, jobs, { fresh: wanted.fresh, change, together: false }, now)
  const wantedNow = await decide(due, false)
  for (const line of await jobDecisions.edited(store, draft, wantedNow)) events.log(line)
  const dear = options.yes === true ? [] : await prices.dear(store, draft, wantedNow)
  const tooDear = (await prices.areAgreed(dear, events.ask)) ? [] : dear
  const refused = await refuse(store, tooDear, { due, slots, log: events.log })
  const agreed = due.filter(({ settings }) => !refused.has(settings.file))
  if (agreed.length > 0) await machines?.begin(agreed.map(({ settings }) => settings.name))
  await machines?.refuseOtherKeys(planning.continued(await decide(agreed, false)))
  const decided = await decide(agreed, true)
  const listed =
    agreed.length === 0 ? [] : await planning.commit({ store, clock }, draft, decided, events.note)
  const runs = new Map(listed.map(({ run }) => [run.job, run.id]))
  const taken: RunSlots[number][] = []
  for (const [job, slotAt] of slots) {
    const runId = runs.get(job)
    if (runId !== undefined) {
      await store.noteSlotRun(job, slotAt, runId)
      taken.push({ job, slotAt, runId })
    } else await store.endSlot(job, slotAt, { outcome: 'nothing-due', runId: null, reason: null })
  }
  return {
    listed,
    isLeftOut: areLeftOut(options, staged),
    refused,
    stoppedBefore: new Map(
      decided.flatMap(({ decision }) =>
        decision.do === 'continue' ? [[decision.run.id, decision.run.finishReason]] : [],
      ),
    ),
    slots: taken,
  }
}

/** Slots of the schedule, each with the run that took it. */
type RunSlots = readonly { readonly job: string; readonly slotAt: number; readonly runId: number }[]

/** Notes that slots had their runs. For the process that has collected them, whatever they came to. */
async function endSlots(store: Pick<Store, 'endSlot'>, slots: RunSlots): Promise<void> {
  for (const { job, slotAt, runId } of slots)
    await store.endSlot(job, slotAt, { outcome: 'ran', runId, reason: null })
}

/** Leaves jobs out whose price was not agreed to, and takes their slots from those that are run; the sentences by file. */
async function refuse(
  store: Pick<Store, 'endSlot'>,
  dear: readonly PricedRun[],
  {
    due,
    slots,
    log,
  }: {
    readonly due: readonly StagedJob[]
    readonly slots: Map<string, number>
    readonly log: PlanEvents['log']
  },
): Promise<ReadonlyMap<string, string>> {
  const refused = new Map<string, string>()
  for (const { settings } of due) {
    const run = dear.find(({ job }) => job === settings.name)
    if (run === undefined) continue
    const slotAt = slots.get(run.job)
    slots.delete(run.job)
    const reason = refusal(run, slotAt === undefined ? undefined : settings.file)
    log(reason)
    refused.set(settings.file, reason)
    if (slotAt !== undefined)
      await store.endSlot(run.job, slotAt, { outcome: 'skipped', runId: null, reason })
  }
  return refused
}

/** Why a dear run is not bought, and what to do. With `file`, its slot is skipped: the same command does not buy it later. */
function refusal(run: PricedRun, file: string | undefined): string {
  const toBuy =
    file === undefined
      ? 'To buy it, add --yes'
      : `To buy the job now: rankline run ${relative('', file)} --yes. For later times, add --yes`
  return `${prices.list([run])}. Nothing was sent. ${toBuy} or raise confirm_over`
}

/** Takes the open slots of jobs, by name, those of stopped runs where something of them is wanted; `lost` are jobs whose slot another process has taken meanwhile. */
async function takeSlots(
  store: Store,
  open: readonly OpenWork[],
  wanted: ReadonlySet<string>,
  now: number,
): Promise<{ readonly slots: Map<string, number>; readonly lost: ReadonlySet<string> }> {
  const slots = new Map<string, number>()
  const lost = new Set<string>()
  for (const { settings, slot } of open) {
    if (slot.at === null || (slot.is === 'stopped' && !wanted.has(settings.name))) continue
    if (await takeSlot(store, settings.name, slot, now)) slots.set(settings.name, slot.at)
    else if (slot.is === 'free') lost.add(settings.name)
  }
  return { slots, lost }
}

/** Takes a slot, or one back whose process was killed, and settles older ones; whether it is this process's now. */
async function takeSlot(
  store: Store,
  job: string,
  slot: Exclude<SlotState, { at: null }>,
  now: number,
): Promise<boolean> {
  await store.endKilledSlots(job, slot.at)
  if (slot.is === 'unsettled') {
    await store.endSlot(job, slot.at, { outcome: 'ran', runId: slot.runId, reason: null })
    return false
  }
  return slot.is === 'killed' || slot.is === 'stopped' || (await store.takeSlot(job, slot.at, now))
}

const saysWhen = /^["']?(every|cadence|schedule)["']?\s*:/m

/** Whether a job says when it is due; single queries may say so, too. */
function saysWhenDue({ schedule, every, cadence }: JobSettings): boolean {
  return schedule !== null || every !== null || cadence !== null
}

/** Whether a job, or a query of it, says when it is due. */
async function isScheduled({ settings, queries }: JobFile): Promise<boolean> {
  if (saysWhenDue(settings)) return true
  for await (const { every } of queries()) if (every !== null) return true
  return false
}

/**
 * Job files of a folder that say when they are due. One with mistakes is among them if its text says so. Throws a sentence where
 * there is none: a command that finds nothing to do in the wrong folder would never say so.
 */
async function dueJobFiles(folder: string): Promise<readonly string[]> {
  const due: string[] = []
  for (const { file, text } of peek.jobs(folder)) {
    const job = await openJob(file, {}, () => {})
    const isDue = job === null ? saysWhen.test(text ?? '') : await isScheduled(job)
    if (isDue || peek.hasQueryWithEvery(file)) due.push(file)
  }
  if (due.length > 0) return due
  throw new UsageError(
    "No job file of this folder says when it is due. Write 'every: 1d' or a schedule into one, or name a job",
  )
}

/** What is due of jobs. */
export const dueWork = {
  queries: dueQueries,
  find: findDue,
  plan: planDue,
  endSlots,
  saysWhen: saysWhenDue,
  jobFiles: dueJobFiles,
}
