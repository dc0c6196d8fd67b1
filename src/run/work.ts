import { consequences } from '../api/outcome.ts'
import { pageRequest } from '../api/request.ts'
import { decideRetry } from '../api/retry.ts'
import { jobIdOf } from '../catalog/async-job.ts'
import { billableOperation } from '../catalog/index.ts'
import type { Clock } from '../model/clock.ts'
import type { Run } from '../model/run.ts'
import type { Task } from '../model/task.ts'
import type { AcceptedJob, Store } from '../store/store.ts'
import { asyncChoice } from './async-choice.ts'
import type { Books } from './books.ts'
import { poller } from './poll.ts'
import type { Reader } from './reading.ts'
import type { SentCall, Service } from './service.ts'
import { type Stop, sleep } from './stop.ts'
import { stalled, stallMs, stopCause, unreachable } from './stop-causes.ts'

export interface WorkParts {
  readonly store: Store
  readonly service: Service
  readonly clock: Clock
  readonly books: Books
  readonly stop: Stop
  readonly random: () => number
  readonly runs: ReadonlyMap<number, Run>
  readonly reader: Reader
}

/**
 * How a task ended here. `open`: it did not come to an end, and is to be given back (an accepted job stays one).
 * `given-back`: it waits to be sent again already, and may be in work again.
 */
export type TaskEnd = { readonly answerId: number } | { readonly failed: string } | 'open' | 'given-back'

/** Gets tasks their answers by calls, as often as the policy allows. What was reserved for them is the caller's to release. */
export function worker({ store, service, clock, books, stop, random, runs, reader }: WorkParts) {
  /** Tasks of which one call already ended in a way that nobody knows. */
  const unsure = new Set<number>()
  const poll = poller({ service, clock, stop })
  const choice = asyncChoice()
  /** When the service was last heard of, whatever it said. */
  let heardAt = clock.monotonic()

  /** Sends calls for a task until it has an answer or fails, or has to wait for later. */
  const buy = async (task: Task): Promise<TaskEnd> => {
    let silentSince: number | null = null
    for (let tries = task.tries; ; ) {
      const sent = await send(task)
      const { callId, settlement } = sent
      if (settlement.outcome !== 'unreachable') heardAt = clock.monotonic()
      if (settlement.billed === null) books.ambiguous(task)
      const cause = settlement.error ?? settlement.outcome
      switch (consequences[settlement.outcome]) {
        case 'keep':
          choice.note(task.operation, settlement.latencyMs)
          return await keep(task, sent)
        case 'poll': {
          const end = await submitted(task, sent)
          if (end !== 'failed') return end
          tries += 1
          if (tries < task.tries + jobTries) continue
          return await fail(task, 'server-error', `the asynchronous job failed ${jobTries} times`)
        }
        case 'wait':
          if ((service.gate.refusedFor() ?? 0) > stallMs) stop.request(stalled(cause))
          await store.settleCall(callId, settlement, null)
          continue
        case 'retry': {
          if (settlement.outcome === 'unreachable') silentSince ??= clock.monotonic()
          // Where nobody is heard of, it is not the task that fails.
          if (silentSince !== null && heardAt < silentSince) {
            const silentFor = clock.monotonic() - silentSince
            if (silentFor > outageMs) stop.request(unreachable(cause))
            await store.settleCall(callId, settlement, null)
            await sleep(
              clock,
              random() * Math.min(Math.max(silentFor, shortestSilenceMs), longestSilenceMs),
              stop.signal,
            )
            continue
          }
          tries += 1
          const decision = decideRetry(tries, random())
          if ('giveUp' in decision) return await giveUp(task, sent, `${cause} (after ${tries} tries)`)
          if ('later' in decision) return await leaveOpen(task, sent, tries)
          await store.settleCall(callId, settlement, null)
          await sleep(clock, decision.wait, stop.signal)
          continue
        }
        case 'retry-once': {
          const again = !unsure.has(task.id)
          unsure.add(task.id)
          if (!again) return await giveUp(task, sent, `${cause}; whether it was billed is not known`)
          if (!coversAgain(task)) return await leaveOpen(task, sent, tries)
          await store.settleCall(callId, settlement, null)
          continue
        }
        case 'stop-run':
          stop.request(stopCause(settlement))
          return await leaveOpen(task, sent, tries)
        default:
          return await giveUp(task, sent, cause)
      }
    }
  }

  const send = (task: Task): Promise<SentCall> => {
    const operation = billableOperation(task.operation)
    const { style, async: policy } = (runs.get(task.runId) as Run).settings
    const request = pageRequest(service.baseUrl, operation, {
      ...task,
      style,
      async: operation.asyncParam !== undefined && choice.wanted(task.operation, policy),
    })
    const { id: taskId, runId, credits } = task
    return service.send(request, { runId, taskId, credits, operation: task.operation }, stop.signal)
  }

  const keep = async (task: Task, { callId, settlement, body }: SentCall): Promise<TaskEnd> => {
    const answered = { ...settlement, outcome: 'answered' as const }
    const fetchedAt = settlement.finishedAt
    const answerId = await reader.keep(task, body, { callId, settlement: answered, fetchedAt })
    books.billed(task)
    return { answerId }
  }

  /** A job that was taken is stored before anything else happens. */
  const submitted = async (task: Task, sent: SentCall): Promise<TaskEnd | 'failed'> => {
    const { callId, settlement, body, headers } = sent
    const jobId = jobIdOf(body, headers)
    if (jobId === null) {
      books.ambiguous(task)
      const unknown = { ...settlement, billed: null }
      return await giveUp(
        task,
        { ...sent, settlement: unknown },
        'the service took an asynchronous job and named no id for it',
      )
    }
    const job = { taskId: task.id, callId, jobId }
    await store.acceptJob(callId, settlement, job)
    return await follow(task, { ...job, acceptedAt: settlement.finishedAt })
  }

  /** Polls a job to its end; `failed` ones cost nothing and may be submitted again. */
  const follow = async (task: Task, job: AcceptedJob): Promise<TaskEnd | 'failed'> => {
    const end = await poll(task, job)
    if ('answer' in end) {
      const fetchedAt = end.answer.settlement.finishedAt
      const answerId = await reader.keep(task, end.answer.body, {
        callId: job.callId,
        settlement: null,
        fetchedAt,
      })
      books.billed(task)
      return { answerId }
    }
    if ('failed' in end) {
      await store.endJob(job, 0, clock.wall())
      return 'failed'
    }
    books.ambiguous(task)
    await store.endJob(job, null, clock.wall())
    return await fail(task, 'ambiguous', `${end.lost}; whether it was billed is not known`)
  }

  /** Goes on with a job that an earlier process had submitted: polls it, and submits it again only if it failed. */
  const goOn = async (task: Task, job: AcceptedJob): Promise<TaskEnd> => {
    const end = await follow(task, job)
    return end === 'failed' ? await buy(task) : end
  }

  const fail = async (
    task: Task,
    outcome: SentCall['settlement']['outcome'],
    cause: string,
  ): Promise<TaskEnd> => {
    await reader.fail({ ...task, taskId: task.id }, outcome, cause)
    return { failed: cause }
  }

  const giveUp = async (task: Task, { callId, settlement }: SentCall, cause: string): Promise<TaskEnd> => {
    if (settlement.billed === 1) books.billed(task)
    // Handed over together, so that both stand in one commit.
    const settled = store.settleCall(callId, settlement, null)
    const end = await fail(task, settlement.outcome, cause)
    await settled
    return end
  }

  const leaveOpen = async (task: Task, { callId, settlement }: SentCall, tries: number): Promise<TaskEnd> => {
    books.release(task)
    await store.settleCall(callId, settlement, { taskId: task.id, tries })
    return 'given-back'
  }

  /** A call whose end is not known may have been billed: sending again must be covered beside it. */
  const coversAgain = (task: Task): boolean => {
    books.release(task)
    const covered = books.coveredFor(task.runId) >= task.credits
    books.reserve(task)
    return covered
  }

  return { buy, goOn }
}

/** How long a service that cannot be reached at all is waited for. */
const outageMs = 120_000
const shortestSilenceMs = 500
const longestSilenceMs = 20_000

/** Submissions of one task whose jobs may fail before it does. */
const jobTries = 4
