import { normaliserVersion } from '../catalog/answers.ts'
import { parseStored } from '../collect/answers.ts'
import { UsageError } from '../model/errors.ts'
import { noFile } from '../model/job.ts'
import { inOneSpelling, type PlannedQuery } from '../model/query.ts'
import type { FinishReason, Run } from '../model/run.ts'
import { type Clock, sleep, utcMinute } from '../model/time.ts'
import { type PagingDecision, scoreQuery } from '../rank/paging.ts'
import { compress } from '../store/compression.ts'
import type { Store } from '../store/sqlite/open.ts'
import {
  type FinishStep,
  type ImportBatch,
  type JournalPosition,
  type ReadChange,
  type SharedCall,
  type SharedRun,
  type SharedTask,
  type SyncStep,
  type TaskEnded,
  type TaskHere,
  type TaskStep,
  taskStep,
} from '../store/sync.ts'
import {
  type BlockingTransaction,
  type ChangeBatch,
  type JournalChange,
  JournalWentBack,
  readPosition,
} from './journal.ts'
import type { SharedJournal } from './postgres/open.ts'

interface SyncOptions {
  readonly journal: Pick<SharedJournal, 'changes'>
  readonly store: Store
  readonly clock: Clock
  /** The key of this host; null where it has none. */
  readonly ownKey?: string | null
  /** For people: which database this reader is. */
  readonly name: string
  /** Ends between two batches when it is aborted; the next sync goes on. */
  readonly signal?: AbortSignal | undefined
  /** Called with a run whose plan has come. */
  readonly onPlanned?: (run: Run) => Promise<void>
}

/** Rows of the journal that are read at once: bodies of some thousand bytes each. */
const rowsAtOnce = 1_000
const stepsAtOnce = 200

/** What came, and what cannot come yet. */
export type SyncResult = Awaited<ReturnType<typeof syncJournal>>

/**
 * Brings everything that is in the journal into a database: plans, calls, answers, and what follows from them. What was read is written
 * with the position in one change, and applied afterwards in its order, so that it may be killed at any instant.
 */
export async function syncJournal(options: SyncOptions) {
  const { journal, store, signal } = options
  const reader = { id: await store.readerId(), name: options.name }
  await followOne(options)
  const total = { runs: 0, calls: 0, answers: 0, tasks: 0 }
  let unread: ChangeBatch['unread'] = null
  let failedOver = false
  let isIncomplete = false
  // What an earlier sync had read and not applied.
  total.tasks += await applySteps(store)
  for (let more = true; more && signal?.aborted !== true; ) {
    const before = await store.journalPosition()
    const batch = await journal.changes.after(before, rowsAtOnce, reader.id).catch(restoredQueue)
    more = batch.more
    unread = batch.unread
    if (batch.position === before) break
    if (batch.kept !== null) await putBack(options, batch.kept.lastChange)
    failedOver ||= isNewTimeline(before, batch.position)
    isIncomplete ||= batch.isIncomplete
    for (const change of batch.changes)
      if (change.kind === 'plan') total.runs += await importPlan(options, change)
    const found = importBatch(batch, options.clock.wall())
    await store.importBatch(found)
    total.calls += found.calls.length
    total.answers += found.answers.length
    total.tasks += await applySteps(store)
    if (batch.changes.length > 0 || before === null)
      await journal.changes.reached(reader, batch.position, await store.lastChange())
  }
  return {
    ...total,
    /** What is there and cannot be read yet; null where all is here. */
    unread,
    /** Whether the server of the queue has failed over since the sync before. */
    failedOver,
    /** Whether the queue has dropped what this database had not read. */
    isIncomplete,
  }
}

/** How long a transaction may keep changes back before that is said. */
const sayBlockedAfterMs = 10_000

const syncAgainMs = 100

/**
 * Syncs until all is here that was in the journal when it began, or the signal is aborted. What keeps it waiting for long is said once;
 * then it waits on or gives up.
 */
export async function syncAll(
  sync: () => Promise<Pick<SyncResult, 'unread'>>,
  { monotonic, after }: Pick<Clock, 'monotonic' | 'after'>,
  {
    notice,
    signal,
    givesUp = false,
  }: {
    readonly notice: (line: string) => void
    readonly signal?: AbortSignal | undefined
    readonly givesUp?: boolean
  },
): Promise<void> {
  const since = monotonic()
  let wanted: JournalPosition | null = null
  let isSaid = false
  while (signal?.aborted !== true) {
    const { unread } = await sync()
    if (unread === null) return
    wanted ??= unread.until
    if (hasReached(unread.from, wanted)) return
    if (!isSaid && monotonic() - since >= sayBlockedAfterMs) {
      isSaid = true
      notice(blockLine(unread.blockedBy))
      if (givesUp) return
    }
    await sleep({ after }, syncAgainMs, signal).catch(() => {})
  }
}

/** What a transaction is that keeps changes back, and how to end it. Whoever runs it has chosen what it is called. */
export function blockLine({
  pid,
  prepared,
  application,
  user,
  database,
  since,
}: BlockingTransaction): string {
  const who =
    prepared !== null
      ? `The prepared transaction '${prepared}'`
      : `A transaction${pid === null ? '' : ` of process ${pid} on the database server`}`
  const known = [
    application,
    user === null ? null : `user ${user}`,
    database === null ? null : `database ${database}`,
  ]
  const about = known.filter((one) => one !== null && one !== '').join(', ')
  const began = since === null ? '' : ` since ${utcMinute(since)} UTC`
  const end = prepared !== null ? `ROLLBACK PREPARED '${prepared}'` : `SELECT pg_terminate_backend(${pid})`
  const line =
    `${who}${about === '' ? '' : ` (${about})`} has kept tables of the queue locked${began}. What the machines did meanwhile can be read when it ends.` +
    (prepared === null && pid === null ? '' : ` To end it: ${end}`)
  return line.replace(/\p{C}+/gu, ' ')
}

/**
 * Writes into the journal what was read here and may be lost there: then all databases that follow it have the same again. What it has is left
 * as it is.
 */
async function putBack({ journal, store }: SyncOptions, lastKept: number): Promise<void> {
  const calls = new Map<string, SharedCall>()
  /** The last end of each run. */
  const runEnds = new Map<string, FinishStep>()
  for (let after = lastKept; ; ) {
    const some = await store.changesRead(after, rowsAtOnce)
    const last = some.at(-1)
    if (last === undefined) break
    after = last.number
    const lost = {
      calls: new Map<string, SharedCall>(),
      answers: [] as Pick<Extract<JournalChange, { kind: 'answer' }>, 'run' | 'answer'>[],
      readings: [] as Pick<Extract<JournalChange, { kind: 'reading' }>, 'run' | 'reading'>[],
      ends: [] as TaskEnded[],
    }
    for (const { change } of some) {
      if (change.kind === 'task') lost.ends.push(taskEnded(change))
      else if (change.kind === 'finish') runEnds.set(change.run, change)
      else if (change.kind === 'reading') lost.readings.push(change)
      else if (change.kind === 'call') {
        const call = { ...change.call, task: change.task === null ? null : withKey(change.task) }
        calls.set(call.id, call)
        lost.calls.set(call.id, call)
      } else {
        const call = calls.get(change.call)
        const answerId = await store.sharedAnswer(change.call)
        const stored = answerId === null ? null : await store.storedBody(answerId)
        if (call === undefined || stored === null) continue
        const { query, page } = withKey(change)
        lost.calls.set(call.id, call)
        const packed = await compress(stored.body)
        lost.answers.push({
          run: change.run,
          answer: { call: call.id, query, page, fetchedAt: change.fetchedAt, ...packed },
        })
      }
    }
    await journal.changes.putBack({ ...lost, calls: [...lost.calls.values()] })
  }
  // Last: a database that reads the end of a run has the ends of its tasks by then.
  await journal.changes.putBackEnds([...runEnds.values()])
}

function withKey({
  run,
  query,
  page,
}: {
  readonly run: string
  readonly query: string
  readonly page: number
}) {
  return { run, query: Buffer.from(query, 'hex'), page }
}

/** A database follows one journal for life: positions and numbers of another mean nothing here. */
async function followOne({ journal, store }: SyncOptions): Promise<void> {
  const identity = await journal.changes.identity()
  const followed = await store.followedJournal()
  if (followed === null) await store.followJournal(identity)
  else if (followed !== identity)
    throw new UsageError(
      'This database follows another queue. Name a database of its own for this one: --db new.db',
    )
}

function restoredQueue(error: unknown): never {
  if (!(error instanceof JournalWentBack)) throw error
  throw new UsageError(
    'The queue was restored from an older state, and this database knows more. Follow the queue with a new database: --db new.db',
    { cause: error },
  )
}

function importBatch({ changes, position, failovers }: ChangeBatch, readAt: number): ImportBatch {
  return {
    calls: changes.flatMap((change) => (change.kind === 'call' ? [change.call] : [])),
    answers: changes.flatMap((change) => (change.kind === 'answer' ? [change] : [])),
    readings: changes.flatMap((change) => (change.kind === 'reading' ? [change] : [])),
    steps: changes.flatMap(stepsOf),
    position,
    read: changes.flatMap(keptChange),
    readAt,
    failovers,
  }
}

/** What is kept of a change. Plans are not: the coordinator of the job writes them again. */
function keptChange(change: JournalChange): readonly ReadChange[] {
  switch (change.kind) {
    case 'task-end':
      return [taskStep(change.ended)]
    case 'run-end':
      return [finishStep(change)]
    case 'reading':
      return [change]
    case 'call': {
      const { task, ...call } = change.call
      return [{ kind: 'call', call, task: task === null ? null : withHexKey(task) }]
    }
    case 'answer': {
      const { call, fetchedAt, query, page } = change.answer
      return [{ kind: 'answer', call, fetchedAt, ...withHexKey({ run: change.run, query, page }) }]
    }
    default:
      return []
  }
}

function withHexKey({ run, query, page }: SharedTask) {
  return { run, query: query.toString('hex'), page }
}

function finishStep({ run, version, end }: Extract<JournalChange, { kind: 'run-end' }>): FinishStep {
  return { kind: 'finish', run, version, ...end }
}

function stepsOf(change: JournalChange): readonly SyncStep[] {
  if (change.kind === 'task-end') return [taskStep(change.ended)]
  if (change.kind === 'run-end') return [finishStep(change)]
  return change.kind === 'run-closed' ? [{ kind: 'close', run: change.run, at: change.at }] : []
}

/** Plans a run of another machine here, as it was planned there; one that was planned already only where this plan is newer. */
async function importPlan(
  { journal, store, ownKey = null, onPlanned }: SyncOptions,
  { run, version }: Extract<JournalChange, { kind: 'plan' }>,
): Promise<number> {
  const here = { ...run, settings: { ...run.settings, file: noFile } }
  const known = await store.importRun(here, ownKey)
  if (known.planVersion >= version) return 0
  const { job } = known
  // Where its file lies elsewhere means nothing here.
  const file = (await store.jobFile(job)) ?? noFile
  const named = { ...run, job, settings: { ...run.settings, name: job, file } }
  await using draft = await store.draft()
  const former: PlannedQuery[] = []
  for await (const { queries, leftOut } of journal.changes.plan(run.id, version)) {
    // An older rankline may have published it, for which a query had several spellings.
    const written = queries.map((query) => ({ ...query, ...inOneSpelling(query) }))
    former.push(...queries.filter(({ key }, place) => written[place]?.key.equals(key) === false))
    await draft.add(job, written)
    await draft.leaveOut(job, leftOut)
  }
  if (file === noFile) await store.nameJob(job, noFile)
  const [planned] = await draft.commit([plannedJob(named, known.runId)], run.startedAt)
  if (former.length > 0) await store.linkSpellings(former)
  await store.linkRun(known.runId, run, version)
  if (planned !== undefined) await onPlanned?.(planned)
  return 1
}

function plannedJob({ settings, date }: SharedRun, continues: number) {
  return { settings, date, continues, fresh: null }
}

/** Applies what was read, step after step; how many tasks ended. */
export async function applySteps(store: Store): Promise<number> {
  for (let tasks = 0; ; ) {
    const steps = await store.syncSteps(stepsAtOnce)
    const last = steps.at(-1)
    if (last === undefined) return tasks
    for (const group of groupsOf(steps.map(({ step }) => step))) {
      await Promise.all(group.map((step) => applyStep(store, step)))
      tasks += group.filter(({ kind }) => kind === 'task').length
    }
    await store.stepsApplied(last.number)
  }
}

/** Steps that may be applied side by side, in one commit: tasks of different queries. Others are groups of their own. */
function groupsOf(steps: readonly SyncStep[]): readonly (readonly SyncStep[])[] {
  const groups: SyncStep[][] = []
  let queries = new Set<string>()
  for (const step of steps) {
    const query = step.kind === 'task' ? `${step.run} ${step.query}` : null
    const last = groups.at(-1)
    if (query !== null && last !== undefined && queries.size > 0 && !queries.has(query)) last.push(step)
    else {
      groups.push([step])
      queries = new Set()
    }
    if (query !== null) queries.add(query)
  }
  return groups
}

async function applyStep(store: Store, step: SyncStep): Promise<void> {
  if (step.kind === 'task') return await applyTask(store, step)
  const known = await store.localRun(step.run)
  if (known === null) return
  if (step.kind === 'close') return await store.closeRun(known.runId, step.at)
  // It goes on by a newer plan since.
  if (known.planVersion > step.version) return
  await store.finishRun(
    known.runId,
    await reasonHere(store, known.runId, step.reason),
    step.finishedAt,
    step.durationMs ?? undefined,
  )
}

/** A database that lacks answers, because it came late, has no complete run. */
async function reasonHere(store: Store, runId: number, reason: FinishReason): Promise<FinishReason> {
  if (reason !== 'completed') return reason
  const { failed } = await store.taskCounts(runId)
  return failed > 0 ? 'completed_with_failures' : reason
}

/** Records how a task ended, with the page that followed where it was bought. Done twice, it changes nothing. */
async function applyTask(store: Store, step: TaskStep): Promise<void> {
  const task = await store.sharedTask(step)
  if (task === null) return
  const { taskId, runId, queryId, answerId } = task
  const follow = followedBy(step.paging)
  if (answerId !== null) await store.attachAnswer(taskId, answerId, step.reused)
  const read = step.cause === null ? await readAnswer(store, task) : { failed: step.cause }
  await store.recordAnswer({ taskId, runId, queryId, outcome: read, follow })
}

/** The paging was decided where the page was bought; ranks and observations follow from what is stored here. */
function followedBy(paging: PagingDecision | null): Parameters<Store['recordAnswer']>[0]['follow'] {
  return (query) =>
    paging === null ? { ...scoreQuery(query), paging } : { ...scoreQuery(query, paging), paging }
}

async function readAnswer(store: Store, task: TaskHere) {
  const { answerId } = task
  if (answerId === null) return { failed: 'its answer was dropped from the queue before it was read here' }
  const stored = await store.storedBody(answerId)
  if (stored === null) return { failed: 'its stored answer is damaged' }
  const says = parseStored(task, stored.body, stored.fetchedAt)
  if ('reason' in says) return { failed: says.reason }
  return { done: { answerId, normaliser: normaliserVersion, says } }
}

/** Whether the server failed over between two positions. */
function isNewTimeline(before: JournalPosition | null, after: JournalPosition): boolean {
  const known = before === null ? null : readPosition(before).timeline
  return known !== null && readPosition(after).timeline !== known
}

/** Whether a position lies behind another one, or is the same. */
function hasReached(position: JournalPosition, wanted: JournalPosition): boolean {
  const [here, there] = [readPosition(position), readPosition(wanted)]
  if (here.timeline !== null && there.timeline !== null && here.timeline !== there.timeline)
    return here.timeline > there.timeline
  return here.transaction >= there.transaction
}

/** The end of a task that a step was made of. */
function taskEnded({ run, query, page, call, reused, cause, paging }: TaskStep): TaskEnded {
  return {
    task: { run, query: Buffer.from(query, 'hex'), page },
    end: cause === null ? { call: call as string, reused } : { call, cause },
    paging,
  }
}
