import type { PausedPart } from '../../../machines/journal.ts'
import { layout } from '../../../machines/postgres/layout.ts'
import type { QueueStatus } from '../../../machines/postgres/operations.ts'
import { queueProblems } from '../../../machines/problems.ts'
import { keptAnswers, sharedQueue } from '../../../machines/queue.ts'
import { UsageError } from '../../../model/errors.ts'
import { count, grouped, parseDuration, shellWord, shortKey } from '../../../model/text.ts'
import { systemClock } from '../../../model/time.ts'
import { type OptionSpecs, switchOption, textOption } from '../../../model/values.ts'
import { formatTable } from '../../../output/table.ts'
import { note, sanitize, type Terminal } from '../../../output/terminal.ts'
import { databaseFile, ownKeyHash } from '../../../run/config.ts'
import { turns } from '../../../run/lock.ts'
import { databaseLock } from '../../../store/sqlite/connection/lock.ts'
import type { SharedJob } from '../../../store/sync.ts'
import { metrics } from '../../../unattended/after-run.ts'
import { type Command, chosenWork, sharedFlags, type TypedOptions } from '../../flags.ts'
import { listenForInterrupts } from '../../interrupts.ts'

const works = { status, drain, pause, resume, retry, rekey, migrate }

const { 'base-url': baseUrl, 'api-key-file': apiKeyFile, 'allow-http': allowHttp } = sharedFlags.service

const flags = {
  ...sharedFlags.queue,
  'base-url': baseUrl,
  'api-key-file': apiKeyFile,
  'allow-http': allowHttp,
  job: textOption('pause, resume, rekey: only the job of that name'),
  key: textOption('pause, resume: only that key, or how it begins, as queue status shows it'),
  worker: textOption('pause, resume: only that worker, or all of that host, as queue status shows them'),
  from: textOption(
    'rekey: the key that the jobs have, as queue status shows it; default: what this database has begun',
  ),
  'metrics-file': textOption('status: Prometheus text file to write as well'),
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
    ['queue pause --job acme', 'nothing more of it is bought until queue resume --job acme'],
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
  const file = flags.metricsFile === undefined ? null : metrics.file(flags.metricsFile)
  const found = await sharedQueue.work(sharedQueue.needed(flags), ({ operations }) => operations.status())
  if (file !== null) await metrics.writeQueue(file, metricsOf(found, systemClock.wall()))
  if (flags.json === true) await terminal.write(`${JSON.stringify(document(found), null, 2)}\n`)
  else await terminal.write(statusText(found, terminal.columns))
  return 0
}

async function drain(flags: QueueCommandFlags, terminal: Terminal): Promise<number> {
  const chunks = await sharedQueue.work(sharedQueue.needed(flags), ({ operations }) => operations.drain())
  await terminal.write(
    flags.json === true
      ? `${JSON.stringify({ chunks }, null, 2)}\n`
      : `Took back ${count(chunks, 'chunk')}. Runs stop, and workers finish what they have; the same commands go on later.\n`,
  )
  return 0
}

async function pause(flags: QueueCommandFlags, terminal: Terminal): Promise<number> {
  const { parts, chunks } = await sharedQueue.work(sharedQueue.needed(flags), async ({ operations }) => {
    const named = partsNamed(flags, await operations.status(), await operations.jobs())
    return { parts: named, chunks: await operations.pause(named) }
  })
  await terminal.write(
    flags.json === true
      ? `${JSON.stringify({ paused: parts.map(partDocument), chunks }, null, 2)}\n`
      : `Paused ${listed(parts)}. Took back ${count(chunks, 'chunk')}; workers finish what they have. To go on: rankline queue resume${typedPart(flags)}\n`,
  )
  return 0
}

async function resume(flags: QueueCommandFlags, terminal: Terminal): Promise<number> {
  const { parts, left } = await sharedQueue.work(sharedQueue.needed(flags), async ({ operations }) => {
    const { paused } = await operations.status()
    const isNamed = flags.job !== undefined || flags.key !== undefined || flags.worker !== undefined
    const parts = isNamed ? paused.filter((one) => isMeant(one, flags)) : paused
    if (parts.length > 0) await operations.resume(parts)
    return { parts, left: paused.filter((one) => !parts.includes(one)) }
  })
  if (flags.json === true)
    await terminal.write(`${JSON.stringify({ resumed: parts.map(partDocument) }, null, 2)}\n`)
  else {
    const still = left.length === 0 ? '' : ` Still paused: ${listed(left)}.`
    const did = parts.length === 0 ? 'Nothing of that is paused.' : `Resumed ${listed(parts)}.`
    await terminal.write(`${did}${still}\n`)
  }
  return 0
}

/** What the flags name, as far as the queue knows it; the whole queue where they name nothing. */
function partsNamed(
  { job, key, worker }: Pick<QueueCommandFlags, 'job' | 'key' | 'worker'>,
  { workers, keys }: QueueStatus,
  jobs: readonly SharedJob[],
): readonly PausedPart[] {
  if (worker !== undefined) {
    if (job !== undefined || key !== undefined)
      throw new UsageError('A worker is paused for all jobs. Leave out --job and --key, or --worker')
    if (!workers.some(({ name }) => name === worker || hostOf(name) === worker))
      throw new UsageError(
        `--worker ${worker}: no such worker. ${workers.length === 0 ? 'No worker has been seen for a day' : `Those that are up: ${workers.map(({ name }) => name).join('; ')}`}`,
      )
    return [{ keyHash: null, job: null, worker }]
  }
  if (job === undefined && key === undefined) return [{ keyHash: null, job: null, worker: null }]
  const named = job === undefined ? null : jobs.filter((one) => one.job === job)
  if (named?.length === 0) {
    const names = [...new Set(jobs.map((one) => one.job))]
    throw new UsageError(
      `--job ${job}: the queue has no such job. ${names.length === 0 ? 'It has none yet' : `It has ${names.join(', ')}`}`,
    )
  }
  const known = [...new Set([...keys, ...jobs].map(({ keyHash }) => keyHash))]
  const own = known.filter((keyHash) => keyHash.startsWith(key ?? ''))
  if (key !== undefined && own.length !== 1)
    throw new UsageError(
      `--key ${key} fits ${own.length === 0 ? 'no key' : 'more than one key'} of the queue. ${known.length === 0 ? 'It has none yet' : `It has ${known.map(shortKey).join(', ')}`}`,
    )
  const found = named?.filter(({ keyHash }) => own.includes(keyHash))
  if (found?.length === 0) throw new UsageError(`--job ${job}: it has another key than ${key}`)
  if (found !== undefined && found.length > 1)
    throw new UsageError(
      `--job ${job}: the queue has a job of that name with each of ${count(found.length, 'key')}. Say which with --key: ${found.map(({ keyHash }) => shortKey(keyHash)).join(', ')}`,
    )
  return found === undefined
    ? own.map((keyHash) => ({ keyHash, job: null, worker: null }))
    : found.map((one) => ({ ...one, worker: null }))
}

/** A worker is named by its host and its process. */
function hostOf(name: string): string {
  return name.split(', ')[0] as string
}

function isMeant(
  part: PausedPart,
  { job, key, worker }: Pick<QueueCommandFlags, 'job' | 'key' | 'worker'>,
): boolean {
  return (
    (worker === undefined || part.worker === worker) &&
    (job === undefined || part.job === job) &&
    (key === undefined || part.keyHash?.startsWith(key) === true)
  )
}

function listed(parts: readonly PausedPart[]): string {
  return parts.map((part) => sanitize(queueProblems.partName(part))).join(', ')
}

function partDocument({ keyHash, job, worker }: PausedPart): object {
  return { key: keyHash, job, worker }
}

/** The flags again, for the command that takes it back. */
function typedPart({ job, key, worker }: Pick<QueueCommandFlags, 'job' | 'key' | 'worker'>): string {
  return Object.entries({ job, key, worker })
    .flatMap(([name, value]) => (value === undefined ? [] : [` --${name} ${shellWord(sanitize(value))}`]))
    .join('')
}

async function retry(flags: QueueCommandFlags, terminal: Terminal): Promise<number> {
  const chunks = await sharedQueue.work(sharedQueue.needed(flags), ({ operations }) => operations.retry())
  await terminal.write(
    flags.json === true
      ? `${JSON.stringify({ chunks }, null, 2)}\n`
      : `${count(chunks, 'chunk')} can be released again. Run the same job again to buy what they lack.\n`,
  )
  return 0
}

async function rekey(flags: QueueCommandFlags, terminal: Terminal): Promise<number> {
  const { job, from } = flags
  const { to, moved } = await sharedQueue.rekey(flags, sharedQueue.needed(flags), { job, from })
  const jobs = moved.map(({ keyHash, ...what }) => ({ ...what, from: keyHash }))
  if (flags.json === true) await terminal.write(`${JSON.stringify({ key: to, jobs }, null, 2)}\n`)
  else if (moved.length === 0) await terminal.write('Nothing to move: no such job has another key.\n')
  else await terminal.write(moved.map((one) => `${movedLine(one, to)}\n`).join(''))
  return 0
}

function movedLine(
  { job, keyHash, runs, chunks, leased }: Awaited<ReturnType<typeof sharedQueue.rekey>>['moved'][number],
  to: string,
): string {
  const moved = `Moved ${sanitize(job)} from key ${shortKey(keyHash)} to ${shortKey(to)}: ${count(runs, 'run')}, ${count(chunks, 'chunk')}.`
  const left = `Workers of the former key finish ${count(leased, 'chunk')} that they have.`
  return leased === 0 ? moved : `${moved} ${left}`
}

async function migrate(flags: QueueCommandFlags, terminal: Terminal): Promise<number> {
  if (flags.print === true) {
    await terminal.write(layout.printed())
    return 0
  }
  const { before, now } = await sharedQueue.migrate(sharedQueue.needed(flags))
  await terminal.write(
    flags.json === true
      ? `${JSON.stringify({ before, now }, null, 2)}\n`
      : `${before === null ? 'Laid out the queue' : before === now ? 'The queue is up to date' : `Brought the queue from version ${before}`}: version ${now}.\n`,
  )
  return 0
}

function statusText(status: QueueStatus, columns: number): string {
  const now = systemClock.wall()
  const problems = queueProblems.all(status, now)
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
      status.workers.length === 0 ? 'Workers' : 'Workers (calls, errors and credits: of the last minute)',
      [
        ...['worker', 'key', 'version', 'chunks', 'calls/s', 'errors', 'credits', 'last error'],
        ...['seen', 'clock ahead'],
      ],
      status.workers.map(({ name, keys, version, chunks, lastMinute, seenAt, clockOffsetMs }) => [
        ...[name, keys.map(shortKey).join(' '), version, grouped(chunks)],
        ...[(lastMinute.calls / 60).toFixed(1), grouped(lastMinute.errors), grouped(lastMinute.credits)],
        ...[lastMinute.lastError ?? '', secondsAgo(seenAt, now), `${(clockOffsetMs / 1000).toFixed(1)} s`],
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

function metricsOf(status: QueueStatus, now: number): Parameters<typeof metrics.writeQueue>[1] {
  const { runs, workers, keys, readers } = status
  const up = workers.filter(({ seenAt }) => now - seenAt <= queueProblems.lostAfterMs)
  const known = [...new Set([...keys, ...runs].map(({ keyHash }) => keyHash))].sort()
  return {
    at: now,
    problems: queueProblems.all(status, now).length,
    keys: known.map((key) => {
      const own = up.filter((worker) => worker.keys.includes(key))
      const calls = own.reduce((sum, { lastMinute }) => sum + lastMinute.calls, 0)
      return {
        key,
        depth: runs
          .filter((run) => run.keyHash === key && !run.isPaused)
          .reduce((sum, { chunks }) => sum + chunks.planned + chunks.released, 0),
        workers: own.length,
        callsPerSecond: calls / 60,
        errors: own.reduce((sum, { lastMinute }) => sum + lastMinute.errors, 0),
        isHeld: keys.some(({ keyHash, heldUntil }) => keyHash === key && heldUntil !== null),
      }
    }),
    runs: runs.map(({ keyHash, job, chunks, spent, inDoubt, reserved }) => ({
      key: keyHash,
      job,
      chunks,
      credits: { spent, ambiguous: inDoubt, reserved },
    })),
    readers: { all: readers.length, behind: readers.filter(({ isBehind }) => isBehind).length },
  }
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

function document({
  schemaVersion,
  workers,
  runs,
  keys,
  readers,
  paused,
  dead,
  blockedBy,
}: QueueStatus): object {
  const iso = (instant: number | null): string | null =>
    instant === null ? null : new Date(instant).toISOString()
  return {
    schema_version: schemaVersion,
    runs: runs.map((run) => ({
      run: run.run,
      key: run.keyHash,
      job: run.job,
      started_at: iso(run.startedAt),
      coordinator: run.coordinator,
      paused: run.isPaused,
      chunks: run.chunks,
      credits: { spent: run.spent, ambiguous: run.inDoubt, reserved: run.reserved },
    })),
    workers: workers.map((worker) => ({
      worker: worker.id,
      name: worker.name,
      version: worker.version,
      keys: worker.keys,
      started_at: iso(worker.startedAt),
      seen_at: iso(worker.seenAt),
      clock_ahead_ms: Math.round(worker.clockOffsetMs),
      chunks: worker.chunks,
      last_minute: {
        calls: worker.lastMinute.calls,
        errors: worker.lastMinute.errors,
        credits: worker.lastMinute.credits,
        last_error: worker.lastMinute.lastError,
      },
    })),
    keys: keys.map(({ keyHash, perSecond, perMinute, heldUntil, lastLeaseAt, remaining }) => ({
      key: keyHash,
      per_second: perSecond,
      per_minute: perMinute,
      held_until: iso(heldUntil),
      last_send_time: iso(lastLeaseAt),
      remaining,
    })),
    readers: readers.map(({ name, seenAt, isBehind }) => ({ name, seen_at: iso(seenAt), behind: isBehind })),
    paused: paused.map((part) => ({ ...partDocument(part), since: iso(part.since) })),
    dead: dead.map(({ job, keyHash, queries, lastQueries }) => ({
      job,
      key: keyHash,
      queries,
      last_queries: lastQueries,
    })),
    blocked_by:
      blockedBy === null
        ? null
        : {
            pid: blockedBy.pid,
            prepared: blockedBy.prepared,
            application: blockedBy.application,
            user: blockedBy.user,
            database: blockedBy.database,
            since: iso(blockedBy.since),
          },
  }
}

const syncFlags = {
  ...sharedFlags.queue,
  ...sharedFlags.wait,
  'keep-answers': textOption(
    'What was bought stays in the queue for so long, for databases that come later [90d]',
  ),
  'forget-readers': textOption('Databases that were not synced for so long keep nothing in the queue [30d]'),
  ...sharedFlags.log,
} satisfies OptionSpecs

type SyncFlags = TypedOptions<typeof syncFlags>

export const syncCommand = {
  flags: syncFlags,
  exits: [0, 1, 2, 6, 7, 130, 143],
  docs: 'docs/many-machines.md',
  examples: [
    ['sync --queue postgres://queue.example/rankline?sslmode=verify-full', 'before reports, by cron'],
  ],
  run: sync,
} satisfies Command

/** `rankline sync`: brings runs, calls and answers of all machines into this database. */
export async function sync(flags: SyncFlags, terminal: Terminal): Promise<number> {
  const url = sharedQueue.needed(flags)
  const keepMs = timeOf('--keep-answers', flags.keepAnswers) ?? keptAnswers.keepMs
  const forgetAfterMs = timeOf('--forget-readers', flags.forgetReaders) ?? keptAnswers.forgetAfterMs
  const database = databaseFile.path(flags)
  databaseFile.makeDefaultFolder(database)
  const notice = (line: string): void => note(terminal, line)
  using lock = turns.wait([databaseLock(database)], flags.wait, notice)
  await lock.acquire()
  using interrupts = listenForInterrupts(terminal)
  const { signal } = interrupts.stop
  const ownKey = ownKeyHash(flags)
  const came = await sharedQueue.sync({ url, database, keepMs, forgetAfterMs, ownKey, notice, signal })
  await terminal.write(
    flags.json === true
      ? `${JSON.stringify({ database, ...came }, null, 2)}\n`
      : `Synced: ${count(came.runs, 'run')}, ${count(came.calls, 'call')}, ${count(came.answers, 'answer')}, ${count(came.tasks, 'task')} that ended.\n`,
  )
  return signal.aborted ? interrupts.exitCode() : 0
}

function timeOf(flag: string, text: string | undefined): number | undefined {
  const ms = text === undefined ? undefined : parseDuration(text, 'smhd')
  if (ms !== null) return ms
  throw new UsageError(`${flag} cannot be '${text}'; write a time such as 30d`)
}
