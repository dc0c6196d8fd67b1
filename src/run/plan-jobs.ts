import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { billableOperation } from '../catalog/index.ts'
import { type AccountReading, fetchUsage } from '../collect/account.ts'
import { stopSignal, UsageUnavailable } from '../collect/stop.ts'
import { type JobSettings, noFile } from '../model/job.ts'
import { continuedQuery, queryKey } from '../model/query.ts'
import { isComplete, type Run } from '../model/run.ts'
import { count, shellQuoted, shellWord } from '../model/text.ts'
import { freshSpan, localDay, systemClock } from '../model/time.ts'
import { quoted } from '../model/values.ts'
import type { Store } from '../store/sqlite/open.ts'
import type { PlanDraft } from '../store/sqlite/planning/draft.ts'
import type { EditedQueries } from '../store/sqlite/planning/planned.ts'
import type { PlannedJob } from '../store/sqlite/planning/staging.ts'
import { type App, connections } from './app.ts'
import type { StagedJob } from './job-files.ts'

/** A job of a command as it would be planned, with what becomes of it. */
export type JobDecision = Awaited<ReturnType<typeof decideJobs>>[number]

/** What each staged job would do; with `change`, runs that can no longer go on are closed. */
async function decideJobs(
  store: Store,
  jobs: readonly StagedJob[],
  {
    fresh,
    change,
    together = true,
  }: {
    readonly fresh: boolean
    readonly change: boolean
    /** Whether they are one piece of work, in which a finished job waits for the others. */
    readonly together?: boolean
  },
  now: number = systemClock.wall(),
) {
  const dates = jobs.map(({ settings }) => localDay(now, settings.timezone))
  const tracked = jobs.map(({ settings, tracked }, index) => ({
    job: { name: settings.name, tracked },
    date: dates[index] as string,
  }))
  const courses: ResumeDecision[] = []
  for (const some of together ? [tracked] : tracked.map((one) => [one]))
    courses.push(
      ...(await decideResume(
        store,
        some.map(({ job }) => job),
        { dates: some.map(({ date }) => date), fresh, now },
        change,
      )),
    )
  return jobs.map((job, index) => {
    const decision = courses[index] as ResumeDecision
    const planned: PlannedJob = {
      settings: job.settings,
      date: dates[index] as string,
      continues: decision.do === 'continue' ? decision.run.id : null,
      fresh: freshSpan(job.settings.freshnessMs, now),
    }
    return { job, decision, planned }
  })
}

/** What edits of job files cost their history, a sentence each, of jobs that are to be collected; renamed ones, too. */
async function editedJobs(
  store: Pick<Store, 'jobFiles'>,
  draft: PlanDraft,
  decided: readonly JobDecision[],
): Promise<readonly string[]> {
  const lines: string[] = []
  const gone = await jobsWithoutFile(store, decided)
  for (const { job, decision } of decided) {
    const edited = decision.do === 'show' ? null : await draft.edited(job.settings.name)
    if (edited !== null) lines.push(...editLines(job.settings, edited))
    const { name, file } = job.settings
    const before = decision.do === 'show' || gone.length === 0 ? null : await draft.formerJob(name, gone)
    if (before !== null) lines.push(renamedLine(name, file, before))
  }
  return lines
}

/** Jobs whose file is gone, or names another job by now. */
async function jobsWithoutFile(
  store: Pick<Store, 'jobFiles'>,
  decided: readonly JobDecision[],
): Promise<readonly string[]> {
  const names = new Set(decided.map(({ job }) => job.settings.name))
  const files = new Set(decided.map(({ job }) => job.settings.file))
  return (await store.jobFiles())
    .filter(({ name, file }) => !names.has(name) && file !== noFile && (files.has(file) || !existsSync(file)))
    .map(({ name }) => name)
}

function renamedLine(
  name: string,
  file: string,
  { job, same, asked }: { readonly job: string; readonly same: number; readonly asked: number },
): string {
  const isYaml = /\.ya?ml$/i.test(file)
  const way = isYaml ? `write 'name: ${job}' into ${relative('', file)}` : `add --name ${shellWord(job)}`
  return `${name}: has not run yet, and asks ${count(same, 'query', 'queries')} of the ${asked} of ${job}, which no file describes any more. To keep its history ${way}, or: rankline job rename ${shellWord(job)} ${shellWord(name)}`
}

/** A line for each job that is paused and runs all the same, because it was named. */
async function pausedJobs(
  store: Pick<Store, 'pauseOf'>,
  jobs: readonly StagedJob[],
): Promise<readonly string[]> {
  const lines: string[] = []
  for (const { settings } of jobs)
    if ((await store.pauseOf(settings.name)).pausedAt !== null)
      lines.push(
        `${settings.name} is paused: it runs only by hand, as now, until: rankline job resume ${shellWord(settings.name)}`,
      )
  return lines
}

export async function accountOf({
  service,
  store,
  clock,
  keyHash,
}: App): Promise<AccountReading | UsageUnavailable> {
  try {
    return await fetchUsage(
      {
        service,
        store,
        clock,
        keyHash,
        random: Math.random,
        signal: stopSignal().signal,
        maxThrottlingMs: connections.lookupDelays.throttledMs,
      },
      null,
    )
  } catch (error) {
    if (error instanceof UsageUnavailable) return error
    throw error
  }
}

/** The decision of a `run` command for one of its jobs. */
type ResumeDecision =
  | { readonly do: 'begin' }
  | { readonly do: 'continue'; readonly run: Run }
  /** The job finished in a group of runs in which another job of the command did not finish. */
  | { readonly do: 'show'; readonly run: Run }

/**
 * Decides for each job whether a new run begins or the last one continues. A job with targets is continued only on the same
 * local day. Runs that can no longer be continued are closed.
 */
export async function decideResume(
  store: Pick<Store, 'latestRun' | 'closeRun'>,
  jobs: readonly {
    readonly name: string
    /** Whether the job or one of its queries has targets. */
    readonly tracked: boolean
  }[],
  {
    dates,
    fresh,
    now,
  }: {
    /** Local day of each job, in their order. */
    readonly dates: readonly string[]
    readonly fresh: boolean
    readonly now: number
  },
  change: boolean,
): Promise<readonly ResumeDecision[]> {
  const latest = await Promise.all(jobs.map(({ name }) => store.latestRun(name)))
  const unfinished = latest.map((run) => run !== null && !isComplete(run.finishReason))
  const continued = jobs.map(
    (job, index) =>
      unfinished[index] === true && !fresh && (!job.tracked || latest[index]?.date === dates[index]),
  )
  if (change)
    for (const [index, run] of latest.entries())
      if (run !== null && unfinished[index] === true && continued[index] !== true)
        await store.closeRun(run.id, now)

  const goingOn = new Set(
    latest.flatMap((run, index) => (continued[index] === true && run !== null ? [run.groupId] : [])),
  )
  return latest.map((run, index): ResumeDecision => {
    if (run === null || fresh) return { do: 'begin' }
    if (continued[index] === true) return { do: 'continue', run }
    return !(unfinished[index] ?? false) && goingOn.has(run.groupId) ? { do: 'show', run } : { do: 'begin' }
  })
}

type EditedPair = EditedQueries['pairs'][number]

/**
 * What an edit of a job costs its history, a sentence each: queries that became new because of one edit, with the setting that keeps
 * their history; then those of which it is only known that they came and went.
 */
export function editLines(
  { name, file, continues }: Pick<JobSettings, 'name' | 'file' | 'continues'>,
  { fresh, gone, pairs }: EditedQueries,
): readonly string[] {
  const edits = new Map<string, ReturnType<typeof editOf>>()
  let [told, kept] = [0, 0]
  for (const pair of closest(pairs)) {
    told += pair.queries
    if (isContinued(pair, continues)) {
      kept += pair.queries
      continue
    }
    const edit = editOf(pair)
    const key = edit.setting === 'texts' ? 'texts' : edit.were.join()
    const known = edits.get(key)
    if (known === undefined) edits.set(key, edit)
    else {
      known.queries += edit.queries
      if (edit.setting === 'texts') known.were.push(...edit.were)
    }
  }
  const isYaml = /\.ya?ml$/i.test(file)
  const lines = [...edits.values()].map((edit) => {
    const { queries, because, typed } = edit
    const way = isYaml || typed === null ? `continues: ${keepOf(edit)} in the job file` : typed
    return `${name}: ${become(queries)} new because ${because}; ${queries === 1 ? 'its' : 'their'} history ends. Keep it with ${way}`
  })
  if (kept > 0) lines.push(`${name}: ${goOn(kept)} with the history of before, which is not compared.`)
  const [came, went] = [Math.max(0, fresh - told), Math.max(0, gone - told)]
  if (came > 0 && went > 0)
    lines.push(
      `${name}: ${count(came, 'query is', 'queries are')} new, and ${count(went, 'query', 'queries')} of the last run ${went === 1 ? 'is' : 'are'} no longer asked, so ${went === 1 ? 'its' : 'their'} history ends.`,
    )
  return lines
}

function become(queries: number): string {
  return `${count(queries, 'query', 'queries')} ${queries === 1 ? 'becomes' : 'become'}`
}

function goOn(queries: number): string {
  return `${count(queries, 'query', 'queries')} ${queries === 1 ? 'goes' : 'go'} on`
}

/** Texts that a sentence names at most. */
const mostTexts = 3

function keepOf({ setting, were }: Pick<ReturnType<typeof editOf>, 'setting' | 'were'>): string {
  if (setting === 'operation') return `{ operation: ${were[0]} }`
  const more = were.length > mostTexts && setting === 'texts' ? ', …' : ''
  const named = setting === 'texts' ? were.slice(0, mostTexts) : were
  return `{ ${setting}: { ${named.join(', ')}${more} } }`
}

/** Each query is paired with the former one that it differs least from: a matrix asks one text in several ways. */
function closest(pairs: readonly EditedPair[]): readonly EditedPair[] {
  const best = new Map<string, { readonly pair: EditedPair; readonly differences: number }>()
  for (const pair of pairs) {
    const { operation, params, text } = pair.now
    const key = JSON.stringify([operation, params, text === pair.was.text ? null : text])
    const differences = Object.keys(changedParams(pair)).length
    const known = best.get(key)
    if (known === undefined || differences < known.differences) best.set(key, { pair, differences })
  }
  return [...best.values()].map(({ pair }) => pair)
}

/** What parameters were, where they are other ones now; null for one that was not set. */
function changedParams({ was, now }: EditedPair): Readonly<Record<string, string | number | null>> {
  const names = [...new Set([...Object.keys(was.params), ...Object.keys(now.params)])].sort()
  return Object.fromEntries(
    names
      .filter((name) => was.params[name] !== now.params[name])
      .map((name) => [name, was.params[name] ?? null]),
  )
}

function isContinued({ was, now }: EditedPair, continues: JobSettings['continues']): boolean {
  const former = continues === null ? null : continuedQuery(now, continues)
  return former !== null && queryKey(former).equals(queryKey(was))
}

/** An edit, and how many queries it turned into other queries. */
function editOf(pair: EditedPair): {
  queries: number
  /** What `continues:` names it, and what things were, each as a job file writes it. */
  readonly setting: 'params' | 'operation' | 'texts'
  readonly were: string[]
  /** As it is typed as an option; null where there is none. */
  readonly typed: string | null
  /** What happened, after "because". */
  readonly because: string
} {
  const { queries, was, now } = pair
  if (was.text !== now.text)
    return {
      queries,
      setting: 'texts',
      typed: null,
      were: [`${JSON.stringify(now.text)}: ${JSON.stringify(was.text)}`],
      because: `the case of texts was changed, such as ${quoted(was.text)} to ${quoted(now.text)}`,
    }
  if (was.operation !== now.operation) {
    const isOther = billableOperation(was.operation).kind !== billableOperation(now.operation).kind
    return {
      queries,
      setting: 'operation',
      typed: null,
      were: [was.operation],
      because: `the operation was changed from ${was.operation} to ${now.operation}${isOther ? ', which has other results' : ''}`,
    }
  }
  const changed = Object.entries(changedParams(pair))
  const verbs = changed.map(([name, before]) => {
    if (before === null) return `${name} was added`
    return Object.hasOwn(now.params, name)
      ? `${name} was changed from ${quoted(String(before))}`
      : `${name} was removed`
  })
  return {
    queries,
    setting: 'params',
    were: changed.map(([name, before]) => `${name}: ${before === null ? 'null' : JSON.stringify(before)}`),
    typed: changed.map(([name, before]) => `--continues ${shellQuoted(`${name}=${before ?? ''}`)}`).join(' '),
    because: verbs.join(' and '),
  }
}

/** What becomes of jobs that are to be run. */
export const jobDecisions = {
  of: decideJobs,
  edited: editedJobs,
  paused: pausedJobs,
}
