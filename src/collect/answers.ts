import { bodies, normaliserVersion } from '../catalog/answers.ts'
import { billableOperation } from '../catalog/index.ts'
import type { BillableOperation } from '../catalog/operation.ts'
import { readPart } from '../catalog/operation.ts'
import type { Outcome } from '../model/call.ts'
import type { AnswerFacts, EchoMismatch, ParsedAnswer } from '../model/result.ts'
import type { Run, Task } from '../model/run.ts'
import {
  advanceQuery,
  type PageFailure,
  type PageOutcome,
  type PagingRules,
  pagingRules,
  type QueryState,
  type QueryUpdate,
  scoreQuery,
} from '../rank/paging.ts'
import { compress, isQuicklyPacked } from '../store/compression.ts'
import type { DiskSpace, NewAnswer, TaskCountChange } from '../store/journal.ts'
import type { CollectStore } from '../store/sqlite/open.ts'

type AnsweredTask = Awaited<ReturnType<CollectStore['answeredTasks']>>[number]

/** A page of a query in a run. */
type TaskRef = Pick<AnsweredTask, 'taskId' | 'runId' | 'queryId' | 'page'>

/**
 * What follows after a page, bound for each of them: of functions that last no longer than a call, V8 drops what it compiled, and
 * compiles it once more.
 */
function advanced(rules: PagingRules, page: number, end: PageOutcome, query: QueryState): QueryUpdate {
  return advanceQuery(query, page, end, rules)
}

/** Queries whose scores share a commit. */
const queriesInCommit = 200

/** How a task ended, once that is stored. */
export interface TaskResult {
  readonly end: 'done' | 'failed'
  readonly effect: TaskCountChange
}

/** Stores answers, then what they say, then what follows for their queries. */
export type AnswerIngest = ReturnType<typeof answerIngest>

/** Ingests the answers to tasks of these runs. */
export function answerIngest(
  {
    store,
    onSettled,
    onBought,
    onDamaged,
    background,
  }: {
    readonly store: Pick<
      CollectStore,
      | 'saveAnswer'
      | 'reuseAnswer'
      | 'noteDamaged'
      | 'noteUnusable'
      | 'answeredTasks'
      | 'storedBody'
      | 'unobserved'
      | 'recordAnswer'
    > & { readonly space: Pick<DiskSpace, 'isExhausted'> }
    /** Called when the end of a task is stored. */
    readonly onSettled: (result: TaskResult) => void
    /** Called when a bought answer is stored. `problem` says why it cannot be used; null where it can. */
    readonly onBought: (task: Task, problem: string | null) => void
    /** Called for each stored answer that is damaged or missing. */
    readonly onDamaged: (answerId: number) => void
    /** Takes work that goes on when its task has left the pool. */
    readonly background: (work: Promise<void>) => void
  },
  runs: readonly Run[],
) {
  const rules = new Map(runs.map((run) => [run.id, pagingRules(run)]))
  const rulesOf = (runId: number) => rules.get(runId) as ReturnType<typeof pagingRules>
  const following = (runId: number, page: number, end: PageOutcome) =>
    advanced.bind(null, rulesOf(runId), page, end)
  const closed = new Set(runs.filter(({ closedAt }) => closedAt !== null).map(({ id }) => id))

  const fail = async (
    { taskId, runId, queryId, page }: TaskRef,
    outcome: PageFailure,
    cause: string,
  ): Promise<void> => {
    const effect = await store.recordAnswer({
      taskId,
      runId,
      queryId,
      outcome: { failed: cause },
      follow: following(runId, page, { failed: outcome }),
    })
    onSettled({ end: 'failed', effect })
  }

  /** Stores what an answer says. Where the disk is full the next process does it: the room that is left is for answers in flight. */
  const record = async (
    task: TaskRef,
    answerId: number,
    parsed: ReturnType<typeof parseStored>,
  ): Promise<void> => {
    if (store.space.isExhausted()) return
    if ('reason' in parsed) return await fail(task, parsed.isHole ? 'hole' : 'malformed', parsed.reason)
    const { taskId, runId, queryId, page } = task
    try {
      const effect = await store.recordAnswer({
        taskId,
        runId,
        queryId,
        outcome: { done: { answerId, normaliser: normaliserVersion, says: parsed } },
        follow: following(runId, page, parsed),
      })
      onSettled({ end: 'done', effect })
    } catch (error) {
      // The answer is stored already.
      if (!store.space.isExhausted()) throw error
    }
  }

  /** The stored answer of a task is damaged: the task is bought again, or fails where its run is closed. */
  const withoutAnswer = async (task: AnsweredTask): Promise<void> => {
    onDamaged(task.answerId)
    if (closed.has(task.runId)) await fail(task, 'malformed', 'its stored answer is damaged')
    else await store.noteDamaged(task.taskId, task.answerId)
  }

  return {
    /** Stores a whole body with its billed call. */
    save: async (task: Task, body: Buffer, call: Pick<NewAnswer, 'callId' | 'settlement' | 'fetchedAt'>) => {
      const { id, runId, queryId, page } = task
      const { callId, settlement, fetchedAt } = call
      const packed = isQuicklyPacked(body) ? null : await compress(body)
      const answerId = await store.saveAnswer({
        callId,
        settlement,
        fetchedAt,
        body: packed?.body ?? body,
        encoding: packed?.encoding ?? null,
        task: { id, runId, queryId, page },
      })
      const parsed = parseStored(task, body, call.fetchedAt)
      // A service may end its results with such a page each time: only without any result is it no use.
      const isUseless = 'reason' in parsed && !(parsed.isHole === true && page > 1)
      onBought(task, isUseless ? parsed.reason : null)
      return { answerId, parsed }
    },
    /** Stores in the background what a saved answer says. */
    record: (
      task: Task,
      { answerId, parsed }: { readonly answerId: number; readonly parsed: ReturnType<typeof parseStored> },
    ): void => background(record(pageOf(task), answerId, parsed)),
    /**
     * Gives a task a stored answer instead of a call; false where that is damaged or missing, or was counted as an answer once and
     * is none, so that no task uses it any more.
     */
    reuse: async (task: Task, answerId: number): Promise<boolean> => {
      const stored = await store.storedBody(answerId)
      if (stored === null) {
        await store.noteDamaged(task.id, answerId)
        onDamaged(answerId)
        return false
      }
      const parsed = parseStored(task, stored.body, stored.fetchedAt)
      // An answer that these runs bought themselves is not bought again at once.
      if ('reason' in parsed && stored.fetchedAt < rulesOf(task.runId).startedAt) {
        await store.noteUnusable(answerId)
        return false
      }
      await store.reuseAnswer(task.id, answerId)
      background(record(pageOf(task), answerId, parsed))
      return true
    },
    fail: (task: Task, outcome: Outcome, cause: string): Promise<void> => fail(pageOf(task), outcome, cause),
    /** Parses what an earlier process stored and did not parse, and scores stored pages for targets that are new. */
    catchUp: async (runIds: readonly number[]): Promise<void> => {
      for (const task of await store.answeredTasks(runIds)) {
        const stored = await store.storedBody(task.answerId)
        if (stored === null) await withoutAnswer(task)
        else await record(task, task.answerId, parseStored(task, stored.body, stored.fetchedAt))
      }
      for (const runId of runIds) await scoreStored(store, runId)
    },
  }
}

/**
 * Parses a body: what it says, and where it repeats another question than was asked, or why nothing follows from it. An error of our own
 * on one answer affects that answer alone; its body stays stored.
 */
export function parseStored(
  asked: RequestedPage & Pick<Task, 'operation'>,
  body: Buffer,
  fetchedAt: number,
):
  | (ParsedAnswer & { readonly echoMismatch: EchoMismatch | null })
  | {
      /** One sentence for people. */
      readonly reason: string
      /** An empty page that says itself that there are results: one more look may show them. */
      readonly isHole?: true
      /** The error is ours: a later version may read it. */
      readonly isOurError?: true
    } {
  try {
    const operation = billableOperation(asked.operation)
    const parsed = bodies.parse(operation, body, { fetchedAt, ...bodies.localeOf(asked.params) })
    if ('reason' in parsed) return parsed
    const reason = bodies.contradiction(operation, asked.page, parsed)
    if (reason !== null) return { reason, isHole: true }
    return { ...parsed, echoMismatch: echoMismatch(operation, asked, parsed.facts) }
  } catch (error) {
    const message = error instanceof Error ? error.message : error
    return { reason: `rankline could not read the answer: ${message}`, isOurError: true }
  }
}

/** Scores the stored pages of a run for targets that are new to it. */
export async function scoreStored(
  store: Pick<CollectStore, 'unobserved' | 'recordAnswer'>,
  runId: number,
): Promise<void> {
  for (let after = 0; ; ) {
    const queries = await store.unobserved(runId, after, queriesInCommit)
    const last = queries.at(-1)
    if (last === undefined) return
    const scores = queries.map((queryId) =>
      store.recordAnswer({
        taskId: null,
        runId,
        queryId,
        outcome: 'as-stored',
        follow: (query) => ({ ...scoreQuery(query), paging: null }),
      }),
    )
    await Promise.all(scores)
    after = last
  }
}

function pageOf({ id: taskId, runId, queryId, page }: Task): TaskRef {
  return { taskId, runId, queryId, page }
}

/**
 * How a task ended in this process. In the store a task is `pending`, then leased, then sent; its answer makes it
 * `answered` and, once that is read, `done`; it may become `failed`, or `pending` again.
 */
export type TaskEnd =
  /** Its answer is stored. */
  | { readonly answerId: number }
  /** It failed, and that is stored. */
  | { readonly failed: string }
  /** It did not end: the caller releases it, so that it is `pending` again. An accepted job stays accepted. */
  | 'released'
  /** It is stored as `pending` with its tries, and may be in work again already. */
  | 'requeued'
  /** The service works on it as an asynchronous job, which is polled without a place in the pool. */
  | { readonly polling: Promise<TaskEnd> }

/** The part of a request that an answer may repeat. */
export type RequestedPage = Pick<Task, 'text' | 'params' | 'page'>

type Difference = EchoMismatch[string]

/** Differences between a request and the params that its answer repeats; null for none. Missing params do not count. */
export function echoMismatch(
  operation: BillableOperation,
  asked: RequestedPage,
  { searchParameters, currentPage }: Pick<AnswerFacts, 'searchParameters' | 'currentPage'>,
): EchoMismatch | null {
  const echo = readPart.fields(searchParameters) ?? {}
  const number = readPart.integer(echo.num)
  const pages = pagesMeant(operation, asked, number)
  const found = {
    q: textDifference(asked.text, echo.q, (one, other) => folded(one) === folded(other)),
    gl: textDifference(asked.params.gl, echo.gl, sameCode),
    cc: textDifference(asked.params.cc, echo.cc, sameCode),
    hl: textDifference(asked.params.hl, echo.hl, sameLanguage),
    num: numDifference(operation, asked, number),
    page: pageDifference(asked.page, readPart.integer(echo.page), pages),
    'pagination.current': pageDifference(asked.page, currentPage, pages),
  }
  const differences = Object.entries(found).filter((one): one is [string, Difference] => one[1] !== null)
  return differences.length === 0 ? null : Object.fromEntries(differences)
}

/** A default that was not asked for is not a difference, nor is a value that is not a text. */
function textDifference(
  asked: string | number | undefined,
  answered: unknown,
  same: (asked: string, answered: string) => boolean,
): Difference | null {
  if (asked === undefined || typeof answered !== 'string' || asked === answered) return null
  return same(String(asked), answered) ? null : { asked, answered }
}

/** The text in NFC, without case, with single spaces. */
function folded(text: string): string {
  const caseless = text.toWellFormed().normalize('NFC').toUpperCase().toLowerCase()
  return caseless.normalize('NFC').replace(/\s+/g, ' ').trim()
}

function sameCode(asked: string, answered: string): boolean {
  return code(asked) === code(answered)
}

/** `en` and `en-US` do not contradict each other; `pt-BR` and `pt-PT` do. */
function sameLanguage(asked: string, answered: string): boolean {
  const [one, other] = [code(asked), code(answered)]
  return one === other || one.startsWith(`${other}-`) || other.startsWith(`${one}-`)
}

function code(text: string): string {
  return text.trim().toLowerCase().replaceAll('_', '-')
}

/** The service may give fewer results than asked but not more. If `num` is only a suggestion, any number is right. */
function numDifference(
  { params }: BillableOperation,
  { params: { num } }: RequestedPage,
  answered: number | null,
): Difference | null {
  if (typeof num !== 'number' || answered === null || params.num?.suggestion === true) return null
  return answered > num ? { asked: num, answered } : null
}

function pageDifference(
  asked: number,
  answered: number | null,
  meant: ReadonlySet<number> | null,
): Difference | null {
  return meant === null || answered === null || meant.has(answered) ? null : { asked, answered }
}

/**
 * The numbers that may stand for the requested page: its own; the one before if the engine counts from 0; in the older style,
 * which counts results, the number of results before it, or the page that this number makes with shorter pages. Null if the
 * operation has no pages.
 */
function pagesMeant(
  { paging, styles }: BillableOperation,
  { page, params }: RequestedPage,
  answeredNum: number | null,
): ReadonlySet<number> | null {
  if (paging === null) return null
  const meant = new Set([page])
  if (paging.echoFromZero === true) meant.add(page - 1)
  if (styles.includes('post')) {
    const usual = paging.pageSize ?? 10
    const before = (page - 1) * (typeof params.num === 'number' ? params.num : usual)
    meant.add(before)
    for (const size of [usual, answeredNum])
      if (size !== null && size > 0) meant.add(Math.floor(before / size) + 1)
  }
  return meant
}
