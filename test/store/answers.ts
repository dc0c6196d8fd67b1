import { deflateSync } from 'node:zlib'
import type { NewCall, Settlement } from '../../src/model/call.ts'
import type { AnswerFacts, EchoMismatch, ParsedAnswer, Result } from '../../src/model/result.ts'
import type { Run, Task } from '../../src/model/run.ts'
import { advanceQuery, pagingRules } from '../../src/rank/paging.ts'
import type { AcceptedJob, AnswerRecord, NewAnswer } from '../../src/store/journal.ts'
import type { Store } from '../../src/store/sqlite/open.ts'
import { aResult, facts } from '../catalog/results.ts'
import { lease, noon } from './build.ts'

export function settlement<O extends Settlement['outcome'] = 'answered'>(
  change: Partial<Settlement> & { readonly outcome?: O } = {},
): Settlement & { readonly outcome: O } {
  return {
    outcome: 'answered' as O,
    httpStatus: 200,
    billed: 1,
    finishedAt: noon,
    latencyMs: 321,
    error: null,
    ...change,
  }
}

/** What is understood of an answer with these results. */
export function understood(results: readonly Result[], said: Partial<AnswerFacts> = {}): ParsedAnswer {
  return {
    results,
    malformed: [],
    facts: facts(said),
  }
}

/** An answer of web results, one a letter: `https://a.example/` for `a`. */
export function webPage(letters: string, said: Partial<AnswerFacts> = {}): ParsedAnswer {
  return understood(
    [...letters].map((letter, index) =>
      aResult('organic', { position: index + 1, title: letter, link: `https://${letter}.example/` }),
    ),
    said,
  )
}

/** A body as it is stored. */
export const aBody = deflateSync('{}')

/** Sends a task's call and keeps a body; answers the answer's id. */
export async function keep(store: Store, task: Task, at = noon): Promise<number> {
  const callId = await begin(store, task, at - 500)
  return await keepBody(store, task, callId, { settlement: settlement({ finishedAt: at }), fetchedAt: at })
}

/** Keeps the body that a task's asynchronous job has brought; answers the answer's id. */
export function keepPolled(
  store: Store,
  task: Task,
  { callId }: Pick<AcceptedJob, 'callId'>,
  fetchedAt = noon,
): Promise<number> {
  return keepBody(store, task, callId, { settlement: null, fetchedAt })
}

function keepBody(
  store: Store,
  task: Task,
  callId: number,
  came: Pick<NewAnswer, 'settlement' | 'fetchedAt'>,
): Promise<number> {
  return store.saveAnswer({ callId, task, ...came, body: aBody, encoding: 'deflate' })
}

export function begin(store: Store, task: Task, sentAt = noon): Promise<number> {
  const { runId, id: taskId, operation, credits } = task
  return store.beginCall({ runId, taskId, operation, credits, sentAt, keyHash: 'k' })
}

/** A call of no run for the usage record, which is free. */
export function aLookup(call: Partial<NewCall> = {}): NewCall {
  return { runId: null, taskId: null, operation: 'usage', credits: 0, sentAt: noon, keyHash: 'k', ...call }
}

/** Sends a task's call, which the service takes as an asynchronous job. */
export async function submit(
  store: Store,
  task: Task,
  sentAt = noon,
  acceptedAt = sentAt,
): Promise<AcceptedJob> {
  const callId = await begin(store, task, sentAt)
  const job = { taskId: task.id, callId, jobId: `j-${callId}` }
  const taken = { outcome: 'accepted', httpStatus: 202, billed: 0, finishedAt: acceptedAt } as const
  await store.acceptJob(callId, settlement(taken), job)
  return { ...job, acceptedAt }
}

/** Stores how a task ended, and what follows for its query: nothing, unless that is said. */
export function conclude(
  store: Store,
  { id: taskId, runId, queryId }: Pick<Task, 'id' | 'runId' | 'queryId'>,
  outcome: AnswerRecord['outcome'],
  follow: AnswerRecord['follow'] = () => ({ ranks: [], observations: [], paging: null }),
) {
  return store.recordAnswer({ taskId, runId, queryId, outcome, follow })
}

/** The outcome of a task whose stored answer says that. */
export function done(
  answerId: number,
  says: ParsedAnswer & { readonly echoMismatch?: EchoMismatch | null },
  normaliser = 1,
): AnswerRecord['outcome'] {
  return { done: { answerId, normaliser, says } }
}

/** Stores what an answer says and everything that follows for its query. */
export function read(store: Store, task: NewAnswer['task'], run: Run, answerId: number, says: ParsedAnswer) {
  return conclude(store, task, done(answerId, says), (query) =>
    advanceQuery(query, task.page, says, pagingRules(run)),
  )
}

/** Sends a task, keeps and reads its answer. */
export async function answer(store: Store, task: Task, run: Run, says: ParsedAnswer, at = noon) {
  return await read(store, task, run, await keep(store, task, at), says)
}

/** Sends a task that fails for good. */
export async function fail(store: Store, task: Task, run: Run, outcome: 'rejected' | 'server-error') {
  const callId = await begin(store, task)
  await store.settleCall(callId, settlement({ outcome, billed: 0, httpStatus: 500, error: 'Oops' }), null)
  return await conclude(store, task, { failed: 'Oops' }, (query) =>
    advanceQuery(query, task.page, { failed: outcome }, pagingRules(run)),
  )
}

/** Keeps a body for a task that nobody can read: the task fails. */
export async function malformed(store: Store, task: Task, run: Run, at = noon): Promise<void> {
  await keep(store, task, at)
  await conclude(store, task, { failed: 'no JSON' }, (query) =>
    advanceQuery(query, task.page, { failed: 'malformed' }, pagingRules(run)),
  )
}

/** Works through a run: each page is answered by what `pages` says of it, a missing one fails. */
export async function work(
  store: Store,
  run: Run,
  pages: (task: Task) => ParsedAnswer | null,
  at = noon,
): Promise<void> {
  for (;;) {
    const tasks = await lease(store, run.id)
    if (tasks.length === 0) return
    for (const task of tasks) {
      const says = pages(task)
      if (says === null) await fail(store, task, run, 'server-error')
      else await answer(store, task, run, says, at)
    }
  }
}
