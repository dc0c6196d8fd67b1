import { isComplete, type Run } from '../model/run.ts'
import type { RunStore } from '../store/runs.ts'

/** The decision of a `run` command for one of its jobs. */
export type ResumeDecision =
  | { readonly do: 'begin' }
  | { readonly do: 'continue'; readonly run: Run }
  /** The job finished in a group of runs in which another job of the command did not finish. */
  | { readonly do: 'show'; readonly run: Run }

/**
 * Decides for each job whether a new run begins or the last one continues. A job with targets is continued only on the same
 * local day. Runs that can no longer be continued are closed.
 */
export async function decideResume(
  store: Pick<RunStore, 'latestRun' | 'closeRun'>,
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
