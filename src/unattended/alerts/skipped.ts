import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { firstMistake } from '../../jobfile/source.ts'
import { isWorkspaceMistake } from '../../jobfile/workspace.ts'
import { RanklineError } from '../../model/errors.ts'
import { type JobSettings, noFile, type Problem } from '../../model/job.ts'
import type { Clock } from '../../model/time.ts'
import { saysWhenDue } from '../../run/due-work.ts'
import type { Outgoing } from '../../run/outgoing.ts'
import { deliver } from '../messages/deliver.ts'
import type { Cause } from './causes.ts'
import { type Hindrance, judgeSkippedJob } from './judge.ts'

/** What is needed to say that jobs could not run. */
export interface SkippedJobAlerting {
  /** Path of the database. Where there is none, or one of an older rankline, nothing is said. */
  readonly database: string
  readonly clock: Pick<Clock, 'wall' | 'monotonic'>
  readonly outgoing: Outgoing
  /** Prints a warning. */
  readonly log: (line: string) => void
}

/** The mistakes that keep a job from running, as a cause that it shares with others of the same file. */
export function causeOfMistakes(mistakes: readonly Problem[]): Cause {
  const shared = mistakes.filter(isWorkspaceMistake)
  const told = shared.length > 0 ? shared : mistakes
  const place = resolve(told[0]?.where ?? '')
  const text = firstMistake(told) ?? 'A file has mistakes'
  return { kind: shared.length > 0 ? 'workspace' : 'file', place, text, now: null, when: 'run-skipped' }
}

/** What keeps every job from running: no call can be made with the settings. */
export function causeOfSettings(text: string): Cause {
  return { kind: 'settings', place: '', text, now: null, when: 'run-skipped' }
}

/**
 * Says of jobs, by their files, what kept them from running at their time, and of others that nothing does any more, where
 * their rules ask for that (`when: run-skipped`). The rules are those of the last run.
 */
export async function alertSkippedJobs(
  {
    skipped,
    running,
    isConcerned = () => true,
  }: {
    readonly skipped: ReadonlyMap<string, Hindrance>
    readonly running: readonly string[]
    /** Whether a skipped job is told of, by the settings of its last run. */
    readonly isConcerned?: (settings: JobSettings) => boolean
  },
  { database, clock, outgoing, log }: SkippedJobAlerting,
): Promise<void> {
  if ((skipped.size === 0 && running.length === 0) || !existsSync(database)) return
  const { needsMigration } = await import('../../store/sqlite/connection/inspect.ts')
  if (needsMigration(database)) return
  const { openReader, openStore } = await import('../../store/sqlite/open.ts')
  const jobs = new Map<string, string>()
  {
    await using reader = await openReader(database)
    for (const job of await reader.jobNames()) jobs.set((await reader.jobFile(job)) ?? noFile, job)
    const back = running.flatMap((file) => jobs.get(resolve(file)) ?? [])
    if (skipped.size === 0 && !(await reader.isAnyStopped(back))) return
  }
  await using store = await openStore(database)
  let isTold = false
  const note = async (file: string, hindrance: Hindrance | null): Promise<void> => {
    const job = jobs.get(resolve(file))
    if (job === undefined) return
    isTold = (await judgeSkippedJob({ store, clock }, job, hindrance)) || isTold
  }
  for (const file of running) await note(file, null)
  for (const [file, hindrance] of skipped) {
    const job = jobs.get(resolve(file))
    const [last] = job === undefined ? [] : await store.runs({ job, limit: 1 })
    if (last !== undefined && isConcerned(last.settings)) await note(file, hindrance)
  }
  if (isTold) await deliver({ store, clock, outgoing, log })
}

/**
 * Says of jobs whose files are left out, for they had mistakes when they were first read, that they are not run: whenever that
 * changes. That is over when the files are run. Nothing that goes wrong is thrown; it is logged once, and tried again.
 */
export function leftOutTeller(
  leftOut: () => ReadonlyMap<string, readonly Problem[]>,
  options: Omit<SkippedJobAlerting, 'outgoing'> & { readonly outgoing: () => Outgoing },
): () => Promise<void> {
  let told = JSON.stringify([])
  let failure = ''
  return async () => {
    const files = [...leftOut()]
    const now = JSON.stringify(files)
    if (now === told) return
    const skipped = new Map(files.map(([file, mistakes]) => [file, causeOfMistakes(mistakes)]))
    try {
      const outgoing = options.outgoing()
      await alertSkippedJobs({ skipped, running: [], isConcerned: saysWhenDue }, { ...options, outgoing })
      told = now
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      if (message !== failure)
        options.log(
          error instanceof RanklineError ? message : `Alerts were not sent: internal error: ${message}`,
        )
      failure = message
    }
  }
}
