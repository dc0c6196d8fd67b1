import type { Run, Task } from '../model/run.ts'
import { latestCounted, type Period, periodAt, type TimeSpan } from '../model/time.ts'

/** Credits that may be spent in a local day or a calendar month. */
export interface PeriodLimit {
  /** Whose it is: of one job, of all jobs of a folder, or of the queries with a tag there. */
  readonly scope: 'job' | 'folder' | 'tag'
  /** The job, the folder or the tag. */
  readonly name: string
  /** The folder of a tag. */
  readonly folder?: string
  readonly period: Period
  readonly credits: number
  /** Time zone of its days and months. */
  readonly timezone: string
  /** Jobs whose credits count to it. */
  readonly jobs: readonly string[]
  /** Jobs known to count towards another limit. With a queue, jobs of other hosts that are not among these count towards this one. */
  readonly elsewhere: readonly string[]
}

/** A limit, and what the ledger says was spent in a period: what was or may have been billed, and what is in flight. */
export interface CountedLimit {
  readonly limit: PeriodLimit
  readonly span: TimeSpan
  readonly used: number
}

/** What limits for days and months still cover, exact to the credit while calls are in flight. */
export type PeriodLimits = ReturnType<typeof periodLimits>

/** @param wall the clock that says which period it is, epoch ms */
export function periodLimits(
  counted: readonly CountedLimit[],
  runs: readonly Pick<Run, 'id' | 'job'>[],
  wall: () => number,
) {
  const reservedTasks = new Set<number>()
  const states = counted.map((one) => limitState(one, runs))
  const ofRun = new Map(runs.map(({ id }) => [id, states.filter(({ runIds }) => runIds.has(id))]))
  let nextChange = Math.min(...states.map(({ span }) => span.until))

  /** Begins the periods anew whose time is over; a clock that is set back changes nothing. */
  const update = (): void => {
    const now = wall()
    if (now < nextChange) return
    for (const state of states) {
      if (now < state.span.until) continue
      state.span = periodAt(state.limit.period, now, state.limit.timezone)
      state.used = 0
      state.carried = new Set(reservedTasks)
    }
    nextChange = Math.min(...states.map(({ span }) => span.until))
  }
  const binding = (runId: number, tags: readonly string[] = []): readonly LimitState[] => {
    update()
    return (ofRun.get(runId) ?? []).filter((state) => {
      const tag = tagOf(state)
      return tag === null || tags.includes(tag)
    })
  }
  const bound = ({ runId, tags }: Task): readonly LimitState[] => binding(runId, tags)
  const reserve = (task: Task): void => {
    if (reservedTasks.has(task.id)) return
    for (const state of bound(task)) state.reserved += task.credits
    reservedTasks.add(task.id)
  }

  return {
    /** What they leave a task of the run, infinite without any; limits of tags only for the tags that are given. */
    left: (runId: number, tags?: readonly string[]): number =>
      Math.min(Number.POSITIVE_INFINITY, ...binding(runId, tags).map(leftOf)),
    reserve,
    release: (task: Task): void => {
      const states = bound(task)
      if (!reservedTasks.delete(task.id)) return
      for (const state of states) {
        state.reserved -= task.credits
        state.carried.delete(task.id)
      }
    },
    /** Counts a call that was or may have been billed; `sentAt` is now where it is not given. */
    spent: (task: Task, sentAt: number = wall()): void => {
      for (const state of bound(task)) {
        const wasBefore = sentAt < state.span.from && state.carried.has(task.id)
        if (!wasBefore) state.used += task.credits
      }
    },
    /** A job that an earlier process submitted: its credits, counted before, are reserved from now on. */
    resume: (task: Task, sentAt: number): void => {
      for (const state of bound(task)) {
        if (sentAt >= state.span.from) state.used -= task.credits
        else state.carried.add(task.id)
      }
      reserve(task)
    },
    /** Limits of more than one run, or of a tag: several tasks of a lease share them. */
    shared: () => {
      update()
      return states
        .filter(({ runIds, limit }) => runIds.size > 1 || limit.scope === 'tag')
        .map((state) => ({
          runIds: [...state.runIds],
          /** Only tasks of queries with this tag; null for all. */
          tag: tagOf(state),
          left: leftOf(state),
        }))
    },
    /** Limits that leave a task of the run less than that; those of tags only for the tags that are given. */
    reached: (runId: number, credits: number, tags?: readonly string[]): readonly CountedLimit[] =>
      binding(runId, tags).filter((state) => leftOf(state) < credits),
    /** Tags that have a limit in the job of the run. */
    tagsOf: (runId: number): readonly string[] => [
      ...new Set((ofRun.get(runId) ?? []).flatMap((state) => tagOf(state) ?? [])),
    ],
    /** All limits as they stand now. */
    standings: (): readonly CountedLimit[] => {
      update()
      return states
    },
  }
}

type LimitState = ReturnType<typeof limitState>

/** A limit at the beginning, with the runs that it holds for. */
function limitState({ limit, span, used }: CountedLimit, runs: readonly Pick<Run, 'id' | 'job'>[]) {
  return {
    limit,
    runIds: new Set(runs.filter(({ job }) => limit.jobs.includes(job)).map(({ id }) => id)),
    span,
    used,
    reserved: 0,
    /** Tasks that were reserved when the period began: their calls may have been sent before. */
    carried: new Set<number>(),
  }
}

function tagOf({ limit: { scope, name } }: Pick<LimitState, 'limit'>): string | null {
  return scope === 'tag' ? name : null
}

function leftOf({ limit, used, reserved }: LimitState): number {
  return Math.max(0, limit.credits - used - reserved)
}

/** The limits of a job's own file. */
export function limitsOfJob({
  name,
  timezone,
  budget: { perDay, perMonth },
}: Pick<Run['settings'], 'name' | 'timezone' | 'budget'>): readonly PeriodLimit[] {
  return limitsOf({ perDay, perMonth }, { scope: 'job', name, timezone, jobs: [name], elsewhere: [] })
}

/** What a day and a month allow, as limits of whom they are for. */
export function limitsOf(
  { perDay, perMonth }: { readonly perDay: number | null; readonly perMonth: number | null },
  whose: Omit<PeriodLimit, 'period' | 'credits'>,
): readonly PeriodLimit[] {
  return [
    ...(perDay === null ? [] : [{ ...whose, period: 'day' as const, credits: perDay }]),
    ...(perMonth === null ? [] : [{ ...whose, period: 'month' as const, credits: perMonth }]),
  ]
}

/** The limits with what was spent of them in the periods that hold an instant. */
export async function countLimits(
  store: {
    creditsSent(
      span: TimeSpan,
    ): Promise<readonly { readonly job: string; readonly spent: number; readonly ambiguous: number }[]>
    creditsSentByTag(
      span: TimeSpan,
      jobs: readonly string[],
      tags: readonly string[],
    ): Promise<ReadonlyMap<string, number>>
  },
  limits: readonly PeriodLimit[],
  now: number,
): Promise<readonly CountedLimit[]> {
  const byJob = new Map<string, ReturnType<typeof store.creditsSent>>()
  const sumOf = async ({ scope, name, jobs }: PeriodLimit, span: TimeSpan): Promise<number> => {
    if (scope === 'tag') return (await store.creditsSentByTag(span, jobs, [name])).get(name) ?? 0
    const key = `${span.from} ${span.until}`
    const sums = byJob.get(key) ?? store.creditsSent(span)
    byJob.set(key, sums)
    const ofThese = (await sums).filter(({ job }) => jobs.includes(job))
    return ofThese.reduce((sum, { spent, ambiguous }) => sum + spent + ambiguous, 0)
  }
  const counted = limits.map(async (limit) => {
    const span = periodAt(limit.period, now, limit.timezone)
    const counted = { from: span.from, until: Math.min(span.until, latestCounted(now)) }
    return { limit, span, used: await sumOf(limit, counted) }
  })
  return await Promise.all(counted)
}
