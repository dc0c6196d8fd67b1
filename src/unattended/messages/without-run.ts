import { existsSync } from 'node:fs'
import { RanklineError } from '../../model/errors.ts'
import type { JobSettings } from '../../model/job.ts'
import type { Clock } from '../../model/time.ts'
import type { Outgoing } from '../../run/outgoing.ts'
import { deliver } from './deliver.ts'
import { dueDigests, queueDigests } from './digest.ts'

export interface WithoutRun {
  /** Path of the database; where it is missing nothing waits. */
  readonly database: string
  readonly clock: Pick<Clock, 'wall' | 'monotonic'>
  /** Asked for each time, for settings may have changed. */
  readonly outgoing: () => Outgoing
  /** Prints a warning. */
  readonly log: (line: string) => void
}

/** How often waiting messages are sent. */
const everyMs = 60_000

/**
 * What a scheduler does between runs, as often as it likes: once a minute it puts in the digests of these jobs that are due, and
 * sends what waits. A line that was said the time before is not said again. Nothing that goes wrong is thrown.
 */
export function sendWithoutRun(parts: WithoutRun): (jobs: readonly JobSettings[]) => Promise<void> {
  let lookedAt = Number.NEGATIVE_INFINITY
  let saidBefore: ReadonlySet<string> = new Set()
  return async (jobs) => {
    if (parts.clock.monotonic() - lookedAt < everyMs) return
    lookedAt = parts.clock.monotonic()
    const said = new Set<string>()
    const log = (line: string): void => {
      if (!saidBefore.has(line) && !said.has(line)) parts.log(line)
      said.add(line)
    }
    try {
      await send(jobs, { ...parts, log })
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      log(error instanceof RanklineError ? message : `Messages were not sent: internal error: ${message}`)
    }
    saidBefore = said
  }
}

async function send(jobs: readonly JobSettings[], parts: WithoutRun): Promise<void> {
  const { database, clock, outgoing, log } = parts
  if (!existsSync(database) || !(await isAnythingDue(jobs, parts))) return
  const { openStore } = await import('../../store/sqlite/open.ts')
  await using store = await openStore(database)
  await queueDigests(jobs, { store, clock, log })
  await deliver({ store, clock, outgoing: outgoing(), log })
}

/** Most of the time nothing waits, and the database is only read. One of an older rankline is left to the next run. */
async function isAnythingDue(
  jobs: readonly JobSettings[],
  { database, clock }: Pick<WithoutRun, 'database' | 'clock'>,
): Promise<boolean> {
  const { needsMigration } = await import('../../store/sqlite/connection/inspect.ts')
  if (needsMigration(database)) return false
  const { openReader } = await import('../../store/sqlite/open.ts')
  await using reader = await openReader(database)
  const now = clock.wall()
  if ((await reader.dueMessages(now)).length > 0) return true
  for (const job of jobs) if ((await dueDigests(job, reader, now)).length > 0) return true
  return false
}
