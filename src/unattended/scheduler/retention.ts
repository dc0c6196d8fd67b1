import { statSync, utimesSync, writeFileSync } from 'node:fs'
import { RanklineError } from '../../model/errors.ts'
import { endOf } from '../../model/run.ts'
import type { Workspace } from '../../model/settings.ts'
import { count, size } from '../../model/text.ts'
import { type Clock, dayMs, timeForAges } from '../../model/time.ts'
import type { Terminal } from '../../output/terminal.ts'
import { workspaces } from '../../run/job-files.ts'
import { turns } from '../../run/lock.ts'
import { databaseLock } from '../../store/sqlite/connection/lock.ts'
import type { CollectDue } from './scheduler.ts'

export type Keep = Workspace['keep']

/** What retention dropped, or would drop; null where nothing is to be dropped of that kind. */
export type Retained = Awaited<ReturnType<typeof countRetention | typeof applyRetention>>

/** What would be dropped of a database. */
async function countRetention(database: string, { answersMs, resultsMs }: Keep, now: number) {
  const { countOld, countOldResults } = await import('../../store/sqlite/maintenance/prune.ts')
  return {
    bodies: answersMs === null ? null : await countOld(database, { before: now - answersMs, now }),
    results: resultsMs === null ? null : await countOldResults(database, { before: now - resultsMs, now }),
    swept: null,
    room: null,
  }
}

/**
 * Drops bodies and results that are older than they are to be kept. Texts that nothing names any more go, too, unless another
 * process is collecting: then the next time.
 *
 * @param isAlone whether this process holds the collector lock of the database
 */
async function applyRetention(
  database: string,
  { answersMs, resultsMs }: Keep,
  now: number,
  isAlone = false,
) {
  const { dropOld, dropOldResults, sweep } = await import('../../store/sqlite/maintenance/prune.ts')
  const old = (ageMs: number) => ({ before: now - ageMs, now })
  const bodies = answersMs === null ? null : await dropOld(database, old(answersMs))
  const results = resultsMs === null ? null : await dropOldResults(database, old(resultsMs))
  const turn = isAlone || results === null ? null : turns.tryCollector(databaseLock(database))
  try {
    const swept = results !== null && (isAlone || turn !== null) ? await sweep(database) : null
    return {
      bodies,
      results,
      /** Texts and links that nothing named any more; null where another process was collecting, or nothing was dropped. */
      swept,
      /** Null where nothing was changed. */
      room: swept ?? results ?? bodies,
    }
  } finally {
    turn?.[Symbol.dispose]()
  }
}

/**
 * Drops what the folders of the jobs in a database no longer keep, at most once a day: a file beside the database says when it was done
 * last. What one folder keeps longer, or for ever, stays. To be called while no process of ours collects into it; null where it was done
 * already, or nothing is to be dropped.
 *
 * @param isConfirmed whether the service agrees with the clock
 */
async function pruneDaily(
  database: string,
  keeps: readonly Keep[],
  now: number,
  isConfirmed = false,
): Promise<Retained | null> {
  const keep = { answersMs: longest(keeps, 'answersMs'), resultsMs: longest(keeps, 'resultsMs') }
  if (keep.answersMs === null && keep.resultsMs === null) return null
  const mark = `${database}.pruned`
  const last = statSync(mark, { throwIfNoEntry: false })?.mtimeMs ?? Number.NEGATIVE_INFINITY
  // A mark of the future was left by a clock that has been set back since.
  if (last <= now && now - last < dayMs) return null
  const dropped = await applyRetention(database, keep, isConfirmed ? now : await timeOfAges(database, now))
  try {
    writeFileSync(mark, '')
    utimesSync(mark, new Date(now), new Date(now))
  } catch {
    // Without the mark it is done again after the next run, and finds less to do.
  }
  return dropped
}

/** The time from which ages count in a database, where nothing confirms the clock. */
async function timeOfAges(database: string, now: number): Promise<number> {
  const { openReader } = await import('../../store/sqlite/open.ts')
  await using store = await openReader(database)
  const [last] = await store.runs({ limit: 1 })
  return timeForAges(now, last === undefined ? null : endOf(last))
}

function longest(keeps: readonly Keep[], what: keyof Keep): number | null {
  const ages = keeps.map((keep) => keep[what])
  return ages.length === 0 || ages.includes(null) ? null : Math.max(...ages.map(Number))
}

/** What the folder of a job keeps: everything while its `rankline.yaml` has mistakes, which the scheduler has logged. */
async function keepOf(jobFile: string): Promise<Keep> {
  try {
    return (await workspaces.of(jobFile)).keep
  } catch (error) {
    if (!(error instanceof RanklineError)) throw error
    return { answersMs: null, resultsMs: null }
  }
}

/** Collects, and then drops what the folders of the jobs no longer keep. What goes wrong there is logged, and tried again after the next run. */
export function withRetention(
  collect: CollectDue,
  {
    database,
    clock,
    isConfirmed = () => false,
    log,
  }: {
    readonly database: string
    readonly clock: Pick<Clock, 'wall'>
    /** Whether the service agrees with the clock. */
    readonly isConfirmed?: () => boolean
    readonly log: Terminal['log']
  },
): CollectDue {
  return async (forms, stop, isTrial) => {
    const ends = await collect(forms, stop, isTrial)
    if (stop.signal.aborted) return ends
    try {
      const keeps = await Promise.all(forms.map(async ({ settings }) => await keepOf(settings.file)))
      const dropped = await pruneDaily(database, keeps, clock.wall(), isConfirmed())
      const line = dropped === null ? null : retainedLine(dropped)
      if (line !== null) log(`Retention: ${line}`, { level: 'info' })
    } catch (error) {
      if (!(error instanceof RanklineError)) throw error
      log(`Retention: ${error.message}`, { level: 'warn' })
    }
    return ends
  }
}

/** What was dropped, as a sentence; null where nothing was. */
function retainedLine({ bodies, results }: Retained): string | null {
  const dropped = [
    ...(bodies === null || bodies.bodies === 0
      ? []
      : [`${count(bodies.bodies, 'stored body', 'stored bodies')} (${size(bodies.bytes)})`]),
    ...(results === null || results.answers === 0
      ? []
      : [`${count(results.results, 'result')} of ${count(results.answers, 'answer')}`]),
  ]
  return dropped.length === 0 ? null : `dropped ${dropped.join(' and ')}; ranks stay.`
}

/** What is dropped by age. */
export const retention = {
  apply: applyRetention,
  count: countRetention,
  daily: pruneDaily,
  timeOfAges,
}
