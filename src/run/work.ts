import { promisify } from 'node:util'
import { deflate, inflate } from 'node:zlib'
import { consequences } from '../api/outcome.ts'
import { pageRequest } from '../api/request.ts'
import { decideRetry } from '../api/retry.ts'
import { billableOperation } from '../catalog/index.ts'
import { normaliserVersion, understand } from '../catalog/understand.ts'
import type { Outcome, Settlement } from '../model/call.ts'
import type { Run } from '../model/run.ts'
import type { Task } from '../model/task.ts'
import type { AnsweredTask, Effect, Store } from '../store/store.ts'
import type { Books } from './books.ts'
import { followPage, type PageEnd } from './follow.ts'
import type { SentCall, Service } from './service.ts'
import { type Stop, type StopCause, sleep } from './stop.ts'

export interface WorkParts {
  readonly store: Store
  readonly service: Service
  readonly books: Books
  readonly stop: Stop
  readonly random: () => number
  readonly runs: ReadonlyMap<number, Run>
  /** Told what became of a task, once that is stored. */
  readonly onSettled: (end: 'done' | 'failed', effect: Effect) => void
  /** Takes over what goes on when a slot is free again. */
  readonly background: (work: Promise<void>) => void
}

/** How a task ended here; `open` tasks wait to be sent again. */
export type TaskEnd = { readonly answerId: number } | { readonly failed: string } | 'open'

/** How long refusals of the rate are waited out before the run stops. */
const stallMs = 600_000
const compress = promisify(deflate)
const decompress = promisify<Buffer, Buffer>(inflate)

/** Gets one task its answer: from the store where there is one, else by calls, as often as the policy allows. */
export function worker(parts: WorkParts) {
  const { store, service, books, stop, random, runs } = parts
  /** Tasks of which one call already ended in a way that nobody knows. */
  const unsure = new Set<number>()

  const settingsOf = (runId: number) => (runs.get(runId) as Run).settings

  /** Reads a stored answer: its results, and what follows from them. */
  const read = async (
    task: Pick<AnsweredTask, 'taskId' | 'runId' | 'queryId' | 'page' | 'operation' | 'answerId'>,
    body: Buffer,
    fetchedAt: number,
  ): Promise<void> => {
    const understood = understand(billableOperation(task.operation), body, fetchedAt)
    if ('reason' in understood) return fail(task, 'malformed', understood.reason)
    const { taskId, runId, queryId, answerId } = task
    const effect = await store.understand({
      taskId,
      runId,
      queryId,
      outcome: { done: { answerId, normaliser: normaliserVersion, understood } },
      follow: (query) => followPage(query, task.page, understood, settingsOf(runId)),
    })
    parts.onSettled('done', effect)
  }

  const fail = async (
    { taskId, runId, queryId, page }: Pick<AnsweredTask, 'taskId' | 'runId' | 'queryId' | 'page'>,
    outcome: Outcome | 'malformed',
    cause: string,
  ): Promise<void> => {
    const end: PageEnd = { failed: outcome }
    const effect = await store.understand({
      taskId,
      runId,
      queryId,
      outcome: { failed: cause },
      follow: (query) => followPage(query, page, end, settingsOf(runId)),
    })
    parts.onSettled('failed', effect)
  }

  const reuse = async (task: Task, answerId: number): Promise<TaskEnd> => {
    const raw = await store.rawAnswer(answerId)
    await store.reuseAnswer(task.id, answerId)
    if (raw === null) throw new Error(`answer ${answerId} has no body`)
    parts.background(read({ ...task, taskId: task.id, answerId }, await decompress(raw.body), raw.fetchedAt))
    return { answerId }
  }

  const keep = async (task: Task, { callId, settlement, body }: SentCall): Promise<TaskEnd> => {
    const answerId = await store.keepAnswer({
      callId,
      task,
      settlement: { ...settlement, outcome: 'answered' },
      body: await compress(body),
      encoding: 'deflate',
    })
    books.billed(task)
    // The body is safe: from here the slot is free, and understanding it costs nobody a wait.
    parts.background(read({ ...task, taskId: task.id, answerId }, body, settlement.finishedAt))
    return { answerId }
  }

  const giveUp = async (task: Task, { callId, settlement }: SentCall, cause: string): Promise<TaskEnd> => {
    await Promise.all([
      store.settleCall(callId, settlement, null),
      fail({ ...task, taskId: task.id }, settlement.outcome, cause),
    ])
    return { failed: cause }
  }

  const open = async (task: Task, { callId, settlement }: SentCall, tries: number): Promise<TaskEnd> => {
    await store.settleCall(callId, settlement, { taskId: task.id, tries })
    return 'open'
  }

  return { buy, reuse, readStored }

  /** Answers that an earlier process stored and did not come to read. */
  async function readStored(task: AnsweredTask): Promise<void> {
    const raw = await store.rawAnswer(task.answerId)
    if (raw !== null) await read(task, await decompress(raw.body), raw.fetchedAt)
  }

  /** Sends calls for a task until it has an answer or fails, or has to wait for later. Releases what was reserved. */
  async function buy(task: Task): Promise<TaskEnd> {
    const operation = billableOperation(task.operation)
    const { style } = settingsOf(task.runId)
    const request = pageRequest(service.baseUrl, operation, { ...task, style, async: false })
    const call = { runId: task.runId, taskId: task.id, operation: task.operation, credits: task.credits }
    for (let tries = task.tries; ; ) {
      const sent = await service.send(request, call, stop.signal)
      const { settlement } = sent
      const cause = settlement.error ?? settlement.outcome
      switch (consequences[settlement.outcome]) {
        case 'keep':
          return await keep(task, sent)
        case 'wait':
          if ((service.gate.refusedFor() ?? 0) > stallMs) stop.request(stalled(cause))
          await store.settleCall(sent.callId, settlement, null)
          continue
        case 'retry': {
          tries += 1
          const decision = decideRetry(tries, random())
          if ('giveUp' in decision) return await giveUp(task, sent, `${cause} (after ${tries} tries)`)
          if ('later' in decision) return await open(task, sent, tries)
          await store.settleCall(sent.callId, settlement, null)
          await sleep(decision.wait, stop.signal)
          continue
        }
        case 'retry-once': {
          books.ambiguous(task)
          const again = !unsure.has(task.id)
          unsure.add(task.id)
          if (!again) return await giveUp(task, sent, `${cause}; whether it was billed is not known`)
          if (!coversAgain(task)) return await open(task, sent, tries)
          await store.settleCall(sent.callId, settlement, null)
          continue
        }
        case 'stop-run':
          stop.request(stopCause(settlement))
          return await open(task, sent, tries)
        default:
          return await giveUp(task, sent, cause)
      }
    }
  }

  /** A call whose end is not known may have been billed: sending again must be covered beside it. */
  function coversAgain(task: Task): boolean {
    books.release(task)
    const covered = books.coveredFor(task.runId) >= task.credits
    books.reserve(task)
    return covered
  }
}

function stalled(words: string): StopCause {
  return {
    reason: 'quota',
    message: `The service has refused every call for ${stallMs / 60_000} minutes (${words}). The same command goes on where this one stopped.`,
  }
}

function stopCause({ outcome, error }: Settlement): StopCause {
  if (outcome === 'refused')
    return { reason: 'auth', message: `The service refused the key (${error}). Check RANKLINE_API_KEY.` }
  if (outcome === 'out-of-credit')
    return {
      reason: 'balance',
      message: `The service has no balance left (${error}). Top up, then run the same command again.`,
    }
  return {
    reason: 'unavailable',
    message: `The service answers with a redirect, which is not followed (${error}). Check RANKLINE_BASE_URL.`,
  }
}
