import { randomUUID } from 'node:crypto'
import { accountStop, fetchUsage, unreadLines } from '../collect/account.ts'
import type { CollectOptions, CollectResult } from '../collect/collect.ts'
import { StopRequested, UsageUnavailable } from '../collect/stop.ts'
import type { SpendingLimit } from '../ledger/budget.ts'
import type { Account } from '../model/call.ts'
import { UsageError } from '../model/errors.ts'
import type { Run, StopCause } from '../model/run.ts'
import { count, eachOnce } from '../model/text.ts'
import { sleep } from '../model/time.ts'
import type { TargetHistory } from '../rank/paging.ts'
import type { SkippedQueries } from '../store/journal.ts'
import type { Store } from '../store/sqlite/open.ts'
import type { PlannedRow } from '../store/sqlite/planning/planned.ts'
import {
  type ChunkQuery,
  type ChunkState,
  JournalUnreachable,
  type NewChunk,
  type PlanPart,
  QueueDrained,
  type SharedPage,
} from './journal.ts'
import type { SharedJournal } from './postgres/open.ts'
import type { QueueStatus } from './postgres/operations.ts'
import { type Release, releaser } from './releasing.ts'
import { type SyncResult, syncAll } from './sync.ts'

export interface CoordinatorOptions extends Omit<CollectOptions, 'store' | 'concurrency' | 'readAccount'> {
  readonly store: Store
  /** It waits for its database. */
  readonly journal: SharedJournal
  /** Names this process, which has the right to coordinate the jobs of the runs. */
  readonly coordinator: string
  /** Brings what workers have done into the store. */
  readonly sync: () => Promise<Pick<SyncResult, 'unread'>>
}

/** Chunks that are written with one statement. */
const chunksInGroup = 100
/** How long between two looks at what the workers have done; at most, where nothing is to be done for a while, and where chunks are taken slowly. */
const pollEveryMs = 250
const longestPollMs = 1_000
const longestCalmPollMs = 2_000
/** Chunks that are released ahead of the workers; more of them than there are leased. */
const releasedAhead = 8
/** A run may end at any moment when so few chunks are left, or so few times what was done since the last look. */
const lastChunks = 4
const lastLooks = 4
/** Chunks that workers have until an answer could be used: a run that begins badly wastes no more than on one machine. */
const untriedChunks = 1
/** How long workers that have begun are waited for when a run stops. */
const leasedEndMs = 30_000
/** After so long without any worker that takes a chunk, that is said. */
const sayNoWorkerAfterMs = 10_000
/** Workers that are alive were seen within this time, also on a machine with much to do. */
const seenWithinMs = 60_000

/**
 * Has the open tasks of these runs bought by workers: publishes plans, releases chunks as far as they are covered, and follows until nothing
 * is left, nothing more is covered, or the run stops. The counterpart of `collect`, for many machines.
 */
export async function collectOnMachines(
  options: CoordinatorOptions,
  runs: readonly Run[],
): Promise<CollectResult> {
  const { journal, coordinator, stop, clock, notice, sync } = options
  const shared = await publishRuns(options, runs)
  const byShared = new Map(runs.map((run) => [shared.get(run.id) as string, run]))
  const ids = [...byShared.keys()]
  const reader = accountReader(options, runs[0]?.id ?? null)
  const releases = releaser(options, byShared, reader)
  const noWorker = workerWatch({ ...options, isOwn: (run) => byShared.has(run) })
  const progress = progressReport(options, runs, ids)
  let leftOut: readonly SkippedQueries[] = []
  let before: number | null = null
  let limits: Release['limits'] = new Map()
  const looks = pacedLooks()

  try {
    const account = await reader.read()
    before = account.remaining
    if (options.fitBalance) leftOut = await releases.fit()
    const chunking = chunker(options, runs, shared)
    await chunking.add()
    const isTried = firstUse(await progress())
    while (!stop.signal.aborted) {
      // Looked at first: what the workers did by then is here afterwards, and is not put into chunks again.
      const states = await statesOf(journal, ids)
      await sync()
      const bought = await progress()
      const isUsed = isTried(bought)
      const ahead = isUsed ? releasedAhead + states.leased : untriedChunks - states.leased
      looks.see({ ...states, ...bought, ahead: isUsed ? ahead : null })
      const isDead = states.dead > 0 && states.planned + states.released + states.leased === 0
      if (isDead) stop.request(deadChunks)
      if (states.planned > 0) {
        const released = await releases.next(Math.max(0, ahead - states.released))
        limits = released.limits
        looks.release(released.grants.length)
        if (released.stop !== null) stop.request(released.stop)
        const isStuck =
          released.grants.length === 0 && states.released + states.leased === 0 && limits.size > 0
        // The account may have been topped up: only a new reading shows that nothing more is covered.
        if (isStuck && (await reader.isFresh())) {
          releases.noteReached(released)
          break
        }
      } else limits = new Map()
      if (states.planned + states.released + states.leased === 0) {
        // What is not read yet looks as if it had not been bought.
        await readAll(options)
        if (!stop.signal.aborted && !(await chunking.add())) break
      }
      await noWorker(states)
      await sleep(clock, looks.pauseMs(), stop.signal).catch(() => {})
    }
  } catch (error) {
    if (error instanceof UsageUnavailable) stop.request(error.stop)
    else if (error instanceof QueueDrained) {
      stop.request(drained)
      // The end of a run that was interrupted is not announced again: usually that was a key or a signal.
      notice(drained.message)
    } else if (!(error instanceof StopRequested)) throw error
  }
  await lastly(stop, async () => {
    // Workers finish what they have begun; none takes what they have not.
    await journal.plans.cancelChunks(coordinator, ids)
    await leasedEnd(options, ids)
    await readAll(options, stop.cause()?.reason === 'interrupted' ? 0 : leasedEndMs)
    await progress()
    if (!stop.signal.aborted) await releases.count()
  })
  if (limits.size > 0) releases.report(limits)
  for (const line of releases.warnings()) notice(line)
  const after = stop.cause()?.reason === 'auth' ? null : await reader.last()
  const reached = releases.reached()
  return {
    balanceBefore: before,
    balanceAfter: after,
    limits: limitsOf(limits, stop.cause()),
    reached,
    leftOut,
  }
}

/** A run that was told to stop does not wait for the queue: workers finish what was released. */
async function lastly({ signal }: CoordinatorOptions['stop'], work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(signal.aborted && (error instanceof StopRequested || error instanceof JournalUnreachable)))
      throw error
  }
}

/** Brings all that the workers have done so far; waits for it so long, at most, or until the run stops. */
async function readAll({ sync, clock, notice, stop }: CoordinatorOptions, mostMs?: number): Promise<void> {
  const signal = mostMs === undefined ? stop.signal : AbortSignal.timeout(mostMs)
  await syncAll(sync, clock, { notice, signal })
}

/** Where a run stops for a reason of the service, its end tells also of what workers had begun. */
async function leasedEnd(
  { journal, stop, clock }: CoordinatorOptions,
  runs: readonly string[],
): Promise<void> {
  if (stop.cause()?.reason === 'interrupted') return
  const until = clock.monotonic() + leasedEndMs
  while ((await statesOf(journal, runs)).leased > 0 && clock.monotonic() < until)
    await sleep(clock, pollEveryMs)
}

const deadChunks: StopCause = {
  reason: 'unavailable',
  message:
    'Stopped: workers were lost again and again over the same queries. See rankline queue status; rankline queue retry lets workers try them once more.',
}

const drained: StopCause = {
  reason: 'interrupted',
  message: 'Stopped: the queue was drained by rankline queue drain. Run the same command again to go on.',
}

function limitsOf(limits: Release['limits'], stop: StopCause | null): ReadonlyMap<number, SpendingLimit> {
  return stop === null ? limits : new Map()
}

/** Writes the runs with their plans into the journal; their shared ids by their number here. */
async function publishRuns(
  options: CoordinatorOptions,
  runs: readonly Run[],
): Promise<ReadonlyMap<number, string>> {
  const { store, journal, coordinator, keyHash } = options
  const shared = new Map<number, string>()
  const groups = new Map<number, string>()
  for (const run of runs) {
    const known = await store.sharedRunId(run.id)
    const { done, failed } = await store.taskCounts(run.id)
    if (known === null && done + failed > 0)
      throw new UsageError(
        `Run ${run.id} was begun without the queue. Finish it without --queue, or begin anew with --fresh`,
      )
    const groupId = groups.get(run.groupId) ?? (await store.sharedGroupId(run.groupId)) ?? randomUUID()
    groups.set(run.groupId, groupId)
    const id = known ?? randomUUID()
    shared.set(run.id, id)
    const { job, date, settings, startedAt } = run
    const published = { id, groupId, keyHash, job, date, settings, startedAt }
    // Noted before: a run that is published and not known here would be planned here a second time.
    if (known === null) await store.linkRun(run.id, published, 0)
    const version = await journal.plans.publish(coordinator, published, () => planParts(store, run))
    await store.linkRun(run.id, published, version)
    await buyFailedAgain(options, id)
  }
  return shared
}

/** What failed on the machines and has not failed here any more was opened again by `retry`. */
async function buyFailedAgain(options: CoordinatorOptions, run: string): Promise<void> {
  const { store, journal, coordinator } = options
  const failed = await journal.plans.failedPages(run)
  if (failed.length === 0) return
  await readAll(options)
  const again: SharedPage[] = []
  for (const { query, page } of failed) {
    const task = await store.sharedTask({ run, query: query.toString('hex'), page, call: null })
    if (task !== null && !task.hasFailed) again.push({ query, page })
  }
  if (again.length > 0) await journal.plans.buyAgain(coordinator, run, again)
}

/** Puts open queries into chunks, as long as some are in none. */
function chunker(
  { store, journal, coordinator, sharedLimits = [] }: CoordinatorOptions,
  runs: readonly Run[],
  shared: ReadonlyMap<number, string>,
) {
  let openBefore = Number.POSITIVE_INFINITY
  return {
    /** Answers whether there were any. The same query of several runs is in one chunk at a time: the second finds the answer of the first. */
    add: async (): Promise<boolean> => {
      const counts = await Promise.all(
        runs.map(async (run) => ({ run, ...(await store.taskCounts(run.id)) })),
      )
      const open = counts.reduce((sum, { pending }) => sum + pending, 0)
      // What was tried and is as it was before would be tried for ever.
      if (open === 0 || open >= openBefore) return false
      openBefore = open
      const inWork = await journal.plans.queriesInWork([...shared.values()])
      const taken = new Set(inWork.map((key) => key.toString('hex')))
      let added = 0
      for (const { run, pending } of counts) {
        if (pending === 0) continue
        const tags = sharedLimits.flatMap(({ scope, name, jobs }) =>
          scope === 'tag' && jobs.includes(run.job) ? [name] : [],
        )
        const limitedTags = [...new Set(tags)].sort()
        const found = chunksOf({ store, run, limitedTags, taken, openQueries: pending })
        for await (const chunks of inGroups(found, chunksInGroup)) {
          const group = { id: randomUUID(), chunks }
          await journal.plans.addChunks(coordinator, shared.get(run.id) as string, group)
          added += chunks.length
        }
      }
      return added > 0
    },
  }
}

async function* inGroups<T>(found: AsyncIterable<T>, most: number): AsyncIterable<readonly T[]> {
  let group: T[] = []
  for await (const one of found) {
    group.push(one)
    if (group.length < most) continue
    yield group
    group = []
  }
  if (group.length > 0) yield group
}

/** Reads the account for all machines. */
function accountReader(options: CoordinatorOptions, firstRun: number | null) {
  const { store, journal, clock, stop } = options
  let readAt = Number.NEGATIVE_INFINITY
  const noticeOnce = eachOnce(options.notice)
  const saveUsage: Store['saveUsage'] = async (reading) => {
    await store.saveUsage(reading)
    const run = reading.runId === null ? null : await store.sharedRunId(reading.runId)
    await journal.calls.saveUsage({ ...reading, run })
  }
  const fetch = async (retryForMs: number): Promise<Account> => {
    const usage = await fetchUsage(
      { ...options, store: { saveUsage }, signal: stop.signal, retryForMs },
      firstRun,
    )
    readAt = clock.monotonic()
    for (const line of unreadLines(usage)) noticeOnce(line)
    const cause = accountStop(usage, usage.at)
    if (cause === null) return usage
    stop.request(cause)
    throw new StopRequested()
  }
  return {
    /** The first reading: a service that is not there ends the run at once. */
    read: () => fetch(0),
    again: () => fetch(options.maxOutageMs),
    age: () => clock.monotonic() - readAt,
    /** Whether it was read a moment ago; reads it where it was not. */
    isFresh: async (): Promise<boolean> => {
      if (clock.monotonic() - readAt < pollEveryMs * 2) return true
      await fetch(options.maxOutageMs)
      return false
    },
    last: async (): Promise<number | null> => {
      try {
        const usage = await fetchUsage(
          { ...options, store: { saveUsage }, signal: AbortSignal.timeout(2_000) },
          firstRun,
        )
        return usage.remaining
      } catch {
        // The ledger is complete without it.
        return null
      }
    },
  }
}

async function statesOf(
  journal: SharedJournal,
  runs: readonly string[],
): Promise<Readonly<Record<ChunkState, number>>> {
  const all = await Promise.all(runs.map((run) => journal.plans.progress(run)))
  const sum = (state: ChunkState) => all.reduce((total, { chunks }) => total + chunks[state], 0)
  return {
    planned: sum('planned'),
    released: sum('released'),
    leased: sum('leased'),
    done: sum('done'),
    cancelled: sum('cancelled'),
    dead: sum('dead'),
  }
}

/** Says once why nothing is taken of what is to be bought: no worker takes it, or it is paused. */
export function workerWatch({
  clock,
  notice,
  keyHash,
  journal,
  isOwn,
}: Pick<CoordinatorOptions, 'clock' | 'notice' | 'keyHash'> & {
  readonly journal: { readonly operations: Pick<SharedJournal['operations'], 'status'> }
  /** Whether a shared run is one of this process. */
  readonly isOwn: (run: string) => boolean
}): (states: Readonly<Record<'planned' | 'leased' | 'released', number>>) => Promise<void> {
  let since = clock.monotonic()
  let isSaid = false
  const whyNotTaken = (workers: QueueStatus['workers']): string => {
    const oldest = clock.wall() - seenWithinMs
    const up = workers.filter(({ keys, seenAt }) => keys.includes(keyHash) && seenAt > oldest)
    const busy = up.filter(({ chunks }) => chunks > 0)
    if (up.length === 0)
      return 'No worker takes what is to be bought. Start one where this key is set: rankline worker'
    if (busy.length < up.length)
      return `${count(up.length, 'worker')} of this key ${up.length === 1 ? 'is' : 'are'} up, and none takes what is to be bought. See rankline queue status`
    return `${count(busy.length, 'worker')} of this key ${busy.length === 1 ? 'is' : 'are'} busy with other runs. What is to be bought waits for them; one more takes it sooner: rankline worker`
  }
  return async ({ planned, leased, released }) => {
    if (leased > 0 || planned + released === 0) since = clock.monotonic()
    if (isSaid || clock.monotonic() - since < sayNoWorkerAfterMs) return
    since = clock.monotonic()
    const { workers, runs } = await journal.operations.status()
    const isPaused = runs.some((run) => run.isPaused && isOwn(run.run))
    isSaid = isPaused || released > 0
    if (isPaused) notice('Paused by rankline queue pause: nothing more is bought until rankline queue resume')
    else if (released > 0) notice(whyNotTaken(workers))
  }
}

/** How long who coordinates waits before the next look: longer and longer while there is nothing to do. */
function pacedLooks() {
  let pauseMs = pollEveryMs
  /** Chunks that were released at the end of the last look, and tasks that were done. */
  let released = 0
  let done = 0
  return {
    /** What a look showed: chunks and tasks by their state, and how many chunks are to be released ahead; null until an answer could be used. */
    see(now: {
      readonly planned: number
      readonly released: number
      readonly leased: number
      readonly done: number
      readonly open: number
      readonly ahead: number | null
    }): void {
      const lastsLong = now.leased > lastChunks && now.open > lastLooks * (now.done - done)
      const hasNothingToDo =
        now.ahead !== null &&
        (now.released * 2 >= now.ahead || (now.planned === 0 && (now.released > 0 || lastsLong)))
      const isCalm = now.planned > 0 && (released - now.released) * 4 <= now.released
      const longestMs = isCalm ? longestCalmPollMs : longestPollMs
      pauseMs = hasNothingToDo ? Math.min(pauseMs * 2, longestMs) : pollEveryMs
      released = now.released
      done = now.done
    },
    release(chunks: number): void {
      released += chunks
    },
    pauseMs: () => pauseMs,
  }
}

/** What was bought of some runs. */
type Bought = Awaited<ReturnType<ReturnType<typeof progressReport>>>

/** Tells from the progress since then whether an answer came that was bought and could be used. */
function firstUse(before: Bought): (now: Bought) => boolean {
  let isTried = false
  return ({ done, spent }) => {
    isTried ||= done > before.done && spent > before.spent
    return isTried
  }
}

function progressReport(
  { store, journal, onProgress }: CoordinatorOptions,
  runs: readonly Run[],
  shared: readonly string[],
) {
  return async () => {
    const counts = await Promise.all(runs.map(({ id }) => store.taskCounts(id)))
    const sum = (state: 'planned' | 'done' | 'failed') =>
      counts.reduce((total, tasks) => total + tasks[state], 0)
    const spent = [...(await journal.spending.sumsOf(shared)).values()].reduce(
      (total, one) => total + one.spent,
      0,
    )
    const [planned, done, failed] = [sum('planned'), sum('done'), sum('failed')]
    onProgress({ planned, done, failed, spent, balance: null })
    return { done, open: planned - done - failed, spent }
  }
}

/**
 * Queries of a chunk: enough that one row serves many calls, and that a worker sees within its first chunk whether answers can be used; few
 * enough that several workers have something to do.
 */
const smallest = 30
const largest = 100
/** As many chunks as keep some workers busy, before chunks get larger. */
const wantedChunks = 40
const rowsAtOnce = 500

/** How many queries a chunk has, by how many queries of the run lack answers. */
export function chunkSize(queries: number): number {
  return Math.min(largest, Math.max(smallest, Math.ceil(queries / wantedChunks)))
}

/** The open queries of a run in chunks, the most urgent first. */
export async function* chunksOf({
  store,
  run,
  limitedTags,
  taken,
  openQueries,
}: {
  readonly store: Store
  readonly run: Run
  /** Tags that have a limit in the job: the queries of a chunk agree in them. */
  readonly limitedTags: readonly string[]
  /** Keys in hexadecimal digits of queries that another chunk has; those that are given out are added. */
  readonly taken: Set<string>
  /** Queries of the run that lack a page. */
  readonly openQueries: number
}): AsyncIterable<NewChunk> {
  const size = chunkSize(openQueries)
  const byTags = new Map<string, { readonly tags: readonly string[]; rows: PlannedRow[] }>()
  const chunk = (tags: readonly string[], rows: readonly PlannedRow[]): NewChunk =>
    newChunk(store, run, tags, rows)
  let priority: number | null = null
  for (let after: PlannedRow | null = null; ; ) {
    const rows: readonly PlannedRow[] = await store.openQueries(run.id, after, rowsAtOnce)
    for (const row of rows) {
      const { query } = row
      const key = query.key.toString('hex')
      if (taken.has(key)) continue
      taken.add(key)
      // A chunk has one priority, so that what is urgent does not wait for its neighbours.
      if (priority !== query.priority) {
        for (const { tags, rows: left } of byTags.values()) if (left.length > 0) yield chunk(tags, left)
        byTags.clear()
      }
      priority = query.priority
      const tags = limitedTags.filter((tag) => query.tags.includes(tag))
      const group = byTags.get(tags.join('\n')) ?? { tags, rows: [] }
      byTags.set(tags.join('\n'), group)
      group.rows.push(row)
      if (group.rows.length < size) continue
      yield chunk(tags, group.rows)
      group.rows = []
    }
    after = rows.at(-1) ?? null
    if (after === null || rows.length < rowsAtOnce) break
  }
  for (const { tags, rows } of byTags.values()) if (rows.length > 0) yield chunk(tags, rows)
}

function newChunk(store: Store, run: Run, tags: readonly string[], rows: readonly PlannedRow[]): NewChunk {
  const prices = rows.map(({ query }) => query.credits)
  return {
    priority: rows[0]?.query.priority ?? 0,
    tags,
    queries: rows.map((row) => withHistory(store, run, row)),
    mostCredits: rows.reduce(
      (sum, { query, settledPages }) => sum + query.credits * Math.max(1, query.pages - settledPages),
      0,
    ),
    leastCredits: Math.min(...prices),
  }
}

/** Only the smart policy asks what earlier runs saw. */
function withHistory(store: Store, { id, settings }: Run, { query, queryId }: PlannedRow): ChunkQuery {
  if (settings.paging !== 'smart') return { ...query, history: [] }
  const stored = store.storedQuery(id, queryId)
  const histories: ReadonlyMap<number, TargetHistory> = stored.history()
  const history = stored.targets.flatMap(({ id: target, site, match, also }) => {
    const seen = histories.get(target)
    return seen === undefined ? [] : [{ ...seen, target: { site, match, also } }]
  })
  return { ...query, history }
}

/** The whole plan of a run, in the order of its file. */
export async function* planParts(store: Store, run: Run): AsyncIterable<PlanPart> {
  const leftOut = await store.leftOutKeys(run.id)
  if (leftOut.length > 0) yield { queries: [], leftOut }
  for (let after = 0; ; ) {
    const rows = await store.plannedQueries(run.id, after, rowsAtOnce)
    const last = rows.at(-1)
    if (last === undefined) return
    yield { queries: rows.map(({ query }) => query), leftOut: [] }
    after = last.taskId
  }
}
