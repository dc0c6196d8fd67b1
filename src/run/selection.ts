import { queryConditions } from '../model/condition.ts'
import { UsageError } from '../model/errors.ts'
import type { JobSettings } from '../model/job.ts'
import type { JobQuery } from '../model/query.ts'
import { isComplete } from '../model/run.ts'
import { count } from '../model/text.ts'
import { localDay } from '../model/time.ts'
import { type InvalidValue, numberOption, quoted } from '../model/values.ts'
import type { StoredQueryHistory } from '../store/sqlite/jobs.ts'
import type { Store } from '../store/sqlite/open.ts'
import type { ChoiceOf, StagedJob } from './job-files.ts'

/** A part of jobs. */
type Selection = NonNullable<ReturnType<typeof selectionOf>>

interface SelectionOptions {
  readonly tag?: readonly string[] | undefined
  readonly query?: readonly string[] | undefined
  readonly engine?: readonly string[] | undefined
  /** Conditions, for instance `volume>1000 and tag=money`. */
  readonly where?: readonly string[] | undefined
  readonly limit?: string | undefined
}

/** The part of jobs that options ask for; null for all of them. Throws one sentence where an option is wrong. */
export function selectionOf(options: SelectionOptions) {
  const { tag = [], query = [], engine = [], where = [] } = options
  const limit = numberOption('--limit', options.limit, { min: 1 }) ?? Number.POSITIVE_INFINITY
  const given = [...optionText('tag', tag), ...optionText('query', query), ...optionText('engine', engine)]
  const text = [
    ...given,
    ...optionText('where', where),
    ...(options.limit === undefined ? [] : [`--limit ${options.limit}`]),
  ]
  if (text.length === 0) return null
  for (const name of engine)
    if (!engines.includes(name))
      throw new UsageError(`--engine cannot be ${quoted(name)}; write ${engines.join(', ')}`)
  const texts = query.map(queryConditions.folded)
  const conditions = where.map((one) => queryConditions.of('--where', one, 'file'))
  return {
    /** Queries of each job at most; infinite where there is no limit. */
    limit,
    /** The options, for sentences. */
    text: text.join(' '),
    includes: (one: JobQuery): boolean => {
      // Each condition looks at each query, to know which names there are.
      const met = conditions.map((condition) => condition.isMet(one))
      return (
        (tag.length === 0 || tag.some((name) => one.tags.includes(name))) &&
        (texts.length === 0 || texts.includes(queryConditions.folded(one.text))) &&
        (engine.length === 0 || engine.includes(engineOf(one))) &&
        met.every((is) => is)
      )
    },
    /** Throws a sentence where a condition names what none of the queries has that were looked at. */
    refuseUnknown: () => queryConditions.refuseUnknown('--where', conditions),
  }
}

const engines = ['alpha', 'beta', 'gamma']

function optionText(name: string, values: readonly string[]): readonly string[] {
  return values.map((value) => `--${name} ${quoted(value)}`)
}

function engineOf({ operation }: Pick<JobQuery, 'operation'>): string {
  return operation.split('.')[0] as string
}

/** How much of jobs is chosen. */
export type WantedQueries = ReturnType<typeof wantedOf>

/** What options ask for. Throws one sentence where one of them is wrong. */
export function wantedOf(options: SelectionOptions & { readonly fresh?: boolean | undefined }) {
  const selection = selectionOf(options)
  const fresh = options.fresh === true
  return {
    /** Null for all queries. */
    selection,
    /** Nothing is gone on with. */
    fresh,
    /** Chooses the part of each job that is wanted, or all of it. */
    choiceIn: (store: ChoiceStore, now: number): ChoiceOf | undefined =>
      selection === null
        ? undefined
        : async (settings) => {
            const run = fresh ? null : await unfinishedRun(store, settings, now)
            return selected(store, settings, run, selection)
          },
    /** Whether a query is wanted: with the volume that was added from a file, where the job names none. */
    includesIn: (store: Pick<Store, 'addedVolumes'>) => includes(store, selection),
    /** Lets through the first different keys of a job, up to the number that is wanted. */
    upToLimit: () => upTo(selection?.limit ?? Number.POSITIVE_INFINITY),
    /** Jobs of which something is selected. Throws a sentence where that is none. */
    onlySelected: <Job extends Pick<StagedJob, 'chosen'>>(jobs: readonly Job[]): readonly Job[] => {
      if (selection === null) return jobs
      selection.refuseUnknown()
      const some = jobs.filter(({ chosen }) => chosen > 0)
      if (some.length > 0) return some
      throw new UsageError(`No query is selected by ${selection.text}. Nothing was sent`)
    },
  }
}

type ChoiceStore = Pick<Store, 'latestRun' | 'queryHistories' | 'addedVolumes'>

type UnfinishedRun = NonNullable<Awaited<ReturnType<typeof unfinishedRun>>>

/**
 * The run of a job that the next command goes on with; null where it begins a new one. One of an earlier day is closed where single queries
 * have targets: what it has settled is then not to be bought again.
 */
export async function unfinishedRun(
  store: Pick<Store, 'latestRun'>,
  { name, targets, timezone }: JobSettings,
  now: number,
) {
  const run = await store.latestRun(name)
  if (run === null || isComplete(run.finishReason)) return null
  const isOfToday = run.date === localDay(now, timezone)
  return targets.length === 0 || isOfToday ? { id: run.id, isOfToday } : null
}

/** Whether a query belongs to the run that goes on, wanted or not: what was settled today stays reported, and is not bought again. */
export function isKept(inRun: StoredQueryHistory['inRun'], run: UnfinishedRun | null): boolean {
  return inRun === 'settled' && run?.isOfToday === true
}

/** What a run has settled stays in it. What it has not would be dropped, paid for or not: that is refused. */
function selected(
  store: ChoiceStore,
  { name }: JobSettings,
  run: UnfinishedRun | null,
  selection: Selection,
): Awaited<ReturnType<ChoiceOf>> {
  const take = upTo(selection.limit)
  const isSelected = includes(store, selection)
  let dropped = 0
  return {
    choose: async (queries, keys) => {
      const known =
        run === null
          ? null
          : await store.queryHistories(name, keys, { since: Number.POSITIVE_INFINITY, unfinishedRun: run.id })
      return queries.map((query, place) => {
        const inRun = known?.[place]?.inRun ?? 'not-asked'
        const isWanted = isSelected(query) && take(keys[place] as Buffer)
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

/** Whether a part of jobs has a query: with the volume that was added from a file, where the job names none. */
function includes(
  store: Pick<Store, 'addedVolumes'>,
  selection: Selection | null,
): (query: JobQuery) => boolean {
  const { volumeOf } = store.addedVolumes()
  return (query) => {
    if (selection === null) return true
    const volume = volumeOf(query.volume, query.text, query.params)
    return selection.includes({ ...query, volume })
  }
}

/** Lets through the first different keys, up to a number. */
function upTo(limit: number): (key: Buffer) => boolean {
  if (limit === Number.POSITIVE_INFINITY) return () => true
  const taken = new Set<string>()
  return (key) => {
    const name = key.toString('hex')
    if (taken.size < limit) taken.add(name)
    return taken.has(name)
  }
}
