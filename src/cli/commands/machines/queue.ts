import type { MovedJob, QueueStatus } from '../../../machines/journal.ts'
import { printedLayout } from '../../../machines/postgres/open.ts'
import { migrateQueue, neededQueue, queueWork, rekeyJobs } from '../../../machines/queue.ts'
import { type OptionSpecs, switchOption, textOption } from '../../../model/option.ts'
import { count, grouped, shortKey } from '../../../model/text.ts'
import { systemClock } from '../../../model/time.ts'
import { formatTable } from '../../../output/table.ts'
import { sanitize, type Terminal } from '../../../output/terminal.ts'
import { type Command, chosenWork, queueFlags, serviceFlags, type TypedOptions } from '../../flags.ts'

const works = { status, drain, retry, rekey, migrate }

const { 'base-url': baseUrl, 'api-key-file': apiKeyFile, 'allow-http': allowHttp } = serviceFlags

const flags = {
  ...queueFlags,
  'base-url': baseUrl,
  'api-key-file': apiKeyFile,
  'allow-http': allowHttp,
  job: textOption('rekey: only the job of that name'),
  from: textOption(
    'rekey: the key that the jobs have, as queue status shows it; default: what this database has begun',
  ),
  print: switchOption('migrate: print the statements and the least rights of each role, and change nothing'),
} satisfies OptionSpecs

type QueueCommandFlags = TypedOptions<typeof flags> & { readonly what: string }

export const queueCommand = {
  flags,
  words: Object.keys(works),
  exits: [0, 1, 2, 6, 7],
  docs: 'docs/many-machines.md',
  examples: [
    ['queue status', 'runs, workers and readers; problems first'],
    ['queue drain', 'runs stop, and workers finish what they have'],
    ['queue rekey --job acme', 'after a new API key: the job goes on with it'],
  ],
  run: queue,
} satisfies Command

/** `rankline queue`: what people ask of the queue of many machines. */
export async function queue(flags: QueueCommandFlags, terminal: Terminal): Promise<number> {
  const what = chosenWork('queue', works, flags.what)
  return await works[what](flags, terminal)
}

async function status(flags: QueueCommandFlags, terminal: Terminal): Promise<number> {
  const found = await queueWork(neededQueue(flags), ({ operations }) => operations.status())
  if (flags.json === true) await terminal.write(`${JSON.stringify(document(found), null, 2)}\n`)
  else await terminal.write(statusText(found, terminal.columns))
  return 0
}

async function drain(flags: QueueCommandFlags, terminal: Terminal): Promise<number> {
  const chunks = await queueWork(neededQueue(flags), ({ operations }) => operations.drain())
  await terminal.write(
    flags.json === true
      ? `${JSON.stringify({ chunks }, null, 2)}\n`
      : `Took back ${count(chunks, 'chunk')}. Runs stop, and workers finish what they have; the same commands go on later.\n`,
  )
  return 0
}

async function retry(flags: QueueCommandFlags, terminal: Terminal): Promise<number> {
  const chunks = await queueWork(neededQueue(flags), ({ operations }) => operations.retry())
  await terminal.write(
    flags.json === true
      ? `${JSON.stringify({ chunks }, null, 2)}\n`
      : `${count(chunks, 'chunk')} can be released again. Run the same job again to buy what they lack.\n`,
  )
  return 0
}

async function rekey(flags: QueueCommandFlags, terminal: Terminal): Promise<number> {
  const { job, from } = flags
  const { to, moved } = await rekeyJobs(flags, neededQueue(flags), { job, from })
  const jobs = moved.map(({ keyHash, ...what }) => ({ ...what, from: keyHash }))
  if (flags.json === true) await terminal.write(`${JSON.stringify({ key: to, jobs }, null, 2)}\n`)
  else if (moved.length === 0) await terminal.write('Nothing to move: no such job has another key.\n')
  else await terminal.write(moved.map((one) => `${movedLine(one, to)}\n`).join(''))
  return 0
}

function movedLine({ job, keyHash, runs, chunks, leased }: MovedJob, to: string): string {
  const moved = `Moved ${sanitize(job)} from key ${shortKey(keyHash)} to ${shortKey(to)}: ${count(runs, 'run')}, ${count(chunks, 'chunk')}.`
  const left = `Workers of the former key finish ${count(leased, 'chunk')} that they have.`
  return leased === 0 ? moved : `${moved} ${left}`
}

async function migrate(flags: QueueCommandFlags, terminal: Terminal): Promise<number> {
  if (flags.print === true) {
    await terminal.write(printedLayout())
    return 0
  }
  const { before, now } = await migrateQueue(neededQueue(flags))
  await terminal.write(
    flags.json === true
      ? `${JSON.stringify({ before, now }, null, 2)}\n`
      : `${before === null ? 'Laid out the queue' : before === now ? 'The queue is up to date' : `Brought the queue from version ${before}`}: version ${now}.\n`,
  )
  return 0
}

/** A worker that said nothing for so long is lost. */
const lostAfterMs = 120_000

function statusText(status: QueueStatus, columns: number): string {
  const now = systemClock.wall()
  const problems = problemsOf(status, now)
  const parts = [
    problems.length === 0 ? 'No problems.\n' : `${problems.join('\n')}\n`,
    table(
      'Unfinished runs',
      [
        ...['job', 'key', 'coordinator', 'waiting', 'released', 'leased', 'done', 'spent', 'reserved'],
        'possibly billed',
      ],
      status.runs.map((run) => [
        ...[run.job, shortKey(run.keyHash), run.coordinator ?? '(none)'],
        ...[run.chunks.planned, run.chunks.released, run.chunks.leased, run.chunks.done].map(grouped),
        ...[run.spent, run.reserved, run.inDoubt].map(grouped),
      ]),
      columns,
    ),
    table(
      'Workers',
      ['worker', 'key', 'version', 'chunks', 'seen', 'clock ahead'],
      status.workers.map(({ name, keys, version, chunks, seenAt, clockOffsetMs }) => [
        ...[name, keys.map(shortKey).join(' '), version, grouped(chunks)],
        ...[secondsAgo(seenAt, now), `${(clockOffsetMs / 1000).toFixed(1)} s`],
      ]),
      columns,
    ),
    table(
      'Databases that read',
      ['database', 'seen', 'behind'],
      status.readers.map(({ name, seenAt, isBehind }) => [
        ...[name, secondsAgo(seenAt, now), isBehind ? 'yes' : 'no'],
      ]),
      columns,
    ),
  ]
  return parts.join('\n')
}

/** What someone should look at, a sentence each. */
function problemsOf({ runs, workers, keys }: QueueStatus, now: number): readonly string[] {
  const lost = runs.filter(({ chunks }) => chunks.dead > 0)
  const silent = workers.filter(({ seenAt }) => now - seenAt > lostAfterMs)
  const held = keys.filter(({ heldUntil }) => heldUntil !== null)
  return [
    ...lost.map(
      ({ job, chunks }) =>
        `${sanitize(job)}: workers were lost over ${count(chunks.dead, 'chunk')}; try again: rankline queue retry`,
    ),
    ...silent.map(
      ({ name, seenAt }) => `${sanitize(name)}: not seen for ${Math.round((now - seenAt) / 60_000)} minutes`,
    ),
    ...held.map(
      ({ keyHash }) => `key ${shortKey(keyHash)}: the service refuses calls for their rate; all workers wait`,
    ),
  ]
}

function secondsAgo(seenAt: number, now: number): string {
  return `${Math.max(0, Math.round((now - seenAt) / 1000))} s ago`
}

function table(
  title: string,
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  columns: number,
): string {
  if (rows.length === 0) return `${title}: none\n`
  const shown = rows.map((row) => row.map(sanitize))
  return `${title}\n${formatTable(
    heads.map((head) => ({ title: head })),
    shown,
    columns,
  )}`
}

function document({ schemaVersion, workers, runs, keys, readers }: QueueStatus): object {
  const iso = (instant: number | null): string | null =>
    instant === null ? null : new Date(instant).toISOString()
  return {
    schema_version: schemaVersion,
    runs: runs.map(({ run, keyHash, job, startedAt, coordinator, chunks, spent, inDoubt, reserved }) => ({
      run,
      key: keyHash,
      job,
      started_at: iso(startedAt),
      coordinator,
      chunks,
      credits: { spent, ambiguous: inDoubt, reserved },
    })),
    workers: workers.map(({ id, name, version, keys: own, startedAt, seenAt, clockOffsetMs, chunks }) => ({
      worker: id,
      name,
      version,
      keys: own,
      started_at: iso(startedAt),
      seen_at: iso(seenAt),
      clock_ahead_ms: Math.round(clockOffsetMs),
      chunks,
    })),
    keys: keys.map(({ keyHash, perSecond, perMinute, heldUntil, remaining }) => ({
      key: keyHash,
      per_second: perSecond,
      per_minute: perMinute,
      held_until: iso(heldUntil),
      remaining,
    })),
    readers: readers.map(({ name, seenAt, isBehind }) => ({ name, seen_at: iso(seenAt), behind: isBehind })),
  }
}
