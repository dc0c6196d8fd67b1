import { count, shortKey } from '../model/text.ts'
import { dayMs, utcMinute } from '../model/time.ts'
import { sanitize } from '../output/terminal.ts'
import type { PausedPart } from './journal.ts'
import type { QueueStatus } from './postgres/operations.ts'
import { blockLine } from './sync.ts'

/** A worker that said nothing for so long is lost. */
const lostAfterMs = 120_000
/** A database that is behind and was not synced for so long is told: what it has not read is kept for it. */
const silentReaderMs = 7 * dayMs
/** A key whose workers have chunks and leased no send time for so long stands still; a transaction that keeps readers waiting for so long is told. */
const stalledAfterMs = 60_000
const blockedAfterMs = 10_000
/** So many queries of a chunk are named. */
const queriesNamed = 3

/** What someone should look at, a sentence each. */
function problemsOf(status: QueueStatus, now: number): readonly string[] {
  const { runs, workers, keys, readers, paused, dead, blockedBy } = status
  const up = workers.filter(({ seenAt }) => now - seenAt <= lostAfterMs)
  const going = runs.filter(({ isPaused }) => !isPaused)
  const toBuy = (run: QueueStatus['runs'][number]): number =>
    run.chunks.planned + run.chunks.released + run.chunks.leased
  const withoutWorker = new Set(
    going
      .filter((run) => toBuy(run) > 0 && !up.some((worker) => worker.keys.includes(run.keyHash)))
      .map(({ keyHash }) => keyHash),
  )
  const alone = going.filter((run) => run.coordinator === null && toBuy(run) > 0)
  // Without a limit, send times are not leased for each call.
  const stalled = keys.filter(
    ({ keyHash, perSecond, perMinute, heldUntil, lastLeaseAt }) =>
      (perSecond !== null || perMinute !== null) &&
      heldUntil === null &&
      lastLeaseAt !== null &&
      now - lastLeaseAt > stalledAfterMs &&
      going.some((run) => run.keyHash === keyHash && run.chunks.leased > 0),
  )
  return [
    ...dead.map(
      ({ job, queries, lastQueries }) =>
        `${sanitize(job)}: workers were lost over a chunk of ${count(queries, 'query', 'queries')}${namedQueries(lastQueries)}; try again: rankline queue retry`,
    ),
    ...alone.map(
      ({ job, chunks }) =>
        `${sanitize(job)}: no process coordinates its run, and ${count(chunks.planned, 'chunk')} of it ${chunks.planned === 1 ? 'waits' : 'wait'} to be released; run the same command again`,
    ),
    ...[...withoutWorker].map(
      (keyHash) => `key ${shortKey(keyHash)}: no worker has it; start one: rankline worker`,
    ),
    ...workers
      .filter((worker) => !up.includes(worker))
      .map(({ name, seenAt }) => `${sanitize(name)}: not seen for ${minutesSince(seenAt, now)} minutes`),
    ...keys
      .filter(({ heldUntil }) => heldUntil !== null)
      .map(
        ({ keyHash }) =>
          `key ${shortKey(keyHash)}: the service refuses calls for their rate; all workers wait`,
      ),
    ...stalled.map(
      ({ keyHash, lastLeaseAt }) =>
        `key ${shortKey(keyHash)}: its workers have chunks and have sent nothing for ${minutesSince(lastLeaseAt as number, now)} minutes; look at their logs`,
    ),
    ...paused.map(
      (part) =>
        `${sanitize(partName(part))}: paused since ${utcMinute(part.since)} UTC; to go on: rankline queue resume`,
    ),
    ...readers
      .filter(({ seenAt, isBehind }) => isBehind && now - seenAt > silentReaderMs)
      .map(
        ({ name, seenAt }) =>
          `${sanitize(name)}: not synced for ${Math.round((now - seenAt) / dayMs)} days; what it has not read stays in the queue until it is, or until it counts no longer: rankline sync`,
      ),
    ...(blockedBy !== null && blockedBy.since !== null && now - blockedBy.since > blockedAfterMs
      ? [blockLine(blockedBy)]
      : []),
  ]
}

/** What was paused, for people. */
function partName({ keyHash, job, worker }: PausedPart): string {
  if (worker !== null) return `worker ${worker}`
  if (keyHash === null) return 'the whole queue'
  return job === null ? `key ${shortKey(keyHash)}` : `${job} (key ${shortKey(keyHash)})`
}

function namedQueries(texts: readonly string[]): string {
  if (texts.length === 0) return ''
  const more = texts.length > queriesNamed ? ` and ${texts.length - queriesNamed} more` : ''
  return `, while they asked ${texts
    .slice(0, queriesNamed)
    .map((text) => `"${sanitize(text)}"`)
    .join(', ')}${more}`
}

function minutesSince(instant: number, now: number): number {
  return Math.round((now - instant) / 60_000)
}

/** What is wrong with a queue, for people. */
export const queueProblems = {
  all: problemsOf,
  lostAfterMs,
  partName,
}
