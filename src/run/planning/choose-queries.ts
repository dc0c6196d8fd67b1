import { UsageError } from '../../model/errors.ts'
import type { JobSettings } from '../../model/job.ts'
import { isComplete } from '../../model/run.ts'
import { count } from '../../model/text.ts'
import { localDay } from '../../model/time.ts'
import type { InvalidValue } from '../../model/values.ts'
import type { Store } from '../../store/store.ts'
import type { AskedQueryHistory } from '../../store/unattended.ts'
import type { ChoiceOf, QueryChoice, StagedJob } from '../job-files.ts'
import { type Selection, type SelectionFlags, selectionOf } from './selection.ts'

/** How much of jobs is chosen. */
export interface WantedQueries {
  /** Null for all of them. */
  readonly selection: Selection | null
  /** Nothing is gone on with. */
  readonly fresh: boolean
}

/** What flags ask for. Throws one sentence where one of them is wrong. */
export function wantedOf(flags: SelectionFlags & { readonly fresh?: boolean | undefined }): WantedQueries {
  return { selection: selectionOf(flags), fresh: flags.fresh === true }
}

type ChoiceStore = Pick<Store, 'latestRun' | 'queryHistories'>

/** Chooses the part of each job that is wanted, or all of it. */
export function selectedQueries(
  store: ChoiceStore,
  { selection, fresh }: WantedQueries,
  now: number,
): ChoiceOf | undefined {
  if (selection === null) return undefined
  return async (settings) => {
    const run = fresh ? null : await unfinishedRun(store, settings, now)
    return selected(store, settings, run, selection)
  }
}

/** A run that the next command goes on with. */
export interface UnfinishedRun {
  readonly id: number
  /** One of an earlier day is closed where single queries have targets: what it has settled is then not to be bought again. */
  readonly isOfToday: boolean
}

/** The run of a job that the next command goes on with; null where it begins a new one. */
export async function unfinishedRun(
  store: Pick<Store, 'latestRun'>,
  { name, targets, timezone }: JobSettings,
  now: number,
): Promise<UnfinishedRun | null> {
  const run = await store.latestRun(name)
  if (run === null || isComplete(run.finishReason)) return null
  const isOfToday = run.date === localDay(now, timezone)
  return targets.length === 0 || isOfToday ? { id: run.id, isOfToday } : null
}

/** Whether a query belongs to the run that goes on, wanted or not: what was settled today stays reported, and is not bought again. */
export function isKept(inRun: AskedQueryHistory['inRun'], run: UnfinishedRun | null): boolean {
  return inRun === 'settled' && run?.isOfToday === true
}

/** What a run has settled stays in it. What it has not would be dropped, paid for or not: that is refused. */
function selected(
  store: ChoiceStore,
  { name }: JobSettings,
  run: UnfinishedRun | null,
  selection: Selection,
): QueryChoice {
  const take = upTo(selection.limit)
  let dropped = 0
  return {
    choose: async (queries, keys) => {
      const known =
        run === null
          ? null
          : await store.queryHistories(name, keys, { since: Number.POSITIVE_INFINITY, unfinishedRun: run.id })
      return queries.map((query, place) => {
        const inRun = known?.[place]?.inRun ?? 'not-asked'
        const isWanted = selection.includes(query) && take(keys[place] as Buffer)
        if (!isWanted && inRun === 'open') dropped += 1
        return isWanted || isKept(inRun, run)
      })
    },
    mistake: (): InvalidValue | null =>
      dropped === 0
        ? null
        : {
            message: `run ${run?.id} is unfinished and has ${count(dropped, 'query', 'queries')} that ${dropped === 1 ? 'is' : 'are'} not selected`,
            fix: `finish it first with: rankline resume ${run?.id}, or begin anew with --fresh`,
          },
  }
}

/** Lets through so many different keys. */
export function upTo(limit: number): (key: Buffer) => boolean {
  if (limit === Number.POSITIVE_INFINITY) return () => true
  const taken = new Set<string>()
  return (key) => {
    const name = key.toString('hex')
    if (taken.size < limit) taken.add(name)
    return taken.has(name)
  }
}

/** Jobs of which something is selected. Throws a sentence where that is none. */
export function onlySelected<Job extends Pick<StagedJob, 'chosen'>>(
  jobs: readonly Job[],
  selection: Selection | null,
): readonly Job[] {
  if (selection === null) return jobs
  selection.refuseUnknown()
  const some = jobs.filter(({ chosen }) => chosen > 0)
  if (some.length > 0) return some
  throw new UsageError(`No query is selected by ${selection.text}. Nothing was sent`)
}
